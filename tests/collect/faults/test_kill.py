"""kill -9 while people answer: all that was acknowledged is counted, and nothing twice."""

import asyncio
import random
import signal

import pytest
from faults import FEWEST, PATIENCE, Crowd, assert_counted_once, books, publish

from subsetprivacy.collect.storage.opening import open_store

LIFE_ANSWERS, LIFE_SECONDS = 60, 0.02  # of a server: at most so many answers, and so long after these


async def more_answers(crowd, number):
    """Wait until so many more are acknowledged."""
    wanted = len(crowd.acknowledged) + number
    while len(crowd.acknowledged) < wanted:
        await asyncio.sleep(0.001)


def kill_repeatedly(serve, url, *, kills, people, codes, also=None, unsaid=False, within=PATIENCE):
    """Kill a server that people answer to, again and again, and compare its books with what was acknowledged.

    With `unsaid` until somebody was counted whose server died before it could say so, too.
    """
    engine = open_store(url)
    manifest, made = publish(engine, codes=codes)
    server, crowd = serve(url), Crowd(manifest, made)

    async def kill():
        killed = 0
        while killed < kills or (unsaid and not crowd.counted_before):
            await more_answers(crowd, random.randint(1, LIFE_ANSWERS))  # one at least: they are connected when it dies
            await asyncio.sleep(random.uniform(0, LIFE_SECONDS))
            server.kill()
            if also is not None:
                await asyncio.to_thread(also, killed)
            await asyncio.to_thread(server.start)
            killed += 1
        while len(crowd.acknowledged) < 3 * FEWEST or not (await asyncio.to_thread(books, engine, manifest)).releases:
            await asyncio.sleep(0.05)

    asyncio.run(asyncio.wait_for(crowd.answer(server.port, people, kill()), within))
    server.stop()
    assert crowd.lost >= kills  # they were interrupted while they waited for an answer
    assert_counted_once(engine, manifest, crowd.acknowledged)
    engine.dispose()
    return crowd


def test_two_kills(serve, store_url):
    kill_repeatedly(serve, store_url, kills=2, people=16, codes=1000)


@pytest.mark.slow
@pytest.mark.parametrize("people", [16, 64])
def test_fifty_kills(serve, store_url, people, capsys):
    crowd = kill_repeatedly(serve, store_url, kills=50, people=people, codes=20_000, unsaid=True, within=900)
    assert crowd.counted_before  # some were counted, and died before they could say so
    with capsys.disabled():
        print(
            f"\n50 kills, {people} connections: {len(crowd.acknowledged)} acknowledged, 0 lost, 0 twice; "
            f"{crowd.lost} replies lost, {crowd.counted_before} of them counted before"
        )


@pytest.mark.slow
def test_postgres_is_killed_too(serve, postgres, postgres_url, capsys):
    """SIGKILL to the postmaster, whose children end without a word, and a start that recovers from the log."""

    def kill_postgres(k):
        if k % 2:
            postgres.stop(signal.SIGKILL)
            postgres.start()

    crowd = kill_repeatedly(serve, postgres_url, kills=20, people=32, codes=20_000, also=kill_postgres, within=900)
    with capsys.disabled():
        print(f"\n20 kills, 10 of PostgreSQL too: {len(crowd.acknowledged)} acknowledged, 0 lost, 0 twice")


def test_a_server_that_is_stopped_answers_first(serve, sqlite_url):
    """SIGTERM is no fault: nobody's request that was begun stays without its answer."""
    engine = open_store(sqlite_url)
    manifest, made = publish(engine, codes=2000)
    server, crowd = serve(sqlite_url), Crowd(manifest, made)

    async def stop():
        await more_answers(crowd, 3 * FEWEST)
        await asyncio.to_thread(server.stop)
        await asyncio.to_thread(server.start)
        await more_answers(crowd, FEWEST)

    asyncio.run(asyncio.wait_for(crowd.answer(server.port, 16, stop()), PATIENCE))
    server.stop()
    assert crowd.counted_before == 0
    assert "Traceback" not in server.said()
    assert_counted_once(engine, manifest, crowd.acknowledged)
    engine.dispose()
