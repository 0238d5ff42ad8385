"""The log: no line holds anything of anybody, and a flood writes few."""

import io
import logging
import logging.config

import psycopg  # its import sets the level of its log where there is none
import pytest

from subsetprivacy.collect.web import logs


def test_the_log_holds_no_words_of_libraries(capfd):
    before = logging.root.handlers[:], logging.root.level
    try:
        logging.config.dictConfig(logs.log_settings())
        try:
            raise ValueError("192.0.2.7 CANARY")
        except ValueError:
            logging.getLogger("asyncio").exception("in callback(%s)", "CANARY")
            logging.getLogger("uvicorn.error").exception("for 192.0.2.7 CANARY")
        logging.getLogger("sqlalchemy.pool").error("CANARY")
        logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
        logging.getLogger("uvicorn.access").info("192.0.2.7 CANARY")
        logging.getLogger(psycopg.__name__).warning("error ignored: CANARY")
        logging.getLogger("subsetprivacy.collect").error("%s in %s", "ValueError", "web/app.py:3")
    finally:
        logging.root.handlers[:], logging.root.level = before
    lines = capfd.readouterr().err.splitlines()
    assert "CANARY" not in str(lines)
    assert "192.0.2.7" not in str(lines)
    assert [line.partition(" (")[0] for line in lines] == [
        "ERROR: asyncio: ValueError",
        "ERROR: uvicorn.error: ValueError",
        "ERROR: sqlalchemy.pool: a message",
        "ERROR: ValueError in web/app.py:3",
    ]


@pytest.fixture
def sparing():
    """Make a handler whose minutes pass when the test says so."""
    waiting = []
    handler = logs.RateLimitedHandler(io.StringIO(), waiting.append)
    handler.setFormatter(logs.TerseFormatter())

    def pass_minute():
        for act in waiting:
            act()
        waiting.clear()

    handler.pass_minute = pass_minute
    handler.written = lambda: handler.stream.getvalue().splitlines()
    return handler


def log(handler, message, *arguments, name="subsetprivacy.collect"):
    handler.handle(logging.LogRecord(name, logging.ERROR, "file.py", 7, message, arguments, None))


def test_a_flood_writes_few_lines_and_then_how_many_more(sparing):
    for _ in range(13_000):
        log(sparing, "%s in %s", "TimeoutError", "web/app.py:3")
    log(sparing, "CANARY %s", "192.0.2.7", name="asyncio")
    line, other = "ERROR: TimeoutError in web/app.py:3", "ERROR: asyncio: a message (file.py:7)"
    assert sparing.written() == [line] * 5 + [other]
    sparing.pass_minute()
    assert sparing.written()[6:] == [f"{line}: 12995 more of these in the last minute"]
    log(sparing, "%s in %s", "TimeoutError", "web/app.py:3")  # the next minute begins anew
    assert sparing.written()[7:] == [line]
    sparing.pass_minute()
    assert len(sparing.written()) == 8


def test_lines_of_ever_new_kinds_are_limited_together(sparing):
    for k in range(10_000):
        log(sparing, "in line %d", k)
    assert len(sparing.written()) == 50 + 5
    sparing.pass_minute()
    assert sparing.written()[-1] == "ERROR: lines of other kinds: 9945 more of these in the last minute"


def test_what_was_counted_is_written_at_the_end(sparing):
    for _ in range(7):
        log(sparing, "again")
    sparing.close()
    assert sparing.written()[5:] == ["ERROR: again: 2 more of these in the last minute"]


def test_quiet_minutes_write_nothing_and_a_minute_is_measured_once(sparing):
    asked = []
    sparing._later = asked.append
    for _ in range(20):
        log(sparing, "again")
    assert len(asked) == 1
    asked[0]()
    assert len(sparing.written()) == 6
