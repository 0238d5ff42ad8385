"""Privatising tables of Dask, in this process and by two worker processes."""

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, CategoryError, DataFileError
from subsetprivacy.frames import worker
from subsetprivacy.frames.kernel import Kernel, variables_of
from subsetprivacy.frames.on_dask import privatize_on_dask
from subsetprivacy.messages.for_files import CLEAN_VALUES

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")

pytestmark = [
    pytest.mark.filterwarnings("ignore:published unchanged:subsetprivacy.errors.NotPrivateWarning"),
    pytest.mark.filterwarnings("ignore:The inplace keyword"),  # of Dask, when it reads Parquet
]
LABELS = ["red", "green", "blue", "black"]
DESIGN = sp.uniform(LABELS)
KEY = b"a key of the tests alone"


@pytest.fixture(scope="module")
def two_processes(tmp_path_factory):
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    folder = str(tmp_path_factory.mktemp("dask"))
    # Forks of a process that has imported Dask; also the worker that takes the place of a dead one.
    settings = {"temporary-directory": folder, "distributed.worker.multiprocessing-method": "forkserver"}
    with (
        dask.config.set(settings),
        distributed.LocalCluster(**options, silence_logs=50) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def in_this_process():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(params=["synchronous", "distributed"])
def scheduler(request):
    if request.param == "synchronous":
        request.getfixturevalue("in_this_process")
        yield
    else:
        client = request.getfixturevalue("two_processes")
        with client.as_current():
            yield


def people(n=600, parts=3, *, strange=()):
    drawn = np.random.default_rng(3).choice(LABELS, n, p=[0.5, 0.3, 0.15, 0.05]).astype(object)
    drawn[list(strange)] = "SECRET"
    frame = pd.DataFrame({"row": np.arange(n), "who": [f"person {row}" for row in range(n)], "colour": drawn})
    return drawn.tolist(), dd.from_pandas(frame, npartitions=parts)


def by_the_key(values):
    ids = [f"person {row}" for row in range(len(values))]
    return sp.privatize(values, DESIGN, key=KEY, ids=ids, variable="colour").codes.tolist()


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_keyed_draw_is_that_of_memory_and_rows_are_shuffled(scheduler, tmp_path):
    values, table = people(4000, 5)
    private = sp.privatize_table(table, {"colour": DESIGN}, tmp_path / "out", key=KEY, id="who", keep="row")
    result = private.compute()
    assert list(result.columns) == ["colour", "row"]
    assert dict(zip(result["row"], result["colour"])) == dict(enumerate(by_the_key(values)))
    # Sixteenths of the table before and after: 256 cells of n / 256 each, 225 degrees of freedom.
    cells = np.bincount(result["row"] * 16 // 4000 * 16 + np.arange(4000) * 16 // 4000, minlength=256)
    assert np.sum((cells - 4000 / 256) ** 2) / (4000 / 256) < 225 + 9 * np.sqrt(2 * 225)
    assert names(tmp_path) == ["out"]


def test_rows_that_are_counted_are_all_there_in_no_order(scheduler, tmp_path, monkeypatch):
    """Two columns without any beside them, sorted, laid out by several tasks: the very subsets of the key."""
    monkeypatch.setattr(worker, "SHARE_ROWS", 300)
    letters = sp.fixed_size(list("abcdefghij"), 2)
    held, other = np.repeat(list("abcdefghij"), 300), np.random.default_rng(4).choice(LABELS, 3000)
    ids = [f"person {k}" for k in range(3000)]
    table = dd.from_pandas(pd.DataFrame({"who": ids, "letter": held, "colour": other}), npartitions=5)
    private = sp.privatize_table(table, {"letter": letters, "colour": DESIGN}, tmp_path / "out", key=KEY, id="who")
    result = private.compute()
    assert list(result) == ["letter", "colour"]
    expected = [
        sp.privatize(held, letters, key=KEY, ids=ids, variable="letter").codes.tolist(),
        sp.privatize(other, DESIGN, key=KEY, ids=ids, variable="colour").codes.tolist(),
    ]
    assert sorted(zip(*(result[name].tolist() for name in result))) == sorted(zip(*expected))
    codes = result["letter"].to_numpy(np.int64)
    lowest = np.log2(codes & -codes)
    assert abs(np.corrcoef(lowest, np.arange(3000))[0, 1]) < 8 / np.sqrt(3000)
    assert abs(np.corrcoef(lowest[1:], lowest[:-1])[0, 1]) < 8 / np.sqrt(3000)
    assert len(list((tmp_path / "out").glob("part-*.parquet"))) == 16


def test_covered_design_of_many_kinds_of_rows(scheduler, tmp_path):
    """Too many to be counted: dummy rows are shuffled among the others. Everybody is red, so others are dummies."""
    table = people()[1].assign(colour="red")
    design = sp.covered(sp.uniform([*LABELS, *(f"colour {k}" for k in range(16))]), 0.1)
    private = sp.privatize_table(table, {"colour": design}, tmp_path / "out")
    realized = sp.read_release(tmp_path / "out").designs["colour"]
    assert realized.code_bits > 18
    codes = private.compute()["colour"].to_numpy(np.int64)
    assert len(codes) == 600 + realized.D * realized.dummies
    is_dummy = codes & 1 == 0
    place = np.arange(len(codes)) / len(codes)
    assert abs(place[is_dummy].mean() - 0.5) < 8 * np.sqrt(1 / 12 / is_dummy.sum())


def test_what_is_returned_is_read_from_the_files(scheduler, tmp_path):
    _, table = people()
    private = sp.privatize_table(table, {"colour": DESIGN}, tmp_path / "out")
    assert private.compute().equals(private.compute())


def test_table_that_is_not_written_draws_anew_at_every_look(in_this_process):
    """The control of the test above."""
    _, table = people()
    kernel = Kernel(variables_of({"colour": DESIGN}))

    def draw(part):
        import pyarrow as pa

        batch = pa.RecordBatch.from_pandas(part[["colour"]], preserve_index=False)
        return pd.DataFrame({"colour": kernel.draw(batch).codes[0]})

    lazy = table.map_partitions(draw, meta=pd.DataFrame({"colour": np.array([], np.int64)}))
    assert not lazy.compute().equals(lazy.compute())


def test_rows_keep_their_order_if_asked(scheduler, tmp_path):
    values, table = people(parts=12)
    options = {"key": KEY, "id": "who", "keep": "row", "keep_order": True}
    result = sp.privatize_table(table, {"colour": DESIGN}, tmp_path / "out", **options).compute()
    assert result["row"].tolist() == list(range(600))
    assert result["colour"].tolist() == by_the_key(values)


def test_count_and_release(scheduler, tmp_path):
    _, table = people()
    private = sp.privatize_table(table, {"colour": DESIGN}, tmp_path / "out")
    counts = sp.count(private, "colour", design=DESIGN)
    release = sp.read_release(tmp_path / "out")
    assert release.designs == {"colour": DESIGN}
    assert np.array_equal(release.count("colour").counts, counts.counts)
    document = json.loads((tmp_path / "out" / "_subset_privacy.json").read_text())
    assert document["columns"]["colour"]["form"] == "codes"


def test_refused_rows_are_counted_over_the_whole_table(scheduler, tmp_path):
    _, table = people(strange=(205, 590, 599))
    with pytest.raises(CategoryError, match=r"'colour': .*got 3 values .*first in row 205") as caught:
        sp.privatize_table(table, {"colour": DESIGN}, tmp_path / "out")
    assert "SECRET" not in str(caught.value)
    assert caught.value.__context__ is None
    assert names(tmp_path) == []


def test_missing_values(in_this_process, tmp_path):
    frame = pd.DataFrame({"colour": ["red", None, "blue", "red"] * 5, "kept": [None] * 10 + ["x"] * 10})
    table = dd.from_pandas(frame, npartitions=2)
    with pytest.raises(CategoryError, match="got 5 missing, first in row 1"):
        sp.privatize_table(table, {"colour": DESIGN}, tmp_path / "out")
    private = sp.privatize_table(
        table, {"colour": DESIGN}, tmp_path / "out", missing="full", keep="kept", keep_order=True
    ).compute()
    assert (private["colour"] == 15).tolist() == [False, True, False, False] * 5
    assert private["kept"].isna().tolist() == [True] * 10 + [False] * 10


def test_covered_design(scheduler, tmp_path):
    _, table = people()
    design = sp.covered(DESIGN, 0.1)
    kernel = Kernel(variables_of({"colour": design}))
    private = privatize_on_dask(table, kernel, tmp_path / "out", keep_order=False, overwrite=False)
    realized = sp.read_release(tmp_path / "out").designs["colour"]
    assert (realized.people, realized.dummies) == (600, design.dummies_for(600))
    assert len(private) == 600 + realized.D * realized.dummies
    realized.require_rows(len(private))
    with refused(ArgumentError, "keep_order"):
        privatize_on_dask(table, kernel, tmp_path / "no", keep_order=True, overwrite=False)


def test_what_is_there_stays_until_there_is_something_better(in_this_process, tmp_path):
    output = tmp_path / "out"
    kept = sp.privatize_table(people()[1], {"colour": DESIGN}, output).compute()
    with pytest.raises(DataFileError):
        sp.privatize_table(people()[1], {"colour": DESIGN}, output)
    with pytest.raises(CategoryError):
        sp.privatize_table(people(strange=(5,))[1], {"colour": DESIGN}, output, overwrite=True)
    assert dd.read_parquet(output).compute().equals(kept)
    assert len(sp.privatize_table(people(50)[1], {"colour": DESIGN}, output, overwrite=True)) == 50
    assert names(tmp_path) == ["out"]


def test_an_output_in_the_folder_that_is_read_is_refused(in_this_process, tmp_path):
    people(50)[1].to_parquet(tmp_path / "people")
    table = dd.read_parquet(tmp_path / "people")
    for output in (tmp_path / "people" / "private", tmp_path / "people", f"file://{tmp_path}/people/private"):
        with refused(ArgumentError, "output"):
            sp.privatize_table(table[table["row"] < 40], {"colour": DESIGN}, output, overwrite=True)
    with refused(ArgumentError, "output"):
        sp.privatize_table(table, {"colour": DESIGN}, tmp_path, overwrite=True)
    assert len(sp.privatize_table(table, {"colour": DESIGN}, (tmp_path / "private").as_uri())) == 50
    assert names(tmp_path) == ["people", "private"]


def test_an_address_as_a_path_has_lost_a_slash():
    with refused(ArgumentError, "output"):
        sp.privatize_table(people(50)[1], {"colour": DESIGN}, Path("s3://bucket/out"))


def test_errors_of_the_table_itself_are_not_passed_on(in_this_process, tmp_path):
    _, table = people(strange=(5,))
    wrong = table.assign(colour=table["colour"].map(int, meta=("colour", int)))
    with pytest.raises(DataFileError) as caught:
        sp.privatize_table(wrong, {"colour": DESIGN}, tmp_path / "out")
    assert caught.value.__context__ is None
    assert names(tmp_path) == []


def test_table_without_rows(in_this_process, tmp_path):
    _, table = people()
    with pytest.raises(ArgumentError, match="must have rows; got none"):
        sp.privatize_table(table[table["row"] < 0], {"colour": DESIGN}, tmp_path / "out")
    assert names(tmp_path) == []


@pytest.mark.slow
def test_worker_dies(two_processes, tmp_path):
    """In the middle of the job, by its own hand: no other process has to be quick enough to kill it."""
    n, parts = 600, 16
    values, table = people(n, parts)
    killed, drawn = str(tmp_path / "killed"), str(tmp_path / "_out.partial-*" / "drawn" / "part-*")

    def once_deadly(part):  # in here, so that it is sent as a whole: workers cannot import this file
        import glob
        import os
        import signal
        import time

        if (part["row"] == n // 2).any() and not os.path.exists(killed):
            until = time.monotonic() + 2  # parts that are lost with it, if they do not wait for this one
            while len(glob.glob(drawn)) < 4 and time.monotonic() < until:
                time.sleep(0.01)
            open(killed, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return part

    deadly = table.map_partitions(once_deadly, meta=table._meta)
    with two_processes.as_current():
        options = {"key": KEY, "id": "who", "keep": "row"}
        private = sp.privatize_table(deadly, {"colour": DESIGN}, tmp_path / "out", **options).compute()
    os.remove(killed)  # so it has died
    assert sorted(private["row"]) == list(range(n))
    assert dict(zip(private["row"], private["colour"])) == dict(enumerate(by_the_key(values)))
    assert names(tmp_path) == ["out"]


def test_spaces_are_stripped_and_marks_are_missing(in_this_process, tmp_path):
    frame = pd.DataFrame({"colour": [" red", "blue ", "?"] * 20})
    table = dd.from_pandas(frame, npartitions=3)
    with pytest.raises(CategoryError) as caught:
        sp.privatize_table(table, {"colour": DESIGN}, tmp_path / "no")
    assert "blue" not in str(caught.value)
    assert caught.value.advice == CLEAN_VALUES()
    made = sp.privatize_table(table, {"colour": DESIGN}, tmp_path / "out", strip=True, na="?", keep_order=True)
    codes = made["colour"].compute().to_numpy()
    assert (codes[2::3] == DESIGN.missing_code).all()
    assert (codes[::3] & DESIGN.categories.code(["red"])).all()
