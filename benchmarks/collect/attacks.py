"""Measure what the server takes, and what respondents still get, while strangers attack it over loopback.

Run it with ``make bench-collect`` or ``python benchmarks/collect/attacks.py [--only NAME] [--readers N] [--people N]``.
`subsetprivacy serve` runs as it is installed, on SQLite. Each attack has a server of its own:

- *readers*: thousands of connections ask for many files or pages at once, and read nothing;
- *bodies*: hundreds of strangers send bodies of a megabyte to the studio;
- *lines*: broken requests of every kind, to a server whose database is broken; its lines on standard error are counted;
- *heads*: requests whose head is as long as it may be and hard to read, next to plain ones;
- *sign-ins*: strangers try passwords while people submit, and while the owner signs in from a known browser.

Nothing fails if a figure is missed; submissions that are refused do.
"""

import argparse
import asyncio
import http.client
import os
import re
import resource
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from types import MappingProxyType
from urllib.parse import urlencode

from attrs import define, field
from driving import Drive, drive
from people import People
from serving import Server
from sqlalchemy import Engine

from subsetprivacy.collect.service import accounts
from subsetprivacy.collect.storage.opening import open_store

OWNER, PASSWORD = "olga", "correct horse battery staple"
CONNECTIONS = 64
FORM = "application/x-www-form-urlencoded"


@define
class Attacked:
    """A server to attack, its database, and what it writes to standard error."""

    server: Server
    database: Path
    stderr: Path

    @property
    def port(self) -> int:
        """Where it listens."""
        return self.server.port

    def megabytes(self) -> float:
        """Return the memory that it takes now."""
        return _kilobytes(self.server.process.pid, "VmRSS") / 1024

    def peak(self) -> float:
        """Return the most memory that it has taken."""
        return _kilobytes(self.server.process.pid, "VmHWM") / 1024

    def lines(self) -> list[str]:
        """Return what it wrote to standard error."""
        return self.stderr.read_text(errors="replace").splitlines()


def _kilobytes(pid: int, key: str) -> int:
    found = re.search(rf"{key}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1])


@contextmanager
def attacked() -> Iterator[Attacked]:
    """Start a server with an owner, and stop it."""
    with TemporaryDirectory(prefix="sp-attacks-") as folder:
        database, errors = Path(folder) / "attacks.db", Path(folder) / "stderr"
        engine = open_store(f"sqlite:///{database}")
        accounts.set_up(engine, OWNER, PASSWORD)
        engine.dispose()
        with errors.open("w") as stderr:
            command = [sys.executable, "-m", "subsetprivacy", "serve", "--db", str(database), "--port", "0"]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True)
        assert process.stdout is not None
        ports = (re.match(r"Studio\s+http://127\.0\.0\.1:(\d+)/", line) for line in process.stdout)
        server = Server(process, int(next(found for found in ports if found)[1]))
        try:
            yield Attacked(server, database, errors)
        finally:
            server.stop()


# Readers that never read ------------------------------------------------------------------------


def readers(number: int) -> list[str]:
    """Return what memory so many connections take that ask and never read."""
    with attacked() as target:
        page = _get(target.port, "/s/" + "a" * 26).decode()
        files = re.findall(r'"(/static/respond/[^" ]+\.js)"', page)
        script, page = (f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode() for path in (files[0], "/studio/sign-in"))
        requests = (script * 8, script * 40, page * 60)
        before = target.megabytes()
        opened, closed = [], 0
        try:
            for k in range(number):
                one = socket.socket()
                one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
                one.connect(("127.0.0.1", target.port))
                one.setblocking(False)
                _send(one, requests[k % 3])
                opened.append(one)
                if k % 500 == 499:
                    time.sleep(0.5)
            most = _watch(target, 15.0)
            answered = _time(lambda: _get(target.port, "/s/" + "a" * 26))
            time.sleep(35.0)
            later = target.megabytes()
            closed = sum(_is_closed(one) for one in opened)
        finally:
            for one in opened:
                one.close()
        return [
            f"{number} readers that never read: {before:.0f} MB before, {most:.0f} MB at most, {later:.0f} MB after "
            f"50 s, when {closed} of them were closed; meanwhile a page took {answered:.1f} s"
        ]


def _send(connection: socket.socket, request: bytes) -> None:
    with suppress(OSError):  # the other side may have ended it
        connection.send(request)


def _is_closed(one: socket.socket) -> bool:
    try:
        one.send(b"G")
        time.sleep(0)
        one.send(b"E")
    except BlockingIOError:
        return False
    except OSError:
        return True
    return False


def _watch(target: Attacked, seconds: float) -> float:
    until, most = time.monotonic() + seconds, 0.0
    while time.monotonic() < until:
        most = max(most, target.megabytes())
        time.sleep(0.2)
    return max(most, target.peak())


# Bodies of strangers ----------------------------------------------------------------------------


def bodies(number: int) -> list[str]:
    """Return what memory a megabyte each from so many strangers takes."""
    with attacked() as target:
        _get(target.port, "/studio/sign-in")
        before = target.megabytes()
        asyncio.run(_send_bodies(target.port, number))
        most = target.peak()
        time.sleep(5.0)
        return [
            f"{number} bodies of 1 MB by strangers: {before:.0f} MB before, {most:.0f} MB at most, "
            f"{target.megabytes():.0f} MB after"
        ]


async def _send_bodies(port: int, number: int) -> None:
    body = b"text=" + b"x" * (1024 * 1024 - 5)
    head = (
        f"POST /studio/drafts/aaaaaaaaaaaaaaaa/file HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        f"Sec-Fetch-Site: same-origin\r\nContent-Type: {FORM}\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode()

    async def send() -> None:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(head + body[:-1])  # all but the end, so that all of them are there at once
            await asyncio.sleep(5.0)
            writer.write(body[-1:])
            await asyncio.wait_for(reader.read(1000), 30)
            writer.close()
        except (OSError, TimeoutError):
            return  # the server has ended it

    await asyncio.gather(*(send() for _ in range(number)))


# Lines on standard error ------------------------------------------------------------------------


def lines(number: int) -> list[str]:
    """Return how many lines the server wrote under broken requests, each of which fails in the database, too."""
    with attacked() as target:
        for file in target.database.parent.glob("attacks.db*"):
            file.write_bytes(b"no database" * 1000)
        asyncio.run(_break(target.port, number))
        time.sleep(2.0)
        written = target.lines()
        kinds = sorted({re.sub(r"\d+", "N", line) for line in written})
        return [f"{7 * number} broken requests: {len(written)} lines on standard error", *kinds[:8]]


async def _break(port: int, number: int) -> None:
    host = f"Host: 127.0.0.1:{port}\r\nSec-Fetch-Site: same-origin\r\n"
    form = f"name=x&password={'y' * 20}".encode()
    kinds = [
        b"\x16\x03\x01 no http at all\r\n\r\n",
        f"GET /s/%00/manifest HTTP/1.1\r\n{host}\r\n".encode(),
        f"GET /studio HTTP/1.1\r\n{host}Cookie: studio_session_{port}=\xff\xfe\r\n\r\n".encode("latin-1"),
        f"GET /studio/sign-in?\x80 HTTP/1.1\r\n{host}\r\n".encode("latin-1"),
        f"GET / HTTP/1.1\r\n{host}Connection: upgrade\r\nUpgrade: websocket\r\n\r\n".encode(),
        f"POST /studio/sign-in HTTP/1.1\r\n{host}Content-Type: {FORM}\r\nContent-Length: 99\r\n\r\nname=".encode(),
        f"POST /studio/sign-in HTTP/1.1\r\n{host}Content-Type: {FORM}\r\nContent-Length: {len(form)}\r\n\r\n".encode()
        + form,
    ]
    gate = asyncio.Semaphore(200)

    async def send(kind: bytes) -> None:
        async with gate:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(kind)
                await asyncio.wait_for(reader.read(100), 0.2)
                writer.transport.abort()
            except (OSError, TimeoutError):
                return  # the server has ended it

    await asyncio.gather(*(send(kinds[k % len(kinds)]) for k in range(number * len(kinds))))


# Heads that are hard to read --------------------------------------------------------------------

_BACKSLASHES = "\\" * 15_000
HEADS = {
    "a cookie of backslashes": ("/s/x", {"Cookie": f'x="{_BACKSLASHES}"'}),
    "one with a name of ours": ("/studio", {"Cookie": f'studio_session="{_BACKSLASHES}"'}),
    "thousands of cookies": ("/studio", {"Cookie": "a=b;" * 3800}),
    "a long query": (f"/s/x?{'a&' * 7500}", {}),
    "a long path": (f"/s/{'%2f' * 5000}", {}),
    "many lines": ("/studio", {f"x{k}": "y" * 100 for k in range(90)}),
}


def heads(number: int) -> list[str]:
    """Send each of the heads, and plain ones, and tell what they take of the processor."""
    with attacked() as target:

        def milliseconds(path: str, headers: Mapping[str, str]) -> float:
            before = target.server.cpu_seconds()
            for _ in range(number):
                _get(target.port, path, headers)
            return (target.server.cpu_seconds() - before) / number * 1e3

        milliseconds("/studio", {})
        plain = milliseconds("/studio", {})
        taken = {name: milliseconds(*head) for name, head in HEADS.items()}
    each = ", ".join(f"{name} {cost:.1f}" for name, cost in taken.items())
    return [f"Processor of a request in ms: a plain one {plain:.1f}, {each}"]


# A flood of sign-ins ----------------------------------------------------------------------------


@define
class Flood:
    """Connections that try passwords, each as soon as the last try is answered, in a process of their own."""

    port: int
    connections: int
    process: "subprocess.Popen[str] | None" = field(init=False, default=None)

    def __enter__(self) -> "Flood":
        command = [sys.executable, __file__, "--flood", str(self.port), "--readers", str(self.connections)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        time.sleep(3.0)
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process is not None
        self.process.terminate()
        self.process.wait(10)


async def _flood(port: int, connections: int) -> None:
    async def attempt(k: int) -> None:
        number = 0
        while True:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                while True:
                    number += 1
                    form = urlencode({"name": f"name{k}x{number}", "password": "not the password"}).encode()
                    writer.write(
                        f"POST /studio/sign-in HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nSec-Fetch-Site: same-origin\r\n"
                        f"Content-Type: {FORM}\r\nContent-Length: {len(form)}\r\n\r\n".encode()
                        + form
                    )
                    head = await reader.readuntil(b"\r\n\r\n")
                    length = re.search(rb"content-length: (\d+)", head.lower())
                    await reader.readexactly(int(length[1]) if length else 0)
            except (OSError, asyncio.IncompleteReadError):
                await asyncio.sleep(0.01)

    await asyncio.gather(*(attempt(k) for k in range(connections)))


def sign_ins(people: int, rounds: int) -> list[str]:
    """Return the submissions a second alone and under a flood of sign-ins, and how long the owner's sign-in takes."""
    with attacked() as target:
        engine = open_store(f"sqlite:///{target.database}")
        browser = _sign_in(target.port, None)[1]
        made = [_sign_in_round(target, engine, people, browser) for _ in range(rounds)]
        engine.dispose()
        alone, under, quiet, known, new = zip(*made, strict=True)
        ratios = [b / a for a, b in zip(alone, under, strict=True)]
        return [
            f"Submissions alone {median(alone):.0f} /s, under {CONNECTIONS} connections that try passwords "
            f"{median(under):.0f} /s; ratio {median(ratios):.2f} (rounds: {', '.join(f'{r:.2f}' for r in ratios)})",
            f"The owner, in a known browser: {median(quiet):.2f} s alone, {median(known):.2f} s at most under the "
            f"flood and the submissions; in a new browser, under the flood alone, {median(new):.2f} s",
            f"{len(target.lines())} lines on standard error",
        ]


def _sign_in_round(target: Attacked, engine: Engine, people: int, browser: str) -> tuple[float, ...]:
    alone = _drive(target, _submissions(target, engine, people)).rate
    quiet = _sign_in(target.port, browser)[0]
    submissions = _submissions(target, engine, people)
    known, stop = [], threading.Event()

    def come_back() -> None:
        while not stop.is_set():
            known.append(_sign_in(target.port, browser)[0])
            stop.wait(0.5)

    thread = threading.Thread(target=come_back)
    with Flood(target.port, CONNECTIONS):
        thread.start()
        under = _drive(target, submissions).rate
        stop.set()
        thread.join()
        return alone, under, quiet, max(known), _sign_in(target.port, None)[0]


def _submissions(target: Attacked, engine: Engine, number: int) -> list[bytes]:
    people = People.invite(engine, number, 1)
    return people.submissions(drive([target.port], people.locks(), CONNECTIONS).bodies)


def _drive(target: Attacked, submissions: list[bytes]) -> Drive:
    done = drive([target.port], submissions, CONNECTIONS)
    if set(done.statuses) != {201}:
        raise SystemExit(f"not all submissions were counted: {dict(done.statuses)}")
    return done


def _sign_in(port: int, browser: str | None) -> tuple[float, str]:
    """Sign the owner in, again and again while the server is busy; return the seconds and the browser's cookie."""
    begun = time.perf_counter()
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        headers = {"Content-Type": FORM, "Sec-Fetch-Site": "same-origin"}
        if browser is not None:
            headers["Cookie"] = browser
        connection.request("POST", "/studio/sign-in", urlencode({"name": OWNER, "password": PASSWORD}), headers)
        answer = connection.getresponse()
        answer.read()
        cookies = [value for name, value in answer.getheaders() if name.lower() == "set-cookie" and "_browser" in value]
        connection.close()
        if answer.status == 303:
            return time.perf_counter() - begun, cookies[0].partition(";")[0]
        if time.perf_counter() - begun > 120:
            return time.perf_counter() - begun, browser or ""
        time.sleep(0.5)


def _get(port: int, path: str, headers: Mapping[str, str] = MappingProxyType({})) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        connection.request("GET", path, headers=headers)
        return connection.getresponse().read()
    finally:
        connection.close()


def _time(act: Callable[[], object]) -> float:
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


def main() -> None:
    """Run the attacks and print what came of each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--readers", type=int, default=8000, help="connections that never read")
    parser.add_argument("--bodies", type=int, default=450, help="bodies of a megabyte")
    parser.add_argument("--broken", type=int, default=1000, help="broken requests of each kind")
    parser.add_argument("--people", type=int, default=10_000, help="submissions in a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=["readers", "bodies", "lines", "heads", "sign-ins"])
    parser.add_argument("--flood", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.flood:
        asyncio.run(_flood(chosen.flood, chosen.readers))
        return
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    attacks = {
        "readers": lambda: readers(chosen.readers),
        "bodies": lambda: bodies(chosen.bodies),
        "lines": lambda: lines(chosen.broken),
        "heads": lambda: heads(100),
        "sign-ins": lambda: sign_ins(chosen.people, chosen.rounds),
    }
    for name, attack in attacks.items():
        if chosen.only in {None, name}:
            print("\n".join(attack()), flush=True)
    print(f"Load of the machine over the last minute: {os.getloadavg()[0]:.1f}", flush=True)


if __name__ == "__main__":
    main()
