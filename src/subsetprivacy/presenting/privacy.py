"""What a report reveals about one person, in numbers and plain words, and what is not protected."""

from collections.abc import Mapping
from typing import Any

from subsetprivacy.finding.privacy import LeakageFindings, PrivacyFindings
from subsetprivacy.finding.rows import RowFindings, RowLeakage
from subsetprivacy.finding.variable import VariableFindings
from subsetprivacy.presenting.html import Html, bullets, el, lines, table
from subsetprivacy.presenting.words import Words

Row = tuple[str, Any, str]


def privacy_table(words: Words, variable: VariableFindings, further: tuple[Row, ...] = ()) -> Html:
    """Return every measure with its value and what it means."""
    privacy = variable.privacy
    if privacy is None:
        return el("p", words("privacy.unknown"))
    rows = [*_averages(words, privacy), *_worst(words, variable, privacy), *further]
    key = "privacy.at_estimate" if privacy.at == "estimate" else "privacy.at_even"
    caption = words("privacy.caption", variable=variable.title, at=words(key))
    head = (words("privacy.measure"), words("privacy.value"), words("privacy.plain"))
    return table(caption, head, rows, words=(2,), look="explained")


def _leakage(words: Words, leak: LeakageFindings, form: Any) -> str:
    return words.with_span(leak.leakage, leak.lower, leak.upper, form)


def _averages(words: Words, privacy: PrivacyFindings) -> list[Row]:
    """Return the averages, each next to its value without data."""
    part = words.percent(privacy.information_share, 0)
    rows = [
        (
            words("privacy.information"),
            _leakage(words, privacy.information, words.bits),
            words("privacy.information_means", part=part, all=words.bits(privacy.information.nonprivate)),
        ),
        (
            words("privacy.guess"),
            _leakage(words, privacy.guess, words.percent),
            words("privacy.guess_means", likeliest=privacy.likeliest, share=words.percent(privacy.guess.baseline)),
        ),
    ]
    if privacy.ruled_out is not None:
        meaning = words("privacy.ruled_out_means", all=words.percent(privacy.ruled_out.nonprivate))
        rows.append((words("privacy.ruled_out"), _leakage(words, privacy.ruled_out, words.percent), meaning))
    return rows


def _worst(words: Words, variable: VariableFindings, privacy: PrivacyFindings) -> list[Row]:
    rows = [
        (words("privacy.posterior"), words.fine_percent(privacy.largest_posterior), _largest_posterior(words, privacy))
    ]
    rows += design_rows(words, variable)
    rows += [
        (words("privacy.revealed", what=name), words.fine_percent(part), words("privacy.revealed_means"))
        for name, part in privacy.reveals.items()
        if part > 0
    ]
    return [*rows, _price(words, variable, privacy)]


def _largest_posterior(words: Words, privacy: PrivacyFindings) -> str:
    if privacy.largest_posterior == 1 and privacy.smallest_set > 1:
        return words("privacy.posterior_zero")
    if not privacy.telling_report:
        return words("privacy.posterior_means")
    return words("privacy.posterior_report", report=privacy.telling_report, category=privacy.told_category)


def design_rows(words: Words, variable: VariableFindings) -> list[Row]:
    """Return the measures that depend only on the design."""
    privacy = variable.privacy
    if privacy is None or privacy.subset_private is None:
        return []
    factor = words.times(privacy.maximal_factor)
    maximal = (
        words("privacy.maximal"),
        words.bits(privacy.maximal_bits),
        words("privacy.maximal_means", factor=factor),
    )
    if privacy.epsilon is not None:  # nothing is ruled out
        return [
            maximal,
            (words("privacy.epsilon"), words.number(privacy.epsilon, 2), words("privacy.epsilon_means")),
        ]
    smallest = words(
        "privacy.smallest_of", k=words.whole(privacy.smallest_set), p=words.whole(len(variable.categories))
    )
    means = "privacy.smallest_means" if privacy.smallest_set > 1 else "privacy.smallest_one"
    return [
        maximal,
        (words("privacy.smallest"), smallest, words(means)),
        (words("privacy.epsilon"), words("privacy.infinite"), words("privacy.epsilon_infinite")),
    ]


def _price(words: Words, variable: VariableFindings, privacy: PrivacyFindings) -> Row:
    """Return the cost of the design in people."""
    if privacy.cost is not None and privacy.asked_directly is not None:
        direct = words.whole(privacy.asked_directly)
        meaning = words.count("privacy.price_means", variable.answered, direct=direct)
        return words("privacy.price"), words("privacy.times", n=words.times(privacy.cost)), meaning
    bound = "" if privacy.cost_bound is None else words("privacy.price_bound", n=words.times(privacy.cost_bound))
    return words("privacy.price"), "–", f"{words('privacy.price_unknown')} {bound}".strip()


def smallest_sets_table(words: Words, variable: VariableFindings) -> Html:
    """Return the reports that leave the fewest categories, most revealing first."""
    privacy = variable.privacy
    if privacy is None or not privacy.smallest_sets or privacy.smallest_set >= len(variable.categories):
        return Html()
    rows = [
        (
            words.listed(line.categories),
            words.fine_percent(line.chance),
            words("sets.told", share=words.fine_percent(line.posterior), category=line.category),
        )
        for line in privacy.smallest_sets
    ]
    number = privacy.smallest_sets_number or len(rows)
    caption = words("sets.caption", variable=variable.title, shown=words.whole(len(rows)), n=words.whole(number))
    head = (words("sets.set"), words("sets.chance"), words("sets.guess"))
    return table(caption, head, rows, words=(2,))


def cover_sentence(words: Words, variable: VariableFindings) -> Html:
    """Say what dummy rows do. Empty if there are none."""
    privacy = variable.privacy
    if privacy is None or privacy.cover_floor is None or privacy.dummy_share is None:
        return Html()
    rows = words.percent(1 - variable.design.real_share)
    return el("p", words("privacy.cover", floor=words.percent(privacy.cover_floor, 2), dummies=rows))


def exposed(words: Words, variable: VariableFindings) -> Html:
    """Return what this column does not protect, with its numbers."""
    privacy = variable.privacy
    out = []
    if privacy is not None and privacy.at == "estimate":
        out.append(words("exposed.frequent", share=words.percent(privacy.largest_share), category=privacy.likeliest))
    if (
        privacy is not None
        and privacy.subset_private is not None
        and 1 < privacy.smallest_set < len(variable.categories)
    ):
        out.append(words.count("exposed.known", privacy.smallest_set - 1))
    if privacy is not None and privacy.repeat is not None:
        out.append(_repeated(words, variable, privacy))
    if variable.missing:
        out.append(words.count("exposed.missing", variable.missing))
    return bullets(out)


def _repeated(words: Words, variable: VariableFindings, privacy: PrivacyFindings) -> str:
    repeat = privacy.repeat
    assert repeat is not None
    if repeat.odds is not None:
        return words("exposed.twice_odds", odds=words.times(repeat.odds))
    left = {"left": words.times(repeat.expected), "p": words.whole(len(variable.categories))}
    if repeat.probability > 0:
        return words("exposed.twice_alone", **left, share=words.fine_percent(repeat.probability))
    return words("exposed.twice", **left)


# A whole row ----------------------------------------------------------------------------------


def row_section(words: Words, row: RowFindings, titles: Mapping[str, str]) -> Html:
    """Return what all reports of one person reveal together. `titles` are the titles of the columns."""
    parts: list[Html] = [el("p", words("row.explained"))]
    if row.twice:
        parts.append(
            el(
                "p",
                words("row.twice", names=", ".join(titles.get(name, name) for name in row.twice)),
                class_="warning",
            )
        )
    if row.together is None or row.parts is None:
        problem = "" if row.problem is None else words.note(row.problem)
        return lines([*parts, el("p", words("row.unknown"), " ", problem)])
    most = "" if row.joint_known else words("row.at_most")
    rows = [_row(words, titles.get(name, name), part, "") for name, part in row.parts.items()]
    rows.append(_row(words, words("row.together"), row.together, most))
    keys = ("column", "information", "maximal", "guess", "baseline", "smallest", "posterior")
    head = [words(f"row.{key}") for key in keys]
    named = ", ".join(titles.get(name, name) for name in row.names)  # there may be several such tables
    caption = f"{words('row.caption')}: {named}"
    return lines([*parts, table(caption, head, rows), el("p", _in_words(words, row, titles))])


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


def _in_words(words: Words, row: RowFindings, titles: Mapping[str, str]) -> str:
    total = row.together
    assert total is not None
    text = [
        words(
            "row.in_words",
            least=words.whole(total.smallest_set),
            all=words.whole(row.combinations or 0),
            factor=words.times(2**total.maximal_bits),
        )
    ]
    if not row.joint_known:
        return " ".join([*text, words("row.worst_case")])
    if total.largest_posterior == 1 and total.smallest_set > 1:
        text.append(words("row.posterior_zero"))
    guesses = (row.guesses or {}).items()
    each = ", ".join(f"{titles.get(name, name)} {words.percent(chance)}" for name, chance in guesses)
    return " ".join([*text, words("row.guesses", each=each)])


def candidates_sentence(words: Words, row: RowFindings) -> str:
    """Say how many rows fit a person whose values are known. Empty if that is unknown."""
    candidates = row.candidates
    if candidates is None:
        return ""
    return words("row.candidates", expected=words.whole(candidates.expected), least=words.whole(candidates.least))
