"""What is said of one column: its shares, how to read them, what they cost the people in it."""

import numpy as np

from subsetprivacy.report.charts import dots
from subsetprivacy.report.gathering import Column
from subsetprivacy.report.leaks import leak_section
from subsetprivacy.report.markup import Html, bullets, el, lines, table
from subsetprivacy.report.wording import count_of, digits_for, label_text, note_text, share, span, whole
from subsetprivacy.tables import percent

_RATIO = (
    "The intervals do not rest on standard errors: they are profile likelihood intervals, which hold where shares are "
    "small or zero."
)
_MOMENTS = (
    "Estimated by moments, since the categories are many for so many people: right on average, and a share may come "
    "out a little below 0."
)


def column_section(column: Column, number: int, level: float) -> Html:
    """Return the section of one column."""
    held = column.design.categories
    joined = getattr(held, "names", ())
    parts = [el("h2", "Column ", el("span", column.name, class_="column"))]
    if joined:
        parts.append(el("p", f"Holds {len(joined)} variables together: {', '.join(joined)}."))
    parts += [_answers(column)]
    if column.problem:
        parts.append(el("p", f"No shares can be estimated: {column.problem}", class_="warning"))
    else:
        parts += _shares(column, level)
    parts.append(leak_section(column))
    return el("section", "\n", lines(parts), "\n", id=f"column-{number}")


def _answers(column: Column) -> Html:
    """Say how many answered."""
    silent, dummies = column.counts.n_missing, column.counts.n - column.people
    text = f"{count_of(column.people, 'person', 'people')} gave a subset that says something"
    if column.counts.squares is not None:
        people = count_of(column.people, "person", "people")
        text = f"The rows have sampling weights; they tell as much as {people} with equal ones"
    if silent:
        text += (
            f". Rows that hold the whole list of values and so say nothing, for want of an answer or by the draw: "
            f"{whole(silent)}. They are left out of the estimates."
        )
    else:
        text += "; none is missing."
    if dummies > 0:
        rows = count_of(dummies, "dummy row belongs", "dummy rows belong")
        text += f" Besides, {rows} to no one; the estimates allow for them."
    return el("p", text)


def _shares(column: Column, level: float) -> list[Html]:
    fit, bounds = column.fit, column.bounds
    assert fit is not None
    assert bounds is not None
    errors = np.array(fit._shown_se)
    digits = digits_for(errors[column.shown])
    names = [label_text(fit.categories.labels[j]) for j in column.shown]
    picture = dots(
        names,
        fit.w[column.shown],
        bounds[column.shown],
        [share(float(fit.w[j]), min(digits, 2)) for j in column.shown],
        _alt(column, names, level, digits),
    )
    caption = f"Estimated shares in {column.name}. The point is the estimate, the line its {percent(level)} interval."
    head = ("Category", "Share", "Standard error", f"Lower {percent(level)}", f"Upper {percent(level)}")
    rows = [
        (name, *(share(float(x), digits) for x in (fit.w[j], errors[j], *bounds[j])))
        for name, j in zip(names, column.shown, strict=True)
    ]
    return [
        el("h3", "Estimated shares"),
        _lead(column, names, level, digits),
        el("figure", picture, el("figcaption", caption)),
        table(f"{column.name}: estimated shares of the people", head, rows),
        bullets(_notes(column), class_="notes"),
        el("h4", "How to read this"),
        el("p", _reading(column, names, level, digits)),
    ]


def _notes(column: Column) -> list[str]:
    """Return what to bear in mind: what was cut, which method and intervals were taken, the library's notes."""
    fit = column.fit
    assert fit is not None
    notes = []
    if column.is_cut:
        notes.append(
            f"Shown are the {len(column.shown)} largest of {whole(fit.categories.p)} shares. Being picked for their "
            "size, they look a little larger than they are."
        )
    if fit.method.startswith("mom"):
        notes.append(_MOMENTS)
    if not np.isfinite(fit._shown_se).any():
        notes.append("There are too many categories for standard errors of all shares.")
    notes += map(note_text, column.notes)
    return [*notes, _RATIO] if column.by_ratio and fit.notes else notes


def _range(column: Column, j: int, digits: int) -> str:
    assert column.bounds is not None
    low, high = (float(x) for x in column.bounds[j])
    return span(low, high, lambda x: share(x, digits))


def _largest(column: Column) -> int:
    assert column.fit is not None
    return int(np.argmax(column.fit.w))


def _lead(column: Column, names: list[str], level: float, digits: int) -> Html:
    """Return the main number as a sentence."""
    fit = column.fit
    assert fit is not None
    j = _largest(column)
    at = _range(column, j, digits)
    said = f" ({percent(level)} interval {at})" if at else ""
    return el(
        "p",
        el("strong", label_text(fit.categories.labels[j])),
        f" has the largest estimated share: about {share(float(fit.w[j]), digits)} of the people{said}.",
        class_="lead",
    )


def _reading(column: Column, names: list[str], level: float, digits: int) -> str:
    fit = column.fit
    assert fit is not None
    j = int(column.shown[0])
    at = _range(column, j, digits)
    text = (
        f"The first line says: about {share(float(fit.w[j]), digits)} of the people are in “{names[0]}”. "
        "This is an estimate for all of them together; it does not say who is which."
    )
    if at:
        text += (
            f" The interval, {at}, allows for the chance in who was asked and in which subset was drawn: of many such "
            f"intervals about {percent(level)} contain the true share. It does not allow for people who answered "
            "wrongly, or were never asked."
        )
    return text


def _alt(column: Column, names: list[str], level: float, digits: int) -> str:
    fit = column.fit
    assert fit is not None
    told = []
    for name, j in zip(names, column.shown, strict=True):
        at = _range(column, int(j), digits)
        told.append(f"{name} {share(float(fit.w[j]), digits)}" + (f" ({at})" if at else ""))
    return f"Estimated shares in {column.name} with {percent(level)} intervals: {'; '.join(told)}."
