"""Generators of a log-linear model, written in brackets, and its terms."""

import re
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

from subsetprivacy._checks import shown
from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages.for_analyses import VARIABLES_OF_THE_TABLE, WRITE_GENERATORS

SATURATED, INDEPENDENCE, ALL_PAIRS = "saturated", "independence", "all pairs"
_BRACKETS = re.compile(r"""\s*\[((?:"[^"]*"|'[^']*'|`[^`]*`|[^][])*)\]""")
_NAME = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|`([^`]*)`|([^\s,"'`]+))\s*,?""")

Generators = tuple[tuple[str, ...], ...]


def read_generators(model: Any, names: Sequence[str]) -> Generators:
    """Return the generators of a model of the named variables, in order, without those contained in others.

    Parameters
    ----------
    model
        Text such as ``"[race sex][sex income]"``, one of the words ``"saturated"``, ``"all pairs"`` and
        ``"independence"``, or a list of tuples of names.
    names
        The variables of the table.

    Examples
    --------
    >>> read_generators("[sex race][sex income][race]", ["race", "sex", "income"])
    (('race', 'sex'), ('sex', 'income'))
    >>> read_generators("all pairs", ["race", "sex", "income"])
    (('race', 'sex'), ('race', 'income'), ('sex', 'income'))
    >>> read_generators([("a b", "c")], ["c", "a b"])
    (('c', 'a b'),)
    """
    if isinstance(model, str):
        known = _by_word(model.strip().lower(), names)
        return known if known is not None else _largest(_checked(_split(model), names), names)
    if not isinstance(model, Iterable):
        raise ArgumentError(
            f"`model` must be text in brackets or a list of tuples of names; got {shown(model)}.", WRITE_GENERATORS
        )
    return _largest(_checked([(part,) if isinstance(part, str) else part for part in model], names), names)


def _by_word(word: str, names: Sequence[str]) -> Generators | None:
    """Return the generators of a model given by a word; None for others."""
    size = {SATURATED: len(names), ALL_PAIRS: min(2, len(names)), INDEPENDENCE: 1}.get(word)
    return None if size is None else tuple(combinations(names, size))


def _split(text: str) -> list[tuple[str, ...]]:
    """Return the names in each pair of brackets."""
    out, at = [], 0
    while match := _BRACKETS.match(text, at):
        out.append(_names_in(match.group(1)))
        at = match.end()
    if not out or text[at:].strip():
        raise ArgumentError("`model` must be names of variables in brackets; it is not.", WRITE_GENERATORS)
    return out


def _names_in(text: str) -> tuple[str, ...]:
    names, at = [], 0
    while match := _NAME.match(text, at):
        names.append(next(part for part in match.groups() if part is not None))
        at = match.end()
    if text[at:].strip():
        raise ArgumentError("`model` must have a closing quote for each that opens a name.", WRITE_GENERATORS)
    return tuple(names)


def _checked(generators: Iterable[Any], names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the generators if their names are valid and distinct, or raise."""
    out = []
    for generator in generators:
        if not isinstance(generator, Iterable) or not (inner := tuple(generator)):
            raise ArgumentError("`model` must name at least one variable in each generator.", WRITE_GENERATORS)
        for name in inner:
            if name not in names:
                raise ArgumentError(
                    f"`model` must name variables of the table; got {shown(name)}.",
                    VARIABLES_OF_THE_TABLE(names=", ".join(names)),
                )
        if len(set(inner)) < len(inner):
            raise ArgumentError("`model` must name a variable once in a generator; got one twice.")
        out.append(inner)
    if not out:
        raise ArgumentError("`model` must have at least one generator; got none.", WRITE_GENERATORS)
    return out


def _largest(generators: list[tuple[str, ...]], names: Sequence[str]) -> Generators:
    """Return the generators not contained in others, with names in the order of the table."""
    sets = list(dict.fromkeys(frozenset(generator) for generator in generators))
    kept = [members for members in sets if not any(members < other for other in sets)]
    return tuple(tuple(name for name in names if name in members) for members in kept)


def terms_of(generators: Generators, names: Sequence[str]) -> Generators:
    """Return all terms of a hierarchical model: every subset of a generator, main effects first.

    Examples
    --------
    >>> terms_of((("race", "sex"), ("income",)), ["race", "sex", "income"])
    (('race',), ('sex',), ('income',), ('race', 'sex'))
    """
    parts = {part for generator in generators for k in range(len(generator)) for part in combinations(generator, k + 1)}
    place = {name: at for at, name in enumerate(names)}
    return tuple(sorted(parts, key=lambda part: (len(part), [place[name] for name in part])))


def without(terms: Generators, dropped: Sequence[str]) -> Generators:
    """Return the terms without one of them and without all terms that contain it."""
    return tuple(term for term in terms if not set(dropped) <= set(term))


def generators_of(terms: Generators, names: Sequence[str]) -> Generators:
    """Return the generators of a hierarchical list of terms."""
    return _largest(list(terms), names)


def bracketed(generators: Generators) -> str:
    """Return generators as text that `read_generators` reads.

    Examples
    --------
    >>> bracketed((("race", "sex"), ("income last year",)))
    '[race sex][`income last year`]'
    """
    return "".join(f"[{' '.join(map(_quoted, generator))}]" for generator in generators)


def _quoted(name: str) -> str:
    if re.fullmatch(r"""[^\s,"'`\][]+""", name):
        return name
    mark = next((mark for mark in "`\"'" if mark not in name), "`")
    return f"{mark}{name}{mark}"
