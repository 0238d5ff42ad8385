"""Every request carries marks in every place a request has; afterwards nothing that the service wrote holds one."""

import http.client
import json
import secrets
import socket
import time
import zipfile
from io import BytesIO
from itertools import cycle
from pathlib import Path

import pytest
from click.testing import CliRunner
from faults import serve, servers  # noqa: F401  fixtures
from sites import CODES, OWNER, Client, make_people
from sqlalchemy import text

from subsetprivacy.cli.main import main
from subsetprivacy.collect.service import accounts, publishing
from subsetprivacy.collect.service.respondents import Respondent
from subsetprivacy.collect.storage.opening import open_store, reading
from subsetprivacy.collect.survey import coin

ADDRESSES = [f"127.83.97.{k}" for k in range(29, 37)]  # ours too: all of 127/8 is this machine
HEADERS = (
    *("User-Agent", "Referer", "Accept-Language", "Cookie", "X-Forwarded-For", "X-Real-IP", "Forwarded", "Via"),
    *("From", "Accept", "X-Request-Id", "Traceparent", "Authorization", "Origin", "If-None-Match", "DNT"),
)
CANARY = "canaryinthecoalmine"  # all marks begin so: one search finds any. It is too long to be there by chance
MARKS = [CANARY.encode(), CANARY.upper().encode(), *map(str.encode, ADDRESSES)]
PEOPLE = 26


class Marked:
    """Sends requests full of marks from an address of its own."""

    def __init__(self, port, address=ADDRESSES[0]):
        self.port, self.address = port, address

    def mark(self):
        return f"{CANARY}{secrets.token_hex(10)}"

    def request(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, source_address=(self.address, 0), timeout=100)
        given = {name: self.mark() for name in HEADERS} | headers
        try:
            connection.request(method, f"{path}?{self.mark()}={self.mark()}", body, given)
            reply = connection.getresponse()
            return reply.status, reply.read()
        finally:
            connection.close()

    def post(self, path, document):
        status, body = self.request("POST", path, json.dumps(document).encode(), **{"Content-Type": "application/json"})
        return status, json.loads(body)


@pytest.fixture
def prepared(store_url):
    """A store with an owner's token, a survey and its codes."""
    engine = open_store(store_url)
    make_people(engine)
    manifest = publishing.publish(engine, publishing.save_draft(engine, CODES, "toml").id)
    codes = publishing.make_codes(engine, manifest.id, PEOPLE)
    token = accounts.make_token(engine, OWNER, "exports", "owner")
    engine.dispose()
    return store_url, manifest, codes, token


def test_no_mark_of_any_request_is_kept(prepared, tmp_path, request, serve):  # noqa: F811
    """Grep of database, write-ahead log, server's output, temporary files, exports and backup: no hit."""
    url, manifest, codes, token = prepared
    files = tmp_path / "files"
    (files / "tmp").mkdir(parents=True)
    server = serve(url, folder=files)
    from_everywhere = [Marked(server.port, address) for address in ADDRESSES]
    secret_parts = _answer_all(from_everywhere, manifest, codes)
    for marked in from_everywhere[:2]:
        _misbehave(marked, manifest)
    _wait_for_release(Client(server.port, token=token), manifest, files)
    server.stop()
    for name, options in (("backup.db", ()), ("everything.db", ("--all",))):
        _run("db", "backup", files / name, "--db", url, *options)
    places = [files, Path(url.removeprefix("sqlite:///")).parent] if url.startswith("sqlite") else [files]
    if url.startswith("postgresql"):
        places += _places_of_a_database(request.getfixturevalue("postgres").data, url)
    paths = {server.output, *(path for place in places for path in place.rglob("*") if path.is_file())}
    written = {path: path.read_bytes() for path in paths}
    assert written[server.output]
    assert sum(map(len, written.values())) > 50_000
    assert any(manifest.id.encode() in content for content in written.values()), "the search must find what is there"
    in_hex = [part.hex().encode() for part in secret_parts]  # as a log would write bytes
    for mark in [*MARKS, *secret_parts, *in_hex]:
        assert not [str(path) for path, content in written.items() if mark in content], mark
    # The four bytes of an address stand somewhere among millions of random ones by chance, once in a few hundred runs;
    # those of most of eight addresses do not.
    packed = map(socket.inet_aton, ADDRESSES)
    kept = [mark for mark in packed if any(mark in content for content in written.values())]
    assert len(kept) <= len(ADDRESSES) / 2, kept


def _places_of_a_database(data, url):
    """Return where a server of PostgreSQL writes, but for its other databases, which this one cannot reach."""
    engine = open_store(url)
    with reading(engine) as connection:
        own = connection.scalar(text("SELECT oid FROM pg_database WHERE datname = current_database()"))
    engine.dispose()
    return [data / "base" / str(own), *(place for place in data.iterdir() if place.name != "base")]


def _answer_all(from_everywhere, manifest, codes):
    """Let everybody answer; return what of their codes and numbers must not be found."""
    kept_from = []
    for code, marked in zip(codes, cycle(from_everywhere)):
        person = Respondent({"colour": 1, "day": 2, "smokes": 0}, code=code)
        assert person.take_part(manifest, marked.post)[0] == 201
        assert person.take_part(manifest, marked.post)[0] == 409
        ticket, half = coin.read_code(code)
        kept_from += [ticket, half, code.encode(), bytes.fromhex(person.submission(manifest)["opening"])]
    return kept_from[: 4 * len(from_everywhere)]  # of one person from each address: there is much to search


def _misbehave(marked, manifest):
    """Ask for what does not exist, send what cannot be read."""
    for path in ("/", f"/s/{manifest.id}", "/s/nosuchsurvey0000", "/studio", "/api/v1/surveys", f"/{marked.mark()}"):
        marked.request("GET", path)
        marked.request("GET", f"{path}/{marked.mark()}")
    for body in (b"{", json.dumps({marked.mark(): marked.mark()}).encode(), marked.mark().encode() * 2000):
        for path in (f"/s/{manifest.id}/submit", f"/s/{manifest.id}/lock", "/studio/sign-in", "/api/v1/drafts"):
            marked.request("POST", path, body, **{"Content-Type": "application/json"})
    marked.request(f"X{marked.mark()}".upper(), "/")


def _wait_for_release(site, manifest, files):
    """Wait for the release, and take the export."""
    until = time.monotonic() + 100
    while not site.get(f"/api/v1/surveys/{manifest.id}/releases").json()["releases"]:
        assert time.monotonic() < until, "a release must come at last"
        time.sleep(0.2)
    reply = site.get(f"/api/v1/surveys/{manifest.id}/export.zip")
    assert reply.status == 200
    with zipfile.ZipFile(BytesIO(reply.body)) as held:
        held.extractall(files / "export")


def _run(*arguments):
    made = CliRunner().invoke(main, [*map(str, arguments)])
    assert made.exit_code == 0, made.output
