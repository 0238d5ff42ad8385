"""What every test keeps to, so that the suite is green on a busy machine."""

import re
from inspect import signature
from pathlib import Path

import pytest
from every_case import every_case

TESTS = Path(__file__).parents[1]
PROCESSORS = re.compile(r"OPENBLAS_CORETYPE|NPY_DISABLE_CPU_FEATURES|\bAVX")
CLOCKS = re.compile(r"perf_counter|process_time|thread_time|timeit|time\.time\(|monotonic\(\) *-")


def test_no_test_measures_how_long_something_takes():
    """A clock says when to give up waiting, and nothing else: a test that compares two readings fails under load."""
    sources = {path: path.read_text("utf-8") for path in TESTS.rglob("*.py") if path != Path(__file__)}
    assert len(sources) > 200
    assert [str(path.relative_to(TESTS)) for path, text in sources.items() if CLOCKS.search(text)] == []


def test_only_one_file_knows_of_processors():
    """It asks this one what it can play. A kernel that a processor lacks kills the process."""
    files = [path for path in TESTS.rglob("*.py") if PROCESSORS.search(path.read_text("utf-8"))]
    assert sorted(path.name for path in files if path != Path(__file__)) == ["machines.py"]


def test_every_case_runs_and_an_error_names_its_case(monkeypatch):
    seen = []

    @every_case("word", ["a", "b"])
    @every_case(("number", "square"), [(1, 1), pytest.param(2, 4, id="two"), (3, 8)])
    def check(word, number, square, monkeypatch):
        assert "TRIED" not in globals(), "the case before has left something"
        monkeypatch.setitem(globals(), "TRIED", True)
        seen.append((word, number))
        assert number**2 == square

    assert list(signature(check).parameters) == ["monkeypatch"]
    with pytest.raises(AssertionError) as caught:
        check(monkeypatch=monkeypatch)
    assert seen == [("a", 1), ("a", 2), ("a", 3)]
    assert caught.value.__notes__ == ["In the case number, square = (3, 8)", "In the case word = 'a'"]


def test_a_check_without_cases_is_none():
    with pytest.raises(AssertionError, match="no case"):
        every_case("number", [])
    with pytest.raises(AssertionError, match="does not ask"):
        every_case("number", [1])(lambda other: None)
