"""Spaces around values, and marks such as "?" of a missing answer: `strip` and `na` of `privatize_table`."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, CategoryError
from subsetprivacy.frames.cleaning import Cleaning
from subsetprivacy.messages.for_files import CLEAN_VALUES, NAME_THE_MARK, STRIP_SPACES

WORK = ["Private", "State-gov", "Self-emp", "Never-worked"]
DESIGN = sp.uniform(WORK)
KEY = bytes(range(32))
N = 400


def people(*, spaces=" ", mark="?"):
    """Return ids and values like those of Adult's own file: a space before each, a mark where nothing is known."""
    drawn = np.random.default_rng(5).choice([*WORK, mark], N, p=[0.6, 0.2, 0.1, 0.05, 0.05]).tolist()
    return {"id": [str(k) for k in range(N)], "work": [spaces + value for value in drawn]}


def marks():
    return sum(value.endswith("?") for value in people()["work"])


@pytest.fixture
def raw(tmp_path):
    """Give a CSV file as it was published: comma and space between cells, a question mark for no answer."""
    held = people()
    path = tmp_path / "adult.csv"
    lines = (f"{who},{value}\n" for who, value in zip(*held.values(), strict=True))
    path.write_text("id,work\n" + "".join(lines), encoding="utf-8")
    return path


def check(codes):
    """Every subset holds its value, and a mark became the full set."""
    for value, code in zip(people(spaces="")["work"], codes, strict=True):
        assert code == DESIGN.missing_code if value == "?" else DESIGN.categories.code([value]) & code


def test_adults_own_file_takes_two_options(raw, tmp_path):
    release = sp.privatize_table(
        raw, {"work": DESIGN}, tmp_path / "private.parquet", strip=True, na="?", keep_order=True
    )
    check(release.codes("work"))
    assert release.count("work").n_missing >= marks()


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_tables_in_memory(make):
    made = sp.privatize_table(make(people()), {"work": DESIGN}, strip=True, na="?", keep_order=True)
    check(np.asarray(made["work"]).tolist())


def test_lazy_tables_and_several_processes(tmp_path):
    table = pa.table(people())
    pq.write_table(table, tmp_path / "people.parquet", row_group_size=50)
    lazy = pl.scan_parquet(tmp_path / "people.parquet")
    settings = {"strip": True, "na": ["?"], "keep_order": True}
    made = sp.privatize_table(lazy, {"work": DESIGN}, tmp_path / "lazy.parquet", **settings)
    check(made.collect()["work"].to_list())
    release = sp.privatize_table(tmp_path / "people.parquet", {"work": DESIGN}, tmp_path / "2.csv", jobs=2, **settings)
    check(release.codes("work"))


def test_a_key_draws_the_same_with_spaces_and_without(raw, tmp_path):
    clean = pd.DataFrame(people(spaces="")).replace("?", None)
    one = sp.privatize_table(clean, {"work": DESIGN}, key=KEY, id="id", keep_order=True, missing="full")
    two = sp.privatize_table(
        raw, {"work": DESIGN}, tmp_path / "two.csv", key=KEY, id="id", keep_order=True, strip=True, na="?"
    )
    assert one["work"].tolist() == two.codes("work").tolist()


def test_a_category_may_have_spaces_too():
    spaced = sp.uniform([f" {label}" for label in WORK])
    made = sp.privatize_table(pd.DataFrame(people(spaces="")), {"work": spaced}, strip=True, na="?", keep_order=True)
    check(made["work"])
    with pytest.raises(CategoryError):
        sp.privatize_table(pd.DataFrame(people()), {"work": sp.uniform(["a", " a", "b", "c"])}, strip=True)


def test_numbers_can_be_marks(tmp_path):
    design = sp.uniform([1, 2, 3, 4])
    frame = pd.DataFrame({"answer": [1, 2, -9, 4, 99]})
    for na in ([-9, 99], ["-9", "99"]):
        made = sp.privatize_table(frame, {"answer": design}, na=na, keep_order=True)
        assert (made["answer"] == design.missing_code).tolist()[2] is True
    frame.to_csv(tmp_path / "answers.csv", index=False)
    release = sp.privatize_table(
        tmp_path / "answers.csv", {"answer": design}, tmp_path / "private.csv", na=["-9", "99"], keep_order=True
    )
    assert release.codes()[[2, 4]].tolist() == [design.missing_code] * 2


def test_joined_variables():
    joined = sp.join({"sex": ["f", "m"], "work": ["yes", "no"]})
    frame = pd.DataFrame({"sex": [" f", "m ", "?", "m"], "work": ["yes", "?", "?", " no"]})
    made = sp.privatize_table(frame, {"both": joined}, strip=True, na="?", keep_order=True)
    missing = (made["both"] == joined.missing_code).tolist()
    assert missing[1:3] == [True, True]
    frame.loc[1, "sex"] = None  # a mark next to an empty cell: the cell is still an error
    with pytest.raises(CategoryError, match=r"must be known; got 1 missing, first in row 1"):
        sp.privatize_table(frame, {"both": joined}, strip=True, na="?")


def test_an_empty_cell_is_still_what_missing_says():
    frame = pd.DataFrame({"work": ["Private", None, "?"]})
    with pytest.raises(CategoryError, match="must be known; got 1 missing, first in row 1"):
        sp.privatize_table(frame, {"work": DESIGN}, na="?")
    made = sp.privatize_table(frame, {"work": DESIGN}, na="?", missing="full", keep_order=True)
    assert made["work"].tolist()[1:] == [DESIGN.missing_code] * 2


@pytest.mark.parametrize(
    ("settings", "argument"),
    [
        ({"na": "Private"}, "na"),
        ({"na": " Private ", "strip": True}, "na"),
        ({"na": [b"?"]}, "na"),
        ({"strip": "yes"}, "strip"),
    ],
)
def test_settings_that_do_not_fit(settings, argument):
    with refused(ArgumentError, argument):
        sp.privatize_table(pd.DataFrame(people()), {"work": DESIGN}, **settings)


# What is said where they are not given ------------------------------------------------------------


def test_the_message_counts_what_stripping_would_mend(raw, tmp_path):
    with pytest.raises(CategoryError, match=f"got {N} values that are not, first in line 2") as caught:
        sp.privatize_table(raw, {"work": DESIGN}, tmp_path / "private.parquet")
    said = str(caught.value)
    assert f"{N - marks()} of them are categories after stripping spaces." in said
    assert f"{marks()} look like marks of a missing answer, such as ? or NA." in said
    assert caught.value.advice == CLEAN_VALUES()
    assert "Private" not in said
    assert not (tmp_path / "private.parquet").exists()


def test_the_message_says_that_all_match():
    frame = pd.DataFrame({"work": [f" {label}" for label in WORK] * 10})
    with pytest.raises(CategoryError, match="All 40 are categories") as caught:
        sp.privatize_table(frame, {"work": DESIGN})
    assert caught.value.advice == STRIP_SPACES()


def test_after_stripping_the_rest_is_told(raw, tmp_path):
    with pytest.raises(CategoryError, match=f"got {marks()} values that are not") as caught:
        sp.privatize_table(raw, {"work": DESIGN}, tmp_path / "private.parquet", strip=True)
    assert caught.value.advice == NAME_THE_MARK()
    assert f"{marks()} look like marks" in str(caught.value)


def test_counts_of_all_batches_add_up(tmp_path):
    values = pa.table({"work": [" Private"] * 300 + ["?"] + ["elsewhere"] * 99})
    pq.write_table(values, tmp_path / "people.parquet", row_group_size=40)
    with pytest.raises(CategoryError) as caught:
        sp.privatize_table(pl.scan_parquet(tmp_path / "people.parquet"), {"work": DESIGN}, tmp_path / "out.parquet")
    assert "300 of them are categories" in str(caught.value)
    assert "1 looks like a mark of a missing answer" in str(caught.value)
    assert "elsewhere" not in str(caught.value)


def test_a_run_with_other_settings_does_not_go_on_from_this_one(raw, tmp_path):
    from subsetprivacy.frames.input_files import open_input
    from subsetprivacy.frames.jobs import RunOptions, job_facts
    from subsetprivacy.frames.kernel import Kernel, variables_of

    def job(cleaning):
        kernel = Kernel(variables_of({"work": DESIGN}), cleaning=cleaning).for_text()
        assert kernel.cleaning == cleaning
        return job_facts(open_input(raw).reader(["work"]), kernel, RunOptions())

    assert job(Cleaning()) != job(Cleaning(strip=True)) != job(Cleaning(strip=True, na="?"))
