"""How much a call does, counted: a busy machine makes no call longer.

`calls` counts calls of functions, in Python and in C; `statements` counts what is sent to a database; `peak` is the
most memory that was taken at once.
"""

import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Engine, event


def calls(act: Callable[..., Any], *arguments: Any) -> int:
    """Return how many functions are called while something is done; what it raises is passed on."""
    count = 0

    def note(_frame: Any, kind: str, _argument: Any) -> None:
        nonlocal count
        count += kind in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        act(*arguments)
    finally:
        sys.setprofile(before)
    return count


def peak(act: Callable[[], Any]) -> int:
    """Return how many bytes something takes at most while it is done."""
    tracemalloc.start()
    try:
        act()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@contextmanager
def statements(engine: Engine) -> Iterator[list[str]]:
    """Note every statement that is sent to a store in a block."""
    sent: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        sent.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(engine, "before_cursor_execute", note)
