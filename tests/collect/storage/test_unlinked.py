"""What is kept of answers that are not linked cannot be put together again."""

from itertools import product

import pytest
from attrs import evolve
from sqlalchemy import select
from stores import SURVEY, Published

from subsetprivacy.collect.storage.collecting import Asked, lock_codes, record
from subsetprivacy.collect.storage.opening import reading, writing
from subsetprivacy.collect.storage.schema import metadata, pending
from subsetprivacy.collect.survey import coin

_ANSWERS = {"pending", "pending_framing", "tally", "framing"}


@pytest.fixture
def held(store):
    """A survey that six people answered, whose unlinked answers take all combinations."""
    held = Published(store)
    people = list(product((0, 1), (0, 1, 2), (0,), (0,)))
    tickets = held.codes(len(people))
    marks = [coin.ticket_mark(held.manifest.id, ticket) for ticket in tickets]
    with writing(store) as connection:
        lock_codes(connection, held.manifest, [Asked(mark, coin.commit(b"\1" * 32), bytes(32)) for mark in marks])
        record(connection, held.manifest, [held.accepted(t, values) for t, values in zip(tickets, people)])
    return held


def test_unlinked_answers_are_kept_apart(store, held):
    """No table has a row for a person, and none holds answers of two groups."""
    with reading(store) as connection:
        rows = connection.execute(select(pending.c.grp, pending.c.row, pending.c.n)).all()
    # Groups: (income, health), smokes, party. Each counts all six people, by itself.
    assert {grp: sum(n for g, _, n in rows if g == grp) for grp in range(3)} == {0: 6, 1: 6, 2: 6}
    assert {(grp, len(row) // 6) for grp, row, _ in rows} == {(0, 2), (1, 1), (2, 1)}
    for name in _ANSWERS:
        # Nothing that could join two groups or lead to a ticket: batch, group and content are the whole key.
        columns = set(metadata.tables[name].c.keys())
        assert columns <= {"survey", "batch", "grp", "row", "variable", "partition", "shown", "answer", "n"}


def test_the_same_answers_otherwise_put_together_leave_the_same_counters(store):
    """Whoever reads the store cannot tell (a, b), (c, d) from (a, d), (c, b) where they are not linked."""
    surveys = [Published(store, evolve(SURVEY, mode="open", study=study)) for study in ("together", "crossed")]
    one, two = surveys[0].accepted(values=(0, 0, 1, 1)), surveys[0].accepted(values=(1, 2, 3, 2))
    # Of the crossed, the last group (the variable party) is the other person's.
    swapped = [evolve(a, rows=(*a.rows[:2], b.rows[2])) for a, b in ((one, two), (two, one))]
    counters = []
    for held, people in zip(surveys, ([one, two], swapped)):
        with writing(store) as connection:
            record(connection, held.manifest, people)
        with reading(store) as connection:
            mine = select(pending.c.grp, pending.c.row, pending.c.n).where(pending.c.survey == held.manifest.id)
            counters.append(sorted((grp, bytes(row), n) for grp, row, n in connection.execute(mine)))
    assert one.rows[2] != two.rows[2]
    assert counters[0] == counters[1]
