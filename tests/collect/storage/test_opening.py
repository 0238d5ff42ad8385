"""How a store is opened."""

import os

import pytest
from sqlalchemy import text

from subsetprivacy.collect.storage.opening import StoreError, open_store, reading


def test_the_file_is_for_its_owner_alone(sqlite_empty_url):
    """It holds the keys of the coin flip."""
    engine = open_store(sqlite_empty_url)
    with reading(engine):
        modes = {os.stat(f"{engine.url.database}{end}").st_mode & 0o777 for end in ("", "-wal", "-shm")}
    engine.dispose()
    assert modes == {0o600}


@pytest.mark.parametrize("url", ["", "survey.db", "mysql://a@b/c", "nonsense://x", "sqlite://", "sqlite:///:memory:"])
def test_other_addresses_are_refused_with_a_way_out(url):
    with pytest.raises(StoreError, match=r"Hint: --db survey\.db"):
        open_store(url)


def test_a_commit_waits_for_the_disk(sqlite_url):
    """FULL, so that what was acknowledged survives a power cut; and deleted content is overwritten."""
    engine = open_store(sqlite_url)
    with reading(engine) as connection:
        found = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("synchronous", "journal_mode", "secure_delete", "foreign_keys", "trusted_schema")
        }
    engine.dispose()
    assert found == {
        "synchronous": 2,
        "journal_mode": "wal",
        "secure_delete": 1,
        "foreign_keys": 1,
        "trusted_schema": 0,
    }


def test_errors_of_the_database_do_not_quote_what_was_sent(store):
    from sqlalchemy.exc import SQLAlchemyError

    with pytest.raises(SQLAlchemyError, match="hidden") as caught, reading(store) as connection:
        connection.execute(text("SELECT nothing FROM nowhere WHERE a = :a"), {"a": "secret-ticket"})
    assert "secret-ticket" not in str(caught.value)


def test_statements_of_postgresql_are_not_compiled_first(postgres_url):
    """To scan a table is said to cost so much that it would compile each statement that does: half a second."""
    engine = open_store(postgres_url)
    with reading(engine) as connection:
        held = {name: connection.scalar(text(f"SHOW {name}")) for name in ("enable_seqscan", "jit")}
    engine.dispose()
    assert held == {"enable_seqscan": "off", "jit": "off"}
