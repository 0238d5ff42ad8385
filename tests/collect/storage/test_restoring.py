"""Going back to a backup: which answers and codes are there, and what a check tells of it."""

import os

from sqlalchemy import delete, func, insert, select

from subsetprivacy.collect.service.publishing import close
from subsetprivacy.collect.service.respondents import Respondent, answer_all
from subsetprivacy.collect.storage.backups import backup, check, sqlite_address
from subsetprivacy.collect.storage.opening import open_store, reading, writing
from subsetprivacy.collect.storage.released import read_key, read_released
from subsetprivacy.collect.storage.schema import metadata
from subsetprivacy.collect.storage.secure_delete import erase, request_erasing
from subsetprivacy.collect.storage.surveys import add_codes, delete_survey
from subsetprivacy.collect.survey import coin

TABLES = metadata.tables


def test_who_waited_at_the_last_release_is_lost_to_a_backup(store, publish_kinds, let_answer, tmp_path):
    """In the middle of a batch: what `db backup --help` says of each code is so, for both kinds of backup."""
    manifest = publish_kinds(store)
    first, second = let_answer(store, manifest, 33), let_answer(store, manifest, 3)  # released: 20, and 13 wait
    tickets = [os.urandom(coin.TICKET_BYTES) for _ in range(2)]
    with writing(store) as connection:
        add_codes(connection, manifest.id, [coin.ticket_mark(manifest.id, ticket) for ticket in tickets])
    values = dict.fromkeys(("colour", "day", "smokes", "size"), 0)
    unused, later = [Respondent(values, code=coin.code_text(ticket, bytes(10))) for ticket in tickets]
    for everything in (False, True):
        backup(store, tmp_path / f"{everything}.db", everything=everything)
    assert answer_all(store, manifest, [later]) == {"counted": 1}
    copies = [open_store(sqlite_address(tmp_path / f"{everything}.db")) for everything in (False, True)]
    for copy, again in zip(copies, ({"counted": 3}, {"already counted": 3}), strict=True):
        with reading(copy) as connection:
            assert read_released(connection, manifest.id).n == 20
        assert answer_all(copy, manifest, first) == {"already counted": 33}  # of 13 of them the answers are nowhere
        assert answer_all(copy, manifest, second) == again
        assert answer_all(copy, manifest, [unused, later]) == {"counted": 2}
    people = [people_of(copy, manifest) for copy in copies]
    assert people == [20 + 3 + 2, 36 + 2]
    for copy in copies:
        copy.dispose()


def people_of(engine, manifest):
    """Return how many people's answers a store holds."""
    wanted = [TABLES[name] for name in ("tally", "pending")]
    with reading(engine) as connection:
        sums = [
            connection.scalar(select(func.sum(one.c.n)).where(one.c.survey == manifest.id, one.c.grp == 0))
            for one in wanted
        ]
    return sum(int(one or 0) for one in sums)


def test_a_backup_from_before_the_end_has_the_survey_open_and_its_key_secret(store, publish_kinds, tmp_path):
    """As the help says: the copy cannot know that the key was published since."""
    manifest = publish_kinds(store)
    backup(store, tmp_path / "copy.db", everything=True)
    close(store, manifest.id)
    copy = open_store(sqlite_address(tmp_path / "copy.db"))
    with reading(store) as connection, reading(copy) as other:
        key, is_published = read_key(connection, manifest.study)
        assert is_published
        assert read_key(other, manifest.study) == (key, False)
        assert read_released(other, manifest.id).is_open
    close(copy, manifest.id)  # what the help advises
    with reading(copy) as connection:
        assert read_key(connection, manifest.study) == (key, True)
    copy.dispose()


def test_the_number_of_those_who_wait_is_in_no_finding(store, publish_kinds, let_answer):
    """It would change between releases."""
    manifest = publish_kinds(store)
    let_answer(store, manifest, 33)

    def found():
        return [(one.place, one.message) for one in check(store)]

    with writing(store) as connection:  # a ticket too many, and one too few, so that there is something to tell
        connection.execute(insert(TABLES["spent"]).values(survey=manifest.id, mark=b"x" * 32))
    more = found()
    let_answer(store, manifest, 1)
    assert found() == more != []
    with writing(store) as connection:
        connection.execute(delete(TABLES["spent"]))
    fewer = found()
    let_answer(store, manifest, 1)
    assert found() == fewer != more


def test_what_is_left_in_the_files_of_postgresql_is_noted(postgres_url, publish_kinds):
    engine = open_store(postgres_url)
    manifest = publish_kinds(engine)
    with writing(engine) as connection:
        delete_survey(connection, manifest)
        request_erasing(connection)
    (note,) = check(engine)
    assert not note.is_error
    assert "still contain traces of deleted data" in note.message
    assert erase(engine)
    assert check(engine) == []
    engine.dispose()
