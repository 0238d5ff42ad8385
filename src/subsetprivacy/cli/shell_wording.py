"""Messages in the words of the running command: its options instead of the library's arguments.

The library's messages name its arguments, and its advice has a version for the shell. This module knows which command
was called, which option sets an argument, and whether --json was given.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from subsetprivacy.cli.files import with_shown_names

if TYPE_CHECKING:
    from subsetprivacy.messages import Hint

Function = TypeVar("Function", bound=Callable[..., Any])

_SETS = "_sets_arguments"
_COMMAND = "subsetprivacy.command"
_JSON = "subsetprivacy.json"


def sets(**names: str) -> Callable[[Function], Function]:
    """Return a decorator that declares which option of a command sets an argument of the library.

    Options with the name of the argument need no declaration: --level sets `level`.

    Examples
    --------
    >>> @sets(n="--people")
    ... def plan(people): ...
    """

    def declare(function: Function) -> Function:
        setattr(function, _SETS, {**getattr(function, _SETS, {}), **names})
        return function

    return declare


def names_of(command: click.Command) -> dict[str, str]:
    """Return the name that a command uses for each argument of the library."""
    by_word: dict[str, str] = {}
    by_name: dict[str, str] = {}
    for param in command.params:
        word = max(param.opts, key=len)
        if isinstance(param, click.Argument):
            by_name[word] = param.metavar or word.upper()
        else:
            by_word[word.lstrip("-").replace("-", "_")] = by_name[str(param.name)] = word
    return by_name | by_word | getattr(command.callback, _SETS, {})


def options_of(command: click.Command) -> set[str]:
    """Return the options of a command."""
    options = [param for param in command.params if isinstance(param, click.Option)]
    return {word for option in options for word in (*option.opts, *option.secondary_opts)}


def remember_call(ctx: click.Context, words: Sequence[str]) -> None:
    """Store which command is called, and whether with --json, before its arguments are parsed.

    Parameters
    ----------
    ctx
        The context of the outermost group.
    words
        The arguments after its name.
    """
    command = ctx.command
    for word in words:
        inner = command.commands.get(word) if isinstance(command, click.Group) else None
        if inner is None:
            break
        command = inner
    given = words[: words.index("--")] if "--" in words else words
    ctx.meta[_COMMAND] = command
    ctx.meta[_JSON] = "--json" in given and "--json" in options_of(command)


def wants_json() -> bool:
    """Return whether the running command was given --json."""
    running = click.get_current_context(silent=True)
    return running is not None and bool(running.meta.get(_JSON, False))


def in_its_words(message: str, hint: "Hint | None" = None) -> tuple[str, str | None]:
    """Return a message and its advice in the words of the running command, each in one line.

    Parameters
    ----------
    message
        The message, with arguments of the library in backquotes.
    hint
        The advice. The result is None if it does not apply to this command.
    """
    from subsetprivacy.messages.rendering import for_shell, with_names

    running = click.get_current_context(silent=True)
    command = None if running is None else running.meta.get(_COMMAND, running.command)
    names, options = ({}, set()) if command is None else (names_of(command), options_of(command))
    advice = for_shell(hint, options)
    return _line(with_names(message, names)), None if advice is None else _line(advice)


def _line(text: str) -> str:
    return with_shown_names(" ".join(text.split()))
