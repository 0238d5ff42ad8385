"""Statistics against a stated distribution, by hand and against all samples."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from subsetprivacy.honesty.stated_distribution import pair_counts, pearson_test


def test_pairs_in_one_group_by_hand():
    groups = np.array([[0b0011, 0b1100], [0b0101, 0b1010]])
    n = np.array([3, 2])
    expected = np.zeros((4, 4))
    for row, amount in zip(groups.tolist(), n.tolist(), strict=True):
        for code in row:
            for i, j in combinations([k for k in range(4) if code >> k & 1], 2):
                expected[i, j] += amount
    assert np.triu(pair_counts(groups, n, 4), 1) == pytest.approx(expected)


def test_pearson_of_small_counts_is_near_the_exact_law():
    observed, law = np.array([4, 0, 1]), np.array([0.2, 0.4, 0.4])
    every = [(a, b, 5 - a - b) for a in range(6) for b in range(6 - a)]
    chances = [stats.multinomial.pmf(one, 5, law) for one in every]
    far = [((np.array(one) - 5 * law) ** 2 / (5 * law)).sum() for one in every]
    exact = sum(c for c, d in zip(chances, far, strict=True) if d >= far[every.index((4, 0, 1))] - 1e-9)
    test = pearson_test("x", observed, law, 1)
    assert test.law == "simulated (199)"
    assert test.pvalue == pytest.approx(exact, abs=0.03)
