"""What cannot be an id, a name or a text, in every place where one is sent: refused, not left to the database."""

import re
from urllib.parse import quote_from_bytes, urlencode

import pytest
from databases import HOW_TO_GET
from sites import OWNER, PASSWORD, SMALL, Site, routes_of

from subsetprivacy.collect.service import publishing

NUL = b"a" * 12 + b"\0" + b"a" * 13  # as long as an id; PostgreSQL takes no such text
STRANGE = {
    "nul": b"\0",
    "nul inside": NUL,
    "not utf-8": b"\xff\xfe",
    "half a letter": b"\xed\xa0\x80",
    "long": b"a" * 20_000,
    "other letters": "\uff41\uff42\u202e".encode(),
}
FIELDS = {
    "/studio/sign-in": ("name", "password"),
    "/studio/setup": ("name", "password", "token"),
    "/studio/invitation": ("name", "password", "token"),
    "/studio/account/password": ("old", "password"),
    "/studio/people/invite": ("name", "role"),
    "/studio/people/invite-again": ("name",),
    "/studio/people/remove": ("name",),
    "/studio/tokens/make": ("name", "role"),
    "/studio/tokens/revoke": ("mark",),
    "/studio/surveys/{survey}/codes": ("n", "address"),
    "/studio/surveys/{survey}/earlier-codes": ("links",),
    "/studio/surveys/{survey}/delete": ("title", "state"),
    "/studio/drafts/new": ("text", "format", "example"),
    "/studio/drafts/{draft}/file": ("text", "format", "revision"),
    "/studio/drafts/{draft}/publish": ("text", "format", "revision"),
    "/studio/drafts/{draft}/delete": ("revision",),
}
USUAL = {"name": "olga", "password": PASSWORD, "repeated": PASSWORD, "old": PASSWORD, "token": "set-up", "n": "1"}
USUAL |= {"role": "analyst", "text": SMALL, "format": "toml"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
JSON = {"Content-Type": "application/json"}
RECEIVED = [("POST", "/s/{survey_id}/lock"), ("POST", "/s/{survey_id}/submit")]


@pytest.fixture(scope="module")
def held(_postgres_server):
    if _postgres_server is None:
        yield None
        return
    url = _postgres_server.url(_postgres_server.fresh())
    with Site(url, setup_token="set-up") as site:
        site.survey, site.draft = site.publish().id, publishing.drafts(site.engine)[0].id
        site.owner, site.program = site.signed_in(OWNER), site.with_token("owner")
        yield site


@pytest.fixture
def site(held, need):
    need("PostgreSQL", held is not None, HOW_TO_GET)
    return held


@pytest.mark.parametrize("value", STRANGE.values(), ids=STRANGE)
def test_no_path_takes_them(site, value):
    given = quote_from_bytes(value)
    known = {"survey_id": site.survey, "draft_id": site.draft, "group": "0", "name": "0.csv"}
    known |= dict.fromkeys(("folder", "version", "given"), "x")
    for method, path in [*routes_of(site.app), *RECEIVED]:
        gaps = re.findall(r"{(\w+)}", path)
        is_json = path.startswith(("/api", "/s/")) or path == "/studio/drafts/{draft_id}"
        for gap in gaps:
            where = path.format(**{one: given if one == gap else known[one] for one in gaps})
            client = site.program if path.startswith("/api") else site.owner
            sent = None if method == "GET" else b"{}" if is_json else b""
            status = client.request(method, where, sent, JSON if is_json else FORM).status
            # The page is the same for every id, and a slash at its end leads to it.
            fine = {"/s/{survey_id}": 200, "/s/{survey_id}/": 307}.get(path, 404)
            assert status in (404, 422, fine), (method, path, gap)


def test_no_query_breaks_anything(site):
    for method, path in routes_of(site.app):
        if method == "GET" and path.startswith("/studio"):
            where = path.format(survey_id=site.survey, draft_id=site.draft, name="0.csv", given="x")
            assert site.owner.get(f"{where}?saved={quote_from_bytes(NUL)}&a%00=%ff").status < 500, path


def test_no_field_breaks_anything(site):
    posts = {path for method, path in routes_of(site.app) if method == "POST"}
    for path, fields in FIELDS.items():
        assert path.format(survey="{survey_id}", draft="{draft_id}") in posts
        for field in fields:
            where = path.format(survey=site.survey, draft=site.draft)
            body = urlencode({**USUAL, field: NUL}).encode()
            assert site.owner.request("POST", where, body, FORM).status < 500, (path, field)


def test_no_document_of_a_program_breaks_anything(site):
    text = NUL.decode()
    for method, path, document in (
        ("POST", "/drafts", {"format": "toml", "text": text}),
        ("POST", "/drafts", {"format": "yaml", "text": f'title: "a\\0b"\n{text}'}),
        ("POST", "/drafts", {"format": "json", "text": SMALL.replace("Small", text)}),
        ("POST", "/drafts", {"format": "toml", "text": SMALL.replace("Small", "a\\u0000b")}),
        ("PUT", f"/drafts/{site.draft}", {"format": "toml", "text": SMALL.replace("Small", text)}),
        ("POST", f"/surveys/{site.survey}/codes", {"n": text}),
    ):
        assert 400 <= site.program.send(method, f"/api/v1{path}", document).status < 500, document
