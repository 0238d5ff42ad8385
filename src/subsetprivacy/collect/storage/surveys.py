"""Drafts, published surveys, their codes and keys: the rows that researchers change."""

import json
import secrets
from collections.abc import Iterable, MutableMapping
from hashlib import sha256
from typing import Any

from attrs import frozen
from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from subsetprivacy.collect.storage.releasing import release_last, today
from subsetprivacy.collect.storage.schema import OF_SURVEY, arrived, code, draft, release, spent, study, survey
from subsetprivacy.collect.survey.manifest import Manifest, read_manifest

KEY_BYTES = 32
_AT_ONCE = 10_000  # codes to a statement


@frozen
class Draft:
    """A draft: the text of a survey file as the author sees it."""

    id: str
    title: str
    format: str
    text: str

    @property
    def revision(self) -> str:
        """A hash of the text and its format, which determine what is published."""
        return sha256(f"{self.format}\0{self.text}".encode()).hexdigest()


@frozen
class ManifestFacts:
    """The parts of a manifest that lists show. They never change."""

    title: str
    mode: str
    batch: int


@frozen
class SurveyLine:
    """A published survey in a list. It shows only released data, and nothing that changes between releases.

    Attributes
    ----------
    n
        How many people's answers are released, in how many `releases`.
    """

    id: str
    draft: str
    version: int
    title: str
    study: str
    mode: str
    batch: int
    is_open: bool
    opened_day: str
    closed_day: str | None
    n: int
    releases: int


# Drafts ----------------------------------------------------------------------------------------


def write_draft(connection: Connection, written: Draft) -> None:
    """Write a draft, replacing the one with the same id."""
    row = {"title": written.title, "format": written.format, "text": written.text}
    statement = _insert(connection, draft).values(id=written.id, **row)
    connection.execute(statement.on_conflict_do_update(index_elements=["id"], set_=row))


def read_drafts(connection: Connection) -> list[Draft]:
    """Return all drafts by title."""
    return [Draft(*row) for row in connection.execute(select(draft).order_by(draft.c.title, draft.c.id))]


def read_draft(connection: Connection, draft_id: str, *, hold: bool = False) -> Draft | None:
    """Return the draft with this id, if there is one. `hold` locks it until the transaction ends."""
    wanted = select(draft).where(draft.c.id == draft_id)
    row = connection.execute(wanted.with_for_update() if hold else wanted).one_or_none()
    return None if row is None else Draft(*row)


def delete_draft(connection: Connection, draft_id: str) -> bool:
    """Delete a draft, but not the surveys published from it. Return whether there was one."""
    return connection.execute(delete(draft).where(draft.c.id == draft_id)).rowcount > 0


# Studies ---------------------------------------------------------------------------------------


def lock_study(connection: Connection, name: str) -> tuple[bytes, bool]:
    """Return the key of a study, created if there is none, and whether it is published.

    Every change to the surveys of a study locks its row first. So of two that close, one sees the other closed.
    """
    made = _insert(connection, study).values(name=name, key=secrets.token_bytes(KEY_BYTES), revealed=False)
    # Not "do nothing": another may be deleting it at this moment.
    connection.execute(made.on_conflict_do_update(index_elements=["name"], set_={"name": name}))
    wanted = select(study.c.key, study.c.revealed).where(study.c.name == name).with_for_update()
    row = connection.execute(wanted).one()
    return bytes(row.key), bool(row.revealed)


def manifests_of_study(connection: Connection, name: str) -> list[Manifest]:
    """Return the manifests of all surveys of a study that were not deleted."""
    texts = connection.scalars(select(survey.c.manifest).where(survey.c.study == name).order_by(survey.c.id))
    return [read_manifest(bytes(text)) for text in texts]


def study_state(connection: Connection, name: str) -> str:
    """Return a hash of what cannot be undone in a study: its surveys, which are open, and a published key."""
    rows = connection.execute(select(survey.c.id, survey.c.open).where(survey.c.study == name).order_by(survey.c.id))
    revealed = connection.scalar(select(study.c.revealed).where(study.c.name == name))
    state = [bool(revealed), *([row.id, bool(row.open)] for row in rows)]
    return sha256(json.dumps(state).encode()).hexdigest()


# Surveys ---------------------------------------------------------------------------------------


def newest_of_draft(connection: Connection, draft_id: str) -> tuple[str, int, str] | None:
    """Return the id, version and source of the last survey published from a draft."""
    wanted = select(survey.c.id, survey.c.version, survey.c.source).where(survey.c.draft == draft_id)
    row = connection.execute(wanted.order_by(survey.c.version.desc()).limit(1)).one_or_none()
    return None if row is None else (row.id, row.version, row.source)


def add_survey(connection: Connection, manifest: Manifest, published: Draft) -> None:
    """Add a published survey as the next version of its draft, open from today."""
    newest = connection.scalar(select(func.max(survey.c.version)).where(survey.c.draft == published.id))
    connection.execute(
        insert(survey).values(
            id=manifest.id,
            draft=published.id,
            version=(newest or 0) + 1,
            study=manifest.study,
            manifest=manifest.text,
            source=published.text,
            open=True,
            opened_day=today(),
            filling=1,
            filled=0,
            released=0,
        )
    )


def read_lines(
    connection: Connection, known: MutableMapping[str, ManifestFacts] | None = None, *, only: str | None = None
) -> list[SurveyLine]:
    """Return all published surveys: by draft, the newest version first.

    Parameters
    ----------
    connection
        The store.
    known
        Facts of manifests that were read before, by the ids of their surveys. New ones are added.
    only
        The id of the one survey to return.
    """
    known = {} if known is None else known
    counted = select(release.c.survey, func.sum(release.c.n).label("n"), func.count().label("releases"))
    released = counted.group_by(release.c.survey).subquery()
    columns = [column for column in survey.c if column.name not in {"manifest", "source"}]
    wanted = select(*columns, released.c.n, released.c.releases).outerjoin(released, survey.c.id == released.c.survey)
    if only is not None:
        wanted = wanted.where(survey.c.id == only)
    rows = connection.execute(wanted.order_by(survey.c.draft, survey.c.version.desc())).all()
    facts = {row.id: cached for row in rows if (cached := known.get(row.id)) is not None}  # other threads change it
    unknown = [row.id for row in rows if row.id not in facts]
    if unknown:
        texts = connection.execute(select(survey.c.id, survey.c.manifest).where(survey.c.id.in_(unknown)))
        read = {survey_id: _facts(read_manifest(bytes(text))) for survey_id, text in texts}
        known.update(read)
        facts |= read
    return [_line(row, facts[row.id]) for row in rows]


def _facts(manifest: Manifest) -> ManifestFacts:
    return ManifestFacts(manifest.title, manifest.mode, manifest.batch)


def _line(row: Any, facts: ManifestFacts) -> SurveyLine:
    return SurveyLine(
        id=row.id,
        draft=row.draft,
        version=row.version,
        title=facts.title,
        study=row.study,
        mode=facts.mode,
        batch=facts.batch,
        is_open=bool(row.open),
        opened_day=row.opened_day,
        closed_day=row.closed_day,
        n=int(row.n or 0),
        releases=int(row.releases or 0),
    )


def read_source(connection: Connection, survey_id: str) -> str | None:
    """Return the text of the file that a survey was published from."""
    source: str | None = connection.scalar(select(survey.c.source).where(survey.c.id == survey_id))
    return source


def close_survey(connection: Connection, manifest: Manifest) -> None:
    """Release what is pending, take no more answers, and delete the codes. Does nothing if the survey is closed."""
    if not lock_survey(connection, manifest.id):
        return
    release_last(connection, manifest.id, manifest.batch)
    connection.execute(delete(code).where(code.c.survey == manifest.id))
    closed = update(survey).where(survey.c.id == manifest.id)
    connection.execute(closed.values(open=False, closed_day=today()))


def reveal_key(connection: Connection, name: str) -> bool:
    """Publish the key of a study if none of its surveys is open. Return whether it is published now."""
    if connection.scalar(select(func.count()).select_from(survey).where(survey.c.study == name, survey.c.open)):
        return False
    connection.execute(update(study).where(study.c.name == name).values(revealed=True))
    return True


def lock_survey(connection: Connection, survey_id: str) -> bool | None:
    """Return whether a survey is open, or None if there is none, and lock it until the transaction ends."""
    wanted = select(survey.c.open).where(survey.c.id == survey_id).with_for_update()
    is_open: bool | None = connection.scalar(wanted)
    return is_open


def delete_survey(connection: Connection, manifest: Manifest) -> None:
    """Delete a survey with all its data, and the key of its study with the study's last survey."""
    lock_survey(connection, manifest.id)  # all writers to it have finished then
    for table in OF_SURVEY:
        connection.execute(delete(table).where(table.c.survey == manifest.id))
    connection.execute(delete(survey).where(survey.c.id == manifest.id))
    if not connection.scalar(select(func.count()).select_from(survey).where(survey.c.study == manifest.study)):
        connection.execute(delete(study).where(study.c.name == manifest.study))


def add_codes(connection: Connection, survey_id: str, marks: Iterable[bytes]) -> None:
    """Add codes by their hashes, in the order of the hashes, unless they were used before."""
    rows = [{"survey": survey_id, "mark": mark} for mark in sorted(set(marks))]
    statement = _insert(connection, code).on_conflict_do_nothing()
    for start in range(0, len(rows), _AT_ONCE):
        connection.execute(statement, rows[start : start + _AT_ONCE])
    for used in (arrived, spent):
        known = select(used.c.mark).where(used.c.survey == survey_id)
        connection.execute(delete(code).where(code.c.survey == survey_id, code.c.mark.in_(known)))


def count_codes(connection: Connection, survey_id: str) -> int:
    """Return how many codes were added, used or not. No answer changes this number."""
    tables = (code, arrived, spent)
    unused, waiting, used = (
        select(func.count()).where(table.c.survey == survey_id).scalar_subquery() for table in tables
    )
    return (
        connection.scalar(select(unused + waiting + used)) or 0
    )  # in one query, because a code moves from one table to the next


def _insert(connection: Connection, table: Any) -> Any:
    return (sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert)(table)
