"""Two variables of a link group: their joint shares, whether they depend on each other, and how much."""

import warnings

import numpy as np
from attrs import evolve, field, frozen

from subsetprivacy._types import FloatArray
from subsetprivacy.collect.service.results_shares import in_plain_words
from subsetprivacy.collect.service.results_tests import UNSHOWN
from subsetprivacy.data import JointCounts
from subsetprivacy.errors import SubsetPrivacyError, SubsetPrivacyWarning
from subsetprivacy.estimation.dispatch import estimate
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.independence import IndependenceResult, independence_test
from subsetprivacy.measures import association
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.pvalues import p_equals
from subsetprivacy.report.gathering import listening
from subsetprivacy.report.wording import capital, error_text, unlike
from subsetprivacy.subsets import Categories
from subsetprivacy.tables import number

LEVEL = 0.95
SURE = 0.01  # pairs are results and no alarms: of a larger p-value it is said that chance may be behind it
PERMUTATIONS, FEWER = 999, 199
BUDGET = 0.2  # seconds of a plain machine for the tables of one test; the same tables on every machine
TOTAL_BUDGET = 1.0
MOST_ROWS = 10_000  # distinct rows up to which random tables are made
HEAVY = 5_000_000  # distinct rows times joint options, beyond which moments take the place of the likelihood
MOST_PAIRS = 66


@frozen(eq=False)
class Dependence:
    """A test of independence.

    Attributes
    ----------
    method
        "lrt", "lrt-mom" or "bonferroni".
    law, tables
        What the p-value rests on ("exact", "permutation", "asymptotic"), and how many tables.
    """

    method: str
    statistic: float
    df: float
    pvalue: float
    law: str
    tables: int


@frozen(eq=False)
class Strength:
    r"""Cramér's V, less the bias that chance adds to it.

    Attributes
    ----------
    value, se
        The corrected value and its standard error; None where the bias is at least as large as what is left of
        :math:`V^2`, or not known.
    lower, upper
        The 95% interval, which allows for the bias, and is given either way.
    note
        How to read it.

    Notes
    -----
    Simulated with designs of 2 to 7 options: of independent variables the uncorrected V of 50 people is .4 to .7, of
    1,500 still .1 to .3, and it is hidden here in 75 to 100 of 100 samples. A V of .4 is given from about 500 people
    on where both variables have 4 options (and hidden in 95 of 100 samples of 150); the interval holds the true V in
    92 or more of 100 samples throughout.
    """

    value: float | None
    se: float | None
    lower: float
    upper: float
    note: Note = field(metadata=UNSHOWN)


@frozen(eq=False)
class PairResult:
    """What is known of two variables together.

    Attributes
    ----------
    names
        Their ids: of the rows, and of the columns.
    n, incomplete
        People who answered both, and the others.
    method, shares, se, lower, upper
        "mle" or "mom"; the joint shares, a row per option of the first variable, their standard errors and 95%
        intervals (Wald's; not finite where there are none).
    test, strength
        The test of independence, and Cramér's V; None where there is none.
    """

    names: tuple[str, str]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    n: int
    incomplete: int
    method: str = ""
    shares: FloatArray | None = None
    se: FloatArray | None = None
    lower: FloatArray | None = None
    upper: FloatArray | None = None
    test: Dependence | None = None
    strength: Strength | None = None
    said: str = ""
    notes: tuple[Note, ...] = ()
    problem: str = ""


def look_across(counts: JointCounts, pairs: int, seed: int) -> PairResult:
    """Estimate and test two variables.

    Parameters
    ----------
    counts
        How often each pair of subsets came.
    pairs
        How many pairs there are, which share the effort.
    seed
        Of the random tables.
    """
    one, two = (factor.categories for factor in counts.design.factors)
    names = (counts.names[0], counts.names[1])
    held = _nothing(names, one, two, int(counts.n), int(counts.n_missing))
    with listening() as heard:
        try:
            fit = _fit(counts)
            told = fit.to_dict(LEVEL, method="wald")
        except SubsetPrivacyError as error:
            return evolve(held, problem=error_text(error))
        strength = _strength(fit)
        test, refused = _test(counts, pairs, seed)
    se, lower, upper = (_table(told[name], one, two) for name in ("se", "lower", "upper"))
    own = [*_too_few(lower), *([strength.note] if strength else [])]
    return evolve(
        held,
        method=fit.method.partition(",")[0],
        shares=fit.w.reshape(one.p, two.p),
        se=se,
        lower=lower,
        upper=upper,
        test=None if test is None else _plain(test),
        strength=strength,
        said=pair_sentence(names, test),
        notes=(*own, *in_plain_words(unlike([*fit.notes, *_of_limit_law(test), *heard.notes, *refused]), fit)),
    )


def too_many(names: tuple[str, str], rows: Categories, columns: Categories, problem: str) -> PairResult:
    """Return a pair of which nothing is said."""
    return evolve(_nothing(names, rows, columns, 0, 0), problem=problem)


def _nothing(names: tuple[str, str], rows: Categories, columns: Categories, n: int, incomplete: int) -> PairResult:
    return PairResult(names, tuple(map(str, rows)), tuple(map(str, columns)), n, incomplete)


def _of_limit_law(test: IndependenceResult | None) -> list[Note]:
    """Return the notes on a limit law, which do not matter where the p-value is from tables."""
    if test is None or test.null != "asymptotic":
        return []
    return [note for note in test.notes if note.kind is not NoteKind.BUDGET]


def is_heavy(counts: JointCounts) -> bool:
    """Tell whether the likelihood of the joint shares would take seconds."""
    return len(counts.observed_codes) * counts.categories.p > HEAVY


def _fit(counts: JointCounts) -> Estimate:
    return estimate(counts, "mom").projected() if is_heavy(counts) else estimate(counts)


def _table(column: list[float | None], rows: Categories, columns: Categories) -> FloatArray:
    return np.array(column, np.float64).reshape(rows.p, columns.p)


def _too_few(lower: FloatArray) -> list[Note]:
    """Say where most cells of a table cannot be told from empty ones."""
    if not np.isfinite(lower).all():
        return [Note(NoteKind.NO_STANDARD_ERRORS, "The table has too many cells for intervals of its shares.")]
    empty = int((lower <= 0).sum())
    if 2 * empty <= lower.size:
        return []
    text = f"Few people for so large a table: {empty} of its {lower.size} shares cannot be told from 0."
    return [Note(NoteKind.TOO_FEW_PEOPLE, text)]


def _strength(fit: Estimate) -> Strength | None:
    """Return Cramér's V less its bias; without a value where the bias is as large as what would be left."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SubsetPrivacyWarning)  # doubts that the estimate's notes have already
        try:
            raw, less = (association(fit).cramers_v(level=LEVEL, corrected=corrected) for corrected in (False, True))
        except SubsetPrivacyError:
            return None
    lower, upper = max(0.0, less.lower), less.upper if np.isfinite(less.upper) else 1.0
    if less.value**2 > raw.value**2 / 2:
        said = f"Cramér’s V is given without the part that chance adds; with it, it would be {number(raw.value, 2)}."
        return Strength(less.value, less.se, lower, upper, Note(NoteKind.BIASED, said))
    said = (
        "Cramér’s V is not given as one value: among so few people chance adds at least as much to it as would be "
        "left. Its interval allows for that."
    )
    return Strength(None, None, lower, upper, Note(NoteKind.BIASED, said))


def budget_for(pairs: int) -> float:
    """Return how many seconds of a plain machine one of so many tests may take."""
    return min(BUDGET, TOTAL_BUDGET / max(pairs, 1))


def _test(counts: JointCounts, pairs: int, seed: int) -> tuple[IndependenceResult | None, tuple[Note, ...]]:
    """Test by the likelihood ratio; by moments where random tables of it take long, by 2 x 2 tables of very many."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SubsetPrivacyWarning)  # they are in the notes of the result
        try:
            if is_heavy(counts):
                return independence_test(counts, "bonferroni", permutations=0), ()
            found = independence_test(counts, permutations=PERMUTATIONS, budget=budget_for(pairs), seed=seed)
            if found.null == "asymptotic" and len(counts.observed_codes) <= MOST_ROWS:
                found = independence_test(counts, "lrt-mom", permutations=FEWER, budget=None, seed=seed)
        except SubsetPrivacyError as error:
            return None, (Note(NoteKind.NOT_TESTED, capital(error.message), error.advice),)
    return found, ()


def _plain(test: IndependenceResult) -> Dependence:
    return Dependence(
        test.method, float(test.statistic), float(test.df), float(test.pvalue), test.null, test.permutations
    )


def pair_sentence(names: tuple[str, str], test: IndependenceResult | Dependence | None) -> str:
    """Say what a test of two variables found, by the names that they are to have; empty where there is none."""
    one, two = names
    if test is None:
        return ""
    value = p_equals(test.pvalue)
    if test.pvalue < 1 - LEVEL:
        sure = "" if test.pvalue < SURE else ", though such a result comes once in a while by chance"
        return f"“{one}” and “{two}” go together{sure} ({value})."
    return f"No dependence of “{one}” and “{two}” was found, which does not prove that there is none ({value})."
