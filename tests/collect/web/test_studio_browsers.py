"""Strangers at the door: they are slowed, and cannot keep out whoever has signed in before. And two servers at once."""

import threading
import time

import anyio
import pytest
from effort import statements
from sites import ANALYST, OWNER, PASSWORD, Client, Site

from subsetprivacy.collect.service import accounts, passwords
from subsetprivacy.collect.web import password_hashing

WRONG = {"name": "olga", "password": "not the password"}
RIGHT = {"name": "olga", "password": PASSWORD}


@pytest.fixture(scope="module")
def held(tmp_path_factory):
    with Site(tmp_path_factory.mktemp("site") / "store.db") as site:
        yield site


@pytest.fixture
def site(held, monkeypatch):
    """A site that nobody has tried yet, at which waiting takes no time, and none passes between two tries."""
    waits = []

    async def no_sleep(seconds):
        waits.append(seconds)

    monkeypatch.setattr(anyio, "sleep", no_sleep)
    held.app.state.studio.throttle.__init__(lambda: 0.0)
    held.waits = waits
    return held


def returning(site, name="olga"):
    """Return a browser that has signed in, and out."""
    client = site.nobody
    assert client.post("/studio/sign-in", {"name": name, "password": PASSWORD}).status == 303
    assert client.post("/studio/sign-out").status == 303
    return client


def besiege(site):
    """Let strangers try a name until they are refused."""
    for _ in range(40):
        if site.nobody.post("/studio/sign-in", WRONG).status == 429:
            return
    pytest.fail("strangers are never refused")


def test_a_stranger_is_slowed_and_a_known_browser_is_not(site):
    client = returning(site)
    besiege(site)
    assert site.nobody.post("/studio/sign-in", RIGHT).status == 429
    site.waits.clear()
    assert client.post("/studio/sign-in", RIGHT).status == 303
    assert site.waits == [0.0]
    assert client.get("/studio").status == 200
    assert site.nobody.post("/studio/sign-in", RIGHT).status == 429  # that has freed no stranger


def test_a_known_browser_is_slowed_by_its_own_tries_and_not_those_of_another(site):
    client, other = returning(site), returning(site)
    statuses = [client.post("/studio/sign-in", WRONG).status for _ in range(20)]
    assert statuses[0] == 401
    assert statuses[-1] == 429
    assert other.post("/studio/sign-in", RIGHT).status == 303
    assert site.nobody.post("/studio/sign-in", RIGHT).status == 303


def test_the_secret_of_another_account_or_a_forged_one_does_not_help(site):
    name = f"studio_browser_{site.port}"
    theirs = returning(site, "anna").cookies[name]
    session = accounts.begin_session(site.engine, OWNER)
    besiege(site)
    for secret in (theirs, session, "x" * 43, theirs[:-1], "", passwords.new_secret()):
        assert Client(site.port, {name: secret}).post("/studio/sign-in", RIGHT).status == 429


def test_a_new_password_ends_what_an_old_browser_was_known_by(site):
    stolen = returning(site, "anna")
    new = "another long password"
    accounts.change_password(site.engine, ANALYST, PASSWORD, new)
    accounts.change_password(site.engine, ANALYST, new, PASSWORD)
    for _ in range(40):
        site.nobody.post("/studio/sign-in", {**WRONG, "name": "anna"})
    assert stolen.post("/studio/sign-in", {"name": "anna", "password": PASSWORD}).status == 429


def test_whoever_is_signed_in_can_change_the_password_meanwhile(site):
    client = site.signed_in(OWNER)
    besiege(site)
    sent = {"old": PASSWORD, "password": PASSWORD, "repeated": PASSWORD}
    assert client.post("/studio/account/password", sent).status == 303
    statuses = [client.post("/studio/account/password", {**sent, "old": "wrong"}).status for _ in range(20)]
    assert statuses[0] == 422
    assert statuses[-1] == 429  # guesses at it are slowed here, too


def test_whoever_is_invited_cannot_be_kept_out(site):
    secret = accounts.invite(site.engine, OWNER, "maria", "analyst")
    sent = {"name": "maria", "password": PASSWORD, "repeated": PASSWORD}
    for _ in range(40):
        assert site.nobody.post("/studio/invitation", {**sent, "token": "wrong"}).status == 422
        site.nobody.post("/studio/sign-in", {"name": "maria", "password": "x"})
    assert site.nobody.post("/studio/invitation", {**sent, "token": secret}).status == 303
    accounts.remove(site.engine, OWNER, "maria")


def test_the_first_owner_cannot_be_kept_out(tmp_path):
    with Site(tmp_path / "store.db", people=False, setup_token="the-token") as site:
        sent = {"name": "olga", "password": PASSWORD, "repeated": PASSWORD}
        for _ in range(40):
            assert site.nobody.post("/studio/setup", {**sent, "token": "wrong"}).status == 422
        assert site.nobody.post("/studio/setup", {**sent, "token": "the-token"}).status == 303


def test_wrong_invitations_cost_no_effort(site, monkeypatch):
    def never(*_):
        raise AssertionError("a password was hashed")

    monkeypatch.setattr(passwords, "hash_password", never)
    sent = {"name": "olga", "token": "wrong", "password": PASSWORD, "repeated": PASSWORD}
    assert site.nobody.post("/studio/invitation", sent).status == 422


def test_flood_at_the_door_does_not_keep_a_known_browser_out(site, monkeypatch):
    """Many names, none tried often enough to be slowed: what they fill is the queue of those who hash."""
    client, over = returning(site), threading.Event()
    usual = passwords.is_password

    def slow(kept, password):
        if password == "flood":
            over.wait(120)
        return usual(kept, password)

    monkeypatch.setattr(passwords, "is_password", slow)
    monkeypatch.setattr(site.app.state.studio.hashing._strangers, "_most", 6)
    monkeypatch.setattr(site.app.state.studio.hashing._strangers, "_seconds", None)  # they wait until it is over
    statuses = []

    def attempt(k):
        statuses.append(site.nobody.post("/studio/sign-in", {"name": f"name{k}", "password": "flood"}).status)

    threads = [threading.Thread(target=attempt, args=(k,)) for k in range(10)]
    for thread in threads:
        thread.start()
    try:
        until = time.monotonic() + 100
        while len(statuses) < 4 and time.monotonic() < until:  # all but the six who wait are turned away
            time.sleep(0.02)
        site.waits.clear()
        assert site.nobody.post("/studio/sign-in", RIGHT).status == 503
        assert site.waits == [
            password_hashing.DELAY_SECONDS
        ]  # not at once, so that asking again and again costs little
        site.waits.clear()
        assert client.post("/studio/sign-in", RIGHT).status == 303
        assert site.waits == [0.0]
        with statements(site.engine) as sent:
            for k in range(20):
                forged = Client(site.port, {f"studio_browser_{site.port}": f"{k}" * 43})
                site.waits.clear()
                assert forged.post("/studio/sign-in", RIGHT).status == 503
                assert site.waits == [password_hashing.DELAY_SECONDS]  # as any stranger
        assert len(sent) < 20  # the database is not asked about each
        site.waits.clear()
        assert client.post("/studio/sign-in", {**RIGHT, "name": "anna"}).status == 503  # known, but not to this account
        assert site.waits[-1] == password_hashing.DELAY_SECONDS
    finally:
        over.set()
        for thread in threads:
            thread.join(120)
    assert set(statuses) == {401, 503}


def test_nothing_but_the_lanes_hashes_not_even_at_the_first_sign_ins(site, monkeypatch):
    """A server that has hashed nothing yet, and a burst of names that do not exist."""
    usual = passwords._hasher()
    lock, gate = threading.Lock(), threading.Event()
    threads, now, most = set(), [0], [0]

    class Noting:
        def __getattr__(self, name):
            return getattr(usual, name)

        def hash(self, password):
            return self.note(usual.hash, password)

        def verify(self, kept, password):
            return self.note(usual.verify, kept, password)

        def note(self, work, *arguments):
            with lock:
                threads.add(threading.current_thread().name.partition("_")[0])
                now[0] += 1
                most[0] = max(most[0], now[0])
            gate.wait(0.05)  # others could begin now
            with lock:
                now[0] -= 1
            return work(*arguments)

    monkeypatch.setattr(passwords, "_hasher", Noting)
    monkeypatch.setattr(site.app.state.studio.hashing._strangers, "_rest", 0.0)
    statuses = []

    def attempt(k):
        statuses.append(site.nobody.post("/studio/sign-in", {"name": f"nobody{k}", "password": "x"}).status)

    attempts = [threading.Thread(target=attempt, args=(k,)) for k in range(12)]
    for one in attempts:
        one.start()
    for one in attempts:
        one.join(120)
    assert statuses == [401] * 12
    assert threads == {"passwords"}
    assert most == [1]


# Two servers ------------------------------------------------------------------------------------


def test_two_servers_on_one_host_do_not_sign_out_of_each_other(tmp_path):
    """A browser has one jar of cookies for a host, whatever the port."""
    with Site(tmp_path / "one.db") as one, Site(tmp_path / "two.db") as two:
        jar = {}
        first, second = Client(one.port, jar), Client(two.port, jar)
        for client in (first, second):
            assert client.post("/studio/sign-in", RIGHT).status == 303
        assert [client.get("/studio").status for client in (first, second)] == [200, 200]
        assert first.post("/studio/sign-out").status == 303
        assert [client.get("/studio").status for client in (first, second)] == [303, 200]


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("localhost:8000", "studio_session_8000"),
        ("[::1]:8000", "studio_session_8000"),
        ("ask.example.org", "studio_session"),
        ("[::1]", "studio_session"),
        ("", "studio_session"),
        ("x:80=y; a", "studio_session"),
        ("x:123456", "studio_session"),
    ],
)
def test_name_of_the_cookie(held, host, name):
    assert held.app.state.studio.cookie(host) == name
