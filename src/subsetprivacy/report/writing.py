"""`report_html` and `write_report`: one page about a release."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve

from subsetprivacy._checks import check_count, check_level, shown
from subsetprivacy._paths import local_path
from subsetprivacy._seeds import seed_number
from subsetprivacy._types import Seed
from subsetprivacy.data import JointCounts
from subsetprivacy.errors import ArgumentError, DataFileError
from subsetprivacy.messages.for_files import REPLACE_OUTPUT
from subsetprivacy.report.crossing import MOST_PAIRS, Effort, look_across, look_together, pairs_of
from subsetprivacy.report.gathering import Column, Source, look_at
from subsetprivacy.report.page import Findings, page


def report_html(
    release: Source,
    *,
    columns: Sequence[str] | None = None,
    level: float = 0.95,
    tests: bool = True,
    title: str | None = None,
    permutations: int = 999,
    seed: Seed | None = None,
    date: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> str:
    """Return a page about a release of subsets, for people who were not there.

    Estimates with intervals, what each column and a whole row give away, which
    columns go together, the designs, and how to get every number again. The
    page is one HTML text that needs nothing else: no network, no JavaScript.

    Parameters
    ----------
    release
        What `read_release` returns. It is counted, and no row is read.
    columns
        The columns that the page is about; by default all.
    level
        The confidence level of the intervals.
    tests
        Whether to test pairs of columns for independence.
    title
        The heading; by default the file's name.
    permutations, seed
        For the tests, as in `independence_test`. The same release, arguments
        and seed give the same page, which prints the seed as a number.
    date
        A date to print; by default none.
    progress
        Called with the number of steps done and the number of all.

    Raises
    ------
    ArgumentError
        If a column is not in the release, or another argument out of its range.

    Notes
    -----
    What cannot be estimated or tested does not stop the page: it says so in
    its place. Warnings of the library are sentences on the page.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from subsetprivacy.design import uniform
    >>> from subsetprivacy.mechanism.simulate import simulate
    >>> colours = uniform(["black", "red", "green", "blue"])
    >>> counts = simulate(colours, [0.1, 0.2, 0.3, 0.4], 1000, seed=1)
    >>> release = SimpleNamespace(
    ...     path=Path("urn.parquet"), designs={"colour": colours}, rows=1000, count=lambda column: counts,
    ...     kept=(), alone=lambda: 0,
    ... )
    >>> text = report_html(release, title="The urn")
    >>> text.count("<h1>The urn</h1>"), "<script" in text
    (1, False)
    """
    names = _chosen(columns, release)
    effort = Effort(bool(tests), check_count(permutations, "permutations"), seed_number(seed), check_level(level))
    tell = progress or (lambda done, total: None)
    return page(evolve(_gathered(release, names, effort, tell), title=title, date=None if date is None else str(date)))


def _gathered(release: Source, names: list[str], effort: Effort, tell: Callable[[int, int], None]) -> Findings:
    """Compute all that the page says, a step for each column, each pair and the whole row."""
    crossings = pairs_of({name: release.designs[name] for name in names})
    wanted = crossings[:MOST_PAIRS]
    total = len(names) + len(wanted) + 1
    columns: dict[str, Column] = {}
    for k, name in enumerate(names):
        tell(k, total)
        columns[name] = look_at(name, release.count(name), effort.level)
    pairs, held = [], dict[Any, JointCounts]()
    for k, pair in enumerate(wanted, len(names)):
        tell(k, total)
        pairs.append(look_across(release, [columns[name] for name in pair], held, effort))
    tell(total - 1, total)
    found = list(columns.values())
    whole_row = look_together(release, found, held, effort.level)
    tell(total, total)
    left_out = len(crossings) - len(wanted)
    return Findings(
        Path(release.path),
        release.rows,
        found,
        pairs,
        left_out,
        whole_row,
        effort,
        _version(),
        release.kept,
        release.alone(),
    )


def write_report(
    release: Source,
    path: str | Path,
    *,
    columns: Sequence[str] | None = None,
    level: float = 0.95,
    tests: bool = True,
    title: str | None = None,
    permutations: int = 999,
    seed: Seed | None = None,
    date: str | None = None,
    overwrite: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Write a page about a release of subsets to an HTML file, and return its path.

    Parameters
    ----------
    release, columns, level, tests, title, permutations, seed, date, progress
        As in `report_html`.
    path
        The file. It is written under another name and moved when it is whole.
    overwrite
        Whether a file of that name may be replaced.

    Raises
    ------
    DataFileError
        If the file exists already, or cannot be written.
    ArgumentError
        As in `report_html`.
    """
    target = local_path(path)
    if target.exists() and not overwrite:
        raise DataFileError(f"`path` must be a new file; got {str(target)!r}, which exists.", REPLACE_OUTPUT)
    if not target.parent.is_dir():
        raise DataFileError(f"`path` must be in a folder that exists; got {str(target)!r}.")
    text = report_html(
        release,
        columns=columns,
        level=level,
        tests=tests,
        title=title,
        permutations=permutations,
        seed=seed,
        date=date,
        progress=progress,
    )
    _put(target, text)
    return target


def _put(target: Path, text: str) -> None:
    part = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        part.write_bytes(text.encode("utf-8"))
        part.replace(target)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise DataFileError(f"`path` must be a file that can be written; got {str(target)!r}: {reason}.") from None
    finally:
        part.unlink(missing_ok=True)


def _chosen(columns: Sequence[str] | None, release: Source) -> list[str]:
    held = list(release.designs)
    if columns is None:
        return held
    wanted = [columns] if isinstance(columns, str) else list(columns)
    absent = [name for name in wanted if name not in held]
    if absent or not wanted or len(set(wanted)) < len(wanted):
        got = f"no column {shown(absent[0])}" if absent else "one twice" if wanted else "none"
        raise ArgumentError(f"`columns` must be different ones of {', '.join(held)}; got {got}.")
    return wanted


def _version() -> str:
    from subsetprivacy import __version__  # when it is called: the facade is loaded by then

    return __version__
