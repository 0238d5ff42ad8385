"""Browsers that are known to an account: which are, for how long, and how many."""

from datetime import timedelta

import pytest
from sites import ANALYST, OWNER, PASSWORD, light_hashes, make_people
from sqlalchemy import func, select

from subsetprivacy.collect.service import accounts, browsers, passwords
from subsetprivacy.collect.storage.backups import backup
from subsetprivacy.collect.storage.opening import open_store, reading
from subsetprivacy.collect.storage.schema import browser as browser_table


@pytest.fixture(autouse=True)
def _light():
    with light_hashes():
        yield


@pytest.fixture
def engine(store):
    make_people(store)
    return store


def known(engine, secret, name=OWNER.name):
    return browsers.is_known(engine, name, secret)


def test_a_browser_is_known_to_the_account_that_was_signed_in_to(engine):
    secret = browsers.remember(engine, OWNER, "")
    assert known(engine, secret)
    for other in ("", "x", secret[:-1], secret.swapcase(), f"{secret} "):
        assert not known(engine, other)
    for name in (ANALYST.name, "", "nobody"):
        assert not known(engine, secret, name)


def test_a_secret_is_made_here_and_never_taken_from_a_browser(engine):
    """Whoever could plant one in somebody's browser would have tries of their own at the account."""
    assert browsers.remember(engine, OWNER, "planted") != "planted"
    assert not known(engine, "planted")
    mine = browsers.remember(engine, OWNER, "")
    assert browsers.remember(engine, ANALYST, mine) != mine
    assert browsers.remember(engine, OWNER, mine) == mine


def test_a_known_browser_is_no_session_and_a_session_no_known_browser(engine):
    browser, signed_in = browsers.remember(engine, OWNER, ""), accounts.begin_session(engine, OWNER)
    assert accounts.person_of_session(engine, browser) is None
    assert not known(engine, signed_in)
    accounts.end_session(engine, browser)
    assert known(engine, browser)
    accounts.end_session(engine, signed_in)
    assert known(engine, browser)  # it was signed out, and is known


def test_only_the_newest_are_kept_and_those_of_others_stay(engine, monkeypatch):
    day = passwords.today()
    monkeypatch.setattr(browsers, "today", lambda: day)
    theirs, session_of_mine = browsers.remember(engine, ANALYST, ""), accounts.begin_session(engine, OWNER)
    first = browsers.remember(engine, OWNER, "")
    day += timedelta(days=1)
    second = browsers.remember(engine, OWNER, "")
    day += timedelta(days=1)
    assert browsers.remember(engine, OWNER, first) == first  # used again: now the newer of the two
    later = [browsers.remember(engine, OWNER, "") for _ in range(browsers.MOST_BROWSERS - 1)]
    assert not known(engine, second)
    assert all(known(engine, one) for one in [first, *later])
    assert known(engine, browsers.remember(engine, OWNER, ""))
    assert browsers.is_known(engine, ANALYST.name, theirs)
    assert accounts.person_of_session(engine, session_of_mine) == OWNER
    with reading(engine) as connection:
        assert connection.scalar(select(func.count()).select_from(browser_table)) == browsers.MOST_BROWSERS + 1


def test_of_many_sessions_of_an_account_the_oldest_end(engine, monkeypatch):
    day = passwords.today()
    monkeypatch.setattr(accounts, "today", lambda: day)
    monkeypatch.setattr(accounts, "MOST_SESSIONS", 4)
    theirs, first = accounts.begin_session(engine, ANALYST), accounts.begin_session(engine, OWNER)
    day += timedelta(days=1)
    later = [accounts.begin_session(engine, OWNER) for _ in range(accounts.MOST_SESSIONS)]
    assert accounts.person_of_session(engine, first) is None
    assert all(accounts.person_of_session(engine, one) == OWNER for one in later)
    assert accounts.person_of_session(engine, theirs) == ANALYST


def test_a_browser_is_forgotten_after_its_days(engine, monkeypatch):
    first = passwords.today()
    monkeypatch.setattr(browsers, "today", lambda: first)
    secret = browsers.remember(engine, OWNER, "")
    for days, is_known in ((browsers.BROWSER_DAYS, True), (browsers.BROWSER_DAYS + 1, False)):
        monkeypatch.setattr(browsers, "today", lambda days=days: first + timedelta(days=days))
        assert known(engine, secret) == is_known


@pytest.mark.parametrize(
    "act",
    [
        lambda engine: accounts.change_password(engine, ANALYST, PASSWORD, "another long password"),
        lambda engine: accounts.invite_again(engine, OWNER, ANALYST.name),
        lambda engine: accounts.remove(engine, OWNER, ANALYST.name),
    ],
    ids=["changed", "taken away", "removed"],
)
def test_with_the_password_its_browsers_are_forgotten(engine, act):
    secret, mine = browsers.remember(engine, ANALYST, ""), browsers.remember(engine, OWNER, "")
    act(engine)
    assert not browsers.is_known(engine, ANALYST.name, secret)
    assert known(engine, mine)


def test_only_a_hash_is_kept_and_none_in_a_backup(engine, tmp_path):
    secret = browsers.remember(engine, OWNER, "")
    with reading(engine) as connection:
        rows = [tuple(row) for row in connection.execute(select(browser_table))]
    assert secret not in str(rows)
    assert secret.encode() not in bytes(rows[0][0])
    backup(engine, tmp_path / "all.db", everything=True)
    copy = open_store(f"sqlite:///{tmp_path / 'all.db'}")
    assert not known(copy, secret)
    copy.dispose()
