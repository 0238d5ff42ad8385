r"""Estimates from samples that were drawn with weights, strata and clusters.

An estimate moves with the weight of each person: :math:`\hat w - w \approx \sum_i \omega_i u_{a_i}`, where the
influence u depends on a person's subset alone. So its covariance is that of a weighted sum over people, which
`Sampling` knows. For maximum likelihood :math:`u_a = T r_a/(L_a\sum\omega)`, with T the inverse information on the
simplex; for moments :math:`u_a = (Q^{-1}r_a - \hat w)/\sum\omega`.
"""

import warnings
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve, frozen
from scipy.special import ndtri, stdtrit

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy._words import counted, people
from subsetprivacy.data import SubsetCounts, SubsetData, SubsetTable, count_codes
from subsetprivacy.errors import ArgumentError, MismatchError, SubsetPrivacyError, SubsetPrivacyWarning
from subsetprivacy.estimation.likelihood import observed_information, tangent_inverse
from subsetprivacy.estimation.uncertainty import FromMatrix
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_sampling import ROWS_FOR_SAMPLING
from subsetprivacy.sampling import Sampling

if TYPE_CHECKING:
    from subsetprivacy.estimation.result import Estimate
    from subsetprivacy.estimation.shares import Shares

_MOST_CELLS = 2048  # subsets whose covariance matrix is kept; of more, one number per person is summed each time


@frozen(slots=False, eq=False, repr=False)
class SurveySample:
    """How the people behind counts were drawn.

    Attributes
    ----------
    sampling
        Weights, strata and clusters of all people.
    cell
        For each person the position of their subset among the informative ones that were counted, -1 for none.
    number
        How many such subsets there are.
    method, options
        How the estimate is made, to make it again for replicates.
    """

    sampling: Sampling
    cell: IntArray
    number: int
    method: str = "mle"
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def people(self) -> int:
        """How many people say something and have a weight."""
        return int((self.cell >= 0).sum())

    @property
    def text(self) -> str:
        """The sample in words, for titles."""
        return ", ".join([f"n = {self.people}", *self._drawn])

    @property
    def _drawn(self) -> list[str]:
        sampling = self.sampling
        drawn = [] if sampling.strata is None else [counted(len(sampling.units.fraction), "stratum", "strata")]
        drawn += [] if sampling.clusters is None else [counted(sampling.units.number, "cluster")]
        return drawn if sampling.clusters is not None else ["weighted", *drawn]

    @cached_property
    def _cells(self) -> FloatArray | None:
        if self.number > _MOST_CELLS:
            return None
        return self.sampling.covariance_of_groups(self.cell, self.number)

    def each(self, values: FloatArray) -> FloatArray:
        """Return for each person the values of their subset, 0 for those who say nothing."""
        return np.where((self.cell >= 0)[:, None], values[self.cell], 0.0)

    def covariance(self, values: FloatArray) -> FloatArray:
        """Return the covariance of the weighted sum over people of the values of their subsets, (subsets, k)."""
        if self._cells is None:
            return self.sampling.covariance(self.each(values))
        return np.asarray(values.T @ self._cells @ values)

    def simple_random(self, amounts: FloatArray, values: FloatArray) -> FloatArray:
        """Return the covariance of the same sum if as many people were a simple random sample."""
        total = float(amounts.sum())
        apart = values - amounts @ values / total
        return np.asarray(total / max(self.people - 1, 1) * (apart.T * amounts) @ apart)

    def design_effect(self, amounts: FloatArray, values: FloatArray) -> float:
        """Return the variance of a weighted sum over that without weights, for a sample of so much weight.

        The likelihood of `amounts` takes each unit of weight for a person; it is divided by this.
        """
        total = float(amounts.sum())
        apart = values - amounts @ values / total
        plain = float(amounts @ apart**2)
        variance = float(self.covariance(apart[:, None])[0, 0])
        if plain > 0 and 0 < variance < np.inf:
            return variance / plain
        return total / self.people

    def refits(self, counts: SubsetCounts, start: FloatArray) -> FloatArray:
        """Return the estimate of each replicate, (replicates, p).

        Raises
        ------
        ArgumentError
            If one cannot be estimated from.
        """
        from subsetprivacy.estimation.dispatch import METHODS, read_method

        replication = self.sampling.replication
        assert replication is not None
        rows = np.flatnonzero(self.cell >= 0)
        sums = replication.group_sums(self.sampling.whole.weights, rows, self.cell[rows], self.number)
        run, options = METHODS[read_method(self.method)], dict(self.options)
        if self.method == "mle":
            options.setdefault("start", np.maximum(start, 0) / np.maximum(start, 0).sum())
        estimates = []
        for r, amounts in enumerate(sums):
            sample = SubsetCounts.trusted(counts.observed_codes, amounts, counts.design, amounts)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", SubsetPrivacyWarning)
                    estimates.append(run(sample, **options).w)
            except SubsetPrivacyError as error:
                raise type(error)(f"replicate {r}: {error.message}", error.advice) from None
        return np.array(estimates)


_EFFECT = " A design effect is the variance over that of a simple random sample of as many people."


def note_of_sampling(sampling: Sampling) -> Note:
    """Say what standard errors and intervals rest on."""
    how = "linearization"
    if sampling.replication is not None:
        how = counted(sampling.replication.number, f"{sampling.method} replicate")
    left = "" if sampling.calibration is None else " Weights are calibrated, and residuals are used."
    degrees = counted(sampling.degrees_of_freedom, "degree of freedom", "degrees of freedom")
    return Note(NoteKind.SAMPLING, f"Standard errors by {how}; quantiles of t with {degrees}.{left}{_EFFECT}")


def without_effects(notes: Iterable[Note]) -> tuple[Note, ...]:
    """Return notes without the sentence on design effects, for tables that have none."""
    return tuple(
        Note(note.kind, note.text.removesuffix(_EFFECT), note.advice) if note.kind is NoteKind.SAMPLING else note
        for note in notes
    )


def notes_of_margins(sampling: Sampling) -> tuple[Note, ...]:
    """Warn of shares that weights were calibrated to: the same variable estimated again is not the margin."""
    if sampling.calibration is None or not sampling.calibration.private:
        return ()
    named = ", ".join(sampling.calibration.private)
    text = (
        f"Weights were calibrated to a known margin of {named}, which is private. Shares of {named} from these weights "
        "are not exactly that margin, and their intervals mean nothing; the margin itself is what is known."
    )
    return (Note(NoteKind.MARGINS, text),)


def critical_value(level: float, degrees: float) -> float:
    """Return how many standard errors an interval at `level` reaches to either side: a quantile of t."""
    return float(ndtri(0.5 + level / 2) if not np.isfinite(degrees) else stdtrit(max(degrees, 1), 0.5 + level / 2))


@frozen
class SurveyUncertainty(FromMatrix):
    """The covariance matrix of an estimate whose people were drawn with weights, strata or clusters."""


def survey_uncertainty() -> SurveyUncertainty:
    """Return the uncertainty of an estimate with a survey."""
    return SurveyUncertainty(_covariance)


def _covariance(fit: "Estimate") -> FloatArray:
    assert fit.survey is not None
    if fit.survey.sampling.replication is not None:
        return fit.survey.sampling.replicated(fit._refits, fit.w)
    influence = influence_of(fit)
    lost = ~np.isfinite(influence).all(axis=0)
    cov = fit.survey.covariance(np.where(lost, 0.0, influence))
    cov[lost, :] = cov[:, lost] = np.nan
    cov[lost, lost] = np.inf
    return cov


def influence_of(fit: "Estimate") -> FloatArray:
    """Return by how much a person's weight moves each share, for each informative subset: (subsets, p).

    Not a number for a category that the sample says nothing about.
    """
    counts = fit.counts
    rows = np.asarray(counts.incidence.inner(np.eye(counts.categories.p))).T
    if fit.method.startswith("mom-uniform"):
        from subsetprivacy.estimation.mom import closed_form_rows

        return (closed_form_rows(counts) - fit.w) / counts.total
    if fit.method.startswith("mom-conditional"):
        from subsetprivacy.estimation.mom_conditional import deviations  # which builds on this module

        return deviations(counts, fit.w) / counts.total
    if fit.method.startswith("mom"):
        solved = np.array([counts.design.solve_informative_Q(row) for row in rows])
        return (solved - fit.w) / counts.total
    T = tangent_inverse(observed_information(counts.incidence, counts.shares, fit.w))
    lost = ~np.isfinite(T.diagonal())
    known = np.where(np.isfinite(T), T, 0.0)
    influence = (rows / counts.incidence.inner(fit.w)[:, None]) @ known / counts.total
    influence[:, lost] = np.nan
    return np.asarray(influence)


def survey_of(data: Any, sampling: Any) -> tuple[SubsetCounts, SurveySample]:
    """Return weighted counts of a subset per person, and how these were drawn.

    Raises
    ------
    ArgumentError
        If there is no subset per person, or `sampling` is no `Sampling` with columns.
    MismatchError
        If there are more people, or fewer, than the sampling has.
    """
    if not isinstance(sampling, Sampling):
        raise ArgumentError(f"`sampling` must be a Sampling; got {type(sampling).__name__}.", ROWS_FOR_SAMPLING)
    if isinstance(data, SubsetTable):
        data = data.select(data.names)
    if not isinstance(data, SubsetData):
        raise ArgumentError(
            f"`data` must hold a subset per person where `sampling` is given; got {type(data).__name__}.",
            ROWS_FOR_SAMPLING,
        )
    if data.design.covered is not None:
        raise ArgumentError("`sampling` must be left out for a covered release: dummy rows have no sampling weight.")
    if len(data) != sampling.n:
        raise MismatchError(f"`sampling` must be of the people of `data`; got {sampling.n} for {people(len(data))}.")
    weights = sampling.weights
    counts = count_codes(data.codes, data.design, weights, frequency=False)
    at = np.searchsorted(counts.observed_codes, data.codes)
    at = np.minimum(at, max(len(counts.observed_codes) - 1, 0))
    informative = (
        (weights > 0) & (counts.observed_codes[at] == data.codes) if len(counts.observed_codes) else weights < 0
    )
    return counts, SurveySample(sampling, np.where(informative, at, -1), len(counts.observed_codes))


def with_survey(fit: "Estimate", survey: SurveySample, method: str, options: Any) -> "Estimate":
    """Return an estimate whose errors are those of its sample."""
    return evolve(
        fit,
        uncertainty=survey_uncertainty(),
        survey=evolve(survey, method=method, options=tuple(options.items())),
        remarks=(*fit.remarks, note_of_sampling(survey.sampling), *notes_of_margins(survey.sampling)),
    )


def share_a_sample(first: "Estimate", second: "Estimate") -> bool:
    """Tell whether two estimates are of parts, or of answers, of the same sample."""
    if first.sampling is None or second.sampling is None:
        return False
    return first.sampling.whole is second.sampling.whole


def covariance_of_difference(first: "Shares", second: "Shares", order: IntArray) -> FloatArray:
    """Return the covariance matrix of the shares of one estimate less those of another of the same sample."""
    p = first.categories.p
    swap = np.zeros((p, p))
    swap[np.arange(p), order] = 1.0
    joint = joint_covariance([first, second], [np.eye(p), swap])
    return np.asarray(joint[:p, :p] + joint[p:, p:] - joint[:p, p:] - joint[p:, :p])


def joint_covariance(samples: "Sequence[Shares]", orders: Sequence[FloatArray]) -> FloatArray:
    """Return the covariance matrix of the shares of several estimates, those of the same sample with what they share.

    Parameters
    ----------
    samples
        The estimates.
    orders
        For each the matrix that takes its shares to the order of the first.
    """
    p = samples[0].categories.p
    out = np.zeros((p * len(samples),) * 2)
    done: set[int] = set()
    for k, shares in enumerate(samples):
        same = [i for i, other in enumerate(samples) if i == k or share_a_sample(shares._base, other._base)]
        if k in done:
            continue
        done.update(same)
        at = np.concatenate([np.arange(i * p, (i + 1) * p) for i in same])
        out[np.ix_(at, at)] = _of_one_sample([samples[i] for i in same], [orders[i] for i in same])
    return out


def _of_one_sample(samples: "Sequence[Shares]", orders: Sequence[FloatArray]) -> FloatArray:
    """Return the same where all are of one sample."""
    first = samples[0]._base
    if len(samples) == 1:
        fold = orders[0] @ _folded(samples[0])
        return np.asarray(fold @ first._cov @ fold.T)
    assert first.survey is not None
    whole = first.survey.sampling.whole
    folds = [order @ _folded(shares) for shares, order in zip(samples, orders, strict=True)]
    both = list(zip([shares._base for shares in samples], folds, strict=True))
    if whole.replication is not None:
        refits = np.concatenate([base._refits @ fold.T for base, fold in both], axis=1)
        return whole.replicated(refits, np.concatenate([fold @ base.w for base, fold in both]))
    scores = [base.survey.each(influence_of(base) @ fold.T) for base, fold in both if base.survey is not None]
    return whole.covariance(np.concatenate(scores, axis=1))


def plain_variances(shares: "Shares") -> FloatArray | None:
    """Return the variances of shares if as many people were a simple random sample; None without a sampling."""
    base = shares._base
    if base.survey is None:
        return None
    influence = influence_of(base) @ _folded(shares).T
    return base.survey.simple_random(base.counts.n_a, influence).diagonal()


def _folded(shares: "Shares") -> FloatArray:
    """Return the matrix that makes these shares of those of the estimate that they are read off."""
    return np.array([shares._lift(unit) for unit in np.eye(shares.categories.p)])
