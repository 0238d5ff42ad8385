"""Whether the order in which people answered can be got back from what is stored."""

import random
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from attrs import evolve
from databases import postgres_programs
from scipy.stats import spearmanr
from sqlalchemy import text
from stores import SURVEY, Published, variable

from subsetprivacy.collect.storage.collecting import LockRequest, lock_codes, record
from subsetprivacy.collect.storage.opening import open_store, reading, writing
from subsetprivacy.collect.storage.released import read_released
from subsetprivacy.collect.storage.releasing import release_due, release_full, release_last
from subsetprivacy.collect.storage.schema import metadata
from subsetprivacy.collect.storage.secure_delete import wipe
from subsetprivacy.collect.survey import coin
from subsetprivacy.design import uniform


@pytest.fixture(params=[1000, pytest.param(8000, marks=pytest.mark.slow)])
def people(request):
    return request.param


def limit(people):
    """Return a rank correlation that is not chance: of so many people it has a standard deviation of 1/sqrt(n).

    Tickets are random in earnest: of all that are looked at, one in a thousand million lies beyond it.
    """
    return 7 / people**0.5


@pytest.fixture
def filled(store, people):
    """A survey that people answered one after the other, most of them with an answer nobody else gave."""
    options = tuple(f"o{k}" for k in range(20))
    wide = evolve(variable("place", 20), options=options, design=uniform(options))
    held = Published(store, evolve(SURVEY, variables=(wide,), links=(), mode="open", batch=people // 20))
    chance = random.Random(people)
    rows: dict[bytes, int] = {}
    marks: dict[bytes, int] = {}
    for start in range(0, people, 100):
        group = [held.accepted(values=(chance.randrange(20),), secret=chance.randbytes(32)) for _ in range(100)]
        for k, one in enumerate(group, start):
            rows.setdefault(one.rows[0], k)
            marks[one.mark] = k
        for k in range(0, 100, 20):
            with writing(store) as connection:
                record(connection, held.manifest, group[k : k + 20], held.key)
        release_due(store)
    with writing(store) as connection:
        release_last(connection, held.manifest.id, held.manifest.batch)
    wipe(store)
    return held, rows, marks


def correlation(places: dict[bytes, int], arrival: dict[bytes, int]) -> float:
    both = [(place, arrival[key]) for key, place in places.items() if key in arrival]
    assert len(both) > len(arrival) / 2
    if len({place for place, _ in both}) == 1:
        return 0.0  # all in one place: no order at all
    return abs(float(spearmanr(*np.array(both).T).statistic))


def test_no_order_can_be_recovered(store, filled, people):
    """Rank correlation of arrival with every order that the store has: of rows, files, transactions and exports."""
    held, rows, marks = filled
    with reading(store) as connection:
        released = read_released(connection, held.manifest.id)
    assert released.n == people
    found = {"rows as read": correlation({row: k for k, row in enumerate(released.rows[0])}, rows)}
    if store.dialect.name == "sqlite":
        whole = b"".join(path.read_bytes() for path in sorted(Path(store.url.database).parent.glob("store.db*")))
        found["rows in the file"] = correlation(_offsets(whole, rows), rows)
        found["marks in the file"] = correlation(_offsets(whole, marks), marks)
    else:
        for system in ("ctid::text", "xmin::text"):
            for table, column, arrival in (("tally", "row", rows), ("spent", "mark", marks)):
                found[f"{table} by {system}"] = correlation(_by(store, table, column, system), arrival)
        written = {row.hex().encode(): k for row, k in rows.items()}
        found["dump"] = correlation(_offsets(_dump(store), written), written)
    assert max(found.values()) < limit(people), found


def _offsets(content: bytes, keys) -> dict[bytes, int]:
    return {key: place for key in keys if (place := content.find(key)) >= 0}


def _by(store, table, column, system):
    with reading(store) as connection:
        rows = connection.execute(text(f"SELECT {column}, {system} FROM {table}")).all()
    order = sorted(((*map(int, re.findall(r"\d+", place)),), bytes(key)) for key, place in rows)
    ranks = {place: k for k, place in enumerate(sorted({place for place, _ in order}))}
    return {key: ranks[place] for place, key in order}


def _dump(store) -> bytes:
    program = postgres_programs() / "pg_dump"
    url = store.url.set(drivername="postgresql").render_as_string(hide_password=False)
    return subprocess.run([program, "--data-only", url], capture_output=True, check=True).stdout


def test_those_who_wait_can_be_put_in_order_and_together(store):
    """What cannot be promised before a release: the log of SQLite, or the transactions of PostgreSQL, still show it.

    Whoever puts the tickets in order, and the answers to each question, has put together what a person sent.
    """
    options = tuple(f"o{k}" for k in range(20))
    wide = [evolve(variable(name, 20), options=options, design=uniform(options)) for name in ("place", "work")]
    held = Published(store, evolve(SURVEY, variables=tuple(wide), links=(), mode="open", batch=1000))
    arrival, chance = [], random.Random(60)  # of which no two draw the same: those would stand in one place
    for _ in range(60):
        one = held.accepted(values=(chance.randrange(20), chance.randrange(20)), secret=chance.randbytes(32))
        arrival.append((one.mark, *one.rows))
        with writing(store) as connection:
            record(connection, held.manifest, [one])
    for what, (column, table) in enumerate((("mark", "arrived"), ("row", "pending"), ("row", "pending"))):
        ranks = {sent[what]: k for k, sent in enumerate(arrival)}
        if store.dialect.name == "sqlite":
            places = _offsets(Path(f"{store.url.database}-wal").read_bytes(), ranks)
        else:
            places = {key: place for key, place in _by(store, table, column, "xmin::text").items() if key in ranks}
        assert correlation(places, ranks) > 0.9


@pytest.fixture
def answered(postgres_url):
    """A survey with codes, of which some were used and some are still waiting for a release."""
    engine = open_store(postgres_url)
    with engine.begin() as connection:
        connection.execute(text("CREATE EXTENSION pageinspect"))
    held = Published(engine)
    for ticket in held.codes(25):
        wish = LockRequest(ticket, coin.commit(b"\1" * 32), bytes(32))
        with writing(engine) as connection:
            lock_codes(connection, held.manifest, [wish])
        with writing(engine) as connection:
            record(connection, held.manifest, [held.accepted(ticket)], held.key)
    yield engine, held
    engine.dispose()


def _left(engine) -> dict[str, int]:
    """Return how many rows the files of the tables still hold that are no longer there."""
    dead = {}
    with engine.connect() as connection:
        for table in metadata.tables:
            pages = connection.scalar(text(f"SELECT pg_relation_size('{table}') / 8192"))
            held = "SELECT count(*) FROM heap_page_items(get_raw_page(:t, :p)) WHERE t_data IS NOT NULL"
            rows = sum(connection.scalar(text(held), {"t": table, "p": page}) for page in range(pages))
            dead[table] = rows - connection.scalar(text(f"SELECT count(*) FROM {table}"))
    return {table: number for table, number in dead.items() if number}


def test_a_release_leaves_no_used_code_behind_and_no_transaction_in_common(answered):
    """On PostgreSQL a row says which transaction wrote it: a code and an answer must not share one."""
    engine, _ = answered
    assert _left(engine), "before, the files hold what was deleted"
    assert release_due(engine)
    assert _left(engine) == {}
    with engine.connect() as connection:
        writers = {table: _writers(connection, table) for table in ("pending", "pending_framing", "spent", "tally")}
    assert set(map(len, writers.values())) == {1}, writers  # all of them were written by the release


def _writers(connection, table):
    return set(connection.scalars(text(f"SELECT xmin::text FROM {table}")))


def test_the_wipe_says_when_somebody_keeps_what_was_removed(answered):
    """A dump or a forgotten transaction that looks at an older state."""
    engine, _ = answered
    with reading(engine) as connection:
        connection.execute(text("SELECT count(*) FROM survey"))
        with engine.connect() as other:
            assert release_full(other)
        assert not wipe(engine, seconds=0.1)
        assert _left(engine)
    assert wipe(engine)
    assert _left(engine) == {}


def test_the_measure_finds_an_order_where_there_is_one():
    """A table in the order of arrival would be caught."""
    arrival = {k.to_bytes(6, "big"): k for k in random.Random(1).sample(range(10**6), 2000)}
    ordered = b"".join(sorted(arrival, key=arrival.__getitem__))
    assert correlation(_offsets(ordered, arrival), arrival) > 0.9
