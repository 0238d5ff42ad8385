"""Shared by all tests: the pictures' backend, and parts of the outside world that may be absent."""

import gc
import os
import signal
import sys
from collections import Counter

# Before NumPy is imported, and for the processes that tests start: pytest-xdist keeps all cores busy already, and
# threads of the linear algebra that wait for each other on a busy machine take up to forty times as long.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# What a shell starts in the background ignores Ctrl-C, and so does every process that a test starts to interrupt it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

import matplotlib  # noqa: E402
import pytest  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402
from rewriting import rewrite_share  # noqa: E402

matplotlib.use("Agg")

# The same examples at every run, so that a run does not fail by chance, and no limit of time: a busy machine is slow.
# New examples: `pytest --hypothesis-profile=explore`.
settings.register_profile("suite", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")

REQUIRE_ALL = os.environ.get("REQUIRE_ALL") == "1"
_absent: Counter[str] = Counter()


@pytest.fixture
def need():
    """Skip a test whose real part is absent, with a closing line on screen; under REQUIRE_ALL=1 fail it."""

    def check(part: str, present: bool, how: str) -> None:
        if present:
            return
        if REQUIRE_ALL:
            pytest.fail(f"{part} is absent and REQUIRE_ALL=1. To get it: {how}")
        pytest.skip(f"absent: {part} (to get it: {how})")

    return check


@pytest.fixture(scope="session")
def spark_of_the_process(tmp_path_factory):
    """The session of a process that `run_under_spark` has started, for all of its files; elsewhere None."""
    from spark import spark_session, spark_under_test

    if not spark_under_test():
        yield None
        return
    with spark_session(tmp_path_factory.mktemp("spark")) as opened:
        yield opened


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    if (pyplot := sys.modules.get("matplotlib.pyplot")) is not None:  # else there is none
        pyplot.close("all")


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """Collect without looking for garbage, and never look at what was collected: it all stays until the end.

    Modules and tests are some million objects, which every full search for garbage would go through.
    """
    gc.disable()
    rewrite_share(session.config)
    try:
        return (yield)
    finally:
        _lighten_digests()
        gc.freeze()
        gc.enable()


def _lighten_digests():
    """Make the slow digest by which a file knows its job quick: hundreds of tests write files and are not about it."""
    if (jobs := sys.modules.get("subsetprivacy.frames.jobs")) is not None:  # else no test writes any
        jobs._ROUNDS = 1


@pytest.hookimpl(tryfirst=True)
def pytest_unconfigure():
    gc.unfreeze()  # or some libraries complain of a leak when the process ends


def pytest_collection_modifyitems(items):
    """Refuse ids that differ between processes, which xdist cannot run; and begin with Spark.

    A test of over a minute that comes last is one that all other processes wait for.
    """
    addressed = [item.nodeid for item in items if " at 0x" in item.nodeid]
    if addressed:
        raise pytest.UsageError(f"ids of tests must not hold addresses; got {addressed[0]}")
    items.sort(key=lambda item: item.path.name != "test_on_spark.py")


def pytest_sessionfinish(session):
    """Under REQUIRE_ALL=1 any skip is a failure, whichever way a test was skipped."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if REQUIRE_ALL and reporter is not None and reporter.stats.get("skipped") and not session.exitstatus:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter):
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[-1] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        _absent[reason.removeprefix("Skipped: ")] += 1
    for reason, tests in sorted(_absent.items()):
        terminalreporter.write_line(f"{tests} test(s) skipped, {reason}")
