"""Two servers on one PostgreSQL: between a judgement and its counting the other counts a ticket, or closes."""

import os
import threading

import pytest
from attrs import evolve
from faults import books
from sqlalchemy import insert, text, update
from sqlalchemy.exc import DataError
from stores import SURVEY, Published

from subsetprivacy.collect.storage import releasing
from subsetprivacy.collect.storage.collecting import record_alone
from subsetprivacy.collect.storage.opening import open_store, reading, writing
from subsetprivacy.collect.storage.released import read_releases
from subsetprivacy.collect.storage.releasing import release_full
from subsetprivacy.collect.storage.schema import spent, survey
from subsetprivacy.collect.storage.tickets import ALREADY, CLOSED, COUNTED


@pytest.fixture
def engine(postgres_url):
    engine = open_store(postgres_url)
    yield engine
    engine.dispose()


@pytest.fixture(params=["code", "open"])
def held(engine, request):
    return Published(engine, evolve(SURVEY, mode=request.param))


def people(held, number):
    if held.manifest.mode == "open":
        return [held.accepted(os.urandom(32)) for _ in range(number)]
    return [held.accepted(ticket) for ticket in held.locked(number)]


@pytest.fixture
def in_between(monkeypatch):
    """Do something once, after a group was judged and before it is counted."""
    from subsetprivacy.collect.storage import counting_postgres

    count, waiting = counting_postgres.count, []

    def counting(*given):
        if waiting:
            waiting.pop()()
        return count(*given)

    monkeypatch.setattr(counting_postgres, "count", counting)
    return waiting.append


def count_alone(engine, held, group):
    with engine.connect() as connection:
        return record_alone(connection, held.manifest, group, held.key)


def test_a_ticket_that_another_server_counts_in_between_counts_once(engine, held, in_between):
    group = people(held, 10)
    in_between(lambda: told.append(count_alone(engine, held, group[3:5])))
    told = []
    outcomes = count_alone(engine, held, group)
    assert told == [[COUNTED] * 2]
    assert outcomes == [COUNTED] * 3 + [ALREADY] * 2 + [COUNTED] * 5
    found = books(engine, held.manifest)
    assert found.pending == 10
    assert found.marks == {one.mark for one in group}


def test_a_ticket_that_is_counted_and_released_in_between_counts_once(engine, held, in_between):
    """A release moves the mark to another table, where the statement that counts does not look."""
    group = people(held, 40)

    def count_and_release():
        assert count_alone(engine, held, group[:35]) == [COUNTED] * 35
        with engine.connect() as connection:
            assert release_full(connection) == [held.manifest.id]

    in_between(count_and_release)
    assert count_alone(engine, held, [group[0], *group[35:]]) == [ALREADY] + [COUNTED] * 5
    found = books(engine, held.manifest)
    assert sum(found.releases) + found.pending == len(found.marks) == 40


def test_a_mark_that_is_there_twice_stops_no_release(engine):
    """However it came to be: one survey that could not be released would keep all after it from it, for ever."""
    held = Published(engine, evolve(SURVEY, mode="open"))
    group = people(held, 35)
    count_alone(engine, held, group)
    with writing(engine) as connection:
        connection.execute(insert(spent), [{"survey": held.manifest.id, "mark": group[0].mark}])
    with engine.connect() as connection:
        assert release_full(connection) == [held.manifest.id]


def test_a_survey_that_cannot_be_released_keeps_no_other_from_it(engine, monkeypatch):
    surveys = [Published(engine, evolve(SURVEY, mode="open", study=name)) for name in ("a", "b", "c")]
    for held in surveys:
        count_alone(engine, held, people(held, 35))
    first, *others = sorted(held.manifest.id for held in surveys)
    move = releasing._move_marks

    def fail(connection, survey_id):
        if survey_id == first:
            connection.execute(text("SELECT 1 / 0"))
        move(connection, survey_id)

    monkeypatch.setattr(releasing, "_move_marks", fail)
    with engine.connect() as connection, pytest.raises(DataError, match="division by zero"):
        release_full(connection)
    with reading(engine) as connection:
        assert {one: len(read_releases(connection, one)) for one in (first, *others)} == {
            first: 0,
            **dict.fromkeys(others, 1),
        }


def test_a_group_that_is_raced_again_and_again_is_counted_one_by_one(engine, held, monkeypatch):
    """Whoever sends the same tickets to two servers at once keeps nobody else from being counted."""
    from subsetprivacy.collect.storage import counting_postgres

    group, count = people(held, 5), counting_postgres.count

    def race(connection, manifest, counted, released):
        count(connection, manifest, counted, released - (len(counted) > 1))  # as if it had been released every time

    monkeypatch.setattr(counting_postgres, "count", race)
    assert count_alone(engine, held, [*group, group[0]]) == [COUNTED] * 5 + [ALREADY]


def test_a_survey_that_is_closed_in_between_counts_nothing(engine, held, in_between):
    group = people(held, 3)

    def close():
        with writing(engine) as connection:
            connection.execute(update(survey).values(open=False))

    in_between(close)
    assert count_alone(engine, held, group) == [CLOSED] * 3
    assert books(engine, held.manifest).pending == 0


def test_servers_that_are_sent_the_same_tickets_at_once_count_each_once(engine, held):
    group = people(held, 60)
    outcomes = [[], []]

    def serve(mine, order):
        for k in range(0, len(group), 6):
            mine += count_alone(engine, held, [group[j] for j in order[k : k + 6]])

    order = list(range(len(group)))
    threads = [
        threading.Thread(target=serve, args=(outcomes[0], order)),
        threading.Thread(target=serve, args=(outcomes[1], order[::-1])),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    both = outcomes[0] + outcomes[1]
    assert (both.count(COUNTED), both.count(ALREADY)) == (60, 60)
    assert books(engine, held.manifest).pending == 60
