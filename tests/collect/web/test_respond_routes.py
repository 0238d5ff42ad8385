"""The public routes: one page for everybody, honest headers, bodies read no further than they may be."""

import http.client
import re
import socket
from base64 import b64decode
from hashlib import sha384
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from browser import served
from fake_collector import FakeReply, make_survey, respondents_app
from sqlalchemy.exc import OperationalError
from visitor import FakeCollector

import subsetprivacy.collect.web.respond as respond
from subsetprivacy.collect.survey.submission import MOST_BYTES
from subsetprivacy.collect.web import security

STATIC = Path(respond.__file__).parent / "static" / "respond"


@pytest.fixture(scope="module")
def origin():
    collector = FakeCollector()
    with served(respondents_app(collector)) as held:
        yield held, collector


@pytest.fixture
def site(origin):
    held, collector = origin
    collector.__init__()
    return _Client(held), collector


class _Client:
    def __init__(self, origin):
        self.origin = origin
        self.place = urlsplit(origin)

    def ask(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection(self.place.hostname, self.place.port, timeout=60)
        try:
            given = {name.replace("_", "-"): value for name, value in headers.items()}
            kind = {"Content-Type": "application/json"} if method == "POST" else {}
            connection.request(method, path, body, kind | given)
            reply = connection.getresponse()
            return reply.status, {name.lower(): value for name, value in reply.getheaders()}, reply.read()
        finally:
            connection.close()


def test_everybody_gets_the_same_page_for_every_survey(site):
    client, collector = site
    manifest = collector.add(make_survey())
    pages = {
        client.ask("GET", path, User_Agent=agent, Cookie=f"person={agent}", Accept_Language=agent)[2]
        for path in (f"/s/{manifest.id}", "/s/aaaaaaaaaaaaaaaa", "/s/x")
        for agent in ("one", "two", "three")
    }
    assert pages == {respond.page_bytes()}


def test_every_file_of_the_page_carries_its_hash(site):
    client, _ = site
    html = respond.page_bytes().decode()
    named = re.findall(r'(?:src|href)="([^"]+)" integrity="sha384-([^"]+)"', html)
    named += re.findall(r'content="(/static/[^ ]+) sha384-([^"]+)"', html)
    assert {path.rsplit("/", 1)[1] for path, _ in named} == {
        "respond.js",
        "respond.css",
        *(f"{language}.json" for language in respond.LANGUAGES),
    }
    for path, digest in named:
        status, headers, body = client.ask("GET", path)
        assert status == 200
        assert sha384(body).digest() == b64decode(digest)
        assert "immutable" in headers["cache-control"]
    assert html.count("<script") == html.count('<script type="module" src=') == 1


@pytest.mark.parametrize("language", respond.LANGUAGES)
def test_the_page_with_all_it_loads_is_light(language):
    """Compressed it is a third of this, and how much exactly is for the compressor of each machine to say."""
    files = respond._page().files
    loaded = [files[name] for name in ("icon.svg", "respond.css", "respond.js", f"{language}.json")]
    assert sum(map(len, (respond.page_bytes(), *loaded))) <= 100_000


def test_the_script_is_its_modules_in_the_order_of_their_imports(site):
    client, _ = site
    path = re.search(r'src="([^"]*respond\.js)"', respond.page_bytes().decode()).group(1)
    script = client.ask("GET", path)[2].decode()
    assert "import" not in re.sub(r"//[^\n]*", "", script)
    before = {}
    for name in sorted((path.name for path in STATIC.glob("*.js")), key=lambda name: script.index(_first_line(name))):
        text = (STATIC / name).read_text("utf-8")
        for names, source in re.findall(r'^import \{([^}]*)\} from "\./(\w+\.js)";', text, re.MULTILINE):
            assert {part.strip() for part in names.split(",") if part.strip()} <= before[source], name
        before[name] = set(re.findall(r"^export (?:async )?(?:const|function|class) (\w+)", text, re.MULTILINE))


def _first_line(name):
    return (STATIC / name).read_text("utf-8").split("\n")[0]


def test_the_page_has_nothing_inline_and_speaks_without_scripts():
    html = respond.page_bytes().decode()
    assert "<style" not in html
    assert not re.search(r"<[^>]+\s(style|on\w+)=", html)
    assert not re.search(r"<script[^>]*>[^<]", html)
    noscript = re.search(r"<noscript>(.*)</noscript>", html, re.DOTALL).group(1)
    assert noscript.count("JavaScript") >= len(respond.LANGUAGES)
    assert 'dir="rtl"' in noscript


def test_scripts_make_no_markup_and_take_randomness_from_one_place():
    text = "\n".join(path.read_text("utf-8") for path in STATIC.glob("*.js"))
    for forbidden in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "Math.random",
        ".style",
    ):
        assert forbidden not in text
    assert text.count("getRandomValues") == 1
    assert "http:" not in text
    assert "https:" not in text
    assert "cookie" not in text


def test_the_manifest_is_served_as_it_is_with_the_state_of_the_survey(site):
    client, collector = site
    manifest = collector.add(make_survey())
    status, headers, body = client.ask("GET", f"/s/{manifest.id}/manifest")
    assert (status, body, headers["survey-state"]) == (200, manifest.text, "open")
    collector.closed.add(manifest.id)
    assert client.ask("GET", f"/s/{manifest.id}/manifest")[1]["survey-state"] == "closed"
    assert client.ask("GET", "/s/aaaaaaaaaaaaaaaa/manifest")[::2] == (404, b'{"status":"unknown survey"}')
    assert client.ask("GET", f"/s/{manifest.id}/key")[0] == 404


def test_a_store_that_fails_is_busy_and_says_nothing_more(site, monkeypatch):
    client, _ = site

    def fail(self, survey_id):
        raise OperationalError("SELECT secret", {}, OSError("disk"))

    monkeypatch.setattr(FakeCollector, "manifest", fail)
    monkeypatch.setattr(FakeCollector, "key", fail)
    for path in ("manifest", "key"):
        status, headers, body = client.ask("GET", f"/s/aaaaaaaaaaaaaaaa/{path}")
        assert (status, body, headers["retry-after"]) == (503, b'{"status":"busy"}', "1")


def test_replies_pass_through_and_busy_says_when_to_come_again(site):
    client, collector = site
    manifest = collector.add(make_survey())
    for reply in (FakeReply(201, {"status": "counted"}), FakeReply(409, {"status": "already counted"})):
        collector.twist["submit"] = lambda honest, reply=reply: reply
        status, headers, body = client.ask("POST", f"/s/{manifest.id}/submit", b"{}")
        assert (status, body.decode()) == (reply.status, f'{{"status":"{reply.document["status"]}"}}')
        assert headers["cache-control"] == "no-store"
    collector.twist["submit"] = lambda honest: FakeReply(503, {"status": "busy"})
    status, headers, _ = client.ask("POST", f"/s/{manifest.id}/submit", b"{}")
    assert (status, headers["retry-after"]) == (503, "1")


@pytest.mark.parametrize("deed", ["lock", "submit"])
def test_a_long_body_is_refused_while_it_is_read(site, deed):
    client, collector = site
    manifest = collector.add(make_survey())
    collector.twist[deed] = lambda honest: pytest.fail("the collector was asked")
    assert client.ask("POST", f"/s/{manifest.id}/{deed}", b"x" * (MOST_BYTES + 1))[::2] == (
        413,
        b'{"status":"too large"}',
    )
    # A body without a stated length, of which more is to come: the reply does not wait for the rest.
    size = MOST_BYTES + 1
    with socket.create_connection((client.place.hostname, client.place.port), timeout=60) as line:
        head = f"POST /s/{manifest.id}/{deed} HTTP/1.1\r\nHost: x\r\n"
        head += "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        line.sendall(head.encode() + b"%x\r\n" % size + b"x" * size + b"\r\n")
        assert line.recv(64).startswith(b"HTTP/1.1 413")


def test_a_body_of_the_largest_size_is_read(site):
    client, collector = site
    manifest = collector.add(make_survey())
    assert client.ask("POST", f"/s/{manifest.id}/submit", b" " * MOST_BYTES)[0] == 422


def _begun(manifest):
    """Return a request of which only the first byte of the body has come."""
    lines = (f"POST /s/{manifest.id}/submit HTTP/1.1", "Host: x", "Content-Type: application/json", "Content-Length: 9")
    return "\r\n".join([*lines, "", "{"]).encode()


@pytest.mark.parametrize("act", ["lock", "submit"])
def test_a_slow_body_is_told_so_and_closed(site, monkeypatch, act):
    monkeypatch.setattr(security, "READ_SECONDS", 0.05)
    client, _ = site
    with socket.create_connection((client.place.hostname, client.place.port), timeout=60) as connection:
        head = f"POST /s/{'a' * 26}/{act} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}Content-Length: 100\r\n\r\n".encode() + b"{")
        answer = b""
        while part := connection.recv(1000):  # until it is closed
            answer += part
    assert answer.startswith(b"HTTP/1.1 408 Request Timeout\r\n")
    assert b"\r\nconnection: close\r\n" in answer
    assert answer.endswith(b'\r\n\r\n{"status":"busy"}')


def test_a_browser_that_hangs_up_troubles_nobody(site, caplog):
    client, collector = site
    manifest = collector.add(make_survey())
    with socket.create_connection((client.place.hostname, client.place.port), timeout=60) as line:
        line.sendall(_begun(manifest))
    assert client.ask("GET", f"/s/{manifest.id}")[0] == 200
    assert not caplog.records


@pytest.mark.parametrize("path", ["/static/respond/0000000000000000/main.js", "/static/respond/{folder}/page.html"])
def test_only_the_files_of_the_page_are_served(site, path):
    client, _ = site
    folder = re.search(r"/static/respond/(\w+)/", respond.page_bytes().decode()).group(1)
    assert client.ask("GET", path.format(folder=folder))[0] == 404
    assert client.ask("GET", f"/static/respond/{folder}/..%2f..%2frespond.py")[0] == 404
