"""How far a long command is: one line on standard error, on a terminal only."""

import sys
from collections.abc import Callable
from time import monotonic
from types import TracebackType
from typing import TextIO

import click

from subsetprivacy.cli.show import is_quiet

AFTER = 1.0  # seconds before there is a line: what is done at once needs none
EVERY = 0.2  # seconds between two looks of the line


class ProgressLine:
    """A line that says how much is done, how fast and how long it takes; call it with (done, all or None).

    Parameters
    ----------
    what
        What is done, e.g. "rows".
    stream
        By default standard error. Nothing is written where it is no terminal.
    clock
        Seconds; by default those since the machine started.
    """

    def __init__(self, what: str, *, stream: TextIO | None = None, clock: Callable[[], float] = monotonic) -> None:
        self._what = what
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._start = clock()
        self._last = float("-inf")
        self._width = 0

    def __call__(self, done: int, total: int | None) -> None:
        """Show how far it is."""
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
        if self._width:  # wipe it: what follows begins on a clean line
            self._write("")
            click.echo("\r", nl=False, file=self._stream)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
