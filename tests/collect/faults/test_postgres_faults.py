"""PostgreSQL that stops, dies, hangs or throws everybody out, and a network that delays, resets or swallows."""

import contextlib
import os
import signal
import threading
from pathlib import Path

import pytest
from faults import Proxy, go_through
from sqlalchemy import make_url

from subsetprivacy.collect.storage.opening import open_store


@pytest.fixture
def engine(postgres_url):
    made = open_store(postgres_url)
    yield made
    made.dispose()


@pytest.fixture
def proxy(postgres):
    made = Proxy("127.0.0.1", postgres.port)
    yield made
    made.close()


@pytest.fixture
def proxied_url(postgres, postgres_url, proxy):
    """The address of the store through the proxy."""
    direct = make_url(postgres.url(make_url(postgres_url).database, tcp=True))
    return direct.set(port=proxy.port).render_as_string(hide_password=False)


# The fast tests have the harder way to stop, whose connections end without a word.
HOW = {"fast": signal.SIGINT, "immediate": signal.SIGQUIT}
STOPS = [pytest.param(0.5, "fast", marks=pytest.mark.slow), (0.5, "immediate")]
STOPS += [pytest.param(8.0, how, marks=pytest.mark.slow) for how in HOW]


@pytest.mark.parametrize(("seconds", "how"), STOPS)
def test_postgres_is_stopped_and_started(serve, engine, postgres, postgres_url, how, seconds):
    go_through(serve, engine, postgres_url, fault=lambda: postgres.stop(HOW[how]), end=postgres.start, seconds=seconds)


@pytest.mark.slow
@pytest.mark.parametrize("repeat", range(5))
def test_postgres_is_killed(serve, engine, postgres, postgres_url, repeat):
    go_through(
        serve, engine, postgres_url, fault=lambda: postgres.stop(signal.SIGKILL), end=postgres.start, seconds=0.5
    )


@pytest.mark.parametrize("seconds", [0.5, pytest.param(20.0, marks=pytest.mark.slow)])
def test_every_connection_is_thrown_out_again_and_again(serve, engine, postgres, postgres_url, seconds):
    stopped = threading.Event()
    name = make_url(postgres_url).database
    everybody = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"

    def storm():
        while not stopped.wait(0.03):
            postgres.execute(everybody)

    thread = threading.Thread(target=storm, daemon=True)

    def end():
        stopped.set()
        thread.join()

    go_through(serve, engine, postgres_url, fault=thread.start, end=end, seconds=seconds, mode="open")


@pytest.mark.parametrize(
    ("mode", "seconds"),
    [
        ("drop", 0.2),
        pytest.param("hold", 1.0, marks=pytest.mark.slow),  # as a network that is slow, below
        ("lose", 0.2),
        pytest.param("drop", 10.0, marks=pytest.mark.slow),
        pytest.param("hold", 10.0, marks=pytest.mark.slow),
        pytest.param("lose", 10.0, marks=pytest.mark.slow),
    ],
)
def test_the_network_fails(serve, engine, proxy, proxied_url, mode, seconds):
    """Connections are reset; or nothing goes through for a time; or what was connected stays silent for ever."""
    go_through(
        serve,
        engine,
        proxied_url,
        fault=lambda: proxy.do(mode),
        end=lambda: proxy.do("pass"),
        seconds=seconds,
        refusals={"drop": True, "hold": seconds > 6, "lose": "later"}[mode],
    )


@pytest.mark.parametrize(("delay", "seconds"), [(0.03, 0.3), pytest.param(0.3, 20.0, marks=pytest.mark.slow)])
def test_the_network_is_slow(serve, engine, proxy, proxied_url, delay, seconds):
    go_through(
        serve,
        engine,
        proxied_url,
        fault=lambda: proxy.do("pass", delay),
        end=lambda: proxy.do("pass"),
        seconds=seconds,
        refusals=False,
    )


def family(parent):
    """Return a process and its children."""
    found = [parent]
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if folder.name.isdigit() and int((folder / "stat").read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(folder.name))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [2.0, 10.0])
def test_postgres_hangs(serve, engine, postgres, postgres_url, seconds):
    """All of its processes stand still: whoever connects is neither let in nor refused."""

    def send(number):
        for pid in family(postgres.process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    try:
        go_through(
            serve,
            engine,
            postgres_url,
            fault=lambda: send(signal.SIGSTOP),
            end=lambda: send(signal.SIGCONT),
            seconds=seconds,
            refusals=seconds > 6,
        )
    finally:
        send(signal.SIGCONT)
