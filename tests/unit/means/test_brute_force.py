"""All draws of a few people, each with its probability: sums are unbiased, and so are variances of sums."""

from itertools import product as all_of

import numpy as np
import pytest
from problems import lopsided

import subsetprivacy as sp
from subsetprivacy.estimation.indicator import IndicatorTable, rows_of
from subsetprivacy.means.quantiles import _counts
from subsetprivacy.means.sample import KnownGroups, MeansSample, Weighting
from subsetprivacy.means.sums import sums_of

Y = np.array([3.0, -1.0, 7.0, 2.0])
X = np.array([0, 2, 1, 2])
GROUP = np.array([0, 1, 1, 0])
WEIGHT = np.array([1.0, 2.0, 1.0, 3.0])


def draws(design):
    """Yield the codes of all people, and the probability of these draws."""
    codes, mu = design.support()
    rows = rows_of(codes, design)
    for at in all_of(range(len(codes)), repeat=len(X)):
        chance = float(np.prod([mu[a] * rows[x, a] for a, x in zip(at, X, strict=True)]))
        if chance > 0:
            yield codes[list(at)], chance


def sample_of(codes, design, frequencies=True):
    W = np.array([[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]])
    block = (Y > 2.5).astype(np.int64)  # a working distribution that depends on the outcome
    weights = Weighting(WEIGHT, frequencies)
    table = IndicatorTable(design, W)
    return MeansSample(Y, codes, design, KnownGroups(("f", "m"), GROUP, ("sex",)), weights, table, block)


@pytest.fixture(scope="module")
def enumerated():
    design = lopsided()
    result = [(sums_of(sample_of(codes, design, False)), chance) for codes, chance in draws(design)]
    assert sum(chance for _, chance in result) == pytest.approx(1)
    return result


def truth(power):
    out = np.zeros((2, 4))
    np.add.at(out, (GROUP, X), WEIGHT * Y**power)
    return out.ravel()


def in_units(sums):
    """Return the sums of powers 0, 1, 2 of y itself."""
    c, s = sums.center, sums.scale
    S0, S1, S2 = sums.S
    return np.stack([S0, s * S1 + c * S0, s * s * S2 + 2 * c * s * S1 + c * c * S0])


def test_sums_are_unbiased(enumerated):
    mean = sum(chance * in_units(sums) for sums, chance in enumerated)
    assert np.allclose(mean, [truth(0), truth(1), truth(2)], atol=1e-11)


def test_what_draws_add_to_the_variance_is_unbiased(enumerated):
    """The sum of w² (D² - D) is unbiased for the variance of the sum of w D, given the values."""
    S0 = np.array([sums.S[0] for sums, _ in enumerated])
    chance = np.array([chance for _, chance in enumerated])
    variance = chance @ (S0 - chance @ S0) ** 2
    claimed = chance @ np.array([sums.excess[0] for sums, _ in enumerated])
    assert np.allclose(claimed, variance, atol=1e-11)


def test_distribution_functions_are_unbiased():
    design = lopsided()
    points = np.sort(Y)
    mean = 0.0
    for codes, chance in draws(design):
        mean = mean + chance * _counts(sample_of(codes, design), points)[0]
    expected = [
        [(WEIGHT * (g == GROUP) * (j == X) * (t >= Y)).sum() for t in points] for g in range(2) for j in range(4)
    ]
    assert np.allclose(mean, expected, atol=1e-11)


def test_two_private_columns_have_unbiased_joint_cells():
    design = sp.product({"u": sp.warner(["a", "b"]), "v": sp.warner(["c", "d"], 0.3)})
    codes, mu = design.support()
    rows = rows_of(codes, design)
    table = IndicatorTable(design, [0.1, 0.2, 0.3, 0.4])
    assert np.allclose((mu * table.of(rows)) @ rows.T, np.eye(4), atol=1e-12)
