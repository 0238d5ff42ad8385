"""Expect a refusal by its class and by the argument that it is about, not by its sentence.

The sentence is pinned once for each class, in `tests/contracts/test_every_refusal.py`; its form is checked here.
"""

import re
from contextlib import contextmanager

import pytest


@contextmanager
def refused(kind: type[Exception], argument: str | None):
    """Expect an error of exactly this class whose message names this argument before any other.

    None stands for a message that begins with something else, such as the path of a file or a kind of design.
    """
    with pytest.raises(kind) as caught:
        yield caught
    assert caught.type is kind, f"a {caught.type.__name__} instead of a {kind.__name__}"
    message = caught.value.message
    assert re.search(r"\bmust\b.*\.$|; got .*\.$", message, re.DOTALL), f"not of the form of an error: {message}"
    if argument is None:
        return
    named = re.search(r"`([^`]+)`", message)
    assert named is not None, f"no argument is named: {message}"
    assert named[1] == argument, f"`{named[1]}` is named instead of `{argument}`: {message}"
