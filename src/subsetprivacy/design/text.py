r"""Subsets as text: labels joined by a bar, for files that people open.

Inside a label, ``|`` and ``\`` are written ``\|`` and ``\\``, and an empty
label ``\e``. A semicolon or tab in front of a possible formula is written
``\s`` or ``\t``, because some spreadsheets split lines there. A combination of
several variables is its parts joined by ``" & "``, with ``\&`` for an
ampersand inside a part. An answer to Warner's question is a word with the
possible combinations: ``same (no & 0, yes & 1)``. A text that a spreadsheet
would read as a formula gets a leading apostrophe, which reading removes.
Different subsets give different texts. No text is empty, because an empty cell
is a missing one. All code that reads subsets as text, from a list, a column, a
table or a file, uses this module. Spaces around a bar are ignored, unless some
labels differ only by such spaces.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from attrs import frozen

from subsetprivacy._types import IntArray, Label
from subsetprivacy._words import counted
from subsetprivacy.design.base import Design
from subsetprivacy.design.secret_bit import EQUAL, ArtificialBit
from subsetprivacy.errors import CodeError
from subsetprivacy.messages import Hint
from subsetprivacy.messages.for_designs import SUBSET_AS_TEXT, WRITE_CODES
from subsetprivacy.subsets import Categories
from subsetprivacy.tables import SIGNS, plain_header, safe_header
from subsetprivacy.variables import JointCategories

BAR = "|"
_EMPTY = "\\e"
_OTHER_SIGNS = (",", ";", "/", "+", "\t")  # that other formats use to join labels
_SPLIT = re.compile(f"[;\t](?=\\s*[{re.escape(SIGNS)}])")
_PIECE = re.compile(r"(?:[^\\|]|\\.)*", re.DOTALL)
_REMEMBERED = 1 << 16  # texts of one column: each person may have another


def text_of(code: int, design: Design) -> str:
    r"""Return one subset as text.

    Parameters
    ----------
    code
        A code of the design.
    design
        A design whose codes are masks.

    Raises
    ------
    CodeError
        If the codes of the design are not masks, or two labels are the same as text.

    Examples
    --------
    >>> from subsetprivacy.design import uniform
    >>> text_of(10, uniform(["black", "red", "green", "a|b"]))
    'red|a\\|b'
    """
    return _spelling(design).write(int(code))


def texts_of(codes: Iterable[int], design: Design) -> list[str]:
    """Return a text for each code. Each distinct code is converted once.

    Examples
    --------
    >>> from subsetprivacy.design import uniform
    >>> texts_of([3, 12, 3], uniform(list("abcd")))
    ['a|b', 'c|d', 'a|b']
    """
    spelling = _spelling(design)
    distinct, inverse = np.unique(np.asarray(codes, np.int64), return_inverse=True)
    texts = [spelling.write(code) for code in distinct.tolist()]
    return [texts[k] for k in inverse.tolist()]


def codes_of(texts: Sequence[str | None], design: Design) -> IntArray:
    """Return the code of each text. None is a missing answer, the full set.

    Labels may be in any order, with or without spaces around the bar. This
    function does not check whether the design can produce the subsets.

    Raises
    ------
    CodeError
        If a text is not a subset. The message has the number of such texts,
        the position of the first and its problem, but never a text.

    Examples
    --------
    >>> from subsetprivacy.design import uniform
    >>> codes_of(["b|a", None, "c", "a | d"], uniform(list("abcd")))
    array([ 3, 15,  4,  9])
    """
    codes = parsed(texts, design)
    wrong = codes == 0
    if wrong.any():
        first = int(wrong.argmax())
        raise CodeError(
            f"subsets as text must be labels of the {design.p} categories joined by a bar; got "
            f"{counted(wrong.sum(), 'text that is not', 'texts that are not')}, first in row {first}: "
            f"{problem_with(texts[first], design)}.",
            advice_for_texts(design),
        )
    return codes


def parsed(texts: Sequence[str | None], design: Design) -> IntArray:
    """Return the code of each text, or 0 if it is not a subset. Each distinct text is parsed once."""
    spelling = _spelling(design)
    known: dict[str | None, int] = {None: design.missing_code}
    codes = np.empty(len(texts), np.int64)
    for row, text in enumerate(texts):
        code = known.get(text)
        if code is None:
            code = spelling.read(text)
            if len(known) < _REMEMBERED:
                known[text] = code
        codes[row] = code
    return codes


def advice_for_texts(design: Design) -> Hint:
    """Return advice for texts that are not subsets, with an example of the design's labels."""
    spelling = _spelling(design)
    example = spelling.write(sum(part for _, part in spelling.written[:2]))
    return SUBSET_AS_TEXT(example=repr(example))


def problem_with(text: str | None, design: Design) -> str:
    """Return why a text is not a subset of the design's categories, without revealing the text."""
    return _spelling(design).problem(text)


def has_text_form(design: Design) -> bool:
    """Tell whether the subsets of a design can be written as text and read back."""
    try:
        _spelling(design)
    except CodeError:
        return False
    return True


def looks_like_codes(design: Design) -> bool:
    """Tell whether a label looks like a whole number, so that a subset can look like a code."""
    return has_text_form(design) and any(name.lstrip("'+-").isdigit() for name in _spelling(design).names)


@frozen
class _Spelling:
    """How the labels of one variable are written.

    Attributes
    ----------
    written
        The text for each part of a code. A part is one bit, or several that occur together.
    bit
        The part of a code that each label stands for when reading.
    """

    written: tuple[tuple[str, int], ...]
    bit: dict[str, int]
    spaced: bool  # whether spaces around a label are ignored

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.written)

    def write(self, code: int) -> str:
        return safe_header(BAR.join(name for name, part in self.written if code & part == part))

    def read(self, text: str | None) -> int:
        """Return the code, or 0 for a text that is not a subset: an unknown or repeated label, or no label."""
        if not isinstance(text, str):
            return 0
        code = 0
        for piece in self.labels(text):
            bit = self.bit.get(piece, 0)
            if not bit or code & bit:
                return 0
            code |= bit
        return code

    def labels(self, text: str) -> list[str]:
        pieces = _pieces(_without_split_formulas(plain_header(text)))  # people may write texts that we would escape
        return [piece.strip() for piece in pieces] if self.spaced else pieces

    def problem(self, text: str | None) -> str:
        if not isinstance(text, str):
            return "it is not text"
        labels = self.labels(text)
        stripped = [label.strip() for label in labels]
        if not all(stripped):
            return "it is empty" if len(labels) == 1 else "a label is missing before, between or after its bars"
        if all(label in self.bit for label in labels):
            return "it has a label twice"
        known = {name.strip() for name in self.bit}
        if known.issuperset(stripped):
            return "it has spaces around the bar, and some labels of the design differ by spaces only"
        if {name.casefold() for name in known}.issuperset(label.casefold() for label in stripped):
            return "it has a label with different upper and lower case"
        for sign in _OTHER_SIGNS:
            if known.issuperset(part.strip() for part in text.split(sign)):
                return f"its labels are joined by {sign!r}, not by a bar"
        return "it has a label that is not a category"


def _pieces(text: str) -> list[str]:
    """Return the pieces of a text between bars without a backslash in front."""
    if "\\" not in text:
        return text.split(BAR)
    pieces, start = [], 0
    while True:
        match = _PIECE.match(text, start)
        end = start if match is None else match.end()
        pieces.append(text[start:end])
        if end >= len(text) or text[end] != BAR:  # the end, or a single backslash, which no label contains
            return pieces if end >= len(text) else [*pieces, text[end:]]
        start = end + 1


@lru_cache(maxsize=64)
def _spelling(design: Design) -> _Spelling:
    if isinstance(design, ArtificialBit) and design.equal_only:
        return _spelling_of_answers(design)
    if design.code_space != "mask":
        raise CodeError(
            f"subsets of a {design.maker} design must be written as codes, not as text: its codes are not masks of "
            "labels.",
            WRITE_CODES,
        )
    names = _names(design.categories)
    if len(set(names)) < len(names):
        raise CodeError("labels must differ as text to be written as text; got two that are the same.", WRITE_CODES)
    stripped = {name.strip() for name in names}
    spaced = len(stripped) == len(names) and "" not in stripped
    written = tuple((name, 1 << j) for j, name in enumerate(names))
    return _Spelling(written, {name.strip() if spaced else name: part for name, part in written}, spaced)


def _spelling_of_answers(design: ArtificialBit) -> _Spelling:
    """Return the texts of the answers to Warner's question: same or different, with the possible combinations.

    The word alone is read too, and so is the code, which older files without a document contain.
    """
    first, second = (name.replace("&", "\\&") for name in _part_names(design.categories))
    different = design.missing_code - EQUAL
    written = (
        (f"same ({first} & 0, {second} & 1)", EQUAL),
        (f"different ({first} & 1, {second} & 0)", different),
    )
    read = {"same": EQUAL, "different": different}
    codes = {str(code): code for code in (EQUAL, different, design.missing_code)}
    return _Spelling(written, {name.strip(): part for name, part in written} | read | codes, True)


def _names(categories: Categories) -> tuple[str, ...]:
    """Return the labels as text. If two are the same as text, such as 1 and "1", quotes distinguish them."""
    if isinstance(categories, JointCategories):
        parts = [_part_names(part) for part in categories.parts]
        lists: list[str] = [""]
        for k, part in enumerate(parts):
            ready = [name.replace("&", "\\&") for name in part]
            lists = [f"{done} & {name}" if k else name for done in lists for name in ready]
        return tuple(lists)
    return tuple(_part_names(categories))


def _part_names(part: Categories) -> list[str]:
    plain = [str(label) for label in part.labels]
    shown = plain if len(set(plain)) == len(plain) else [repr(label) for label in part.labels]
    return [_escaped(name) for name in shown]


def _escaped(name: Label) -> str:
    return _without_split_formulas(str(name).replace("\\", "\\\\").replace(BAR, "\\|")) or _EMPTY


def _without_split_formulas(text: str) -> str:
    """Return a text without a formula after a character at which a spreadsheet may split it."""
    return _SPLIT.sub(lambda match: "\\s" if match[0] == ";" else "\\t", text)
