"""Hashing passwords, which takes much of the processor and 64 MB: one at a time, behind everything else.

Strangers have one thread, which runs behind the others and rests most of the time. Whoever has shown a
secret (that of a browser which has signed in before, a session, an invitation) has another. So those who try passwords
delay neither answers to a survey nor the people who belong here.

The thread of strangers does nothing but hash. While it did anything else it would hold the interpreter's lock, and
everybody would wait for a thread that runs behind everybody.
"""

import asyncio
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import monotonic, sleep
from typing import Any, TypeVar

import anyio

from subsetprivacy.collect.web.refusals import RefusalError

T = TypeVar("T")
LONGEST_WAIT = 30.0  # seconds for the turn of a stranger, who is then told to come again
MOST_STRANGERS, MOST_KNOWN = 256, 16  # who wait at once
MOST_OF_ONE = 2  # who wait for one account, of those who are known: no one keeps the others out
MOST_HELD = 1024  # strangers who are turned away, but not at once
HOLD_SECONDS = 4.0  # so that asking again and again takes little of the processor
# How far behind others a thread runs, as of the command `nice`: strangers get little of a busy processor.
_BEHIND, _USUAL = 10, 0
# A hash takes the memory's time from others, and at its end the interpreter's lock: most of the time there is none.
_REST = 6.0
LONGEST_REST = 1.5  # seconds
_COME_AGAIN = {"Retry-After": "5"}


class HashingLane:
    """One thread, before which a limited number waits, one after the other.

    Parameters
    ----------
    nice
        How far behind others it runs, from 0 to 19.
    most
        How many wait at most.
    seconds
        For how long, where there is a limit.
    rest
        How many times as long as it worked the thread rests before it works again.
    """

    def __init__(self, nice: int, most: int, seconds: float | None = None, rest: float = 0.0) -> None:
        self._pool = ThreadPoolExecutor(1, "passwords", partial(_step_back, nice))
        self._most = most
        self._seconds = seconds
        self._rest = rest
        self._rests_until = 0.0
        self._waiting = 0

    @property
    def is_full(self) -> bool:
        """Whether nobody more may wait."""
        return self._waiting >= self._most

    async def run(self, work: Callable[..., T], *arguments: Any) -> T:
        """Do something in the thread."""
        if self.is_full:
            raise RefusalError(503, headers=_COME_AGAIN)
        self._waiting += 1
        try:
            async with asyncio.timeout(self._seconds):
                return await asyncio.get_running_loop().run_in_executor(
                    self._pool, partial(self._work, work, *arguments)
                )
        except TimeoutError:
            raise RefusalError(503, headers=_COME_AGAIN) from None
        finally:
            self._waiting -= 1

    def _work(self, work: Callable[..., T], *arguments: Any) -> T:
        sleep(max(0.0, self._rests_until - monotonic()))
        begun = monotonic()
        try:
            return work(*arguments)
        finally:
            ended = monotonic()
            self._rests_until = ended + min(self._rest * (ended - begun), LONGEST_REST)

    def stop(self) -> None:
        """Begin nothing more."""
        self._pool.shutdown(wait=False, cancel_futures=True)


class Hashing:
    """Everything that hashes passwords, with a lane for strangers and one for whoever is known."""

    def __init__(self) -> None:
        self._strangers = HashingLane(_BEHIND, MOST_STRANGERS, LONGEST_WAIT, _REST)
        self._known = HashingLane(_USUAL, MOST_KNOWN)
        self._waiting_for: Counter[str] = Counter()
        self._slowed = self._held = 0

    @property
    def is_besieged(self) -> bool:
        """Whether so many strangers wait that others are turned away."""
        return self._strangers.is_full

    async def run(self, work: Callable[..., T], *arguments: Any, known: str = "") -> T:
        """Run a function that hashes a password.

        Parameters
        ----------
        known
            The account of which a secret was shown that strangers do not have; "" where none was.
        """
        if known:
            return await self._run_known(work, *arguments, account=known)
        if self.is_besieged:
            await self.hold()
            raise RefusalError(503, headers=_COME_AGAIN)
        return await self._strangers.run(work, *arguments)

    async def _run_known(self, work: Callable[..., T], *arguments: Any, account: str) -> T:
        if self._waiting_for[account] >= MOST_OF_ONE:
            await self.hold()
            raise RefusalError(503, headers=_COME_AGAIN)
        self._waiting_for[account] += 1
        try:
            return await self._known.run(work, *arguments)
        finally:
            self._waiting_for[account] -= 1
            self._waiting_for += Counter()  # forget those that are zero

    async def slow(self, seconds: float, *, known: bool = False) -> None:
        """Let somebody wait before a try; of strangers, only so many at once."""
        if known or not seconds:
            await anyio.sleep(seconds)
            return
        if self._slowed >= MOST_STRANGERS:
            await self.hold()
            raise RefusalError(503, headers=_COME_AGAIN)
        self._slowed += 1
        try:
            await anyio.sleep(seconds)
        finally:
            self._slowed -= 1

    async def hold(self) -> None:
        """Let a stranger who is turned away wait for that, unless too many do."""
        if self._held < MOST_HELD:
            self._held += 1
            try:
                await anyio.sleep(HOLD_SECONDS)
            finally:
                self._held -= 1

    def stop(self) -> None:
        """Begin nothing more."""
        self._strangers.stop()
        self._known.stop()


def _step_back(nice: int) -> None:
    """Let others go before this thread; the threads that it starts inherit that."""
    if nice and sys.platform == "linux":  # elsewhere a priority is that of the whole process
        thread = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + nice)
