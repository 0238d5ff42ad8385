"""What a test of independence hands back."""

import json
import pickle

import numpy as np
import pytest
from attrs.exceptions import FrozenInstanceError
from lopsided import ASKED, WARNER
from refusals import refused
from scipy.stats import chi2

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages import NoteKind

V4 = sp.uniform(list("rstu"))
BOTH = sp.product({"race": ASKED, "income": V4})
W = np.outer([0.1, 0.2, 0.3, 0.4], [0.4, 0.1, 0.2, 0.3]).ravel()


@pytest.fixture(scope="module")
def table():
    return sp.simulate(BOTH, W, 900, seed=1)


@pytest.fixture(scope="module")
def lrt_result(table):
    return sp.independence_test(table, permutations=99, seed=1)


def test_numbers_hang_together(table, lrt_result):
    assert lrt_result.df == 9
    assert lrt_result.asymptotic_pvalue == pytest.approx(chi2.sf(lrt_result.statistic, 9))
    beyond = (lrt_result.law.statistics >= lrt_result.statistic).sum()
    assert lrt_result.pvalue == pytest.approx((1 + beyond) / 100)
    assert lrt_result.pvalue_se == pytest.approx(np.sqrt(lrt_result.pvalue * (1 - lrt_result.pvalue) / 99))
    assert (lrt_result.n, lrt_result.n_missing) == (900, 0)
    assert lrt_result.margins is lrt_result.null_estimates


def test_summary(lrt_result):
    text = str(lrt_result.summary())
    assert text.splitlines()[0] == "Likelihood ratio test. Null hypothesis: race and income are independent"
    rows = {line[: line.rfind("  ")].strip(): line[line.rfind("  ") :].strip() for line in text.splitlines()[4:12]}
    assert rows["statistic"] == f"{lrt_result.statistic:.4f}"
    assert rows["degrees of freedom"] == "9"
    assert rows["p-value"] == f"{lrt_result.pvalue:.4f}"
    assert rows["based on"] == "99 random tables with the same margins"
    assert rows["asymptotic p-value"] == f"{lrt_result.asymptotic_pvalue:.4f}"
    assert rows["people"] == "900"
    for note in lrt_result.notes:
        assert str(note) in text


def test_repr(lrt_result):
    assert repr(lrt_result) == (
        f"<IndependenceResult by lrt: statistic {lrt_result.statistic:.3f}, df 9, "
        f"p-value {lrt_result.pvalue:.4f} (permutation)>"
    )


def test_what_does_not_exist_is_a_dash(table):
    moments = sp.independence_test(table, "lrt-mom", permutations=9, seed=1)
    assert [line.split()[-1] for line in str(moments.summary()).splitlines() if "asymptotic p-value" in line] == ["-"]
    limit = sp.independence_test(table, permutations=0)
    assert [line.split()[-1] for line in str(limit.summary()).splitlines() if "Monte Carlo" in line] == ["-"]


def test_tiny_pvalues_are_bounds(table):
    strong = sp.simulate(BOTH, (np.eye(4) / 4).ravel(), 3000, seed=1)
    assert "p-value < 0.0001 (asymptotic)" in repr(sp.independence_test(strong, permutations=0))


def test_to_dict_is_json(table, lrt_result):
    read = json.loads(json.dumps(lrt_result.to_dict()))
    assert read["method"] == "lrt"
    assert read["statistic"] == lrt_result.statistic
    assert read["pvalue"] == lrt_result.pvalue
    assert read["permutations"] == 99
    assert read["null"] == "permutation"
    assert read["notes"] == [note.to_dict() for note in lrt_result.notes]
    moments = sp.independence_test(table, "lrt-mom", permutations=9, seed=1).to_dict()
    assert moments["asymptotic_pvalue"] is None
    exact = sp.JointCounts.of_table([[5, 2], [3, 4]], sp.product({"x": WARNER, "y": WARNER}))
    assert json.loads(json.dumps(sp.independence_test(exact, seed=1).to_dict()))["pvalue_se"] == 0


def test_results_cannot_be_changed(lrt_result):
    with pytest.raises(FrozenInstanceError):  # its text depends on the version of attrs
        lrt_result.pvalue = 0.5


def test_arrays_of_results_are_read_only(table):
    result = sp.independence_test(table, "bonferroni", permutations=9, seed=1)
    for array in (result.law.statistics, result.pairs.statistics, result.pairs.pvalues):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_pairs_of_bonferronis_test(table):
    result = sp.independence_test(table, "bonferroni", permutations=99, seed=1)
    pairs = result.pairs
    assert pairs.names == ("race", "income")
    assert (pairs.rows, pairs.columns) == (("a", "b", "c", "d"), ("r", "s", "t", "u"))
    assert pairs.statistics.shape == pairs.pvalues.shape == (4, 4)
    assert pairs.pvalues.min() == result.pvalue
    at = np.unravel_index(pairs.statistics.argmax(), (4, 4))
    assert pairs.pvalues[at] == result.pvalue
    # The adjusted p-value of every pair: how often the largest of all is at least as large.
    for value, pvalue in zip(pairs.statistics.ravel(), pairs.pvalues.ravel()):
        assert pvalue == pytest.approx((1 + (result.law.statistics >= value - 1e-6 * (1 + value)).sum()) / 100)
    lines = str(pairs.summary()).splitlines()
    assert lines[0] == "Adjusted p-values of pairs of categories"
    assert lines[2].split() == ["race", "\\", "income", "r", "s", "t", "u"]
    assert [note.kind for note in pairs.notes] == [NoteKind.ADJUSTED]
    assert repr(pairs).startswith("<PairTests of race and income, 4 x 4, least p-value ")
    assert list(pairs.to_frame().columns) == ["row", "column", "statistic", "pvalue"]
    assert pairs.plot().get_ylabel() == "race"
    assert sp.independence_test(table, "pearson", permutations=9, seed=1).pairs is None


@pytest.mark.parametrize("method", ["lrt", "lrt-mom", "pearson", "bonferroni"])
def test_picture_of_the_null_law(table, method):
    ax = sp.independence_test(table, method, permutations=49, seed=1).plot(title="a title")
    assert ax.get_title() == "a title"


def test_picture_of_an_exact_and_of_a_limit_law(table):
    exact = sp.JointCounts.of_table([[2000, 1990], [2010, 2000]], sp.product({"x": WARNER, "y": WARNER}))
    result = sp.independence_test(exact, seed=1)
    assert result.null == "exact"
    # Tables that never occur do not squeeze the picture: 10.8 is passed once in a thousand tables.
    assert result.law.statistics.max() > 1000
    assert 8 < result.plot().get_xlim()[1] < 20
    limit = sp.independence_test(table, permutations=0).plot()
    assert limit.get_lines()
    assert not limit.patches


def test_results_of_every_kind_can_be_stored(lrt_result, table):
    waves = [sp.simulate(design, [0.1, 0.2, 0.3, 0.4], 200, seed=1) for design in (V4, sp.fixed_size(V4.categories, 2))]
    joined = sp.simulate(sp.join({"s": [0, 1], "t": [0, 1]}), [0.4, 0.3, 0.2, 0.1], 300, seed=1)
    results = [
        lrt_result,
        sp.independence_test(table, "bonferroni", permutations=9, seed=1),
        sp.conditional_independence_test({"a": table, "b": table}, permutations=9, seed=1),
        sp.homogeneity_test(waves[0], waves[0], permutations=9, seed=1),
        sp.homogeneity_test(*waves, permutations=19, seed=1),
        sp.independence_test(joined, permutations=19, seed=1),
    ]
    for result in results:
        again = pickle.loads(pickle.dumps(result))
        assert again.to_dict() == result.to_dict()
        assert json.loads(json.dumps(result.to_dict(), allow_nan=False)) == result.to_dict()
        for name, fit in result.alternative_estimates.items():
            assert again.alternative_estimates[name].w == pytest.approx(fit.w)
        assert all(len(fit.w) for fit in again.null_estimates.values())


def test_pictures_that_are_not_there(lrt_result, table):
    with refused(ArgumentError, "kind"):
        lrt_result.plot("scatter")
    strata = sp.conditional_independence_test({"a": table, "b": table}, "pearson", permutations=9, seed=1)
    with pytest.raises(ArgumentError):
        strata.plot("residuals")
