"""What the page says about columns together, as numbers: tests, joint shares, and what a whole row gives away."""

import warnings
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import prod
from typing import Any

from attrs import frozen

from subsetprivacy._types import FloatArray, Label
from subsetprivacy.auditing import TableAudit, audit
from subsetprivacy.data import JointCounts, SubsetCounts
from subsetprivacy.design import Design, Product
from subsetprivacy.errors import CodeError, DataFileError, SubsetPrivacyError, SubsetPrivacyWarning
from subsetprivacy.estimation.dispatch import estimate
from subsetprivacy.independence import IndependenceResult, independence_test
from subsetprivacy.measures import association
from subsetprivacy.measures.measure import Measure
from subsetprivacy.messages import Note
from subsetprivacy.report.gathering import Column, Source, listening
from subsetprivacy.report.wording import error_text, unlike
from subsetprivacy.subsets import Categories
from subsetprivacy.variables import JointCategories

MOST_PAIRS = 10
MOST_CELLS = 1 << 22  # pairs of subsets that may come back from the file
MOST_COMBINATIONS = 4096  # of categories, beyond which a table is no reading matter
MOST_MEASURED = 1024  # of them, for which Cramér's V takes a moment


@frozen(eq=False)
class Pair:
    """What is said of two variables.

    Attributes
    ----------
    names
        The variables.
    inside
        The column that holds both; empty where each has a column of its own.
    shares, rows, columns
        The estimated joint shares and the categories of either side.
    test, measure
        The test of independence and Cramér's V; None where there is none.
    notes, problem
        The caveats, and why nothing could be said.
    """

    names: tuple[str, str]
    inside: str = ""
    shares: FloatArray | None = None
    rows: tuple[Label, ...] = ()
    columns: tuple[Label, ...] = ()
    test: IndependenceResult | None = None
    measure: Measure | None = None
    notes: tuple[Note, ...] = ()
    problem: str = ""


@frozen
class Effort:
    """How the tests are made."""

    tests: bool
    permutations: int
    seed: Any
    level: float


def pairs_of(designs: Mapping[str, Design]) -> list[tuple[str, ...]]:
    """Return what can be crossed: two columns each, then columns that hold two variables."""
    held = [(name,) for name, design in designs.items() if len(variables(name, design)) == 2]
    return [*combinations(designs, 2), *held]


def variables(name: str, design: Design) -> tuple[str, ...]:
    """Return the variables that a column holds."""
    held = design.categories
    return held.names if isinstance(held, JointCategories) else (name,)


def possible(design: Design) -> int | None:
    """Return how many subsets can be reported, or None where nobody has counted them."""
    return design.report_count


def look_across(release: Source, chosen: Sequence[Column], held: dict[Any, JointCounts], effort: Effort) -> Pair:
    """Test and estimate two columns together, or the two variables inside one; keeps the counts for later."""
    names = tuple(column.name for column in chosen)
    inside = names[0] if len(chosen) == 1 else ""
    title: Any = variables(inside, chosen[0].design) if inside else names
    with listening() as heard:
        try:
            counts = chosen[0].counts if inside else crossed(release, chosen, held)
            found = _compare(counts, effort)
        except (CodeError, DataFileError):
            raise  # of a broken file there is no page
        except SubsetPrivacyError as error:
            return Pair(title, inside, problem=error_text(error))
    parts = counts.categories.parts  # type: ignore[attr-defined]
    test, fit, measure = found
    notes = unlike([*(test.notes if test else ()), *fit.notes, *(measure.notes if measure else ()), *heard.notes])
    shares = fit.w.reshape(parts[0].p, parts[1].p)
    return Pair(title, inside, shares, parts[0].labels, parts[1].labels, test, measure, notes)


def crossed(release: Source, chosen: Sequence[Column], held: dict[Any, JointCounts]) -> JointCounts:
    """Return the joint counts under the columns' own names, read from the file once.

    Raises
    ------
    SubsetPrivacyError
        If the columns cannot be crossed, or too much would have to be read.
    """
    names = tuple(column.name for column in chosen)
    if names in held:
        return held[names]
    ways = [possible(column.design) for column in chosen]
    cells = float("inf") if None in ways else prod(way or 1 for way in ways)
    if min(cells, release.rows) > MOST_CELLS:
        raise SubsetPrivacyError("There are too many combinations of subsets to be counted for a page.")
    if prod(column.design.p for column in chosen) > MOST_COMBINATIONS:
        raise SubsetPrivacyError("There are too many combinations of categories to be shown on a page.")
    joint = release.crosstab(*names)
    named: dict[tuple[str, ...], Design] = {
        (name,): flat(factor) for name, factor in zip(names, joint.design.factors, strict=True)
    }
    held[names] = JointCounts.trusted(joint.codes, joint.counts, Product.of(named), joint.squares)
    return held[names]


def flat(design: Design) -> Design:
    """Return the design with combinations of joined variables as plain categories: the column is one variable."""
    if not isinstance(design.categories, JointCategories):
        return design
    return design.with_categories(Categories(design.categories.labels))


def _compare(counts: SubsetCounts, effort: Effort) -> tuple[IndependenceResult | None, Any, Measure | None]:
    """Return the test, the joint estimate and the measure."""
    test = None
    if effort.tests:
        test = independence_test(counts, permutations=effort.permutations, seed=effort.seed)
    fit = estimate(counts)
    if fit.categories.p > MOST_MEASURED:
        return test, fit, None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SubsetPrivacyWarning)  # doubts that the estimate's notes have already
        return test, fit, association(fit).cramers_v(level=effort.level)


@frozen(eq=False)
class Together:
    """What all columns of one person give away; `audit` is None where that cannot be said, and `problem` says why."""

    audit: TableAudit | None
    problem: str = ""
    twice: tuple[str, ...] = ()


def look_together(
    release: Source, columns: Sequence[Column], held: dict[Any, JointCounts], level: float
) -> Together | None:
    """Audit the columns as one row; None for a single column."""
    if len(columns) < 2:
        return None
    every = [name for column in columns for name in variables(column.name, column.design)]
    twice = tuple(sorted({name for name in every if every.count(name) > 1}))
    with listening():
        try:
            return Together(_joint_audit(release, columns, held, level), twice=twice)
        except (CodeError, DataFileError):
            raise
        except SubsetPrivacyError as error:
            return Together(None, error_text(error), twice)


def _joint_audit(release: Source, columns: Sequence[Column], held: dict[Any, JointCounts], level: float) -> TableAudit:
    """Audit at the joint distribution where it can be had, else each column by itself and the worst of all joints."""
    if any(column.audit is None for column in columns):
        raise SubsetPrivacyError("Not every column has an audit of its own.")
    if any(column.design.covered or column.design.product for column in columns):
        raise SubsetPrivacyError("Columns with dummy rows, or with several answers in one, cannot be put together.")
    designs: Mapping[tuple[str, ...], Design] = {(column.name,): flat(column.design) for column in columns}
    try:
        return audit(crossed(release, columns, held), level=level)
    except (CodeError, DataFileError):
        raise
    except SubsetPrivacyError:
        known = {column.name: column.audit.setting.w for column in columns if column.audit is not None}
        return audit(Product.of(designs), known)
