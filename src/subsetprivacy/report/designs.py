"""A design in words: how its subsets come about, how many there are, and one of them as an example."""

import warnings

from subsetprivacy.design import Design
from subsetprivacy.errors import SubsetPrivacyError, SubsetPrivacyWarning
from subsetprivacy.mechanism.ask import Question, ask
from subsetprivacy.report.gathering import Column
from subsetprivacy.report.markup import Html, code, el, lines, together
from subsetprivacy.report.wording import count_of, listed, whole

LONGEST_DOCUMENT = 20_000  # characters that are printed


def design_section(column: Column, number: int) -> Html:
    """Return what is said of one column's design."""
    design = column.design
    return el(
        "section",
        lines(
            [
                el("h3", column.name),
                *(el("p", text) for text in (described(design), counted(design), example(design)) if text),
                document(design),
            ]
        ),
        id=f"design-{number}",
    )


def described(design: Design) -> str:
    """Say in words how subsets are drawn."""
    return design.description


def counted(design: Design) -> str:
    """Say how many categories and subsets there are."""
    ways = design.report_count
    if ways is None:
        return f"{count_of(design.p, 'category', 'categories')}, and more different sets than can be listed."
    dummy = ", its dummy category counted with it," if design.covered is not None else ""
    held = count_of(ways, "different set", "different sets")
    return f"{count_of(design.p, 'category', 'categories')}; a row{dummy} is one of {held}."


def example(design: Design) -> str:
    """Return one question or subset of the design, always the same one."""
    bare = design.exposed
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SubsetPrivacyWarning)  # said on the page already
            if bare.options is not None:
                return _question(ask(bare, seed=1))
        codes = bare.support()[0]
        return f"For example, a row may say: {listed(bare.members(int(codes[len(codes) // 2])))}."
    except SubsetPrivacyError:
        return ""


def _question(question: Question) -> str:
    if question.design.enlarged is not question.design:  # about a secret number too
        return f"For example: “{question}”"
    if not question.is_yes_no:
        groups = "; or ".join(listed(group) for group in question.groups)
        return f"For example: “Which of these groups holds your answer: {groups}?”"
    yes, no = (listed(question.design.members(option)) for option in question.options[:2])
    return f"For example: “Is your answer one of these: {yes}?” Yes stores these, no stores: {no}."


def document(design: Design) -> Html:
    """Return the JSON document, to be opened; of a very long one how to get it."""
    try:
        text, mark = design.to_json(), design.fingerprint
    except (TypeError, ValueError):  # labels that JSON does not have
        return el("p", "Its labels cannot be written as a JSON document.")
    stamp = el("p", "Fingerprint (SHA-256 of the document): ", el("code", mark, class_="long"))
    if len(text) > LONGEST_DOCUMENT:
        kilobytes = whole(len(text.encode()) / 1000)
        return together(
            stamp, el("p", f"The document has {kilobytes} kB and travels with the file; it is not printed.")
        )
    return together(stamp, el("details", el("summary", "The document (JSON), which decides"), code(text)))
