"""A design in words: how its reports are made, their number, an example, and its document."""

import warnings

from subsetprivacy.design import Design
from subsetprivacy.errors import SubsetPrivacyError, SubsetPrivacyWarning
from subsetprivacy.mechanism.ask import Question, ask
from subsetprivacy.presenting.html import Html, code, details, el, lines
from subsetprivacy.presenting.words import Words

LONGEST_DOCUMENT = 20_000  # characters that are printed


def design_section(words: Words, design: Design) -> Html:
    """Return the text about one column's design, without a heading."""
    sentences = (description(words, design), reports(words, design), example(words, design))
    return lines([*(el("p", text) for text in sentences if text), _document(words, design)])


def name_of(words: Words, design: Design) -> Html:
    """Return the name of the design, in English if the language has no name for the kind."""
    return _of_kind(words, f"design.name.{design.kind}", design.name)


def description(words: Words, design: Design) -> Html:
    """Say how reports are made, in English if the language has no sentence for the kind."""
    return _of_kind(words, f"design.kind.{design.kind}", design.description)


def _of_kind(words: Words, key: str, english: str) -> Html:
    if words.language == "en":
        return el("span", english)
    return el("span", words(key)) if words.has(key) else el("span", english, lang="en", dir="ltr")


def reports(words: Words, design: Design) -> str:
    """Say how many categories and possible reports there are."""
    categories = words.count("design.categories", design.p)
    ways = design.report_count if design.is_known else None
    if ways is None:
        return words("design.uncounted", categories=categories)
    return words.count("design.reports", ways, categories=categories)


def example(words: Words, design: Design) -> str:
    """Return one question or report of the design, always the same one. Empty if there is none."""
    bare = design.exposed
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SubsetPrivacyWarning)  # already on the page
            if bare.options is not None:
                return _question(words, ask(bare, seed=1))
        codes = bare.support()[0]
        return words("design.example_row", report=words.listed(bare.members(int(codes[len(codes) // 2]))))
    except SubsetPrivacyError:
        return ""


def _question(words: Words, question: Question) -> str:
    design = question.design
    if not question.is_yes_no:
        groups = " / ".join(words.listed(group) for group in question.groups)
        return words("design.example_groups", groups=groups)
    if design.enlarged is not design:
        # The text of a question with a secret number comes from the mechanism, in English.
        return words("design.example_question", question=str(question)) if words.language == "en" else ""
    yes, no = (words.listed(design.members(option)) for option in question.options[:2])
    return words("design.example_yes_no", yes=yes, no=no)


def _document(words: Words, design: Design) -> Html:
    """Return the JSON document in a part that opens, or how to get a very long one."""
    try:
        text, mark = design.to_json(), design.fingerprint
    except (TypeError, ValueError):  # labels that JSON cannot express
        return el("p", words("design.no_document"))
    stamp = el("p", f"{words('design.fingerprint')} ", el("code", mark, class_="long"))
    if len(text) > LONGEST_DOCUMENT:
        kilobytes = words.whole(len(text.encode()) / 1000)
        return lines([stamp, el("p", words("design.long", n=kilobytes))])
    return lines([stamp, details(words("design.document"), code(text, words("report.code")))])
