"""Processes that work for one: they end when they are to, and what goes wrong in them is told."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from operator import truediv

import pytest

from subsetprivacy.errors import ArgumentError, CategoryError
from subsetprivacy.processes import process_pool

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="absent: signals of POSIX")
HANG = 60  # seconds after which a run that should end at once is taken to hang


def test_tasks_are_done_elsewhere():
    with process_pool(2) as pool:
        ids = {pool.submit(os.getpid).result() for _ in range(4)}
        assert list(pool.map(truediv, [4, 6], [2, 3])) == [2, 2]
    assert os.getpid() not in ids
    assert len(ids) <= 2


def test_an_error_comes_home_with_the_place_where_it_was_raised():
    with process_pool(1) as pool:
        with pytest.raises(ZeroDivisionError) as caught:
            pool.submit(truediv, 1, 0).result()
        assert "In another process" in caught.value.__notes__[0]
        with pytest.raises(CategoryError, match="first in row 2"):
            pool.submit(os.fspath, Raising()).result()
        assert pool.submit(truediv, 6, 3).result() == 2  # the process is still there


class Raising:
    """Cannot be sent; says so with one of our errors."""

    def __reduce__(self):
        raise CategoryError("first in row 2")


def test_what_cannot_be_sent_back():
    with process_pool(1) as pool:
        with pytest.raises(TypeError, match="cannot pickle"):
            pool.submit(open, os.devnull).result()
        with pytest.raises(RuntimeError, match=r"^Own in another process$") as caught:
            pool.submit(exec, "class Own(Exception): pass\nraise Own('a cell')", {}).result()
    assert "a cell" not in repr(caught.value)


@POSIX
def test_a_process_that_is_killed_breaks_the_pool():
    with process_pool(1) as pool:
        first = pool.submit(os.getpid).result()
        lost, waiting = pool.submit(time.sleep, HANG), pool.submit(time.sleep, 0)
        os.kill(first, signal.SIGKILL)
        for future in (lost, waiting):
            with pytest.raises(BrokenProcessPool):
                future.result()
        with pytest.raises(BrokenProcessPool):
            pool.submit(time.sleep, 0)


@POSIX
def test_processes_leave_the_stopping_to_their_parent():
    with process_pool(1) as pool:
        worker = pool.submit(os.getpid).result()
        for number in (signal.SIGINT, signal.SIGTERM):
            os.kill(worker, number)
        assert pool.submit(os.getpid).result() == worker


BUSY = """
import sys, time
from subsetprivacy.processes import process_pool
if __name__ == "__main__":
    try:
        with process_pool(1) as pool:
            pool.submit(time.sleep, 0).result()
            for _ in range(3):  # more than a pipe holds, for a process that reads nothing
                pool.submit(time.sleep, 60)
                pool.submit(len, bytes(1 << 22))
            time.sleep(0.2)
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        sys.exit(130)
"""


def test_nothing_waits_for_a_process_that_reads_no_more(tmp_path):
    script = tmp_path / "busy.py"
    script.write_text(BUSY)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=HANG)
    assert (done.returncode, done.stderr) == (130, "")


UNGUARDED = """
import subsetprivacy as sp
design = sp.uniform(["a", "b", "c", "d"])
sp.privatize_table("people.csv", {"letter": design}, "private.parquet", jobs=2)
"""


def test_a_script_without_the_guard_is_told_of_it(tmp_path):
    (tmp_path / "people.csv").write_text("letter\n" + "a\nb\nc\n" * 100)
    (tmp_path / "script.py").write_text(UNGUARDED)
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 1
    assert done.stderr.count("Traceback") == 1  # that of the script alone
    assert "ArgumentError: `jobs` must be 1 unless" in done.stderr
    assert "Hint: put the work into a function, and call it under the guard if __name__ == '__main__':" in done.stderr
    assert "memory" not in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "script.py"]


def test_a_script_that_cannot_be_imported_is_told_of_the_guard(tmp_path):
    (tmp_path / "people.csv").write_text("letter\n" + "a\nb\nc\n" * 100)
    own_error = '\nif __name__ != "__main__":\n    raise ValueError("a script that minds")\n'
    (tmp_path / "script.py").write_text(own_error + UNGUARDED)
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=HANG)
    assert "ArgumentError: `jobs` must be 1 unless" in done.stderr


def test_no_process_is_started_where_none_is_wanted():
    with process_pool(0) as pool:
        assert pool is None


def test_an_error_ends_the_processes():
    running = []

    def fail():
        with process_pool(1) as pool:
            running.append(pool.submit(time.sleep, HANG))
            raise ArgumentError("enough")

    with pytest.raises(ArgumentError):
        fail()
    assert running[0].done()
