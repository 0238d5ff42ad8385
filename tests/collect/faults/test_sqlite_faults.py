"""A full disk, a file that may not be written, a file that somebody else has locked."""

import contextlib
import os
import resource
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest
from faults import go_through

from subsetprivacy.collect.storage.opening import open_store


def limit_files(server, size):
    """Let a running server write no file beyond a size; None lifts it. The kernel then refuses the write."""
    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (-1 if size is None else size, -1))


@pytest.fixture
def remembered(serve):
    """Start servers as `serve` does, and keep them at hand."""
    started = []

    def start(url, port=0):
        started.append(serve(url, port))
        return started[-1]

    start.started = started
    return start


@pytest.mark.parametrize("seconds", [0.5, pytest.param(8.0, marks=pytest.mark.slow)])
def test_no_more_room_in_the_file(remembered, engine, sqlite_url, seconds):
    """The kernel refuses to let the file grow, as it would on a full disk."""
    go_through(
        remembered,
        engine,
        sqlite_url,
        fault=lambda: limit_files(remembered.started[0], 4096),
        end=lambda: limit_files(remembered.started[0], None),
        seconds=seconds,
    )


@pytest.fixture
def small_disk(tmp_path, need):
    """A file system of sixteen megabytes: the log of the database grows to four before it is brought into the file."""
    place = tmp_path / "small"
    place.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", place], capture_output=True)
    need("a file system of its own", made.returncode == 0, "run as root on a machine that lets it mount one")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [1.0, 8.0])
def test_a_full_disk(serve, small_disk, sqlite_url, seconds):
    """A file system with not a byte left, and then room again."""
    url = f"sqlite:///{shutil.copy(sqlite_url.removeprefix('sqlite:///'), small_disk / 'store.db')}"
    filler, engine = small_disk / "filler", open_store(url)

    def fill():
        with filler.open("wb", buffering=0) as file:
            for size in (65_536, 512):  # the most of it at once: codes are used up meanwhile
                with contextlib.suppress(OSError):
                    while True:
                        file.write(bytes(size))

    go_through(serve, engine, url, fault=fill, end=filler.unlink, seconds=seconds, codes=1500, people=4)
    engine.dispose()


def change_attribute(url, sign):
    """Set or lift it for the file and its log; not for the memory that connections share, which is a file by chance."""
    file = Path(url.removeprefix("sqlite:///"))
    files = [path for path in (file, Path(f"{file}-wal")) if path.exists()]
    return subprocess.run(["chattr", f"{sign}i", *files], capture_output=True).returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [1.0, 8.0])
def test_files_that_may_not_be_written(serve, engine, sqlite_url, need, seconds):
    """Not even root may change a file with this attribute, open or not."""
    may = os.geteuid() == 0 and change_attribute(sqlite_url, "+") and change_attribute(sqlite_url, "-")
    need("the attribute 'immutable'", may, "run as root on ext4")
    try:
        go_through(
            serve,
            engine,
            sqlite_url,
            fault=lambda: change_attribute(sqlite_url, "+"),
            end=lambda: change_attribute(sqlite_url, "-"),
            seconds=seconds,
        )
    finally:
        change_attribute(sqlite_url, "-")


@pytest.mark.parametrize("seconds", [1.0, pytest.param(9.0, marks=pytest.mark.slow)])
def test_a_file_that_another_program_has_locked(serve, engine, sqlite_url, seconds):
    other = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None, check_same_thread=False)
    other.execute("PRAGMA busy_timeout = 10000")
    go_through(
        serve,
        engine,
        sqlite_url,
        fault=lambda: other.execute("BEGIN IMMEDIATE"),
        end=lambda: other.execute("ROLLBACK"),
        seconds=seconds,
        refusals=seconds > 6,
    )
    other.close()
