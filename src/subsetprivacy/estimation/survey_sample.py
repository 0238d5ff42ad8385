r"""Estimates from samples with weights, strata and clusters.

To first order, :math:`\hat w - w \approx \sum_i \omega_i u_{a_i}`, where the influence u depends only on a person's
subset. The covariance is therefore that of a weighted sum over people, which `Sampling` provides. For maximum
likelihood :math:`u_a = T r_a/(L_a\sum\omega)`, with T the inverse information on the simplex; for moments :math:`u_a =
(Q^{-1}r_a - \hat w)/\sum\omega`.
"""

import warnings
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve, frozen
from scipy.special import ndtri, stdtrit

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy._words import counted, whole
from subsetprivacy.data import SubsetCounts, SubsetData, SubsetTable, count_codes
from subsetprivacy.design import Design
from subsetprivacy.errors import ArgumentError, SubsetPrivacyError, SubsetPrivacyWarning, UnknownDesignError
from subsetprivacy.estimation.likelihood import observed_information, tangent_inverse
from subsetprivacy.estimation.uncertainty import FromMatrix
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_data import ROWS_FOR_SAMPLING
from subsetprivacy.sampling import Sampling

if TYPE_CHECKING:
    from subsetprivacy.estimation.result import Estimate
    from subsetprivacy.estimation.shares import Shares

_KNOWN = 1e-12  # a variance relative to that without a sampling; below it, nothing is unknown
_MOST_CELLS = 2048  # up to so many subsets, their covariance matrix is stored


@frozen(slots=False, eq=False, repr=False)
class SurveySample:
    """How the people behind counts were sampled.

    Attributes
    ----------
    sampling
        Weights, strata and clusters of all people.
    cell
        For each person, the position of their subset among the counted informative subsets, or -1. None for counts
        without people, which are a simple random sample from a population.
    counts
        The counts, weighted if people have weights.
    method, options
        The estimator and its options, to refit replicates.
    """

    sampling: Sampling
    cell: IntArray | None
    counts: SubsetCounts
    method: str = "mle"
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def number(self) -> int:
        """The number of informative subsets."""
        return len(self.counts.observed_codes)

    @property
    def people(self) -> int:
        """The number of people with an informative subset and a positive weight."""
        return int(self.counts.total if self.cell is None else (self.cell >= 0).sum())

    @property
    def degrees_of_freedom(self) -> float:
        """The degrees of freedom of variances."""
        if self.cell is None:
            return float(self.counts.total + self.counts.n_missing - 1)
        return self.sampling.degrees_of_freedom

    @property
    def text(self) -> str:
        """The sample in words, for titles."""
        return f"n = {whole(self.people)}{self.sampling.drawn_text}"

    @cached_property
    def _cells(self) -> FloatArray | None:
        if self.cell is None or self.number > _MOST_CELLS:
            return None
        return self.sampling.covariance_of_groups(self.cell, self.number)

    def each(self, values: FloatArray) -> FloatArray:
        """Return the values of each person's subset, or 0 for people without an informative subset."""
        assert self.cell is not None
        return np.where((self.cell >= 0)[:, None], values[self.cell], 0.0)

    def covariance(self, values: FloatArray, means: FloatArray) -> FloatArray:
        """Return the covariance of the weighted sum over people of values given by subset.

        Parameters
        ----------
        values
            Shape (subsets, k).
        means
            Their means over the draws for each category, (p, k).
        """
        if self.cell is None:
            people = self.counts.total + self.counts.n_missing
            total = self.counts.n_a @ values
            spread = (values.T * self.counts.n_a) @ values - np.outer(total, total) / people
            factor = (1 - self.sampling.fraction_of(people)) * people / max(people - 1, 1)
            chosen: FloatArray = np.asarray(factor * spread)
        elif self._cells is None:
            chosen = self.sampling.covariance(self.each(values))
        else:
            chosen = np.asarray(values.T @ self._cells @ values)
        return np.asarray(chosen + self.of_draws(values, means))

    def of_draws(self, values: FloatArray, means: FloatArray) -> FloatArray | float:
        """Return the part of `covariance` from the draws of subsets that a finite population does not reduce."""
        if self._draws is None:
            return 0.0
        return np.asarray((values.T * self._draws.factors) @ values - (means.T * self._draws.categories) @ means)

    @cached_property
    def _draws(self) -> "CellDraws | None":
        if self.cell is None:
            people = self.counts.total + self.counts.n_missing
            fraction = self.sampling.fraction_of(people)
            if not fraction:
                return None
            return CellDraws.of(self.counts, fraction * self.counts.n_a, fraction * people)
        factors = self.sampling.draw_factors()
        if factors is None:
            return None
        used = np.flatnonzero(self.cell >= 0)
        amounts = np.bincount(self.cell[used], factors[used], minlength=self.number).astype(np.float64)
        return CellDraws.of(self.counts, amounts, float(factors.sum()))

    def simple_random(self, amounts: FloatArray, values: FloatArray) -> FloatArray:
        """Return the covariance of the same sum for a simple random sample of the same size."""
        total = float(amounts.sum())
        apart = values - amounts @ values / total
        return np.asarray(total / max(self.people - 1, 1) * (apart.T * amounts) @ apart)

    def design_effect(self, amounts: FloatArray, values: FloatArray, L: FloatArray) -> float:
        """Return the variance of a weighted sum relative to the variance without weights.

        The likelihood of `amounts` treats each unit of weight as a person, so it is divided by this.

        Parameters
        ----------
        amounts, values
            The weight of each subset, and its values.
        L
            The fitted probability of the subsets, for the means of the values over the draws.
        """
        total = float(amounts.sum())
        apart = values - amounts @ values / total
        plain = float(amounts @ apart**2)
        means = means_of_draws(self.counts, L, apart[:, None])
        variance = float(self.covariance(apart[:, None], means)[0, 0])
        if not 0 < plain < np.inf or not variance < np.inf:
            return total / self.people
        if variance > _KNOWN * plain:
            return variance / plain
        return total / self.people if self._draws is None else _KNOWN

    def refits(self, counts: SubsetCounts, start: FloatArray) -> FloatArray:
        """Return the estimate of each replicate, (replicates, p).

        Raises
        ------
        ArgumentError
            If a replicate has no estimate.
        """
        from subsetprivacy.estimation.dispatch import METHODS, read_method

        replication = self.sampling.replication
        assert replication is not None
        assert self.cell is not None
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


@frozen(eq=False, repr=False)
class CellDraws:
    r"""The factors :math:`f_h w_i^2` of the variances of draws, summed over people.

    A score s that depends on the subset has the variance :math:`E[ss^\top \mid X] - m_X m_X^\top` over the draws, with
    its mean :math:`m_j` over the draws in category j. The first part is the square of the score, and the unbiased
    indicators estimate the second: :math:`\sum_j D_j m_j m_j^\top`. For scores that are the indicators themselves, this
    is :math:`DD^\top - \mathrm{diag}(D)`.

    Attributes
    ----------
    factors
        The sum of each informative subset.
    categories
        Estimates of the sums of each category, times the share of people with an informative subset. Whether a person
        has one is part of the draw.
    """

    factors: FloatArray
    categories: FloatArray

    @classmethod
    def of(cls, counts: SubsetCounts, factors: FloatArray, everyone: float) -> "CellDraws":
        """Return the sums for factors by subset, and their sum over everyone."""
        from subsetprivacy.estimation.indicator import IndicatorTable, rows_of
        from subsetprivacy.estimation.mle import maximize

        table = IndicatorTable(counts.design, maximize(counts.incidence, counts.shares, 1e-9).w)
        D = table.of(rows_of(counts.observed_codes, counts.design))
        return cls(factors, D @ factors * (factors.sum() / everyone))


def means_of_draws(counts: SubsetCounts, L: FloatArray, values: FloatArray) -> FloatArray:
    r"""Return the mean of values given by subset over the draws in each category, (p, k).

    Notes
    -----
    :math:`\sum_a P(a \mid j) u_a` with :math:`P(a \mid j) = \mu_a r_{aj}`, and the observed :math:`f_a/L_a` for
    :math:`\mu_a`.
    """
    return np.asarray(counts.incidence.spread((values * (counts.shares / L)[:, None]).T).T)


_EFFECT = " A design effect is the variance relative to a simple random sample of the same size."


def note_of_sampling(sampling: Sampling, degrees_of_freedom: float | None = None) -> Note:
    """Return a note on how standard errors and intervals were computed."""
    known = sampling.degrees_of_freedom if degrees_of_freedom is None else degrees_of_freedom
    how = "linearization"
    if sampling.replication is not None:
        how = counted(sampling.replication.number, f"{sampling.method} replicate")
    left = "" if sampling.calibration is None else " Weights are calibrated, so the standard errors use residuals."
    degrees = counted(known, "degree of freedom", "degrees of freedom")
    finite = " The population is finite (fpc), which does not reduce the error from the draws of the subsets."
    left += finite if sampling.is_finite else ""
    return Note(NoteKind.SAMPLING, f"Standard errors by {how}, with quantiles of t with {degrees}.{left}{_EFFECT}")


def without_effects(notes: Iterable[Note]) -> tuple[Note, ...]:
    """Return notes without the sentence on design effects, for tables without them."""
    return tuple(
        Note(note.kind, note.text.removesuffix(_EFFECT), note.advice) if note.kind is NoteKind.SAMPLING else note
        for note in notes
    )


def notes_of_margins(sampling: Sampling) -> tuple[Note, ...]:
    """Return a note if weights were calibrated to a private margin, since estimates of it differ from the margin."""
    if sampling.calibration is None or not sampling.calibration.private:
        return ()
    named = ", ".join(sampling.calibration.private)
    text = (
        f"Weights were calibrated to a known margin of {named}, which is private. Shares of {named} from these weights "
        "are not exactly that margin, and their intervals are meaningless. Use the known margin instead."
    )
    return (Note(NoteKind.MARGINS, text),)


def critical_value(level: float, degrees: float) -> float:
    """Return the quantile of t, or of the normal distribution, for an interval at `level`."""
    return float(ndtri(0.5 + level / 2) if not np.isfinite(degrees) else stdtrit(max(degrees, 1), 0.5 + level / 2))


@frozen
class SurveyUncertainty(FromMatrix):
    """The covariance matrix of an estimate from a sample with weights, strata or clusters."""


def survey_uncertainty() -> SurveyUncertainty:
    """Return the uncertainty of an estimate from a survey sample."""
    return SurveyUncertainty(_covariance)


def _covariance(fit: "Estimate") -> FloatArray:
    assert fit.survey is not None
    influence = influence_of(fit)
    lost = ~np.isfinite(influence).all(axis=0)
    known = np.where(lost, 0.0, influence)
    means = means_of_influence(fit, known)
    if fit.survey.sampling.replication is not None:
        return fit.survey.sampling.replicated(fit._refits, fit.w) + fit.survey.of_draws(known, means)
    cov = fit.survey.covariance(known, means)
    cov[lost, :] = cov[:, lost] = np.nan
    cov[lost, lost] = np.inf
    return cov


def influence_of(fit: "Estimate") -> FloatArray:
    """Return the influence of a person's weight on each share, for each informative subset: (subsets, p).

    NaN for a category on which the sample has no information.
    """
    counts = fit.counts
    rows = np.asarray(counts.incidence.inner(np.eye(counts.categories.p))).T
    if fit.method.startswith("mom-uniform"):
        from subsetprivacy.estimation.mom import closed_form_rows

        return (closed_form_rows(counts) - fit.w) / counts.total
    if fit.method.startswith("mom-conditional"):
        from subsetprivacy.estimation.mom_conditional import deviations  # that module imports this one

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


def means_of_influence(fit: "Estimate", influence: FloatArray) -> FloatArray:
    """Return the mean influence over the draws in each category, (p, k); see `influence_of`."""
    if fit.method.startswith("mom"):  # it is linear in unbiased indicators
        return np.asarray((np.eye(len(fit.w)) - fit.w) / fit.counts.total)
    return means_of_draws(fit.counts, fit.counts.incidence.inner(fit.w), influence)


def survey_of(data: Any, sampling: Any) -> tuple[SubsetCounts, SurveySample]:
    """Return weighted counts of one subset per person, and how the people were sampled.

    Raises
    ------
    ArgumentError
        If `data` is not one subset per person, or `sampling` is not a `Sampling` with columns.
    MismatchError
        If the number of people differs from that of `sampling`.
    """
    if not isinstance(sampling, Sampling):
        raise ArgumentError(f"`sampling` must be a Sampling; got {type(sampling).__name__}.", ROWS_FOR_SAMPLING)
    if isinstance(data, SubsetTable):
        data = data.select(data.names)
    of_counts = isinstance(data, SubsetCounts) and not sampling.has_rows
    if not of_counts and not isinstance(data, SubsetData):
        raise ArgumentError(
            f"`data` must contain a subset per person if `sampling` is given; got {type(data).__name__}.",
            ROWS_FOR_SAMPLING,
        )
    if data.design.covered is not None:
        raise ArgumentError("`sampling` must be left out for a covered release: dummy rows have no sampling weight.")
    if of_counts:
        if data.squares is not None:
            raise ArgumentError("`data` must be unweighted with a single `fpc`; got weighted counts.")
        counts, cell = data, None
        corrected = sampling.fraction_of(data.total + data.n_missing) > 0
    else:
        sampling = sampling.of_people(len(data))
        counts, cell = _cells_of(data, sampling.weights)
        corrected = sampling.draw_factors() is not None
    if corrected and counts.total:
        require_indicators_of_draws(counts.design)
    return counts, SurveySample(sampling, cell, counts)


def require_indicators_of_draws(design: Design) -> None:
    """Raise unless the variance of the draws of a design can be estimated, as `fpc` requires.

    Raises
    ------
    UnknownDesignError, NotIdentifiableError
        If the design is not known or not identifiable.
    """
    if not design.is_known:
        raise UnknownDesignError(
            "`fpc` must come with a known design, since it leaves only the variance of the draws; got subsets without "
            "one."
        )
    design.require_identifiable()


def _cells_of(data: SubsetData, weights: FloatArray) -> tuple[SubsetCounts, IntArray]:
    """Return weighted counts, and the position of each person's subset in them, or -1."""
    counts = count_codes(data.codes, data.design, weights, frequency=False)
    at = np.searchsorted(counts.observed_codes, data.codes)
    at = np.minimum(at, max(len(counts.observed_codes) - 1, 0))
    informative = (
        (weights > 0) & (counts.observed_codes[at] == data.codes) if len(counts.observed_codes) else weights < 0
    )
    return counts, np.where(informative, at, -1)


def with_survey(fit: "Estimate", survey: SurveySample, method: str, options: Any) -> "Estimate":
    """Return an estimate with standard errors for its sample."""
    return evolve(
        fit,
        uncertainty=survey_uncertainty(),
        survey=evolve(survey, method=method, options=tuple(options.items())),
        remarks=(
            *fit.remarks,
            note_of_sampling(survey.sampling, survey.degrees_of_freedom),
            *notes_of_margins(survey.sampling),
        ),
    )


def share_a_sample(first: "Estimate", second: "Estimate") -> bool:
    """Return whether two estimates come from the same sample."""
    if first.survey is None or second.survey is None or first.survey.cell is None or second.survey.cell is None:
        return False
    return first.survey.sampling.whole is second.survey.sampling.whole


def covariance_of_difference(first: "Shares", second: "Shares", order: IntArray) -> FloatArray:
    """Return the covariance matrix of the difference of two estimates from the same sample."""
    p = first.categories.p
    swap = np.zeros((p, p))
    swap[np.arange(p), order] = 1.0
    joint = joint_covariance([first, second], [np.eye(p), swap])
    return np.asarray(joint[:p, :p] + joint[p:, p:] - joint[:p, p:] - joint[p:, :p])


def joint_covariance(samples: "Sequence[Shares]", orders: Sequence[FloatArray]) -> FloatArray:
    """Return the joint covariance matrix of the shares of several estimates, some from the same sample.

    Parameters
    ----------
    samples
        The estimates.
    orders
        For each estimate, the matrix that reorders its shares to the order of the first.
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
    """Return the joint covariance matrix if all estimates come from one sample."""
    first = samples[0]._base
    if len(samples) == 1:
        fold = orders[0] @ _folded(samples[0])
        return np.asarray(fold @ first._cov @ fold.T)
    assert first.survey is not None
    whole = first.survey.sampling.whole
    folds = [order @ _folded(shares) for shares, order in zip(samples, orders, strict=True)]
    both = list(zip([shares._base for shares in samples], folds, strict=True))
    draws = _joint_draws([(base, influence_of(base) @ fold.T, fold) for base, fold in both])
    if whole.replication is not None:
        refits = np.concatenate([base._refits @ fold.T for base, fold in both], axis=1)
        return whole.replicated(refits, np.concatenate([fold @ base.w for base, fold in both])) + draws
    scores = [base.survey.each(influence_of(base) @ fold.T) for base, fold in both if base.survey is not None]
    return whole.covariance(np.concatenate(scores, axis=1)) + draws


def _joint_draws(parts: "Sequence[tuple[Estimate, FloatArray, FloatArray]]") -> FloatArray:
    """Return the variance of the draws of several estimates from one sample; see `SurveySample.of_draws`.

    Draws are independent between questions. Two estimates share draws if they come from the same subsets, such as those
    of a group and of everyone.
    """
    return np.block([[_shared_draws(one, other) for other in parts] for one in parts])


def _shared_draws(
    one: "tuple[Estimate, FloatArray, FloatArray]", other: "tuple[Estimate, FloatArray, FloatArray]"
) -> FloatArray:
    (first, values, fold), (second, others, turn) = one, other
    none = np.zeros((values.shape[1], others.shape[1]))
    mine, theirs = first.survey, second.survey
    assert mine is not None
    assert theirs is not None
    assert mine.cell is not None
    assert theirs.cell is not None
    factors = mine.sampling.draw_factors()
    if factors is None:
        return none
    both = (mine.cell >= 0) & (theirs.cell >= 0)
    codes = [fit.counts.observed_codes[cell[both]] for fit, cell in ((first, mine.cell), (second, theirs.cell))]
    if not both.any() or first.counts.design != second.counts.design or not np.array_equal(codes[0], codes[1]):
        return none
    amounts = np.bincount(mine.cell[both], factors[both], minlength=mine.number).astype(np.float64)
    used = mine.sampling.weights * theirs.sampling.weights > 0
    draws = CellDraws.of(first.counts, amounts, float(factors[used].sum()))
    means = means_of_influence(first, influence_of(first)) @ fold.T
    across = means_of_influence(second, influence_of(second)) @ turn.T
    squares = mine.each(values)[both].T * factors[both] @ theirs.each(others)[both]
    return np.asarray(squares - (means.T * draws.categories) @ across)


def plain_variances(shares: "Shares") -> FloatArray | None:
    """Return the variances for a simple random sample of the same size; None without `sampling`."""
    base = shares._base
    if base.survey is None:
        return None
    influence = influence_of(base) @ _folded(shares).T
    return base.survey.simple_random(base.counts.n_a, influence).diagonal()


def _folded(shares: "Shares") -> FloatArray:
    """Return the matrix that maps the shares of the full estimate to these shares."""
    return np.array([shares._lift(unit) for unit in np.eye(shares.categories.p)])
