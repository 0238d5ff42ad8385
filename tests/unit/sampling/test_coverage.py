"""Coverage of intervals on a stratified two-stage population; the tables are in `docs/measured-levels.md`."""

import numpy as np
import pytest
import survey_coverage as study

SAMPLES = 1000


@pytest.mark.slow
@pytest.mark.parametrize("name", study.SETTINGS)
def test_intervals_keep_their_level(name):
    for result in study.performance(study.SETTINGS[name], SAMPLES).values():
        # The standard error of a coverage is 0.7 points; one in a thousand is more than 2.3 off.
        assert 0.935 <= result.coverage.mean() <= 0.965
        assert result.coverage.min() >= 0.927
        assert result.coverage.max() <= 0.98  # one slope has intervals that are too long
        assert np.mean((result.coverage >= 0.93) & (result.coverage <= 0.97)) > 0.85
        assert np.abs(result.error_ratio - 1).max() < 0.15
        assert result.left_out < 0.03
