"""Advice as data: a name, and what to do next in a sentence for each audience.

The sentences are in the modules `for_…` of this package, one line of advice each. A sentence may have fields in braces,
which a `Hint` fills in::

    NEAREST = advise("nearest", "the nearest is {nearest}")
    raise ArgumentError("`k` must be at most 4; got 7.", NEAREST(nearest=4))
"""

# Dataclasses, because errors import this module, and the command line's help should not wait for attrs.
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ADVICE: dict[str, "Advice"] = {}  # all that was defined, by name


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Advice:
    """What to do next, in the words of each audience. None for an audience that can do nothing.

    Attributes
    ----------
    name
        A stable name, for programs and tests.
    python
        For users of the library: functions, methods and keywords.
    shell
        For users of the command line: options, or another command. Of several sentences, the first applies whose
        options the command has.
    page
        For readers of a page: what can be done there, or in the survey that the page is about.
    keyword_of
        The functions that take the keywords that `python` names outside a call: ``"privatize"``,
        ``"Estimate.interval"``.
    """

    name: str
    python: str | None
    shell: tuple[str, ...]
    page: str | None
    keyword_of: tuple[str, ...]

    def __call__(self, **values: Any) -> "Hint":
        """Return the advice with the values for its sentences."""
        return Hint(self, values)

    def __repr__(self) -> str:
        return f"<Advice {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _named, (self.name,)


def _named(name: str) -> Advice:
    """Return the advice with that name, whichever module defines it."""
    from importlib import import_module

    from subsetprivacy.messages import MODULES

    for module in MODULES:
        import_module(f"subsetprivacy.messages.{module}")
    return ADVICE[name]


def advise(
    name: str,
    everyone: str | None = None,
    *,
    python: str | None = None,
    shell: str | tuple[str, ...] | None = None,
    page: str | None = None,
    keyword_of: str | tuple[str, ...] = (),
) -> Advice:
    """Define advice. `everyone` is the sentence for each audience without its own.

    Raises
    ------
    ValueError
        If the name is taken.
    """
    if name in ADVICE:
        raise ValueError(f"the name {name!r} must be new; it is taken.")
    for_shell = everyone if shell is None else shell
    sentences = () if for_shell is None else (for_shell,) if isinstance(for_shell, str) else tuple(for_shell)
    functions = (keyword_of,) if isinstance(keyword_of, str) else keyword_of
    ADVICE[name] = Advice(name, python or everyone, sentences, page or everyone, functions)
    return ADVICE[name]


@dataclass(frozen=True, slots=True)
class Hint:
    """A piece of advice, and the values for its sentences."""

    advice: Advice
    values: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def name(self) -> str:
        """The name of the advice."""
        return self.advice.name

    def __str__(self) -> str:
        """Return the advice in the words of the library. Empty if there is none."""
        from subsetprivacy.messages.rendering import for_python  # which builds on this module

        return for_python(self) or ""

    def to_dict(self) -> dict[str, Any]:
        """Return name, values and the sentence for users of the library, for JSON."""
        return {"name": self.name, "values": dict(self.values), "text": str(self)}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> "Hint":
        """Return the hint that `to_dict` wrote."""
        return cls(_named(facts["name"]), facts["values"])


def as_hint(advice: "Advice | Hint | None") -> Hint | None:
    """Return advice as a hint. Advice without fields may be given as it is."""
    return Hint(advice) if isinstance(advice, Advice) else advice
