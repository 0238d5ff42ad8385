"""Find options that look alike to a reader but differ for a computer.

Two options of one question that look the same are refused, whatever their alphabets. An option that mixes alphabets is
allowed as long as no other option looks like it.

The table is our own and short: letters of Cyrillic and Greek that look like Latin ones or like each other, signs with
several codes, and a few Arabic letters that differ by keyboard. Whatever else Unicode calls compatible (full width,
ligatures, ㎡ for m²) needs no table, but what is raised, lowered or a fraction can be told from plain signs: 10² is not
102. Nor is ß the same as ss. The table does not know other alphabets, letters that differ by a small mark, or pairs of
letters that look like one (rn and m); nor does it compare letters of the Latin alphabet with digits (O and 0) or with
each other (I and l), since a list may well hold both.
"""

import re
import unicodedata
from functools import lru_cache

# Invisible, although Unicode does not call them formatting: fillers, joiners, variation selectors.
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0")
_BLANK = "\u2800"
_FIRST_SELECTORS, _LATER_SELECTORS = ("\ufe00", "\ufe0f"), ("\U000e0100", "\U000e01ef")


def _pairs(letters: str, likenesses: str) -> dict[int, str]:
    return {ord(letter): like for letter, like in zip(letters, likenesses, strict=True)}


# One sign in several codes: always taken for the same.
_SIGNS = (
    {ord("\u0640"): ""}  # the stroke that stretches Arabic words
    | dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u02d7"), "-")
    | dict.fromkeys(map(ord, "\u2018\u2019\u201b\u02b9\u02bb\u02bc\u02c8\u2032\u0060\u00b4"), "'")
    | dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u00ab\u00bb"), '"')
    | _pairs("\u2044\u2215\u2236\u0589\u201a", "//::,")
    | _pairs("ɑɡǃ\u2206\u220f\u2211", "ag!ΔΠΣ")
    | _pairs("\u06cc\u06a9", "\u064a\u0643")  # ya and kaf of Persian keyboards
    | _pairs("۰۱۲۳۷۸۹", "٠١٢٣٧٨٩")
)
# Letters of one alphabet that look like letters of another, or like digits.
_LETTERS = (
    _pairs("АВЕЅІЈКМНОРСТУХҮԚԜѴЗЬԌӀ", "ABESIJKMHOPCTYXYQWV3bGI")
    | _pairs("аеѕіјкорсухүԛԝѵһԁӏгбз", "aesijkopcyxyqwvhdlr63")
    | _pairs("ӕӔәӘєЄөӨ", "æÆəƏɛƐɵƟ")
    | _pairs("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧͿ", "ABEZHIKMNOPTYXJ")
    | _pairs("αγηικνορυχεβϳ", "aynikvopuxɛßj")
    | _pairs("ΓΠΦφ", "ГПФф")
)
# A stroke, whichever alphabet has it as its I: like an l of another.
_STROKES = frozenset("Il")
# At the end of a word the ya of Persian keyboards has no dots and looks like alef maksura.
_LAST_YA = re.compile(r"\u06cc(?!\w)")
# Alike in some places only: the same in a skeleton, and told apart where two texts are compared.
_SOMETIMES = _pairs("i\u0649", "l\u064a")
# What Unicode calls compatible with plain signs and a reader can tell from them.
_TOLD_APART = frozenset({"<super>", "<sub>", "<fraction>"})
# The size of the caches: an option is compared with all others of its question.
_TEXTS_KEPT, _SIGNS_KEPT = 128, 1024


def is_invisible(sign: str) -> bool:
    """Tell whether a character is invisible."""
    selects = _FIRST_SELECTORS[0] <= sign <= _FIRST_SELECTORS[1] or _LATER_SELECTORS[0] <= sign <= _LATER_SELECTORS[1]
    return unicodedata.category(sign) == "Cf" or selects or sign in _INVISIBLE


@lru_cache(_TEXTS_KEPT)
def looks(text: str) -> str:
    """Return what a text looks like within its alphabet. Two options with the same result look the same."""
    return unicodedata.normalize("NFC", _plain(_small(unicodedata.normalize("NFC", _plain(text)))))


@lru_cache(_TEXTS_KEPT)
def skeleton(text: str) -> str:
    """Return what a text looks like in any alphabet. Only texts with the same result can be confused.

    Examples
    --------
    >>> skeleton("Рaris") == skeleton("Paris"), skeleton("Москва") == skeleton("Moscow")
    (True, False)
    """
    return "".join(_small(like) for _, like in _signs(text)).translate(_SOMETIMES)


@lru_cache(_TEXTS_KEPT)
def _signs(text: str) -> tuple[tuple[str, str], ...]:
    """Return the signs that can be seen, marks apart from their letters, each with what it looks like."""
    return tuple((sign, sign.translate(_LETTERS)) for sign in _plain(text))


def _plain(text: str) -> str:
    """Return the signs that can be seen, marks apart from their letters, each in the plainest of its codes."""
    apart = unicodedata.normalize("NFD", "".join(map(_written_out, unicodedata.normalize("NFD", text))))
    seen = "".join(sign for sign in apart if not is_invisible(sign)).replace(_BLANK, " ")
    return " ".join(seen.split()).replace("''", '"')


@lru_cache(_SIGNS_KEPT)
def _written_out(sign: str) -> str:
    """Return what our table has for a sign, else what Unicode calls compatible with it."""
    if ord(sign) in _SIGNS:
        return _SIGNS[ord(sign)]
    kind, _, codes = unicodedata.decomposition(sign).partition(" ")
    if not kind.startswith("<") or kind in _TOLD_APART:
        return sign
    return "".join(_written_out(chr(int(code, 16))) for code in codes.split())


def _small(text: str) -> str:
    """Return a text in small letters, each of them one: ß is not ss."""
    return "".join(small if len(small := sign.casefold()) == 1 else sign.lower() for sign in text)


def can_be_confused(first: str, second: str) -> bool:
    """Tell whether two texts look alike.

    Look-alike letters count only across alphabets. Within one, like Υ and γ, a reader expects both.
    """
    if looks(first) == looks(second) or looks(_without_dots(first)) == looks(_without_dots(second)):
        return True
    if skeleton(first) != skeleton(second):
        return False
    signs, other_signs = _signs(first), _signs(second)
    return len(signs) == len(other_signs) and all(map(_are_alike, signs, other_signs))


def _without_dots(text: str) -> str:
    return _LAST_YA.sub("\u0649", text)


def _are_alike(first: tuple[str, str], second: tuple[str, str]) -> bool:
    (sign, like), (other, other_like) = first, second
    if _small(sign) == _small(other):
        return True
    alike = _small(like) == _small(other_like) or {like, other_like} == _STROKES
    return alike and _alphabet(sign) != _alphabet(other)


def _alphabet(sign: str) -> str:
    """Return the first word of a sign's name, which for letters is their alphabet."""
    return unicodedata.name(sign, "").partition(" ")[0]


def difference(first: str, second: str) -> str:
    """Return in words how two look-alike texts differ.

    Examples
    --------
    >>> difference("Рaris", "Paris")
    'character 1 is CYRILLIC CAPITAL LETTER ER here and LATIN CAPITAL LETTER P there'
    >>> difference("paris", "Paris")
    'only capital letters differ'
    """
    if first.lower() == second.lower():
        return "only capital letters differ"
    at = next((k for k, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second)))
    here, there = first[at : at + 1], second[at : at + 1]
    for sign, where in ((here, "here"), (there, "there")):
        if sign and is_invisible(sign):
            return f"character {at + 1} {where} is {_name(sign)}, which cannot be seen"
    if not here or not there:
        return f"character {at + 1} {'here' if here else 'there'} is {_name(here or there)}"
    return f"character {at + 1} is {_name(here)} here and {_name(there)} there"


def _name(sign: str) -> str:
    return unicodedata.name(sign, f"U+{ord(sign):04X}")
