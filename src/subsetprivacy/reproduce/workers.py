"""Run replications in several processes, with progress. The numbers do not depend on how many there are."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, as_completed
from typing import Any, Protocol

import numpy as np

from subsetprivacy._types import FloatArray
from subsetprivacy.errors import SubsetPrivacyWarning

Task = Callable[..., Sequence[float]]
_PIECES = 16  # pieces of each setting's replications, so that progress moves and little is transferred


class ProgressReporter(Protocol):
    """Reports the progress of an experiment."""

    def start(self, total: int) -> None:
        """Start with the total number of steps."""

    def advance(self, steps: int) -> None:
        """Report finished steps."""


class NoProgress:
    """Reports nothing."""

    def start(self, total: int) -> None:
        """Do nothing."""

    def advance(self, steps: int) -> None:
        """Do nothing."""


def replicate(
    task: Task,
    settings: Sequence[tuple[Any, ...]],
    k: int,
    *,
    key: Sequence[int],
    pool: Executor | None,
    progress: ProgressReporter,
) -> list[FloatArray]:
    """Run `task(rng, *setting)` k times for each setting.

    Parameters
    ----------
    task
        A function at the top of a module that returns a fixed number of floats.
    key
        Seeds of the generators: replication r of setting i has `default_rng([*key, i, r])`.

    Returns
    -------
    list of ndarray, shape (k, floats)
        One array per setting.
    """
    step = max(1, -(-k // _PIECES))
    pieces = [(i, first, min(first + step, k)) for i in range(len(settings)) for first in range(0, k, step)]
    progress.start(k * len(settings))
    results: dict[tuple[int, int, int], FloatArray] = {}
    if pool is None:
        for piece in pieces:
            results[piece] = _run(task, settings[piece[0]], key, piece)
            progress.advance(piece[2] - piece[1])
    else:
        waiting: dict[Future[FloatArray], tuple[int, int, int]] = {
            pool.submit(_run, task, settings[piece[0]], key, piece): piece for piece in pieces
        }
        try:
            for done in as_completed(waiting):
                piece = waiting[done]
                results[piece] = done.result()
                progress.advance(piece[2] - piece[1])
        finally:
            for future in waiting:
                future.cancel()
    return [np.concatenate([results[piece] for piece in pieces if piece[0] == i]) for i in range(len(settings))]


def _run(task: Task, setting: tuple[Any, ...], key: Sequence[int], piece: tuple[int, int, int]) -> FloatArray:
    i, first, last = piece
    with warnings.catch_warnings():  # warnings about single replications are expected in an experiment
        warnings.simplefilter("ignore", SubsetPrivacyWarning)
        return np.array([task(np.random.default_rng([*key, i, r]), *setting) for r in range(first, last)], dtype=float)
