"""`group_means`: estimate means by private category from arrays, tables or files."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np
from attrs import evolve, frozen

from subsetprivacy._checks import check_choice, check_same_index, shown
from subsetprivacy._choices import MeansModel, Missing, WeightsKind
from subsetprivacy._types import AnyArray, ArrayLike, BoolArray, IntArray
from subsetprivacy.counting.columns import MISSING, read_column, read_used
from subsetprivacy.data import SubsetData, SubsetTable
from subsetprivacy.design import Design, product, require_design
from subsetprivacy.engines import is_table, native_column, refuse_counts
from subsetprivacy.errors import ArgumentError
from subsetprivacy.estimation.probabilities import has_probabilities
from subsetprivacy.frames.covariates import covariate_column, names_of, snapshot
from subsetprivacy.frames.file_covariates import release_table
from subsetprivacy.frames.group_means_columns import known_groups, outcome_numbers, plain_labels
from subsetprivacy.frames.group_means_model import fitted_shares
from subsetprivacy.frames.reading import read_release
from subsetprivacy.frames.release import Release
from subsetprivacy.means.estimating import MeansOptions, estimate_means
from subsetprivacy.means.result import GroupMeans
from subsetprivacy.messages.for_analyses import OUTCOME_AND_DATA
from subsetprivacy.regression.inputs import used_rows
from subsetprivacy.sampling import Sampling
from subsetprivacy.subsets import name_of

MODELS: tuple[MeansModel, ...] = get_args(MeansModel)
_STACK = 3  # warnings point at the caller of `group_means`


def group_means(
    y: str | ArrayLike,
    data: Any,
    *,
    column: str | Sequence[str] | None = None,
    by: Any = None,
    given: Any = None,
    w: Any = None,
    designs: Mapping[str, Design] | None = None,
    design: Design | None = None,
    weights: str | ArrayLike | None = None,
    weights_kind: WeightsKind | None = None,
    clusters: str | ArrayLike | None = None,
    sampling: Sampling | None = None,
    quantiles: float | Sequence[float] = (0.25, 0.5, 0.75),
    model: MeansModel | None = None,
    blocks: int = 64,
    missing: Missing = "error",
) -> GroupMeans:
    r"""Estimate the mean, variance and quantiles of an outcome by private category.

    Parameters
    ----------
    y
        The outcome: an observed number for each person, or 0 and 1, or True and False, for rates. If `data` is a
        table, the name of the column.
    data
        `SubsetData`; a `SubsetTable`, to compare all combinations of its variables; or codes with `design`. If `y` is
        a name: a table of any library, a dict of columns, a `Release`, or the path of a file that `read_release`
        opens.
    column
        The private column, or several for the combinations of their categories. Optional if there is only one.
    by
        Known groups, within which to compare categories: a label for each person, a dict of such columns, or with a
        table one or more column names.
    given
        Further observed information that lowers the variance: covariates (a table, a dict of columns or an array;
        with a table, names of its columns), or a fitted `Regression` of the private value that ideally includes the
        outcome. Means are consistent for any choice. By default the working distribution depends on the outcome and the
        known groups.
    w
        A working distribution, as in `indicator`, instead of `given`.
    designs
        The designs of a table's columns of subsets, by name. A `Release` and most files include them.
    design
        The design of codes.
    weights, weights_kind
        A weight for each person or the name of a column, and the kind of weights: ``"frequency"`` or ``"sampling"``.
    clusters
        The cluster of each person, or the name of a column. The same as ``sampling=Sampling(weights, clusters=...)``.
    sampling
        How the sample was drawn: weights, strata, clusters or replicates, instead of `weights` and `clusters`. Rows of
        weight 0 are not used, so ``sampling.within(y.notna())`` allows missing outcomes. ``Sampling(fpc=1)``: these
        people are the whole population.
    quantiles
        The quantiles to estimate, between 0 and 1.
    model
        None (default) assumes nothing about the outcome. ``"normal"`` assumes that it is normal in each category,
        with separate means and variances, and maximizes the likelihood. That is more precise if the assumption
        holds, and biased if it does not. The result then contains both fits and a test that they agree.
    blocks
        The largest number of working distributions.
    missing
        How to treat an empty cell in a column of subsets: ``"error"`` (default) or ``"full"``, a missing answer.

    Raises
    ------
    ArgumentError, MismatchError
        If outcomes of people with a positive weight are missing, infinite or not numbers, or arguments contradict each
        other. Messages give a row and a count.
    CodeError
        If a cell is not a subset of its design.
    UnknownDesignError, NotIdentifiableError
        If the design is not known, or not identifiable.
    NoDataError
        If no subset carries information.

    Warns
    -----
    SmallCountWarning
        If the share of a category is within two standard errors of 0: its mean would be noise and is not reported. If
        a known group, or the whole sample, has fewer than 5 informative people: it gets no estimates.

    Notes
    -----
    With the unbiased indicators :math:`D_{ij}` of `indicator`, the mean of category j solves :math:`\sum_i w_i
    D_{ij}(y_i - m_j) = 0`. Its covariance is the sandwich estimator, which for values observed directly is White's
    estimator (HC0). The ratio's bias of order 1/n from the draws is removed. The only assumption is that a person's
    subset depends on the outcome only through the private value, which `privatize` and `ask` guarantee. People who gave
    no information (the full set) are left out and counted.

    Examples
    --------
    >>> import numpy as np
    >>> import subsetprivacy as sp
    >>> rng = np.random.default_rng(1)
    >>> group = rng.choice(["a", "b", "c", "d"], size=20_000, p=[0.1, 0.2, 0.3, 0.4])
    >>> income = np.where(group == "a", 30, 40) + rng.normal(0, 10, size=20_000)
    >>> data = sp.privatize(group, sp.uniform(["a", "b", "c", "d"]), seed=1)
    >>> means = sp.group_means(income, data)
    >>> means
    <GroupMeans of y by category: 4 categories, n = 20,000>
    >>> means.mean.round(0), means.se.round(1)
    (array([30., 40., 40., 40.]), array([0.7, 0.3, 0.2, 0.2]))
    >>> means.test()
    <ModelTests (score) all means are equal: chi-square 305.98, df 3, p < 0.0001>
    """
    if model is not None:
        check_choice(model, MODELS, "model")
    if given is not None and w is not None:
        raise ArgumentError("`given` and `w` exclude each other; got both.")
    check_choice(missing, MISSING, "missing")
    if isinstance(y, str):
        if design is not None:
            raise ArgumentError("`designs` must give the designs of the columns of a table; got `design`.")
        people = _of_table(y, data, column, designs, missing, _ColumnArguments(by, given, weights, clusters, sampling))
    else:
        if designs is not None:
            raise ArgumentError("`designs` must be left out without a table; give `design`, or a SubsetData.")
        people = _of_arrays(y, data, column, design, missing, _ColumnArguments(by, given, weights, clusters, sampling))
    options = MeansOptions(
        outcome=people.outcome,
        variable=people.variable,
        working=people.working(w),
        blocks=blocks,
        quantiles=quantiles,
        model=model,
    )
    return estimate_means(
        people.y,
        people.codes,
        people.design,
        options,
        groups=known_groups(people.by, len(people.codes)),
        weights=people.weights,
        weights_kind=weights_kind or people.weights_kind,
        clusters=people.clusters,
        sampling=people.sampling,
        stacklevel=_STACK,
    )


@frozen(eq=False, repr=False)
class _ColumnArguments:
    """Arguments that may be column names."""

    by: Any
    given: Any
    weights: Any
    clusters: Any
    sampling: Sampling | None

    def columns(self) -> dict[str, Any]:
        """Return the arguments with a row for each person, by name, to compare their indexes."""
        made = {"by": self.by, "given": self.given, "weights": self.weights, "clusters": self.clusters}
        for name in ("by", "given"):
            if isinstance(made[name], Mapping):
                made |= {f"{name}[{key!r}]": column for key, column in made.pop(name).items()}
        return made | {"sampling": self.sampling}

    def names(self) -> list[str]:
        """Return the named columns."""
        listed = [*_as_names(self.by), *_as_names(self.given), *_as_names(self.weights), *_as_names(self.clusters)]
        return listed + ([] if self.sampling is None else list(self.sampling.columns))


@frozen(eq=False, repr=False)
class _MeansData:
    """Outcomes, subsets and observed columns, in memory."""

    outcome: str
    y: Any
    variable: str
    codes: IntArray
    design: Design
    by: dict[str, Any]
    given: Any = None
    weights: Any = None
    clusters: Any = None
    sampling: Sampling | None = None
    weights_kind: WeightsKind | None = None

    def working(self, w: Any) -> Any:
        """Return the given working distribution, or one from a model of the value on covariates and outcome."""
        if self.given is None or has_probabilities(self.given):
            return w if self.given is None else self.given
        is_columns = is_table(self.given) or hasattr(self.given, "__len__")
        if not is_columns or isinstance(self.given, (str, bytes)):
            raise ArgumentError(
                f"`given` must be covariates or a Regression of the private value; got {type(self.given).__name__}."
            )
        used = used_rows(self.weights, self.sampling, len(self.codes))
        return fitted_shares(self.given, self.y, self.codes, self.design, used)


# Arrays ---------------------------------------------------------------------------------------------------------------


def _of_arrays(
    y: Any, data: Any, column: Any, design: Design | None, missing: Missing, named: _ColumnArguments
) -> _MeansData:
    check_same_index({"y": y, "data": data, **named.columns()})
    if named.weights is None:
        refuse_counts(data)
    if isinstance(data, SubsetTable) and column is not None:
        data = data.select(_names(column))
    elif column is not None:
        raise ArgumentError("`column` must be left out where `data` is of one variable; got a name.")
    if isinstance(data, (SubsetData, SubsetTable)):
        codes, own = read_column(data, design)
    elif design is None:
        raise ArgumentError(
            f"`data` must be a SubsetData or a SubsetTable, or codes with their `design`; got {type(data).__name__}.",
            OUTCOME_AND_DATA,
        )
    else:
        codes, own = read_column(data, design, missing=missing)
    for name in ("weights", "clusters"):
        if isinstance(getattr(named, name), str):
            raise ArgumentError(f"`{name}` must be one for each person without a table; got a name.", OUTCOME_AND_DATA)
    outcome, variable = name_of(y) or "y", name_of(data) or "category"
    by = _given_groups(named.by)
    return _MeansData(outcome, y, variable, codes, own, by, named.given, named.weights, named.clusters, named.sampling)


def _given_groups(by: Any) -> dict[str, Any]:
    """Return known groups as columns by name."""
    if by is None:
        return {}
    if isinstance(by, str):
        raise ArgumentError("`by` must be a label for each person without a table; got a name.", OUTCOME_AND_DATA)
    if isinstance(by, Mapping):
        return {str(name): each for name, each in by.items()}
    if is_table(by):
        return {name: native_column(by, name) for name in names_of(by)}
    return {name_of(by) or "group": by}


# Tables ---------------------------------------------------------------------------------------------------------------


def _of_table(y: str, data: Any, column: Any, designs: Any, missing: Missing, named: _ColumnArguments) -> _MeansData:
    if isinstance(data, (Release, str, Path)):
        return _of_release(y, data, column, designs, missing, named)
    if not is_table(data) and not isinstance(data, Mapping):
        raise ArgumentError(
            f"`data` must be a table, a dict of columns, a release or a path with the name of an outcome; got "
            f"{type(data).__name__}.",
            OUTCOME_AND_DATA,
        )
    check_same_index({"data": data, **named.columns()})
    known = _designs(designs)
    private = _private(column, known, y, named)
    if named.weights is None:
        refuse_counts(data, known, [y, *named.names()])
    seen = list(dict.fromkeys([y, *named.names()]))
    table = snapshot(data, [*private, *seen])
    columns = {name: _column(table, name) for name in seen}
    columns_of_private = {name: _column(table, name) for name in private}
    used = _used(named, columns, table, len(columns_of_private[private[0]]))
    codes = {name: read_used(each, name, known[name], missing, used) for name, each in columns_of_private.items()}
    return _people(y, columns, codes, known, named, table)


def _of_release(y: str, data: Any, column: Any, designs: Any, missing: Missing, named: _ColumnArguments) -> _MeansData:
    release = data if isinstance(data, Release) else read_release(data, designs)
    private = _private(column, release.designs, y, named)
    stored = release.stored.weights
    weighted = named.weights is None and named.sampling is None and stored is not None
    if named.weights is None:
        release._refuse_counts([y, *named.names()])
    extra = [stored.column] if weighted and stored is not None else []
    seen = list(dict.fromkeys([y, *named.names(), *extra]))
    drawn = [] if named.sampling is None else list(named.sampling.columns)
    drawn += [name for name in (named.weights, *extra) if isinstance(name, str)]
    first = release_table(release, list(dict.fromkeys(drawn))) if drawn else None
    used = _used(
        evolve(named, weights=extra[0] if extra else named.weights),
        {name: native_column(first, name) for name in drawn},
        first,
        release.rows,
    )
    table = release_table(release, seen, used=used)
    columns = {name: native_column(table, name) for name in seen}
    codes = {name: release.codes(name, missing=missing) for name in private}
    if not weighted or stored is None:
        return _people(y, columns, codes, release.designs, named, table)
    with_weights = _ColumnArguments(named.by, named.given, stored.column, named.clusters, named.sampling)
    return _people(y, columns, codes, release.designs, with_weights, table, stored.kind)


def _used(named: _ColumnArguments, columns: Mapping[str, Any], table: Any, n: int) -> BoolArray | None:
    """Return the rows with a positive weight, whose cells must be known."""
    weights = columns[named.weights] if isinstance(named.weights, str) else named.weights
    return used_rows(weights, None if named.sampling is None else named.sampling.of(table), n)


def _people(
    y: str,
    columns: dict[str, Any],
    codes: dict[str, IntArray],
    designs: Mapping[str, Design],
    named: _ColumnArguments,
    table: Any,
    kind: WeightsKind | None = None,
) -> _MeansData:
    """Combine columns that have been read."""
    joint, design = _joined(codes, designs)
    given = {name: columns[name] for name in _as_names(named.given)} or named.given
    weights = columns[named.weights] if isinstance(named.weights, str) else named.weights
    clusters = plain_labels(columns[named.clusters]) if isinstance(named.clusters, str) else named.clusters
    return _MeansData(
        outcome=y,
        y=outcome_numbers(covariate_column(columns[y], y), len(joint), y),
        variable=" and ".join(codes),
        codes=joint,
        design=design,
        by={name: columns[name] for name in _as_names(named.by)} or _given_groups(named.by),
        given=given,
        weights=None if weights is None else np.asarray(weights),
        clusters=clusters,
        sampling=None if named.sampling is None else named.sampling.of(table),
        weights_kind=kind,
    )


def _joined(codes: dict[str, IntArray], designs: Mapping[str, Design]) -> tuple[IntArray, Design]:
    """Return the codes of one column, or of the combinations of several."""
    if len(codes) == 1:
        ((name, own),) = codes.items()
        return own, designs[name]
    both = SubsetTable(codes, product({name: designs[name] for name in codes}))  # type: ignore[arg-type]
    return read_column(both, None)


def _private(column: Any, designs: Mapping[str, Design], y: str, named: _ColumnArguments) -> list[str]:
    """Return the names of the private columns."""
    private = list(designs) if column is None else _names(column)
    if column is None and len(private) != 1:
        listed = ", ".join(designs) or "none"
        raise ArgumentError(f"`column` must name the private column; there are {listed}.", OUTCOME_AND_DATA)
    for name in private:
        if name not in designs:
            raise ArgumentError(
                f"`column` must have a design, as {', '.join(designs) or 'no column'} has; got {shown(name)}.",
                OUTCOME_AND_DATA,
            )
    for name in (y, *named.names()):
        if name in designs:
            raise ArgumentError(f"a private column must be `column` only; got {shown(name)} in another place.")
    return private


def _designs(designs: Any) -> dict[str, Design]:
    if not isinstance(designs, Mapping):
        raise ArgumentError(
            f"`designs` must be a dict of designs by column; got {type(designs).__name__}.", OUTCOME_AND_DATA
        )
    return {str(name): require_design(each) for name, each in designs.items()}


def _names(column: Any) -> list[str]:
    names = [column] if isinstance(column, str) else list(column)
    if not names or any(not isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise ArgumentError("`column` must be the name of a private column, or different names; got something else.")
    return names


def _as_names(given: Any) -> list[str]:
    """Return column names from text or a list of texts; nothing from anything else."""
    if isinstance(given, str):
        return [given]
    if isinstance(given, (list, tuple)) and given and all(isinstance(name, str) for name in given):
        return list(given)
    return []


def _column(table: Any, name: str) -> AnyArray | Any:
    if is_table(table):
        return native_column(table, name)
    return {str(key): column for key, column in table.items()}[name]
