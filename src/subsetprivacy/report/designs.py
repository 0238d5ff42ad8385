"""A design in words: how its subsets come about, how many there are, and one of them as an example."""

import warnings
from collections.abc import Callable
from typing import Any

from subsetprivacy.design import ArtificialBit, Covered, Design, Product
from subsetprivacy.errors import SubsetPrivacyError, SubsetPrivacyWarning
from subsetprivacy.mechanism.ask import Question, ask
from subsetprivacy.report.crossing import possible
from subsetprivacy.report.gathering import Column
from subsetprivacy.report.markup import Html, code, el, lines, together
from subsetprivacy.report.wording import count_of, listed, share, whole

LONGEST_DOCUMENT = 20_000  # characters that are printed
_KINDS: dict[str, Callable[[Any], str]] = {
    "uniform": lambda design: (
        "A yes/no question about a random set of categories. Every set is as likely to be asked about as any other, "
        "as long as at least two categories are in it and two are not. Yes stores the set, no stores the rest."
    ),
    "independent": lambda design: (
        "A yes/no question about a random set of categories, drawn from a list with given chances. Yes stores the "
        "set, no stores the rest."
    ),
    "conditional": lambda design: (
        "A set that contains the value, drawn from a list of sets with given weights. The draw needs the value, so "
        "it is made where the value is."
    ),
    "nonprivate": lambda design: "The value itself is stored: this protects nobody.",
    "fully_private": lambda design: "Nothing is stored but that there was an answer: nothing can be estimated.",
    "fixed_size": lambda design: (
        f"A set of {_sizes(design)} of the {whole(design.p)} categories: the value, and others picked at random "
        "to hide it."
    ),
    "partition": lambda design: (
        "The categories are divided into groups at random, and the question is: which group holds your answer? "
        "That group is stored."
    ),
    "hadamard": lambda design: (
        f"A yes/no question about roughly half of the {whole(design.p)} categories, from a short list of questions "
        "that together tell all categories apart. Yes stores the half asked about, no stores the other."
    ),
    "artificial_bit": lambda design: (
        "The respondent secretly draws a number, and the question is about the answer and the number together. "
        "Only the pairs that are possible after it are stored."
    ),
    "singles": lambda design: "A yes/no question about one category at a time: yes reveals the value.",
    "mixture": lambda design: "Different people were asked by different designs; the document lists them.",
    "coarse": lambda design: "It is not known how these sets came about; only that each contains the value.",
}


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
    if isinstance(design, Covered):
        rows = f" {share(1 - design.real_share)} of the rows are dummies." if design.people else ""
        return (
            f"{described(design.base)} Besides, dummy rows that belong to nobody are mixed in, so that nobody can "
            f"tell from a row alone that it is a person’s.{rows}"
        )
    if isinstance(design, Product):
        parts = " ".join(f"{name}: {described(factor)}" for name, factor in design.by_name().items())
        return f"Each variable is drawn by itself, with a design of its own. {parts}"
    return _KINDS.get(design.kind, lambda _: f"A {design.kind} design.")(design)


def counted(design: Design) -> str:
    """Say how many categories and subsets there are."""
    ways = None if design.kind == "coarse" else possible(design)
    if ways is None:
        return f"{count_of(design.p, 'category', 'categories')}, and more different sets than can be listed."
    dummy = ", its dummy category counted with it," if isinstance(design, Covered) else ""
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
    if isinstance(question.design, ArtificialBit):
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


def _sizes(design: Any) -> str:
    return " or ".join(str(k) for k in design.by_size)
