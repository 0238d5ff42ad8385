"""Store results in a folder: a CSV file, a figure and a record for each experiment, and a page of all.

The record is written last and atomically. If it exists, the experiment was finished.
"""

from __future__ import annotations

import csv
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import asdict, frozen

from subsetprivacy.reproduce.checks import DIFFERS, VERDICTS, Check
from subsetprivacy.reproduce.experiment import ExperimentResult
from subsetprivacy.reproduce.registry import LABELS, file_name

SHIPPED = "shipped"
"""The Adult counts included in the package."""


@frozen
class RunSettings:
    """What a result depends on. A finished experiment with the same settings is not run again.

    Attributes
    ----------
    version
        The version of the package.
    quick
        Whether it is the short form.
    seed
        The seed of the random numbers.
    adult
        ``"shipped"`` or ``"file"``: the origin of the Adult counts, if the experiment uses them.
    code
        The fingerprint of the experiment's code.
    """

    version: str
    quick: bool
    seed: int
    adult: str = SHIPPED
    code: str = ""


@frozen
class Record:
    """The record of a finished experiment, stored with its other files.

    Attributes
    ----------
    label
        The label of the experiment, which has the texts.
    settings, replications
        How it was run.
    seconds
        How long it took.
    checks
        The claims and verdicts.
    """

    label: str
    settings: RunSettings
    replications: int
    seconds: float
    checks: tuple[Check, ...]

    @property
    def failed(self) -> bool:
        """Whether a claim differs without an erratum."""
        return any(check.verdict == DIFFERS for check in self.checks)

    @property
    def stem(self) -> str:
        """The name of its files, without the suffix."""
        return file_name(self.label)

    def tally(self) -> dict[str, int]:
        """Return the number of claims with each verdict that occurs."""
        counts = Counter(check.verdict for check in self.checks)
        return {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]}


def save(folder: Path, label: str, outcome: ExperimentResult, settings: RunSettings, k: int, seconds: float) -> Record:
    """Write the files of a finished experiment, the record last."""
    record = Record(label, settings, k, seconds, tuple(outcome.checks))
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_path(folder / f"{record.stem}.csv") as path, path.open("w", newline="", encoding="utf-8") as file:
        _write_csv(file, outcome.table)
    _draw(folder / record.stem, outcome.figure)
    with atomic_path(folder / f"{record.stem}.json") as path:
        path.write_text(json.dumps(asdict(record), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return record


def read(folder: Path, label: str) -> Record | None:
    """Return the record of a finished experiment, or None if it or its files are missing or unreadable."""
    if not all((folder / f"{file_name(label)}.{kind}").exists() for kind in ("csv", "svg")):
        return None
    try:
        stored = json.loads((folder / f"{file_name(label)}.json").read_text(encoding="utf-8"))
        settings, checks = RunSettings(**stored["settings"]), tuple(Check(**check) for check in stored["checks"])
        return Record(**{**stored, "settings": settings, "checks": checks})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def forget(folder: Path, label: str) -> None:
    """Remove the record of an experiment that is about to be run again, so that an interrupted run leaves none."""
    (folder / f"{file_name(label)}.json").unlink(missing_ok=True)


def read_all(folder: Path) -> tuple[Record, ...]:
    """Return the records of all finished experiments, in the paper's order."""
    return tuple(record for label in LABELS if (record := read(folder, label)))


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write to, and rename it to the final name at the end."""
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _write_csv(file: Any, table: Mapping[str, Sequence[Any]]) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(table)
    for row in zip(*table.values(), strict=True):
        writer.writerow([f"{cell:.10g}" if isinstance(cell, float) else cell for cell in row])


def _draw(stem: Path, figure: Any) -> None:
    from matplotlib import pyplot as plt
    from matplotlib import rc_context

    # A fixed salt and no date make the file reproducible. Text stays text, so that it can be searched and read aloud.
    with rc_context({"svg.hashsalt": stem.name, "svg.fonttype": "none"}):
        for kind, options in (("svg", {"metadata": {"Date": None}}), ("png", {"dpi": 150})):
            with atomic_path(stem.with_suffix(f".{kind}")) as path:
                figure.savefig(path, format=kind, bbox_inches="tight", **options)
    plt.close(figure)
