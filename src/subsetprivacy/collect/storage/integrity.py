"""Check the integrity of a store: the database itself, and whether all its numbers agree."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from attrs import frozen
from sqlalchemy import Connection, Engine, func, select, text
from sqlalchemy.exc import DBAPIError

from subsetprivacy.collect.storage.migrating import newest_revision, revision_of
from subsetprivacy.collect.storage.opening import reading
from subsetprivacy.collect.storage.released import read_releases
from subsetprivacy.collect.storage.releasing import chain_sha256, tally_sha256
from subsetprivacy.collect.storage.schema import (
    OF_SURVEY,
    arrived,
    code,
    framing,
    metadata,
    pending,
    pending_framing,
    spent,
    survey,
    tally,
)
from subsetprivacy.collect.storage.secure_delete import is_erasing_requested
from subsetprivacy.collect.survey.manifest import Manifest, read_manifest
from subsetprivacy.collect.survey.submission import CODE_BYTES


@frozen
class StoreProblem:
    """A problem of a store.

    Attributes
    ----------
    place
        "database", or a survey by its id.
    message
        What was found. It contains nothing from any answer.
    is_error
        Whether it is an error. Otherwise it is a remark.
    """

    place: str
    message: str
    is_error: bool = True


def check(engine: Engine) -> list[StoreProblem]:
    """Check a store and return its problems, usually none."""
    problems = []
    try:
        with reading(engine) as connection:
            problems += [StoreProblem("database", *problem) for problem in _database(connection)]
            for row in connection.execute(select(survey).order_by(survey.c.id)).all():
                problems += [StoreProblem(f"survey {row.id}", *problem) for problem in _survey(connection, row)]
    except DBAPIError as error:
        problems.append(StoreProblem("database", f"it cannot be read completely: {type(error.orig).__name__}"))
    return problems


# The database ----------------------------------------------------------------------------------


Found = tuple[str] | tuple[str, bool]


def _database(connection: Connection) -> Iterator[Found]:
    revision = revision_of(connection)
    if revision != newest_revision():
        yield (f"its schema is {revision}, not {newest_revision()}",)
    for table in OF_SURVEY:
        orphans = select(func.count()).select_from(table).where(table.c.survey.not_in(select(survey.c.id)))
        if number := connection.scalar(orphans):
            yield (f"{number} rows of {table.name} belong to no survey",)
    if connection.dialect.name == "sqlite":
        for (line,) in connection.execute(text("PRAGMA integrity_check(20)")):
            if line != "ok":
                yield (f"integrity: {line}",)
        return
    for name in sorted(metadata.tables):  # read everything that is stored once, as text
        connection.execute(text(f'SELECT sum(length(held::text)) FROM "{name}" AS held')).all()
    if is_erasing_requested(connection):
        yield ("its files still contain traces of deleted data; a running server erases them", False)
    broken = text("SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid")
    for (name,) in connection.execute(broken):
        yield (f"the index {name} is not valid",)


# A survey --------------------------------------------------------------------------------------


def _survey(connection: Connection, row: Any) -> Iterator[Found]:
    try:
        manifest = read_manifest(bytes(row.manifest))
    except ValueError:
        yield ("its manifest cannot be read",)
        return
    if manifest.id != row.id:
        yield ("its manifest does not match its id: it was changed after publication",)
        return
    released = _released_people(connection, manifest)
    yield from _counters(connection, manifest, row)
    yield from _marks(connection, row, released + _sum(connection, pending, row.id))
    yield from _chain(connection, manifest, released)


def _sum(connection: Connection, table: Any, survey_id: str) -> int:
    """Return how many people the counters contain. The first group counts everyone once."""
    total = select(func.sum(table.c.n)).where(table.c.survey == survey_id, table.c.grp == 0)
    return int(connection.scalar(total) or 0)


def _released_people(connection: Connection, manifest: Manifest) -> int:
    return _sum(connection, tally, manifest.id)


def _counters(connection: Connection, manifest: Manifest, row: Any) -> Iterator[Found]:
    """Compare the counts of all groups and variables, in the released data and in every pending batch."""
    groups, variables = range(len(manifest.groups)), range(len(manifest.variables))
    for rows, framings, name in ((tally, framing, "released"), (pending, pending_framing, "pending")):
        by_group = _sums(connection, rows, row.id, "grp")
        by_variable = _sums(connection, framings, row.id, "variable")
        for batch in sorted(by_group.keys() | by_variable.keys()):
            people = by_group[batch].get(0, 0)
            if by_group[batch] != dict.fromkeys(groups, people):
                yield (f"the {name} counters of its groups count different numbers of people",)
            if by_variable[batch] != dict.fromkeys(variables, people):
                yield (f"the {name} counters of how questions were asked count different numbers of people",)
        if name == "pending":
            yield from _batches({batch: sums.get(0, 0) for batch, sums in by_group.items()}, manifest, row)
        if _has_misfits(connection, rows, manifest):
            yield (f"some {name} counters do not match the survey's variables",)


def _sums(connection: Connection, table: Any, survey_id: str, by: str) -> dict[int, dict[int, int]]:
    """Return the sums of counters, for each batch by a column."""
    batch = table.c.batch if "batch" in table.c else text("0")
    wanted = select(batch, table.c[by], func.sum(table.c.n)).where(table.c.survey == survey_id)
    sums: defaultdict[int, dict[int, int]] = defaultdict(dict)
    grouped = [table.c.batch, table.c[by]] if "batch" in table.c else [table.c[by]]
    for no, which, n in connection.execute(wanted.group_by(*grouped)):
        sums[int(no)][which] = int(n)
    return sums


def _batches(people: dict[int, int], manifest: Manifest, row: Any) -> Iterator[Found]:
    if not row.open:
        if people:
            yield ("it is closed, and answers are still pending",)
        return
    wanted = dict.fromkeys(range(row.released + 1, row.filling), manifest.batch)
    if row.filled:
        wanted[row.filling] = row.filled
    if people != wanted:
        yield ("its batches do not contain as many people as they should",)


def _has_misfits(connection: Connection, table: Any, manifest: Manifest) -> bool:
    lengths = {grp: CODE_BYTES * len(group) for grp, group in enumerate(manifest.groups)}
    wanted = select(table.c.grp, func.length(table.c.row), func.min(table.c.n)).where(table.c.survey == manifest.id)
    rows = connection.execute(wanted.group_by(table.c.grp, func.length(table.c.row)))
    return any(length != lengths.get(grp) or least < 1 for grp, length, least in rows)


def _marks(connection: Connection, row: Any, people: int) -> Iterator[Found]:
    counts = {table.name: _count(connection, table, row.id) for table in (arrived, spent)}
    marks = counts["arrived"] + counts["spent"]
    # The message gives no number: with the released data, it would reveal how many answers are pending.
    if marks < people:
        yield ("more people are counted than tickets were used",)
    elif marks > people and (people or row.open):  # fewer answers than a batch are deleted when the survey closes
        yield ("some tickets were used but their answers are missing, as in a backup of released data only", False)
    for first, second in ((code, spent), (code, arrived), (arrived, spent)):
        if _both(connection, first, second, row.id):
            yield (f"some tickets are in {first.name} and in {second.name}",)
    by_half = code.c.commitment.is_(None) != code.c.wrapped.is_(None)
    if connection.scalar(select(func.count()).where(code.c.survey == row.id, by_half)):
        yield ("some codes are locked by half",)


def _count(connection: Connection, table: Any, survey_id: str) -> int:
    return connection.scalar(select(func.count()).select_from(table).where(table.c.survey == survey_id)) or 0


def _both(connection: Connection, first: Any, second: Any, survey_id: str) -> int:
    joined = first.join(second, (first.c.survey == second.c.survey) & (first.c.mark == second.c.mark))
    wanted = select(func.count()).select_from(joined).where(first.c.survey == survey_id)
    return connection.scalar(wanted) or 0


def _chain(connection: Connection, manifest: Manifest, people: int) -> Iterator[Found]:
    """Compute all seals again."""
    releases, before = read_releases(connection, manifest.id), ""
    names = ("no", "n", "locked", "day", "tally_sha256")
    for number, record in enumerate(releases, start=1):
        before = chain_sha256(before, {name: getattr(record, name) for name in names})
        if record.no != number or record.chain_sha256 != before:
            yield (f"the seal of release {record.no} does not match: a release was changed",)
            return
        if record.n < manifest.batch:
            yield (f"release {record.no} contains fewer people than a batch",)
    if sum(record.n for record in releases) != people:
        yield ("the released counters contain a different number of people than the releases",)
    if releases and tally_sha256(connection, manifest.id) != releases[-1].tally_sha256:
        yield ("the seal of the last release does not match: its counters were changed",)
