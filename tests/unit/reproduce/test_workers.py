"""Replications: the same numbers whatever the number of processes, and progress that adds up."""

import os
import warnings

import numpy as np
import pytest

from subsetprivacy.errors import BoundaryWarning
from subsetprivacy.processes import process_pool
from subsetprivacy.reproduce.experiment import Run
from subsetprivacy.reproduce.workers import NoProgress, replicate


@pytest.fixture(scope="module")
def two():
    """Two processes, for all tests that need some: to start them takes longer than what they do."""
    with process_pool(2) as pool:
        yield pool


class Counting:
    def __init__(self):
        self.totals, self.steps = [], 0

    def start(self, total):
        self.totals.append(total)

    def advance(self, steps):
        self.steps += steps


# At the top of an importable module would be better; a pool cannot import a test file, so it gets NumPy's own.
def two_numbers(rng, low, high):
    return [rng.uniform(low, high), low]


def test_each_replication_has_its_own_generator():
    progress = Counting()
    result = replicate(two_numbers, [(0, 1), (5, 6)], 40, key=(7, 8), pool=None, progress=progress)
    expected = [np.random.default_rng([7, 8, 1, r]).uniform(5, 6) for r in range(40)]
    assert [array.shape for array in result] == [(40, 2), (40, 2)]
    assert result[1][:, 0] == pytest.approx(expected, abs=0)
    assert len(np.unique(result[0][:, 0])) == 40
    assert progress.totals == [80]
    assert progress.steps == 80


def test_processes_change_nothing(two):
    # Two processes against none, on a task that a fresh interpreter can import.
    from subsetprivacy.reproduce.tab_consistency import losses

    alone = replicate(losses, [(4, 50), (5, 60)], 5, key=(1, 2), pool=None, progress=NoProgress())
    together = replicate(losses, [(4, 50), (5, 60)], 5, key=(1, 2), pool=two, progress=NoProgress())
    assert all((a == b).all() for a, b in zip(alone, together))


def test_an_error_in_a_process_comes_home(two):
    from subsetprivacy.reproduce.tab_consistency import losses

    with pytest.raises(ValueError, match=r"`n` must be a whole number"):
        replicate(losses, [(4, -1)], 3, key=(1, 2), pool=two, progress=NoProgress())


def test_threads_of_linear_algebra_are_put_back(monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    with process_pool(2):
        assert os.environ["OPENBLAS_NUM_THREADS"] == os.environ["MKL_NUM_THREADS"] == "1"
    assert os.environ["OPENBLAS_NUM_THREADS"] == "2"
    assert "MKL_NUM_THREADS" not in os.environ


def test_one_job_needs_no_process():
    with process_pool(0) as pool:
        assert pool is None


def warns(rng):
    warnings.warn("a zero", BoundaryWarning, stacklevel=1)
    return [0.0]


def test_doubt_about_a_replication_is_not_printed():
    assert replicate(warns, [()], 1, key=(1,), pool=None, progress=NoProgress())[0].tolist() == [[0.0]]


def test_random_numbers_depend_on_label_seed_and_task():
    base = Run("tab:consistency", 3).replicate(two_numbers, [(0, 1)])[0]
    assert (Run("tab:consistency", 3).replicate(two_numbers, [(0, 1)])[0] == base).all()
    assert (Run("tab:consistency", 3, seed=2).replicate(two_numbers, [(0, 1)])[0] != base).any()
    assert (Run("fig:dist", 3).replicate(two_numbers, [(0, 1)])[0] != base).any()
    assert Run("fig:dist", 3).rng("a").random() != Run("fig:dist", 3).rng("b").random()


def test_alone_goes_through_all_steps():
    progress = Counting()
    assert list(Run("fig:time1", 1, progress=progress).alone("abc")) == ["a", "b", "c"]
    assert (progress.totals, progress.steps) == ([3], 3)
