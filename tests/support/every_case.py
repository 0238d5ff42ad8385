"""Run the cases of a check in one test: a run of thousands of tests spends more on tests than on what they check."""

from contextlib import contextmanager
from functools import wraps
from inspect import signature

import pytest


def every_case(names, cases, *, ids=None):
    """Do what `pytest.mark.parametrize` does, but in one test; an error says in which case it was raised.

    The cases share the test's fixtures, so they may not change them. Only `monkeypatch` is new for each.
    """
    names = tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else tuple(names)
    cases = list(cases)
    assert cases, "there is no case"
    words = ids if ids is None or callable(ids) else list(ids)

    def decorate(check):
        asked = signature(check).parameters
        assert set(names) <= set(asked), f"the check does not ask for {set(names) - set(asked)}"
        others = signature(check).replace(parameters=[asked[name] for name in asked if name not in names])

        @wraps(check)
        def test(*args, **kwargs):
            fixtures = others.bind(*args, **kwargs).arguments
            for number, case in enumerate(cases):
                values, word = _read(case, len(names))
                try:
                    with _own(fixtures) as own:
                        check(**own, **dict(zip(names, values, strict=True)))
                except pytest.skip.Exception:
                    raise  # its reason is counted in the closing lines, and is the same for every case
                except BaseException as error:
                    word = word or (words is not None and (words(case) if callable(words) else words[number]))
                    error.add_note(f"In the case {', '.join(names)} = {word or _shown(case)}")
                    raise

        test.__signature__ = others
        return test

    return decorate


def _read(case, size):
    """Return the values of a case and its name, if it is a `pytest.param`."""
    if hasattr(case, "marks"):
        assert not case.marks, "a case has no marks"
        return case.values, case.id
    return (case,) if size == 1 else case, None


@contextmanager
def _own(fixtures):
    """Give the case a `monkeypatch` that is undone after it, if it asks for one."""
    if "monkeypatch" not in fixtures:
        yield fixtures
        return
    with fixtures["monkeypatch"].context() as patch:
        yield fixtures | {"monkeypatch": patch}


def _shown(case):
    text = repr(case)
    return text if len(text) < 200 else f"{text[:200]}..."
