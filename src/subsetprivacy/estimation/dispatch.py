"""`estimate` and `estimate_many`: the entry points to every estimator."""

import warnings
from collections.abc import Callable, Iterable, Mapping
from inspect import signature
from typing import Any, TypedDict, Unpack

from subsetprivacy._choices import Estimator, Information, MomentStart
from subsetprivacy._types import Distribution
from subsetprivacy.data import CountsBatch, SubsetCounts, SubsetData, as_counts
from subsetprivacy.errors import (
    ArgumentError,
    ConvergenceWarning,
    MismatchError,
    NotIdentifiableError,
    NotUniqueWarning,
    SubsetPrivacyError,
    SubsetPrivacyWarning,
    TooLargeError,
)
from subsetprivacy.estimation.conic import conic
from subsetprivacy.estimation.em import em
from subsetprivacy.estimation.groups import EstimateBatch
from subsetprivacy.estimation.icm import icm
from subsetprivacy.estimation.mle import mle
from subsetprivacy.estimation.mom import mom, mom_uniform
from subsetprivacy.estimation.mom_conditional import mom_conditional
from subsetprivacy.estimation.one_step import one_step
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.estimation.survey_sample import survey_of, with_survey
from subsetprivacy.messages.for_estimates import COUNT_FIRST, FEWER_VARIABLES, ONE_SAMPLE
from subsetprivacy.sampling import Sampling

METHODS: dict[Estimator, Callable[..., Estimate]] = {
    "mle": mle,
    "em": em,
    "icm": icm,
    "mom": mom,
    "mom-uniform": mom_uniform,
    "mom-conditional": mom_conditional,
    "one-step": one_step,
    "conic": conic,
}

MAX_JOINT = 1 << 16  # the most combinations of several variables

_SAID: dict[type[Warning], str] = {
    ConvergenceWarning: "did not converge",
    NotUniqueWarning: "have no unique estimate",
}


def read_method(method: str) -> Estimator:
    """Return the name of the method, or raise with the list of valid names."""
    if not isinstance(method, str) or method not in METHODS:
        raise ArgumentError(f"`method` must be one of {', '.join(METHODS)}; got {method!r}.")
    return method


class EstimateOptions(TypedDict, total=False):
    """The options of all methods, for type checkers. Each method documents which it takes."""

    tol: float
    max_iter: int
    start: Distribution | MomentStart | None
    accelerate: bool
    information: Information


def estimate(
    data: SubsetData | SubsetCounts,
    method: Estimator = "mle",
    *,
    sampling: Sampling | None = None,
    **options: Unpack[EstimateOptions],
) -> Estimate:
    """Estimate the distribution of the value from subsets.

    Parameters
    ----------
    data
        `SubsetData` or `SubsetCounts`; with `sampling`, one subset per person, or counts if it is a single `fpc`.
    method
        ``"mle"`` (default): maximum likelihood by Newton's method, with a
        certificate. ``"em"``, ``"icm"``, ``"conic"``: the same maximum, by the
        paper's algorithms and by a conic solver. ``"mom"``: moments (`gen_mom`).
        ``"mom-conditional"``: moments given the questions, more precise than
        ``"mom"``. ``"mom-uniform"``: the paper's closed form. ``"one-step"``:
        one Newton step from a moment estimate.
    sampling
        How the people were sampled: weights, strata, clusters, replicate weights. Standard errors then account for the
        sampling design, intervals use the t distribution with its degrees of freedom, and likelihood intervals are
        scaled by the design effect of each share. To estimate for a subpopulation, pass ``sampling.within(rows)`` and
        all data. If these people are the whole population, pass ``Sampling(fpc=1)``: without it, intervals are for a
        larger population that they were drawn from, and too wide for these people.
    **options
        Options of the method:

        - ``tol`` (``"mle"``, ``"em"``, ``"icm"``, ``"conic"``): stop when the certified gap (the most by which the
          log-likelihood per person could still rise) is below this; 1e-9. For ``"conic"``, the tolerance of the
          solver; 1e-12.
        - ``max_iter`` (the same four): the maximum number of iterations; 200 for ``"mle"`` and ``"conic"``, 100,000 for
          the others.
        - ``start`` (``"mle"``, ``"em"``, ``"icm"``): a distribution to start from. For ``"one-step"``, the moment
          estimate to start from: ``"mom"`` as in the paper, ``"mom-conditional"``, or ``"auto"`` (default), which is
          ``"mom-conditional"`` where the design allows it.
        - ``accelerate`` (``"em"``): True to extrapolate from pairs of steps.
        - ``information`` (all but the three moment methods): ``"observed"`` (default) or ``"expected"`` Fisher
          information for the standard errors.

        The moment methods ``"mom"``, ``"mom-conditional"`` and ``"mom-uniform"`` take no options.

    Raises
    ------
    NoDataError
        If there is no informative subset.
    NotIdentifiableError
        If different distributions give the same probabilities of reports under the design or, if the design is unknown,
        of the subsets in this sample.

    Warns
    -----
    ConvergenceWarning, NotUniqueWarning
        If an iteration did not converge, or several estimates fit the sample equally well.

    Examples
    --------
    >>> import subsetprivacy as sp
    >>> design = sp.uniform(["a", "b", "c", "d"])
    >>> counts = sp.simulate(design, [0.1, 0.2, 0.3, 0.4], 100_000, seed=1)
    >>> fit = sp.estimate(counts)
    >>> fit.w.round(2)
    array([0.1, 0.2, 0.3, 0.4])
    >>> sp.estimate(counts, "em", accelerate=True, tol=1e-6).w.round(2)
    array([0.1, 0.2, 0.3, 0.4])
    >>> sp.estimate(counts, "one-step", start="mom").w.round(2)
    array([0.1, 0.2, 0.3, 0.4])
    """
    run = METHODS[read_method(method)]
    survey = None
    if sampling is None:
        counts = as_counts(data).require_data()
    else:
        counts, survey = survey_of(data, sampling)
        counts.require_data()
    if counts.design.exposed.product is not None and counts.categories.p > MAX_JOINT:
        raise TooLargeError(
            f"a joint distribution must have at most {MAX_JOINT} combinations; got {counts.categories.p}.",
            FEWER_VARIABLES,
        )
    if counts.design.covered is not None and counts.squares is not None:
        raise ArgumentError("`data` must be unweighted for a covered design: dummy rows have no sampling weight.")
    counts.design.require_rows(counts.total)
    if counts.design.is_known:
        counts.design.require_identifiable()
    elif len(counts.observed_codes) == 1:
        raise NotIdentifiableError(
            "there must be more than one distinct subset to estimate from; got one, reported by everyone."
        )
    try:
        fit = run(counts, **options)
        return fit if survey is None else with_survey(fit, survey, method, options)
    except TypeError:
        _check_options(run, method, options)
        raise


def _check_options(run: Callable[..., Estimate], method: str, options: EstimateOptions) -> None:
    """Raise if the method has no such option; called only after a call has failed."""
    known = [name for name in signature(run).parameters if name != "counts"]
    for name in options:
        if name not in known:
            advice = COUNT_FIRST if name in {"by", "weights"} else None
            allowed = f"must be one of {', '.join(known)}" if known else "must be left out, since it has none"
            raise ArgumentError(f"options of method {method!r} {allowed}; got {name!r}.", advice)


def estimate_many(
    batch: CountsBatch | Mapping[Any, SubsetCounts] | Iterable[SubsetData | SubsetCounts],
    method: Estimator = "mle",
    *,
    sampling: Sampling | None = None,
    **options: Unpack[EstimateOptions],
) -> EstimateBatch:
    """Estimate from many samples at once, such as groups, simulations or bootstrap samples.

    Parameters
    ----------
    batch
        The result of `simulate_many`, the groups that `count(..., by=...)`
        returns, or any collection of data or counts.
    method, sampling, **options
        As for `estimate`. One `sampling` describes each sample separately.

    Raises
    ------
    SubsetPrivacyError
        The error of the first sample that fails, with its position.

    Warns
    -----
    ConvergenceWarning, NotUniqueWarning
        Once, with the number of samples affected and the first of them.

    Examples
    --------
    >>> from subsetprivacy.design import uniform
    >>> from subsetprivacy.mechanism.simulate import simulate_many
    >>> samples = simulate_many(uniform(["a", "b", "c", "d"]), [0.1, 0.2, 0.3, 0.4], n=1000, size=200, seed=1)
    >>> estimate_many(samples).w.mean(axis=0).round(2)
    array([0.1, 0.2, 0.3, 0.4])
    """
    read_method(method)
    if isinstance(batch, (SubsetCounts, SubsetData)) or not isinstance(batch, Iterable):
        raise ArgumentError(
            f"`batch` must be several samples; got {type(batch).__name__}.", None if batch is None else ONE_SAMPLE
        )
    names = list(batch) if isinstance(batch, Mapping) else None
    fits: list[Estimate] = []
    warned: dict[type[Warning], list[int]] = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SubsetPrivacyWarning)
        for k, sample in enumerate(batch.values() if isinstance(batch, Mapping) else batch):
            try:
                fits.append(estimate(sample, method, sampling=sampling, **options))
            except SubsetPrivacyError as error:
                where = f"sample {k}" if names is None else f"group {k} (counted from 0)"
                raise type(error)(f"{where}: {error.message}", error.advice) from error
            for warning in caught:
                warned.setdefault(warning.category, []).append(k)
            caught.clear()
    for kind, samples in warned.items():
        what = _SAID.get(kind, "warned")
        warnings.warn(kind(f"{len(samples)} of {len(fits)} samples {what}, first sample {samples[0]}."), stacklevel=2)
    if not fits:
        raise ArgumentError("`batch` must contain at least one sample; got none.")
    _check_categories(fits, names)
    if names is None:
        return EstimateBatch(tuple(fits), tuple(range(len(fits))), ("sample",))
    return EstimateBatch(tuple(fits), tuple(names), tuple(getattr(batch, "by", ("group",))))


def _check_categories(fits: list[Estimate], names: list[Any] | None) -> None:
    """Raise unless all samples have the same categories, in any order."""
    wanted = set(fits[0].categories)
    for k, fit in enumerate(fits):
        if set(fit.categories) != wanted:
            where = f"sample {k}" if names is None else f"group {k} (counted from 0)"
            raise MismatchError(f"all samples must have the same categories; those of {where} differ from the first.")
