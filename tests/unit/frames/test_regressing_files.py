"""Regressions from files: held in memory or streamed, the numbers are those of the table."""

import pickle
import re

import numpy as np
import pandas as pd
import pytest
from opens import opens_of
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, CodeError, MismatchError, NoDataError, SeparationWarning
from subsetprivacy.frames import regressing_files, streamed_blocks
from subsetprivacy.frames.encoded_stream import EncodedStream
from subsetprivacy.frames.regression_people import RegressArguments
from subsetprivacy.frames.streamed_blocks import StreamedBlocks
from subsetprivacy.regression.blocks import InMemoryBlocks
from subsetprivacy.regression.problem import Options

# Lopsided on purpose: an even design hides mistakes.
DESIGN = sp.independent(
    ["no", "maybe", "yes", "often"], {("no", "maybe"): 0.5, ("no", "yes"): 0.3, ("no", "often"): 0.2}
)
OTHER = sp.uniform(list("abcd"))
DESIGNS = {"use": DESIGN, "vote": OTHER}
FORMULA = "use ~ age + sex + np.log(income)"
KEPT = ["age", "sex", "income", "times", "weight", "shift", "town"]
N = 3000

pytestmark = pytest.mark.filterwarnings("ignore::subsetprivacy.errors.NotPrivateWarning")


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(7)
    age, male = rng.integers(18, 80, N), rng.random(N) < 0.4
    income = rng.gamma(2.0, 10.0, N)
    U = np.vstack([np.zeros(N), 0.02 * age - 1, 0.5 * male, 0.3 * np.log(income) - 1])
    P = np.exp(U) / np.exp(U).sum(axis=0)
    values = np.array(DESIGN.categories.labels)[(P.cumsum(axis=0) > rng.random(N)).argmax(axis=0)]
    table = pd.DataFrame(
        {
            "use": sp.privatize(values, DESIGN, seed=1).codes,
            "vote": sp.privatize(rng.choice(list("abcd"), N), OTHER, seed=2).codes,
            "age": age,
            "sex": np.where(male, "m", "f"),
            "income": income,
            "times": rng.integers(0, 3, N),
            "weight": rng.choice([0.0, 0.5, 2.25], N),
            "shift": rng.normal(size=N),
            "town": rng.integers(0, 40, N),
        }
    )
    table.loc[[3, 500, N - 1], "use"] = DESIGN.missing_code
    return table


@pytest.fixture(scope="module", params=["x.parquet", "x.csv"])
def release(request, people, tmp_path_factory):
    return sp.write_release(people, tmp_path_factory.mktemp("release") / request.param, DESIGNS, keep=KEPT)


@pytest.fixture(scope="module")
def parquet(people, tmp_path_factory):
    return sp.write_release(people, tmp_path_factory.mktemp("parquet") / "x.parquet", DESIGNS, keep=KEPT)


def same(one, two):
    assert one.labels == two.labels
    np.testing.assert_allclose(one.estimates, two.estimates, rtol=1e-9, atol=1e-11)
    for a, b in ((one.fit.observed, two.fit.observed), (one.fit.robust, two.fit.robust)):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-12)
    assert one.loglik == pytest.approx(two.loglik, abs=1e-8)
    assert (one.n, one.n_missing, one.weighted) == pytest.approx((two.n, two.n_missing, two.weighted))
    assert one.baseline == two.baseline


ASKED = {
    "likelihood": {},
    "corrected": {"method": "corrected"},
    "ordinal": {"family": "ordinal"},
    "ordinal with offset": {"family": "ordinal", "offset": "shift"},
    "offset": {"offset": "shift"},
    "frequency": {"weights": "times", "weights_kind": "frequency"},
    "sampling": {"weights": "weight", "weights_kind": "sampling"},
    "corrected with weights": {"method": "corrected", "weights": "weight", "weights_kind": "sampling"},
    "ridge": {"ridge": 3.0},
    "lasso": {"lasso": 2.0},
    "shrink": {"shrink": True, "baseline": "yes"},
}


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_a_file_and_its_table_give_the_same(people, parquet, asked):
    formula = "use ~ age + sex" if "lasso" in asked else FORMULA  # which takes hundreds of steps
    in_memory = sp.regress(formula, people, designs=DESIGNS, **asked)
    streamed = sp.regress(formula, parquet, stream=True, **asked)
    assert streamed.fitted_people is None
    same(streamed, in_memory)
    if not asked:  # what is loaded is a table
        loaded = sp.regress(formula, parquet)
        assert loaded.fitted_people is not None
        same(loaded, in_memory)


def test_every_format_streams(people, release):
    streamed = sp.regress(FORMULA, release, stream=True)
    in_memory = sp.regress(FORMULA, people, designs=DESIGNS)
    same(streamed, in_memory)
    assert str(streamed.specification) == str(in_memory.specification)
    assert str(streamed.test().summary()) == str(in_memory.test().summary())
    new = {"age": [20, 70], "sex": ["f", "m"], "income": [5.0, 50.0]}
    np.testing.assert_allclose(streamed.predict(new).estimate, in_memory.predict(new).estimate, rtol=1e-9)


def test_blocks_are_those_in_memory(people, parquet, monkeypatch):
    """Whatever the size of batches and blocks, and where full sets lie in them."""
    monkeypatch.setattr(streamed_blocks, "BLOCK", 70)
    stream = EncodedStream(parquet, "use ~ age", weights="weight", weights_kind="sampling", offset="shift")
    monkeypatch.setattr(type(stream.encoder), "rows_at_once", 333)
    blocks = StreamedBlocks(stream)
    said = ((people.use != DESIGN.missing_code) & (people.weight > 0)).to_numpy()
    X = np.column_stack([np.ones(N), people.age])[said]
    weight = people.weight[said].to_numpy() * said.sum() / people.weight[said].sum()
    sample = InMemoryBlocks(X, people.use[said].to_numpy(), DESIGN, weight, people["shift"][said].to_numpy()[:, None])
    assert blocks.tally.rows == said.sum()
    assert blocks.tally.amounts.sum() == pytest.approx(said.sum())
    assert max(len(block.X) for block in blocks.blocks()) == 70
    for n in (100, 450, 10**6):
        for name in ("X", "R", "weight", "offset"):
            np.testing.assert_allclose(getattr(blocks.some(n), name), getattr(sample.some(n), name), rtol=1e-12)
    assert blocks.total(_Ages())[0] == pytest.approx(X[:, 1].sum())
    assert blocks.most(_Ages())[0] == max(block.X[:, 1].sum() for block in blocks.blocks())


class _Ages:
    def __call__(self, block):
        return (block.X[:, 1].sum(),)


def test_several_files_follow_each_other(people, tmp_path):
    halves = [people[: N // 3], people[N // 3 :]]
    paths = [tmp_path / f"{k}.parquet" for k in range(2)]
    for half, path in zip(halves, paths, strict=True):
        sp.write_release(half, path, DESIGNS, keep=KEPT)
    whole = sp.regress(FORMULA, people, designs=DESIGNS)
    same(sp.regress(FORMULA, [str(path) for path in paths], stream=True), whole)
    same(sp.regress(FORMULA, paths), whole)


def test_a_path_needs_designs_unless_it_has_them(people, parquet, tmp_path):
    people.to_parquet(tmp_path / "bare.parquet")
    same(
        sp.regress("use ~ age", str(tmp_path / "bare.parquet"), designs={"use": DESIGN}),
        sp.regress("use ~ age", parquet.path),
    )
    same(sp.regress("use ~ age", tmp_path / "bare.parquet", designs=DESIGN), sp.regress("use ~ age", parquet))
    with pytest.raises(MismatchError):
        sp.regress("use ~ age", parquet, designs={"use": sp.uniform(DESIGN.categories)})
    with pytest.raises(ArgumentError, match="must have a column of subsets"):
        sp.regress("age ~ income", parquet)


def test_a_file_in_memory_has_all_that_a_table_has(people, release):
    loaded, held = (sp.regress(FORMULA, data, designs=DESIGNS, clusters="town") for data in (release, people))
    same(loaded, held)
    np.testing.assert_allclose(loaded.effects().estimate, held.effects().estimate, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(loaded.adjusted("sex").estimate, held.adjusted("sex").estimate, rtol=1e-9)
    assert loaded.leakage().both.above_95 == pytest.approx(held.leakage().both.above_95)


def test_terms_that_need_all_rows_are_loaded(people, parquet, monkeypatch):
    same(
        sp.regress("use ~ bs(age, df=4) + center(income)", parquet),
        sp.regress("use ~ bs(age, df=4) + center(income)", people, designs=DESIGNS),
    )
    monkeypatch.setattr(regressing_files, "MOST_HELD", 8 * N)
    with pytest.raises(ArgumentError, match=re.escape("the term center(income) must be computable row by row")):
        sp.regress("use ~ age + center(income)", parquet)


def test_a_dot_leaves_private_columns_weights_and_clusters_out(people, parquet):
    fit = sp.regress("use ~ .", parquet, weights="times", weights_kind="frequency", clusters="town")
    assert fit.columns.names == ("Intercept", "age", "sex[m]", "income", "weight", "shift")


def test_what_fits_is_held(parquet, monkeypatch):
    monkeypatch.setattr(regressing_files, "MOST_HELD", 8 * 2 * N)
    assert sp.regress("use ~ age", parquet).fitted_people is not None
    assert sp.regress("use ~ age + sex", parquet).fitted_people is None
    assert sp.regress("use ~ age + sex", parquet, stream=False).fitted_people is not None


REFUSED = [
    {"clusters": "town"},
    {"ridge": "cv"},
    {"lasso": "cv"},
    {"weights": np.ones(N), "weights_kind": "sampling"},
    {"offset": np.ones(N)},
]


@pytest.mark.parametrize("asked", REFUSED, ids=lambda asked: next(iter(asked)))
def test_what_a_stream_cannot_do_is_refused(parquet, monkeypatch, asked):
    argument = next(iter(asked))
    with refused(ArgumentError, argument):
        sp.regress("use ~ age", parquet, stream=True, **asked)
    monkeypatch.setattr(regressing_files, "MOST_HELD", 0)
    with refused(ArgumentError, argument):
        sp.regress("use ~ age", parquet, **asked)


def test_a_stream_does_not_have_its_people_in_memory(parquet):
    fit = sp.regress("use ~ age", parquet, stream=True)
    for work in (fit.effects, fit.leakage, fit.predict):
        with pytest.raises(ArgumentError, match=re.escape("got a fit from a stream. Hint: stream=False")):
            work()


WRONG = [
    ({"data": "nowhere.parquet"}, sp.errors.DataFileError, "nowhere.parquet"),
    ({"formula": "use ~ nothing"}, sp.errors.DataFileError, "nothing"),
    ({"formula": "use ~ age + C(vote)"}, ArgumentError, "got vote, which is private, inside the term C(vote)"),
    ({"formula": "use ~ age + vote", "stream": True}, ArgumentError, "`stream` must be left out with a private"),
    (
        {"weights": "vote", "weights_kind": "sampling"},
        ArgumentError,
        "private column must be a response or a predictor; got vote",
    ),
    ({"clusters": "vote"}, ArgumentError, "private column must be a response or a predictor; got vote"),
    ({"clusters": "nothing"}, sp.errors.DataFileError, "nothing"),
    ({"weights": "weight"}, ArgumentError, "`weights_kind` must be given"),
    ({"weights_kind": "sampling"}, ArgumentError, "`weights` must be given with `weights_kind`"),
    ({"weights": "shift", "weights_kind": "sampling"}, ArgumentError, "not negative"),
    ({"offset": "sex"}, ArgumentError, "column sex must hold numbers"),
    ({"data": []}, ArgumentError, "`designs` must give the designs"),
]


@pytest.mark.parametrize(("asked", "kind", "text"), WRONG)
def test_wrong_input(parquet, asked, kind, text):
    asked = {"formula": "use ~ age", "data": parquet, **asked}
    with pytest.raises(kind, match=re.escape(text)):
        sp.regress(asked.pop("formula"), asked.pop("data"), **asked)


def test_a_table_in_memory_cannot_be_streamed(people):
    with refused(ArgumentError, "stream"):
        sp.regress("use ~ age", people, designs=DESIGNS, stream=True)
    with refused(ArgumentError, "stream"):
        sp.regress(sp.SubsetData(people.use.to_numpy(), DESIGN), people[["age"]], stream=True)


def test_empty_cells(people, tmp_path):
    path = tmp_path / "gaps.parquet"
    people.assign(use=people.use.astype("Int64").mask(people.index == 7)).to_parquet(path)
    for stream in (True, False):
        with pytest.raises(CodeError, match="first in row 7"):
            sp.regress("use ~ age", path, designs=DESIGN, stream=stream)
        assert sp.regress("use ~ age", path, designs=DESIGN, stream=stream, missing="full").n_missing == 4
    people.assign(age=people.age.where(people.index != 9)).to_parquet(path)
    with pytest.raises(ArgumentError, match="column age must have a value in every row; got 1 missing value"):
        sp.regress("use ~ age", path, designs=DESIGN)
    people.assign(use=DESIGN.missing_code).to_parquet(path)
    for stream in (True, False):
        with pytest.raises(NoDataError):
            sp.regress("use ~ age", path, designs=DESIGN, stream=stream)


def test_warnings_point_at_the_caller(people, tmp_path):
    path = tmp_path / "separated.parquet"
    people.assign(told=(people.use % 2 == 1).astype(int)).to_parquet(path)
    for stream in (True, False):
        with pytest.warns(SeparationWarning, match="do not bound") as caught:
            sp.regress("use ~ told", path, designs=DESIGN, stream=stream, method="ml")
        assert {each.filename for each in caught} == {__file__}


@pytest.mark.parametrize("stream", [True, False])
def test_progress_counts_the_rows_of_all_passes(parquet, stream):
    said = []
    fit = sp.regress("use ~ age", parquet, stream=stream, progress=lambda done, total: said.append((done, total)))
    assert len(said) >= 3
    assert said == [(k * N, None) for k in range(1, len(said) + 1)]
    restored = pickle.loads(pickle.dumps(fit))  # without the function that looked on
    assert restored.specification.pvalue == pytest.approx(fit.specification.pvalue)


def test_progress_of_a_table(people):
    said = []
    sp.regress("use ~ age", people, designs=DESIGNS, progress=lambda done, total: said.append((done, total)))
    assert said == [(k * N, None) for k in range(1, len(said) + 1)]


@pytest.mark.parametrize(("stream", "opened"), [(None, 5), (False, 4), (True, 3)])
def test_how_often_a_file_is_opened(parquet, stream, opened):
    """For the counts, for what columns hold, for an example of the matrix, for covariates and for the matrix.

    A stream is opened for every sum instead of the last two. Where all is to be held, the example is held as well.
    """
    sums = []
    with opens_of(parquet.path) as result:
        sp.regress("use ~ age", parquet, stream=stream, progress=lambda done, _: sums.append(done))
    assert result == {parquet.path.name: opened + (len(sums) if stream else 0)}


def test_asked_knows_the_columns_that_are_named():
    asked = RegressArguments(Options(), weights="w", clusters=[1, 2], offset="o")
    assert asked.named == ["w", "o"]
