"""The guard before every route: whose request it is, how much may be sent, and errors that tell nothing."""

import asyncio
import itertools
import logging
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy.exc import OperationalError

from subsetprivacy.collect.web import security
from subsetprivacy.collect.web.refusals import refusal
from subsetprivacy.collect.web.security import Guard

HOST = "survey.example.org"


class Inner:
    """An application that counts what reaches it."""

    def __init__(self):
        self.bodies = []
        self.cookies = []

    async def __call__(self, scope, receive, send):
        self.cookies.append([value for name, value in scope["headers"] if name == b"cookie"])
        message = await receive() if scope["method"] == "POST" else {}
        self.bodies.append(message.get("body"))
        headers = [(b"content-type", b"text/plain"), (b"Cache-Control", b"public"), (b"Server", b"us")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"reached"})


def ask(app, path, method="POST", headers=(), body=(b"x",), scheme="http", gone=False, query=b""):
    """Send a request in pieces and return the status, the headers and the body of the answer."""
    sent = []
    pieces = list(body)

    async def receive():
        if pieces:
            part = pieces.pop(0)
            if part is None:
                await asyncio.Event().wait()  # it never comes
            return {"type": "http.request", "body": part, "more_body": bool(pieces) or gone}
        if gone:
            return {"type": "http.disconnect"}
        await asyncio.sleep(60)
        raise AssertionError("asked for more than there is")

    async def send(message):
        sent.append(message)

    raw = [(name.lower().encode(), value.encode()) for name, value in headers]
    scope = {"type": "http", "method": method, "path": path, "headers": raw, "scheme": scheme, "query_string": query}
    asyncio.run(app(scope, receive, send))
    if not sent:
        return None
    content = b"".join(message.get("body", b"") for message in sent[1:])
    return sent[0]["status"], dict(sent[0]["headers"]), content


# What is passed on ------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/s/x", "/s/x/manifest", "/studio", "/api/v1/surveys", "/static/x", "/"])
def test_cookies_that_are_not_ours_are_not_passed_on(path):
    """The framework reads them for every request, and Python's reader takes a time that grows with their square."""
    inner = Inner()
    for cookie in (
        'x="' + "\\" * 15_000 + '"',
        'studio_session_8000="' + "\\" * 15_000 + '"',
        "studio_session_8000=" + "a" * 101,
        "studio_session_8000 =a",
        "a=b; c=d",
        "",
    ):
        assert ask(Guard(inner), path, "GET", [("Cookie", cookie)])[0] == 200
    assert inner.cookies == [[]] * 6
    ours = "__Secure-studio_browser=A-z_0; studio_session_8000=abc"
    assert ask(Guard(inner), path, "GET", [("Cookie", f"a=b;{ours};x=y")])[0] == 200
    assert inner.cookies[-1] == [ours.encode()]


def test_a_long_query_is_refused_before_it_is_read():
    inner = Inner()
    for path in ("/s/x", "/studio", "/api/v1/drafts"):
        assert ask(Guard(inner), path, "GET", query=b"a&" * 1025)[0] == 414
        assert ask(Guard(inner), path, "GET", query=b"a&" * 1024)[0] == 200
    assert len(inner.bodies) == 3


@pytest.mark.parametrize("host", ["[x", "a]b", "[::1"])
def test_a_host_that_cannot_be_one_is_nobodys(host, caplog):
    inner = Inner()
    headers = [("Host", host), ("Origin", f"http://{host}")]
    assert ask(Guard(inner), "/studio/sign-in", headers=headers)[0] == 403
    assert not inner.bodies
    assert not caplog.records


# Whose request it is ----------------------------------------------------------------------------

SITES = (None, "same-origin", "none", "same-site", "cross-site", "", "SAME-ORIGIN")
ORIGINS = (
    None,
    f"http://{HOST}",
    f"https://{HOST}",
    f"http://{HOST}:80",
    f"http://{HOST}.evil.example",
    "http://evil.example",
    "null",
    "",
)


@pytest.mark.parametrize("secure", [False, True])
def test_every_combination_of_site_and_origin(secure):
    own = f"{'https' if secure else 'http'}://{HOST}"
    for site, origin in itertools.product(SITES, ORIGINS):
        inner = Inner()
        headers = [("Host", HOST)]
        headers += [] if site is None else [("Sec-Fetch-Site", site)]
        headers += [] if origin is None else [("Origin", origin)]
        status, _, _ = ask(Guard(inner, secure=secure), "/studio/people/invite", headers=headers)
        # Where the browser says it, nothing else counts.
        allowed = origin == own if site is None else site in ("same-origin", "none")
        assert status == (200 if allowed else 403), (site, origin)
        assert bool(inner.bodies) == allowed, (site, origin)


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ([("Origin", f"http://{HOST}")], False),  # no host
        ([("Host", HOST), ("Host", "evil.example"), ("Origin", f"http://{HOST}")], False),
        ([("Host", HOST), ("Origin", f"http://{HOST}"), ("Origin", "http://evil.example")], False),
        ([("Host", HOST), ("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Site", "cross-site")], False),
        ([("Host", f"{HOST}:8000"), ("Origin", f"http://{HOST}:8000")], True),  # a local network, plain http
        ([("Host", f"{HOST}:8000"), ("Origin", f"http://{HOST}:8001")], False),
        ([("Host", f"{HOST.upper()}:80"), ("Origin", f"http://{HOST}")], True),
        ([("Host", "[::1]:8000"), ("Origin", "http://[::1]:8000")], True),
    ],
)
def test_hosts_and_repeated_headers(headers, allowed):
    status, _, _ = ask(Guard(Inner()), "/studio/sign-in", headers=headers)
    assert (status == 200) == allowed


def test_address_that_is_configured_is_its_own_too():
    guard = Guard(Inner(), base_url="https://surveys.example.org/")
    behind_a_proxy = [("Host", "127.0.0.1:8000"), ("Origin", "https://surveys.example.org")]
    assert ask(guard, "/studio/sign-in", headers=behind_a_proxy)[0] == 200
    assert ask(guard, "/studio/sign-in", headers=[("Host", "127.0.0.1:8000"), ("Origin", "https://x.org")])[0] == 403


def test_every_method_that_changes_something_is_checked_outside_the_api():
    inner = Inner()
    for path in ("/studio", "/", "/nowhere", "/static/studio/x/y.js", "/studio/surveys/x/export/a.zip"):
        for method in ("POST", "PUT", "PATCH", "DELETE", "PROPFIND"):
            headers = [("Host", HOST), ("Sec-Fetch-Site", "cross-site")]
            assert ask(Guard(inner), path, method, headers)[0] == 403, (method, path)
    assert not inner.bodies


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_reading_is_not_checked(method):
    assert ask(Guard(Inner()), "/studio", method, [("Sec-Fetch-Site", "cross-site")])[0] == 200


def test_api_is_for_programs_and_not_checked():
    assert ask(Guard(Inner()), "/api/v1/drafts", "DELETE", [("Sec-Fetch-Site", "cross-site")])[0] == 200


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("application/json", 200),
        ("application/json; charset=utf-8", 200),
        ("Application/JSON", 200),
        ("text/plain", 415),  # what a form of another site could send
        ("application/x-www-form-urlencoded", 415),
        ("multipart/form-data; boundary=x", 415),
        ("text/plain; application/json", 415),
        ("", 415),
        (None, 415),
    ],
)
def test_respondents_send_json_from_wherever(kind, status):
    headers = [("Sec-Fetch-Site", "cross-site")] + ([] if kind is None else [("Content-Type", kind)])
    assert ask(Guard(Inner()), "/s/abcdefghijklmnop/submit", headers=headers)[0] == status


# How much ---------------------------------------------------------------------------------------

OWN = [("Host", HOST), ("Sec-Fetch-Site", "same-origin"), ("Content-Type", "application/json")]


class Knowing:
    """Knows whoever has the header X-Known; refuses others like the studio."""

    def __init__(self, besieged=False):
        self.besieged, self.asked = besieged, 0

    async def turns_away(self, scope):
        return self.besieged

    async def refuse_stranger(self, kind, scope):
        self.asked += 1
        is_known = (b"x-known", b"yes") in scope["headers"]
        return None if is_known else refusal(kind, 401)


SMALL, LARGE = 32 * 1024, 1024 * 1024
KNOWN = [*OWN, ("X-Known", "yes")]
CHUNKED = [("Transfer-Encoding", "chunked")]


def sized(number):
    return [("Content-Length", str(number))]


@pytest.mark.parametrize(
    ("path", "most"),
    [
        ("/s/abcdefghijklmnop/submit", SMALL),
        ("/s/abcdefghijklmnop/lock", SMALL),
        ("/studio/sign-in", SMALL),
        ("/studio/surveys/x/close", SMALL),
        ("/studio/drafts/x/file", LARGE),
        ("/studio/surveys/x/codes", LARGE),
        ("/api/v1/drafts", LARGE),
        ("/api/v1/surveys/x/close", SMALL),
    ],
)
def test_bodies_have_a_largest_size(path, most):
    inner = Inner()
    guard = Guard(inner, access=Knowing())
    body = [b"x" * (most - 5), b"x" * 5]
    for said in (CHUNKED, sized(most)):
        assert ask(guard, path, headers=KNOWN + said, body=body)[0] == 200
    assert inner.bodies == [b"x" * most] * 2
    for said in (CHUNKED, sized(most)):  # the second lies
        assert ask(guard, path, headers=KNOWN + said, body=[b"x" * most, b"x"])[0] == 413
    assert ask(guard, path, headers=KNOWN + sized(most + 1), body=[None])[0] == 413  # without waiting for it
    assert len(inner.bodies) == 2


@pytest.mark.parametrize("path", ["/studio/drafts/x/file", "/studio/surveys/x/codes", "/api/v1/drafts", "/nowhere"])
def test_nothing_large_is_read_of_strangers(path):
    inner = Inner()
    for said in (CHUNKED, sized(SMALL + 1), sized(LARGE), sized("x")):
        status, _, _ = ask(Guard(inner, access=Knowing()), path, headers=OWN + said, body=[b"x" * (SMALL + 1), None])
        assert status == (413 if path == "/nowhere" else 401)
    assert not inner.bodies


def test_what_is_as_small_as_a_form_is_read_of_anybody_and_judged_by_the_route():
    inner, knowing = Inner(), Knowing()
    for path in ("/studio/sign-in", "/studio/drafts/x/file", "/api/v1/drafts"):
        assert ask(Guard(inner, access=knowing), path, headers=OWN + sized(SMALL), body=[b"x" * SMALL])[0] == 200
    assert (inner.bodies, knowing.asked) == ([b"x" * SMALL] * 3, 0)


def test_few_large_bodies_are_held_at_once():
    inner, guard = Inner(), None
    statuses = []

    async def one_inside_another(scope, receive, send):
        """Send a further one while this is held."""
        headers = [(name.decode(), value.decode()) for name, value in scope["headers"]]
        if len(statuses) < security.MOST_LARGE + 3:
            statuses.append(None)
            with ThreadPoolExecutor(1) as pool:
                made = pool.submit(ask, guard, scope["path"], headers=headers, body=[b"x" * LARGE]).result()
            statuses.append(made[0])
        await inner(scope, receive, send)

    guard = Guard(one_inside_another, access=Knowing())
    assert ask(guard, "/api/v1/drafts", headers=KNOWN + sized(LARGE), body=[b"x" * LARGE])[0] == 200
    assert [status for status in statuses if status is not None] == [503] + [200] * (security.MOST_LARGE - 1)
    assert guard._large == 0


def test_besieged_doors_read_nothing():
    inner = Inner()
    status, headers, _ = ask(Guard(inner, access=Knowing(True)), "/studio/sign-in", headers=OWN + sized(9), body=[None])
    assert (status, headers[b"retry-after"]) == (503, b"1")
    assert not inner.bodies


# What is answered -------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 32 * 1024, 32 * 1024 + 1, 96 * 1024, 200_000])
def test_what_is_large_is_answered_in_pieces(size):
    sent = []

    async def large(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": bytes(range(256)) * (size // 256) + b"x" * (size % 256)})

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/studio", "headers": [], "scheme": "http", "query_string": b""}
    asyncio.run(Guard(large)(scope, None, send))
    pieces = sent[1:]
    assert b"".join(piece["body"] for piece in pieces) == bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    assert max(len(piece["body"]) for piece in pieces) <= security.PIECE_BYTES
    assert [piece.get("more_body", False) for piece in pieces] == [True] * (len(pieces) - 1) + [False]


def test_head_is_answered_as_get_is_without_the_body():
    inner = Inner()
    for path in ("/studio", "/s/abcdefghijklmnop"):
        got, head = ask(Guard(inner), path, "GET"), ask(Guard(inner), path, "HEAD")
        assert head[:2] == got[:2]
        assert (got[2], head[2]) == (b"reached", b"")


# Too slow, or gone ------------------------------------------------------------------------------


def test_endless_body_is_refused_before_its_end():
    pieces = [b"x" * 1000] * 1_000
    assert ask(Guard(Inner()), "/studio/sign-in", headers=OWN + CHUNKED, body=pieces)[0] == 413


def test_slow_body_is_refused(monkeypatch):
    monkeypatch.setattr(security, "READ_SECONDS", 0.05)
    inner = Inner()
    slow = [*OWN, ("Content-Length", "2")]
    for path in ("/studio/sign-in", "/studio/drafts/x/file", "/api/v1/drafts", "/s/abcdefghijklmnop/x", "/nowhere"):
        status, headers, _ = ask(Guard(inner), path, headers=slow, body=[b"x", None, b"y"])
        assert (status, headers[b"connection"]) == (408, b"close")
    assert not inner.bodies


def test_nothing_is_answered_to_a_browser_that_has_gone():
    inner = Inner()
    assert ask(Guard(inner), "/studio/sign-in", headers=OWN, body=[b"x"], gone=True) is None
    assert not inner.bodies


# Headers and errors -----------------------------------------------------------------------------


def test_headers_of_the_guard_win():
    _, headers, _ = ask(Guard(Inner()), "/studio", "GET")
    assert headers[b"cache-control"] == b"no-store"
    assert b"Server" not in headers
    assert b"server" not in headers
    assert b"Cache-Control" not in headers


def test_refusals_of_static_files_are_not_kept():
    async def missing(scope, receive, send):
        await send({"type": "http.response.start", "status": 404, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    assert ask(Guard(missing), "/static/studio/x/y.js", "GET")[1][b"cache-control"] == b"no-store"
    assert b"immutable" in ask(Guard(Inner()), "/static/studio/x/y.js", "GET")[1][b"cache-control"]


SECRET = "the-secret-of-a-person"


async def failing(scope, receive, send):
    await receive()
    raise ValueError(f"could not store {SECRET} of {scope['headers']}")


@pytest.mark.parametrize("path", ["/studio/sign-in", "/s/abcdefghijklmnop/submit", "/api/v1/drafts", "/nowhere"])
def test_errors_tell_nothing_to_anybody(path, caplog, capfd):
    headers = [*OWN, ("X-Forwarded-For", SECRET), ("User-Agent", SECRET)]
    with caplog.at_level(logging.DEBUG):
        status, _, body = ask(Guard(failing), path, headers=headers, body=[SECRET.encode()])
    assert status == 500
    assert SECRET.encode() not in body
    assert b"ValueError" not in body
    (line,) = [record.getMessage() for record in caplog.records if record.name.startswith("subsetprivacy")]
    assert line.startswith("ValueError in /collect/web/security.py:")
    assert not any(record.exc_info for record in caplog.records)
    assert SECRET not in caplog.text + "".join(capfd.readouterr())


def test_database_that_is_away_or_busy_is_worth_another_try(caplog):
    async def busy(scope, receive, send):
        raise OperationalError("SELECT of a secret", {"ticket": SECRET}, Exception(SECRET))

    for path in ("/studio", "/api/v1/surveys"):
        status, headers, body = ask(Guard(busy), path, "GET")
        assert (status, headers[b"retry-after"]) == (503, b"1")
        assert SECRET.encode() not in body
    assert SECRET not in caplog.text
    assert "OperationalError" in caplog.text


def test_error_after_the_answer_has_begun_is_logged_and_ends_it(caplog):
    async def breaking(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise RuntimeError(SECRET)

    assert ask(Guard(breaking), "/studio", "GET")[0] == 200
    assert SECRET not in caplog.text
    assert "RuntimeError" in caplog.text


def test_what_is_not_http_passes_by():
    seen = []

    async def inner(scope, receive, send):
        seen.append(scope["type"])

    asyncio.run(Guard(inner)({"type": "lifespan"}, None, None))
    assert seen == ["lifespan"]
