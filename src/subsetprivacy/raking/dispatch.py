"""`rake`: weights or shares that agree with known margins."""

from collections.abc import Mapping
from typing import Any, get_args, overload

import numpy as np
from attrs import evolve

from subsetprivacy._checks import check_choice
from subsetprivacy._choices import CalibrationMethod
from subsetprivacy._types import FloatArray, Label
from subsetprivacy._words import counted
from subsetprivacy.data import SubsetCounts, SubsetData, SubsetTable
from subsetprivacy.design import Design, require_design
from subsetprivacy.engines import refuse_counts
from subsetprivacy.errors import ArgumentError, MismatchError, warn_of
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.messages import NoteKind
from subsetprivacy.messages.for_data import RAKE_A_TABLE, WEIGHTS_STAY_POSITIVE
from subsetprivacy.raking.constrained import rake_counts
from subsetprivacy.raking.margins import CalibrationProblem, columns_of_people, in_totals, read_margins
from subsetprivacy.raking.result import Raked
from subsetprivacy.raking.weights import calibrate
from subsetprivacy.sampling import Sampling
from subsetprivacy.sampling.calibration import Calibration
from subsetprivacy.sampling.columns import columns_of
from subsetprivacy.sampling.replicates import Replicates

METHODS: tuple[CalibrationMethod, ...] = get_args(CalibrationMethod)


@overload
def rake(data: SubsetCounts, margins: Mapping[Any, Any]) -> Estimate: ...
@overload
def rake(
    data: Any,
    margins: Mapping[Any, Any],
    *,
    designs: Mapping[str, Design] | None = ...,
    sampling: Sampling | None = ...,
    method: CalibrationMethod = ...,
    bounds: tuple[float, float] | None = ...,
    population: float | None = ...,
) -> Raked: ...
def rake(
    data: Any,
    margins: Mapping[Any, Any],
    *,
    designs: Mapping[str, Design] | None = None,
    sampling: Sampling | None = None,
    method: CalibrationMethod = "raking",
    bounds: tuple[float, float] | None = None,
    population: float | None = None,
) -> Raked | Estimate:
    r"""Make weights agree with known margins: post-stratification, raking and calibration.

    Parameters
    ----------
    data
        A local table of any library, or a dict of columns, with a row per person. Columns of subsets are named in
        `designs`, or are `SubsetData` in a dict. Or a single `SubsetData`. Or counts of several variables, whose shares
        are then estimated with these margins fixed.
    margins
        Margins by column, ``{"sex": {"f": 0.52, "m": 0.48}}``: the share of each label in the population, or the number
        of people with it. Shares must sum to 1. A tuple of columns is a crossed margin, with tuples as labels. For the
        mean of a numeric column, give a number. Columns may be private. For a single `SubsetData`, give the margin
        itself, by label.
    designs
        The designs of columns of subsets, by name.
    sampling
        How the people were sampled, with the initial weights; it may name columns. By default everyone has weight 1.
    method
        ``"raking"`` (default) multiplies weights, which stay positive. With one margin it is post-stratification; with
        several it gives the result of iterative proportional fitting. ``"linear"``: the smallest squared changes
        (generalized regression). ``"logit"``: ratios within `bounds`.
    bounds
        The smallest and the largest ratio of new to old weights, below and above 1.
    population
        The size of the population, if margins are shares. By default the sum of the weights.

    Returns
    -------
    Raked
        With the new weights as a `Sampling`. For counts, an `Estimate`.

    Raises
    ------
    DistributionError
        If shares of a margin do not sum to 1.
    CategoryError
        If a person's label is missing from a margin, or a margin has a label that no one has.
    MismatchError
        If margins contradict each other.
    ArgumentError
        If linear calibration makes weights negative.

    Warns
    -----
    ConvergenceWarning
        If a margin cannot be reached.

    Notes
    -----
    New weights are :math:`d_i F(x_i^\top\lambda)`, where :math:`x_i` are the indicators of all labels. For a private
    column these are the unbiased indicators of `indicator`. Covariances of the new sampling use the residuals of
    scores on these columns (Deville and Särndal 1992), or replicates calibrated in the same way.

    A private margin fixes the totals of these indicators. Shares of the same variable that `estimate` or `group_means`
    compute from the new weights are not exactly the margin, and their intervals are meaningless. Use the known margin
    instead, or rake counts of several variables, which maximizes their likelihood with the margin fixed.

    Examples
    --------
    >>> import subsetprivacy as sp
    >>> people = {"sex": ["f", "f", "f", "m"], "age": ["old", "young", "young", "old"]}
    >>> raked = sp.rake(people, {"sex": {"f": 60, "m": 40}})
    >>> raked.weights.round(3)
    array([20., 20., 20., 40.])
    >>> raked.sampling
    <Sampling: 4 people, weighted, calibrated, 3 degrees of freedom>
    """
    if isinstance(data, SubsetCounts):
        if sampling is not None or designs is not None or bounds is not None or population is not None:
            raise ArgumentError(
                "`data` must be a row per person with `sampling`, `bounds` or `population`; got counts."
            )
        return rake_counts(data, read_margins(margins))
    check_choice(method, METHODS, "method")
    _check_bounds(method, bounds)
    if isinstance(data, SubsetData) and isinstance(margins, Mapping) and not _is_by_column(margins):
        margins = {data.name or "value": margins}
    known = read_margins(margins)
    names = list(dict.fromkeys(name for margin in known for name in margin.names))
    columns, drawn = _columns(data, names, designs, sampling)
    known, size = in_totals(known, population, float(drawn.weights.sum()))
    problem = columns_of_people(columns, known, size, drawn)
    made = _raked(problem, drawn, method, bounds)
    for note in made.notes:
        if note.kind is NoteKind.NOT_CONVERGED:
            warn_of(note, stacklevel=2)
    return made


def _is_by_column(margins: Mapping[Any, Any]) -> bool:
    return any(hasattr(given, "items") for given in margins.values())


def _check_bounds(method: CalibrationMethod, bounds: Any) -> None:
    if bounds is None:
        if method == "logit":
            raise ArgumentError("`bounds` must be given for method 'logit'; got none.")
        return
    try:
        low, high = (float(end) for end in bounds)
    except (TypeError, ValueError):
        low, high = np.nan, np.nan
    if not 0 <= low < 1 < high:
        raise ArgumentError("`bounds` must be two ratios, the first from 0 to below 1 and the second above 1.")


def _columns(
    data: Any, names: list[str], designs: Mapping[str, Design] | None, sampling: Sampling | None
) -> tuple[dict[str, Any], Sampling]:
    """Return the columns of the margins, private ones as data, and the sampling, in one pass."""
    if sampling is not None and not isinstance(sampling, Sampling):
        raise ArgumentError(f"`sampling` must be a Sampling; got {type(sampling).__name__}.")
    if isinstance(data, SubsetData):
        data = {names[0]: data}
    if isinstance(data, SubsetTable):
        data = {name: data.select(name) for name in data.names}
    wanted = [*names, *(() if sampling is None else sampling.columns)]
    refuse_counts(data, designs or (), wanted)
    try:
        columns = columns_of(data, wanted)
    except ArgumentError as error:
        raise ArgumentError(error.message, error.advice or RAKE_A_TABLE) from None
    for name, design in (designs or {}).items():
        if name in columns and not isinstance(columns[name], SubsetData):
            codes = np.asarray(columns[name])
            columns[name] = SubsetData(codes, require_design(design))
    n = next(len(column) for column in columns.values())
    drawn = Sampling(np.ones(n)) if sampling is None else sampling.of(columns).of_people(n)
    if drawn.domain is not None:
        raise ArgumentError("`sampling` must be of the whole sample; got a part of it.")
    return columns, drawn


def _raked(
    problem: CalibrationProblem, sampling: Sampling, method: CalibrationMethod, bounds: tuple[float, float] | None
) -> Raked:
    d = sampling.weights
    calibrated = calibrate(problem.X, d, problem.totals, method, bounds)
    weights = d * calibrated.ratio
    negative = int((weights < 0).sum())
    if negative:
        raise ArgumentError(
            f"weights must not become negative; linear calibration makes {counted(negative, 'one', 'of them')} so.",
            WEIGHTS_STAY_POSITIVE,
        )
    replicates = None if sampling.replication is None else _replicated(problem, sampling, method, bounds)
    new = sampling.calibrated(weights, replicates, Calibration(problem.X, d, problem.private))
    return Raked(
        sampling=new,
        ratio=calibrated.ratio,
        method=method,
        bounds=None if bounds is None else (float(bounds[0]), float(bounds[1])),
        terms=problem.terms,
        before=problem.shown(d @ problem.X),
        after=problem.shown(weights @ problem.X),
        target=problem.shown(problem.totals),
        means=problem.means,
        private=problem.private,
        iterations=calibrated.iterations,
        converged=calibrated.converged,
    )


def _replicated(
    problem: CalibrationProblem, sampling: Sampling, method: CalibrationMethod, bounds: tuple[float, float] | None
) -> Replicates:
    """Return replicates with weights calibrated to the same totals."""
    replication = sampling.replication
    assert replication is not None
    made: list[FloatArray] = []
    lost = 0
    for weights in replication.each_weights(sampling.weights):
        calibrated = calibrate(problem.X, weights, problem.totals, method, bounds)
        lost += not calibrated.converged
        made.append(np.maximum(weights * calibrated.ratio, 0.0))
    if lost:
        raise MismatchError(
            f"all replicates must reach the margins; {lost} of {replication.number} do not.", RAKE_A_TABLE
        )
    return evolve(replication, factors=np.array(made), of_person=None)


_ = Label
