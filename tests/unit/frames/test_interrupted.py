"""A run that was stopped goes on where it was, and publishes nothing before it is whole."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import subsetprivacy as sp
from subsetprivacy.errors import DataFileError
from subsetprivacy.frames import drawing, input_files, packing, pipeline, shuffling
from subsetprivacy.frames.kernel import Kernel, variables_of
from subsetprivacy.frames.packing import Packing
from subsetprivacy.frames.privatizing import privatize_table
from subsetprivacy.frames.staging import Stage, can_continue, stage_of

RACE = sp.uniform(["white", "black", "asian", "other", "native"])


@pytest.fixture(params=["counted", "dealt"])
def values(request, tmp_path, monkeypatch):
    monkeypatch.setattr(input_files, "UNIT_ROWS", 1000)
    monkeypatch.setattr(pipeline, "BUCKET_ROWS", 1000)
    monkeypatch.setattr(shuffling, "COUNTED_ROWS", 1000)
    if request.param == "dealt":
        monkeypatch.setattr(packing, "_FEW_BITS", 0)
    path = tmp_path / "people.parquet"
    race = np.random.default_rng(1).choice(list(RACE.categories), 10_000)
    pq.write_table(pa.table({"race": race, "row": np.arange(10_000)}), path, row_group_size=500)
    return path


def stop_after(units):
    """Return a progress function that stops the run as Ctrl-C does, and the list of what it was told."""
    seen = []

    def progress(done, total):
        seen.append(done)
        if len(seen) == units:
            raise KeyboardInterrupt

    return progress, seen


def units_drawn(monkeypatch):
    drawn = []
    whole = drawing.draw_unit

    def noted(number, unit, job):
        drawn.append(number)
        return whole(number, unit, job)

    monkeypatch.setattr(pipeline, "draw_unit", noted)
    return drawn


@pytest.mark.parametrize("stopped", [4, 12])  # while drawing, and while writing
def test_the_same_call_goes_on_after_an_interrupt(values, tmp_path, stopped, monkeypatch):
    output = tmp_path / "private.parquet"
    progress, _ = stop_after(stopped)
    with pytest.raises(KeyboardInterrupt):
        privatize_table(values, {"race": RACE}, output, progress=progress)
    assert not output.exists()
    assert can_continue(output)
    before = {path.name: path.read_bytes() for path in stage_of(output).glob("unit-*.arrow")}
    drawn = units_drawn(monkeypatch)
    release = privatize_table(values, {"race": RACE}, output)
    assert drawn == list(range(min(stopped, 10), 10))
    assert len(before) == min(stopped, 10)
    assert release.rows == 10_000
    assert not can_continue(output)


def test_what_was_drawn_before_the_interrupt_is_what_is_published(values, tmp_path):
    output = tmp_path / "private.parquet"
    progress, _ = stop_after(9)
    with pytest.raises(KeyboardInterrupt):
        privatize_table(values, {"race": RACE}, output, progress=progress, keep_order=True)
    held = np.concatenate(
        [
            pa.ipc.open_file(str(path)).read_all().column(0).to_numpy()
            for path in sorted(stage_of(output).glob("unit-*.arrow"))
        ]
    )
    release = privatize_table(values, {"race": RACE}, output, keep_order=True)
    codes = release.to_frame(engine="pyarrow").column("race").to_numpy()
    assert len(held) == 9000
    assert np.array_equal(codes[:9000], held)


def test_no_value_is_in_what_an_interrupt_leaves(values, tmp_path):
    output = tmp_path / "private.parquet"
    progress, _ = stop_after(5)
    with pytest.raises(KeyboardInterrupt):
        privatize_table(values, {"race": RACE}, output, progress=progress)
    left = b"".join(path.read_bytes() for path in stage_of(output).iterdir())
    assert not any(str(label).encode() in left for label in RACE.categories)


@pytest.mark.parametrize("change", ["values", "design", "options"])
def test_another_job_starts_anew(values, tmp_path, change, monkeypatch):
    output = tmp_path / "private.parquet"
    progress, _ = stop_after(5)
    with pytest.raises(KeyboardInterrupt):
        privatize_table(values, {"race": RACE}, output, progress=progress)
    design, options = RACE, {}
    if change == "values":
        pq.write_table(pq.read_table(values).slice(0, 9000), values, row_group_size=500)
    elif change == "design":
        design = sp.fixed_size(list(RACE.categories), 2)
    else:
        options = {"missing": "full"}
    drawn = units_drawn(monkeypatch)
    release = privatize_table(values, {"race": design}, output, **options)
    assert drawn == list(range(9 if change == "values" else 10))
    assert release.rows == (9000 if change == "values" else 10_000)


def test_a_table_that_cannot_be_told_from_another_leaves_nothing(values, tmp_path):
    import pyarrow.dataset as ds

    output = tmp_path / "private.parquet"
    progress, _ = stop_after(1)
    with pytest.raises(KeyboardInterrupt):
        privatize_table(ds.dataset(values), {"race": RACE}, output, progress=progress)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.parquet"]


def test_two_runs_do_not_write_the_same_output(values, tmp_path):
    output = tmp_path / "private.parquet"

    def progress(done, total):
        with pytest.raises(DataFileError):
            privatize_table(values, {"race": RACE}, output)

    assert privatize_table(values, {"race": RACE}, output, progress=progress).rows == 10_000


SCRIPT = """
import sys
import subsetprivacy as sp
from subsetprivacy.frames import input_files, packing, pipeline, shuffling
from subsetprivacy.frames.privatizing import privatize_table
input_files.UNIT_ROWS = pipeline.BUCKET_ROWS = shuffling.COUNTED_ROWS = 1000
values, output, few_bits, jobs = sys.argv[1:]
packing._FEW_BITS = int(few_bits)
def progress(done, total):
    print(done, flush=True)
    sys.stdin.readline()  # it goes on when it is told to, however long that takes
if __name__ == "__main__":
    design = sp.uniform(["white", "black", "asian", "other", "native"])
    privatize_table(values, {"race": design}, output, progress=progress, jobs=int(jobs))
"""


def started(values, output, jobs):
    """Start a run in a process of its own, which tells its progress line by line and waits for one after each."""
    script = output.with_name("run.py")
    script.write_text(SCRIPT)
    command = [sys.executable, script, values, output, str(packing._FEW_BITS), str(jobs)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)


def stopped(run, number):
    """End a run by a signal, and wait until it has ended."""
    os.kill(run.pid, number)
    run.wait()
    run.stdin.close()
    run.stdout.close()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
@pytest.mark.parametrize(("values", "units"), [("counted", 3), ("dealt", 13)], indirect=["values"])
def test_a_run_that_was_killed_leaves_no_half_file_and_can_go_on(values, tmp_path, units, monkeypatch):
    output = tmp_path / "private.parquet"
    run = started(values, output, jobs=1)
    run.stdin.write("\n" * (units - 1))
    for _ in range(units):
        assert run.stdout.readline()
    stopped(run, signal.SIGKILL)
    assert not output.exists()
    drawn = units_drawn(monkeypatch)
    assert privatize_table(values, {"race": RACE}, output).rows == 10_000
    assert drawn == list(range(min(units, 10), 10))
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def children_of(pid):
    result = []
    for status in Path("/proc").glob("[0-9]*/status"):
        with suppress(OSError):
            if f"PPid:\t{pid}\n" in status.read_text():
                result.append(int(status.parent.name))
    return result


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="processes are looked up in /proc")
@pytest.mark.parametrize(
    ("values", "stop"), [("counted", signal.SIGKILL), ("dealt", signal.SIGTERM)], indirect=["values"]
)
def test_the_processes_of_a_run_end_with_it(values, tmp_path, stop):
    output = tmp_path / "private.parquet"
    run = started(values, output, jobs=2)
    assert run.stdout.readline()
    workers = children_of(run.pid)
    assert len(workers) >= 2
    stopped(run, stop)
    end = time.monotonic() + 100
    while any(Path(f"/proc/{worker}").exists() for worker in workers) and time.monotonic() < end:
        time.sleep(0.05)
    assert [worker for worker in workers if Path(f"/proc/{worker}").exists()] == []
    assert not output.exists()
    assert privatize_table(values, {"race": RACE}, output).rows == 10_000


def test_a_unit_that_another_run_draws_again_is_not_mixed_in(values, tmp_path):
    """A process that outlives its run writes files of its own: what this run has counted is what it publishes."""
    output = tmp_path / "private.parquet"
    seen = []

    def progress(done, total):
        if not seen:
            seen.append(stage_of(output))
            other = Stage(stage_of(output))
            job = drawing.DrawingJob(
                kernel := Kernel(variables_of({"race": RACE})), Packing.of(kernel.designs, ()), other, 16
            )
            drawing.draw_unit(0, next(input_files.open_input(values).reader(["race"]).units()), job)

    release = privatize_table(values, {"race": RACE}, output, progress=progress, keep_order=False)
    assert release.rows == 10_000


def test_a_killed_process_is_told_in_our_words(values, tmp_path, monkeypatch):
    def killed(*_, **__):
        raise BrokenProcessPool("a child process terminated abruptly")

    monkeypatch.setattr(pipeline, "_drawn", killed)
    with pytest.raises(DataFileError):
        privatize_table(values, {"race": RACE}, tmp_path / "private.parquet")
    assert can_continue(tmp_path / "private.parquet")
