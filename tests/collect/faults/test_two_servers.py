"""Two servers on one store: on a file the second is turned away, on PostgreSQL both count as one."""

import asyncio
import time

import pytest
from faults import PATIENCE, Crowd, assert_counted_once, books, publish

from subsetprivacy.collect.storage.opening import open_store


def test_a_second_server_on_a_file_is_turned_away(serve, servers, sqlite_url):
    first = serve(sqlite_url)
    file = sqlite_url.removeprefix("sqlite:///")
    _, output = servers.fork("serve", "--db", file, "--port", "0")
    deadline = time.monotonic() + PATIENCE
    while "one server at a time" not in output.read_text():
        assert time.monotonic() < deadline, output.read_text()
        time.sleep(0.01)
    assert first.is_running()
    assert "Studio" not in output.read_text()
    first.kill()
    assert serve(sqlite_url).is_running()  # a server that was killed is in nobody's way


def run_two(serve, url, seconds, people, *, kills=0, releases=1):
    engine = open_store(url)
    manifest, codes = publish(engine, codes=int(3000 * seconds))
    half = len(codes) // 2
    pair = [serve(url), serve(url)]
    crowds = [Crowd(manifest, codes[:half]), Crowd(manifest, codes[half:])]

    async def watch():
        for _ in range(kills):
            await asyncio.sleep(seconds / (kills + 1))
            pair[0].kill()
            await asyncio.to_thread(pair[0].start)
        await asyncio.sleep(seconds / (kills + 1))
        while len((await asyncio.to_thread(books, engine, manifest)).releases) < releases:
            await asyncio.sleep(0.05)

    async def both():
        ended = asyncio.create_task(watch())
        await asyncio.gather(*(crowd.answer(server.port, people, wait(ended)) for crowd, server in zip(crowds, pair)))

    async def wait(task):
        await asyncio.wait([task])

    asyncio.run(asyncio.wait_for(both(), PATIENCE + 10 * seconds))
    for server in pair:
        server.stop()
    assert all(crowd.acknowledged for crowd in crowds)
    held = assert_counted_once(engine, manifest, [body for crowd in crowds for body in crowd.acknowledged])
    engine.dispose()
    return held.releases, crowds


def test_two_servers_on_postgres(serve, postgres_url):
    held, _ = run_two(serve, postgres_url, 0.2, 8)
    assert held


@pytest.mark.slow
def test_two_servers_on_postgres_of_which_one_is_killed(serve, postgres_url, capsys):
    held, crowds = run_two(serve, postgres_url, 30.0, 32, kills=20, releases=11)
    assert len(held) > 10
    with capsys.disabled():
        print(f"\ntwo servers, 20 kills: {sum(len(one.acknowledged) for one in crowds)} acknowledged, 0 lost, 0 twice")
