"""`Difference`: the shares of one estimate minus those of another."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal, overload

import numpy as np
from attrs import evolve, frozen

from subsetprivacy import draw
from subsetprivacy._checks import check_choice, check_level
from subsetprivacy._choices import Alternative, ContrastMethod, Engine
from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.errors import ArgumentError, MismatchError, TooLargeError
from subsetprivacy.estimation import presenting
from subsetprivacy.estimation.caveats import with_interval_advice
from subsetprivacy.estimation.contrast import METHODS, ContrastOptions, chosen_method, signed_statistic
from subsetprivacy.estimation.homogeneity import (
    NOT_TESTED,
    TESTS,
    JointTest,
    by_covariance,
    newton_step,
    same_distribution,
    why_not,
)
from subsetprivacy.estimation.intervals import SignedScore, level_of_each, search_end, together_by
from subsetprivacy.estimation.linear_profile import LinearProfile
from subsetprivacy.estimation.profile import Peak
from subsetprivacy.estimation.shares import Shares
from subsetprivacy.estimation.survey_sample import (
    covariance_of_difference,
    critical_value,
    plain_variances,
    share_a_sample,
)
from subsetprivacy.estimation.two_samples import TwoSamples
from subsetprivacy.messages import Note, NoteKind, unique
from subsetprivacy.messages.for_estimates import COLLAPSE_FIRST, JOINT_WAVES, MARGINS_OF_ONE
from subsetprivacy.pvalues import p_equals, positive, pvalue_text
from subsetprivacy.results import Result, plain
from subsetprivacy.subsets import Categories
from subsetprivacy.tables import ArrowTable, Frame, PandasFrame, PolarsFrame, Table, frame, label_text, number, percent

_OF_THE_SAMPLE = (NoteKind.SAMPLING, NoteKind.MARGINS)
_NUMBERS = ("estimate", "se", "lower", "upper", "pvalue")

KINDS = {  # notes on intervals and tests
    "score": "Intervals and p-values by method 'score': the differences that the score test does not reject.",
    "profile": "Intervals and p-values by method 'profile': the likelihood ratio.",
    "wald": "Intervals and p-values by method 'wald': difference and standard error.",
}


@frozen(slots=False, eq=False, repr=False)
class Difference(Result):
    r"""The shares of one estimate minus those of another; made by `Estimate.difference`.

    Attributes
    ----------
    one, two
        The two estimates, from independent samples or margins of one joint estimate.
    names
        The names of the two estimates.
    order
        For each category of `one`, its position in `two`.
    together
        The number of differences that are compared at once.

    Notes
    -----
    The default intervals come from the score test. Unlike Wald intervals, they keep their level near 0 and 1. Measured
    coverage is in `docs/measured-levels.md`.
    """

    why_not_restored: ClassVar[str] = "save the counts of both with `counts.to_dict()` and estimate from them again"

    one: Shares
    two: Shares
    names: tuple[str, str]
    order: IntArray
    together: int = 1

    @property
    def comparisons(self) -> int:
        """The number of differences that are computed at once. The default method depends on it."""
        return self.together * self.categories.p

    @property
    def categories(self) -> Categories:
        """The categories, in the order of the first estimate."""
        return self.one.categories

    @property
    def is_paired(self) -> bool:
        """Whether the two are margins of one joint estimate, that is, of the same people."""
        return self.one._base is self.two._base

    @property
    def _same_sample(self) -> bool:
        """Whether the two belong to the same sample and share its clusters."""
        return not self.is_paired and share_a_sample(self.one._base, self.two._base)

    @cached_property
    def degrees_of_freedom(self) -> FloatArray:
        """The degrees of freedom of t: of one sample, or Satterthwaite's for two; infinite without `sampling`."""
        own = [base.degrees_of_freedom for base in self._bases]
        p = self.categories.p
        if self.is_paired or self._same_sample or np.isinf(own).all():
            return np.full(p, float(own[0]))
        first, second = self.one._shown_se**2, self.two._shown_se[self.order] ** 2
        with np.errstate(divide="ignore", invalid="ignore"):
            made = (first + second) ** 2 / (first**2 / own[0] + second**2 / own[1])
        return np.where(np.isfinite(made), made, min(own))

    @cached_property
    def design_effects(self) -> FloatArray | None:
        """The variances relative to two simple random samples of the same sizes; None unless both have `sampling`."""
        first, second = plain_variances(self.one), plain_variances(self.two)
        if first is None or second is None or self.is_paired:
            return None
        plain = first + second[self.order]
        return np.divide(self._se**2, plain, out=np.full(len(plain), np.nan), where=plain > 0)

    @property
    def n(self) -> tuple[float, float]:
        """The number of people in the two samples."""
        return self.one._base.n, self.two._base.n

    @property
    def estimate(self) -> FloatArray:
        """The differences, in category order."""
        return self.one.w - self.two.w[self.order]

    def _directions(self, k: int) -> tuple[FloatArray, FloatArray]:
        """Return weights of the categories of each base estimate that give the k-th share."""
        first, second = (np.zeros(shares.categories.p) for shares in (self.one, self.two))
        first[k] = second[self.order[k]] = 1.0
        return self.one._lift(first), self.two._lift(second)

    @cached_property
    def _se(self) -> FloatArray:
        if self._same_sample:
            return np.sqrt(np.maximum(np.nan_to_num(np.diag(self._cov), nan=np.inf), 0.0))
        if not self.is_paired:
            return np.hypot(self.one._shown_se, self.two._shown_se[self.order])
        base = self.one._base
        along = [base.uncertainty.along(base, a - b) for a, b in map(self._directions, range(self.categories.p))]
        return np.sqrt(np.maximum(np.nan_to_num(along, nan=np.inf), 0.0))

    @property
    def se(self) -> FloatArray:
        """The standard errors of the differences; warns where the normal approximation is unreliable."""
        for base in self._bases:
            base._warn_of_caveats(None)
        return self._se

    @cached_property
    def _cov(self) -> FloatArray:
        if self.is_paired:
            base = self.one._base
            both = np.array([a - b for a, b in map(self._directions, range(self.categories.p))])
            return both @ base._cov @ both.T
        if self._same_sample:
            return covariance_of_difference(self.one, self.two, self.order)
        return self.one._cov + self.two._cov[np.ix_(self.order, self.order)]  # type: ignore[attr-defined]

    @property
    def cov(self) -> FloatArray:
        """The covariance matrix of the differences; warns where the normal approximation is unreliable."""
        for base in self._bases:
            base._warn_of_caveats(None)
        return self._cov

    @property
    def _bases(self) -> list[Any]:
        return [self.one._base] if self.is_paired else [self.one._base, self.two._base]

    # Tests ----------------------------------------------------------------------------------------

    @cached_property
    def test(self) -> JointTest:
        """The test that no share differs: statistic, degrees of freedom, p-value, method.

        Likelihood estimates use the score test, margins and merged categories the score test after a Newton step, and
        moment estimates Wald's test.
        """
        return self._test("auto")

    def _test(self, method: ContrastMethod) -> JointTest:
        p, whole = self.categories.p, self.one._base is self.one and self.two._base is self.two
        try:
            if any(base.survey is not None for base in self._bases):
                return by_covariance(self.estimate, self._cov, degrees=float(self.degrees_of_freedom.min()))
            if "wald" in [chosen_method(base, method) for base in self._bases]:
                return by_covariance(self.estimate, self._cov)
            if whole:
                swap = np.zeros((p, p))
                swap[self.order, np.arange(p)] = 1.0
                return same_distribution([self.one, self.two], [np.eye(p), swap])
            return self._after_a_step()
        except TooLargeError:
            return NOT_TESTED

    def _after_a_step(self) -> JointTest:
        """Test shares of margins or merged categories."""
        if not self.is_paired:
            (first, V), (second, U) = newton_step(self.one), newton_step(self.two)
            return by_covariance(first - second[self.order], V + U[np.ix_(self.order, self.order)], "newton")
        base, V = newton_step(self.one._base)
        both = np.array([a - b for a, b in map(self._directions, range(self.categories.p))])
        return by_covariance(both @ base, both @ V @ both.T, "newton")

    @property
    def pvalue(self) -> float:
        """The p-value of the test that no share differs."""
        return positive(self.test.pvalue)

    def _method(self, method: ContrastMethod) -> str:
        check_choice(method, METHODS, "method")
        chosen = [chosen_method(base, method, self.comparisons) for base in self._bases]
        return "wald" if "wald" in chosen else chosen[0]

    @cached_property
    def _peaks(self) -> list[Peak]:
        return [base._peak() for base in self._bases]

    @cached_property
    def _profiles(self) -> list[TwoSamples | LinearProfile]:
        """The profile likelihood of each difference."""
        profiles: list[TwoSamples | LinearProfile] = []
        for k in range(self.categories.p):
            a, b = self._directions(k)
            if self.is_paired:
                profiles.append(LinearProfile(self._peaks[0], a - b))
            else:
                effect = self._shared_effect(k)
                both = zip(self._peaks, (a, b), strict=True)
                profiles.append(TwoSamples(*(LinearProfile(peak, c, effect) for peak, c in both)))
        return profiles

    def _shared_effect(self, k: int) -> float:
        """Return the variance of a difference relative to two independent samples, since clusters may be shared."""
        if not self._same_sample:
            return 1.0
        apart = self.one._shown_se[k] ** 2 + self.two._shown_se[self.order[k]] ** 2
        effect = self._se[k] ** 2 / apart if apart > 0 else 1.0
        return float(effect) if 0 < effect < np.inf else 1.0

    def pvalues(
        self, *, null: float = 0.0, alternative: Alternative = "two-sided", method: ContrastMethod = "auto"
    ) -> FloatArray:
        """Return the p-value of each category's difference, not adjusted for multiple testing.

        Parameters
        ----------
        null
            The difference to test.
        alternative
            ``"two-sided"``, ``"less"`` or ``"greater"``.
        method
            As in `interval`.
        """
        options = ContrastOptions.checked(0.95, null, alternative, method)
        if abs(options.null) > 1:
            raise ArgumentError(f"`null` must be a difference of shares, from -1 to 1; got {options.null:g}.")
        return self._pvalues(options)

    def _pvalues(self, options: ContrastOptions) -> FloatArray:
        kind = self._method(options.method)
        if kind == "wald":
            with np.errstate(divide="ignore", invalid="ignore"):
                z = (self.estimate - options.null) / self._se
        else:
            z = np.array([_statistic(profile, options.null, score=kind == "score") for profile in self._profiles])
        each = [evolve(options, degrees=float(degrees)) for degrees in self.degrees_of_freedom]
        return np.array([positive(profile.pvalue(x)) if x == x else np.nan for profile, x in zip(each, z, strict=True)])

    # Intervals ------------------------------------------------------------------------------------

    def interval(
        self, level: float = 0.95, *, method: ContrastMethod = "auto", simultaneous: bool = False
    ) -> FloatArray:
        """Return a confidence interval for each difference, shape (p, 2).

        Parameters
        ----------
        level
            The confidence level of each interval, or of all intervals jointly (see `simultaneous`).
        method
            ``"score"``: the differences that the score test does not reject; reliable near 0.
            ``"profile"``: those that the likelihood ratio test does not reject. ``"wald"``: difference and standard
            error. ``"auto"``: the score test for likelihood estimates of up to 64 categories, Wald's otherwise.
        simultaneous
            True for intervals that all cover with joint probability `level`.
        """
        if self._method(method) == "wald":
            for base in self._bases:
                base._warn_of_caveats(None)
        return self._bounds(level, method, simultaneous)

    def _bounds(self, level: float, method: ContrastMethod, simultaneous: bool = False) -> FloatArray:
        check_level(level)
        kind = self._method(method)
        if simultaneous:
            level = level_of_each(self._cov if self._together == "normal" else None, self.categories.p, level)
        z = np.array([critical_value(level, degrees) for degrees in self.degrees_of_freedom])
        if kind == "wald":
            half = z * self._se
            return np.clip(np.column_stack([self.estimate - half, self.estimate + half]), -1.0, 1.0)
        both = zip(self._profiles, z, strict=True)
        return np.array([_accepted_range(profile, float(own), score=kind == "score") for profile, own in both])

    @property
    def _together(self) -> str:
        """The method by which the level holds for all intervals jointly."""
        return together_by(self._bases, self._se)

    # Output ---------------------------------------------------------------------------------------

    @property
    def notes(self) -> tuple[Note, ...]:
        """The caveats of the two estimates."""
        if self.is_paired:
            return with_interval_advice(self.one._base.notes, None)
        both = zip(self.names, self._bases, strict=True)
        if self._same_sample:  # notes on the sample appear once
            kept = [note for note in self.one._base.notes if note.kind in _OF_THE_SAMPLE]
            named = [
                Note(note.kind, f"{name}: {note.text}", note.advice)
                for name, base in both
                for note in with_interval_advice(base.notes, None)
                if note.kind not in _OF_THE_SAMPLE
            ]
            return unique([*named, *kept])
        named = [
            Note(note.kind, f"{name}: {note.text}", note.advice)
            for name, base in both
            for note in with_interval_advice(base.notes, None)
        ]
        return unique(named)

    def _columns(
        self, level: float = 0.95, method: ContrastMethod = "auto", simultaneous: bool = False
    ) -> dict[str, Any]:
        bounds = self._bounds(level, method, simultaneous)
        columns = presenting.shares(list(self.categories), self.estimate, self._se, bounds, level)
        options = ContrastOptions.checked(level, 0.0, "two-sided", method)
        effects = {} if self.design_effects is None else {"design_effect": self.design_effects}
        return {**columns, "pvalue": self._pvalues(options), **effects}

    @overload
    def to_frame(
        self,
        level: float = ...,
        *,
        method: ContrastMethod = ...,
        simultaneous: bool = ...,
        engine: Literal["pandas"] = ...,
    ) -> PandasFrame: ...
    @overload
    def to_frame(
        self, level: float = ..., *, method: ContrastMethod = ..., simultaneous: bool = ..., engine: Literal["polars"]
    ) -> PolarsFrame: ...
    @overload
    def to_frame(
        self, level: float = ..., *, method: ContrastMethod = ..., simultaneous: bool = ..., engine: Literal["pyarrow"]
    ) -> ArrowTable: ...
    def to_frame(
        self,
        level: float = 0.95,
        *,
        method: ContrastMethod = "auto",
        simultaneous: bool = False,
        engine: Engine = "pandas",
    ) -> Frame:
        """Return a data frame with a row per category. The arguments are as in `interval`."""
        return frame(self._columns(level, method, simultaneous), engine)

    def to_dict(
        self, level: float = 0.95, *, method: ContrastMethod = "auto", simultaneous: bool = False
    ) -> dict[str, Any]:
        """Return the numbers as plain lists, for JSON. The arguments are as in `interval`."""
        columns = self._columns(level, method, simultaneous)
        return plain(
            {
                "names": self.names,
                "categories": columns["category"],
                **{name: columns[name] for name in (*_NUMBERS, "design_effect") if name in columns},
                "level": level,
                "simultaneous": simultaneous,
                "method": self._method(method),
                "n": self.n,
                "test": self._test(method).to_dict(),
                "notes": self.notes,
            }
        )

    def summary(self, level: float = 0.95, *, method: ContrastMethod = "auto", simultaneous: bool = False) -> Table:
        """Return the table to print or to show in a notebook. The arguments are as in `interval`."""
        columns = self._columns(level, method, simultaneous)
        at = presenting.largest(np.abs(columns["estimate"]))
        ends = (f"lower {percent(level)}", f"upper {percent(level)}")
        head: tuple[str, ...] = ("category", "difference", "std. error", *ends, "p-value")
        effects = columns.get("design_effect")
        head += () if effects is None else ("design effect",)
        rows = tuple(
            (
                label_text(columns["category"][k]),
                *(number(columns[name][k]) for name in ("estimate", "se", "lower", "upper")),
                pvalue_text(columns["pvalue"][k]),
                *(() if effects is None else (number(effects[k], 2),)),
            )
            for k in at
        )
        notes = [self._test_note(self._test(method)), Note(NoteKind.INTERVAL_METHOD, KINDS[self._method(method)])]
        if simultaneous:
            notes.append(Note(NoteKind.SIMULTANEOUS, presenting.SIMULTANEOUS[self._together]))
        return Table(self._title, head, rows, (*notes, *self.notes))

    @property
    def _title(self) -> str:
        people = " and ".join(base.n_text for base in self._bases)
        return f"Difference of shares, {self.names[0]} minus {self.names[1]}: {people}"

    def _test_note(self, test: JointTest) -> Note:
        """Return a note with the result of the joint test."""
        if test.df == 0:
            return Note(NoteKind.NOT_TESTED, f"No test of all differences together: {why_not(test)}.")
        text = f"All together, {TESTS[test.method]} that no share differs: {test.text}."
        return Note(NoteKind.NULL_LAW, text)

    def plot(
        self,
        *,
        level: float = 0.95,
        method: ContrastMethod = "auto",
        simultaneous: bool = False,
        ax: draw.AxesOrNone = None,
        title: str | None = None,
    ) -> draw.Axes:
        """Plot the differences with their intervals around zero, a row per category."""
        bounds = self._bounds(level, method, simultaneous)
        heading = draw.Heading(
            f"Difference of shares, {self.names[0]} minus {self.names[1]}, {100 * level:.6g}% intervals"
        )
        return draw.differences(
            [label_text(label) for label in self.categories],
            self.estimate,
            bounds[:, 0],
            bounds[:, 1],
            level=level,
            title=heading if title is None else title,
            ax=ax,
        )

    def __repr__(self) -> str:
        shown = list(zip(self.categories, self.estimate, self._se, strict=True))
        text = ", ".join(f"{label_text(label)} {number(d)} (se {number(se)})" for label, d, se in shown[:8])
        more = ", …" if len(shown) > 8 else ""
        return f"<Difference {self.names[0]} minus {self.names[1]}, {p_equals(self.pvalue)}: {text}{more}>"


def _statistic(profile: TwoSamples | LinearProfile, null: float, *, score: bool) -> float:
    if isinstance(profile, TwoSamples):
        return profile.pvalue(null, score=score)[0]
    return signed_statistic(profile, null, score=score)


def _accepted_range(profile: TwoSamples | LinearProfile, z: float, *, score: bool) -> tuple[float, float]:
    """Return the smallest and the largest difference that the test does not reject."""
    if isinstance(profile, TwoSamples):
        return profile.interval(z, score=score)
    test = SignedScore(z, score=score, start=profile.start)
    return search_end(profile, profile.least, test, z), search_end(profile, profile.most, test, z)


def difference_of(
    first: Shares, other: Any, names: Sequence[str], *, same_people: bool = False, together: int = 1
) -> Difference:
    """Return the difference of two estimates, or raise if they cannot be subtracted."""
    if not isinstance(other, Shares):
        raise ArgumentError(f"`other` must be an estimate or a margin; got {type(other).__name__}.")
    if isinstance(names, str) or not isinstance(names, Sequence) or len(names) != 2:
        raise ArgumentError("`names` must be two names; got something else.")
    paired = first._base is other._base
    if first is other or (not paired and first._base.counts is other._base.counts):
        raise MismatchError("`other` must come from another sample; got the same estimate.", MARGINS_OF_ONE)
    if same_people and not paired and not share_a_sample(first._base, other._base):
        raise MismatchError(
            "two answers of the same people must be counted together, person by person, to be compared: separate "
            "estimates do not show how the answers are related.",
            JOINT_WAVES,
        )
    mine, theirs = set(first.categories), set(other.categories)
    if mine != theirs:
        raise MismatchError(
            f"`other` must have the same categories; {len(mine & theirs)} are in both, {len(mine - theirs)} only here "
            f"and {len(theirs - mine)} only there.",
            COLLAPSE_FIRST if mine & theirs else None,
        )
    if str(names[0]) == str(names[1]):
        raise ArgumentError("`names` must be two different names; got one twice.")
    order = np.array([other.categories.index(label) for label in first.categories])
    made = Difference(first, other, (str(names[0]), str(names[1])), order, together)
    if paired and all(np.array_equal(*made._directions(k)) for k in range(first.categories.p)):
        raise MismatchError("`other` must come from another sample, or be another margin; got the same shares.")
    return made
