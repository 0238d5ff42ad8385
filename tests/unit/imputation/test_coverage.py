"""Coverage of pooled intervals, in seeded simulations; `docs/measured-levels.md` has the tables."""

import imputation_coverage as simulated
import numpy as np
import pytest


@pytest.mark.slow
@pytest.mark.parametrize("name", simulated.DESIGNS)
def test_congenial_models_cover(name):
    result = simulated.coverage(name, 2000, 1000)
    assert result.used == 1000
    assert result.covered.min() >= 0.93
    assert result.covered.max() <= 0.97
    assert np.abs(result.bias).max() <= 0.1
    assert result.ratio == pytest.approx(1, abs=0.05)


@pytest.mark.slow
def test_a_yes_or_no_outcome_is_covered():
    result = simulated.coverage("uniform, p = 4", 2000, 1000, "y", binary=True)
    assert result.covered.min() >= 0.93
    assert result.covered.max() <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["v", "nothing"])
def test_without_the_outcome_effects_shrink(kind):
    result = simulated.coverage("uniform, p = 4", 2000, 200, kind)
    assert (result.covered[:3] <= 0.5).all()
    assert (np.abs(result.bias[:3]) >= 3).all()


def test_one_sample_of_the_simulation():
    """The script runs, and its estimates are near the truth."""
    estimates, se, ends, missing = simulated.one(simulated.DESIGNS["pairs, p = 3"](), 2000, 1, "all", m=5)
    a = simulated.effects(3)
    truth = [*(a[1:] - a[0]), simulated.SLOPE]
    assert (np.abs(estimates[:3] - truth) < 5 * se[:3]).all()
    assert (ends[:, 0] < ends[:, 1]).all()
    assert (missing > 0).all()
