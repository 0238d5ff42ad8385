"""Read released data. Nothing here touches pending data."""

from sqlalchemy import Connection, select

from subsetprivacy.collect.storage.schema import framing, release, study, survey, tally
from subsetprivacy.collect.survey.manifest import Manifest, read_manifest
from subsetprivacy.collect.survey.submission import Framing
from subsetprivacy.collect.survey.tallies import Released, ReleaseRecord


def read_manifest_of(connection: Connection, survey_id: str) -> Manifest | None:
    """Return the manifest of the survey with this id, if there is one."""
    text = connection.scalar(select(survey.c.manifest).where(survey.c.id == survey_id))
    return None if text is None else read_manifest(bytes(text))


def is_open(connection: Connection, survey_id: str) -> bool | None:
    """Tell whether a survey takes answers. None if there is none with this id."""
    state = connection.scalar(select(survey.c.open).where(survey.c.id == survey_id))
    return None if state is None else bool(state)


def read_key(connection: Connection, name: str) -> tuple[bytes, bool] | None:
    """Return the key of a study, and whether it is published."""
    row = connection.execute(select(study.c.key, study.c.revealed).where(study.c.name == name)).one_or_none()
    return None if row is None else (bytes(row.key), bool(row.revealed))


def read_releases(connection: Connection, survey_id: str) -> tuple[ReleaseRecord, ...]:
    """Return the releases of a survey, the oldest first."""
    columns = (release.c.no, release.c.n, release.c.locked, release.c.day, release.c.tally_sha256)
    rows = connection.execute(
        select(*columns, release.c.chain_sha256).where(release.c.survey == survey_id).order_by(release.c.no)
    )
    return tuple(ReleaseRecord(*row) for row in rows)


def read_released(connection: Connection, survey_id: str) -> Released | None:
    """Return all released data of the survey with this id, if there is one."""
    row = connection.execute(select(survey).where(survey.c.id == survey_id)).one_or_none()
    if row is None:
        return None
    manifest = read_manifest(bytes(row.manifest))
    counters: tuple[dict[bytes, int], ...] = tuple({} for _ in manifest.groups)
    ordered = select(tally.c.grp, tally.c.row, tally.c.n).where(tally.c.survey == survey_id)
    for grp, content, n in connection.execute(ordered.order_by(tally.c.grp, tally.c.row)):
        counters[grp][bytes(content)] = n
    keys = (framing.c.variable, framing.c.partition, framing.c.shown, framing.c.answer)
    asked = connection.execute(select(*keys, framing.c.n).where(framing.c.survey == survey_id).order_by(*keys))
    key = read_key(connection, row.study)
    return Released(
        manifest=manifest,
        version=row.version,
        is_open=bool(row.open),
        opened_day=row.opened_day,
        closed_day=row.closed_day,
        releases=read_releases(connection, survey_id),
        rows=counters,
        framings={Framing(*put): n for *put, n in asked},
        key=key[0] if key is not None and key[1] else None,
    )
