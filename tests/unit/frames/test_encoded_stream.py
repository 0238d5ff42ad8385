"""Files as a stream of model matrices: the same as in memory to the last bit, and errors that say where."""

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, CodeError, MismatchError, NoDataError
from subsetprivacy.frames import covariates, file_covariates
from subsetprivacy.frames.encoded_stream import EncodedStream
from subsetprivacy.frames.encoder import Encoder
from subsetprivacy.frames.file_covariates import FileCovariates, release_table, resized
from subsetprivacy.frames.formulas import formula_matrix
from subsetprivacy.frames.reading import read_release
from subsetprivacy.frames.writing import write_release

RACE = sp.independent(["a", "b|c", "=d", "é,f"], {("a", "b|c"): 0.5, ("a", "=d"): 0.3, ("a", "é,f"): 0.2})
VOTE = sp.uniform(list("rstu"))
DESIGNS = {"race": RACE, "vote": VOTE}
KEPT = ["age", "hours", "sex", "town", "years", "abroad", "weight", "shift"]
FORMATS = ["x.csv", "x.csv.gz", "x.parquet", "x.arrow"]
FORMULA = (
    "race ~ age + sex*np.log(hours) + town + C(years) + abroad + C(abroad):age + C(age // 10) + C(sex, contr.sum):age "
    "+ bs(age, knots=[40], lower_bound=-50, upper_bound=90) + {town == 'z,z'}"
)
N = 300

pytestmark = pytest.mark.filterwarnings("ignore::subsetprivacy.errors.NotPrivateWarning")


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "race": RACE.support()[0][rng.choice(6, N, p=[0.3, 0.25, 0.2, 0.1, 0.1, 0.05])],
            "vote": VOTE.support()[0][rng.integers(0, 6, N)],
            "age": rng.integers(-20, 80, N),
            "hours": rng.gamma(2.0, 10.0, N),
            "sex": rng.choice(["m", "f", "x"], N, p=[0.6, 0.3, 0.1]),
            "town": rng.choice(["x", "=y", "z,z"], N),
            "years": rng.integers(5, 9, N),
            "abroad": rng.random(N) < 0.2,
            "weight": rng.choice([0.5, 1.0, 2.25], N),
            "shift": rng.normal(size=N),
        }
    )


@pytest.fixture(scope="module", params=FORMATS)
def release(request, people, tmp_path_factory):
    path = tmp_path_factory.mktemp("release") / request.param
    return write_release(people, path, DESIGNS, keep=KEPT)


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(Encoder, "rows_at_once", 64)


def written(folder, name, lines):
    path = folder / name
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def letters(folder, *rows, header="letter,age,sex"):
    return written(folder, "x.csv", [header, *rows])


LETTER = {"letter": sp.uniform(list("abcd"))}


# The same as in memory ----------------------------------------------------------------------------------------------


def test_a_stream_is_what_is_in_memory_to_the_last_bit(release, people, small_batches):
    stream = EncodedStream(release, FORMULA, weights="weight", weights_kind="sampling", offset="shift")
    batches = list(stream)
    assert [len(batch.codes) for batch in batches] == [64, 64, 64, 64, 44]
    encoder, X = formula_matrix(FORMULA.partition("~")[2], people)
    assert stream.encoder.columns == encoder.columns
    assert stream.encoder.terms == encoder.terms
    assert stream.encoder.levels == encoder.levels
    assert np.array_equal(np.concatenate([batch.X for batch in batches]), X)
    assert all(batch.X.flags.c_contiguous and batch.X.dtype == np.float64 for batch in batches)
    assert np.concatenate([batch.codes for batch in batches]).tolist() == people["race"].tolist()
    assert np.concatenate([batch.weights for batch in batches]).tolist() == people["weight"].tolist()
    assert np.concatenate([batch.offset for batch in batches]).tolist() == people["shift"].tolist()
    assert stream.rows == N
    counts = release.count("race", weights="weight", weights_kind="sampling")
    assert stream.counts.counts.tolist() == counts.counts.tolist()
    again = pickle.loads(pickle.dumps(stream.encoder))
    assert np.array_equal(again.matrix(people), X)


def test_a_stream_is_read_again_whenever_it_is_iterated(release):
    stream = EncodedStream(release, "vote ~ age")
    first, second = list(stream), list(stream)
    assert np.array_equal(first[0].X, second[0].X)
    assert first[0].weights is None
    assert first[0].offset is None
    assert repr(stream) == "<EncodedStream: vote ~ age, 300 rows>"


def test_terms_may_need_all_rows_if_they_are_in_memory(release, people, small_batches):
    formula = "vote ~ center(age) + bs(hours, df=4) + sex + C(years)"
    for _ in range(2):
        with pytest.raises(ArgumentError, match=r"term center\(age\) .* row by row") as e:
            EncodedStream(release, formula)
    assert "knots, lower_bound and upper_bound" in str(e.value)
    stream = EncodedStream(release, formula, weights="weight", weights_kind="sampling", in_memory=True)
    X, codes, weights, offset = stream.arrays()
    assert np.array_equal(X, formula_matrix(formula.partition("~")[2], people)[1])
    assert codes.tolist() == people["vote"].tolist()
    assert weights.tolist() == people["weight"].tolist()
    assert offset is None


def test_all_rows_at_once(release, people, small_batches):
    stream = EncodedStream(release, "race ~ age + sex", offset="shift")
    X, codes, weights, offset = stream.arrays()
    assert np.array_equal(X, formula_matrix("age + sex", people)[1])
    assert codes.tolist() == people["race"].tolist()
    assert weights is None
    assert offset.tolist() == people["shift"].tolist()


def test_the_intercept_alone(release):
    (batch,) = EncodedStream(release, "race ~ 1")
    assert batch.X.tolist() == [[1.0]] * N


def test_a_dot_stands_for_the_columns_that_are_kept(release):
    stream = EncodedStream(release, "race ~ .", weights="weight", weights_kind="sampling", offset="shift")
    assert stream.encoder.variables == ("age", "hours", "sex", "town", "years", "abroad")


def test_several_files_follow_each_other(people, tmp_path, small_batches):
    parts = [people.iloc[:100], people.iloc[100:110], people.iloc[110:]]
    names = ["a.csv", "b.parquet", "c.arrow"]
    files = [write_release(part, tmp_path / name, DESIGNS, keep=KEPT) for part, name in zip(parts, names)]
    stream = EncodedStream([files[0], tmp_path / "b.parquet", str(tmp_path / "c.arrow")], "vote ~ sex + C(years):age")
    X, codes, _, _ = stream.arrays()
    assert np.array_equal(X, formula_matrix("sex + C(years):age", people)[1])
    assert codes.tolist() == people["vote"].tolist()
    assert stream.counts.n + stream.counts.n_missing == N
    assert stream.design == VOTE


def test_a_folder_of_files_and_an_order_that_they_declare(people, tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    order = pa.array(["x", "m", "f"])
    for number, part in enumerate((people.iloc[:7], people.iloc[7:])):
        codes = pa.array([order.to_pylist().index(sex) for sex in part["sex"]], pa.int8())
        table = pa.table({"vote": part["vote"].to_numpy(), "age": part["age"].to_numpy()})
        table = table.append_column("sex", pa.DictionaryArray.from_arrays(codes, order, ordered=True))
        pq.write_table(table, folder / f"part-{number}.parquet")
    stream = EncodedStream(folder, "vote ~ age + sex", VOTE)
    assert stream.encoder.levels == {"sex": ("x", "m", "f")}
    ordered = people.assign(sex=pd.Categorical(people["sex"], ["x", "m", "f"]))
    assert np.array_equal(stream.arrays().X, formula_matrix("age + sex", ordered)[1])


def test_a_file_of_counts_knows_its_weights(tmp_path):
    counts = sp.count([3, 3, 5, 6, 3], design=LETTER["letter"])
    path = tmp_path / "counts.csv"
    sp.write_counts(counts, path, name="letter")
    stream = EncodedStream(path, "letter ~ 1")
    (batch,) = stream
    assert dict(zip(batch.codes.tolist(), batch.weights.tolist())) == {3: 3.0, 5: 1.0, 6: 1.0}
    assert stream.weights_kind == "frequency"
    assert stream.counts.n == 5


# Cells of a CSV file ------------------------------------------------------------------------------------------------


def test_text_of_a_csv_file_is_numbers_truth_or_levels(tmp_path):
    path = letters(tmp_path, "a|b, 39,m,TRUE", "b|c,4e1 ,f,false", "a|c,-1.5,m,True", header="letter,age,sex,abroad")
    (batch,) = EncodedStream(path, "letter ~ age + sex + abroad", LETTER)
    assert batch.X.tolist() == [[1, 39, 1, 1], [1, 40, 0, 0], [1, -1.5, 1, 1]]
    assert batch.codes.tolist() == [3, 6, 5]
    (batch,) = EncodedStream(path, "letter ~ C(abroad) + C(age)", LETTER)
    assert batch.X.tolist() == [[1, 1, 1, 0], [1, 0, 0, 1], [1, 1, 0, 0]]


def test_numbers_and_text_in_one_column_are_refused(tmp_path):
    path = letters(tmp_path, "a|b,39,m", "b|c,SECRET,m", "a|c,17,f", "a|c,SECRET,f")
    told = "numbers only or text only; got 2 cells that are not numbers, first in line 3, and 2 numbers"
    with pytest.raises(ArgumentError, match=f"column age must hold {told}") as caught:
        EncodedStream(path, "letter ~ age", LETTER)
    assert "SECRET" not in str(caught.value)
    stream = EncodedStream(path, "letter ~ C(age)", LETTER)
    assert stream.encoder.levels == {"age": ("17", "39", "SECRET")}
    assert stream.arrays().X.tolist() == [[1, 1, 0], [1, 0, 1], [1, 0, 0], [1, 0, 1]]


def test_too_many_levels(tmp_path, monkeypatch):
    for module in (covariates, file_covariates):
        monkeypatch.setattr(module, "MOST_LEVELS", 3)
    path = letters(tmp_path, *(f"a|b,{k},person {k}" for k in range(9)))
    for formula in ("letter ~ sex", "letter ~ C(age)"):
        with pytest.raises(ArgumentError, match="must have at most 3 different labels"):
            EncodedStream(path, formula, LETTER)
    assert EncodedStream(path, "letter ~ age", LETTER).rows == 9


# What is refused ----------------------------------------------------------------------------------------------------


def test_missing_and_infinite_cells_are_told_by_line(tmp_path):
    path = letters(tmp_path, "a|b,39,m", "b|c,,m", "a|c,nan,", "a|c,inf,f")
    with pytest.raises(ArgumentError, match="column age must have a value in every row; got 2 missing") as caught:
        EncodedStream(path, "letter ~ age + sex", LETTER)
    assert caught.value.message.splitlines() == [
        "column age must have a value in every row; got 2 missing values, first in line 3.",
        "column age must be finite in every row; got 1 infinite value, first in line 5.",
        "column sex must have a value in every row; got 1 missing value, first in line 4.",
    ]


def test_missing_cells_of_several_files_are_told_by_file(tmp_path):
    good = letters(tmp_path, "a|b,39,m")
    bad = written(tmp_path, "y.csv", ["letter,age,sex", "a|b,38,f", "a|b,,f"])
    with pytest.raises(ArgumentError, match=r"column age .* got 1 missing value, first in line 3 of 'y.csv'"):
        EncodedStream([good, bad], "letter ~ age", LETTER)


def test_missing_cells_of_a_parquet_file_are_told_by_row(tmp_path):
    table = pa.table({"vote": [3, 5, 6], "age": [1, None, None], "sex": ["m", None, "f"]})
    pq.write_table(table, tmp_path / "x.parquet")
    with pytest.raises(ArgumentError, match=r"column age .*got 2 missing values, first in row 1") as e:
        EncodedStream(tmp_path / "x.parquet", "vote ~ age + sex", VOTE)
    assert "column sex must have a value in every row; got 1 missing value, first in row 1." in str(e.value)


def test_a_term_that_is_not_finite_is_told_when_it_is_reached(tmp_path):
    path = letters(tmp_path, "a|b,39,m", "b|c,0,m")
    with pytest.raises(ArgumentError, match=r"term np.log\(age\) must be finite in every row; .*, first in line 3"):
        list(EncodedStream(path, "letter ~ np.log(age)", LETTER))


def test_codes_are_checked_first(tmp_path):
    path = letters(tmp_path, "a|b,,m", "SECRET,0,m")
    with pytest.raises(CodeError, match="line 3") as caught:
        EncodedStream(path, "letter ~ age", LETTER)
    assert "SECRET" not in str(caught.value)


def test_an_empty_answer(tmp_path):
    path = letters(tmp_path, "a|b,39,m", ",40,m", "a|c,41,f")
    with pytest.raises(CodeError):
        EncodedStream(path, "letter ~ age", LETTER)
    (batch,) = EncodedStream(path, "letter ~ age", LETTER, missing="full")
    assert batch.codes.tolist() == [3, 15, 5]


@pytest.mark.parametrize(
    ("formula", "options", "told"),
    [
        ("race ~ age + vote", {}, "as its response only; got vote among the terms"),
        ("age ~ sex", {}, "the response must be a column of subsets of .*, race, vote; got age"),
        ("race ~ age", {"offset": "vote"}, "`offset` must be a column of numbers; got vote, which is private"),
        ("race ~ age", {"weights": "vote", "weights_kind": "sampling"}, "`weights`.*got vote"),
        ("race ~ age", {"weights": "weight"}, "`weights_kind` must be given with weights"),
        ("race ~ age", {"weights": "shift", "weights_kind": "sampling"}, "finite and not negative"),
        ("race ~ age", {"offset": "sex"}, "column sex must hold numbers; got text"),
    ],
)
def test_columns_in_the_wrong_place(release, formula, options, told):
    with pytest.raises(ArgumentError, match=told):
        EncodedStream(release, formula, **options)


def test_files_must_have_the_same_design(people, tmp_path):
    one = write_release(people[["vote", "age"]], tmp_path / "a.parquet", {"vote": VOTE}, keep=["age"])
    other = sp.uniform(["r", "s", "t", "v"])
    two = write_release(people[["vote", "age"]], tmp_path / "b.parquet", {"vote": other}, keep=["age"])
    with pytest.raises(MismatchError):
        EncodedStream([one, two], "vote ~ age")
    with refused(ArgumentError, "source"):
        EncodedStream([], "vote ~ age")


def test_a_file_without_rows(tmp_path):
    pq.write_table(pa.table({"vote": pa.array([], "int64"), "age": pa.array([], "int64")}), tmp_path / "x.parquet")
    with pytest.raises(NoDataError, match="must have rows; it has none"):
        EncodedStream(tmp_path / "x.parquet", "vote ~ age", VOTE)


# Parts --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [[5, 5], [12], [1, 1, 1, 9], [4, 4, 4], [0, 3, 0, 11, 2], [3]])
def test_batches_are_cut_to_size(sizes):
    numbers = iter(range(100))
    batches = [pa.record_batch({"k": pa.array([next(numbers) for _ in range(size)], "int64")}) for size in sizes]
    cut = [batch.column("k").to_pylist() for batch in resized(batches, 4)]
    total = sum(sizes)
    assert [k for part in cut for k in part] == list(range(total))
    assert [len(part) for part in cut] == [4] * (total // 4) + ([total % 4] if total % 4 else [])


def test_a_release_is_loaded_as_numbers_and_levels(release, people):
    table = release_table(release, ["age", "sex", "abroad", "years"], coded=["years"])
    assert table.num_rows == N
    assert table["age"].to_pylist() == people["age"].tolist()
    assert table["sex"].to_pylist() == people["sex"].tolist()
    assert table["abroad"].to_pylist() == people["abroad"].tolist()
    assert table["years"].to_pylist() == people["years"].tolist()
    assert np.array_equal(
        formula_matrix("age + sex + abroad", table)[1], formula_matrix("age + sex + abroad", people)[1]
    )


def test_memory_does_not_grow_with_a_parquet_file(tmp_path):
    path, rows = tmp_path / "x.parquet", 1_500_000
    table = pa.table({"vote": np.full(rows, 3), "age": np.random.default_rng(1).random(rows)})
    pq.write_table(table, path, row_group_size=50_000)
    del table
    before = pa.total_allocated_bytes()
    release = read_release(path, {"vote": VOTE})
    held = [pa.total_allocated_bytes() - before for _ in release.file.batches(["vote", "age"])]
    assert held[-1] < path.stat().st_size / 4  # nothing is read in advance any more, and nothing is kept


def test_rows_of_a_stream_are_not_held(release):
    """What a pass over the covariates keeps does not grow with the rows."""
    held = FileCovariates([release], ["age", "sex"])
    assert held.facts["sex"].levels == ("f", "m", "x")
    assert len(pickle.dumps(held.facts)) < 1000
    assert read_release(release.path).rows == held.rows
