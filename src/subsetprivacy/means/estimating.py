"""From arrays to means by private category."""

from typing import Any

import numpy as np
from attrs import evolve, frozen

from subsetprivacy._checks import check_count
from subsetprivacy._choices import MeansModel, WeightsKind
from subsetprivacy._types import BoolArray, FloatArray, IntArray
from subsetprivacy._words import counted, people
from subsetprivacy.counting.columns import check_kind, check_weights
from subsetprivacy.data import check_allowed
from subsetprivacy.data.describing import note_of_missing
from subsetprivacy.design import Design
from subsetprivacy.errors import ArgumentError, MismatchError, NoDataError, TooLargeError, warn_of
from subsetprivacy.estimation.indicator import IndicatorTable, require_indicators, too_rare, working_table
from subsetprivacy.estimation.survey_sample import notes_of_margins
from subsetprivacy.means import caveats
from subsetprivacy.means.likelihood import with_model
from subsetprivacy.means.quantiles import quantiles_of
from subsetprivacy.means.result import GroupMeans
from subsetprivacy.means.sample import KnownGroups, MeansSample, Weighting
from subsetprivacy.means.sums import CellMoments, Sums, moments_of, sums_of
from subsetprivacy.means.working_distributions import by_outcome
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_analyses import CORRECTED_MEANS, EMPTY_OUTCOMES
from subsetprivacy.regression.inputs import read_clusters
from subsetprivacy.sampling import Sampling
from subsetprivacy.variables import JointCategories

MOST = 1e70  # largest absolute value of an outcome
MOST_CELLS = 1000  # largest number of cells with one covariance matrix
LEAST_PEOPLE = 5  # smallest known group with estimates; those of smaller groups would describe individuals


@frozen(eq=False, repr=False)
class MeansOptions:
    """The options of `group_means`, without the people.

    Attributes
    ----------
    outcome, variable
        The names of the outcome and of the private variable.
    working
        The working distribution; None lets it depend on the outcome.
    blocks, quantiles, model
        As in `group_means`.
    """

    outcome: str = "y"
    variable: str = "category"
    working: Any = None
    blocks: int = 64
    quantiles: Any = (0.25, 0.5, 0.75)
    model: MeansModel | None = None


def estimate_means(
    y: Any,
    codes: IntArray,
    design: Design,
    options: MeansOptions,
    *,
    groups: KnownGroups | None = None,
    weights: Any = None,
    weights_kind: WeightsKind | None = None,
    clusters: Any = None,
    sampling: Sampling | None = None,
    stacklevel: int = 2,
) -> GroupMeans:
    """Estimate means of an outcome by private category.

    Parameters
    ----------
    y
        A number for each person.
    codes, design
        Their subsets.
    options
        The options.
    groups
        Their known groups, if any.
    weights, weights_kind, clusters, sampling
        The weights and the sampling, as in `group_means`.
    stacklevel
        How many calls up warnings point.
    """
    check_allowed(codes, design)
    require_indicators(design)
    wanted = check_quantiles(options.quantiles)
    weighting = read_weighting(len(codes), weights, weights_kind, clusters, sampling)
    used = weighting.each > 0
    numbers = read_outcome(y, len(codes), used)
    known = KnownGroups.none(len(codes)) if groups is None else groups.observed(used)
    _check_cells(len(known.labels) * design.p)
    silent = design.is_missing(codes)
    weighting = weighting.informative(silent)
    kept = np.flatnonzero(~silent & (weighting.each > 0))
    if not len(kept):
        raise NoDataError("`data` must contain at least one informative subset; got none.")
    sizes = _sizes(kept, known, weighting)
    small = sizes < LEAST_PEOPLE
    kept = kept[~small[known.number[kept]]]  # no part of the result, not even a center, uses people left out
    table, block = _working(numbers, codes, design, known, weighting, kept, options)
    sample = MeansSample(numbers[kept], codes[kept], design, known.among(kept), _among(weighting, kept), table, block)
    missing = float(weighting.each[silent].sum()) if weighting.are_frequencies else float(silent.sum())
    made = _means(sample, small, wanted, options, missing)
    if options.model is not None:
        _check_model(made)
        made = with_model(made, sample)
    few = caveats.small_groups(made, sizes[small])
    made = caveats.with_notes(made, (*note_of_missing(int(missing), design), *_notes(weighting.sampling), *few))
    for note in (*few, *caveats.warned_notes(made)):
        warn_of(note, stacklevel=stacklevel)
    return made


def _sizes(kept: IntArray, known: KnownGroups, weighting: Weighting) -> FloatArray:
    """Return how many people with an informative subset each known group has."""
    amounts = weighting.each[kept] if weighting.are_frequencies else None
    return np.bincount(known.number[kept], amounts, len(known.labels)).astype(np.float64)


def _working(
    y: FloatArray,
    codes: IntArray,
    design: Design,
    known: KnownGroups,
    weighting: Weighting,
    kept: IntArray,
    options: MeansOptions,
) -> tuple[IndicatorTable, IntArray | None]:
    """Return the indicators, and the working distribution of each kept person."""
    blocks = check_count(options.blocks, "blocks", least=1)
    if not len(kept):
        return IndicatorTable(design, np.full(design.p, 1 / design.p)), None
    if options.working is None:
        amounts = weighting.each[kept] if weighting.are_frequencies else np.ones(len(kept))
        return by_outcome(y[kept], codes[kept], design, known.among(kept), amounts, blocks)
    table, block = working_table(codes, design, options.working, blocks)
    return table, None if block is None else block[kept]


def _means(
    sample: MeansSample, small: BoolArray, wanted: FloatArray, options: MeansOptions, missing: float
) -> GroupMeans:
    """Return the means of a sample without caveats. Small known groups, whose people are left out, have none."""
    sums = sums_of(sample)
    # The covariance of a sampling includes its own factor n/(n - 1).
    moments = moments_of(sums, frequencies=sample.weights.are_frequencies and sample.weights.independent)
    estimated = quantiles_of(sample, wanted)
    known, p = sample.cells
    is_rate = bool(len(sample.y)) and bool(((sample.y == 0) | (sample.y == 1)).all())
    # Labels have no noise: a share of 0.001 of a thousand people is one person, whose mean is known.
    noiseless = np.abs(sums.excess[0]) < 1e-9 * np.abs(moments.number)
    rare = too_rare(moments.share, np.where(noiseless, 0.0, moments.share_se))
    categories = sample.design.categories
    names = categories.names if isinstance(categories, JointCategories) else (options.variable,)
    shape = (known, p) if sample.groups.names else (p,)

    def given(values: FloatArray) -> FloatArray:
        out = np.array(values, np.float64)
        out[rare] = np.nan
        return out.reshape(shape + out.shape[1:])

    cov = moments.cov.copy()
    cov[rare] = np.nan
    cov[:, rare] = np.nan
    variance, variance_se = _variances(moments, is_rate=is_rate)
    return GroupMeans(
        outcome=options.outcome,
        variables=tuple(names),
        categories=tuple(categories.labels),
        by=sample.groups.names,
        groups=sample.groups.labels,
        n=_people(sample.weights),
        n_missing=missing,
        number=np.where(np.repeat(small, p), np.nan, moments.number).reshape(shape),
        share=moments.share.reshape(shape),
        share_se=moments.share_se.reshape(shape),
        mean=given(moments.mean),
        cov=cov,
        variance=given(variance),
        variance_se=given(variance_se),
        probabilities=wanted,
        quantile=given(estimated.estimate),
        quantile_ends=given(estimated.ends),
        **_kept_sums(sums),
        is_rate=is_rate,
        df=sample.weights.df,
        design_effect=None if moments.design_effect is None else given(moments.design_effect),
    )


def _kept_sums(sums: Sums) -> dict[str, Any]:
    """Return the sums in the units of y, around their center."""
    K = sums.S.shape[1]
    unit = np.r_[np.ones(K), np.full(K, sums.scale)]
    return {
        "center": sums.center,
        "sums": sums.S[:2] * np.array([[1.0], [sums.scale]]),
        "sums_cov": sums.cov * np.outer(unit, unit),
    }


def _variances(moments: CellMoments, *, is_rate: bool) -> tuple[FloatArray, FloatArray]:
    """Return the variances. For an outcome of 0 and 1 they follow from the mean."""
    if not is_rate:
        return moments.variance, moments.variance_se
    se = np.sqrt(np.maximum(moments.cov.diagonal(), 0.0))
    return moments.mean * (1 - moments.mean), np.abs(1 - 2 * moments.mean) * se


def _people(weights: Weighting) -> float:
    return float(weights.each.sum()) if weights.are_frequencies else float(len(weights.each))


# Checks of arguments --------------------------------------------------------------------------------------------------


def read_outcome(y: Any, n: int, used: BoolArray | None = None) -> FloatArray:
    """Return a finite number for each person; 0 for people who are not used, whose outcome may be missing.

    Raises
    ------
    ArgumentError, MismatchError
        If not. The message has the number of such rows and the first one, never a value.
    """
    try:
        numbers = np.asarray(y, np.float64)
    except (TypeError, ValueError):
        numbers = None
    if numbers is None:  # raised here, because the inner message shows a cell
        raise ArgumentError(f"`y` must be numbers, one per person; got {type(y).__name__} of something else.")
    if np.asarray(y).dtype.kind in "USMm":
        raise ArgumentError("`y` must be numbers, one per person; got text or dates.")
    if numbers.shape != (n,):
        raise MismatchError(f"`y` must have one number per person; got shape {numbers.shape} for {people(n)}.")
    numbers = numbers if used is None else np.where(used, numbers, 0.0)
    wrong = ~np.isfinite(numbers)
    if wrong.any():
        raise ArgumentError(
            f"`y` must be finite; got {counted(wrong.sum(), 'number that is not', 'numbers that are not')}, first in "
            f"row {int(wrong.argmax())}.",
            EMPTY_OUTCOMES,
        )
    large = np.abs(numbers) > MOST
    if large.any():  # their fourth powers would overflow
        raise ArgumentError(
            f"`y` must be at most {MOST:.0e} in size; got "
            f"{counted(large.sum(), 'number that is not', 'numbers that are not')}, first in row {int(large.argmax())}."
        )
    return numbers


def check_quantiles(quantiles: Any) -> FloatArray:
    """Return the distinct quantiles in order."""
    try:
        wanted = np.unique(np.asarray(quantiles, np.float64).ravel())
    except (TypeError, ValueError):
        wanted = np.array([np.nan])
    if not ((wanted > 0) & (wanted < 1)).all():
        raise ArgumentError("`quantiles` must be numbers between 0 and 1; got other values.")
    return wanted


def _check_cells(cells: int) -> None:
    if cells > MOST_CELLS:
        raise TooLargeError(
            f"known groups times private categories must be at most {MOST_CELLS}; got {cells:,} combinations."
        )


def _check_model(made: GroupMeans) -> None:
    if made.is_rate:
        raise ArgumentError("`model` must be left out for an outcome of 0 and 1; got 'normal'.", CORRECTED_MEANS)


def read_weighting(
    n: int, weights: Any, kind: WeightsKind | None, clusters: Any, sampling: Sampling | None
) -> Weighting:
    """Return the weights of the people and how they were drawn."""
    if sampling is not None:
        if weights is not None or clusters is not None or kind is not None:
            raise ArgumentError("`weights` and `clusters` must be left out with `sampling`; got both.")
        sampling = sampling.of_people(n)
        return Weighting(sampling.weights, False, sampling)
    frequencies = check_kind(weights, kind)
    if weights is None and kind is not None:
        raise ArgumentError("`weights` must be given with `weights_kind`; got the kind alone.")
    each = np.ones(n) if weights is None else check_weights(weights, n, "frequency" if frequencies else "sampling")
    if not each.any():
        raise NoDataError("`weights` must not all be 0; got no one with a weight.")
    labels = read_clusters(clusters, n)
    if labels is None:
        return Weighting(each, frequencies)
    # A row with a frequency is one cluster of so many people: its sum is the weighted sum, as with sampling weights.
    drawn = Sampling(each, clusters=labels)
    if drawn.units.number < 2:
        raise ArgumentError("`clusters` must have at least two clusters; got one.")
    return Weighting(each, frequencies, drawn)


def _among(weighting: Weighting, kept: IntArray) -> Weighting:
    """Return the weights of the kept people. A sampling keeps its unused rows."""
    return evolve(weighting, each=weighting.each[kept], rows=kept)


def _notes(sampling: Sampling | None) -> list[Note]:
    if sampling is None:
        return []
    text = f"Standard errors follow the sampling: {sampling.method}, {sampling.degrees_of_freedom} degrees of "
    return [Note(NoteKind.WEIGHTED, text + "freedom."), *notes_of_margins(sampling)]
