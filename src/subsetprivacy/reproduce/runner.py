"""Run experiments one after the other, store what is finished, and report each result."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from pathlib import Path
from time import perf_counter

from attrs import evolve, frozen

from subsetprivacy import __version__
from subsetprivacy._checks import check_count
from subsetprivacy._paths import local_path
from subsetprivacy.draw import require_matplotlib
from subsetprivacy.errors import SubsetPrivacyWarning
from subsetprivacy.examples import Adult, adult
from subsetprivacy.processes import process_pool
from subsetprivacy.reproduce import registry
from subsetprivacy.reproduce.experiment import Experiment, Run
from subsetprivacy.reproduce.page import write_page
from subsetprivacy.reproduce.store import SHIPPED, Record, RunSettings, forget, read, save
from subsetprivacy.reproduce.workers import NoProgress, ProgressReporter


@frozen
class Finished:
    """One experiment of a run: its record or the error that ended it, and whether it was finished before."""

    label: str
    record: Record | None
    before: bool = False
    error: Exception | None = None

    @property
    def failed(self) -> bool:
        """Whether it ended in an error or with a claim that differs."""
        return self.record is None or self.record.failed


def reproduce(
    *labels: str,
    output: str | Path = "results",
    quick: bool = False,
    seed: int = 1,
    jobs: int = 1,
    again: bool = False,
    adult: Adult = adult,
    source: str = SHIPPED,
    progress: Callable[[Experiment], ProgressReporter] | None = None,
) -> Iterator[Finished]:
    """Run experiments of the paper and yield each when it is done. The page in `output` is updated each time.

    Parameters
    ----------
    *labels
        Labels of the paper, patterns such as ``"fig:auc-*"``, or ``"all"``.
    output
        The folder of the results. An experiment that it contains, with the same settings, is not run again.
    quick
        Use fewer replications.
    seed
        The seed of all random numbers, which do not depend on `jobs`.
    jobs
        The number of processes. Timed experiments run in the calling process only. With more than one, fresh
        interpreters start: in a script, call this under ``if __name__ == "__main__":``.
    again
        Also run finished experiments.
    adult, source
        The Adult data, and a word for their origin.
    progress
        Called with each experiment before it runs. Returns the object that reports its progress.

    Raises
    ------
    ArgumentError
        If a label is unknown or a number out of range.
    MissingDependencyError
        Without matplotlib.
    """
    chosen = registry.select(labels)
    check_count(jobs, "jobs", least=1)
    settings = RunSettings(__version__, quick, check_count(seed, "seed"), source)
    require_matplotlib("the figures need")
    folder = local_path(output, "output")
    write_page(folder)  # first of all, so that a folder that is not writable fails at once
    return _perform_all(chosen, folder, settings, jobs, again, adult, progress or (lambda _: NoProgress()))


def _perform_all(
    labels: Sequence[str],
    folder: Path,
    settings: RunSettings,
    jobs: int,
    rerun: bool,
    adult: Adult,
    progress: Callable[[Experiment], ProgressReporter],
) -> Iterator[Finished]:
    own = {label: _settings(label, settings) for label in labels}
    known = {} if rerun else {label: read(folder, label) for label in labels}
    kept = {label: record for label, record in known.items() if record and _has_settings(record, own[label])}
    with process_pool(jobs if jobs > 1 and len(kept) < len(labels) else 0) as pool:
        for label in labels:
            if label in kept:
                yield Finished(label, kept[label], before=True)
                continue
            experiment = registry.load(label)
            forget(folder, label)
            try:
                record = _perform(experiment, folder, own[label], adult, pool, progress(experiment))
            except Exception as error:  # the other experiments still run; the command fails at the end
                yield Finished(label, None, error=error)
                continue
            finally:
                write_page(folder)
            yield Finished(label, record)


def _has_settings(record: Record, wanted: RunSettings) -> bool:
    """Tell whether a result has the wanted settings, or is the long form of it."""
    return record.settings in (wanted, evolve(wanted, quick=False))


def _settings(label: str, settings: RunSettings) -> RunSettings:
    """Return the settings that the result of one experiment depends on."""
    source = settings.adult if registry.load(label).adult else SHIPPED
    return evolve(settings, adult=source, code=registry.code_of(label))


def _perform(
    experiment: Experiment,
    folder: Path,
    settings: RunSettings,
    adult: Adult,
    pool: Executor | None,
    progress: ProgressReporter,
) -> Record:
    k = experiment.quick if settings.quick else experiment.full
    run = Run(experiment.label, k, settings.quick, settings.seed, adult, pool, progress)
    start = perf_counter()
    with warnings.catch_warnings():  # warnings about single replications are expected in an experiment
        warnings.simplefilter("ignore", SubsetPrivacyWarning)
        outcome = experiment.perform(run)
    return save(folder, experiment.label, outcome, settings, k, perf_counter() - start)
