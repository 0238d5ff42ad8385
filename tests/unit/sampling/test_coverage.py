"""Coverage of intervals on a stratified two-stage population; the tables are in `docs/measured-levels.md`."""

import numpy as np
import pytest
import survey_coverage as study

SAMPLES = 1000


@pytest.mark.slow
@pytest.mark.parametrize("name", study.SETTINGS)
def test_intervals_keep_their_level(name):
    for found in study.performance(study.SETTINGS[name], SAMPLES).values():
        # The standard error of a coverage is 0.7 points; one in a thousand is more than 2.3 off.
        assert 0.935 <= found.coverage.mean() <= 0.965
        assert found.coverage.min() >= 0.927
        assert found.coverage.max() <= 0.98  # one slope has intervals that are too long
        assert np.mean((found.coverage >= 0.93) & (found.coverage <= 0.97)) > 0.85
        assert np.abs(found.error_ratio - 1).max() < 0.15
        assert found.left_out < 0.03
