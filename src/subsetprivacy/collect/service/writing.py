"""One thread that writes: it takes all that is waiting and commits it at once, so that many wait for one sync."""

import asyncio
import threading
from collections import defaultdict
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any

from attrs import frozen
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from subsetprivacy.collect.storage.collecting import Asked, lock_codes, record
from subsetprivacy.collect.storage.releasing import release_due
from subsetprivacy.collect.survey.manifest import Manifest
from subsetprivacy.collect.survey.submission import Accepted

MOST_AT_ONCE = 256
MOST_WAITING = 4096
RELEASE_SECONDS = 1.0


class BusyError(Exception):
    """Nothing can be written now; whoever asks again later is served."""


@frozen(eq=False)
class Job:
    """Something to write, and who waits for the outcome."""

    manifest: Manifest
    content: Accepted | Asked
    waiting: "asyncio.Future[Any]"


class Writer:
    """A thread that writes jobs in groups, and one that releases what is due.

    Parameters
    ----------
    engine
        The store.
    released
        Called with the id of every survey that has a new release.
    """

    def __init__(self, engine: Engine, released: Callable[[str], None] = lambda survey_id: None) -> None:
        self._engine = engine
        self._released = released
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._due = threading.Event()
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Start both threads; what was due when the service last stopped is released at once."""
        self._stopping.clear()
        self._due.set()
        self._threads = [
            threading.Thread(target=self._write_all, name="writer", daemon=True),
            threading.Thread(target=self._release_all, name="releaser", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Write what is waiting, then stop."""
        self._stopping.set()
        self._jobs.put(None)
        self._due.set()
        for thread in self._threads:
            thread.join()
        self._threads = []

    async def write(self, manifest: Manifest, content: Accepted | Asked) -> Any:
        """Wait until something is written and safe on disk, and return what became of it.

        Raises
        ------
        BusyError
            If the database does not take it now, or too many are waiting.
        """
        if self._jobs.qsize() >= MOST_WAITING:
            raise BusyError
        waiting: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._jobs.put(Job(manifest, content, waiting))
        return await waiting

    # The writing thread -----------------------------------------------------------------------

    def _write_all(self) -> None:
        connection: Connection | None = None
        while (group := self._take()) is not None:
            try:
                if connection is None:
                    connection = self._engine.connect()
                outcomes = _write_group(connection, group)
            except (SQLAlchemyError, OSError):
                # The whole group is told to come again. A connection that failed once is not trusted again.
                outcomes = [BusyError()] * len(group)
                _drop(connection)
                connection = None
            _tell(group, outcomes)
            self._due.set()
        if connection is not None:
            connection.close()

    def _take(self) -> list[Job] | None:
        """Return all jobs that wait, at least one; None at the end."""
        group: list[Job] = []
        job = self._jobs.get()
        while job is not None:
            group.append(job)
            if len(group) == MOST_AT_ONCE:
                return group
            try:
                job = self._jobs.get_nowait()
            except Empty:
                return group
        if group:
            self._jobs.put(None)  # found behind the last jobs: it ends the next round
        return group or None

    # The releasing thread ---------------------------------------------------------------------

    def _release_all(self) -> None:
        while True:
            self._due.wait()
            if self._stopping.is_set():
                return
            self._due.clear()
            try:
                for survey_id in release_due(self._engine):
                    self._released(survey_id)
            except (SQLAlchemyError, OSError):
                self._due.set()  # tried again
            self._stopping.wait(RELEASE_SECONDS)


def _write_group(connection: Connection, group: list[Job]) -> list[Any]:
    """Write a group in one transaction, survey by survey in the order of their ids, and return the outcomes."""
    outcomes: list[Any] = [None] * len(group)
    places: defaultdict[tuple[str, bool], list[int]] = defaultdict(list)
    for k, job in enumerate(group):
        places[job.manifest.id, isinstance(job.content, Accepted)].append(k)
    with connection.begin():
        for (_, counts), at in sorted(places.items()):
            contents: list[Any] = [group[k].content for k in at]
            done: list[Any] = (record if counts else lock_codes)(connection, group[at[0]].manifest, contents)
            for k, outcome in zip(at, done, strict=True):
                outcomes[k] = outcome
    return outcomes


def _drop(connection: Connection | None) -> None:
    if connection is None:
        return
    try:
        connection.invalidate()
        connection.close()
    except (SQLAlchemyError, OSError):
        pass  # it is gone either way


def _tell(group: list[Job], outcomes: list[Any]) -> None:
    """Hand the outcomes to their event loops, one call for each loop."""
    loops: defaultdict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], Any]]] = defaultdict(list)
    for job, outcome in zip(group, outcomes, strict=True):
        loops[job.waiting.get_loop()].append((job.waiting, outcome))
    for loop, pairs in loops.items():
        if not loop.is_closed():
            loop.call_soon_threadsafe(_settle, pairs)


def _settle(pairs: list[tuple["asyncio.Future[Any]", Any]]) -> None:
    for waiting, outcome in pairs:
        if waiting.done():  # the browser went away
            continue
        if isinstance(outcome, Exception):
            waiting.set_exception(outcome)
        else:
            waiting.set_result(outcome)
