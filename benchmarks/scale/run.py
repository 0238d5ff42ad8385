"""Measure files of a hundred million rows and more against what hand-written code needs, side by side in one run.

Run it with ``make bench-scale`` or ``python benchmarks/scale/run.py [--rows N] [--rounds K] [--only TEXT]``. Works
alternate, each in a process of its own; ratios are of medians of wall time on all cores unless a row says otherwise.
Nothing fails if a target is missed.
"""

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import mkdtemp
from typing import Any

import values
from attrs import frozen

HERE = Path(__file__).parent
COLUMNS = ("work / other", "ours", "other", "ratio", "to reach", "reached", "peak")


@frozen
class Row:
    """A line of the table."""

    name: str
    ours: float
    other: float
    target: str
    reached: bool
    peak: float = 0.0
    notes: tuple[str, ...] = ()

    def cells(self) -> tuple[str, ...]:
        """Return what stands in the line."""
        ratio = f"{self.ours / self.other:.2f}"
        peak = f"{self.peak:.2f} GB" if self.peak else ""
        return (
            self.name, f"{self.ours:.2f} s", f"{self.other:.2f} s", ratio, self.target,
            "yes" if self.reached else "no", peak,
        )  # fmt: skip


class Bench:
    """The folder with the tables, and how often everything is run."""

    def __init__(self, folder: Path, rows: int, rounds: int) -> None:
        self.folder, self.rows, self.rounds = folder, rows, rounds

    @cache  # noqa: B019  (one bench per run)
    def values(self, rows: int) -> Path:
        path = self.folder / f"values-{rows}.parquet"
        values.write_values(path, rows)
        return path

    @cache  # noqa: B019
    def codes(self, rows: int) -> Path:
        path = self.folder / f"codes-{rows}.parquet"
        values.write_codes(path, rows)
        return path

    def output(self, name: str) -> str:
        return str(self.folder / f"{name}.parquet")

    def alternate(self, *works: tuple[str, ...]) -> list[tuple[float, float, Any]]:
        """Run the works in turn; return for each its median seconds, its peak of memory and its last result."""
        runs: list[list[dict[str, Any]]] = [[] for _ in works]
        for _ in range(self.rounds):
            for held, work in zip(runs, works, strict=True):
                held.append(once(*work))
        return [
            (median(run["seconds"] for run in held), max(run["gigabytes"] for run in held), held[-1]["result"])
            for held in runs
        ]


def once(name: str, *arguments: str, script: str = "work.py") -> dict[str, Any]:
    ran = subprocess.run([sys.executable, HERE / script, name, *arguments], capture_output=True, text=True)
    if ran.returncode:
        raise RuntimeError(f"{name} failed:\n{ran.stderr[-2000:]}")
    return json.loads(ran.stdout.splitlines()[-1])


def counting(bench: Bench) -> list[Row]:
    made = []
    for path, kind in ((bench.codes(bench.rows), "PyArrow's default file"), (released(bench), "our file")):
        (ours, peak, n), (other, _, m) = bench.alternate(("count_ours", str(path)), ("count_duckdb", str(path)))
        assert n == m == bench.rows
        name = f"count {bench.rows:,} rows of {kind} / hand-written DuckDB"
        made.append(Row(name, ours, other, "<= 1.3, .6 GB", ours <= 1.3 * other and peak <= 0.6, peak))
    return made


@cache
def released(bench: Bench) -> Path:
    path = bench.output("released")
    once("privatize_ours", str(bench.values(bench.rows)), path, "x", "2", "shuffled")
    return Path(path)


def privatizing(bench: Bench) -> list[Row]:
    source, codes = str(bench.values(bench.rows)), str(bench.codes(bench.rows))
    out = bench.output("private")
    kept = ("privatize_ours", source, out, "x", "1", "kept")
    mixed = ("privatize_ours", source, out, "x", "1", "shuffled")
    two = ("privatize_ours", source, out, "x", "2", "shuffled")
    two_kept = ("privatize_ours", source, out, "x", "2", "kept")
    text = ("privatize_ours", source, out, "label", "1", "shuffled")
    found = bench.alternate(kept, mixed, two, two_kept, text, ("bare_loop", source, out), ("bare_loop", codes, out))
    (k, k_peak, _), (m, m_peak, _), (t, t_peak, _), (tk, _, _), (s, s_peak, _), (small, _, _), (full, _, _) = found
    what = f"privatise {bench.rows:,} rows"
    return [
        Row(f"{what}, order kept / bare loop writing codes", k, full, "<= 1.5, .6 GB", k <= 1.5 * full, k_peak),
        Row(f"{what}, order kept / bare loop writing the 16 values", k, small, "<= 1.5", k <= 1.5 * small, k_peak),
        Row(f"{what}, shuffled / bare loop writing codes", m, full, "<= 1.5, .6 GB", m <= 1.5 * full, m_peak),
        Row(f"{what}, shuffled / bare loop writing the 16 values", m, small, "(no target)", True, m_peak),
        Row(f"{what} of text, shuffled / bare loop writing codes", s, full, "(no target)", True, s_peak),
        Row(f"{what}, shuffled: one process / two", m, t, ">= 1.6", m >= 1.6 * t, t_peak),
        Row(f"{what}, order kept: one process / two", k, tk, "(no target)", True),
    ]


def path_of_all(bench: Bench) -> list[Row]:
    ((_, peak, times),) = bench.alternate(("whole_path", str(bench.values(bench.rows)), bench.output("whole")))
    drawn, counted, fitted = times
    name = f"{bench.rows:,} rows, privatise, count, estimate / without the estimate"
    note = f"privatise {drawn:.2f} s, count {counted:.2f} s, estimate with intervals {fitted * 1e3:.0f} ms"
    before = drawn + counted
    return [Row(name, before + fitted, before, "<= 1.01", fitted <= 0.01 * before, peak, (note,))]


def growth(bench: Bench) -> list[Row]:
    """Count ten times as many rows again and again; the last table is ten links to one file."""
    sizes = [bench.rows // 100, bench.rows // 10, bench.rows]
    places = [bench.codes(rows) for rows in sizes]
    longest = bench.folder / "ten"
    values.linked(places[-1], longest, 10)
    found = bench.alternate(*(("count_ours", str(place)) for place in [*places, longest]))
    made = []
    for (less, _, rows), (more, peak, total) in pairwise(found):
        name = f"count {total:,} rows / {rows:,} rows"
        made.append(Row(name, more, less, "about 10", more <= 12 * less, peak))
    return made


def on_spark(bench: Bench) -> list[Row]:
    try:
        import pyspark
    except ImportError:
        print("skipped: Spark (in the clone, pip install '.[spark]', and Java 17)", file=sys.stderr)
        return []
    source = str(bench.values(bench.rows))
    out = str(bench.folder / "spark")
    runs = {kind: once(kind, source, out, script="spark.py") for kind in ("by_hand", "kept", "shuffled")}
    hand, kept, mixed = (runs[kind]["seconds"] for kind in ("by_hand", "kept", "shuffled"))
    what = f"Spark {pyspark.__version__} on 2 cores, {bench.rows:,} rows: privatise, write, count"
    other = "/ hand-written mapInArrow, write, groupBy"
    return [
        Row(f"{what}, order kept {other}", kept, hand, "<= 1.5", kept <= 1.5 * hand),
        Row(f"{what}, shuffled {other}", mixed, hand, "<= 1.5", mixed <= 1.5 * hand),
    ]


PARTS: dict[str, Callable[[Bench], list[Row]]] = {
    "count": counting,
    "privatise": privatizing,
    "path": path_of_all,
    "growth": growth,
    "spark": on_spark,
}


def show(rows: list[Row]) -> None:
    table = [COLUMNS, *(row.cells() for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for cells in table:
        aligned = (
            f"{c:{'<' if k == 0 else '>'}{width}}" for k, (c, width) in enumerate(zip(cells, widths, strict=True))
        )
        print("  ".join(aligned).rstrip())
    for note in (note for row in rows for note in row.notes):
        print(f"- {note}.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000_000, help="rows of the large table")
    parser.add_argument("--rounds", type=int, default=3, help="how often each work is run")
    parser.add_argument("--only", choices=PARTS, action="append", help="only this part; may be given again")
    parser.add_argument("--folder", type=Path, help="where the tables go, 4 GB; by default a temporary folder")
    options = parser.parse_args()
    folder = Path(mkdtemp(dir=options.folder))
    bench = Bench(folder, options.rows, options.rounds)
    made: list[Row] = []
    try:
        for name in options.only or PARTS:
            print(name, file=sys.stderr)
            made += PARTS[name](bench)
    finally:
        shutil.rmtree(folder)
    show(made)


if __name__ == "__main__":
    main()
