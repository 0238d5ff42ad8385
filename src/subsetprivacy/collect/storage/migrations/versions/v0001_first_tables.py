"""The first tables: surveys, tickets, answers, researchers.

Written out in full: what this revision makes must not follow the tables of `schema.py` when those change.
"""

from typing import Any

from alembic import op
from sqlalchemy import Boolean, Column, ForeignKey, Integer, LargeBinary, SmallInteger, String, Text
from sqlalchemy.types import TypeEngine

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    _make_surveys()
    _make_tickets()
    _make_answers()
    _make_researchers()
    _table("owed", _key("mark", LargeBinary(8)))


def _table(name: str, *columns: Column[Any], **options: Any) -> None:
    op.create_table(name, *columns, **({"sqlite_with_rowid": False} | options))
    if op.get_bind().dialect.name == "postgresql":  # statistics would be samples, kept when the rows are gone
        for column in columns:
            op.execute(f'ALTER TABLE {name} ALTER COLUMN "{column.name}" SET STATISTICS 0')


def _key(name: str, kind: TypeEngine[Any]) -> Column[Any]:
    return Column(name, kind, primary_key=True)


def _held(name: str, kind: TypeEngine[Any]) -> Column[Any]:
    return Column(name, kind, nullable=False)


def _of_survey() -> Column[Any]:
    return _key("survey", String(26))


def _make_surveys() -> None:
    _table("draft", _key("id", String(16)), _held("title", Text()), _held("format", String(8)), _held("text", Text()))
    _table("study", _key("name", Text()), _held("key", LargeBinary(32)), _held("revealed", Boolean()))
    _table(
        "survey",
        _key("id", String(26)),
        _held("draft", String(16)),
        _held("version", Integer()),
        Column("study", Text(), ForeignKey("study.name"), nullable=False),
        _held("manifest", LargeBinary()),
        _held("source", Text()),
        _held("open", Boolean()),
        _held("opened_day", String(10)),
        Column("closed_day", String(10)),
        _held("filling", Integer()),
        _held("filled", Integer()),
        _held("released", Integer()),
    )


def _make_tickets() -> None:
    for name in ("arrived", "spent"):
        _table(name, _of_survey(), _key("mark", LargeBinary(32)))
    locked = (Column("commitment", LargeBinary(32)), Column("wrapped", LargeBinary(32)))
    _table("code", _of_survey(), _key("mark", LargeBinary(32)), *locked)


def _make_answers() -> None:
    for name, waiting in (("pending", True), ("tally", False)):
        batch = [_key("batch", Integer())] if waiting else []
        content = (_key("grp", SmallInteger()), _key("row", LargeBinary()), _held("n", Integer()))
        _table(name, _of_survey(), *batch, *content)
    for name, waiting in (("pending_framing", True), ("framing", False)):
        batch = [_key("batch", Integer())] if waiting else []
        put = (_key("variable", SmallInteger()), _key("partition", Text()))
        taken = (_key("shown", SmallInteger()), _key("answer", SmallInteger()), _held("n", Integer()))
        _table(name, _of_survey(), *batch, *put, *taken)
    _table(
        "release",
        _of_survey(),
        _key("no", Integer()),
        _held("n", Integer()),
        _held("locked", Integer()),
        _held("day", String(10)),
        _held("tally_sha256", String(64)),
        _held("chain_sha256", String(64)),
    )


def _make_researchers() -> None:
    _table("account", _key("name", String(64)), _held("password", Text()), _held("role", String(8)))
    for name in ("session", "browser"):
        owner = Column("account", String(64), ForeignKey("account.name", ondelete="CASCADE"), nullable=False)
        _table(name, _key("mark", LargeBinary(32)), owner, _held("last_day", String(10)))
    _table(
        "api_token",
        _key("mark", LargeBinary(32)),
        _held("name", String(64)),
        _held("role", String(8)),
        _held("made_by", String(64)),
        _held("made_day", String(10)),
    )
    _table(
        "deed",
        _key("no", Integer()),
        _held("day", String(10)),
        _held("actor", String(64)),
        _held("act", Text()),
        sqlite_with_rowid=True,
    )
