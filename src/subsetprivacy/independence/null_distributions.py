"""The distribution of a statistic under independence, from all tables, random tables, or simulated people."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, get_args

import numpy as np
from attrs import field, frozen
from attrs.converters import optional

from subsetprivacy._checks import read_only
from subsetprivacy._choices import IndependenceMethod, NullMethod
from subsetprivacy._types import FloatArray
from subsetprivacy.data import JointCounts
from subsetprivacy.errors import NotIdentifiableError, TooLargeError, warn_of
from subsetprivacy.estimation.likelihood import MANY
from subsetprivacy.independence.crossing import CellLayout, Crossing, cross
from subsetprivacy.independence.statistics import STATISTICS, Statistic
from subsetprivacy.independence.tables import LARGEST, all_tables, drawing, one_table, shuffled
from subsetprivacy.mechanism.simulate import simulate_informative
from subsetprivacy.messages import Advice, Note, NoteKind
from subsetprivacy.messages.for_tests import METHOD_LRT, NO_BUDGET, NO_BUDGET_NO_LIMIT_LAW, NO_BUDGET_OR_FASTER
from subsetprivacy.pvalues import SMALLEST

NULLS: tuple[NullMethod, ...] = get_args(NullMethod)
FEWEST = 99  # with fewer random tables, the asymptotic p-value is used
MAX_EXACT = 10_000  # up to so many tables, all are used instead
_SPEED = 1e9  # operations per second on a typical machine
_REFIT = 2e-3  # seconds to refit both margins of a simulated table
_TIE = 1e-6  # statistics that differ by less are equal, since maxima have finite precision


@frozen
class PermutationOptions:
    """Number of permutations, time budget, random generator and progress callback."""

    permutations: int
    budget: float | None
    generator: np.random.Generator
    progress: Callable[[int, int], None] | None


@frozen(slots=False, eq=False)
class NullDistribution:
    """The statistics of tables under the null hypothesis.

    Attributes
    ----------
    kind
        ``"exact"``, ``"permutation"``, ``"bootstrap"`` or ``"asymptotic"`` (none).
    statistics
        The statistic of each table.
    weights
        Their probabilities if all tables are used; else None.
    notes
        What was not computed, and why.
    """

    kind: str
    statistics: FloatArray = field(converter=read_only)
    weights: FloatArray | None = field(default=None, converter=optional(read_only))
    notes: tuple[Note, ...] = ()

    def pvalue(self, observed: float | FloatArray) -> Any:
        """Return the p-value; the observed table counts as one of the random tables."""
        values = np.asarray(observed, np.float64)
        beyond = self.statistics >= values[..., None] - _TIE * (1 + np.abs(values[..., None]))
        if self.weights is not None:
            pvalues = np.clip(beyond @ self.weights, SMALLEST, 1.0)
        else:
            pvalues = (1 + beyond.sum(axis=-1)) / (1 + len(self.statistics))
        return float(pvalues) if values.ndim == 0 else pvalues

    def error(self, pvalue: float) -> float:
        """Return the Monte Carlo standard error of a p-value; 0 if all tables are used."""
        if self.weights is not None:
            return 0.0
        return float(np.sqrt(pvalue * (1 - pvalue) / len(self.statistics))) if len(self.statistics) else np.nan


ASYMPTOTIC = NullDistribution("asymptotic", np.empty(0))


def null_distribution(
    crossings: Sequence[Crossing], method: IndependenceMethod, kind: NullMethod, settings: PermutationOptions
) -> NullDistribution:
    """Return the null distribution of the sum (for Bonferroni, the largest) of the statistics over the crossings."""
    if kind == "asymptotic" or settings.permutations == 0:
        return ASYMPTOTIC
    statistic = STATISTICS[method]
    if kind == "permutation" and len(crossings) == 1 and (every := _all(crossings[0], statistic, method, settings)):
        return every
    if any(crossing.n >= LARGEST for crossing in crossings):
        return too_many(method)
    refit = 0.0 if kind == "permutation" else _REFIT
    each = sum(refit + drawing(crossing, settings.permutations) + cost(crossing, method) for crossing in crossings)
    size, notes = affordable(
        each, settings, always=method == "lrt-mom", advice=NO_BUDGET_OR_FASTER if method == "lrt" else NO_BUDGET
    )
    if not size:
        return NullDistribution("asymptotic", np.empty(0), None, notes)
    draw = shuffled if kind == "permutation" else simulated
    together = np.maximum if method == "bonferroni" else np.add
    total = np.full(size, -np.inf if method == "bonferroni" else 0.0)
    for number, crossing in enumerate(crossings):
        at = 0
        for layout, n in draw(crossing, size, settings.generator):
            here = slice(at, at + len(n))
            # Without a layout, everyone reported the same subset of a variable, and no dependence is visible.
            total[here] = together(total[here], 0.0 if layout is None else statistic(layout, n))
            at += len(n)
            if settings.progress is not None:
                settings.progress(number * size + at, len(crossings) * size)
    return NullDistribution(kind, total, None, notes)


def _all(
    crossing: Crossing, statistic: Statistic, method: str, settings: PermutationOptions
) -> NullDistribution | None:
    """Return the distribution over all tables with these margins, if there are few."""
    if not crossing.on_grid:
        return None
    most = MAX_EXACT
    if settings.budget is not None:
        most = min(most, int(settings.budget / cost(crossing, method)))
    rows, columns = (np.rint(side.n_a).astype(np.int64) for side in (crossing.first, crossing.second))
    every = all_tables(rows, columns, most)
    if every is None:
        return None
    tables, probabilities = every
    flat = tables.reshape(len(tables), -1).astype(np.float64)
    blocks = [statistic(crossing.layout, flat[start : start + 256]) for start in range(0, len(flat), 256)]
    if settings.progress is not None:
        settings.progress(len(flat), len(flat))
    return NullDistribution("exact", np.concatenate(blocks), probabilities)


def too_many(method: str) -> NullDistribution:
    """Return the asymptotic distribution with a note that there are too many people for random tables, or raise."""
    reason = f"tables of {LARGEST:,} people or more cannot be drawn at random"
    if method == "lrt-mom":
        raise TooLargeError(f"{reason}, and lrt-mom has no limit distribution.", METHOD_LRT)
    note = Note(NoteKind.BUDGET, f"Too many people: {reason}; the p-value is the asymptotic one.")
    warn_of(note, stacklevel=5)
    return NullDistribution("asymptotic", np.empty(0), None, (note,))


def cost(crossing: Crossing, method: str) -> float:
    """Return the approximate seconds per table on a typical machine; the same on every machine."""
    cells = crossing.shape[0] * crossing.shape[1] if crossing.on_grid else len(crossing.cells[2])
    p, q = crossing.first.design.p, crossing.second.design.p
    if method != "lrt":
        return (20 * cells + (cells * (p + q) if method != "pearson" else 0)) / _SPEED
    if p * q > MANY:
        return 4e-3 + 20 * cells * p * q / _SPEED
    gram = cells * q**2 + crossing.shape[0] * p**2 * q**2 if crossing.on_grid else cells * (p * q) ** 2
    return 8 * (gram + 2 * (p * q) ** 3) / _SPEED


def affordable(
    seconds: float,
    settings: PermutationOptions,
    *,
    fewest: int = FEWEST,
    always: bool = False,
    advice: Advice = NO_BUDGET,
    what: str = "tables",
    stacklevel: int = 5,
) -> tuple[int, tuple[Note, ...]]:
    """Return how many tables the budget allows, and warn if there are fewer than requested.

    With fewer than `fewest` tables, none are drawn. With `always`, there is no limit distribution to fall back on;
    `advice` is for the other case.
    """
    wanted = settings.permutations
    if settings.budget is None or seconds * wanted <= settings.budget:
        return wanted, ()
    allowed = int(settings.budget / seconds)
    round_ = 100 if allowed >= FEWEST else 10  # p-values in steps of 1%, or of 10%
    done = allowed - (allowed + 1) % round_ if allowed >= fewest else fewest if always else 0
    done = min(done, wanted)
    instead = f"{done} were drawn" if done else "none were drawn and the p-value is asymptotic"
    text = (
        f"Budget: {wanted} {what} would take about {seconds * wanted:.3g} s, more than the budget of "
        f"{settings.budget:g} s; {instead}."
    )
    note = Note(NoteKind.BUDGET, text, NO_BUDGET_NO_LIMIT_LAW if always else advice)
    warn_of(note, stacklevel=stacklevel)
    return done, (note,)


def simulated(
    crossing: Crossing, size: int, generator: np.random.Generator
) -> Iterator[tuple[CellLayout | None, FloatArray]]:
    """Draw tables of new people from the fitted independent table; their margins vary and are refitted."""
    people = max(round(crossing.n), 2)
    design = crossing.table.design
    for _ in range(size):
        first, second = (
            simulate_informative(side.design, side.fit.w, people, generator)
            for side in (crossing.first, crossing.second)
        )
        at_a, at_b, n = one_table(first.counts[first.informative], second.counts[second.informative], generator)
        joint = np.asarray(design.join([first.observed_codes[at_a], second.observed_codes[at_b]]))
        order = np.argsort(joint)
        try:
            drawn = cross(JointCounts.trusted(joint[order], n[order], design))
        except NotIdentifiableError:
            yield None, np.zeros((1, 0))
        else:
            yield drawn.layout, drawn.counts[None, :]
