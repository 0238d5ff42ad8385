"""The log. It contains nothing about any person, and no flood of requests fills it."""

import logging
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any, TextIO

_OURS = "subsetprivacy"
LINES_A_MINUTE = 5  # of one kind
_KINDS_A_MINUTE = 50
_OTHERS = "ERROR: lines of other kinds"


class TerseFormatter(logging.Formatter):
    """Format our own lines in full. For a library's line, write only the kind of error and its place, not its text."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record, without a traceback."""
        if record.name.split(".")[0] == _OURS:
            return f"{record.levelname}: {record.getMessage()}"
        kind = record.exc_info[0] if record.exc_info else None
        named = "a message" if kind is None else kind.__name__
        return f"{record.levelname}: {record.name}: {named} ({record.filename}:{record.lineno})"


def _in_a_minute(act: Callable[[], None]) -> None:
    timer = threading.Timer(60.0, act)
    timer.daemon = True
    timer.start()


class RateLimitedHandler(logging.StreamHandler[TextIO]):
    """Write a few lines of each kind, and at the end of the minute how many more there were.

    Parameters
    ----------
    stream
        The stream to write to.
    later
        Calls a function in a minute.
    """

    def __init__(self, stream: TextIO, later: Callable[[Callable[[], None]], None] = _in_a_minute) -> None:
        super().__init__(stream)
        self._later = later
        self._seen: Counter[str] = Counter()

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line, or count it."""
        try:
            if not self._seen:
                self._later(self._sum_up)
            line = self.format(record)
            if line not in self._seen and len(self._seen) >= _KINDS_A_MINUTE:
                line = _OTHERS
            self._seen[line] += 1
            if self._seen[line] <= LINES_A_MINUTE:
                self._write(line)
        except Exception:
            self.handleError(record)

    def close(self) -> None:
        """Write the remaining counts."""
        self._sum_up()
        super().close()

    def _sum_up(self) -> None:
        with self.lock:  # type: ignore[union-attr]
            for line, number in self._seen.items():
                if number > LINES_A_MINUTE:
                    self._write(f"{line}: {number - LINES_A_MINUTE} more of these in the last minute")
            self._seen.clear()

    def _write(self, line: str) -> None:
        self.stream.write(line + self.terminator)
        self.flush()


def log_settings() -> dict[str, Any]:
    """Return the settings of the log: errors only, short, and few of each kind."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"terse": {"()": TerseFormatter}},
        "handlers": {"stderr": {"()": RateLimitedHandler, "formatter": "terse", "stream": "ext://sys.stderr"}},
        "root": {"handlers": ["stderr"], "level": "ERROR"},
        # All loggers use the one handler, whatever was set before.
        "loggers": {
            "uvicorn": {"level": "ERROR", "propagate": True},
            "uvicorn.error": {"level": "ERROR", "propagate": True},
            "uvicorn.access": {"level": "CRITICAL", "propagate": True},
            "psycopg": {"level": "ERROR", "propagate": True},  # it sets its own level to warnings otherwise
            _OURS: {"level": "WARNING", "propagate": True},
        },
    }
