"""What becomes of submissions and locks: one body of tests for SQLite and PostgreSQL."""

import os

import pytest
from attrs import evolve
from sqlalchemy import func, select, update
from stores import SURVEY, Published

from subsetprivacy.collect.storage.collecting import LockRequest, lock_codes, record
from subsetprivacy.collect.storage.opening import reading, writing
from subsetprivacy.collect.storage.releasing import release_due
from subsetprivacy.collect.storage.schema import arrived, code, pending, pending_framing, survey
from subsetprivacy.collect.storage.tickets import ALREADY, CLOSED, COUNTED, NOT_OPENED, UNKNOWN, CodeLock
from subsetprivacy.collect.survey import coin
from subsetprivacy.collect.survey.tallies import row_codes

SECRET = b"\1" * 32


@pytest.fixture
def held(store):
    return Published(store)


def count(store, table):
    with reading(store) as connection:
        return connection.scalar(select(func.count()).select_from(table))


def take(store, held, *group):
    with writing(store) as connection:
        return record(connection, held.manifest, group, held.key)


def lock_in(store, held, ticket, secret=SECRET):
    wish = LockRequest(ticket, coin.commit(secret), bytes(32))
    with writing(store) as connection:
        return lock_codes(connection, held.manifest, [wish])[0]


def test_a_locked_code_counts_once(store, held):
    (ticket,) = held.locked(1)
    one = held.accepted(ticket)
    assert take(store, held, one) == [COUNTED]
    assert take(store, held, one) == [ALREADY]
    assert take(store, held, one, one) == [ALREADY, ALREADY]
    assert (count(store, arrived), count(store, code)) == (1, 0)


def test_the_same_ticket_twice_in_one_group_counts_once(store, held):
    (ticket,) = held.locked(1)
    one = held.accepted(ticket)
    assert take(store, held, one, one, one) == [COUNTED, ALREADY, ALREADY]
    with reading(store) as connection:
        assert connection.scalar(select(func.sum(pending.c.n)).where(pending.c.grp == 0)) == 1


def test_a_code_that_was_never_made_or_never_locked_counts_nothing(store, held):
    (ticket,) = held.codes(1)
    assert take(store, held, held.accepted(ticket), held.accepted()) == [NOT_OPENED, UNKNOWN]
    assert count(store, pending) == count(store, arrived) == 0


def test_another_number_than_the_locked_one_is_refused(store, held):
    (ticket,) = held.locked(1)
    again = held.accepted(ticket, secret=os.urandom(32))
    assert take(store, held, again) == [NOT_OPENED]
    assert take(store, held, held.accepted(ticket)) == [COUNTED]


def test_the_first_lock_is_kept(store, held):
    (ticket,) = held.codes(1)
    first = CodeLock(coin.commit(SECRET), bytes(32))
    assert lock_in(store, held, ticket) == first
    assert lock_in(store, held, ticket, os.urandom(32)) == first
    wishes = [LockRequest(t, bytes([k]) * 32, bytes(32)) for t in held.codes(1) for k in (1, 2)]
    with writing(store) as connection:
        assert lock_codes(connection, held.manifest, wishes) == [CodeLock(b"\1" * 32, bytes(32))] * 2


def test_locks_of_used_and_of_unknown_codes_are_told_apart(store, held):
    (ticket,) = held.locked(1)
    take(store, held, held.accepted(ticket))
    assert lock_in(store, held, ticket) == ALREADY
    assert lock_in(store, held, os.urandom(10)) == UNKNOWN


def test_a_closed_or_unknown_survey_takes_nothing(store, held):
    (ticket,) = held.locked(1)
    with writing(store) as connection:
        connection.execute(update(survey).values(open=False))
    assert take(store, held, held.accepted(ticket)) == [CLOSED]
    assert lock_in(store, held, ticket) == CLOSED
    assert count(store, pending) == 0


def test_people_fill_one_batch_after_the_other(store, held):
    people = [held.accepted(ticket) for ticket in held.locked(25)]
    assert take(store, held, *people[:7]) == [COUNTED] * 7
    assert take(store, held, *people[7:]) == [COUNTED] * 18
    with reading(store) as connection:
        sums = select(pending.c.batch, func.sum(pending.c.n)).where(pending.c.grp == 1).group_by(pending.c.batch)
        assert dict(connection.execute(sums).all()) == {1: 10, 2: 10, 3: 5}
        assert connection.execute(select(survey.c.filling, survey.c.filled)).one() == (3, 5)


def test_a_skip_is_kept_as_the_full_set_and_counted_with_its_question(store, held):
    (ticket,) = held.locked(1)
    one = held.accepted(ticket, skip=("smokes", "party", "income", "health"))
    take(store, held, one)
    with reading(store) as connection:
        rows = {grp: row_codes(bytes(row)) for grp, row in connection.execute(select(pending.c.grp, pending.c.row))}
        skips = connection.execute(select(pending_framing.c.partition, pending_framing.c.answer)).all()
    assert rows == {0: (0b11111, 0b1111), 1: (0b1111,), 2: (0b111,)}
    assert [answer for _, answer in skips] == [-1] * 4
    assert sum(partition != "" for partition, _ in skips) == 2  # of the two yes/no questions


def test_in_open_mode_no_code_is_needed_and_a_ticket_counts_once(store):
    held = Published(store, evolve(SURVEY, mode="open"))
    ticket = os.urandom(32)
    one = held.accepted(ticket)
    assert take(store, held, one, held.accepted(), one) == [COUNTED, COUNTED, ALREADY]


@pytest.mark.parametrize("mode", ["code", "open"])
def test_a_ticket_counts_once_after_a_release_too(store, mode):
    """A release moves the tickets of all who were counted: a second answer then would be a second set of one person."""
    held = Published(store, evolve(SURVEY, mode=mode))
    tickets = held.locked(20) if mode == "code" else [os.urandom(32) for _ in range(20)]
    everyone = [held.accepted(ticket) for ticket in tickets]
    assert take(store, held, *everyone) == [COUNTED] * 20
    assert release_due(store)
    assert count(store, arrived) == 0
    assert take(store, held, *everyone) == [ALREADY] * 20
