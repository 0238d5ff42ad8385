"""Privatising on a standalone cluster through Spark Connect: workers without this package, that die and straggle.

Run by `test_spark_cluster.py`, in a process of its own.
"""

import subprocess
import sys
import threading
import time
import traceback

import numpy as np
import pytest
from cluster import connected, driver_settings, standalone

import subsetprivacy as sp
from subsetprivacy.errors import CategoryError
from subsetprivacy.frames import worker

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning")

LABELS = ["red", "green", "blue", "black"]
DESIGN = sp.uniform(LABELS)
SHARES = [0.5, 0.3, 0.15, 0.05]
KEY = b"a key of the tests alone"
TABLE = "row long, who string, colour string"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with standalone(tmp_path_factory.mktemp("cluster")) as started:
        yield started


@pytest.fixture(scope="module")
def session(cluster):
    eager = {
        "spark.speculation": "true",
        "spark.speculation.interval": "100ms",
        "spark.speculation.quantile": "0.5",
        "spark.speculation.minTaskRuntime": "1s",
    }
    with connected(cluster, **eager) as opened:
        yield opened


def colours(n):
    return np.random.default_rng(3).choice(LABELS, n, p=SHARES)


def people(session, n, parts, *, nap=0.0, marks=None, straggler=None, stranger=None):
    """Make a table of n people in many parts, each of which takes a nap and leaves a mark when it is begun."""
    values = dict(enumerate(colours(n).tolist()))
    if stranger is not None:
        values[stranger] = "SECRET"
    folder = None if marks is None else str(marks)

    def rows(batches):
        import os
        import time

        import pyarrow as pa
        from pyspark import TaskContext

        task = TaskContext.get()
        if folder is not None:
            with open(os.path.join(folder, f"{task.partitionId()}-{task.taskAttemptId()}"), "w"):
                pass
        time.sleep(4 if task.partitionId() == straggler and task.attemptNumber() == 0 else nap)
        for batch in batches:
            ids = batch.column(0).to_pylist()
            who = [f"person {k}" for k in ids]
            yield pa.RecordBatch.from_pydict({"row": ids, "who": who, "colour": [values[k] for k in ids]})

    return session.range(0, n, 1, parts).mapInArrow(rows, TABLE)


def held_by_workers(session):
    """Return which packages the workers have, of those that matter."""

    def found(batches):
        import importlib.util

        import pyarrow as pa

        for _ in batches:
            held = [name for name in ("scipy", "attrs", "subsetprivacy", "numpy") if importlib.util.find_spec(name)]
            yield pa.RecordBatch.from_pydict({"held": [" ".join(held)]})

    return {row.held for row in session.range(0, 8, 1, 8).mapInArrow(found, "held string").collect()}


def privatised(table, output, **options):
    options = {"key": KEY, "id": "who", "keep": "row"} | options
    with pytest.warns(sp.errors.NotPrivateWarning, match="kept"):
        return sp.privatize_table(table, {"colour": DESIGN}, str(output), **options)


def by_the_key(n):
    """Return what each person's code must be, drawn in memory."""
    ids = [f"person {k}" for k in range(n)]
    return sp.privatize(colours(n), DESIGN, key=KEY, ids=ids, variable="colour").codes


def check_complete(table, n):
    """Every row is there once, with the code that key and id say."""
    result = table.toArrow().to_pydict()
    assert sorted(result["row"]) == list(range(n))
    expected = by_the_key(n)
    assert [int(expected[row]) for row in result["row"]] == result["colour"]
    assert result["row"] != sorted(result["row"])  # and the rows are shuffled


def check_tidy(folder, *outputs):
    """Nothing stands beside the outputs, and nothing unfinished in them."""
    assert sorted(path.name for path in folder.iterdir()) == sorted(outputs)
    assert not [path for path in folder.rglob("*") if path.name == "_temporary"]


def when(condition, action, seconds=300):
    """Do something in mid-job, as soon as a condition holds; return whether it was done, once the job is over."""
    done = threading.Event()

    def watch():
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if condition():
                action()
                done.set()
                return
            time.sleep(0.02)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return lambda: (thread.join(seconds), done.is_set())[1]


def test_privatise_count_and_estimate(session, tmp_path):
    n = 40_000
    assert held_by_workers(session) == {"numpy"}  # nothing of ours, before we send it
    private = sp.privatize_table(people(session, n, 6), {"colour": DESIGN}, str(tmp_path / "out"))
    assert private.columns == ["colour"]
    fit = sp.estimate(sp.count(private, "colour", design=DESIGN))
    assert fit.n == n
    truth = np.array([np.mean(colours(n) == label) for label in LABELS])
    assert np.abs(fit.w - truth).max() < 8 * fit.se.max()
    check_tidy(tmp_path, "out")


def test_unknown_label_in_a_late_part(session, cluster, tmp_path):
    table = people(session, 4_000, 8, stranger=3_999)
    with pytest.raises(CategoryError) as caught:
        sp.privatize_table(table, {"colour": DESIGN}, str(tmp_path / "out"))
    said = "".join(traceback.format_exception(caught.value))
    assert "SECRET" not in said
    assert caught.value.__context__ is None
    check_tidy(tmp_path)
    assert "every value must be one of" in cluster.logs()  # the workers have said it too
    assert "SECRET" not in cluster.logs()


def test_straggler_is_drawn_twice_and_written_once(session, tmp_path):
    n, marks = 3_000, tmp_path / "marks"
    marks.mkdir()
    private = privatised(people(session, n, 6, marks=marks, straggler=4), tmp_path / "out")
    begun = [mark.name for mark in marks.glob("4-*")]
    assert len(begun) == 2, "Spark started no second copy of the slow task"
    check_complete(private, n)
    check_tidy(tmp_path, "out", "marks")


def test_classic_driver(cluster, session, tmp_path):
    settings = driver_settings(tmp_path) | {"spark.master": cluster.url}
    session.range(30).selectExpr("id", "concat('person ', id) AS who").write.parquet(str(tmp_path / "in"))
    program = tmp_path / "program.py"
    program.write_text(_PROGRAM)
    environment = {"PYSPARK_PYTHON": str(cluster.python), "PATH": "/usr/bin:/bin", "SPARK_LOCAL_IP": "127.0.0.1"}
    command = [sys.executable, "-W", "ignore", str(program), str(tmp_path), repr(settings), KEY.decode()]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    result = session.read.parquet(str(tmp_path / "out")).toArrow().column("who_is").to_pylist()
    design = sp.uniform([f"person {k}" for k in range(30)])
    drawn = sp.privatize(list(design.categories), design, key=KEY, ids=list(range(30)), variable="who_is").codes
    assert sorted(result) == sorted(drawn.tolist())


_PROGRAM = """
import sys
from pyspark.sql import SparkSession
import subsetprivacy as sp

folder, settings, key = sys.argv[1], eval(sys.argv[2]), sys.argv[3].encode()
builder = SparkSession.builder
for name, value in settings.items():
    builder = builder.config(name, value)
table = builder.getOrCreate().read.parquet(folder + "/in").withColumnRenamed("who", "who_is")
design = sp.uniform([f"person {k}" for k in range(30)])
sp.privatize_table(table, {"who_is": design}, folder + "/out", key=key, id="id")
"""


def test_worker_dies_while_counted_rows_are_laid_out(session, cluster, tmp_path, monkeypatch):
    n, output = 30_000, tmp_path / "out"
    cluster.add_worker().await_text("Successfully registered with master")
    victim = next(each for each in cluster.workers if "Asked to launch executor" in each.log.read_text())
    monkeypatch.setattr(worker, "SHARE_ROWS", 200)  # many small tasks: time to die in
    has_died = when(lambda: len(list(output.glob("_temporary/0/task_*"))) >= 8, victim.kill)
    private = sp.privatize_table(people(session, n, 8), {"colour": DESIGN}, str(output), key=KEY, id="who")
    assert has_died(), "the job was over before the worker died"
    cluster.workers.remove(victim)
    result = private.toArrow().column("colour").to_numpy()
    assert np.array_equal(np.sort(result), np.sort(by_the_key(n)))
    check_tidy(tmp_path, "out")


@pytest.mark.parametrize("phase", ["drawing", "shuffling"])
def test_worker_dies(session, cluster, tmp_path, phase):
    n, output = 30_000, tmp_path / "out"
    cluster.add_worker().await_text("Successfully registered with master")  # so that two are left
    victim = next(each for each in cluster.workers if "Asked to launch executor" in each.log.read_text())
    session.conf.set("spark.sql.shuffle.partitions", "60")  # many small tasks: time to die in

    def in_the_midst():
        if phase == "drawing":
            return len(list(tmp_path.glob("_out.partial-*/_temporary/0/task_*"))) >= 6
        return len(list(output.glob("_temporary/0/task_*"))) >= 8

    has_died = when(in_the_midst, victim.kill)
    private = privatised(people(session, n, 24, nap=0.15), output)
    assert has_died(), "the job was over before the worker died"
    cluster.workers.remove(victim)
    check_complete(private, n)
    check_tidy(tmp_path, "out")
    log = (cluster.folder / "connect.log").read_text()
    assert "FetchFailed" in log or phase == "drawing", "no part had to be read again"
