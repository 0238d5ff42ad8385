"""How often the intervals hold the truth: seeded simulations."""

from collections import Counter

import numpy as np
import pytest
from problems import quietly
from scipy.stats import chi2, contingency

import subsetprivacy as sp
from subsetprivacy.estimation.likelihood import mean_loglik
from subsetprivacy.measures import association
from subsetprivacy.measures.arguments import conditional_shares, odds
from subsetprivacy.measures.profile import TwoShareProfile
from subsetprivacy.measures.scales import DifferenceScale, OddsRatioScale, RatioScale
from subsetprivacy.measures.shares import TwoShares

YES_NO = sp.product({"x": sp.warner([0, 1]), "y": sp.warner([0, 1])})
FOUR = sp.product({"x": sp.uniform(range(4)), "y": sp.uniform(range(4))})
SMALL = np.array([[0.10, 0.42], [0.16, 0.32]])
LOPSIDED = 0.7 * np.outer([0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]) + 0.3 * np.eye(4) / 4


def even(diagonal):
    return (1 - diagonal) / 16 + diagonal * np.eye(4) / 4


def compared(design, table, n, size, seed, rows, column, columns):
    """Return how often each interval holds the truth; for the profile, whether the truth itself is not rejected."""
    (a, b), (c, d) = rows, columns
    x, y = table[a, column] / table[a].sum(), table[b, column] / table[b].sum()
    truth = {DifferenceScale: x - y, RatioScale: np.log(x / y), OddsRatioScale: 0.0}
    truth[OddsRatioScale] = np.log(table[a, c] * table[b, d] / table[a, d] / table[b, c])
    held = Counter()
    with quietly():
        for counts in sp.simulate_many(design, table.ravel(), n, size, seed=seed):
            result = association(counts)
            asked = {
                DifferenceScale: result.difference(column, rows),
                RatioScale: result.risk_ratio(column, rows),
                OddsRatioScale: result.odds_ratio(rows, columns),
            }
            top = mean_loglik(counts.incidence, counts.shares, result.fit.w)
            for kind, measure in asked.items():
                value = truth[kind] if kind is DifferenceScale else np.exp(truth[kind])
                held[kind.__name__, "delta"] += measure.lower <= value <= measure.upper
                shares = (odds(result.pair, rows, columns)) if kind is OddsRatioScale else None
                shares = shares or conditional_shares(result.pair, rows, column)
                scale = kind(*(share.of(result.fit.w) for share in shares))
                height = TwoShareProfile(TwoShares(counts, *shares), scale, top, counts.total).height(truth[kind])
                held[kind.__name__, "profile"] += 2 * counts.total * (top - height) <= chi2.ppf(0.95, 1)
    return {key: count / size for key, count in held.items()}


@pytest.mark.slow
def test_two_by_two():
    coverage = compared(YES_NO, SMALL, 2000, 1000, 4, (0, 1), 0, (0, 1))
    for key, share in coverage.items():
        low = 0.93 if key[1] == "profile" or key[0] == "DifferenceScale" else 0.94
        assert low <= share <= 0.985, (key, share)


@pytest.mark.slow
@pytest.mark.parametrize("n", [2000, 10_000])
def test_four_by_four(n):
    coverage = compared(FOUR, LOPSIDED, n, 400, 5, (0, 3), 3, (0, 3))
    for key, share in coverage.items():
        assert share >= (0.92 if key[1] == "profile" else 0.9), (key, share)


def strength(design, table, n, size, seed, method):
    """Return the mean of V raw and corrected, and how often the interval ends above and below the truth."""
    truth = contingency.association(np.rint(1e6 * table).astype(int), method="cramer")
    truth = 0.0 if truth < 1e-3 else truth
    values, above, below = [], 0, 0
    with quietly():
        for counts in sp.simulate_many(design, table.ravel(), n, size, seed=seed):
            result = association(counts)
            measure = result.cramers_v(method=method)
            values.append((measure.value, result.cramers_v(corrected=True).value))
            above += measure.lower > truth
            below += measure.upper < truth
    return np.mean(values, axis=0), above / size, below / size


@pytest.mark.slow
@pytest.mark.parametrize(
    ("design", "table", "n"),
    [
        (YES_NO, SMALL, 2000),
        (YES_NO, SMALL, 20_000),
        (YES_NO, np.outer([0.7, 0.3], [0.6, 0.4]), 2000),
        (FOUR, even(0.0), 1000),
        (FOUR, even(0.2), 1000),
        (FOUR, even(0.2), 4000),
    ],
)
def test_the_delta_interval_of_v_holds_its_level(design, table, n):
    _, above, below = strength(design, table, n, 400, 3, "delta")
    assert above + below <= 0.08


@pytest.mark.slow
def test_v_is_biased_upwards_and_the_correction_mends_it():
    (raw, less), _, _ = strength(FOUR, even(0.0), 1000, 400, 3, "delta")
    assert raw == pytest.approx(0.16, abs=0.01)
    assert less < 0.06
    (raw, less), _, _ = strength(FOUR, even(0.2), 1000, 400, 3, "delta")
    assert raw > 0.24
    assert less == pytest.approx(0.19, abs=0.015)


@pytest.mark.slow
def test_the_profile_interval_of_v_as_documented():
    _, above, below = strength(FOUR, even(0.0), 1000, 300, 3, "profile")
    assert above + below <= 0.08  # calibrated by the test of independence
    _, above, below = strength(FOUR, even(0.2), 1000, 300, 3, "profile")
    assert 0.10 < above < 0.22  # too high: the bias of V
    assert below == 0
    _, above, below = strength(FOUR, even(0.2), 4000, 300, 3, "profile")
    assert above + below <= 0.1


@pytest.mark.slow
def test_delta_errors_are_the_spread_of_the_estimates():
    seen, errors = [], []
    with quietly():
        for counts in sp.simulate_many(FOUR, LOPSIDED.ravel(), 20_000, 400, seed=6):
            result = association(counts)
            asked = [result.difference(3, (0, 3)), result.cramers_v()]
            seen.append(
                [measure.value for measure in asked] + [result.conditional().table[2, 2], result._residuals[3, 0]]
            )
            errors.append([measure.se for measure in asked] + [result.conditional().se[2, 2], 1.0])
    assert np.std(seen, axis=0) == pytest.approx(np.mean(errors, axis=0), rel=0.12)
