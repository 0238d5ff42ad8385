"""How often intervals and tests of comparisons keep their level: 1000 samples of each setting.

The standard error of a share of 95% among 1000 is 0.7%. The tables are in `docs/measured-levels.md`; run
``python tests/support/comparison_coverage.py`` for them.
"""

import warnings

import comparison_coverage as study
import pytest

import subsetprivacy as sp

N = 1000
INTERIOR = [name for name in study.DIFFERENCES if " 0" not in name]


@pytest.mark.slow
@pytest.mark.parametrize("name", INTERIOR)
def test_difference_intervals(name):
    result = study.difference_coverage(study.DIFFERENCES[name], N)
    assert result["score"].min() >= 0.93
    assert result["score"].max() <= 0.97
    assert result["profile"].min() >= 0.92


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in study.DIFFERENCES if name not in INTERIOR])
def test_difference_intervals_near_zero(name):
    # A share near 0 cannot miss on one side, so that coverage rises to 97.5% and above.
    result = study.difference_coverage(study.DIFFERENCES[name], N)
    assert result["score"].min() >= 0.93
    assert result["score"].max() <= 0.99
    assert result["wald"].max() >= 0.995  # what normal theory does there


@pytest.mark.slow
@pytest.mark.parametrize("name", study.LEVELS)
def test_level_of_the_test_of_all_differences(name):
    level = study.overall_level(study.LEVELS[name], N)
    assert 0.01 <= level <= 0.07


@pytest.mark.slow
@pytest.mark.parametrize("name", study.CONTRASTS)
def test_level_of_contrasts(name):
    result = study.contrast_level(name, N)
    assert result["score"] <= 0.07
    if name == "0.4 - 0.1":
        assert result["score"] >= 0.03


@pytest.mark.slow
@pytest.mark.parametrize("name", study.SUMS)
def test_margins_and_merged_categories(name):
    result = study.sum_coverage(name, N)["auto"]
    assert result.min() >= 0.93
    assert result.max() <= (0.99 if "0.01" in name or "near 0" in name else 0.97)


@pytest.mark.slow
@pytest.mark.parametrize("name", study.TOGETHER)
def test_joint_coverage(name):
    together, alone = study.joint_coverage(name, N)
    assert together >= 0.93
    assert together <= (0.99 if "near 0" in name else 0.97)
    assert alone < together


@pytest.mark.slow
@pytest.mark.parametrize("name", study.FITS)
def test_level_of_the_test_of_fit(name):
    drawn, _ = study.fit_test_pvalues(name, N)
    assert 0.03 <= (drawn <= 0.05).mean() <= 0.07
    assert 0.07 <= (drawn <= 0.1).mean() <= 0.13


@pytest.mark.slow
def test_power_of_the_test_of_fit():
    drawn, chi_square = study.fit_test_pvalues("uniform, interior, n = 300", 300, reference=(0.25,) * 4)
    assert (drawn <= 0.05).mean() > 0.8
    assert (drawn <= 0.05).mean() == pytest.approx((chi_square <= 0.05).mean(), abs=0.06)


# Quick versions, with loose bounds ------------------------------------------------------------------


def test_the_test_of_all_differences_keeps_its_level_roughly():
    assert study.overall_level(study.LEVELS["uniform, p = 4"], 150) <= 0.12
    assert study.overall_level(study.LEVELS["uniform, near 0"], 150) <= 0.12


@pytest.mark.slow
@pytest.mark.parametrize("w", [(0.1, 0.2, 0.3, 0.4), (0.9, 0.06, 0.03, 0.01), (0.9, 0.1, 0, 0)])
def test_the_test_of_merged_categories_keeps_its_level(w):
    design, merged = sp.uniform(range(4)), {"x": [2, 3]}
    first, second = (sp.simulate_many(design, w, n=n, size=1000, seed=n) for n in (200, 300))
    rejected = 0
    for one, two in zip(first, second, strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            change = sp.estimate(one).collapse(merged).difference(sp.estimate(two).collapse(merged))
        assert change.test.method == "newton"
        rejected += change.pvalue < 0.05
    assert 0.03 <= rejected / 1000 <= 0.07
