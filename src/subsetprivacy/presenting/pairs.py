"""Two variables together: the result of the test, how strongly they are related, and a table that shows where."""

from collections.abc import Mapping

import numpy as np

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.finding.pairs import DependenceTest, PairFindings, Strength
from subsetprivacy.presenting.html import Cell, Html, bullets, el, facts, lines, table
from subsetprivacy.presenting.shares import note_of_zeros
from subsetprivacy.presenting.words import Words, label_text

MOST_SIDE = 12  # rows or columns of a joint table
SURE = 0.01  # above this p-value, the text says that chance may explain the result
_SHADES = (2.0, 4.0, 8.0)  # standard errors from which a cell is shaded, and shaded more


def titles_of(pair: PairFindings, titles: Mapping[str, str]) -> tuple[str, str]:
    """Return the titles of the two variables."""
    first, second = pair.names
    return titles.get(first, first), titles.get(second, second)


def pair_section(
    words: Words, pair: PairFindings, titles: Mapping[str, str], level: float, most: int = MOST_SIDE
) -> Html:
    """Return the section about two variables, without a heading.

    Parameters
    ----------
    most
        The most rows and columns of the joint table that are shown.
    """
    first, second = titles_of(pair, titles)
    parts: list[Html] = []
    if pair.inside:
        parts.append(el("p", words("pair.inside", column=titles.get(pair.inside, pair.inside))))
    if pair.problem is not None or pair.shares is None:
        problem = "" if pair.problem is None else words.note(pair.problem)
        return lines([*parts, el("p", words("pair.none"), " ", problem)])
    parts.append(el("p", verdict(words, pair, (first, second)), class_="lead"))
    parts.append(facts(_facts(words, pair, level)))
    parts.append(_table(words, pair, (first, second), level, most))
    notes = [note_of_zeros(words, note, pair.zeros) for note in pair.notes]
    return lines([*parts, bullets(notes, class_="notes")])


def verdict(words: Words, pair: PairFindings, titles: tuple[str, str]) -> str:
    """Give the result of the test and the strength of the relation, so that the two do not contradict each other."""
    test, named = pair.test, {"one": titles[0], "two": titles[1]}
    if test is None:
        return words("pair.untested", **named)
    value = words.pvalue(test.pvalue)
    if not test.rejects:
        return words("pair.independent", **named, p=value)
    sure = "pair.dependent" if test.pvalue < SURE else "pair.perhaps"
    sentence = words(sure, **named, p=value)
    if pair.strength is not None and pair.strength.above_zero:
        sentence += " " + words("pair.weak", upper=words.number(pair.strength.upper, 2))
    return sentence


def _facts(words: Words, pair: PairFindings, level: float) -> list[tuple[str, str]]:
    rows = [(words("pair.people"), words.whole(pair.n))]
    if pair.test is not None:
        rows.append((words("pair.test"), f"{words.pvalue(pair.test.pvalue)} ({_null_distribution(words, pair.test)})"))
    if pair.strength is not None:
        rows.append((words("pair.strength", level=words.level(level)), _strength(words, pair.strength)))
    return rows


def _null_distribution(words: Words, test: DependenceTest) -> str:
    """Say which null distribution the p-value uses."""
    if test.law not in ("permutation", "bootstrap"):
        return words(f"law.{test.law}")
    none = test.pvalue * (1 + test.tables) < 1.5
    return words("law.tables_none" if none else "law.tables", n=words.whole(test.tables))


def _strength(words: Words, strength: Strength) -> str:
    upper = words.number(strength.upper, 2)
    if strength.above_zero:
        ends = words("pair.above_zero", upper=upper)
    else:
        ends = words("number.span", low=words.number(strength.lower, 2), high=upper)
    return ends if strength.value is None else f"{words.number(strength.value, 2)} ({ends})"


# The table ------------------------------------------------------------------------------------


def _table(words: Words, pair: PairFindings, titles: tuple[str, str], level: float, most: int) -> Html:
    """Return the joint shares, cells shaded where there are more or fewer people than if the two were independent."""
    shares = pair.shares
    assert shares is not None
    rows, columns = (_largest(shares.sum(axis=axis), most) for axis in (1, 0))
    shades = _shades(pair)
    body = [
        (
            label_text(pair.rows[i]),
            *(_cell(words, pair, int(i), int(j), int(shades[i, j])) for j in columns),
            words.percent(float(shares[i].sum())),
        )
        for i in rows
    ]
    total = (words.percent(float(shares[:, j].sum())) for j in columns)
    body.append((words("pair.all"), *total, words.percent(float(shares.sum()))))
    named = {"one": titles[0], "two": titles[1]}
    head = (
        words("pair.corner", **named),
        *(label_text(pair.columns[j]) for j in columns),
        words("pair.all"),
    )
    caption = words("pair.caption", **named, level=words.level(level))
    key = el("p", words("pair.key"), class_="notes") if shades.any() else Html()
    return lines(
        [table(caption, head, body, look="numbers stacked cross totals"), key, _cut(words, pair, titles, rows, columns)]
    )


def _shades(pair: PairFindings) -> IntArray:
    """Return how much each cell is shaded, from -3 (far fewer people than if independent) to 3."""
    assert pair.shares is not None
    if pair.deviation is None or pair.deviation_se is None or (pair.test is not None and not pair.test.rejects):
        return np.zeros(pair.shares.shape, np.int64)
    errors = np.where(pair.deviation_se > 0, pair.deviation_se, np.inf)
    distance = pair.deviation / errors
    return (np.sign(distance) * np.searchsorted(_SHADES, np.abs(distance), side="right")).astype(np.int64)


def _cell(words: Words, pair: PairFindings, i: int, j: int, shade: int) -> Cell:
    assert pair.shares is not None
    assert pair.lower is not None
    assert pair.upper is not None
    ends = words.span(float(pair.lower[i, j]), float(pair.upper[i, j]), words.percent)
    mark = Html()
    if shade:
        key, sign = ("pair.more", "▲") if shade > 0 else ("pair.fewer", "▼")
        mark = Html(f" {el('span', sign, role='img', aria_label=words(key), class_='sign-of')}")
    content = Html(f"{words.percent(float(pair.shares[i, j]))}{mark} {el('span', ends, class_='range')}")
    look = "" if not shade else f"more-{shade}" if shade > 0 else f"fewer-{-shade}"
    return Cell(content, look or "even")


def _largest(margin: FloatArray, most: int) -> IntArray:
    """Return the positions that are shown, in their order."""
    return np.sort(np.argsort(-margin, kind="stable")[:most])


def _cut(words: Words, pair: PairFindings, titles: tuple[str, str], rows: IntArray, columns: IntArray) -> Html:
    sides = ((titles[0], pair.rows, rows), (titles[1], pair.columns, columns))
    sentences = [
        words("pair.cut", shown=words.whole(len(kept)), n=words.whole(len(options)), name=name)
        for name, options, kept in sides
        if len(kept) < len(options)
    ]
    return el("p", " ".join(sentences), class_="notes") if sentences else Html()
