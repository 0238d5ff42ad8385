"""Coverage of intervals and level of tests over 1000 samples; the tables are in `docs/measured-levels.md`."""

import warnings

import means_coverage as study
import pytest

from subsetprivacy.errors import SubsetPrivacyWarning


@pytest.mark.slow
@pytest.mark.parametrize("outcome", study.OUTCOMES)
def test_intervals_of_means_keep_their_level_and_so_does_the_test(outcome):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SubsetPrivacyWarning)
        result, tests, _ = study.performance(study.DESIGNS["uniform, p = 4"](), 2000, outcome, 1000)
    assert result["given"].min() == 1
    for what in ("mean", "difference"):
        assert result[what].min() >= 0.93
        assert result[what].max() <= 0.97
    assert tests["score"] <= 0.065


def test_the_study_counts_what_intervals_hold():
    """Three samples only: that the script runs, and that categories which are never given are no error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SubsetPrivacyWarning)
        result, tests, bias = study.performance(study.DESIGNS["pairs, p = 3"](), 300, "normal", 3)
    assert result["mean"].shape == bias.shape == (3,)
    assert set(tests) == {"score", "wald test"}
