"""The estimated shares of one column, by group and compared with an earlier wave, and the people still needed."""

from collections.abc import Iterable, Mapping
from math import ceil, isfinite
from typing import Any, Literal

import numpy as np
from attrs import frozen
from scipy.special import ndtri

from subsetprivacy._types import FloatArray
from subsetprivacy._words import group_text
from subsetprivacy.data import GroupedCounts, SubsetCounts, only_known
from subsetprivacy.design import Design
from subsetprivacy.errors import SubsetPrivacyError
from subsetprivacy.estimation.comparison import compare
from subsetprivacy.estimation.dispatch import estimate
from subsetprivacy.estimation.likelihood import MANY
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.finding.captured_warnings import attempt, capture_warnings, distinct
from subsetprivacy.honesty.data_check import problem_of
from subsetprivacy.honesty.leaning import lifted
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.planning.variance import precision
from subsetprivacy.tables import label_text

MARGINS = (0.01, 0.02, 0.05, 0.10)
MOST_GROUPS = 60
MOST_ZEROS = 100
_MOST_PEOPLE = 10**12
_EVEN_SHARES = Note(
    NoteKind.ASSUMPTION,
    "The required number of people is computed for even shares, because the design has too many subsets to list.",
)


@frozen(eq=False)
class ShareFindings:
    """Estimated shares in the order of the categories.

    Attributes
    ----------
    method
        ``"mle"``, or ``"mom"`` by moments.
    interval
        The kind of interval of each share: ``"adjusted"`` (profile likelihood) or ``"wald"``.
    estimate, se, lower, upper
        The shares, standard errors and intervals. Not finite if there are none.
    zeros
        The categories whose share is estimated as 0, at most 100.
    notes
        The caveats.
    """

    method: str
    interval: tuple[str, ...]
    estimate: FloatArray
    se: FloatArray
    lower: FloatArray
    upper: FloatArray
    zeros: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()


@frozen
class PeopleNeeded:
    """How many answers are needed so that every interval is within the margin.

    Attributes
    ----------
    answers
        The total, from the current estimate.
    more
        How many more answers that is.
    people
        How many more people to ask, if people skip as often as now.
    """

    margin: float
    answers: int
    more: int
    people: int


@frozen
class SharesTest:
    """A chi-square test of equal shares. `rejects` is at 1 minus the confidence level."""

    method: str
    statistic: float
    df: int
    pvalue: float
    rejects: bool


@frozen(eq=False)
class DifferenceFindings:
    """The differences of the shares from an earlier wave: now minus then.

    Attributes
    ----------
    earlier
        The name of the earlier wave.
    n, n_earlier
        The people who answered now and then.
    estimate, se, lower, upper, pvalue
        The differences in the order of the categories, with separate intervals and p-values.
    test
        The test that no share differs. None if it is not possible.
    problem
        Why there are no differences.
    """

    earlier: str
    n: float
    n_earlier: float
    method: str = ""
    estimate: FloatArray | None = None
    se: FloatArray | None = None
    lower: FloatArray | None = None
    upper: FloatArray | None = None
    pvalue: FloatArray | None = None
    test: SharesTest | None = None
    notes: tuple[Note, ...] = ()
    problem: Note | None = None


@frozen(eq=False)
class GroupShares:
    """The shares among the people of one group. `shares` is None if nothing can be estimated."""

    group: tuple[str, ...]
    n: float
    shares: ShareFindings | None
    problem: Note | None = None


@frozen(eq=False)
class GroupFindings:
    """The shares by group, and whether they differ.

    Attributes
    ----------
    by
        The columns that define the groups.
    groups
        The groups, at most 60. If there are more, the largest. `left_out` counts the others.
    test
        The test that all groups have the same shares. None if it is not possible.
    notes
        Who is left out of the test because their group is missing, or why there is no test.
    """

    by: tuple[str, ...]
    groups: tuple[GroupShares, ...]
    left_out: int = 0
    test: SharesTest | None = None
    notes: tuple[Note, ...] = ()


def fitted(counts: SubsetCounts) -> Estimate:
    """Return the maximum likelihood estimate, or the estimate by moments if there are too many categories."""
    fit = estimate(counts)
    p = fit.categories.p
    if p > MANY and (3 * len(fit.on_boundary) > p or not np.isfinite(fit._shown_se).any()):
        return attempt(estimate, counts, "mom") or fit
    return fit


def share_findings(
    fit: Estimate, level: float, method: Literal["auto", "wald"] = "auto", captured: Iterable[Note] = ()
) -> ShareFindings:
    """Return the shares of an estimate with their intervals and caveats, and the captured warnings."""
    with capture_warnings() as now:
        facts = fit.to_dict(level, method=method)
    se, lower, upper = (np.array(facts[name], np.float64) for name in ("se", "lower", "upper"))
    notes = distinct((*fit.notes, *captured, *now.notes))
    estimator = fit.method.partition(",")[0]
    return ShareFindings(estimator, tuple(facts["interval"]), fit.w, se, lower, upper, zeros_of(fit), notes)


def zeros_of(fit: Estimate) -> tuple[str, ...]:
    """Return the categories whose share is estimated as 0. If there are many, the first ones."""
    return tuple(label_text(label) for label in fit.on_boundary[:MOST_ZEROS])


def moment_findings(counts: SubsetCounts, level: float) -> ShareFindings | None:
    """Return the estimate by moments, to compare with maximum likelihood. None if there is none."""
    with capture_warnings():
        fit = attempt(estimate, counts, "mom")
        return None if fit is None else attempt(share_findings, fit, level, "wald")


# People needed --------------------------------------------------------------------------------


def people_needed(
    design: Design, fit: Estimate, asked: float, level: float
) -> tuple[tuple[PeopleNeeded, ...], tuple[Note, ...]]:
    r"""Return how many people are needed for intervals of the wanted width, and a note on the method.

    Notes
    -----
    :math:`(z/x)^2 \max_j V_{jj}` with the limit covariance V of maximum likelihood at the estimate, lifted off zero.
    """
    answered, notes = float(fit.n), tuple[Note, ...]()
    w = lifted(fit.w, answered)
    if not design.enumerable:  # the information would have to be simulated
        w, notes = np.full(design.p, 1 / design.p), (_EVEN_SHARES,)
    try:
        variance = precision(design, w).largest
    except SubsetPrivacyError as error:
        return (), (problem_of(error, NoteKind.NO_ESTIMATE),)
    z, part = float(ndtri(0.5 + level / 2)), answered / asked
    return tuple(_needed(x, (z / x) ** 2 * variance, answered, part) for x in MARGINS), notes


def _needed(margin: float, wanted: float, answered: float, part: float) -> PeopleNeeded:
    answers = ceil(min(wanted, _MOST_PEOPLE) * (1 - 1e-12)) if isfinite(wanted) else _MOST_PEOPLE
    more = max(0, answers - round(answered))
    return PeopleNeeded(margin, answers, more, ceil(more / part * (1 - 1e-12)))


# Waves and groups -----------------------------------------------------------------------------


def difference_findings(now: Estimate, then: Estimate, name: str, level: float) -> DifferenceFindings:
    """Compare the shares with those of an earlier wave of other people."""
    with capture_warnings() as captured:
        try:
            difference = now.difference(then, names=("now", name))
            facts = difference.to_dict(level)
        except SubsetPrivacyError as error:
            return DifferenceFindings(name, now.n, then.n, problem=problem_of(error, NoteKind.NO_ESTIMATE))
    columns: dict[str, Any] = {
        key: np.array(facts[key], np.float64) for key in ("estimate", "se", "lower", "upper", "pvalue")
    }
    notes = distinct((*difference.notes, *captured.notes))
    return DifferenceFindings(
        name, now.n, then.n, facts["method"], **columns, test=_test(facts["test"], level), notes=notes
    )


def _test(facts: Mapping[str, Any], level: float) -> SharesTest | None:
    if not facts["df"]:
        return None
    rejects = facts["pvalue"] < 1 - level
    return SharesTest(facts["method"], facts["statistic"], facts["df"], facts["pvalue"], rejects)


def group_findings(groups: GroupedCounts[SubsetCounts], level: float) -> GroupFindings:
    """Estimate the shares of every group, and test whether they differ."""
    largest = sorted(groups, key=lambda name: -groups[name].n)[:MOST_GROUPS]
    fits: dict[Any, Estimate] = {}
    lines = []
    for name in (name for name in groups if name in set(largest)):
        line = _group(name, groups[name], level, fits)
        lines.append(line)
    test, notes = _homogeneity(fits, level)
    return GroupFindings(groups.by, tuple(lines), len(groups) - len(lines), test, notes)


def _group(name: Any, counts: SubsetCounts, level: float, fits: dict[Any, Estimate]) -> GroupShares:
    text = tuple(map(group_text, name if isinstance(name, tuple) else (name,)))
    with capture_warnings():
        try:
            fit = fitted(counts)
            shares = share_findings(fit, level)
        except SubsetPrivacyError as error:
            return GroupShares(text, counts.n, None, problem_of(error, NoteKind.NO_ESTIMATE))
    fits[name] = fit
    return GroupShares(text, counts.n, shares)


def _homogeneity(fits: Mapping[Any, Estimate], level: float) -> tuple[SharesTest | None, tuple[Note, ...]]:
    if len(only_known(fits)) < 2:
        return None, ()
    with capture_warnings():
        try:
            compared = compare(fits)
            test = _test(compared.test.to_dict(), level)
        except SubsetPrivacyError as error:
            return None, (problem_of(error, NoteKind.NOT_TESTED),)
    return test, compared.remarks
