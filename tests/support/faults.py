"""Servers that are killed, people who do not give up, networks that swallow: what the tests of faults are made of.

`Servers` starts the real `subsetprivacy serve`, many times and quickly: one process imports everything once, and each
server is a fork of it. `Crowd` are people who send the identical request until it is acknowledged. `books` says what a
store counts, `sent` what it should. `Proxy` stands between the server and PostgreSQL.
"""

import asyncio
import atexit
import contextlib
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from attrs import Factory, define, field, frozen
from databases import held_port
from sqlalchemy import select

SURVEY = """
title = "Faults"
mode = "{mode}"
batch = {batch}
links = [{{variables = ["colour", "day"]}}]

[[variables]]
id = "colour"
question = "Which colour?"
options = ["black", "red", "green", "blue", "white"]

[[variables]]
id = "day"
question = "Which day?"
options = ["Monday", "Tuesday", "Wednesday", "Thursday"]

[[variables]]
id = "smokes"
question = "Do you smoke?"
options = ["yes", "no"]
"""
FEWEST = 10  # the smallest batch there is
NOT_YET = {503}  # ask again
PATIENCE = 100  # seconds until a test says that something will never happen, however busy the machine is


# Servers ---------------------------------------------------------------------------------------

_ZYGOTE = """
import os, signal, sys, tempfile
import subsetprivacy.collect.web.app, subsetprivacy.collect.web.serving, subsetprivacy.cli.serve
import subsetprivacy.collect.service.demonstration, psycopg, alembic.runtime.migration, uvloop, httptools
from subsetprivacy.cli.main import main
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
print("ready", flush=True)
for line in sys.stdin:
    output, *arguments = line.rstrip("\\n").split("\\t")
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        opened = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(opened, 1), os.dup2(opened, 2), os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        if arguments[0] == "in":  # a folder of its own
            os.chdir(arguments[1])
            tempfile.tempdir = os.environ["TMPDIR"] = os.path.join(arguments[1], "tmp")
            arguments = arguments[2:]
        if arguments[0] == "run":  # a script of a test, in place of the server
            sys.argv = arguments[1:]
            exec(compile(open(arguments[1]).read(), arguments[1], "exec"), {"__name__": "__main__"})
            os._exit(0)
        main(arguments)
    print(child, flush=True)
"""


class Servers:
    """Starts servers, each a process of its own that has everything imported."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._started = 0
        self._zygote = subprocess.Popen(
            [sys.executable, "-c", _ZYGOTE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._zygote.stdout.readline() == "ready\n"

    def fork(self, *arguments: str) -> "tuple[int, Path]":
        """Start a process and return its number and the file it writes to."""
        self._started += 1
        output = self._folder / f"{self._started}.log"
        output.touch()
        self._zygote.stdin.write("\t".join([str(output), *arguments]) + "\n")
        self._zygote.stdin.flush()
        return int(self._zygote.stdout.readline()), output

    def serve(self, url: str, port: int = 0, folder: Path | None = None) -> "Server":
        """Start a server over a database and wait until it answers; in a folder with a `tmp` of its own, if given."""
        server = Server(self, url.removeprefix("sqlite:///"), port, folder)
        server.start()
        return server

    def end(self) -> None:
        self._zygote.stdin.close()
        self._zygote.stdout.close()
        self._zygote.wait(10)


@define
class Server:
    """One server over one database; started again it has the same port."""

    servers: Servers
    database: str
    port: int = 0
    folder: Path | None = None
    pid: int | None = None
    output: Path | None = None
    held: socket.socket | None = None

    def start(self) -> None:
        if not self.port:
            self.held = held_port()
            self.port = self.held.getsockname()[1]
        place = () if self.folder is None else ("in", str(self.folder))
        self.pid, self.output = self.servers.fork(*place, "serve", "--db", self.database, "--port", str(self.port))
        deadline = time.monotonic() + PATIENCE
        while not re.search(rf"^Studio +http://127\.0\.0\.1:{self.port}/", self.said(), re.MULTILINE):
            assert self.is_running(), self.said()
            assert time.monotonic() < deadline, "the server does not start"
            time.sleep(0.01)

    def said(self) -> str:
        """Return all that it wrote."""
        return self.output.read_text()

    def is_running(self) -> bool:
        if self.pid is None:
            return False
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, 0)
            return True
        return False

    def kill(self) -> None:
        self.end(signal.SIGKILL)

    def stop(self) -> None:
        self.end(signal.SIGTERM)

    def end(self, how: signal.Signals) -> None:
        if not self.is_running():
            return
        os.kill(self.pid, how)
        deadline = time.monotonic() + PATIENCE
        while self.is_running():
            assert time.monotonic() < deadline, "the server does not end"
            time.sleep(0.002)


@cache
def _servers() -> Servers:
    """Return those of this session: one import for all tests, wherever they are."""
    folder = TemporaryDirectory(prefix="sp-servers-")
    made = Servers(Path(folder.name))
    atexit.register(folder.cleanup)
    atexit.register(made.end)
    return made


@pytest.fixture
def servers():
    return _servers()


@pytest.fixture
def serve(servers):
    """Start servers, which are stopped at the end of the test."""
    started = []

    def start(url: str, port: int = 0, folder: Path | None = None) -> Server:
        started.append(servers.serve(url, port, folder))
        return started[-1]

    yield start
    for one in started:
        one.kill()
        if one.held is not None:
            one.held.close()


# People ----------------------------------------------------------------------------------------


class AwayError(Exception):
    """Nobody listens."""


class LostError(Exception):
    """The connection ended after a request was sent and before its answer came."""


@define
class Line:
    """A connection to a server that is made anew whenever it is lost."""

    port: int
    reader: asyncio.StreamReader | None = None
    writer: asyncio.StreamWriter | None = None

    async def post(self, path: str, body: bytes) -> "tuple[int, dict[str, str], bytes]":
        try:
            if self.writer is None:
                self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            raise AwayError from None
        try:
            async with asyncio.timeout(PATIENCE):
                return await self._post(path, body)
        except TimeoutError:
            raise AssertionError("no answer comes") from None
        except (OSError, asyncio.IncompleteReadError):
            self.close()
            raise LostError from None

    async def _post(self, path: str, body: bytes) -> "tuple[int, dict[str, str], bytes]":
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        self.writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        first, *lines = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[:-2]
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        content = await self.reader.readexactly(int(headers["content-length"]))
        return int(first.split()[1]), headers, content

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()
        self.reader = self.writer = None


@define
class Crowd:
    """People who answer a survey, each with one connection at a time, until they are told to go.

    Everybody sends the identical request until it is acknowledged: with 201, or with 409 where an earlier one was
    counted whose acknowledgement was lost.
    """

    manifest: object
    codes: Iterator = field(converter=iter, default=())
    pause: float = 0.02
    acknowledged: list = Factory(list)
    counted_before: int = 0  # acknowledged by "already counted" after a lost reply
    lost: int = 0
    refused: int = 0  # told to come again
    going: bool = False

    async def answer(self, port: int, people: int, meanwhile) -> None:
        """Let so many answer one after the other at once, while something else happens, then let all finish."""
        async with asyncio.TaskGroup() as tasks:  # which ends with the first that fails
            for _ in range(people):
                tasks.create_task(self._work(port))
            tasks.create_task(meanwhile).add_done_callback(self._let_go)

    def _let_go(self, _) -> None:
        self.going = True

    async def _work(self, port: int) -> None:
        line = Line(port)
        while not self.going:
            person = self._next_person()
            if person is None:
                break
            await self._take_part(line, person)
        line.close()

    def _next_person(self):
        from subsetprivacy.collect.service.respondents import Habits, Respondent

        code = None
        if self.manifest.mode == "code":
            code = next(self.codes, None)
            if code is None:
                return None
        values = {held["id"]: random.randrange(len(held["options"])) for held in self.manifest.variables}
        return Respondent(values, code=code, habits=Habits(skips=0.1))

    async def _take_part(self, line: Line, person) -> None:
        if self.manifest.mode == "code":
            status, content = await self._insist(line, "lock", person.lock(self.manifest))
            assert status == 200, (status, content)
            person.take_share(self.manifest, json.loads(content))
        body = person.submission(self.manifest)
        status, content = await self._insist(line, "submit", body)
        assert (status, json.loads(content)["status"]) in {(201, "counted"), (409, "already counted")}, content
        self.acknowledged.append(body)

    async def _insist(self, line: Line, act: str, document) -> "tuple[int, bytes]":
        body, tries, lost = json.dumps(document).encode(), 0, False
        while True:
            try:
                status, headers, content = await line.post(f"/s/{self.manifest.id}/{act}", body)
            except AwayError:
                pass
            except LostError:
                self.lost += 1
                lost = True
            else:
                if status not in NOT_YET:
                    assert status != 409 or tries, "counted before it was sent"
                    self.counted_before += status == 409 and lost  # not who was told to come again, and is counted late
                    return status, content
                assert headers.get("retry-after") == "1", headers
                assert json.loads(content) == {"status": "busy"}
                self.refused += 1
            tries += 1
            await asyncio.sleep(random.uniform(0.5, 1.5) * self.pause)


def go_through(serve, engine, url, *, fault, end, seconds, people=8, codes=4000, mode="code", refusals=True):
    """Let people answer while something goes wrong for a time, until all of them are served again; return the crowd.

    Parameters
    ----------
    engine
        The store by a way that the fault does not touch.
    url
        The store as the server sees it.
    fault, end
        What begins it, and what ends it.
    refusals
        Whether somebody must be refused: True if before it ends, "later" if it may be noticed afterwards.
    """
    manifest, made = publish(engine, mode=mode, codes=codes if mode == "code" else 0)
    server, crowd = serve(url), Crowd(manifest, made)

    async def until(happens):
        while not happens():
            await asyncio.sleep(0.01)

    async def pass_by():
        await until(lambda: len(crowd.acknowledged) >= people)  # all is well before it
        await asyncio.to_thread(fault)
        await asyncio.sleep(seconds)
        await until(lambda: refusals is not True or crowd.refused)
        await asyncio.to_thread(end)
        await until(lambda: not refusals or crowd.refused)
        wanted = len(crowd.acknowledged) + 4 * people  # it heals: what was on the way, and then further people
        await until(lambda: len(crowd.acknowledged) >= wanted)

    asyncio.run(asyncio.wait_for(crowd.answer(server.port, people, pass_by()), PATIENCE))
    assert server.is_running()
    server.stop()
    assert "Traceback" not in server.said()
    if refusals and crowd.refused:  # whoever runs the server is told, once; waiting too long is no fault of it
        assert times_said(server, "the database accepts nothing now") == times_said(server, "the database works again")
        assert "the database works again" in server.said()
    assert_counted_once(engine, manifest, crowd.acknowledged)
    return crowd


# Books -----------------------------------------------------------------------------------------


def times_said(server, words) -> int:
    """Return how often a server has logged something; of many it writes a few, and then how many more there were."""
    lines = [line for line in server.said().splitlines() if words in line]
    more = [re.search(r": (\d+) more of these", line) for line in lines]
    return sum(int(found[1]) if found else 1 for found in more)


def publish(engine, *, mode="code", codes=0, batch=FEWEST):
    """Publish the survey of these tests and return its manifest and codes."""
    from subsetprivacy.collect.service.publishing import make_codes, save_draft
    from subsetprivacy.collect.service.publishing import publish as publish_draft

    manifest = publish_draft(engine, save_draft(engine, SURVEY.format(mode=mode, batch=batch), "toml").id)
    return manifest, make_codes(engine, manifest.id, codes) if codes else []


def sent(manifest, bodies) -> "tuple[Counter, Counter]":
    """Return the rows of each group and the answers of each variable that bodies hold, by a reading of our own."""
    rows, answers = Counter(), Counter()
    options = {held["id"]: len(held["options"]) for held in manifest.variables}
    for body in bodies:
        codes = {}
        for name, given in body["answers"].items():
            chosen = given["answer"]
            if "asked" in given:
                codes[name] = 2 ** options[name] - 1 if chosen is None else given["asked"][chosen]
            else:  # Warner's question: the numbers are the same (pairs 00 and 11), or not, or who knows
                codes[name] = {0: 0b1001, 1: 0b0110, None: 0b1111}[chosen]
            answers[name, -1 if chosen is None else chosen] += 1
        for grp, group in enumerate(manifest.document["groups"]):
            rows[grp, b"".join(codes[name].to_bytes(6, "big") for name in group)] += 1
    return rows, answers


@frozen
class Books:
    """What a store counts of a survey, all at one moment.

    Attributes
    ----------
    rows, answers
        Counters, released or not, as `sent` has them.
    marks
        Of all tickets that were counted.
    releases
        How many people each release holds.
    pending
        How many people wait for theirs.
    """

    rows: Counter
    answers: Counter
    marks: frozenset
    releases: tuple
    pending: int

    def fit(self, manifest, bodies) -> bool:
        """Tell whether they hold these submissions, each once, and nothing else."""
        marks = frozenset(mark_of(manifest, body) for body in bodies)
        return (self.rows, self.answers) == sent(manifest, bodies) and self.marks == marks


def mark_of(manifest, body) -> bytes:
    """Return what a store keeps of the ticket of a submission."""
    return sha256(b"subsetprivacy mark v1\0" + manifest.id.encode() + b"\0" + bytes.fromhex(body["ticket"])).digest()


def books(engine, manifest) -> Books:
    """Return what a store counts of a survey."""
    from subsetprivacy.collect.storage.opening import reading
    from subsetprivacy.collect.storage.schema import arrived, framing, pending, pending_framing, release, spent, tally

    names = [held["id"] for held in manifest.variables]
    rows, answers, waiting, marks = Counter(), Counter(), 0, []
    with reading(engine) as connection:

        def all_of(table):
            return connection.execute(select(table).where(table.c.survey == manifest.id))

        for table in (pending, tally):
            for one in all_of(table):
                rows[one.grp, bytes(one.row)] += one.n
                waiting += one.n * (table is pending and one.grp == 0)
        for table in (pending_framing, framing):
            for one in all_of(table):
                answers[names[one.variable], one.answer] += one.n
        for table in (arrived, spent):
            marks += [bytes(one.mark) for one in all_of(table)]
        sizes = tuple(one.n for one in sorted(all_of(release), key=lambda one: one.no))
    assert len(marks) == len(set(marks))  # none stands in both tables
    return Books(rows, answers, frozenset(marks), sizes, waiting)


def assert_counted_once(engine, manifest, bodies) -> Books:
    """Every acknowledged submission is in the books once, and nothing else is."""
    from subsetprivacy.collect.storage.backups import check

    found = books(engine, manifest)
    assert found.fit(manifest, bodies)
    assert check(engine) == []
    assert min(found.releases, default=FEWEST) >= FEWEST
    assert sum(found.releases) + found.pending == len(bodies)
    return found


# The network -----------------------------------------------------------------------------------


class Proxy:
    """Stands between a server and PostgreSQL on a port of its own, and does to the network what a test says.

    Modes: "pass"; "hold" (nothing goes through until it passes again); "lose" (nothing goes through, and what was
    connected then stays dead); "drop" (connections are reset, new ones too). A `delay` in seconds is for each piece.
    """

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self.mode, self.delay = "pass", 0.0
        self.delayed = 0  # how many pieces
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self._open: set[socket.socket] = set()
        self._dead: set[socket.socket] = set()
        self._passing = threading.Event()
        self._passing.set()
        threading.Thread(target=self._accept, daemon=True).start()

    def do(self, mode: str, delay: float = 0.0) -> None:
        """Change what happens from now on."""
        self.mode, self.delay = mode, delay
        if mode == "hold":
            self._passing.clear()
        else:
            self._passing.set()
        if mode == "drop":
            self.drop()
        if mode == "lose":
            self._dead |= self._open

    def drop(self) -> None:
        """Reset all connections."""
        for one in list(self._open):
            self._reset(one)

    def _reset(self, one: socket.socket) -> None:
        self._open.discard(one)
        with contextlib.suppress(OSError):
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            one.shutdown(socket.SHUT_RDWR)
        one.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                if self.mode == "drop":
                    self._reset(near)
                    continue
                try:
                    far = socket.create_connection(self._target)
                except OSError:
                    self._reset(near)
                    continue
                self._open |= {near, far}
                if self.mode == "lose":
                    self._dead |= {near, far}
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=self._carry, args=pair, daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while piece := source.recv(65536):
                self._passing.wait()
                if self.delay:
                    time.sleep(self.delay)
                    self.delayed += 1
                if source not in self._dead:
                    target.sendall(piece)
        for one in (source, target):
            self._reset(one)

    def close(self) -> None:
        self._listening.close()
        self._passing.set()
        self.drop()
