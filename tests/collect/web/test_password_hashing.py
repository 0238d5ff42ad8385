"""Hashing passwords: one at a time, behind everything else, and whoever is known does not wait for strangers."""

import os
import sys
import threading
from functools import partial

import anyio
import pytest

from subsetprivacy.collect.web import password_hashing
from subsetprivacy.collect.web.password_hashing import MOST_OF_ONE, Hashing, HashingLane
from subsetprivacy.collect.web.refusals import RefusalError

PATIENCE = 60  # seconds, for a busy machine; nothing takes that long


@pytest.fixture
def held():
    made = Hashing()
    made._strangers._seconds = None  # on a busy machine some would wait too long; a test of its own is about that
    yield made
    made.stop()


def test_strangers_are_hashed_one_at_a_time_in_their_order_and_a_flood_is_turned_away(held, monkeypatch):
    monkeypatch.setattr(password_hashing, "DELAY_SECONDS", 0)
    monkeypatch.setattr(held._strangers, "_rest", 0.0)
    now, most, order, turned_away = [0], [0], [], []
    all_there = threading.Event()

    def work(k):
        all_there.wait(PATIENCE)
        now[0] += 1
        most[0] = max(most[0], now[0])
        threading.Event().wait(0.0005)  # others could begin now
        order.append(k)
        now[0] -= 1

    async def attempt(k):
        try:
            await held.run(work, k)
        except RefusalError as refused:
            turned_away.append((refused.status_code, refused.headers["Retry-After"]))

    async def flood():
        async with anyio.create_task_group() as group:
            for k in range(password_hashing.MOST_STRANGERS + 44):
                group.start_soon(attempt, k)
            await anyio.wait_all_tasks_blocked()
            was_overloaded = held.is_overloaded
            all_there.set()
        assert was_overloaded
        assert not held.is_overloaded

    anyio.run(flood)
    assert most == [1]
    assert order == sorted(order)
    assert len(order) == password_hashing.MOST_STRANGERS
    assert turned_away == [(503, "5")] * 44


def test_a_flood_of_strangers_leaves_a_place_for_whoever_is_known(held, monkeypatch):
    monkeypatch.setattr(held._strangers, "_rest", 0.0)
    inside, over = threading.Semaphore(0), threading.Event()
    ended = []

    def hash_until_it_is_over():
        inside.release()
        ended.append(over.wait(PATIENCE))

    async def known():
        await anyio.to_thread.run_sync(inside.acquire)  # until the flood has taken its place
        await held.run(lambda: None, known="anna")
        over.set()

    async def flood():
        async with anyio.create_task_group() as group:
            for _ in range(60):
                group.start_soon(held.run, hash_until_it_is_over)
            group.start_soon(known)

    anyio.run(flood)
    assert ended == [True] * 60  # whoever is known ended them, and did not wait until they gave up


def test_one_account_does_not_keep_the_others_out(held, monkeypatch):
    """Someone who knows a password can sign in again and again; whoever has another account is still let in."""
    monkeypatch.setattr(password_hashing, "DELAY_SECONDS", 0.0)
    over, turned_away, ended = threading.Event(), [], []

    async def again():
        try:
            ended.append(await held.run(over.wait, PATIENCE, known="anna"))
        except RefusalError as refused:
            turned_away.append(refused.status_code)

    async def other():
        with anyio.fail_after(PATIENCE):
            while len(turned_away) < 40 - MOST_OF_ONE:
                await anyio.sleep(0.001)
        async with anyio.create_task_group() as group:
            group.start_soon(partial(held.run, lambda: None, known="bert"))
            over.set()

    async def all_of_them():
        async with anyio.create_task_group() as group:
            for _ in range(40):
                group.start_soon(again)
            group.start_soon(other)

    anyio.run(all_of_them)
    assert ended == [True] * MOST_OF_ONE
    assert turned_away == [503] * (40 - MOST_OF_ONE)
    assert not held._waiting_for


@pytest.mark.skipif(sys.platform != "linux", reason="only there a thread has a priority")
def test_strangers_run_behind_everything_else(held):
    def priority():
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    async def both():
        return await held.run(priority), await held.run(priority, known="anna")

    usual = priority()
    assert anyio.run(both) == (min(usual + 10, 19), usual)
    assert priority() == usual


def test_the_thread_of_strangers_rests_most_of_the_time(held, monkeypatch):
    now, slept = [100.0], []

    def sleep(seconds):
        slept.append(round(seconds, 6))
        now[0] += seconds

    def work(seconds):
        now[0] += seconds

    monkeypatch.setattr(password_hashing, "monotonic", lambda: now[0])
    monkeypatch.setattr(password_hashing, "sleep", sleep)
    for seconds in (0.1, 0.2, 10.0, 0.1):
        held._strangers._work(work, seconds)
    assert slept == [0.0, 0.6, 1.2, password_hashing.LONGEST_REST]  # the first need not wait
    now[0] += 100.0
    held._strangers._work(work, 0.1)
    held._known._work(work, 0.1)
    held._known._work(work, 0.1)
    assert slept[4:] == [0.0, 0.0, 0.0]


def test_a_stranger_who_waits_too_long_is_told_to_come_again():
    over = threading.Event()
    lane = HashingLane(0, 5, seconds=0.01)

    async def wait_in_vain():
        with pytest.raises(RefusalError) as refused:
            await lane.run(over.wait, PATIENCE)
        assert refused.value.status_code == 503
        over.set()

    anyio.run(wait_in_vain)
    lane.stop()


def test_few_strangers_are_slowed_at_once_and_known_ones_are_not_counted(held, monkeypatch):
    monkeypatch.setattr(password_hashing, "MOST_STRANGERS", 3)
    monkeypatch.setattr(password_hashing, "DELAY_SECONDS", 0)
    statuses = []

    async def wait(**named):
        try:
            await held.delay_attempt(100.0, **named)
        except RefusalError as refused:
            statuses.append(refused.status_code)

    async def flood():
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(wait)
            for _ in range(5):
                group.start_soon(lambda: wait(known=True))
            await anyio.wait_all_tasks_blocked()
            assert statuses == [503, 503]
            group.cancel_scope.cancel()

    anyio.run(flood)
    assert held._slowed == 0


def test_nobody_is_turned_away_at_once(held, monkeypatch):
    """Whoever comes again and again, by whatever door, is to cost little."""
    monkeypatch.setattr(password_hashing, "MOST_STRANGERS", 0)
    monkeypatch.setattr(held._strangers, "_most", 0)
    waits = []

    async def no_sleep(seconds):
        waits.append(seconds)

    monkeypatch.setattr(anyio, "sleep", no_sleep)

    async def attempt():
        for turn in (lambda: held.run(lambda: None), lambda: held.delay_attempt(1.0)):
            with pytest.raises(RefusalError) as refused:
                await turn()
            assert refused.value.status_code == 503

    anyio.run(attempt)
    assert waits == [password_hashing.DELAY_SECONDS] * 2


def test_few_are_held_before_they_are_turned_away(held, monkeypatch):
    monkeypatch.setattr(password_hashing, "MOST_DELAYED", 3)
    done = []

    async def wait():
        await held.delay_refusal()
        done.append(True)

    async def flood():
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            assert done == [True, True]
            group.cancel_scope.cancel()

    anyio.run(flood)
    assert held._delayed == 0
