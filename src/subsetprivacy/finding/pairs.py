"""Two columns together: their joint shares, and whether, how strongly and where they depend on each other."""

import warnings
from collections.abc import Sequence
from itertools import combinations
from math import prod
from typing import Annotated, Any

import numpy as np
from attrs import evolve, frozen

from subsetprivacy._types import FloatArray
from subsetprivacy.data import JointCounts
from subsetprivacy.design import Design, Product
from subsetprivacy.errors import CodeError, DataFileError, SubsetPrivacyError, SubsetPrivacyWarning, TooLargeError
from subsetprivacy.estimation.dispatch import estimate
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.finding.captured_warnings import capture_warnings, distinct
from subsetprivacy.finding.settings import FindingsSettings
from subsetprivacy.finding.shares import zeros_of
from subsetprivacy.finding.sources import FindingsSource
from subsetprivacy.honesty.data_check import problem_of
from subsetprivacy.independence import IndependenceResult, independence_test
from subsetprivacy.measures import association
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.subsets import Categories
from subsetprivacy.tables import label_text
from subsetprivacy.variables import JointCategories

Grid = Annotated[FloatArray, "table"]

MOST_PAIRS = 66
FEWER = 199  # random tables where those of the likelihood ratio take too long
MOST_ROWS = 10_000  # distinct rows up to which random tables are made
HEAVY = 5_000_000  # distinct rows times joint categories, beyond which moments replace the likelihood
MOST_CELLS = 1 << 22  # pairs of subsets that may be read from a file
MOST_COMBINATIONS = 4096  # categories, beyond which a table is unreadable
MOST_MEASURED = 1024  # categories, for which Cramér's V takes a moment
MOST_DEVIATIONS = 1024  # categories, for which the errors of deviations take a moment


@frozen
class DependenceTest:
    """A test of independence.

    Attributes
    ----------
    method
        ``"lrt"``, ``"lrt-mom"`` or ``"bonferroni"``.
    law, tables
        The null distribution of the p-value (``"exact"``, ``"permutation"``, ``"bootstrap"``, ``"asymptotic"``), and
        how many tables.
    pvalue_se
        The Monte Carlo standard error of the p-value. None if there is none.
    rejects
        Whether the p-value is below 1 minus the confidence level.
    """

    method: str
    statistic: float
    df: float
    pvalue: float
    law: str
    tables: int
    pvalue_se: float | None
    rejects: bool


@frozen
class Strength:
    r"""Cramér's V, minus its bias.

    Attributes
    ----------
    value, se
        The corrected value and its standard error. None if the bias is at least as large as the rest of :math:`V^2`, or
        is not known.
    raw
        The value with its bias.
    lower, upper
        The interval, which allows for the bias and is always given. It agrees with the test: it contains 0 if and only
        if the test does not reject.
    above_zero
        Whether the test rejects although the interval starts at 0. Then the strength is above 0 by an unknown amount.

    Notes
    -----
    The interval of the delta method, truncated at 0, almost always contains 0 if V is 0. Excluding 0 when the test
    rejects excludes it with the level of the test. So the two together keep the confidence level.

    We simulated designs of 2 to 7 options. For independent variables, the uncorrected V of 50 people is 0.4 to 0.7 and
    that of 1,500 people still 0.1 to 0.3. It is hidden here in 75 to 100 of 100 samples. If both variables have 4
    options, a V of 0.4 is shown from about 500 people on, and is hidden in 95 of 100 samples of 150 people. In all
    cases the interval contains the true V in 92 or more of 100 samples.
    """

    value: float | None
    se: float | None
    raw: float
    lower: float
    upper: float
    above_zero: bool


@frozen(eq=False)
class PairFindings:
    """Findings about two variables together.

    Attributes
    ----------
    names
        The variables: of the rows, and of the columns.
    inside
        The column that contains both. Empty if each has a separate column.
    rows, columns
        The categories of each side.
    n, incomplete
        People who reported both, and the others.
    method, shares, se, lower, upper
        ``"mle"`` or ``"mom"``; the joint shares, a row per category of the first variable, their standard errors and
        intervals (Wald's; not finite where there are none).
    deviation, deviation_se
        The joint share minus the product of the two margins, and its standard error: where the two are not
        independent.
    test, strength
        The test of independence, and Cramér's V. None if there is none.
    zeros
        The combinations whose share is estimated as 0, at most 100.
    problem
        Why there are no findings.
    """

    names: tuple[str, str]
    inside: str = ""
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    n: float = 0.0
    incomplete: float = 0.0
    method: str = ""
    shares: Grid | None = None
    se: Grid | None = None
    lower: Grid | None = None
    upper: Grid | None = None
    deviation: Grid | None = None
    deviation_se: Grid | None = None
    test: DependenceTest | None = None
    strength: Strength | None = None
    zeros: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    problem: Note | None = None


def pairs_of(linked: Sequence[Sequence[str]], designs: dict[str, Design]) -> list[tuple[str, ...]]:
    """Return the possible pairs: two columns that are kept row by row, then columns that contain two variables."""
    inside = [(name,) for name, design in designs.items() if len(variables(name, design)) == 2]
    crossed = [pair for names in linked for pair in combinations([name for name in names if name in designs], 2)]
    return [*crossed, *inside]


def variables(name: str, design: Design) -> tuple[str, ...]:
    """Return the variables of a column."""
    categories = design.categories
    return categories.names if isinstance(categories, JointCategories) else (name,)


def pair_findings(
    source: FindingsSource, names: tuple[str, ...], pairs: int, tested: bool, settings: FindingsSettings
) -> PairFindings:
    """Estimate and test two columns, or the two variables inside one.

    Parameters
    ----------
    names
        Two columns, or one that contains two variables.
    pairs
        How many pairs there are, which share the effort.
    tested
        Whether to test for independence.
    """
    design = source.designs[names[0]]
    inside, (first, second) = (names[0], variables(names[0], design)) if len(names) == 1 else ("", names)
    pair = PairFindings((first, second), inside)
    with capture_warnings() as captured:
        try:
            counts = source.count(inside) if inside else crossed(source, names)
            pair = evolve(pair, **_sides(counts))
            return _analyzed(counts, pair, pairs, tested, settings, captured.notes)
        except (CodeError, DataFileError):
            raise  # a broken file has no findings
        except SubsetPrivacyError as error:
            return evolve(pair, problem=problem_of(error, NoteKind.NOT_TESTED))


def crossed(source: FindingsSource, names: Sequence[str]) -> JointCounts:
    """Return the joint counts under the columns' own names.

    Raises
    ------
    TooLargeError
        If the columns cannot be crossed, or too much would have to be read.
    """
    designs = [source.designs[name] for name in names]
    ways = [design.report_count for design in designs]
    cells = float("inf") if None in ways else prod(way or 1 for way in ways)
    if min(cells, source.rows) > MOST_CELLS:
        raise TooLargeError("There are too many combinations of subsets to be counted for a page.")
    if prod(design.p for design in designs) > MOST_COMBINATIONS:
        raise TooLargeError("There are too many combinations of categories to be shown on a page.")
    joint = source.crosstab(*names)
    named: dict[tuple[str, ...], Design] = {
        (name,): flat(factor) for name, factor in zip(names, joint.design.factors, strict=True)
    }
    return JointCounts.trusted(joint.codes, joint.counts, Product.of(named), joint.squares)


def flat(design: Design) -> Design:
    """Return the design with combinations of joined variables as plain categories, as one variable."""
    categories = design.categories
    return design.with_categories(Categories(categories.labels)) if isinstance(categories, JointCategories) else design


def _sides(counts: JointCounts) -> dict[str, Any]:
    parts = counts.categories.parts  # type: ignore[attr-defined]  # joint categories have them
    first, second = (tuple(map(label_text, part.labels)) for part in parts)
    return {"rows": first, "columns": second, "n": float(counts.n), "incomplete": float(counts.n_missing)}


def _analyzed(
    counts: JointCounts, pair: PairFindings, pairs: int, tested: bool, settings: FindingsSettings, captured: list[Note]
) -> PairFindings:
    shape = len(pair.rows), len(pair.columns)
    fit = estimate(counts, "mom").projected() if is_heavy(counts) else estimate(counts)
    facts = fit.to_dict(settings.level, method="wald")
    test, refused = _test(counts, pair.names, pairs, settings) if tested else (None, ())
    se, lower, upper = (np.array(facts[name], np.float64).reshape(shape) for name in ("se", "lower", "upper"))
    deviation, deviation_se = _deviations(fit, shape)
    notes = [*_too_few(lower), *fit.notes, *_limit_notes(test), *captured, *refused]
    return evolve(
        pair,
        method=fit.method.partition(",")[0],
        shares=fit.w.reshape(shape),
        se=se,
        lower=lower,
        upper=upper,
        deviation=deviation,
        deviation_se=deviation_se,
        test=None if test is None else _plain(test, settings.level),
        strength=_strength(fit, test, settings.level),
        zeros=zeros_of(fit),
        notes=distinct(notes),
    )


def is_heavy(counts: JointCounts) -> bool:
    """Tell whether the likelihood of the joint shares would take seconds."""
    return len(counts.observed_codes) * counts.categories.p > HEAVY


def _limit_notes(test: IndependenceResult | None) -> list[Note]:
    """Return the notes on an asymptotic distribution, which are irrelevant if the p-value comes from tables."""
    if test is None or test.null != "asymptotic":
        return []
    return [note for note in test.notes if note.kind is not NoteKind.BUDGET]


def _too_few(lower: FloatArray) -> list[Note]:
    """Note when most cells of a table cannot be distinguished from empty ones."""
    if not np.isfinite(lower).all():
        return [Note(NoteKind.NO_STANDARD_ERRORS, "The table has too many cells for intervals of its shares.")]
    empty = int((lower <= 0).sum())
    if 2 * empty <= lower.size:
        return []
    text = f"Few people for so large a table: {empty} of its {lower.size} shares cannot be distinguished from 0."
    return [Note(NoteKind.SMALL_COUNTS, text)]


def _deviations(fit: Estimate, shape: tuple[int, int]) -> tuple[FloatArray, FloatArray | None]:
    r"""Return :math:`w_{ij} - r_i c_j` and its standard error, by the delta method."""
    W = fit.w.reshape(shape)
    r, c = W.sum(axis=1), W.sum(axis=0)
    deviation = W - np.outer(r, c)
    if W.size > MOST_DEVIATIONS or not np.isfinite(fit._shown_se).all():
        return deviation, None
    # Row k of the matrix is the slope of deviation k: its own cell, less c_j for its row and r_i for its column.
    at = np.arange(W.size)
    i, j = np.divmod(at, shape[1])
    slopes = np.eye(W.size) - c[j][:, None] * (i[:, None] == i) - r[i][:, None] * (j[:, None] == j)
    variance = np.einsum("ka,ab,kb->k", slopes, fit._cov, slopes, optimize=True)
    return deviation, np.sqrt(np.maximum(variance, 0.0)).reshape(shape)


def _strength(fit: Estimate, test: IndependenceResult | None, level: float) -> Strength | None:
    """Return Cramér's V minus its bias, without a value if the bias is as large as the rest."""
    if fit.categories.p > MOST_MEASURED:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SubsetPrivacyWarning)  # the notes of the estimate already say this
        try:
            raw, less = (association(fit).cramers_v(level=level, corrected=corrected) for corrected in (False, True))
        except SubsetPrivacyError:
            return None
    lower, upper = max(0.0, less.lower), less.upper if np.isfinite(less.upper) else 1.0
    rejects = test is not None and test.pvalue < 1 - level
    if test is not None and not rejects:
        lower = 0.0
    is_known = less.value**2 > raw.value**2 / 2
    value, se = (less.value, less.se) if is_known else (None, None)
    return Strength(value, se, raw.value, lower, upper, rejects and lower == 0)


def _test(
    counts: JointCounts, names: tuple[str, str], pairs: int, settings: FindingsSettings
) -> tuple[IndependenceResult | None, tuple[Note, ...]]:
    """Test by the likelihood ratio, by moments if its tables take too long, or by 2 x 2 tables if there are many."""
    seed, seconds = settings.seed_of("pair", *names), settings.pair_seconds(pairs)
    tables = 0 if seconds == 0 else settings.permutations
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SubsetPrivacyWarning)  # they are in the notes of the result
        try:
            if is_heavy(counts):
                return independence_test(counts, "bonferroni", permutations=0), ()
            test = independence_test(counts, permutations=tables, budget=seconds or None, seed=seed)
            if tables and test.null == "asymptotic" and len(counts.observed_codes) <= MOST_ROWS:
                test = independence_test(counts, "lrt-mom", permutations=min(FEWER, tables), budget=None, seed=seed)
        except SubsetPrivacyError as error:
            return None, (problem_of(error, NoteKind.NOT_TESTED),)
    return test, ()


def _plain(test: IndependenceResult, level: float) -> DependenceTest:
    error = float(test.pvalue_se)
    return DependenceTest(
        test.method,
        float(test.statistic),
        float(test.df),
        float(test.pvalue),
        test.null,
        test.permutations,
        error if np.isfinite(error) and error > 0 else None,
        bool(test.pvalue < 1 - level),
    )
