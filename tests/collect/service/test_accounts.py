"""Accounts, sessions, tokens and invitations: what opens, what does not, and what is left in the database."""

import sqlite3
import threading
from datetime import date, timedelta
from pathlib import Path

import pytest
from argon2.exceptions import VerifyMismatchError
from effort import statements
from sites import light_hashes
from sqlalchemy import select

from subsetprivacy.collect.service import accounts, passwords
from subsetprivacy.collect.service.accounts import ANALYST, OWNER, StudioUser
from subsetprivacy.collect.service.passwords import AccountError
from subsetprivacy.collect.service.throttling import FORGET_AFTER, FREE_TRIES, LONGEST_STEP, MOST_NAMES, Throttle
from subsetprivacy.collect.storage.opening import reading
from subsetprivacy.collect.storage.schema import account, session

PASSWORD, OTHER = "correct horse battery staple", "a wholly different phrase"


@pytest.fixture(autouse=True)
def _light(request):
    if "in_earnest" in request.fixturenames:
        yield
    else:
        with light_hashes():
            yield


@pytest.fixture
def in_earnest():
    """Take the hash of earnest use."""


@pytest.fixture
def olga(engine):
    return accounts.set_up(engine, "Olga", PASSWORD)


@pytest.fixture
def later(monkeypatch):
    """Move the day."""

    def move(days):
        moved = date(2026, 1, 31) + timedelta(days=days)
        for module in (accounts, passwords):
            monkeypatch.setattr(module, "today", lambda: moved)

    return move


# On both databases ------------------------------------------------------------------------------


def test_whole_life_of_accounts_on_both_databases(store):
    assert accounts.needs_setup(store)
    olga = accounts.set_up(store, "olga", PASSWORD)
    assert not accounts.needs_setup(store)
    invitation = accounts.invite(store, olga, "anna", ANALYST)
    anna = accounts.accept(store, "anna", invitation, OTHER)
    secret = accounts.begin_session(store, anna)
    assert accounts.person_of_session(store, secret) == StudioUser("anna", "analyst")
    token = accounts.make_token(store, olga, "report", ANALYST)
    assert accounts.person_of_token(store, token) == StudioUser("token report", "analyst")
    assert accounts.revoke_token(store, olga, accounts.tokens(store)[0].mark.hex())
    assert accounts.person_of_token(store, token) is None
    accounts.remove(store, olga, "anna")
    assert accounts.person_of_session(store, secret) is None
    assert [deed.act for deed in accounts.activity(store)] == [
        "removed the account anna",
        "revoked the token “report”",
        "made the token “report” for an analyst",
        "accepted the invitation",
        "invited anna as analyst",
        "set up the studio",
    ]


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000, "' or 1=1 --", "", "ß"])
def test_strange_names_are_unknown_and_nothing_else(store, name):
    accounts.set_up(store, "olga", PASSWORD)
    assert accounts.check_password(store, name, PASSWORD) is None


# Setting up -------------------------------------------------------------------------------------


def test_of_many_set_ups_at_once_one_counts(store):
    outcomes = []

    def attempt(k):
        try:
            outcomes.append(accounts.set_up(store, f"person{k}", PASSWORD).name)
        except AccountError:
            outcomes.append(None)

    threads = [threading.Thread(target=attempt, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(name is not None for name in outcomes) == 1
    assert len(accounts.accounts(store)) == 1


@pytest.mark.parametrize(
    ("name", "password"), [("", PASSWORD), ("a b", PASSWORD), ("-a", PASSWORD), ("a" * 64, PASSWORD)]
)
def test_names_that_will_not_do(engine, name, password):
    with pytest.raises(AccountError):
        accounts.set_up(engine, name, password)


@pytest.mark.parametrize("password", ["", "elevenchars", "x" * 1025])
def test_passwords_that_will_not_do(engine, password):
    with pytest.raises(AccountError):
        accounts.set_up(engine, "olga", password)


def test_twelve_characters_do(engine):
    assert accounts.set_up(engine, "olga", "twelve chars") == StudioUser("olga", OWNER)


# Signing in -------------------------------------------------------------------------------------


def test_password_opens_its_own_account_only(engine, olga):
    assert accounts.check_password(engine, " OLGA ", PASSWORD) == StudioUser("olga", OWNER)
    assert accounts.check_password(engine, "olga", PASSWORD + " ") is None
    assert accounts.check_password(engine, "olga", "") is None
    assert accounts.check_password(engine, "anna", PASSWORD) is None


def test_password_is_the_same_however_its_letters_are_composed(engine):
    accounts.set_up(engine, "olga", "caf\u00e9 au lait noir")
    assert accounts.check_password(engine, "olga", "cafe\u0301 au lait noir") is not None


def test_hash_is_argon2id_with_the_usual_effort(in_earnest):
    kept = passwords.hash_password(PASSWORD)
    assert kept.startswith("$argon2id$v=19$m=65536,t=3,p=4$")  # RFC 9106, the second recommendation
    assert kept != passwords.hash_password(PASSWORD)
    assert passwords.is_password(kept, PASSWORD)


def test_unknown_name_takes_as_long_as_a_wrong_password(in_earnest, engine, olga, monkeypatch):
    """Each is compared with one hash of the same effort, which is all that takes time."""
    accounts.invite(engine, olga, "anna", ANALYST)
    hasher, compared = passwords._hasher(), []

    class Noting:
        def __getattr__(self, name):
            return getattr(hasher, name)

        def verify(self, kept, password):
            compared.append(kept.split("$")[:4])
            raise VerifyMismatchError

    monkeypatch.setattr(passwords, "_hasher", Noting)
    for name in ("olga", "nobody", "anna", "no name at all"):
        with statements(engine) as sent:
            assert accounts.check_password(engine, name, "not the password") is None
        assert len(sent) == 2  # begin, and look the name up
        assert compared == [["", "argon2id", "v=19", "m=65536,t=3,p=4"]]
        compared.clear()


def test_the_hash_that_nothing_fits_is_like_any_other_and_takes_no_effort(in_earnest, monkeypatch):
    real, made = passwords.hash_password(PASSWORD), [passwords.dummy_hash() for _ in range(2)]
    assert made[0] != made[1]
    for one in made:
        assert [len(part) for part in one.split("$")] == [len(part) for part in real.split("$")]
        assert not passwords.is_outdated(one)
        assert not passwords.is_password(one, PASSWORD)
    monkeypatch.setattr(type(passwords._hasher()), "hash", None)
    passwords.dummy_hash()


def test_hash_of_less_effort_is_renewed_at_sign_in(in_earnest, engine, olga):
    from argon2 import PasswordHasher

    weak = PasswordHasher(time_cost=1, memory_cost=1024).hash(PASSWORD)
    with engine.begin() as connection:
        connection.execute(account.update().values(password=weak))
    assert accounts.check_password(engine, "olga", PASSWORD) is not None
    with reading(engine) as connection:
        kept = connection.scalar(select(account.c.password))
    assert kept != weak
    assert kept.startswith("$argon2id$")
    assert accounts.check_password(engine, "olga", PASSWORD) is not None


# Sessions ---------------------------------------------------------------------------------------


def test_session_lasts_fourteen_days_and_no_longer(engine, olga, later):
    later(0)
    secret = accounts.begin_session(engine, olga)
    later(14)
    assert accounts.person_of_session(engine, secret) == olga
    later(15)
    assert accounts.person_of_session(engine, secret) is None
    accounts.begin_session(engine, olga)  # sweeps the old one away
    with reading(engine) as connection:
        assert len(connection.execute(select(session)).all()) == 1


def test_ended_session_opens_nothing(engine, olga):
    one, two = accounts.begin_session(engine, olga), accounts.begin_session(engine, olga)
    accounts.end_session(engine, one)
    assert accounts.person_of_session(engine, one) is None
    assert accounts.person_of_session(engine, two) == olga


def test_new_password_ends_all_sessions(engine, olga):
    secret = accounts.begin_session(engine, olga)
    accounts.change_password(engine, olga, PASSWORD, OTHER)
    assert accounts.person_of_session(engine, secret) is None
    assert accounts.check_password(engine, "olga", PASSWORD) is None
    assert accounts.check_password(engine, "olga", OTHER) == olga


def test_a_secret_opens_only_its_own_kind_of_door(engine, olga):
    secret, token = accounts.begin_session(engine, olga), accounts.make_token(engine, olga, "t", OWNER)
    assert accounts.person_of_token(engine, secret) is None
    assert accounts.person_of_token(engine, f"sp_{secret}") is None
    assert accounts.person_of_session(engine, token) is None
    assert accounts.person_of_session(engine, token.removeprefix("sp_")) is None
    assert accounts.person_of_session(engine, "") is None


# Invitations ------------------------------------------------------------------------------------


def test_invitation_works_once_and_for_its_name(engine, olga):
    secret = accounts.invite(engine, olga, "Anna", ANALYST)
    assert accounts.accounts(engine) == [(StudioUser("anna", ANALYST), True), (olga, False)]
    with pytest.raises(AccountError):
        accounts.accept(engine, "olga", secret, OTHER)
    with pytest.raises(AccountError):
        accounts.accept(engine, "anna", secret + "x", OTHER)
    assert accounts.accept(engine, "anna", secret, OTHER) == StudioUser("anna", ANALYST)
    with pytest.raises(AccountError):
        accounts.accept(engine, "anna", secret, "another password yet")
    assert accounts.check_password(engine, "anna", OTHER) == StudioUser("anna", ANALYST)


def test_invited_cannot_sign_in_with_what_is_kept(engine, olga):
    secret = accounts.invite(engine, olga, "anna", ANALYST)
    with reading(engine) as connection:
        kept = connection.scalar(select(account.c.password).where(account.c.name == "anna"))
    for attempt in (secret, kept, ""):
        assert accounts.check_password(engine, "anna", attempt) is None
        with pytest.raises(AccountError):
            accounts.accept(engine, "anna", kept, OTHER)


def test_invitation_lapses(engine, olga, later):
    later(0)
    secret = accounts.invite(engine, olga, "anna", ANALYST)
    later(8)
    with pytest.raises(AccountError):
        accounts.accept(engine, "anna", secret, OTHER)
    later(7)
    assert accounts.accept(engine, "anna", secret, OTHER)


def test_new_invitation_takes_the_old_password_away(engine, olga):
    anna = accounts.accept(engine, "anna", accounts.invite(engine, olga, "anna", ANALYST), PASSWORD)
    session_of_anna = accounts.begin_session(engine, anna)
    secret = accounts.invite_again(engine, olga, "anna")
    assert accounts.check_password(engine, "anna", PASSWORD) is None
    assert accounts.person_of_session(engine, session_of_anna) is None
    assert accounts.accept(engine, "anna", secret, OTHER) == anna


def test_invitations_that_cannot_be(engine, olga):
    with pytest.raises(AccountError):
        accounts.invite(engine, olga, "olga", ANALYST)
    with pytest.raises(AccountError):
        accounts.invite(engine, olga, "anna", "king")
    with pytest.raises(AccountError):
        accounts.invite_again(engine, olga, "anna")
    with pytest.raises(AccountError):
        accounts.invite_again(engine, olga, "olga")


# Removing ---------------------------------------------------------------------------------------


def test_last_owner_stays(engine, olga):
    accounts.invite(engine, olga, "otto", OWNER)  # has no password yet: could never come in
    with pytest.raises(AccountError):
        accounts.remove(engine, olga, "olga")
    with pytest.raises(AccountError):
        accounts.remove(engine, olga, "nobody")


def test_two_owners_cannot_remove_each_other_at_once(store):
    olga = accounts.set_up(store, "olga", PASSWORD)
    otto = accounts.accept(store, "otto", accounts.invite(store, olga, "otto", OWNER), PASSWORD)
    together = threading.Barrier(2)

    def attempt(actor, name):
        together.wait()
        try:
            accounts.remove(store, actor, name)
        except AccountError:
            return

    threads = [threading.Thread(target=attempt, args=pair) for pair in ((olga, "otto"), (otto, "olga"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(accounts.accounts(store)) == 1


def test_tokens_go_with_whoever_made_them(engine, olga):
    otto = accounts.accept(engine, "otto", accounts.invite(engine, olga, "otto", OWNER), PASSWORD)
    mine, his = accounts.make_token(engine, olga, "a", OWNER), accounts.make_token(engine, otto, "b", OWNER)
    accounts.remove(engine, olga, "otto")
    assert accounts.person_of_token(engine, his) is None
    assert accounts.person_of_token(engine, mine) == StudioUser("token a", OWNER)


# Tokens -----------------------------------------------------------------------------------------


def test_token_is_sp_and_43_characters(engine, olga):
    token = accounts.make_token(engine, olga, "report", ANALYST)
    assert token.startswith("sp_")
    assert len(token) == 3 + 43
    assert accounts.person_of_token(engine, token).role == ANALYST
    assert not accounts.person_of_token(engine, token).is_owner


@pytest.mark.parametrize(("name", "role"), [("", ANALYST), ("a\nb", ANALYST), ("a", "x")])
def test_tokens_that_cannot_be(engine, olga, name, role):
    with pytest.raises(AccountError):
        accounts.make_token(engine, olga, name, role)


@pytest.mark.parametrize("mark", ["", "zz", "00" * 32])
def test_revoking_what_is_no_token(engine, olga, mark):
    assert not accounts.revoke_token(engine, olga, mark)


# What is kept -----------------------------------------------------------------------------------


def test_no_secret_is_in_the_database_in_clear(engine, olga, tmp_path):
    secrets = [PASSWORD, OTHER]
    secrets += [accounts.begin_session(engine, olga), accounts.make_token(engine, olga, "report", OWNER)]
    invitation = accounts.invite(engine, olga, "anna", ANALYST)
    accounts.invite(engine, olga, "maria", ANALYST)
    accounts.accept(engine, "anna", invitation, OTHER)
    secrets += [invitation, accounts.invite_again(engine, olga, "maria")]
    file = engine.url.database
    content = b"".join(Path(f"{file}{end}").read_bytes() for end in ("", "-wal"))
    with sqlite3.connect(file) as connection:
        content += "\n".join(connection.iterdump()).encode()
    assert b"$argon2id$" in content
    for secret in secrets:
        assert secret.encode() not in content
        assert secret.removeprefix("sp_").encode() not in content


# Slowing ----------------------------------------------------------------------------------------


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


def test_first_tries_wait_for_nothing_and_later_ones_longer_and_longer():
    clock = Clock()
    throttle = Throttle(clock)
    waits = []
    for _ in range(FREE_TRIES + 5):
        waits.append(throttle.take_turn("olga"))
        clock.now += waits[-1]
    assert waits == [0.0] * FREE_TRIES + [1.0, 2.0, 4.0, 8.0, 16.0]
    assert waits[-1] == LONGEST_STEP


def test_many_tries_at_once_queue_and_then_are_refused():
    throttle = Throttle(Clock())
    waits = [throttle.take_turn("olga") for _ in range(30)]
    let = [wait for wait in waits if wait is not None]
    assert let == sorted(let)
    assert waits[-1] is None
    assert len(let) < 12
    assert throttle.take_turn("anna") == 0.0


def test_right_password_forgets_the_tries_and_so_does_an_hour():
    clock = Clock()
    throttle = Throttle(clock)
    for _ in range(FREE_TRIES + 1):
        throttle.take_turn("olga")
    throttle.reset("olga")
    assert throttle.take_turn("olga") == 0.0
    for _ in range(FREE_TRIES):
        throttle.take_turn("olga")
    clock.now += FORGET_AFTER + LONGEST_STEP + 1
    assert throttle.take_turn("olga") == 0.0


def test_flood_of_names_neither_grows_the_memory_nor_frees_the_one_under_attack():
    throttle = Throttle(Clock())
    for _ in range(FREE_TRIES + 1):
        throttle.take_turn("olga")
    for k in range(2 * MOST_NAMES):
        throttle.take_turn(f"name{k}")
    assert len(throttle._names) <= MOST_NAMES
    assert throttle.take_turn("olga") > 0.0
