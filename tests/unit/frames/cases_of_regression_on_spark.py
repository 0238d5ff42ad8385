"""Regressions by the workers of Spark: the numbers are those in memory, for a classic session and for Connect.

Run by `test_on_spark.py`, in a process of its own for each.
"""

import pickle
import re

import numpy as np
import pyarrow as pa
import pytest

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, CodeError, NoDataError
from subsetprivacy.frames import regressing_on_spark

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning"),
    pytest.mark.filterwarnings("ignore::subsetprivacy.errors.SmallCountWarning"),
]
# Lopsided on purpose: an even design hides mistakes.
DESIGN = sp.independent(
    ["no", "maybe", "yes", "often"], {("no", "maybe"): 0.5, ("no", "yes"): 0.3, ("no", "often"): 0.2}
)
DESIGNS = {"use": DESIGN}
N = 1500


def columns():
    """Names with signs that Spark would take apart, and full sets."""
    rng = np.random.default_rng(7)
    age, male = rng.integers(18, 80, N), rng.random(N) < 0.4
    U = np.vstack([np.zeros(N), 0.02 * age - 1, 0.5 * male, 0.2 * male])
    P = np.exp(U) / np.exp(U).sum(axis=0)
    values = np.array(DESIGN.categories.labels)[(P.cumsum(axis=0) > rng.random(N)).argmax(axis=0)]
    codes = sp.privatize(values, DESIGN, seed=1).codes.copy()
    codes[[3, 700]] = DESIGN.missing_code
    return {
        "ignored": ["private"] * N,
        "a.ge": age,
        "use": codes,
        "s ex": np.where(male, "m", "f"),
        "weight": rng.choice([0.0, 0.5, 2.25], N),
        "shift": rng.normal(size=N),
    }


@pytest.fixture(scope="module")
def people_table():
    return pa.table(columns())


@pytest.fixture(scope="module")
def table(people_table, spark_of_the_process):
    return spark_of_the_process.createDataFrame(people_table).repartition(2)


def same(one, two):
    assert one.labels == two.labels
    np.testing.assert_allclose(one.estimates, two.estimates, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(one.robust, two.robust, rtol=1e-6, atol=1e-12)
    assert (one.n, one.n_missing, one.weighted) == pytest.approx((two.n, two.n_missing, two.weighted))


WEIGHTED = {"weights": "weight", "weights_kind": "sampling", "offset": "shift"}
ASKED = [  # each job of Spark takes a moment, so one case stands for all in the quick run
    pytest.param("use ~ `s ex` + np.log(`a.ge`) + C(`a.ge` > 40)", WEIGHTED, id="weighted"),
    pytest.param("use ~ `a.ge` + `s ex`", {}, marks=pytest.mark.slow, id="likelihood"),
    pytest.param("use ~ `a.ge`", {"method": "corrected"}, marks=pytest.mark.slow, id="corrected"),
    pytest.param("use ~ `a.ge`", {"family": "ordinal", "offset": "shift"}, marks=pytest.mark.slow, id="ordinal"),
]


@pytest.mark.parametrize(("formula", "asked"), ASKED)
def test_workers_add_up_what_memory_does(table, people_table, formula, asked):
    said = []
    by_workers = sp.regress(
        formula, table, designs=DESIGNS, stream=True, progress=lambda done, _: said.append(done), **asked
    )
    same(by_workers, sp.regress(formula, people_table, designs=DESIGNS, **asked))
    assert by_workers.fitted_people is None
    assert len(said) >= 4


@pytest.mark.slow
def test_small_tables_are_brought_here(table, people_table, monkeypatch):
    assert sp.regress("use ~ shift", table, designs=DESIGNS).fitted_people is not None
    monkeypatch.setattr(regressing_on_spark, "MOST_FROM_SPARK", N - 1)
    fit = sp.regress("use ~ shift", table, designs=DESIGNS)
    assert fit.fitted_people is None
    same(fit, sp.regress("use ~ shift", people_table, designs=DESIGNS))
    restored = pickle.loads(pickle.dumps(fit))
    assert restored.coef.tolist() == fit.coef.tolist()
    with pytest.raises(ArgumentError, match="the table of Spark must be at hand for this"):
        restored.specification  # noqa: B018


WRONG = [
    ("use ~ center(shift)", {}, ArgumentError, "the term center(shift) must be computable row by row"),
    ("use ~ shift", {"clusters": "weight"}, ArgumentError, "`clusters` must be left out in a stream"),
    ("use ~ shift", {"ridge": "cv"}, ArgumentError, "`ridge` must be a number in a stream"),
    ("use ~ nothing", {}, ArgumentError, "got no column nothing"),
    *(  # these read the table
        pytest.param(*case, marks=pytest.mark.slow)
        for case in [
            ("use ~ np.log(weight)", {}, ArgumentError, "term np.log(weight) must be finite in every row"),
            ("use ~ shift", {"weights": "shift", "weights_kind": "sampling"}, ArgumentError, "not negative"),
            ("shift ~ weight", {"designs": {"shift": DESIGN}}, CodeError, "column shift"),
        ]
    ),
]


@pytest.mark.parametrize(("formula", "asked", "kind", "text"), WRONG)
def test_wrong_input(table, formula, asked, kind, text):
    with pytest.raises(kind, match=re.escape(text)):
        sp.regress(formula, table, stream=True, **{"designs": DESIGNS, **asked})


def test_cells_that_cannot_be_used_are_counted_and_not_shown(spark_of_the_process):
    rows = {"use": [3, 5, 9, 6], "x": [1.0, None, float("inf"), float("nan")], "y": ["a", None, "SECRET", None]}
    table = spark_of_the_process.createDataFrame(pa.table(rows))
    with pytest.raises(ArgumentError, match="column x must have a value in every row; got 2 missing values") as caught:
        sp.regress("use ~ x + y", table, designs=DESIGNS, stream=True)
    assert "column x must be finite in every row; got 1 infinite value" in str(caught.value)
    assert "column y must have a value in every row; got 2 missing values" in str(caught.value)
    assert "SECRET" not in str(caught.value)
    gaps = spark_of_the_process.createDataFrame(pa.table({"use": [3, None], "x": [1.0, 2.0]}))
    with pytest.raises(CodeError):
        sp.regress("use ~ x", gaps, designs=DESIGNS, stream=True)
    with pytest.raises(NoDataError, match="must have rows; got none"):
        sp.regress("use ~ x", gaps.filter("x < 0"), designs=DESIGNS, stream=True)
