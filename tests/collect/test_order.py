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

from subsetprivacy.collect.storage.collecting import record
from subsetprivacy.collect.storage.opening import reading, writing
from subsetprivacy.collect.storage.released import read_released
from subsetprivacy.collect.storage.releasing import release_due, release_last, wipe
from subsetprivacy.design import uniform

PEOPLE = 8000  # chance alone gives a rank correlation of .011
LIMIT = 0.05


@pytest.fixture
def filled(store):
    """A survey that people answered one after the other, most of them with an answer nobody else gave."""
    options = tuple(f"o{k}" for k in range(20))
    wide = evolve(variable("place", 20), options=options, design=uniform(options))
    held = Published(store, evolve(SURVEY, variables=(wide,), links=(), mode="open", batch=400))
    rows: dict[bytes, int] = {}
    marks: dict[bytes, int] = {}
    for start in range(0, PEOPLE, 100):
        group = [held.accepted(values=(random.randrange(20),), secret=random.randbytes(32)) for _ in range(100)]
        for k, one in enumerate(group, start):
            rows.setdefault(one.rows[0], k)
            marks[one.mark] = k
        for k in range(0, 100, 20):
            with writing(store) as connection:
                record(connection, held.manifest, group[k : k + 20])
        release_due(store)
    with writing(store) as connection:
        release_last(connection, held.manifest.id, held.manifest.batch)
    wipe(store)
    return held, rows, marks


def correlation(places: dict[bytes, int], arrival: dict[bytes, int]) -> float:
    both = [(place, arrival[key]) for key, place in places.items() if key in arrival]
    assert len(both) > PEOPLE / 2
    if len({place for place, _ in both}) == 1:
        return 0.0  # all in one place: no order at all
    return abs(float(spearmanr(*np.array(both).T).statistic))


def test_no_order_can_be_recovered(store, filled):
    """Rank correlation of arrival with every order that the store has: of rows, files, transactions and exports."""
    held, rows, marks = filled
    with reading(store) as connection:
        released = read_released(connection, held.manifest.id)
    assert released.n == PEOPLE
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
    assert max(found.values()) < LIMIT, found


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


def test_the_measure_finds_an_order_where_there_is_one():
    """A table in the order of arrival would be caught."""
    arrival = {k.to_bytes(6, "big"): k for k in random.sample(range(10**6), PEOPLE)}
    ordered = b"".join(sorted(arrival, key=arrival.__getitem__))
    assert correlation(_offsets(ordered, arrival), arrival) > 0.9
