"""The progress of a long command: one line on standard error, on a terminal only."""

import sys
from collections.abc import Callable
from time import monotonic
from types import TracebackType
from typing import TextIO

import click

from subsetprivacy.cli.show import is_quiet

AFTER = 1.0  # seconds before the line appears; fast commands need none
EVERY = 0.2  # seconds between two updates


class ProgressLine:
    """A line with progress, speed and remaining time; call it with (done, total or None).

    Parameters
    ----------
    what
        What is counted, e.g. "rows".
    stream
        By default standard error. Nothing is written if it is not a terminal.
    clock
        A clock in seconds, by default monotonic.
    """

    def __init__(self, what: str, *, stream: TextIO | None = None, clock: Callable[[], float] = monotonic) -> None:
        self._what = what
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._start = clock()
        self._last = float("-inf")
        self._width = 0

    def __call__(self, done: int, total: int | None) -> None:
        """Show the progress."""
        now = self._clock()
        finished = total is not None and done >= total
        if is_quiet():
            return
        early = now - self._start < AFTER or (now - self._last < EVERY and not finished)
        if early or not self._stream.isatty():
            return
        self._last = now
        self._write(self._line(done, total, now - self._start))

    def _line(self, done: int, total: int | None, seconds: float) -> str:
        speed = done / seconds if seconds > 0 else 0.0
        if total is None:
            return f"{done:,} {self._what}, {speed:,.0f} a second"
        share = f"{100 * done / total:3.0f} %  " if total else ""
        left = f", {_duration((total - done) / speed)} left" if speed and done < total else ""
        return f"{share}{done:,} of {total:,} {self._what}, {speed:,.0f} a second{left}"

    def _write(self, line: str) -> None:
        click.echo("\r" + line.ljust(self._width), nl=False, file=self._stream)
        self._width = len(line)

    def __enter__(self) -> "ProgressLine":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._width:  # clear it, so that what follows begins on an empty line
            self._write("")
            click.echo("\r", nl=False, file=self._stream)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
