"""What a report reveals about one person, in numbers and plain words, and what nothing protects."""

from collections.abc import Mapping
from typing import Any

from subsetprivacy.finding.privacy import LeakageFindings, PrivacyFindings
from subsetprivacy.finding.rows import RowFindings, RowLeakage
from subsetprivacy.finding.variable import VariableFindings
from subsetprivacy.presenting.html import Html, bullets, el, lines, table
from subsetprivacy.presenting.words import Words

Row = tuple[str, Any, str]


def privacy_table(words: Words, one: VariableFindings, further: tuple[Row, ...] = ()) -> Html:
    """Return every measure with its value and what it means."""
    held = one.privacy
    if held is None:
        return el("p", words("privacy.unknown"))
    rows = [*_averages(words, held), *_worst(words, one, held), *further]
    key = "privacy.at_estimate" if held.at == "estimate" else "privacy.at_even"
    caption = words("privacy.caption", variable=one.title, at=words(key))
    head = (words("privacy.measure"), words("privacy.value"), words("privacy.plain"))
    return table(caption, head, rows, words=(2,), look="explained")


def _leakage(words: Words, leak: LeakageFindings, form: Any) -> str:
    return words.with_span(leak.leakage, leak.lower, leak.upper, form)


def _averages(words: Words, held: PrivacyFindings) -> list[Row]:
    """Return the averages, each next to what there is without data."""
    part = words.percent(held.information_share, 0)
    rows = [
        (
            words("privacy.information"),
            _leakage(words, held.information, words.bits),
            words("privacy.information_means", part=part, all=words.bits(held.information.nonprivate)),
        ),
        (
            words("privacy.guess"),
            _leakage(words, held.guess, words.percent),
            words("privacy.guess_means", likeliest=held.likeliest, share=words.percent(held.guess.baseline)),
        ),
    ]
    if held.ruled_out is not None:
        meaning = words("privacy.ruled_out_means", all=words.percent(held.ruled_out.nonprivate))
        rows.append((words("privacy.ruled_out"), _leakage(words, held.ruled_out, words.percent), meaning))
    return rows


def _worst(words: Words, one: VariableFindings, held: PrivacyFindings) -> list[Row]:
    rows = [(words("privacy.posterior"), words.fine_percent(held.largest_posterior), _telling(words, held))]
    rows += design_rows(words, one)
    rows += [
        (words("privacy.revealed", what=name), words.fine_percent(part), words("privacy.revealed_means"))
        for name, part in held.reveals.items()
        if part > 0
    ]
    return [*rows, _price(words, one, held)]


def _telling(words: Words, held: PrivacyFindings) -> str:
    if held.largest_posterior == 1 and held.smallest_set > 1:
        return words("privacy.posterior_zero")
    if not held.telling_report:
        return words("privacy.posterior_means")
    return words("privacy.posterior_report", report=held.telling_report, category=held.told_category)


def design_rows(words: Words, one: VariableFindings) -> list[Row]:
    """Return what the design alone decides, whatever the shares are."""
    held = one.privacy
    if held is None or held.subset_private is None:
        return []
    factor = words.times(held.maximal_factor)
    smallest = words("privacy.smallest_of", k=words.whole(held.smallest_set), p=words.whole(len(one.categories)))
    means = "privacy.smallest_means" if held.smallest_set > 1 else "privacy.smallest_one"
    rows = [
        (words("privacy.maximal"), words.bits(held.maximal_bits), words("privacy.maximal_means", factor=factor)),
        (words("privacy.smallest"), smallest, words(means)),
    ]
    if held.epsilon is None:
        return [*rows, (words("privacy.epsilon"), words("privacy.infinite"), words("privacy.epsilon_infinite"))]
    return [*rows, (words("privacy.epsilon"), words.number(held.epsilon, 2), words("privacy.epsilon_means"))]


def _price(words: Words, one: VariableFindings, held: PrivacyFindings) -> Row:
    """Return what the design costs: people."""
    if held.cost is not None and held.asked_directly is not None:
        direct = words.whole(held.asked_directly)
        meaning = words.count("privacy.price_means", one.answered, direct=direct)
        return words("privacy.price"), words("privacy.times", n=words.times(held.cost)), meaning
    bound = "" if held.cost_bound is None else words("privacy.price_bound", n=words.times(held.cost_bound))
    return words("privacy.price"), "–", f"{words('privacy.price_unknown')} {bound}".strip()


def smallest_sets_table(words: Words, one: VariableFindings) -> Html:
    """Return the reports that leave the fewest categories, the most telling first."""
    held = one.privacy
    if held is None or not held.smallest_sets or held.smallest_set >= len(one.categories):
        return Html()
    rows = [
        (
            words.listed(line.categories),
            words.fine_percent(line.chance),
            words("sets.told", share=words.fine_percent(line.posterior), category=line.category),
        )
        for line in held.smallest_sets
    ]
    number = held.smallest_sets_number or len(rows)
    caption = words("sets.caption", variable=one.title, shown=words.whole(len(rows)), n=words.whole(number))
    head = (words("sets.set"), words("sets.chance"), words("sets.guess"))
    return table(caption, head, rows, words=(2,))


def cover_sentence(words: Words, one: VariableFindings) -> Html:
    """Say what dummy rows do; nothing where there are none."""
    held = one.privacy
    if held is None or held.cover_floor is None or held.dummy_share is None:
        return Html()
    rows = words.percent(1 - one.design.real_share)
    return el("p", words("privacy.cover", floor=words.percent(held.cover_floor, 2), dummies=rows))


def exposed(words: Words, one: VariableFindings) -> Html:
    """Return what this column does not protect, with its numbers."""
    held = one.privacy
    out = []
    if held is not None and held.at == "estimate":
        out.append(words("exposed.frequent", share=words.percent(held.largest_share), category=held.likeliest))
    if held is not None and held.subset_private is not None and 1 < held.smallest_set < len(one.categories):
        out.append(words.count("exposed.known", held.smallest_set - 1))
    if held is not None and held.repeat is not None:
        out.append(_again(words, one, held))
    if one.missing:
        out.append(words.count("exposed.missing", one.missing))
    return bullets(out)


def _again(words: Words, one: VariableFindings, held: PrivacyFindings) -> str:
    repeat = held.repeat
    assert repeat is not None
    if repeat.odds is not None:
        return words("exposed.twice_odds", odds=words.times(repeat.odds))
    left = {"left": words.times(repeat.expected), "p": words.whole(len(one.categories))}
    if repeat.probability > 0:
        return words("exposed.twice_alone", **left, share=words.fine_percent(repeat.probability))
    return words("exposed.twice", **left)


# A whole row ----------------------------------------------------------------------------------


def row_section(words: Words, found: RowFindings, titles: Mapping[str, str]) -> Html:
    """Return what all reports of one person reveal together; `titles` says what people call the columns."""
    parts: list[Html] = [el("p", words("row.explained"))]
    if found.twice:
        parts.append(
            el(
                "p",
                words("row.twice", names=", ".join(titles.get(name, name) for name in found.twice)),
                class_="warning",
            )
        )
    if found.together is None or found.parts is None:
        problem = "" if found.problem is None else words.note(found.problem)
        return lines([*parts, el("p", words("row.unknown"), " ", problem)])
    most = "" if found.joint_known else words("row.at_most")
    rows = [_row(words, titles.get(name, name), part, "") for name, part in found.parts.items()]
    rows.append(_row(words, words("row.together"), found.together, most))
    keys = ("column", "information", "maximal", "guess", "baseline", "smallest", "posterior")
    head = [words(f"row.{key}") for key in keys]
    named = ", ".join(titles.get(name, name) for name in found.names)  # there may be several such tables
    caption = f"{words('row.caption')}: {named}"
    return lines([*parts, table(caption, head, rows), el("p", _in_words(words, found, titles))])


def _row(words: Words, name: str, part: RowLeakage, most: str) -> tuple[str, ...]:
    posterior = words.fine_percent(part.largest_posterior)
    return (
        name,
        f"{most}{words.bits(part.information)}",
        words.bits(part.maximal_bits),
        f"{most}{words.percent(part.guess)}",
        words.percent(part.baseline),
        words.whole(part.smallest_set),
        words("row.up_to", n=posterior) if most and part.largest_posterior == 1 else posterior,
    )


def _in_words(words: Words, found: RowFindings, titles: Mapping[str, str]) -> str:
    total = found.together
    assert total is not None
    text = [
        words(
            "row.in_words",
            least=words.whole(total.smallest_set),
            all=words.whole(found.combinations or 0),
            factor=words.times(2**total.maximal_bits),
        )
    ]
    if not found.joint_known:
        return " ".join([*text, words("row.worst_case")])
    if total.largest_posterior == 1 and total.smallest_set > 1:
        text.append(words("row.posterior_zero"))
    guesses = (found.guesses or {}).items()
    each = ", ".join(f"{titles.get(name, name)} {words.percent(chance)}" for name, chance in guesses)
    return " ".join([*text, words("row.guesses", each=each)])


def candidates_sentence(words: Words, found: RowFindings) -> str:
    """Say how many rows could be a person's whose values are known; empty where that is not known."""
    held = found.candidates
    if held is None:
        return ""
    return words("row.candidates", expected=words.whole(held.expected), least=words.whole(held.least))
