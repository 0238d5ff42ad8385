"""Coverage in finite populations; the tables are in `docs/measured-levels.md`."""

import census_coverage as study
import numpy as np
import pytest

SAMPLES = 500


@pytest.mark.slow
@pytest.mark.parametrize("name", study.SETTINGS)
def test_shares_of_the_population_are_covered(name):
    setting = study.SETTINGS[name]
    result = study.shares(setting, SAMPLES)
    inside = np.array(setting.shares) > 0  # an actual share of 0 is always covered
    # The standard error of a coverage is 1 point.
    assert result.coverage.min() > 0.92
    assert result.coverage[inside].max() < 0.98
    if inside.all():  # standard errors at the boundary are too large, and no default interval uses them
        assert np.abs(result.error_ratio - 1).max() < 0.15
    assert result.without[inside].mean() >= result.coverage[inside].mean()


@pytest.mark.slow
def test_means_and_slopes_of_a_census_are_covered():
    for result in study.models(SAMPLES).values():
        assert result.coverage.min() > 0.91
        assert result.coverage.max() < 0.985
        assert np.abs(result.error_ratio - 1).max() < 0.15
        assert result.without.mean() > 0.97
