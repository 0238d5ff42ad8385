"""What is kept of answers that are not linked cannot be put together again."""

import os
import re
from collections import Counter
from itertools import product
from pathlib import Path

import pytest
from attrs import evolve
from sqlalchemy import select
from stores import SURVEY, Published

from subsetprivacy.collect.storage.collecting import LockRequest, lock_codes, record
from subsetprivacy.collect.storage.opening import open_store, reading, writing
from subsetprivacy.collect.storage.released import read_released
from subsetprivacy.collect.storage.releasing import release_due
from subsetprivacy.collect.storage.schema import metadata, pending, pending_framing
from subsetprivacy.collect.storage.surveys import close_survey
from subsetprivacy.collect.survey import coin
from subsetprivacy.collect.survey.drawing import Stream, draw_question
from subsetprivacy.collect.survey.tallies import row_codes

_ANSWERS = {"pending", "pending_framing", "tally", "framing"}


@pytest.fixture
def held(store):
    """A survey that six people answered, whose unlinked answers take all combinations."""
    held = Published(store)
    combinations = list(product((0, 1), (0, 1, 2), (0,), (0,)))
    tickets = held.locked(len(combinations))
    people = [held.accepted(ticket, values) for ticket, values in zip(tickets, combinations, strict=True)]
    with writing(store) as connection:
        record(connection, held.manifest, people, held.key)
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
    # The values of two people: as they are, and with the first or the second variable exchanged.
    together = [(0, 0, 1, 1), (1, 2, 3, 2)]
    crossed = [[(1, 0, 1, 1), (0, 2, 3, 2)], [(0, 2, 1, 1), (1, 0, 3, 2)]]
    surveys = [Published(store, evolve(SURVEY, mode="open", study=study)) for study in ("together", "one", "two")]
    counters = []
    for held, people in zip(surveys, (together, *crossed), strict=True):
        with writing(store) as connection:
            record(connection, held.manifest, [surveys[0].accepted(values=values) for values in people])
        counters.append(_counters(store, held))
    assert len({row for _, grp, row, _ in counters[0][0] if grp == 1}) == 2
    assert counters[0] == counters[1] == counters[2]


def _counters(store, held):
    """Return all that is kept of the answers to a survey, but the name of the survey."""
    with reading(store) as connection:
        return [
            sorted(
                tuple(bytes(value) if isinstance(value, memoryview) else value for value in row)
                for row in connection.execute(
                    select(*(column for column in table.c if column.name != "survey")).where(
                        table.c.survey == held.manifest.id
                    )
                )
            )
            for table in (pending, pending_framing)
        ]


def test_the_only_times_in_the_store_are_days_of_researchers_and_releases(store):
    """Whoever reads every value of every table finds when a survey was opened, closed or released: the day."""
    held = Published(store, evolve(SURVEY, mode="open"))
    with writing(store) as connection:
        record(connection, held.manifest, [held.accepted() for _ in range(35)])
    assert release_due(store)
    with writing(store) as connection:
        close_survey(connection, held.manifest)
    found = set()
    with reading(store) as connection:
        for table in metadata.sorted_tables:
            for row in connection.execute(select(table)).mappings():
                for name, value in row.items():
                    if isinstance(value, str) and name != "source" and re.search(r"\d{2}:\d{2}|\d{4}-\d{2}", value):
                        found.add((table.name, name))
                        assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", value), (table.name, name)
                    assert not isinstance(value, int) or value < 10**6, "no number counts seconds"
    assert found == {("survey", "opened_day"), ("survey", "closed_day"), ("release", "day")}


def test_after_a_release_a_used_code_is_nowhere_in_the_files_but_among_the_used(sqlite_url):
    """Whoever has the codes and the files of SQLite learns which were used, not what their owners were asked."""
    engine = open_store(sqlite_url)
    held = Published(engine)
    secrets = {ticket: os.urandom(32) for ticket in held.codes(60)}
    marks = [coin.ticket_mark(held.manifest.id, ticket) for ticket in secrets]
    locks = [LockRequest(ticket, coin.commit(secret), os.urandom(32)) for ticket, secret in secrets.items()]
    for wish, (ticket, secret) in zip(locks, secrets.items(), strict=True):
        with writing(engine) as connection:
            lock_codes(connection, held.manifest, [wish])
        with writing(engine) as connection:
            record(connection, held.manifest, [held.accepted(ticket, secret=secret)], held.key)
    files = Path(engine.url.database).parent
    clues = [part for wish in locks for part in (wish.commitment, wish.wrapped)]

    def found(parts):
        whole = b"".join(path.read_bytes() for path in files.iterdir())
        return {whole.count(part) for part in parts}

    assert found(clues) != {0}, "before, the files hold what was deleted"
    assert release_due(engine)
    assert found(clues) == {0}
    assert found(marks) == {1}
    engine.dispose()


# What cannot be promised ----------------------------------------------------------------------


def test_whoever_fills_a_batch_can_tell_the_one_answer_that_is_not_theirs(store):
    """Of a batch of ten, nine are sent by one: the release less these is the tenth person's set. It is no more."""
    held = Published(store, evolve(SURVEY, mode="open"))
    own = [held.accepted(values=(0, 0, k % 5, 0)) for k in range(9)]
    other = held.accepted(values=(1, 2, 3, 3), secret=b"\5" * 32)
    with writing(store) as connection:
        record(connection, held.manifest, [*own, other], held.key)
        record(connection, held.manifest, [held.accepted() for _ in range(10)], held.key)
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
    wish = LockRequest(ticket, commitment, coin.wrap(secret, half, commitment))
    with writing(store) as connection:
        lock_codes(connection, held.manifest, [wish])
        (locked,) = lock_codes(connection, held.manifest, [evolve(wish, commitment=bytes(32))])
    share = coin.share(held.key, ticket, locked.commitment)  # which the server replies
    seed = coin.seed(share, coin.wrap(locked.wrapped, half, locked.commitment))
    income = held.manifest.variables[2]
    asked = draw_question(income["draw"], Stream(seed, held.manifest.study, "income"))
    with writing(store) as connection:
        record(connection, held.manifest, [held.accepted(ticket, secret=secret)], held.key)
        rows = {row_codes(bytes(row))[0] for row in connection.scalars(select(pending.c.row).where(pending.c.grp == 0))}
    assert rows < set(asked)
