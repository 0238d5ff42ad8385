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


def _column(name: str, kind: TypeEngine[Any]) -> Column[Any]:
    return Column(name, kind, nullable=False)


def _of_survey() -> Column[Any]:
    return _key("survey", String(26))


def _make_surveys() -> None:
    _table(
        "draft", _key("id", String(16)), _column("title", Text()), _column("format", String(8)), _column("text", Text())
    )
    _table("study", _key("name", Text()), _column("key", LargeBinary(32)), _column("revealed", Boolean()))
    _table(
        "survey",
        _key("id", String(26)),
        _column("draft", String(16)),
        _column("version", Integer()),
        Column("study", Text(), ForeignKey("study.name"), nullable=False),
        _column("manifest", LargeBinary()),
        _column("source", Text()),
        _column("open", Boolean()),
        _column("opened_day", String(10)),
        Column("closed_day", String(10)),
        _column("filling", Integer()),
        _column("filled", Integer()),
        _column("released", Integer()),
    )


def _make_tickets() -> None:
    for name in ("arrived", "spent"):
        _table(name, _of_survey(), _key("mark", LargeBinary(32)))
    locked = (Column("commitment", LargeBinary(32)), Column("wrapped", LargeBinary(32)))
    _table("code", _of_survey(), _key("mark", LargeBinary(32)), *locked)


def _make_answers() -> None:
    for name, waiting in (("pending", True), ("tally", False)):
        batch = [_key("batch", Integer())] if waiting else []
        content = (_key("grp", SmallInteger()), _key("row", LargeBinary()), _column("n", Integer()))
        _table(name, _of_survey(), *batch, *content)
    for name, waiting in (("pending_framing", True), ("framing", False)):
        batch = [_key("batch", Integer())] if waiting else []
        put = (_key("variable", SmallInteger()), _key("partition", Text()))
        taken = (_key("shown", SmallInteger()), _key("answer", SmallInteger()), _column("n", Integer()))
        _table(name, _of_survey(), *batch, *put, *taken)
    _table(
        "release",
        _of_survey(),
        _key("no", Integer()),
        _column("n", Integer()),
        _column("locked", Integer()),
        _column("day", String(10)),
        _column("tally_sha256", String(64)),
        _column("chain_sha256", String(64)),
    )


def _make_researchers() -> None:
    _table("account", _key("name", String(64)), _column("password", Text()), _column("role", String(8)))
    for name in ("session", "browser"):
        owner = Column("account", String(64), ForeignKey("account.name", ondelete="CASCADE"), nullable=False)
        _table(name, _key("mark", LargeBinary(32)), owner, _column("last_day", String(10)))
    _table(
        "api_token",
        _key("mark", LargeBinary(32)),
        _column("name", String(64)),
        _column("role", String(8)),
        _column("made_by", String(64)),
        _column("made_day", String(10)),
    )
    _table(
        "deed",
        _key("no", Integer()),
        _column("day", String(10)),
        _column("actor", String(64)),
        _column("act", Text()),
        sqlite_with_rowid=True,
    )
