"""What every test keeps to, so that the suite is green on a busy machine."""

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
CLOCKS = re.compile(r"perf_counter|process_time|thread_time|timeit|time\.time\(|monotonic\(\) *-")


def test_no_test_measures_how_long_something_takes():
    """A clock says when to give up waiting, and nothing else: a test that compares two readings fails under load."""
    sources = {path: path.read_text("utf-8") for path in TESTS.rglob("*.py") if path != Path(__file__)}
    assert len(sources) > 200
    assert [str(path.relative_to(TESTS)) for path, text in sources.items() if CLOCKS.search(text)] == []
