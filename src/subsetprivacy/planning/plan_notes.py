"""The notes below the table of a plan."""

from collections.abc import Sequence
from math import inf, isfinite

from attrs import frozen

from subsetprivacy._words import counted, plural
from subsetprivacy.design import Design
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_plans import (
    ASK_AS_INDEPENDENT,
    INVITE_MORE,
    MORE_COLUMNS,
    PLAN_FOR_PUBLISHING,
)
from subsetprivacy.planning.options import PlanOption, bits
from subsetprivacy.planning.repeats import repeat_risk
from subsetprivacy.tables import label_text, percent

_ROUNDING = 1e-9  # of bits
_SHOWN = 8  # groups that a note lists


@frozen
class PlanLimits:
    """The limits on a recommended design.

    Attributes
    ----------
    bits
        The largest maximal leakage that it may have, in bits.
    smallest
        The smallest number of values that every report must leave possible.
    is_default
        Whether `bits` is the default.
    asked
        Whether a question must realize it.
    """

    bits: float
    smallest: int
    is_default: bool
    asked: bool

    def allow(self, option: PlanOption) -> bool:
        """Tell whether a design is within the limits, apart from whether it can be asked."""
        return option.maximal_leakage <= self.bits + _ROUNDING and option.smallest_set >= self.smallest

    def of_bits(self, p: int) -> str:
        """Return the limit in bits as text, and the meaning of the default for p categories."""
        if not self.is_default:
            return f"{self.bits:g} bit"
        if p == 2:
            return f"{self.bits:.3f} bit (the default: Warner's question, q = 1/4)"
        return f"{self.bits:g} bit (the default: a yes/no question)"


def reason(options: Sequence[PlanOption], best: PlanOption, limits: PlanLimits) -> str:
    """Return why a design is recommended, with the limits."""
    return f"{_preferred(options, best, limits)}: {_limits(best, limits)}"


def _limits(best: PlanOption, limits: PlanLimits) -> str:
    return f"at most {limits.of_bits(best.design.p)}, at least {counted(limits.smallest, 'value')} left"


def _preferred(options: Sequence[PlanOption], best: PlanOption, limits: PlanLimits) -> str:
    """Return the advantage of the design over the others."""
    solves_people = best.demand.n is None
    within = [o for o in options if limits.allow(o) and (not limits.asked or o.design.can_be_asked)]
    if len(within) == 1:
        return "it alone is within the limits" if len(options) > 1 else "no other design was compared"
    what = "needs the fewest people" if solves_people else "has the smallest margin"
    if best.variance > min(o.variance for o in within):
        what = f"is within 5% of the {'fewest people' if solves_people else 'best'} and has the largest sets"
    return f"of {len(within)} designs within the limits it {what}"


def notes(
    options: Sequence[PlanOption],
    best: PlanOption,
    cheaper: PlanOption | None,
    limits: PlanLimits,
    *,
    at_given_w: bool,
) -> tuple[Note, ...]:
    """Return the recommendation, its assumptions, and the meaning of the columns."""
    return (
        Note(NoteKind.RECOMMENDED, f"Recommended (*): {best.name}; {_preferred(options, best, limits)}."),
        Note(NoteKind.RECOMMENDED, f"Limits: {_limits(best, limits)}."),
        *_per_group(best),
        *_alternatives(options, best, cheaper, limits),
        _price(best),
        *_assumptions(best, limits),
        _if_asked_twice(best.design),
        *_approximations(options),
        *_legend(best, at_given_w=at_given_w),
    )


def _per_group(best: PlanOption) -> list[Note]:
    sizes = best.by_group
    if not sizes:
        return []
    listed = ", ".join(f"{name} {size}" for name, size in list(sizes.items())[:_SHOWN])
    if len(sizes) > 1 and len(set(sizes.values())) == 1:
        listed = f"{next(iter(sizes.values()))} in each of {len(sizes)}"
    elif len(sizes) > _SHOWN:
        listed += ", …"
    by = "group" if best.demand.parts.compared else "subgroup, as expected from its share"
    return [Note(NoteKind.PER_GROUP, f"People by {by}: {listed}.")]


def _alternatives(
    options: Sequence[PlanOption], best: PlanOption, cheaper: PlanOption | None, limits: PlanLimits
) -> list[Note]:
    notes = []
    if cheaper is not None:
        notes.append(Note(NoteKind.ALTERNATIVE, _next_cheaper(best, cheaper)))
    names = [o.name for o in options if not o.design.can_be_asked] if limits.asked else []
    if names:
        text = f"Not recommended: {'; '.join(names)}. {plural(len(names), 'It', 'They')} cannot be asked as a question."
        notes.append(Note(NoteKind.ALTERNATIVE, text, PLAN_FOR_PUBLISHING))
    return notes


def _next_cheaper(best: PlanOption, other: PlanOption) -> str:
    if best.demand.n is None:
        fewer = f"{100 * (1 - other.variance / best.variance):.0f}% fewer"
        gain = f"{counted(other.people, 'person', 'people')} ({fewer})"
    else:
        gain = f"±{other.margin:.4f}"
    left = counted(other.smallest_set, "value")
    return f"Next cheaper: {other.name}: {gain}, up to {bits(other.maximal_leakage)} bit, at least {left} left."


def _price(best: PlanOption) -> Note:
    demand = best.demand
    if demand.n is None:
        direct = counted(demand.planned(best.direct)[0], "person", "people")
    else:
        direct = f"±{demand.half_width(best.direct, 1.0):.4f}"
    return Note(NoteKind.PRICE, f"Asking directly: {direct}.")


def _assumptions(best: PlanOption, limits: PlanLimits) -> list[Note]:
    notes = [Note(NoteKind.ASSUMPTION, "These numbers count people who answer.", INVITE_MORE)]
    if best.demand.relative is not None:
        share, hardest = float(best.w[best.position]), label_text(best.category)
        text = f"{percent(best.demand.relative)} of the share of {hardest}, {share:.3g}, is ±{best.margin:.3g}."
        notes.append(Note(NoteKind.ASSUMPTION, text))
    if best.dummies:
        added = counted(best.dummies, "dummy row is", "dummy rows are")
        notes.append(Note(NoteKind.DUMMIES, f"{added} added to the people."))
    bare = best.design.exposed
    drawn_given_the_value = bare.options is None and bare.product is None and bare.p > 3 and bare.smallest_set > 1
    if limits.asked and drawn_given_the_value:
        notes.append(Note(NoteKind.ASSUMPTION, "The design can be asked as yes/no questions.", ASK_AS_INDEPENDENT))
    even = 1 / best.design.p
    if best.margin > even:
        text = f"The margin is above an even share of {even:.2g}: rare categories cannot be distinguished from 0."
        notes.append(Note(NoteKind.NEAR_ZERO, text))
    return notes


def _if_asked_twice(design: Design) -> Note:
    risk = repeat_risk(design)
    if isfinite(risk.odds):
        text = f"Ask each person once: two answers can multiply the odds of a value by up to {risk.odds:.3g}."
        return Note(NoteKind.REPEATED, text)
    left = f"{risk.expected:.3g}" if risk.expected < 100 else f"{risk.expected:.0f}"
    text = (
        f"Ask each person once: two draws leave {left} values on average, a single one with probability "
        f"{risk.probability:.2g}."
    )
    return Note(NoteKind.REPEATED, " ".join([text, *(note.text for note in risk.approximations)]))


def _approximations(options: Sequence[PlanOption]) -> list[Note]:
    """Return each note of the designs once, in the order of the table, with the names of the designs."""
    about: dict[tuple[NoteKind, str], list[str]] = {}
    for o in options:
        for note in o.notes:
            about.setdefault((note.kind, note.text), []).append(o.name)
    every = len(options) if len(options) > 1 else inf
    return [
        Note(kind, f"{'All designs' if len(names) == every else '; '.join(names)}: {text}.")
        for (kind, text), names in about.items()
    ]


def _legend(best: PlanOption, *, at_given_w: bool) -> list[Note]:
    """Return the notes that explain the columns."""
    where = "the given" if at_given_w else "the even"
    guess = best.leaks["prediction_baseline"]
    planned = "number of people" if best.demand.n is None else "margin"
    lines = (
        "times direct: the number of people, divided by the number needed when asking directly.",
        f"even shares: the {planned} if all categories are equally frequent.",
        "max. leak: maximal leakage in bits. With 1 bit, the chance of a right guess at most doubles, on average.",
        "smallest set: the fewest values that a report leaves possible.",
        f"best guess: how often it is right at {where} distribution ({guess:.2g} without data).",
    )
    more = Note(NoteKind.LEGEND, "Not shown: loss, efficiency and other leakages.", MORE_COLUMNS)
    return [*(Note(NoteKind.LEGEND, line) for line in lines), more]
