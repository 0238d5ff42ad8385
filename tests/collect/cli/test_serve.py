"""`serve`: what it prints, refuses and warns of; and a real server from its start to Ctrl-C."""

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import time
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner
from sqlalchemy import func, select

from subsetprivacy.cli.main import main
from subsetprivacy.collect.service.accounts import set_up
from subsetprivacy.collect.service.publishing import make_codes
from subsetprivacy.collect.service.respondents import Respondent
from subsetprivacy.collect.storage.backups import check
from subsetprivacy.collect.storage.opening import StoreError, open_store, reading
from subsetprivacy.collect.storage.schema import arrived
from subsetprivacy.collect.storage.server_lock import only_server
from subsetprivacy.collect.web import serving

VALUES = {"colour": 0, "day": 1, "smokes": 1, "size": 2}


@pytest.fixture
def served(monkeypatch):
    """Let `serve` do all but wait for requests; return the applications it would have served."""
    apps = []

    def run(app, taken, started):
        apps.append(app)
        started()

    monkeypatch.setattr(serving, "run", run)
    return apps


def serve(*arguments):
    return CliRunner().invoke(main, ["serve", "--port", "0", *map(str, arguments)])


def error_of(result):
    assert result.exit_code == 1, result.output
    (line,) = result.stderr.splitlines()
    assert line.startswith("Error: ")
    return line


# What is printed ----------------------------------------------------------------------------------


def test_the_first_start_prints_a_link_to_set_up(served, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = serve()
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    assert re.fullmatch(
        r"Database  subsetprivacy\.db\n"
        r"Studio    (http://127\.0\.0\.1:\d+)/studio\n"
        r"Set up    \1/studio/setup#[\w-]{32}  \(creates your account, works once\)\n"
        r"Only this computer can reach the server, and links made now work on this computer only\. [^\n]+\n"
        r"it with --base-url https://… [^\n]+ --host 0\.0\.0\.0\.\n"
        r"Stop with Ctrl-C\.\n",
        result.stdout,
    )
    (app,) = served
    token = re.search("#(.{32}) ", result.stdout)[1]
    assert app.state.studio.setup_token == token
    assert token not in serve().stdout  # of every start its own
    engine = open_store(f"sqlite:///{tmp_path / 'subsetprivacy.db'}")
    set_up(engine, "somebody", "a long password")
    engine.dispose()
    assert "Set up" not in serve().stdout
    assert served[-1].state.studio.setup_token is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["subsetprivacy.db"]


def test_a_base_url_is_used_for_all_links(served, sqlite_url):
    result = serve("--db", sqlite_url, "--base-url", "https://ask.example.org/", "--host", "0.0.0.0")
    assert result.stderr == ""  # https: no warning
    assert "Studio    https://ask.example.org/studio\n" in result.stdout
    assert "this computer only" not in result.stdout
    studio = served[0].state.studio
    assert (studio.secure, studio.base_url) == (True, "https://ask.example.org")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0"])
def test_without_a_base_url_links_are_those_of_the_page_and_a_word_says_so(served, sqlite_url, host):
    """A server behind a proxy, or reached by another name, must not hand out links to 127.0.0.1."""
    result = serve("--db", sqlite_url, "--host", host)
    assert served[0].state.studio.base_url is None
    assert "this computer only" in result.stdout
    assert "--base-url" in result.stdout
    assert ("Only this computer can reach the server" in result.stdout) == (host != "0.0.0.0")


def test_plain_http_beyond_this_machine_is_warned_of(served, sqlite_url):
    result = serve("--db", sqlite_url, "--host", "0.0.0.0")
    (line,) = result.stderr.splitlines()
    assert line.startswith("Warning: 0.0.0.0 is reached by plain http: ")
    assert "Hint: put a proxy with https in front of it" in line
    assert served[0].state.studio.base_url is None
    assert re.search(r"Studio    http://127\.0\.0\.1:\d+/studio\n", result.stdout)
    assert serve("--db", sqlite_url, "--host", "0.0.0.0", "--https-behind-proxy").stderr == ""
    assert served[1].state.studio.secure
    behind = serve("--db", sqlite_url, "--base-url", "http://ask.example.org")
    assert behind.stderr.startswith("Warning: ask.example.org is reached by plain http: ")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ask.example.org", "must begin with https://"),
        ("ftp://ask.example.org", "must begin with https://"),
        ("javascript:alert(1)", "must begin with https://"),
        ("https://", "must name a host"),
        ("https://:8000", "must name a host"),
        ("https://ask.example.org:port", "must name a host"),
        ("https://ask.example.org:1234567", "must name a host"),
        ("https://ask example.org", "must name a host"),
        ("https://ask.example.org\n", "must name a host"),
        ("https://ask.example.org<script>", "must name a host"),
        ("https://[ask", "must be an address"),
        ("https://ask.example.org/studio", "must end after the host"),
        ("https://ask.example.org?q=1", "must end after the host"),
        ("https://ask.example.org?", "must end after the host"),
        ("https://ask.example.org/#top", "must end after the host"),
        ("https://olga:CANARY@ask.example.org", "must contain no user name and no password"),
        ("https://CANARY@ask.example.org", "must contain no user name and no password"),
        ("https://olga:CANARY@", "must contain no user name and no password"),
        ("ftp://olga:CANARY@ask.example.org", "must contain no user name and no password"),
        ("https:olga:CANARY@ask.example.org", "must contain no user name and no password"),
        ("https://ask.example.org/?u=olga:CANARY", "must end after the host"),
    ],
)
def test_a_base_url_that_is_none(url, said):
    result = serve("--base-url", url)
    assert result.exit_code == 2
    assert said in result.stderr
    assert "CANARY" not in result.stderr + result.stdout  # a password is shown nowhere


@pytest.mark.parametrize("url", ["https://ask.example.org:8443", "http://[::1]:8000", "https://umfrage.münchen.de/"])
def test_a_base_url_may_have_a_port_or_be_an_address(served, sqlite_url, url):
    serve("--db", sqlite_url, "--base-url", url)
    assert served[0].state.studio.base_url == url.rstrip("/")


def test_postgresql_is_served_and_its_password_is_not_printed(served, postgres, postgres_url):
    url = postgres.url(urlsplit(postgres_url).path.strip("/"), tcp=True)
    result = serve("--db", url)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Database  postgresql://127.0.0.1/t_")
    assert postgres.password not in result.output


@pytest.fixture
def quick_sample(tmp_path, monkeypatch):
    """Let few people answer the sample, and return the only folder it can use."""
    from subsetprivacy.collect.service import demonstration

    monkeypatch.setattr(demonstration.demonstrate, "__kwdefaults__", {"people": 60, "seed": None})
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_demonstration_prints_ways_in_and_leaves_nothing(served, quick_sample):
    result = serve("--demo")
    assert result.exit_code == 0, result.output
    assert re.fullmatch(
        r"Simulating respondents …\n"
        r"Results   (http://127\.0\.0\.1:\d+)/studio/sample/results/[\w-]{32}  \(signs you in\)\n"
        r"Respond   \1/studio/sample/respond  \([^\n]+\)\n"
        r"This is a sample with simulated people\. [^\n]+\n"
        r"Stop with Ctrl-C\.\n",
        result.stdout,
    )
    assert list(quick_sample.iterdir()) == []
    assert serve("--demo", "--db", "x.db").exit_code == 2


def test_the_demonstration_does_not_touch_the_database_of_the_environment(served, quick_sample, monkeypatch):
    own = quick_sample / "mine.db"
    engine = open_store(f"sqlite:///{own}")
    set_up(engine, "somebody", "a long password")
    engine.dispose()
    before = (own.read_bytes(), own.stat().st_mtime_ns)
    monkeypatch.setenv("SUBSETPRIVACY_DB", str(own))
    assert serve("--demo").exit_code == 0
    assert (own.read_bytes(), own.stat().st_mtime_ns) == before
    assert [path.name for path in quick_sample.iterdir()] == ["mine.db"]
    assert served[-1].state.studio.engine.url.database != str(own)
    monkeypatch.setenv("SUBSETPRIVACY_DB", "postgresql://nobody@203.0.113.7/nothing")
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert serve("--demo").exit_code == 0  # nor is it looked for


# What is refused ----------------------------------------------------------------------------------


def test_a_port_that_is_taken(sqlite_url):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        line = error_of(CliRunner().invoke(main, ["serve", "--db", sqlite_url, "--port", str(port)]))
    assert f"--port must be free; something else listens on {port}. Hint: --port {port + 1}" in line


def test_a_host_that_is_none():
    assert "--host must be an address of this machine; got '203.0.113.7'" in error_of(serve("--host", "203.0.113.7"))


@pytest.mark.parametrize("name", ["uvicorn", "fastapi", "argon2"])
def test_without_the_extra(monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    line = error_of(serve())
    assert line == f'Error: the survey server needs {name}. Hint: in the clone, pip install ".[serve]".'


def test_a_file_that_is_no_database(served, tmp_path):
    (tmp_path / "letter.txt").write_text("Dear reader, " * 100)
    assert "Hint: check the name of the file" in error_of(serve("--db", tmp_path / "letter.txt"))
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]
    assert "folder of the database must exist" in error_of(serve("--db", tmp_path / "nowhere" / "x.db"))


def test_a_second_server_on_the_same_file(served, sqlite_url, tmp_path):
    with only_server(tmp_path / "store.db"):
        line = error_of(serve("--db", sqlite_url))
        assert "served by one server at a time; another has" in line
        assert "Hint: stop that one" in line
    assert serve("--db", sqlite_url).exit_code == 0


def test_the_lock_goes_with_its_process(tmp_path):
    """However it ends: a lock file that is left behind keeps nobody out."""
    path = tmp_path / "x.db"
    holder = (
        "import sys,time\nfrom pathlib import Path\nfrom subsetprivacy.collect.storage.server_lock import only_server\n"
    )
    holder += "with only_server(Path(sys.argv[1])):\n    print('held', flush=True)\n    time.sleep(600)"
    process = subprocess.Popen([sys.executable, "-c", holder, str(path)], stdout=subprocess.PIPE)
    with process.stdout as said:
        assert said.readline() == b"held\n"
        with pytest.raises(StoreError), only_server(path):
            pass
        process.kill()
        process.wait()
    assert (tmp_path / "x.db.lock").exists()
    with only_server(path):
        assert (tmp_path / "x.db.lock").exists()
    assert not (tmp_path / "x.db.lock").exists()


# A real server ------------------------------------------------------------------------------------


class Served:
    """The program itself, in a process of its own."""

    def __init__(self, db, folder):
        self.printed = folder / "printed"
        command = [sys.executable, "-m", "subsetprivacy", "serve", "--port", "0", "--db", db]
        with self.printed.open("wb") as out:
            self.process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=out)
        deadline = time.monotonic() + 100
        while "Ctrl-C" not in self.printed.read_text() and time.monotonic() < deadline:
            assert self.process.poll() is None, self.printed.read_text()
            time.sleep(0.05)
        self.place = urlsplit(re.search("http://[^/]+", self.printed.read_text())[0])

    def ask(self, method, path, document=None):
        connection = http.client.HTTPConnection(self.place.hostname, self.place.port, timeout=100)
        body = None if document is None else json.dumps(document)
        connection.request(method, path, body, {"Content-Type": "application/json", "User-Agent": "CANARY-AGENT"})
        reply = connection.getresponse()
        held = reply.read()
        connection.close()
        return reply, held

    def post(self, path, document):
        reply, held = self.ask("POST", path, document)
        return reply.status, json.loads(held)

    def end(self, how):
        self.process.send_signal(how)
        return self.process.wait(100)


def test_from_the_start_to_ctrl_c(sqlite_url, tmp_path, publish_kinds):
    engine = open_store(sqlite_url)
    manifest = publish_kinds(engine)
    codes = make_codes(engine, manifest.id, 3)
    engine.dispose()
    served = Served(sqlite_url, tmp_path)
    try:
        reply, _ = served.ask("GET", "/studio/setup")
        assert reply.status == 200
        assert reply.getheader("server") is None
        for code in codes:
            counted = Respondent(VALUES, code=code).take_part(manifest, served.post)
            assert counted == (201, {"status": "counted"})
        assert "one server at a time" in error_of(serve("--db", sqlite_url))
    finally:
        code = served.end(signal.SIGINT)
    assert code == 130
    assert served.printed.read_text().splitlines()[-1] == "Stopped."
    assert sorted(path.name for path in tmp_path.iterdir()) == ["printed", "store.db"]
    for word in ("CANARY-AGENT", "127.0.0.1 ", manifest.id, *codes):
        assert word not in served.printed.read_text()
    engine = open_store(sqlite_url)
    with reading(engine) as connection:
        assert connection.scalar(select(func.count()).select_from(arrived)) == 3
    assert check(engine) == []
    engine.dispose()


@pytest.mark.slow
def test_sigterm_is_an_ordinary_end(tmp_path):
    """The fast test of it is among the faults: whoever asked is answered first."""
    served = Served("new.db", tmp_path)
    assert served.end(signal.SIGTERM) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.db", "printed"]
    assert "Traceback" not in served.printed.read_text()
