"""Setting up, signing in and out, invitations, people and tokens, as pages."""

import re
import threading
from html import unescape

import pytest
from sites import ANALYST, OWNER, PASSWORD, Client, Site

from subsetprivacy.collect.service import accounts
from subsetprivacy.collect.service.throttling import FREE_TRIES

TOKEN = "the-set-up-token"
NEW = "another long password"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with Site(tmp_path_factory.mktemp("site") / "store.db") as held:
        yield held


@pytest.fixture
def fresh(tmp_path):
    with Site(tmp_path / "store.db", people=False, setup_token=TOKEN) as held:
        yield held


def account(name="olga", password=PASSWORD, **more):
    return {"name": name, "password": password, "repeated": password, **more}


def shown(text, name):
    """Return what stands in a field to copy."""
    return unescape(re.search(rf'id="{name}"[^>]*value="([^"]*)"', text)[1])


# Setting up -------------------------------------------------------------------------------------


def test_set_up_link_works_once(fresh):
    client = fresh.nobody
    assert client.get("/studio").header("location") == "/studio/sign-in"
    assert client.get("/studio/sign-in").header("location") == "/studio/setup"
    assert 'name="token"' in client.get("/studio/setup").text
    done = client.post("/studio/setup", account(token=TOKEN))
    assert (done.status, done.header("location")) == (303, "/studio")
    assert client.get("/studio").status == 200
    again = fresh.nobody.post("/studio/setup", account("eve", token=TOKEN))
    assert again.status == 422
    assert [person.name for person, _ in accounts.accounts(fresh.engine)] == ["olga"]
    assert fresh.nobody.get("/studio/setup").header("location") == "/studio/sign-in"


def test_set_up_that_is_refused_makes_nothing(fresh):
    for sent, said in (
        ({"token": "wrong"}, "not the token"),
        ({"token": ""}, "not the token"),
        ({"token": TOKEN, "repeated": "something else again"}, "not the same"),
        ({"token": TOKEN, "password": "short", "repeated": "short"}, "at least 12"),
        ({"token": TOKEN, "name": "a b"}, "A name must"),
    ):
        reply = fresh.nobody.post("/studio/setup", account() | sent)
        assert reply.status == 422
        assert said in reply.text
        assert reply.header("set-cookie") is None
        assert accounts.needs_setup(fresh.engine)
        assert PASSWORD not in reply.text


def test_no_token_no_set_up(tmp_path):
    with Site(tmp_path / "store.db", people=False) as site:
        assert "subsetprivacy serve" in site.nobody.get("/studio/setup").text
        for token in ("", "None"):
            assert site.nobody.post("/studio/setup", account(token=token)).status == 422
        assert accounts.needs_setup(site.engine)


def test_of_many_at_once_with_the_link_one_gets_in(fresh):
    statuses = []

    def attempt(k):
        statuses.append(fresh.nobody.post("/studio/setup", account(f"person{k}", token=TOKEN)).status)

    threads = [threading.Thread(target=attempt, args=(k,)) for k in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [303, 422, 422, 422, 422]
    assert len(accounts.accounts(fresh.engine)) == 1


# Signing in and out -----------------------------------------------------------------------------


def test_sign_in_gives_a_cookie_for_the_studio_alone(site):
    client = site.nobody
    reply = client.post("/studio/sign-in", {"name": " Olga", "password": PASSWORD})
    assert (reply.status, reply.header("location")) == (303, "/studio")
    for cookie, kind, days, path in zip(
        reply.all("set-cookie"), ("session", "browser"), (14, 400), ("/studio", "/studio/sign-in"), strict=True
    ):
        value, *attributes = [part.strip() for part in cookie.split(";")]
        assert re.fullmatch(rf"studio_{kind}_{site.port}=[A-Za-z0-9_-]{{43}}", value)
        assert sorted(attributes) == ["HttpOnly", f"Max-Age={days * 86400}", f"Path={path}", "SameSite=strict"]
    assert "olga" in client.get("/studio/account").text


def test_cookie_over_https(tmp_path):
    with Site(tmp_path / "store.db", secure=True) as site:
        client = site.nobody
        reply = client.post("/studio/sign-in", {"name": "olga", "password": PASSWORD})
        for cookie, kind in zip(reply.all("set-cookie"), ("session", "browser"), strict=True):
            assert cookie.startswith(f"__Secure-studio_{kind}_{site.port}=")
            assert "; Secure" in cookie
        assert reply.header("strict-transport-security") == "max-age=63072000"
        assert client.get("/studio").status == 200
        name = f"studio_session_{site.port}"
        plain = Client(site.port, {name: client.cookies[f"__Secure-{name}"]})
        assert plain.get("/studio").status == 303


def test_wrong_sign_in_says_the_same_whatever_is_wrong(site):
    for name, password in (("olga", "wrong password"), ("nobody", PASSWORD), ("", ""), ("olga", "")):
        site.app.state.studio.throttle.__init__()
        reply = site.nobody.post("/studio/sign-in", {"name": name, "password": password})
        assert reply.status == 401
        assert reply.header("set-cookie") is None
        assert "The name or the password is wrong" in reply.text
        assert reply.text == site.nobody.post("/studio/sign-in", {"name": name, "password": "xx"}).text


def test_many_tries_are_slowed_and_then_refused(site, monkeypatch):
    import anyio

    waits = []

    async def no_sleep(seconds):
        waits.append(seconds)

    monkeypatch.setattr(anyio, "sleep", no_sleep)
    site.app.state.studio.throttle.__init__(lambda: 0.0)  # no time passes between two tries
    statuses = [site.nobody.post("/studio/sign-in", {"name": "target", "password": "x"}).status for _ in range(14)]
    assert statuses[: FREE_TRIES + 1] == [401] * (FREE_TRIES + 1)
    assert statuses[-1] == 429
    assert waits[:FREE_TRIES] == [0.0] * FREE_TRIES
    assert waits[FREE_TRIES] == 1.0
    assert site.nobody.post("/studio/sign-in", {"name": "olga", "password": PASSWORD}).status == 303


def test_sign_out_ends_the_session_itself(site):
    client = site.signed_in(OWNER)
    kept = Client(site.port, dict(client.cookies))
    reply = client.post("/studio/sign-out")
    assert reply.header("location") == "/studio/sign-in"
    assert f'studio_session_{site.port}=""; ' in reply.header("set-cookie")
    assert kept.get("/studio").status == 303


def test_strange_cookies_open_nothing(site):
    for value in ("", "x", "a" * 5000, "a;b", "\xff"):
        site.app.state.studio.throttle.__init__()
        assert Client(site.port, {f"studio_session_{site.port}": value}).get("/studio").status == 303
        strange = Client(site.port, {f"studio_browser_{site.port}": value})
        assert strange.post("/studio/sign-in", {"name": "nobody", "password": PASSWORD}).status == 401


def test_strange_forms_are_refused_and_break_nothing(site):
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    for body in (b"\xff", b"name=%ff", b"&" * 500, b"name=a" * 100, b""):
        site.app.state.studio.throttle.__init__()
        assert site.nobody.request("POST", "/studio/sign-in", body, form).status in (400, 401)
        assert site.nobody.request("POST", "/studio/sign-in", body, {"Content-Type": "text/plain"}).status == 415


# One's own account ------------------------------------------------------------------------------


def test_changing_the_password_signs_out_everywhere_else(site):
    site.app.state.studio.throttle.__init__()
    here, there = site.signed_in(ANALYST), site.signed_in(ANALYST)
    sent = {"old": PASSWORD, "password": NEW, "repeated": NEW}
    assert here.post("/studio/account/password", sent).status == 303
    assert here.get("/studio").status == 200
    assert there.get("/studio").status == 303
    assert accounts.check_password(site.engine, "anna", NEW)
    back = {"old": NEW, "password": PASSWORD, "repeated": PASSWORD}
    assert here.post("/studio/account/password", back).status == 303


def test_password_is_not_changed_without_the_old_one(site):
    site.app.state.studio.throttle.__init__()
    client = site.signed_in(ANALYST)
    for old, new, repeated, said in [
        ("wrong", NEW, NEW, "is wrong"),
        (PASSWORD, NEW, "other", "not the same"),
        (PASSWORD, "short", "short", "at least 12"),
    ]:
        reply = client.post("/studio/account/password", {"old": old, "password": new, "repeated": repeated})
        assert reply.status == 422
        assert said in reply.text
    assert accounts.check_password(site.engine, "anna", PASSWORD)


# People and tokens ------------------------------------------------------------------------------


def test_invitation_from_page_to_account(site):
    site.app.state.studio.throttle.__init__()
    owner = site.signed_in(OWNER)
    page = owner.post("/studio/people/invite", {"name": "Maria", "role": "analyst"})
    link = shown(page.text, "invitation-link")
    path, _, rest = link.partition("#")
    name, secret = rest.split("/")
    assert (path, name) == ("/studio/invitation", "maria")
    assert secret not in owner.get("/studio/people").text
    invited = site.nobody
    slip = invited.post("/studio/invitation", account("maria", NEW, token=secret) | {"repeated": "another"})
    assert (slip.status, secret in slip.text, NEW in slip.text) == (422, True, False)
    wrong = invited.post("/studio/invitation", account("maria", NEW, token="wrong"))
    assert wrong.status == 422
    assert invited.post("/studio/invitation", account("maria", NEW, token=secret)).status == 303
    assert "maria" in invited.get("/studio/account").text
    assert invited.get("/studio/people").status == 403
    assert site.nobody.post("/studio/invitation", account("maria", PASSWORD, token=secret)).status == 422
    assert owner.post("/studio/people/invite", {"name": "maria", "role": "owner"}).status == 422
    again = owner.post("/studio/people/invite-again", {"name": "maria"})
    assert "/studio/invitation#maria/" in shown(again.text, "invitation-link")
    assert invited.get("/studio").status == 303
    assert owner.post("/studio/people/remove", {"name": "maria"}).status == 303
    assert "maria" not in [person.name for person, _ in accounts.accounts(site.engine)]


def test_last_owner_is_not_removed(site):
    reply = site.signed_in(OWNER).post("/studio/people/remove", {"name": "olga"})
    assert reply.status == 422
    assert "last owner" in reply.text


def test_token_is_shown_once_and_can_be_revoked(site):
    owner = site.signed_in(OWNER)
    page = owner.post("/studio/tokens/make", {"name": "nightly", "role": "analyst"})
    token = shown(page.text, "new-token")
    assert Client(site.port, token=token).get("/api/v1/surveys").status == 200
    listed = owner.get("/studio/people").text
    assert token not in listed
    assert "nightly" in listed
    (mark,) = re.findall(r'name="mark" value="([0-9a-f]{64})"', listed)
    assert owner.post("/studio/tokens/revoke", {"mark": mark}).status == 303
    assert Client(site.port, token=token).get("/api/v1/surveys").status == 401


def test_links_begin_with_the_configured_address_whatever_the_host_header_says(tmp_path):
    with Site(tmp_path / "store.db", base_url="https://ask.example.org") as site:
        owner = site.signed_in(OWNER)
        headers = {"Host": f"evil.example:{site.port}", "X-Forwarded-Host": "evil.example"}
        page = owner.post("/studio/people/invite", {"name": "maria", "role": "analyst"}, headers)
        assert shown(page.text, "invitation-link").startswith("https://ask.example.org/studio/invitation#maria/")
        assert "evil.example" not in page.text
    with Site(tmp_path / "other.db") as site:
        headers["Host"] = f"evil.example:{site.port}"
        page = site.signed_in(OWNER).post("/studio/people/invite", {"name": "maria", "role": "analyst"}, headers)
        assert shown(page.text, "invitation-link").startswith("/studio/invitation#maria/")
        assert "evil.example" not in page.text
