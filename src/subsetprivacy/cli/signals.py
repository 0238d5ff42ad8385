"""Stop a command by Ctrl-C, or by SIGTERM, which service managers and batch systems send."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import NoReturn

import click

from subsetprivacy.cli.shell_wording import wants_json
from subsetprivacy.cli.show import echo_line

INTERRUPTED, TERMINATED = 130, 143  # what shells report: 128 plus the number of the signal


class Terminated(KeyboardInterrupt):
    """Raised on SIGTERM, and handled like Ctrl-C."""


@contextmanager
def terminable() -> Iterator[None]:
    """Let SIGTERM raise an exception, as Ctrl-C does."""
    if current_thread() is not main_thread():  # which alone may handle signals
        yield
        return

    def stop(*_: object) -> NoReturn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # only once, because cleaning up takes a moment
        raise Terminated

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def end(stop: KeyboardInterrupt, text: str) -> NoReturn:
    """Print that a command was stopped, and exit with the code of the signal."""
    terminated = isinstance(stop, Terminated)
    if wants_json():
        echo_line(type(stop).__name__, text)
    else:
        click.echo(text if terminated else f"\n{text}", err=True)  # the terminal has written ^C
    sys.exit(TERMINATED if terminated else INTERRUPTED)
