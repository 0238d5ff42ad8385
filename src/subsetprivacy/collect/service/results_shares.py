"""The estimated shares of one variable, and how many people would make them more precise."""

from collections.abc import Iterable
from math import ceil, isfinite

import numpy as np
from attrs import frozen
from scipy.special import ndtri

from subsetprivacy._choices import IntervalMethod
from subsetprivacy._types import FloatArray
from subsetprivacy.data import SubsetCounts
from subsetprivacy.design import Design
from subsetprivacy.errors import SubsetPrivacyError
from subsetprivacy.estimation.dispatch import estimate
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.planning.variance import precision
from subsetprivacy.report.gathering import listening
from subsetprivacy.report.wording import capital, error_text, listed, unlike

LEVEL = 0.95
MARGINS = (0.01, 0.02, 0.05, 0.10)
PROFILE_OPTIONS = 24
PROFILE_WORK = 1_000_000  # distinct subsets times the square of options: a quarter of a second
_FEW_COUNTS = 5
_MOST_PEOPLE = 10**12
_NAMED = 6  # options in a note
_MANY_ZEROS = (
    "So many zeros mean too few people for so many categories: the other shares are pulled down as well, and intervals "
    "may miss them."
)
_EVEN_SHARES = Note(
    NoteKind.ASSUMPTION,
    "How many people are needed is worked out for even shares, since the design has too many subsets to list.",
)


@frozen(eq=False)
class Shares:
    """Estimated shares of the options, in their order.

    Attributes
    ----------
    method
        "mle" or "mom".
    interval
        "profile" or "wald".
    w, se, lower, upper
        The estimate, its standard errors and 95% intervals; not finite where there are none.
    notes
        The caveats.
    """

    method: str
    interval: str
    w: FloatArray
    se: FloatArray
    lower: FloatArray
    upper: FloatArray
    notes: tuple[Note, ...] = ()


@frozen
class Needed:
    """How many answers make every interval at most ± the margin.

    Attributes
    ----------
    answers
        In all, from the current estimate.
    more
        So many more than there are.
    people
        So many more must be asked, if as many skip as now.
    """

    margin: float
    answers: int
    more: int
    people: int


@frozen(eq=False)
class Fitted:
    """The estimate of a variable, or why there is none."""

    fit: Estimate | None
    shares: Shares | None
    problem: str = ""


def fit_shares(counts: SubsetCounts) -> Fitted:
    """Estimate by maximum likelihood: given the questions as they came, so that steered draws do no harm."""
    with listening() as heard:
        try:
            fit = estimate(counts)
            kind: IntervalMethod = "profile" if _is_doubtful(fit) else "wald"
            told = fit.to_dict(LEVEL, method=kind)
        except SubsetPrivacyError as error:
            return Fitted(None, None, error_text(error))
    notes = in_plain_words(unlike((*fit.notes, *heard.notes)), fit)
    return Fitted(fit, _shares("mle", kind, fit, told, notes))


def in_plain_words(notes: Iterable[Note], fit: Estimate) -> tuple[Note, ...]:
    """Return notes for people who run surveys: of shares of 0 in words of our own, without the term for them."""
    zero = f"The estimate for {listed(fit.on_boundary, _NAMED)} is 0. Standard errors are rough then"
    words = {
        NoteKind.BOUNDARY: f"{zero}, and rather too wide.",
        NoteKind.TOO_FEW_PEOPLE: f"{zero}. {_MANY_ZEROS}",
    }
    said = words if fit.on_boundary else {}
    return tuple(Note(note.kind, said.get(note.kind, note.text), note.advice) for note in notes)


def moment_shares(counts: SubsetCounts) -> Shares | None:
    """Estimate by moments, to be read beside maximum likelihood; None where there is no such estimate."""
    with listening() as heard:
        try:
            fit = estimate(counts, "mom")
            told = fit.to_dict(LEVEL, method="wald")
        except SubsetPrivacyError:
            return None
    return _shares("mom", "wald", fit, told, in_plain_words(unlike((*fit.notes, *heard.notes)), fit))


def _shares(method: str, kind: str, fit: Estimate, told: dict[str, list[float]], notes: tuple[Note, ...]) -> Shares:
    se, lower, upper = (np.array(told[name], np.float64) for name in ("se", "lower", "upper"))
    return Shares(method, kind, fit.w, se, lower, upper, notes)


def _is_doubtful(fit: Estimate) -> bool:
    """Tell whether profile intervals are called for, and can be had in a moment."""
    p, subsets = fit.categories.p, len(fit.counts.observed_codes)
    rough = bool(fit.on_boundary) or fit.smallest_size * fit.n < _FEW_COUNTS
    return rough and fit.has_profile and p <= PROFILE_OPTIONS and subsets * p**2 <= PROFILE_WORK


def lifted(w: FloatArray, n: float) -> FloatArray:
    """Return shares with about one person more per option: what is estimated as 0 is not taken for certain."""
    return (n * w + 1) / (n + len(w))


def needed(design: Design, fit: Estimate, asked: int) -> tuple[tuple[Needed, ...], tuple[Note, ...]]:
    r"""Return how many people make the intervals as short as wanted, and a note on how it was found.

    Notes
    -----
    :math:`(z/x)^2 \max_j V_{jj}` with the limit covariance V of maximum likelihood at the estimate, lifted off zero.
    """
    answered = float(fit.n)
    w, notes = lifted(fit.w, answered), tuple[Note, ...]()
    if not design.enumerable:  # the information would have to be simulated
        w = np.full(design.p, 1 / design.p)
        notes = (_EVEN_SHARES,)
    try:
        variance = precision(design, w).largest
    except SubsetPrivacyError as error:
        return (), (Note(NoteKind.NO_ESTIMATE, capital(error.message), error.advice),)
    z, part = float(ndtri(0.5 + LEVEL / 2)), answered / asked
    return tuple(_needed(x, (z / x) ** 2 * variance, answered, part) for x in MARGINS), notes


def _needed(margin: float, wanted: float, answered: float, part: float) -> Needed:
    answers = ceil(min(wanted, _MOST_PEOPLE) * (1 - 1e-12)) if isfinite(wanted) else _MOST_PEOPLE
    more = max(0, answers - round(answered))
    return Needed(margin, answers, more, ceil(more / part * (1 - 1e-12)))
