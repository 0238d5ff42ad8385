"""Every route of the application: its literal headers, and who may use it. A route without an entry fails."""

import socket

import pytest
from sites import ANALYST, OWNER, SMALL, Client, Site, routes_of

from subsetprivacy.collect.service import publishing
from subsetprivacy.collect.web.security_headers import headers_of
from subsetprivacy.collect.web.studio_pages import asset

POWERS_OFF = (
    "accelerometer=(), autoplay=(), browsing-topics=(), camera=(), compute-pressure=(), display-capture=(), "
    "encrypted-media=(), fullscreen=(), gamepad=(), geolocation=(), gyroscope=(), hid=(), identity-credentials-get=(), "
    "idle-detection=(), keyboard-map=(), local-fonts=(), magnetometer=(), microphone=(), midi=(), otp-credentials=(), "
    "payment=(), picture-in-picture=(), publickey-credentials-create=(), publickey-credentials-get=(), "
    "screen-wake-lock=(), serial=(), storage-access=(), usb=(), window-management=(), xr-spatial-tracking=()"
)
EVERYWHERE = {
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    "x-robots-tag": "noindex, nofollow",
}
OF_PAGES = {
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
    "permissions-policy": POWERS_OFF,
}
NOTHING = "default-src 'none'; frame-ancestors 'none'; form-action 'none'; base-uri 'none'"
RESPONDENT = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'"
)
PREVIEW = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; "
    "frame-ancestors 'self'; base-uri 'none'; require-trusted-types-for 'script'"
)
STUDIO = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; frame-src 'self'; base-uri 'none'"
)
HEADERS = {
    "page": {"content-security-policy": RESPONDENT, "x-frame-options": "DENY", "cache-control": "no-store"},
    "preview": {"content-security-policy": PREVIEW, "x-frame-options": "SAMEORIGIN", "cache-control": "no-store"},
    "data": {"content-security-policy": NOTHING, "x-frame-options": "DENY", "cache-control": "no-store"},
    "static": {
        "content-security-policy": NOTHING,
        "x-frame-options": "DENY",
        "cache-control": "public, max-age=31536000, immutable",
    },
    "studio": {"content-security-policy": STUDIO, "x-frame-options": "DENY", "cache-control": "no-store"},
    "api": {"content-security-policy": NOTHING, "x-frame-options": "DENY", "cache-control": "no-store"},
    "export": {"content-security-policy": NOTHING, "x-frame-options": "DENY", "cache-control": "no-store"},
}
for kind in ("page", "preview", "studio"):
    HEADERS[kind] |= OF_PAGES
# Besides these a route says what its answer is, and nothing else.
OF_ITS_OWN = {"content-type", "content-length", "content-disposition", "location", "set-cookie", "www-authenticate"}
OF_ITS_OWN |= {"allow", "connection", "survey-state", "retry-after", "transfer-encoding"}

TO_SIGN_IN = 303
# For each route: its kind, then the status for nobody, an analyst, an owner, and the tokens of either. What would
# change something is asked of a survey or a draft that does not exist: 404 says that it was allowed.
WHOEVER = {200: (200,) * 5, 303: (303,) * 5, 307: (307,) * 5, 404: (404,) * 5, 422: (422,) * 5, 401: (401,) * 5}
SIGNED_IN = (TO_SIGN_IN, 200, 200, TO_SIGN_IN, TO_SIGN_IN)


def owners(status):
    return (TO_SIGN_IN, 403, status, TO_SIGN_IN, TO_SIGN_IN)


def by_token(status=200):
    return (401, 401, 401, status, status)


def by_owner_token(status=200):
    return (401, 401, 401, 403, status)


RECEIVED = {("POST", "/s/{survey_id}/lock"), ("POST", "/s/{survey_id}/submit")}  # taken before the routing
ROUTES = {
    ("GET", "/"): ("studio", WHOEVER[303]),
    ("GET", "/s/{survey_id}"): ("page", WHOEVER[200]),
    ("GET", "/s/{survey_id}/"): ("page", WHOEVER[307]),
    ("GET", "/s/{survey_id}/manifest"): ("data", WHOEVER[200]),
    ("GET", "/s/{survey_id}/key"): ("data", WHOEVER[404]),
    ("POST", "/s/{survey_id}/lock"): ("data", WHOEVER[422]),
    ("POST", "/s/{survey_id}/submit"): ("data", WHOEVER[422]),
    ("GET", "/static/respond/{folder}/{name}"): ("static", WHOEVER[200]),
    ("GET", "/static/studio/{version}/{name}"): ("static", WHOEVER[200]),
    # Doors
    ("GET", "/studio/sign-in"): ("studio", WHOEVER[200]),
    ("POST", "/studio/sign-in"): ("studio", WHOEVER[401]),
    ("POST", "/studio/sign-out"): ("studio", WHOEVER[303]),
    ("GET", "/studio/setup"): ("studio", WHOEVER[303]),
    ("POST", "/studio/setup"): ("studio", WHOEVER[422]),
    ("GET", "/studio/invitation"): ("studio", WHOEVER[200]),
    ("POST", "/studio/invitation"): ("studio", WHOEVER[422]),
    # For everybody who is signed in
    ("GET", "/studio"): ("studio", SIGNED_IN),
    ("GET", "/studio/api"): ("studio", SIGNED_IN),
    ("GET", "/studio/account"): ("studio", SIGNED_IN),
    ("POST", "/studio/account/password"): ("studio", (TO_SIGN_IN, 422, 422, TO_SIGN_IN, TO_SIGN_IN)),
    ("GET", "/studio/surveys/{survey_id}"): ("studio", SIGNED_IN),
    ("GET", "/studio/surveys/{survey_id}/release"): ("studio", SIGNED_IN),
    ("GET", "/studio/surveys/{survey_id}/export/{name}"): ("export", SIGNED_IN),
    # For owners
    ("GET", "/studio/people"): ("studio", owners(200)),
    ("POST", "/studio/people/invite"): ("studio", owners(422)),
    ("POST", "/studio/people/invite-again"): ("studio", owners(422)),
    ("POST", "/studio/people/remove"): ("studio", owners(422)),
    ("POST", "/studio/tokens/make"): ("studio", owners(422)),
    ("POST", "/studio/tokens/revoke"): ("studio", owners(303)),
    ("GET", "/studio/drafts/new"): ("studio", owners(200)),
    ("POST", "/studio/drafts/new"): ("studio", owners(422)),
    ("GET", "/studio/drafts/{draft_id}"): ("studio", owners(200)),
    ("POST", "/studio/drafts/{draft_id}"): ("studio", owners(404)),
    ("GET", "/studio/drafts/{draft_id}/file"): ("studio", owners(200)),
    ("POST", "/studio/drafts/{draft_id}/file"): ("studio", owners(404)),
    ("GET", "/studio/drafts/{draft_id}/export/{name}"): ("export", owners(200)),
    ("GET", "/studio/drafts/{draft_id}/delete"): ("studio", owners(200)),
    ("POST", "/studio/drafts/{draft_id}/delete"): ("studio", owners(404)),
    ("GET", "/studio/drafts/{draft_id}/publish"): ("studio", owners(200)),
    ("POST", "/studio/drafts/{draft_id}/publish"): ("studio", owners(404)),
    ("GET", "/studio/drafts/{draft_id}/preview"): ("studio", owners(303)),
    # Without the pass in its address, for nobody; `test_studio_editor.py` has one
    ("GET", "/studio/drafts/{draft_id}/preview/{given}"): ("preview", WHOEVER[404]),
    ("GET", "/studio/drafts/{draft_id}/preview/{given}/manifest"): ("data", WHOEVER[404]),
    ("GET", "/studio/surveys/{survey_id}/manage"): ("studio", owners(200)),
    ("POST", "/studio/surveys/{survey_id}/codes"): ("studio", owners(404)),
    ("POST", "/studio/surveys/{survey_id}/earlier-codes"): ("studio", owners(404)),
    ("GET", "/studio/surveys/{survey_id}/close"): ("studio", owners(200)),
    ("POST", "/studio/surveys/{survey_id}/close"): ("studio", owners(404)),
    ("POST", "/studio/surveys/{survey_id}/key"): ("studio", owners(404)),
    ("GET", "/studio/surveys/{survey_id}/delete"): ("studio", owners(200)),
    ("POST", "/studio/surveys/{survey_id}/delete"): ("studio", owners(404)),
    # For programs
    ("GET", "/api/v1/openapi.json"): ("api", WHOEVER[200]),
    ("GET", "/api/v1/surveys"): ("api", by_token()),
    ("GET", "/api/v1/surveys/{survey_id}"): ("api", by_token()),
    ("GET", "/api/v1/surveys/{survey_id}/manifest"): ("api", by_token()),
    ("GET", "/api/v1/surveys/{survey_id}/results"): ("api", by_token()),
    ("GET", "/api/v1/surveys/{survey_id}/releases"): ("api", by_token()),
    ("GET", "/api/v1/surveys/{survey_id}/export.zip"): ("api", by_token()),
    ("GET", "/api/v1/surveys/{survey_id}/groups/{group}/export.csv"): ("api", by_token()),
    ("GET", "/api/v1/surveys/{survey_id}/groups/{group}/export.parquet"): ("api", by_token()),
    ("POST", "/api/v1/surveys/{survey_id}/codes"): ("api", by_owner_token(404)),
    ("POST", "/api/v1/surveys/{survey_id}/close"): ("api", by_owner_token(404)),
    ("POST", "/api/v1/surveys/{survey_id}/key"): ("api", by_owner_token(404)),
    ("DELETE", "/api/v1/surveys/{survey_id}"): ("api", by_owner_token(404)),
    ("GET", "/api/v1/drafts"): ("api", by_owner_token()),
    ("POST", "/api/v1/drafts"): ("api", by_owner_token(422)),
    ("GET", "/api/v1/drafts/{draft_id}"): ("api", by_owner_token()),
    ("PUT", "/api/v1/drafts/{draft_id}"): ("api", by_owner_token(404)),
    ("DELETE", "/api/v1/drafts/{draft_id}"): ("api", by_owner_token(404)),
    ("POST", "/api/v1/drafts/{draft_id}/publish"): ("api", by_owner_token(404)),
}
BODIES = {
    ("POST", "/api/v1/surveys/{survey_id}/codes"): {"n": 1},
    ("POST", "/api/v1/surveys/{survey_id}/close"): {},
    ("POST", "/api/v1/drafts"): {"format": "toml", "text": "x = 1"},
    ("POST", "/api/v1/drafts/{draft_id}/publish"): {"revision": "0" * 64},
    ("PUT", "/api/v1/drafts/{draft_id}"): {"format": "toml", "text": "x = 1"},
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with Site(tmp_path_factory.mktemp("site") / "store.db", setup_token="set-up") as held:
        manifest = held.publish()
        held.fill(manifest, 40)
        held.survey, held.draft = manifest.id, publishing.drafts(held.engine)[0].id
        held.people = [
            held.nobody,
            held.signed_in(ANALYST),
            held.signed_in(OWNER),
            held.with_token("analyst"),
            held.with_token("owner"),
        ]
        yield held


def address(site, method, path):
    """Return a path with its gaps filled: what would change something, with ids that nothing has."""
    changes = method != "GET" and not path.startswith("/s/")
    name = f"survey.{'toml'}" if "drafts" in path else "everything.zip"
    folder, file = asset("studio.css").split("/")[-2:]
    if "respond" in path:
        page = site.nobody.get(f"/s/{site.survey}").text
        folder, file = page.split("/static/respond/")[1].split('"')[0].split("/")
    gaps = {"survey_id": "a" * 16 if changes else site.survey, "draft_id": "a" * 16 if changes else site.draft}
    gaps |= {"group": 0, "given": "0" * 32, "version": folder, "folder": folder}
    return path.format(**gaps, name=file if path.startswith("/static") else name)


def ask(site, client, method, path):
    where = address(site, method, path)
    copy = Client(client.port, dict(client.cookies), client.token)
    if method == "GET":
        return copy.get(where)
    if path.startswith(("/api", "/s/")) or path == "/studio/drafts/{draft_id}":
        return copy.send(method, where, BODIES.get((method, path), {}))
    return copy.post(where, {"format": "toml"} if path.endswith("/file") else {})


@pytest.fixture(scope="module")
def replies(site):
    """What each of the five is answered at each route, asked once."""
    made = {}
    for route in ROUTES:
        site.app.state.studio.throttle.__init__()  # the doors would slow so many tries
        made[route] = [ask(site, person, *route) for person in site.people]
        if route == ("POST", "/studio/sign-out"):
            site.people[1:3] = [site.signed_in(ANALYST), site.signed_in(OWNER)]
    return made


def test_every_route_has_its_entry(site):
    assert set(routes_of(site.app)) | RECEIVED == set(ROUTES)


def test_who_may_use_a_route(replies):
    statuses = {route: tuple(reply.status for reply in made) for route, made in replies.items()}
    assert statuses == {route: expected for route, (_, expected) in ROUTES.items()}


@pytest.mark.parametrize("said", [{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": None, "Origin": "http://x.org"}])
def test_no_other_site_uses_a_route_that_changes_something(site, said):
    owner = site.people[2]
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    for method, path in ROUTES:
        if method != "GET" and path.startswith("/studio"):
            where = path.format(survey_id=site.survey, draft_id=site.draft)
            assert owner.request(method, where, b"", said | kind).status == 403, (method, path)
            assert owner.get("/studio/account").status == 200, (method, path)


def test_literal_headers_of_a_route(replies):
    for route, made in replies.items():
        for reply in made:
            expected = EVERYWHERE | HEADERS[ROUTES[route][0]]
            if reply.status >= 400:
                expected |= {"cache-control": "no-store"}
            got = {name.lower(): value for name, value in reply.headers}
            assert {name: got.get(name) for name in expected} == expected, route
            assert set(got) - set(expected) <= OF_ITS_OWN, route
            assert len(reply.headers) == len(got), f"{route}: a header twice"


def test_what_is_no_route_is_guarded_alike(site):
    for path in ("/nowhere", "/studio/nowhere", "/s/a/b/c", "/api/nowhere", "/static/nowhere", "/s", "//", "/%00"):
        for method in ("GET", "POST", "PUT"):
            reply = site.nobody.request(method, path, b"{}", {"Content-Type": "application/json"})
            got = {name.lower(): value for name, value in reply.headers}
            assert reply.status in (404, 405), (method, path)
            assert got["content-security-policy"] in (RESPONDENT, STUDIO, NOTHING), (method, path)
            assert EVERYWHERE.items() <= got.items(), (method, path)
            assert got["cache-control"] == "no-store", (method, path)
            if path.startswith("/api"):
                assert reply.json()["status"] == reply.status, (method, path)


def test_respondents_never_get_a_cookie(replies):
    public = [route for route in replies if route[1].startswith(("/s/", "/static"))]
    assert len(public) == 8
    for route in public:
        assert [reply.header("set-cookie") for reply in replies[route]] == [None] * 5, route


def test_https_is_insisted_on_where_people_use_it():
    for kind in HEADERS:
        assert dict(headers_of(kind, secure=True))[b"strict-transport-security"] == b"max-age=63072000"
        assert b"strict-transport-security" not in dict(headers_of(kind))


def test_api_ignores_sessions_and_the_studio_ignores_tokens(site):
    both = Client(site.port, dict(site.people[2].cookies), site.people[3].token)
    assert (
        both.request(
            "GET", "/api/v1/drafts", headers={"Cookie": "; ".join(f"{k}={v}" for k, v in both.cookies.items())}
        ).status
        == 403
    )
    owner = Client(site.port, {}, site.people[4].token)
    assert owner.get("/studio/people").status == 303


def test_tokens_that_are_none(site):
    for given in ("", "Bearer", "Bearer ", "Bearer sp_", "Basic sp_x", "bearer sp_" + "a" * 43, "Bearer \xe9"):
        reply = site.nobody.request("GET", "/api/v1/surveys", headers={"Authorization": given})
        assert reply.status == 401, given
        assert reply.header("www-authenticate") == "Bearer", given


# Addresses of the page, HEAD, and strangers with large bodies -----------------------------------


def test_other_ways_to_write_the_address_lead_to_the_page(site):
    usual = f"/s/{site.survey}"
    page = site.nobody.get(usual)
    for where in (
        f"{usual}/",
        usual.upper().replace("/S/", "/s/"),
        f"/s/{site.survey.title()}",
        f"/s/{site.survey.upper()}/",
    ):
        reply = site.nobody.get(where)
        # No "#" in it: then a browser keeps the code that it has there.
        assert (reply.status, reply.header("location")) == (307, usual), where
        assert site.nobody.get(reply.header("location")).body == page.body
    assert site.nobody.get("/s/NONE").body == page.body  # no id: the page tells
    assert site.nobody.get("/s/%0d%0aX%3a%20y/").header("location") == "/s/%0D%0Ax%3A%20y"
    assert site.nobody.get("/s//evil.example/").status == 404


def test_head_is_answered_wherever_get_is(site):
    for method, path in ROUTES:
        where = address(site, method, path)
        reply = site.people[2].request("HEAD", where)
        if method != "GET":
            if ("GET", path) not in ROUTES:
                assert reply.status in (404, 405), path
            continue
        got = site.people[2].get(where)
        assert (reply.status, reply.body) == (got.status, b""), path
        assert without_secrets(reply) == without_secrets(got), path


def without_secrets(reply):
    """The headers; where a link is made for one visit, it is another each time."""
    return [(name, value) for name, value in reply.headers if name.lower() != "location"]


@pytest.mark.parametrize("said", ["Content-Length: 1000000", "Transfer-Encoding: chunked"])
def test_strangers_are_answered_before_anything_large_is_sent(site, said):
    for path, status in (
        (f"/studio/drafts/{site.draft}/file", b"303"),
        (f"/studio/surveys/{site.survey}/codes", b"303"),
        ("/studio/drafts/new", b"303"),
        ("/api/v1/drafts", b"401"),
    ):
        for credentials in ("", f"Cookie: studio_session_{site.port}=x\r\n", "Authorization: Bearer sp_x\r\n"):
            with socket.create_connection(("127.0.0.1", site.port), timeout=60) as connection:
                own = f"Host: 127.0.0.1:{site.port}\r\nSec-Fetch-Site: same-origin\r\n{credentials}"
                kind = "Content-Type: application/x-www-form-urlencoded"
                connection.sendall(f"POST {path} HTTP/1.1\r\n{own}{kind}\r\n{said}\r\n\r\n".encode())
                assert connection.recv(12)[9:] == status, (path, credentials)


@pytest.mark.parametrize("said", ["Content-Length: 1000000", "Transfer-Encoding: chunked"])
def test_analysts_take_no_place_for_what_is_large(site, said):
    """There are eight, and only owners send anything large."""
    cookies = "; ".join(f"{name}={value}" for name, value in site.people[1].cookies.items())
    for path, credentials in (
        (f"/studio/drafts/{site.draft}/file", f"Cookie: {cookies}"),
        ("/api/v1/drafts", f"Authorization: Bearer {site.people[3].token}"),
    ):
        with socket.create_connection(("127.0.0.1", site.port), timeout=60) as connection:
            own = f"Host: 127.0.0.1:{site.port}\r\nSec-Fetch-Site: same-origin\r\n{credentials}\r\n"
            kind = "Content-Type: application/x-www-form-urlencoded"
            connection.sendall(f"POST {path} HTTP/1.1\r\n{own}{kind}\r\n{said}\r\n\r\n".encode())
            assert connection.recv(12)[9:] == b"403", path


def test_people_and_programs_send_what_is_large(site):
    text = SMALL + "# " + "x" * 100_000
    made = site.people[4].send("POST", "/api/v1/drafts", {"format": "toml", "text": text})
    assert made.status == 201
    sent = site.people[2].post("/studio/drafts/new", {"format": "toml", "text": text})
    assert (sent.status, "/studio/drafts/" in sent.header("location")) == (303, True)
