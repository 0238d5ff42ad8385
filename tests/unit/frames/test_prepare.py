"""`prepare`: everything is checked and told before anything is drawn, and the plan is run once."""

import gc
import os
import pickle
import warnings

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, CategoryError, DataFileError, NotPrivateWarning
from subsetprivacy.frames import preparing
from subsetprivacy.frames.privatizing import privatize_table
from subsetprivacy.messages import NoteKind

RACE = sp.uniform(["ash", "birch", "elm", "fir", "oak"])
SEX_INCOME = sp.join({"sex": ["f", "m"], "income": ["high", "low"]})
VALUES = {
    "race": ["ash", "elm", "oak", "fir"] * 50,
    "sex": ["f", "m"] * 100,
    "income": ["low", "low", "high", "low"] * 50,
}
VALUES["region"] = ["north", "south"] * 100


@pytest.fixture(params=["people.csv", "people.parquet"])
def people(request, tmp_path):
    path = tmp_path / request.param
    table = pa.table(VALUES)
    pq.write_table(table, path) if path.suffix == ".parquet" else table.to_pandas().to_csv(path, index=False)
    return path


def left_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_plan_tells_what_will_be_done(people, tmp_path):
    output = tmp_path / "private.parquet"
    plan = sp.prepare(people, {"race": RACE, "both": SEX_INCOME}, output, keep=["region"])
    assert (plan.table, plan.output) == (str(people), str(output))
    assert plan.designs == {"race": RACE, "both": SEX_INCOME}
    assert plan.read_from == {"race": ("race",), "both": ("sex", "income")}
    assert plan.keep == ("region",)
    assert plan.rows_are_exact is (people.suffix == ".parquet")
    assert plan.rows == (200 if plan.rows_are_exact else pytest.approx(200, abs=2))
    assert [note.kind for note in plan.notes] == [NoteKind.NOT_PROTECTED]
    text = str(plan.summary())
    assert f"{people} to {output}" in text
    for word in ("rows, in random order", "sex, income", "kept unchanged", RACE.fingerprint[:16]):
        assert word in text
    about = "" if plan.rows_are_exact else "about "
    assert repr(plan).startswith(f"<PrivatizePlan of {people} to {output}: {about}2")
    assert repr(plan).endswith("rows, race (5), both (4); kept unchanged: region>")
    plan.close()


def test_nothing_is_written_before_the_run(people, tmp_path):
    before = left_in(tmp_path)
    plan = sp.prepare(people, {"race": RACE}, tmp_path / "private.csv")
    assert left_in(tmp_path) == before
    release = plan.run()
    assert release.rows == 200
    assert left_in(tmp_path) == sorted([*before, "private.csv", "private.csv.design.json"])


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame(VALUES),
        pl.DataFrame(VALUES),
        pa.table(VALUES),
        pl.LazyFrame(VALUES),
        ds.dataset(pa.table(VALUES)),
    ],
    ids=["pandas", "polars", "pyarrow", "polars-lazy", "pyarrow-dataset"],
)
def test_tables_are_prepared_as_files_are(table, tmp_path):
    plan = sp.prepare(table, {"race": RACE}, tmp_path / "private.parquet")
    assert plan.rows == (None if isinstance(table, (pl.LazyFrame, ds.Dataset)) else 200)
    assert ("an unknown number of rows" in repr(plan)) is (plan.rows is None)
    assert not (tmp_path / "private.parquet").exists()
    assert isinstance(plan.run(), ds.Dataset if isinstance(table, ds.Dataset) else type(table))
    assert sp.read_release(tmp_path / "private.parquet").count("race").n == 200


def test_the_plan_draws_what_the_call_draws(people, tmp_path):
    plan = sp.prepare(people, {"race": RACE}, tmp_path / "one.csv", seed=7)
    plan.run()
    privatize_table(people, {"race": RACE}, tmp_path / "two.csv", seed=7)
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


def test_a_plan_is_run_once(people, tmp_path):
    """Two draws of one person intersect."""
    plan = sp.prepare(people, {"race": RACE}, tmp_path / "private.csv", overwrite=True)
    plan.run()
    drawn = (tmp_path / "private.csv").read_bytes()
    with pytest.raises(ArgumentError, match=r"must be run once.*Hint: sp\.prepare"):
        plan.run()
    assert (tmp_path / "private.csv").read_bytes() == drawn
    frame = sp.prepare(pd.DataFrame(VALUES), {"race": RACE})
    frame.run()
    with pytest.raises(ArgumentError):
        frame.run()


def test_a_run_that_failed_is_not_run_again(people, tmp_path):
    plan = sp.prepare(people, {"sex": RACE}, tmp_path / "private.csv")
    with pytest.raises(CategoryError):
        plan.run()
    with pytest.raises(ArgumentError):
        plan.run()
    assert left_in(tmp_path) == [people.name]


def test_a_closed_plan_does_not_run(people, tmp_path):
    with sp.prepare(people, {"race": RACE}, tmp_path / "private.csv") as plan:
        pass
    with pytest.raises(ArgumentError):
        plan.run()
    assert not (tmp_path / "private.csv").exists()


def test_a_plan_that_was_read_back_tells_but_does_not_run(people, tmp_path):
    with sp.prepare(people, {"race": RACE}, tmp_path / "private.csv", key=b"secret" * 4, id="region") as plan:
        data = pickle.dumps(plan)
    assert b"secret" not in data
    again = pickle.loads(data)
    assert again.to_dict() == plan.to_dict()
    with pytest.raises(ArgumentError):
        again.run()


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="open files are looked up in /proc")
@pytest.mark.parametrize("end", ["run", "fail", "close", "forget", "refuse"])
def test_the_input_is_closed_however_a_plan_ends(people, tmp_path, end):
    def handles():
        result = (os.path.realpath(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd"))
        return sum(each == os.path.realpath(people) for each in result)

    if end == "refuse":
        with pytest.raises(DataFileError):
            sp.prepare(people, {"nowhere": RACE}, tmp_path / "private.csv")
    else:
        plan = sp.prepare(people, {"sex" if end == "fail" else "race": RACE}, tmp_path / "private.csv")
        assert handles() == 1
        if end == "fail":
            with pytest.raises(CategoryError):
                plan.run()
        elif end != "forget":
            getattr(plan, end)()
        else:
            del plan
    gc.collect()
    assert handles() == 0


# What is refused before the run ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"keep": ["nowhere"]}, DataFileError, "no column nowhere"),
        ({"keep": ["race"]}, ArgumentError, "every column must be written once; got race twice"),
        ({"form": "labels", "output": "private.parquet"}, ArgumentError, "`form` must be 'codes'"),
        ({"output": "there.csv"}, DataFileError, "must not exist yet"),
        ({"output": "there.csv", "if_exists": "same"}, DataFileError, "or come from the same job"),
        ({"output": "nowhere/private.csv"}, DataFileError, "must be in a folder that exists"),
        ({"output": "private.xlsx"}, DataFileError, "must end in one of"),
        ({"output": "private.sav"}, DataFileError, "must end in one of"),
        ({"output": None}, ArgumentError, "`output` must say where to write"),
        ({"seed": 1, "key": b"k" * 16, "id": "sex"}, ArgumentError, "only one of `seed` and `key`"),
        ({"jobs": 0}, ArgumentError, "`jobs` must be"),
        ({"strip": "yes"}, ArgumentError, "`strip` must be True or False"),
    ],
)
def test_what_is_wrong_is_told_by_the_plan(people, tmp_path, settings, error, message):
    (tmp_path / "there.csv").write_text("someone's")
    before = left_in(tmp_path)
    settings = {"output": "private.csv", **settings}
    output = settings.pop("output")
    with pytest.raises(error, match=message):
        sp.prepare(people, {"race": RACE}, output if output is None else tmp_path / output, **settings)
    assert left_in(tmp_path) == before
    assert (tmp_path / "there.csv").read_text() == "someone's"


def test_tables_have_columns_before_the_run(tmp_path):
    for table in (pd.DataFrame(VALUES), pl.LazyFrame(VALUES)):
        with pytest.raises(ArgumentError, match="no column nowhere"):
            sp.prepare(table, {"nowhere": RACE}, tmp_path / "private.parquet")
    with refused(ArgumentError, "if_exists"):
        sp.prepare(pd.DataFrame(VALUES), {"race": RACE}, tmp_path / "private.parquet", if_exists="same")


def test_an_output_that_appears_after_the_plan_is_not_replaced(people, tmp_path):
    plan = sp.prepare(people, {"race": RACE}, tmp_path / "private.csv")
    (tmp_path / "private.csv").write_text("someone's")
    with pytest.raises(DataFileError):
        plan.run()
    assert (tmp_path / "private.csv").read_text() == "someone's"


def test_the_plan_knows_that_the_same_job_is_done(people, tmp_path):
    output = tmp_path / "private.csv"
    settings = {"keep": ["region"], "if_exists": "same"}
    first = sp.prepare(people, {"race": RACE}, output, **settings)
    assert not first.is_finished
    with pytest.warns(NotPrivateWarning, match="region"):
        first.run()
    drawn = output.read_bytes()
    plan = sp.prepare(people, {"race": RACE}, output, **settings)
    assert plan.is_finished
    assert "the same job has written it already" in str(plan.summary())
    assert plan.run().rows == 200
    assert output.read_bytes() == drawn


# Warnings and processes -----------------------------------------------------------------------------


def test_warnings_come_with_the_run_and_name_the_line_of_the_caller(people, tmp_path):
    designs = {"race": sp.nonprivate(list(RACE.categories))}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plan = sp.prepare(people, designs, tmp_path / "one.csv", keep=["region"], keep_order=True, seed=1)
    kinds = [NoteKind.NOT_PRIVATE, NoteKind.NOT_PROTECTED, NoteKind.NOT_PROTECTED, NoteKind.NOT_PRIVATE]
    assert [note.kind for note in plan.notes] == kinds
    for run in (plan.run, lambda: privatize_table(people, designs, tmp_path / "two.csv", keep=["region"])):
        with pytest.warns(NotPrivateWarning) as caught:
            run()
        assert [str(warning.message)[:12] for warning in caught] == ["a nonprivate", "published un"]
        assert {warning.filename for warning in caught} == {__file__}


def test_large_files_get_a_process_for_each_core(people, tmp_path, monkeypatch):
    monkeypatch.setattr(preparing, "cores", lambda: 3)
    with sp.prepare(people, {"race": RACE}, tmp_path / "private.csv", jobs=None) as plan:
        assert plan.jobs == 1
    monkeypatch.setattr(preparing, "LARGE", 100)
    with sp.prepare(people, {"race": RACE}, tmp_path / "private.csv", jobs=None) as plan:
        assert plan.jobs == 3
    with sp.prepare(people, {"race": RACE}, tmp_path / "private.csv") as plan:
        assert plan.jobs == 1


def test_progress_is_told_by_the_run(people, tmp_path):
    told = []
    sp.prepare(people, {"race": RACE}, tmp_path / "private.csv").run(progress=lambda *rows: told.append(rows))
    assert told[-1] == (200, 200)
