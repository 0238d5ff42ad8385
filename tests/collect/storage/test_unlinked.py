"""What is kept of answers that are not linked cannot be put together again."""

from collections import Counter
from itertools import product

import pytest
from attrs import evolve
from sqlalchemy import select
from stores import SURVEY, Published

from subsetprivacy.collect.storage.collecting import Asked, lock_codes, record
from subsetprivacy.collect.storage.opening import reading, writing
from subsetprivacy.collect.storage.released import read_released
from subsetprivacy.collect.storage.releasing import release_due
from subsetprivacy.collect.storage.schema import metadata, pending
from subsetprivacy.collect.survey import coin
from subsetprivacy.collect.survey.drawing import Stream, draw_question
from subsetprivacy.collect.survey.tallies import row_codes

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


# What cannot be promised ----------------------------------------------------------------------


def test_whoever_fills_a_batch_can_tell_the_one_answer_that_is_not_theirs(store):
    """Of a batch of ten, nine are sent by one: the release less these is the tenth person's set. It is no more."""
    held = Published(store, evolve(SURVEY, mode="open"))
    own = [held.accepted(values=(0, 0, k % 5, 0)) for k in range(9)]
    other = held.accepted(values=(1, 2, 3, 3), secret=b"\5" * 32)
    with writing(store) as connection:
        record(connection, held.manifest, [*own, other])
        record(connection, held.manifest, [held.accepted() for _ in range(10)])
    release_due(store)
    with reading(store) as connection:
        released = read_released(connection, held.manifest.id)
    for grp, rows in enumerate(released.rows):
        left = Counter(rows) - Counter(one.rows[grp] for one in own)
        assert list(left) == [other.rows[grp]]
    assert all(code.bit_count() >= 2 for row in other.rows for code in row_codes(row))


def test_whoever_has_the_codes_can_tell_an_answer_by_its_question(store):
    """The lock of an open code gives its question to whoever has the code; a rare question marks its answer."""
    held = Published(store)
    (ticket,) = held.codes(1)
    secret, half = b"\6" * 32, b"\7" * coin.HALF_BYTES
    commitment = coin.commit(secret)
    wish = Asked(coin.ticket_mark(held.manifest.id, ticket), commitment, coin.wrap(secret, half, commitment))
    with writing(store) as connection:
        lock_codes(connection, held.manifest, [wish])
        (locked,) = lock_codes(connection, held.manifest, [evolve(wish, commitment=bytes(32))])
    share = coin.share(held.key, ticket, locked.commitment)  # which the server replies
    seed = coin.seed(share, coin.wrap(locked.wrapped, half, locked.commitment))
    income = held.manifest.variables[2]
    asked = draw_question(income["draw"], Stream(seed, held.manifest.study, "income"))
    with writing(store) as connection:
        record(connection, held.manifest, [held.accepted(ticket, secret=secret)])
        rows = {row_codes(bytes(row))[0] for row in connection.scalars(select(pending.c.row).where(pending.c.grp == 0))}
    assert rows < set(asked)
