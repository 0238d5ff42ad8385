"""A group in one transaction is counted as its people one after the other would be, whatever its size."""

import random

import pytest
from attrs import evolve
from faults import books
from stores import SURVEY, Published, variable

from subsetprivacy.collect.service.writer import MOST_AT_ONCE
from subsetprivacy.collect.storage.collecting import _counting, record
from subsetprivacy.collect.storage.opening import writing
from subsetprivacy.collect.storage.tickets import ALREADY, COUNTED, NOT_OPENED, UNKNOWN, judge_locks

# Ten variables with many subsets each: more counters to a group than go into one statement.
WIDE = evolve(SURVEY, variables=tuple(variable(f"v{k}", 8) for k in range(10)), links=(("v0", "v1", "v2"),))


@pytest.fixture
def held(store):
    return Published(store, WIDE)


def locked(held, number):
    """Return submissions of people with locked codes."""
    return [held.accepted(ticket, [random.randrange(8) for _ in range(10)]) for ticket in held.locked(number)]


def test_a_large_group_is_counted_like_its_people_one_by_one(store, held):
    people = locked(held, 2 * MOST_AT_ONCE)
    for some in (people[:MOST_AT_ONCE], *([one] for one in people[MOST_AT_ONCE:])):
        with writing(store) as connection:
            assert record(connection, held.manifest, some, held.key) == [COUNTED] * len(some)
    found = books(store, held.manifest)
    expected = {}
    for one in people:
        for grp, row in enumerate(one.rows):
            expected[grp, row] = expected.get((grp, row), 0) + 1
    assert found.rows == expected
    assert len(expected) > 500
    assert found.pending == 2 * MOST_AT_ONCE
    assert found.marks == {one.mark for one in people}


def test_outcomes_stand_in_the_order_of_the_group(store, held):
    people = locked(held, 40)
    strangers = [held.accepted(None, [0] * 10) for _ in range(10)]
    thieves = [evolve(one, opened=evolve(one.opened, commitment=bytes(32))) for one in people[30:]]
    group = [*people[:30], *people[:10], *strangers, *thieves]
    told = [COUNTED] * 30 + [ALREADY] * 10 + [UNKNOWN] * 10 + [NOT_OPENED] * 10
    order = random.sample(range(len(group)), len(group))
    with writing(store) as connection:
        outcomes = record(connection, held.manifest, [group[k] for k in order], held.key)
    twice = {one.mark for one in people[:10]}
    for k, outcome in zip(order, outcomes):
        if group[k].mark not in twice:
            assert outcome == told[k]
    both = [outcome for k, outcome in zip(order, outcomes) if group[k].mark in twice]
    assert (both.count(COUNTED), both.count(ALREADY)) == (10, 10)
    assert books(store, held.manifest).pending == 30


@pytest.mark.parametrize("number", [1, 2, 255])
def test_marks_are_found_one_by_one(store, held, number):
    """The marks go to the database as one string; each is its own there."""
    people = locked(held, 3)
    with writing(store) as connection:
        record(connection, held.manifest, people[:2], held.key)
        others = [random.randbytes(32) for _ in range(number - 1)]
        group = [people[0], *(evolve(people[0], mark=mark) for mark in others)]
        marks, last = [one.mark for one in group], people[2]
        outcomes = [ALREADY] + [UNKNOWN] * (number - 1)
        survey_id = held.manifest.id
        judge = _counting(connection).judge
        assert judge(connection, held.manifest, group).refused == dict(enumerate(outcomes))
        assert judge_locks(connection, survey_id, marks) == dict(zip(marks, outcomes))
        assert judge(connection, held.manifest, [*group, last]).refused == dict(enumerate(outcomes))
        assert judge_locks(connection, survey_id, [last.mark])[last.mark].commitment == last.opened.commitment
