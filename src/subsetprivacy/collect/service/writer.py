"""The thread that writes. It commits all waiting jobs at once, so that many wait for a single sync.

Between two groups it releases due batches. A second thread erases their traces from the database files.
"""

import asyncio
import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import nullcontext, suppress
from queue import Empty, SimpleQueue
from typing import Any, TypeVar, cast

from attrs import frozen
from sqlalchemy import Connection, Engine

from subsetprivacy.collect.storage.collecting import LockRequest, lock_codes, record, record_alone
from subsetprivacy.collect.storage.opening import hurry
from subsetprivacy.collect.storage.releasing import release_full
from subsetprivacy.collect.storage.secure_delete import wipe
from subsetprivacy.collect.survey.manifest import Manifest
from subsetprivacy.collect.survey.submission import Submission

MOST_AT_ONCE = 256
MOST_WAITING = 4096
WAIT_SECONDS = 6.0  # no one waits longer for a reply
RELEASE_SECONDS = 1.0
# Rests for this many times as long as the last release or wipe took. No one can be served during a release or wipe, so
# fewer than one request in a hundred waits for it, however large the store is. A blocked wipe is tried again sooner.
_REST = 100
_REST_AFTER_FAILURE = 20
_WIPER = "wiper"
_log = logging.getLogger("subsetprivacy.collect")
Done = TypeVar("Done")


class BusyError(Exception):
    """Nothing can be written now. The caller should try again later."""


@frozen(eq=False)
class Job:
    """Something to write, and the future that waits for the outcome."""

    manifest: Manifest
    content: Submission | LockRequest
    key: bytes | None
    waiting: "asyncio.Future[Any]"


class Writer:
    """A thread that writes jobs in groups and releases what is due, and one that wipes.

    Parameters
    ----------
    store
        The store.
    """

    def __init__(self, store: Engine) -> None:
        self._store = store
        self.engine: Engine = hurry(store)
        self._connection: Connection | None = None
        self._is_failing = False
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._owes_wipe = threading.Event()
        self._stopping = threading.Event()
        # On SQLite only one writes at a time. A writer that finds it locked retries after a pause. This lock has no
        # pauses.
        self._turn = threading.Lock() if store.dialect.name == "sqlite" else nullcontext()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Start both threads. What was due when the service last stopped is released and wiped at once."""
        self._stopping.clear()
        self._owes_wipe.set()
        self._threads = [
            threading.Thread(target=self._write_all, name="writer", daemon=True),
            threading.Thread(target=self._wipe_all, name=_WIPER, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Write what is waiting, then stop.

        A running wipe gets a few seconds. A database that does not respond would delay the stop for an hour, and the
        next start does what was left undone.
        """
        self._stopping.set()
        self._jobs.put(None)
        self._owes_wipe.set()
        for thread in self._threads:
            thread.join(WAIT_SECONDS if thread.name == _WIPER else None)
        self._threads = []

    async def write(self, manifest: Manifest, content: Submission | LockRequest, key: bytes | None = None) -> Any:
        """Wait until something is written and safe on disk, and return its outcome.

        Parameters
        ----------
        manifest, content
            The survey, and what was sent to it.
        key
            The server's key of the study, in code mode.

        Raises
        ------
        BusyError
            If the database does not take it now, or too many are waiting. It may still be written later.
        """
        if self._jobs.qsize() >= MOST_WAITING:
            raise BusyError
        loop = asyncio.get_running_loop()
        waiting: asyncio.Future[Any] = loop.create_future()
        limit = loop.call_later(WAIT_SECONDS, _settle, [(waiting, BusyError())])
        self._jobs.put(Job(manifest, content, key, waiting))
        try:
            return await waiting
        finally:
            limit.cancel()

    # The writing thread -----------------------------------------------------------------------

    def _write_all(self) -> None:
        may_be_due, rests_until = True, 0.0
        while (group := self._take(rests_until if may_be_due else None)) is not None:
            if group:
                self._write(group)
                may_be_due = True
            if may_be_due and time.monotonic() >= rests_until:
                begun = time.monotonic()
                released = self._release()
                may_be_due = released is None
                ended = time.monotonic()
                rests_until = ended + max(RELEASE_SECONDS, _REST * (ended - begun) if released else 0.0)
        self._disconnect()

    def _take(self, until: float | None) -> list[Job] | None:
        """Return all waiting jobs: at least one, or none if that time has come. None at the end."""
        group: list[Job] = []
        try:
            job = self._jobs.get(timeout=None if until is None else max(0.0, until - time.monotonic()))
            while job is not None:
                group.append(job)
                if len(group) == MOST_AT_ONCE:
                    return group
                job = self._jobs.get_nowait()
        except Empty:
            return group
        if group:
            self._jobs.put(None)  # found behind the last jobs: it ends the next round
        return group or None

    def _write(self, group: list[Job]) -> None:
        try:
            outcomes = self._do(lambda connection: _write_group(connection, group))
        except BusyError:  # the whole group is told to come again
            outcomes = [BusyError() for _ in group]
        _deliver(group, outcomes)

    def _release(self) -> bool | None:
        """Release due batches and tell whether there were any. None if the database accepts nothing now."""
        try:
            released = bool(self._do(release_full))
        except BusyError:
            self._owes_wipe.set()  # some surveys may have been released
            return None
        if released:
            self._owes_wipe.set()
        return released

    def _do(self, work: Callable[[Connection], Done]) -> Done:
        """Run some work with the connection. If it fails, close it and all other connections of the store.

        (On SQLite a connection that was made while the file could not be written never writes.)
        """
        try:
            if self._connection is None:
                self._connection = self.engine.connect()
            with self._turn:
                done = work(self._connection)
        except Exception as error:  # any error: a thread that ended would leave everyone waiting
            self._disconnect()
            self._store.dispose()
            self._note(type(error).__name__)
            raise BusyError from None
        self._note(None)
        return done

    def _disconnect(self) -> None:
        if self._connection is not None:
            with suppress(Exception):  # it is gone either way
                self._connection.invalidate()
                self._connection.close()
        self._connection = None

    def _note(self, failure: str | None) -> None:
        if failure is not None and not self._is_failing:
            _log.warning("the database accepts nothing now (%s); the server keeps trying", failure)
        elif failure is None and self._is_failing:
            _log.warning("the database works again")
        self._is_failing = failure is not None

    # The wiping thread ------------------------------------------------------------------------

    def _wipe_all(self) -> None:
        while True:
            self._owes_wipe.wait()
            if self._stopping.is_set():
                return
            self._owes_wipe.clear()
            begun = time.monotonic()
            if self._wipe():
                rest = _REST
            else:
                rest = _REST_AFTER_FAILURE
                self._owes_wipe.set()  # tried again
            self._stopping.wait(max(RELEASE_SECONDS, rest * (time.monotonic() - begun)))

    def _wipe(self) -> bool:
        try:
            with self._turn:  # on PostgreSQL no one waits for it
                return wipe(self._store, seconds=0.0 if self._store.dialect.name == "sqlite" else RELEASE_SECONDS)
        except Exception:
            return False


def _write_group(connection: Connection, group: list[Job]) -> list[Any]:
    """Write a group, survey by survey in the order of their ids, and return the outcomes.

    On SQLite it is one transaction, for one sync. On PostgreSQL each survey has its own: none is kept waiting for
    another, and a transaction holds the row of one survey at most.
    """
    outcomes: list[Any] = [None] * len(group)
    places: defaultdict[tuple[str, bool], list[int]] = defaultdict(list)
    for k, job in enumerate(group):
        places[job.manifest.id, isinstance(job.content, Submission)].append(k)
    with connection.begin() if connection.dialect.name == "sqlite" else nullcontext():
        for (_, counts), at in sorted(places.items()):
            done = (_count if counts else _lock)(connection, [group[k] for k in at])
            for k, outcome in zip(at, done, strict=True):
                outcomes[k] = outcome
    return outcomes


def _count(connection: Connection, jobs: list[Job]) -> list[Any]:
    first, contents = jobs[0], [cast("Submission", job.content) for job in jobs]
    count = record if connection.in_transaction() else record_alone
    return list(count(connection, first.manifest, contents, first.key))


def _lock(connection: Connection, jobs: list[Job]) -> list[Any]:
    first, wishes = jobs[0], [cast("LockRequest", job.content) for job in jobs]
    with nullcontext() if connection.in_transaction() else connection.begin():
        return list(lock_codes(connection, first.manifest, wishes))


def _deliver(group: list[Job], outcomes: list[Any]) -> None:
    """Hand the outcomes to their event loops, one call for each loop."""
    loops: defaultdict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], Any]]] = defaultdict(list)
    for job, outcome in zip(group, outcomes, strict=True):
        loops[job.waiting.get_loop()].append((job.waiting, outcome))
    for loop, pairs in loops.items():
        with suppress(RuntimeError):  # the loop is closed: no one waits there
            loop.call_soon_threadsafe(_settle, pairs)


def _settle(pairs: list[tuple["asyncio.Future[Any]", Any]]) -> None:
    for waiting, outcome in pairs:
        if waiting.done():  # the browser went away, or was told to come again
            continue
        if isinstance(outcome, Exception):
            waiting.set_exception(outcome)
        else:
            waiting.set_result(outcome)
