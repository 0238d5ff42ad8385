"""When what is pending becomes visible, and what is left of it then."""

from hashlib import sha256

import pytest
from sqlalchemy import func, select, update
from stores import Published

from subsetprivacy.collect.storage.collecting import record
from subsetprivacy.collect.storage.opening import reading, writing
from subsetprivacy.collect.storage.released import read_released
from subsetprivacy.collect.storage.releasing import chain_sha256, release_due, release_last
from subsetprivacy.collect.storage.schema import pending, pending_framing, spent, survey, tally

BATCH = 10


@pytest.fixture
def held(store):
    return Published(store)


def answer(store, held, number, values=(0, 1, 2, 3)):
    people = [held.accepted(ticket, values) for ticket in held.locked(number)]
    with writing(store) as connection:
        record(connection, held.manifest, people, held.key)


def people(store, table):
    with reading(store) as connection:
        return connection.scalar(select(func.coalesce(func.sum(table.c.n), 0)).where(table.c.grp == 0))


def seen(store, held):
    with reading(store) as connection:
        return read_released(connection, held.manifest.id)


@pytest.mark.parametrize(
    ("came", "shown"), [(9, 0), (10, 0), (19, 0), (20, 10), (29, 10), (30, 20), (45, 30), (100, 90)]
)
def test_a_release_is_one_batch_late(store, held, came, shown):
    answer(store, held, came)
    release_due(store)
    assert seen(store, held).n == people(store, tally) == shown
    assert people(store, pending) == came - shown


@pytest.mark.parametrize(("came", "shown"), [(9, 0), (10, 10), (19, 19), (20, 20), (27, 27)])
def test_closing_releases_the_rest_unless_it_is_less_than_a_batch(store, held, came, shown):
    answer(store, held, came)
    release_due(store)
    with writing(store) as connection:
        release_last(connection, held.manifest.id, BATCH)
    released = seen(store, held)
    assert released.n == shown
    assert people(store, pending) == 0
    assert all(one.n >= BATCH for one in released.releases)
    with reading(store) as connection:  # nobody can answer again, shown or not
        assert connection.scalar(select(func.count()).select_from(spent)) == came
        assert connection.scalar(select(func.count()).select_from(pending_framing)) == 0


def test_every_release_holds_whole_batches_and_nothing_is_counted_twice(store, held):
    for number in (3, 8, 17, 1, 25, 6):
        answer(store, held, number, values=(number % 2, 1, number % 5, 0))
        release_due(store)
        release_due(store)  # a second call finds nothing to do
    released = seen(store, held)
    assert [one.n % BATCH for one in released.releases] == [0] * len(released.releases)
    assert released.n + people(store, pending) == 60
    assert [sum(rows.values()) for rows in released.rows] == [released.n] * 3
    for variable in range(4):
        assert sum(n for put, n in released.framings.items() if put.variable == variable) == released.n


def test_the_seals_form_a_chain_over_the_counters(store, held):
    for _ in range(3):
        answer(store, held, 20)
        release_due(store)
    released = seen(store, held)
    chain = ""
    for one in released.releases:
        row = {"no": one.no, "n": one.n, "locked": one.locked, "day": one.day, "tally_sha256": one.tally_sha256}
        chain = chain_sha256(chain, row)
        assert one.chain_sha256 == chain
    lines = [f"tally|{grp}|{row.hex()}|{n}\n" for grp, rows in enumerate(released.rows) for row, n in rows.items()]
    framings = [f"framing|{f.variable}|{f.partition}|{f.shown}|{f.answer}|{n}\n" for f, n in released.framings.items()]
    assert (
        released.releases[-1].tally_sha256 == sha256("".join([*sorted(lines), *sorted(framings)]).encode()).hexdigest()
    )


def test_codes_that_were_opened_and_not_answered_are_counted_at_a_release(store, held):
    answer(store, held, 19)
    held.locked(4)
    answer(store, held, 1)
    release_due(store)
    assert [one.locked for one in seen(store, held).releases] == [4]


def test_a_release_that_fails_leaves_everything_pending(store, held, monkeypatch):
    answer(store, held, 25)
    import subsetprivacy.collect.storage.releasing as releasing

    def fail(*_):
        raise RuntimeError("in the middle")

    monkeypatch.setattr(releasing, "_seal", fail)
    with pytest.raises(RuntimeError, match="in the middle"):
        release_due(store)
    assert (people(store, pending), people(store, tally)) == (25, 0)
    monkeypatch.undo()
    assert release_due(store) == [held.manifest.id]
    assert (people(store, pending), people(store, tally)) == (15, 10)


def test_reading_never_touches_what_is_pending(store, held):
    answer(store, held, 25)
    release_due(store)
    before = seen(store, held)
    answer(store, held, 4)
    after = seen(store, held)
    assert (before.rows, before.framings, before.releases) == (after.rows, after.framings, after.releases)


def test_closed_surveys_and_others_are_left_alone(store, held):
    answer(store, held, 30)
    with writing(store) as connection:
        connection.execute(update(survey).values(open=False))
    assert release_due(store) == []
