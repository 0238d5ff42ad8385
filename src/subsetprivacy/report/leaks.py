"""What a column gives away about one person, in numbers and plain words, and what nothing protects."""

from typing import Any

import numpy as np

from subsetprivacy.design import Covered
from subsetprivacy.report.gathering import Column
from subsetprivacy.report.markup import Html, bullets, el, lines, table, with_range
from subsetprivacy.report.wording import bits, count_of, fine_share, label_text, share, span, times, whole
from subsetprivacy.tables import number

_HEAD = ("Measure", "Value", "In plain words")


def leak_section(column: Column) -> Html:
    """Return what the column gives away and what it does not protect."""
    parts: list[Html] = [el("h3", "What this column gives away about one person")]
    if not _is_private(column):
        parts.append(
            el("p", "A row of this column can leave a single value. It does not protect everybody.", class_="warning")
        )
    if column.audit is None:
        parts.append(el("p", "Without an estimate of the shares this cannot be worked out, but for what follows."))
        rows = _of_design(column)
    else:
        rows = _averages(column, column.audit.to_dict()) + _worst(column, column.audit.to_dict())
    if rows:
        parts.append(table(f"{column.name}: what a row gives away", _HEAD, rows, words=(2,), look="explained"))
    if column.design.covered is not None:
        parts.append(el("p", _cover(column.design.covered)))
    parts += [el("h3", "What is not protected"), bullets(_exposed(column))]
    return lines(parts)


def _is_private(column: Column) -> bool:
    return not column.design.is_known or column.design.is_subset_private


def _averages(column: Column, facts: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Return the three averages of the audit, each beside what there is without data."""
    most = max(facts["mi_nonprivate"], 1e-12)
    likeliest = label_text(column.design.categories.labels[int(np.argmax(column.audit.setting.w))])  # type: ignore[union-attr]
    rows: list[tuple[Any, ...]] = [
        (
            "Information in a row",
            _with_interval(facts, "mi", bits),
            f"{share(facts['mi_leakage'] / most, 0)} of the {bits(facts['mi_nonprivate'])} that the value itself "
            "would tell, on average. One bit is one yes/no answer about a fair coin.",
        ),
        (
            "Best guess is right",
            _with_interval(facts, "prediction", share),
            "How often somebody who knows all shares and sees a person’s row guesses the value right. Without any row, "
            f"always saying “{likeliest}” is right for {share(facts['prediction_baseline'])}.",
        ),
        (
            "People ruled out",
            _with_interval(facts, "size", share),
            "The share of the people that a row rules out, on average. The value itself would rule out "
            f"{share(facts['size_nonprivate'])}.",
        ),
    ]
    # Where every value stays possible, nobody is ruled out: that measure is about the secret number as well.
    return rows if facts["epsilon"] is None else rows[:2]


def _with_interval(facts: dict[str, Any], name: str, form: Any) -> Html:
    low, high = (facts.get(f"{name}_leakage_{end}", np.nan) for end in ("lower", "upper"))
    return with_range(form(facts[f"{name}_leakage"]), span(low, high, form))


def _worst(column: Column, facts: dict[str, Any]) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = [
        (
            "Largest posterior",
            fine_share(facts["largest_posterior"]),
            "In the most telling row that can occur, the likeliest value has this probability. "
            + (
                "It is 100% because some value is estimated as 0, not because a row names a value."
                if facts["largest_posterior"] == 1 and facts["smallest_set"] > 1
                else "It is high where one value is frequent anyway."
            ),
        ),
        *_of_design(column),
    ]
    revealed = {name: part for name, part in facts["reveals"].items() if part > 0}
    rows += [
        (
            f"Revealed exactly: {name}",
            fine_share(part),
            "The rows that leave a single value: of these people it is known.",
        )
        for name, part in revealed.items()
    ]
    return [*rows, _price(column, facts)]


def _price(column: Column, facts: dict[str, Any]) -> tuple[Any, ...]:
    """Return what the design costs: people."""
    if facts["cost"] is not None:
        return (
            "Price",
            f"{times(facts['cost'])} times",
            "How many times the people are needed, against asking directly with the same accuracy. "
            f"{count_of(column.people, 'person tells', 'people tell')} as much as "
            f"{whole(column.people / facts['cost'])} asked directly.",
        )
    least = ""
    if facts["cost_bound"] is not None:
        least = (
            f" With even shares no design of this maximal leakage needs less than {times(facts['cost_bound'])} times."
        )
    return (
        "Price",
        "–",
        "How many times the people of asking directly are needed is not worked out where a share is estimated as 0, or "
        f"categories are many.{least}",
    )


def _of_design(column: Column) -> list[tuple[Any, ...]]:
    """Return what the design alone decides, whatever the shares are."""
    design = column.design
    if not design.is_known:
        return []
    epsilon = design.epsilon
    return [
        (
            "Maximal leakage",
            bits(float(np.log2(design.S))),
            f"Whatever somebody wants to guess about a person, a row multiplies the chance to be right by at most "
            f"{times(design.S)}, on average over the rows; whatever the shares.",
        ),
        (
            "Smallest set",
            f"{whole(design.smallest_set)} of {whole(design.p)}",
            "How many values at least stay possible for every person, whatever the draw."
            if design.smallest_set > 1
            else "A single value can be left.",
        ),
        (
            "Epsilon (local differential privacy)",
            "infinite" if not np.isfinite(epsilon) else number(epsilon, 2),
            "A row rules values out for certain, which differential privacy does not allow; this is another promise: "
            "the row is true, and does not name the value."
            if not np.isfinite(epsilon)
            else "A row multiplies the odds between two values by at most e to this power.",
        ),
    ]


def _cover(design: Covered) -> str:
    return (
        f"Dummy rows: every row could have been sent by at least {share(design.share, 2)} of the rows, whatever the "
        f"shares are, and {share(1 - design.real_share)} of the rows are dummies. The numbers above are for somebody "
        "who knows that a row is a real person’s; to others a row says less."
    )


def _exposed(column: Column) -> list[str]:
    """Return what this column does not protect, with its numbers."""
    out = []
    if column.audit is not None:
        w = column.audit.setting.w
        j = int(np.argmax(w))
        name = label_text(column.design.categories.labels[j])
        out.append(
            f"The frequent value. {share(float(w[j]))} of the people are in “{name}”, so whoever guesses it is right "
            "that often without any data; no method can change that."
        )
    if column.design.is_known and 1 < column.design.smallest_set < column.design.p:
        out.append(
            "People about whom something else is known. The subset is true: whoever can rule out its other members "
            f"knows the value. In the smallest sets {_others(column)} to rule out."
        )
    if column.repeat is not None:
        out.append(_again(column))
    if column.counts.n_missing:
        out.append(
            f"That there is no answer. {count_of(column.counts.n_missing, 'row holds', 'rows hold')} the whole list; "
            "where that stands "
            "for a missing answer, it shows that there is none."
        )
    return out


def _others(column: Column) -> str:
    others = column.design.smallest_set - 1
    return "there is one" if others == 1 else f"there are {whole(others)}"


def _again(column: Column) -> str:
    repeat = column.repeat
    assert repeat is not None
    if np.isfinite(repeat.odds):
        return (
            f"People who are asked twice. Two answers together can multiply the odds of a value by "
            f"{times(repeat.odds)}: one draw per person, ever."
        )
    left = f"leave {times(repeat.expected)} of {whole(column.design.p)} values on average"
    alone = f", and a single one for {fine_share(repeat.probability)} of the people" if repeat.probability > 0 else ""
    return (
        f"People who are drawn twice. Two independent subsets of one person intersect: they would {left}{alone}. "
        "So this column must be drawn and published once."
    )
