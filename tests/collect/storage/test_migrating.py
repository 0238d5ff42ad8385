"""Tables are made and upgraded by themselves, once, whole, and only where they are ours."""

import sqlite3
import subprocess
import sys

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import inspect, select, text
from sqlalchemy.schema import CreateTable

from subsetprivacy.collect.storage.migrating import VERSION_TABLE, migrate, newest_revision, revision_of
from subsetprivacy.collect.storage.opening import StoreError, make_engine
from subsetprivacy.collect.storage.schema import metadata

# Ends the process without any farewell after so many tables.
DIES = """
import os, sys
from alembic import op
from subsetprivacy.collect.storage.opening import make_engine
from subsetprivacy.collect.storage.migrating import migrate
make, made = op.create_table, []
def create_table(*columns, **options):
    make(*columns, **options)
    made.append(columns[0])
    if len(made) == int(sys.argv[2]):
        os._exit(9)
op.create_table = create_table
migrate(make_engine(sys.argv[1]))
"""
# Two processes that have imported everything, at once.
MIGRATE = """
import os, sys
import alembic.operations, alembic.runtime.migration, alembic.script, psycopg
from subsetprivacy.collect.storage.opening import make_engine
from subsetprivacy.collect.storage.migrating import migrate
started = [os.fork()]
if started[0]:
    started.append(os.fork())
if not started[-1]:
    migrate(make_engine(sys.argv[1]))
    os._exit(0)
sys.exit(sum(os.waitpid(one, 0)[1] != 0 for one in started))
"""


@pytest.fixture
def empty(empty_url):
    engine = make_engine(empty_url)
    yield engine
    engine.dispose()


def tables(engine):
    with engine.connect() as connection:
        return set(inspect(connection).get_table_names())


def differences(engine):
    with engine.connect() as connection:
        return compare_metadata(MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE}), metadata)


def test_migrated_tables_are_those_of_the_schema(empty):
    migrate(empty)
    assert tables(empty) == {*metadata.tables, VERSION_TABLE}
    assert differences(empty) == []
    with empty.connect() as connection:
        assert revision_of(connection) == newest_revision()


def test_on_sqlite_they_are_so_to_the_letter(sqlite_empty_url):
    """Alembic's comparison does not see WITHOUT ROWID, nor the order of a key: the words that make a table do."""
    engine = make_engine(sqlite_empty_url)
    migrate(engine)
    with engine.connect() as connection:
        made = dict(connection.execute(text("SELECT name, sql FROM sqlite_master WHERE type = 'table'")).all())
    for name, table in metadata.tables.items():
        assert "".join(made[name].split()) == "".join(str(CreateTable(table).compile(engine)).split()), name
        assert ("WITHOUT ROWID" in made[name]) == (name != "deed")
    engine.dispose()


def test_keys_are_in_order_and_cascade(empty):
    migrate(empty)
    with empty.connect() as connection:
        held = inspect(connection)
        for name, table in metadata.tables.items():
            assert held.get_pk_constraint(name)["constrained_columns"] == [c.name for c in table.primary_key]
            found = {
                (*k["constrained_columns"], k["referred_table"], k["options"].get("ondelete"))
                for k in held.get_foreign_keys(name)
            }
            wanted = {(k.parent.name, k.column.table.name, k.ondelete) for k in table.foreign_keys}
            assert found == wanted


def test_a_second_time_changes_nothing(empty):
    migrate(empty)
    with empty.begin() as connection:
        connection.execute(metadata.tables["account"].insert().values(name="a", password="x", role="owner"))
    migrate(empty)
    with empty.connect() as connection:
        assert connection.scalar(select(metadata.tables["account"].c.name)) == "a"


def test_killed_half_way_it_begins_anew(empty, empty_url):
    died = subprocess.run([sys.executable, "-c", DIES, empty_url, "9"], capture_output=True, check=False)
    assert died.returncode == 9, died.stderr
    assert tables(empty) == set()
    migrate(empty)
    assert differences(empty) == []


def test_servers_that_start_together_do_not_collide(empty, empty_url):
    both = subprocess.run([sys.executable, "-c", MIGRATE, empty_url], capture_output=True, check=False, timeout=300)
    assert both.returncode == 0, both.stderr
    assert differences(empty) == []


def test_a_newer_store_is_refused_and_left_alone(empty):
    migrate(empty)
    with empty.begin() as connection:
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'"))
    with pytest.raises(StoreError, match=r"schema 0001 or older; got schema 9999.*Hint: in the clone, git pull"):
        migrate(empty)
    with empty.connect() as connection:
        assert revision_of(connection) == "9999"


def test_tables_of_something_else_are_refused_and_left_alone(empty):
    with empty.begin() as connection:
        connection.execute(text("CREATE TABLE recipes (name TEXT)"))
    with pytest.raises(StoreError):
        migrate(empty)
    assert tables(empty) == {"recipes"}


def test_a_foreign_file_keeps_its_bytes(tmp_path):
    path = tmp_path / "recipes.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError):
        migrate(make_engine(f"sqlite:///{path}"))
    assert path.read_bytes() == before  # opening it our way would have switched its journal
    assert [one.name for one in tmp_path.iterdir()] == ["recipes.db"]


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "letter.txt"
    path.write_text("Dear reader, " * 500)
    with pytest.raises(StoreError, match=r"can be opened; got 'file is not a database'. Hint: check the name"):
        migrate(make_engine(f"sqlite:///{path}"))
    assert path.read_text() == "Dear reader, " * 500


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(StoreError):
        migrate(make_engine(f"sqlite:///{tmp_path}"))


def test_a_server_that_is_not_there_is_named_without_its_password():
    with pytest.raises(StoreError) as caught:
        migrate(make_engine("postgresql://somebody:topsecret@127.0.0.1:1/none"))
    assert "topsecret" not in str(caught.value)
