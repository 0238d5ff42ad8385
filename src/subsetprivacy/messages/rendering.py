"""Turn advice and messages into words for each audience."""

import re
from collections.abc import Collection, Mapping

from subsetprivacy.messages.advice import Hint

_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
_COMMAND = re.compile(r"\bsubsetprivacy [a-z]")
_ARGUMENT = re.compile(r"`(\w+)`")


def for_python(hint: Hint | None) -> str | None:
    """Return advice for users of the library."""
    return None if hint is None else _filled(hint.advice.python, hint)


def for_shell(hint: Hint | None, options: Collection[str]) -> str | None:
    """Return advice for users of a command.

    Parameters
    ----------
    hint
        The advice.
    options
        The options that the command has. A sentence that names another is not for this command.
    """
    for sentence in () if hint is None else hint.advice.shell:
        # What follows the name of a command are the options of that command.
        own = _COMMAND.split(sentence)[0]
        if all(option in options for option in _OPTION.findall(own)):
            return _filled(sentence, hint)
    return None


def for_page(hint: Hint | None) -> str | None:
    """Return advice for readers of a page."""
    return None if hint is None else _filled(hint.advice.page, hint)


def with_hint(text: str, advice: str | None) -> str:
    """Return a finding, and the advice that goes with it."""
    if not advice:
        return text
    return f"{text} Hint: {advice}{'' if advice.endswith(('?', '.', '…', ':')) else '.'}"


def with_names(text: str, names: Mapping[str, str]) -> str:
    """Return a message with the names that the audience knows its arguments by.

    Messages write an argument between backquotes, `` `level` must be …``, and nothing else. Arguments that have no
    name in `names` stay as they are.

    Examples
    --------
    >>> with_names("`level` must be between 0 and 1; got 2.", {"level": "--level"})
    '--level must be between 0 and 1; got 2.'
    """
    return _ARGUMENT.sub(lambda match: names.get(match[1], match[0]), text)


def _filled(sentence: str | None, hint: Hint | None) -> str | None:
    if sentence is None or hint is None:
        return None
    return sentence.format_map(hint.values)
