"""The tables. None has a time, an order or an address, and none links a person to an answer.

Each code and each ticket has a row, as a hash. Answers have a row for each distinct content. All these tables are keyed
by content. On SQLite they are WITHOUT ROWID, so that the content determines where a row is stored.
"""

from typing import Any

from sqlalchemy import Boolean, Column, ForeignKey, Integer, LargeBinary, MetaData, SmallInteger, String, Table, Text

metadata = MetaData()


def _table(name: str, *columns: Column[Any]) -> Table:
    return Table(name, metadata, *columns, sqlite_with_rowid=False)


def _of_survey() -> Column[Any]:
    # No foreign key: it would look up the survey for each row, although the writer has locked the survey already.
    return Column("survey", String(26), primary_key=True)


# Surveys ---------------------------------------------------------------------------------------

# Drafts. The text is the file as its author sees it.
draft = _table(
    "draft",
    Column("id", String(16), primary_key=True),
    Column("title", Text, nullable=False),
    Column("format", String(8), nullable=False),
    Column("text", Text, nullable=False),
)

# The key of the coin flip, the same for all waves of a study.
study = _table(
    "study",
    Column("name", Text, primary_key=True),
    Column("key", LargeBinary(32), nullable=False),
    Column("revealed", Boolean, nullable=False),
)

# A published version: frozen. `filling` is the number of the batch that fills, `filled` how many it has.
survey = _table(
    "survey",
    Column("id", String(26), primary_key=True),
    Column("draft", String(16), nullable=False),
    Column("version", Integer, nullable=False),
    Column("study", Text, ForeignKey("study.name"), nullable=False),
    Column("manifest", LargeBinary, nullable=False),
    Column("source", Text, nullable=False),
    Column("open", Boolean, nullable=False),
    Column("opened_day", String(10), nullable=False),
    Column("closed_day", String(10)),
    Column("filling", Integer, nullable=False),
    Column("filled", Integer, nullable=False),
    Column("released", Integer, nullable=False),
)

# Codes and tickets -----------------------------------------------------------------------------

# A code that was made and not yet used: the hash of its first half. Once it was opened, what its browser committed to.
code = _table(
    "code",
    _of_survey(),
    Column("mark", LargeBinary(32), primary_key=True),
    Column("commitment", LargeBinary(32)),
    Column("wrapped", LargeBinary(32)),
)

# Tickets that were counted: first `arrived`, moved in their own order to `spent` at the next release.
arrived = _table("arrived", _of_survey(), Column("mark", LargeBinary(32), primary_key=True))
spent = _table("spent", _of_survey(), Column("mark", LargeBinary(32), primary_key=True))

# Answers ---------------------------------------------------------------------------------------

# Not yet released. Only a release reads these tables.
pending = _table(
    "pending",
    _of_survey(),
    Column("batch", Integer, primary_key=True),
    Column("grp", SmallInteger, primary_key=True),
    Column("row", LargeBinary, primary_key=True),
    Column("n", Integer, nullable=False),
)
pending_framing = _table(
    "pending_framing",
    _of_survey(),
    Column("batch", Integer, primary_key=True),
    Column("variable", SmallInteger, primary_key=True),
    Column("partition", Text, primary_key=True),
    Column("shown", SmallInteger, primary_key=True),
    Column("answer", SmallInteger, primary_key=True),
    Column("n", Integer, nullable=False),
)

# Released.
tally = _table(
    "tally",
    _of_survey(),
    Column("grp", SmallInteger, primary_key=True),
    Column("row", LargeBinary, primary_key=True),
    Column("n", Integer, nullable=False),
)
framing = _table(
    "framing",
    _of_survey(),
    Column("variable", SmallInteger, primary_key=True),
    Column("partition", Text, primary_key=True),
    Column("shown", SmallInteger, primary_key=True),
    Column("answer", SmallInteger, primary_key=True),
    Column("n", Integer, nullable=False),
)
release = _table(
    "release",
    _of_survey(),
    Column("no", Integer, primary_key=True),
    Column("n", Integer, nullable=False),
    Column("locked", Integer, nullable=False),
    Column("day", String(10), nullable=False),
    Column("tally_sha256", String(64), nullable=False),
    Column("chain_sha256", String(64), nullable=False),
)

# The researchers -------------------------------------------------------------------------------

account = _table(
    "account",
    Column("name", String(64), primary_key=True),
    Column("password", Text, nullable=False),
    Column("role", String(8), nullable=False),
)
session = _table(
    "session",
    Column("mark", LargeBinary(32), primary_key=True),
    Column("account", String(64), ForeignKey("account.name", ondelete="CASCADE"), nullable=False),
    Column("last_day", String(10), nullable=False),
)
# Browsers that have signed in before.
browser = _table(
    "browser",
    Column("mark", LargeBinary(32), primary_key=True),
    Column("account", String(64), ForeignKey("account.name", ondelete="CASCADE"), nullable=False),
    Column("last_day", String(10), nullable=False),
)
api_token = _table(
    "api_token",
    Column("mark", LargeBinary(32), primary_key=True),
    Column("name", String(64), nullable=False),
    Column("role", String(8), nullable=False),
    Column("made_by", String(64), nullable=False),
    Column("made_day", String(10), nullable=False),
)
deed = Table(  # what researchers did: the only table with an order
    "deed",
    metadata,
    Column("no", Integer, primary_key=True),
    Column("day", String(10), nullable=False),
    Column("actor", String(64), nullable=False),
    Column("act", Text, nullable=False),
)

# Housekeeping ----------------------------------------------------------------------------------

# A deletion after which PostgreSQL's files must still be rewritten.
owed = _table("owed", Column("mark", LargeBinary(8), primary_key=True))

OF_SURVEY = tuple(table for table in metadata.sorted_tables if "survey" in table.c)
