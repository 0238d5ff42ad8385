"""`loglinear`: the entry point to log-linear models."""

from collections.abc import Mapping, Sequence
from typing import Any

from subsetprivacy._checks import check_count, shown
from subsetprivacy._types import FloatArray, Label
from subsetprivacy.contingency.caveats import warning_notes
from subsetprivacy.contingency.fitting import all_shares, fit_table
from subsetprivacy.contingency.generators import ALL_PAIRS, read_generators, terms_of
from subsetprivacy.contingency.known_margins import read_margins
from subsetprivacy.contingency.result import LogLinear
from subsetprivacy.contingency.sources import counts_for
from subsetprivacy.contingency.structure import Structure
from subsetprivacy.errors import ArgumentError, CategoryError, warn_of
from subsetprivacy.variables import JointCategories


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
        `JointCounts` (made by `crosstab`), a `SubsetTable`, a `Release`, or rows or counts of a product design. Columns
        that are not private have the design `nonprivate`. Groups, as from ``crosstab(..., by="region")``, and the
        columns that a release keeps unchanged are also variables of the table.
    model
        The generators in brackets, ``"[race sex][sex income]"``: the groups of variables that may depend on each other.
        The model is hierarchical. Quote names with spaces, or put them in backticks. A list of tuples of names also
        works. For all variables, ``"saturated"``, ``"all pairs"`` (default) or ``"independence"``. Variables that no
        generator names are left out of the table.
    known
        Known margins, for example from a census: ``{"race": {"White": 0.8, ...}}``, or for several variables
        ``{("race", "sex"): {("White", "Male"): 0.4, ...}}``. A generator must contain the variables of each margin.
    baseline
        The baseline category of each variable; by default the one with the largest share.
    starts
        The number of starts of the maximization. By default 1, or 7 to 40 if there are few people for the parameters,
        until few starts are expected to find another maximum.

    Raises
    ------
    ArgumentError
        If the counts are not of several variables, or the model or the margins do not match them.
    NotIdentifiableError
        If the subsets of some variable do not determine its distribution.
    TooLargeError
        If there are more than 65,536 combinations of categories.

    Warns
    -----
    SeparationWarning
        If parameters are infinite because a share is fitted as 0, which is common with subsets.
    NotUniqueWarning, ConvergenceWarning, SmallCountWarning
        If other fits are equally good, the fit did not converge, or there are few people for the parameters.

    Notes
    -----
    The shares of the cells are :math:`w = \mathrm{softmax}(Z\theta)`. The name of a parameter gives its levels, such as
    ``race[Black]:sex[Male]``. It is a log odds ratio relative to the baselines, with the other variables at their
    baselines. The likelihood :math:`\sum_a n_a \ln r_a^\top w` uses only the counts of the reports. Its gradient is
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
    table = counts_for(counts, model)
    categories = table.categories
    assert isinstance(categories, JointCategories)
    generators = read_generators(model, categories.names)
    table.design.require_identifiable()
    table.require_data()
    margins = {} if known is None else read_margins(known, categories)
    start = all_shares(table.incidence, table.shares)
    terms = tuple(
        tuple(categories.names.index(name) for name in term) for term in terms_of(generators, categories.names)
    )
    structure = Structure(categories, terms, _baselines(baseline, categories, start))
    more = None if starts is None else check_count(starts, "starts", least=1)
    table_fit = fit_table(table, structure, margins, starts=more, near=start)
    fit = LogLinear(table, generators, structure, margins, fit=table_fit)
    for note in warning_notes(fit):
        warn_of(note, stacklevel=2)
    return fit


def _baselines(asked: Mapping[str, Label] | None, categories: JointCategories, w: FloatArray) -> tuple[int, ...]:
    """Return the position of each variable's baseline category."""
    table = w.reshape(categories.shape)
    out = []
    for k in range(table.ndim):
        share = table.sum(axis=tuple(j for j in range(table.ndim) if j != k))
        out.append(int(share.argmax()))
    if asked is None:
        return tuple(out)
    if not isinstance(asked, Mapping):
        raise ArgumentError(f"`baseline` must map variables to categories; got {type(asked).__name__}.")
    for name, label in asked.items():
        if name not in categories.names:
            raise ArgumentError(f"`baseline` must name variables of the model; got {shown(name)}.")
        k = categories.names.index(name)
        if label not in categories.parts[k].labels:
            raise CategoryError(f"`baseline` must be a category of {name}; got another one.")
        out[k] = categories.parts[k].labels.index(label)
    return tuple(out)
