"""`loglinear`: the entry point."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from subsetprivacy._checks import check_count
from subsetprivacy._types import Label
from subsetprivacy.contingency.caveats import doubts
from subsetprivacy.contingency.fitting import all_shares, fit_table
from subsetprivacy.contingency.generators import ALL_PAIRS, read_generators, terms_of
from subsetprivacy.contingency.known import read_margins
from subsetprivacy.contingency.result import LogLinear
from subsetprivacy.contingency.structure import Structure
from subsetprivacy.data import JointCounts, SubsetCounts, SubsetData, SubsetTable
from subsetprivacy.design import Design
from subsetprivacy.errors import ArgumentError, CategoryError, TooLargeError, warn_of
from subsetprivacy.messages.for_contingency import (
    COUNT_COLUMNS_TOGETHER,
    NAME_THEM_TOGETHER,
    SMALLER_MODEL,
    WITHOUT_DUMMIES,
)
from subsetprivacy.tabulating import crosstab
from subsetprivacy.variables import JointCategories

MAX_CELLS = 1 << 16


def loglinear(
    counts: Any,
    model: str | Sequence[Any] = ALL_PAIRS,
    *,
    known: Mapping[Any, Any] | None = None,
    baseline: Mapping[str, Label] | None = None,
    starts: int | None = None,
) -> LogLinear:
    r"""Fit a hierarchical log-linear model to the joint counts of several columns of subsets.

    Parameters
    ----------
    counts
        `JointCounts` (made by `crosstab`), a `SubsetTable`, a `Release`, or rows or counts of a product design.
        Columns that are seen have the design `nonprivate`.
    model
        The generators in brackets, ``"[race sex][sex income]"``: which variables may depend on each other, with all
        that they contain. Names with spaces are in quotes or backticks. A list of tuples of names is the same. Of all
        variables: ``"saturated"``, ``"all pairs"`` (default) or ``"independence"``. Variables that no generator names
        are left out of the table.
    known
        Margins that are known, for instance from a census: ``{"race": {"White": 0.8, ...}}``, of several variables
        ``{("race", "sex"): {("White", "Male"): 0.4, ...}}``. A generator must hold each.
    baseline
        The category of each variable that the others are compared with; by default the one with the largest share.
    starts
        From how many starts the likelihood is maximized; by default 1, or 10 where there are few people for the
        parameters.

    Raises
    ------
    ArgumentError
        If the counts are not of several variables, or the model or the margins do not fit them.
    NotIdentifiableError
        If the subsets of some variable do not determine its distribution.
    TooLargeError
        If there are more than 65 536 combinations of categories.

    Warns
    -----
    SeparationWarning
        If parameters are infinite because a share is fitted as 0, which is ordinary with subsets.
    NotUniqueWarning, ConvergenceWarning, SmallCountWarning
        If other fits are as good, the fit did not arrive, or there are few people for the parameters.

    Notes
    -----
    The shares of the cells are :math:`w = \mathrm{softmax}(Z\theta)`. A parameter is named by the levels it is of,
    ``race[Black]:sex[Male]``, against the baselines: it is a log odds ratio where the other variables are at theirs.
    The likelihood :math:`\sum_a n_a \ln r_a^\top w` needs only the counts of the reports. Its gradient is
    :math:`Z^\top(\sum_a n_a q_a - nw)` and its information :math:`nZ^\top(D_w - ww^\top)Z - \sum_a n_a Z^\top(D_{q_a} -
    q_a q_a^\top)Z`, where :math:`q_a` are the shares given the report a. It may have several maxima.

    Examples
    --------
    >>> import subsetprivacy as sp
    >>> both = sp.product({"smokes": sp.warner(["yes", "no"], 0.7), "sex": sp.nonprivate(["f", "m"])})
    >>> counts = sp.simulate(both, [0.1, 0.4, 0.25, 0.25], 5000, seed=1)
    >>> fit = sp.loglinear(counts, "[smokes sex]")
    >>> print(fit.odds_ratios("smokes", "sex"))  # doctest: +SKIP
    >>> fit.model
    '[smokes sex]'
    """
    table = _table(counts, model)
    categories = table.categories
    assert isinstance(categories, JointCategories)
    generators = read_generators(model, categories.names)
    table.design.require_identifiable()
    table.require_data()
    margins = {} if known is None else read_margins(known, categories)
    start = all_shares(table.incidence, table.shares)
    terms = tuple(tuple(categories.names.index(name) for name in term) for term in terms_of(generators, categories.names))
    structure = Structure(categories, terms, _baselines(baseline, categories, start))
    more = None if starts is None else check_count(starts, "starts", least=1)
    found = fit_table(table, structure, margins, starts=more, near=start)
    fit = LogLinear(table, generators, structure, margins, fit=found)
    for note in doubts(fit):
        warn_of(note, stacklevel=2)
    return fit


# What is counted --------------------------------------------------------------------------------


def _table(counts: Any, model: Any) -> SubsetCounts:
    """Return the counts of the variables that the model names."""
    columns, pick = _source(counts)
    names = [name for inner in columns.values() for name in inner]
    if len(names) < 2:
        raise ArgumentError("`counts` must be of two or more variables; got one.", COUNT_COLUMNS_TOGETHER)
    named = {name for generator in read_generators(model, names) for name in generator}
    wanted = [column for column, inner in columns.items() if named & set(inner)]
    for column in wanted:
        if not set(columns[column]) <= named:
            raise ArgumentError(
                "`model` must name all variables of a column that holds several; it leaves out some.",
                NAME_THEM_TOGETHER(names=", ".join(columns[column])),
            )
    if len(named) < 2:
        raise ArgumentError(
            "`model` must name two or more variables; got one, whose shares `estimate` gives.", COUNT_COLUMNS_TOGETHER
        )
    table = pick(wanted)
    if table.design.covered is not None:
        raise ArgumentError("`counts` must hold no dummy rows; got a covered design.", WITHOUT_DUMMIES)
    if table.categories.p > MAX_CELLS:
        raise TooLargeError(f"a table must have at most {MAX_CELLS} cells; got {table.categories.p}.", SMALLER_MODEL)
    return table


def _source(counts: Any) -> tuple[dict[str, tuple[str, ...]], Callable[[list[str]], SubsetCounts]]:
    """Return the variables of each column, and what counts some of the columns together."""
    if isinstance(counts, SubsetData):
        return _source(counts.counts())
    if isinstance(counts, (SubsetCounts, SubsetTable)):
        return _of_design(counts.design), lambda wanted: _crossed(counts, wanted)
    if hasattr(counts, "crosstab") and hasattr(counts, "designs"):  # a release, which is of a package above
        columns = {name: _variables(name, design) for name, design in counts.designs.items()}
        return columns, lambda wanted: counts.crosstab(*wanted) if len(wanted) > 1 else counts.count(wanted[0])
    raise ArgumentError(
        f"`counts` must be joint counts of several columns of subsets; got {type(counts).__name__}.",
        COUNT_COLUMNS_TOGETHER,
    )


def _of_design(design: Design) -> dict[str, tuple[str, ...]]:
    if design.product is None or design.covered is not None:
        return {"": _variables("", design)}
    return {" x ".join(names): names for names in design.product.named()}


def _variables(column: str, design: Design) -> tuple[str, ...]:
    held = design.categories
    return held.names if isinstance(held, JointCategories) else (column,)


def _crossed(counts: SubsetCounts | SubsetTable, wanted: list[str]) -> SubsetCounts:
    if isinstance(counts, SubsetCounts) and len(wanted) == len(_of_design(counts.design)):
        return counts
    if len(wanted) > 1:
        return crosstab(counts, *wanted)
    return counts.select(wanted[0].split(" x ")).counts() if isinstance(counts, SubsetTable) else _margin(counts, wanted)


def _margin(counts: SubsetCounts, wanted: list[str]) -> SubsetCounts:
    assert isinstance(counts, JointCounts)
    return counts.margin(*wanted)


def _baselines(asked: Mapping[str, Label] | None, categories: JointCategories, w: Any) -> tuple[int, ...]:
    """Return the position of each variable's baseline."""
    table = np.asarray(w).reshape(categories.shape)
    out = []
    for k, part in enumerate(categories.parts):
        share = table.sum(axis=tuple(j for j in range(table.ndim) if j != k))
        out.append(int(share.argmax()))
    if asked is None:
        return tuple(out)
    if not isinstance(asked, Mapping):
        raise ArgumentError(f"`baseline` must map variables to categories; got {type(asked).__name__}.")
    for name, label in asked.items():
        if name not in categories.names:
            raise ArgumentError(f"`baseline` must name variables of the model; got {name!r}.")
        k = categories.names.index(name)
        if label not in categories.parts[k].labels:
            raise CategoryError(f"`baseline` must be a category of {name}; got another one.")
        out[k] = categories.parts[k].labels.index(label)
    return tuple(out)


