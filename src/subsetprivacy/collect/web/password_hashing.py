"""Hash passwords one at a time and at low priority, because a hash takes much processor time and 64 MB.

Strangers share one thread, which has a low priority and rests most of the time. Senders with a secret (of a browser
that has signed in before, a session, an invitation) use another thread. So attempts at passwords delay neither answers
to a survey nor the people who use the studio.

The thread of strangers only hashes. If it did anything else, it would hold the interpreter's lock, and everyone would
wait for a thread with low priority.
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
LONGEST_WAIT = 30.0  # seconds that a stranger waits for a turn before the server refuses
MOST_STRANGERS, MOST_KNOWN = 256, 16  # waiting at once
MOST_OF_ONE = 2  # known senders waiting for one account, so that no one locks the others out
MOST_DELAYED = 1024  # strangers who are refused after a delay
DELAY_SECONDS = 4.0  # so that repeated attempts take little processor time
# The priority of a thread, as for the command `nice`. Strangers get little of a busy processor.
_BEHIND, _USUAL = 10, 0
# A hash uses memory bandwidth, and at its end the interpreter's lock, so the thread rests most of the time.
_REST = 6.0
LONGEST_REST = 1.5  # seconds
_COME_AGAIN = {"Retry-After": "5"}


class HashingLane:
    """One thread with a queue of limited length.

    Parameters
    ----------
    nice
        The priority of the thread, from 0 to 19, as for the command `nice`.
    most
        The most that may wait.
    seconds
        How long they may wait, if there is a limit.
    rest
        How long the thread rests after some work, as a multiple of the time it worked.
    """

    def __init__(self, nice: int, most: int, seconds: float | None = None, rest: float = 0.0) -> None:
        self._pool = ThreadPoolExecutor(1, "passwords", partial(_lower_priority, nice))
        self._most = most
        self._seconds = seconds
        self._rest = rest
        self._rests_until = 0.0
        self._waiting = 0

    @property
    def is_full(self) -> bool:
        """Whether no one else may wait."""
        return self._waiting >= self._most

    async def run(self, work: Callable[..., T], *arguments: Any) -> T:
        """Run a function in the thread."""
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
    """All password hashing, with a lane for strangers and one for known senders."""

    def __init__(self) -> None:
        self._strangers = HashingLane(_BEHIND, MOST_STRANGERS, LONGEST_WAIT, _REST)
        self._known = HashingLane(_USUAL, MOST_KNOWN)
        self._waiting_for: Counter[str] = Counter()
        self._slowed = self._delayed = 0

    @property
    def is_overloaded(self) -> bool:
        """Whether so many strangers wait that others are refused."""
        return self._strangers.is_full

    async def run(self, work: Callable[..., T], *arguments: Any, known: str = "") -> T:
        """Run a function that hashes a password.

        Parameters
        ----------
        known
            The account whose secret the sender has shown, or "" for a stranger.
        """
        if known:
            return await self._run_known(work, *arguments, account=known)
        if self.is_overloaded:
            await self.delay_refusal()
            raise RefusalError(503, headers=_COME_AGAIN)
        return await self._strangers.run(work, *arguments)

    async def _run_known(self, work: Callable[..., T], *arguments: Any, account: str) -> T:
        if self._waiting_for[account] >= MOST_OF_ONE:
            await self.delay_refusal()
            raise RefusalError(503, headers=_COME_AGAIN)
        self._waiting_for[account] += 1
        try:
            return await self._known.run(work, *arguments)
        finally:
            self._waiting_for[account] -= 1
            self._waiting_for += Counter()  # forget those that are zero

    async def delay_attempt(self, seconds: float, *, known: bool = False) -> None:
        """Delay an attempt. Only a limited number of strangers may wait at once."""
        if known or not seconds:
            await anyio.sleep(seconds)
            return
        if self._slowed >= MOST_STRANGERS:
            await self.delay_refusal()
            raise RefusalError(503, headers=_COME_AGAIN)
        self._slowed += 1
        try:
            await anyio.sleep(seconds)
        finally:
            self._slowed -= 1

    async def delay_refusal(self) -> None:
        """Delay the refusal of a stranger, unless too many wait."""
        if self._delayed < MOST_DELAYED:
            self._delayed += 1
            try:
                await anyio.sleep(DELAY_SECONDS)
            finally:
                self._delayed -= 1

    def stop(self) -> None:
        """Begin nothing more."""
        self._strangers.stop()
        self._known.stop()


def _lower_priority(nice: int) -> None:
    """Lower the priority of this thread and of the threads that it starts."""
    if nice and sys.platform == "linux":  # elsewhere the priority applies to the whole process
        thread = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + nice)
