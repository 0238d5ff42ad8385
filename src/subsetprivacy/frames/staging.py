"""The staging folder next to the output, from which an interrupted run continues."""

import json
import os
import shutil
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from secrets import token_hex
from typing import Any

from attrs import field, frozen

from subsetprivacy.errors import DataFileError


@frozen
class Stage:
    """A folder of finished units; each is written under a temporary name and then renamed."""

    folder: Path
    run: str = field(factory=lambda: token_hex(4))  # two runs never write the same file, even if one outlives its end

    def name(self, number: int) -> str:
        """Return the file name of a unit drawn by this run."""
        return f"unit-{number:06d}-{self.run}"

    def unit(self, name: str) -> Path:
        """Return the file of a unit's subsets."""
        return self.folder / f"{name}.arrow"

    def note(self, number: int) -> Path:
        """Return the file with the result of a unit; it exists when the unit is done."""
        return self.folder / f"unit-{number:06d}.json"

    def ids(self, name: str) -> Path:
        """Return the file of digests of a unit's ids, if there is a key."""
        return self.folder / f"{name}.ids"

    def bucket(self, number: int) -> Path:
        """Return the file of shuffled rows, passed from one process to another."""
        return self.folder / f"bucket-{number:06d}-{self.run}.arrow"

    def done(self, number: int) -> dict[str, Any] | None:
        """Return the result of a unit, or None if it is not finished."""
        try:
            return dict(json.loads(self.note(number).read_text(encoding="utf-8")))
        except (OSError, ValueError):
            return None

    def finish(self, number: int, result: dict[str, Any]) -> None:
        """Mark a unit as done."""
        written = self.folder / f"{self.name(number)}.note"
        written.write_text(json.dumps(result), encoding="utf-8")
        os.replace(written, self.note(number))


def stage_of(output: Path) -> Path:
    """Return the staging folder of a run that writes `output`."""
    return output.with_name(f".{output.name}.partial")


@contextmanager
def staged(output: Path, job: dict[str, Any] | None) -> Iterator[Stage]:
    """Open the staging folder of a run: the one left by the same job, or an empty one.

    Parameters
    ----------
    job
        The identity of the job, as plain data; None if it has none, so that nothing is kept.

    Notes
    -----
    After an error nothing remains. Only an interrupted run leaves its folder, and only if the same job can continue.
    """
    folder = stage_of(output)
    text = json.dumps(job, sort_keys=True)
    with _locked(output):
        for draft in output.parent.glob(f".{escape(output.name)}.*.part*"):  # of a run that was killed
            draft.unlink(missing_ok=True)
        if folder.exists() and (job is None or _read(folder / "job.json") != text):
            shutil.rmtree(folder)
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            (folder / "job.json").write_text(text, encoding="utf-8")
            yield Stage(folder)
        except BaseException as error:
            stopped = isinstance(error, (KeyboardInterrupt, SystemExit, BrokenProcessPool))
            if job is None or not stopped:
                shutil.rmtree(folder, ignore_errors=True)
            raise
        shutil.rmtree(folder, ignore_errors=True)


def can_continue(output: Path) -> bool:
    """Return whether an interrupted run left a folder to continue from."""
    return (stage_of(output) / "job.json").exists()


@contextmanager
def _locked(output: Path) -> Iterator[None]:
    """Refuse a second run with the same output at the same time, if the system has locks."""
    try:
        import fcntl
    except ImportError:  # Windows: the renaming at the end is still atomic
        yield
        return
    lock = output.with_name(f".{output.name}.lock")
    while True:
        handle = lock.open("w")
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            handle.close()
            raise DataFileError(f"another run is writing {output} now.") from None
        if lock.exists() and os.path.samestat(lock.stat(), os.fstat(handle.fileno())):
            break
        handle.close()  # it was removed by a run that ended between the two lines above
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
        handle.close()


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return None
