"""Public names that changed: the old ones still work, warn once for each use, and name the new ones."""

import warnings

import numpy as np
import pytest
from result_examples import EXAMPLES

import subsetprivacy as sp

COVERED = sp.covered(sp.uniform(range(5)), 0.1)
OLD_NAMES = {
    "`held` is deprecated. Hint: use `fitted_people`": (
        lambda: EXAMPLES["Regression"](),
        lambda fit: fit.held,
        lambda fit: fit.fitted_people,
    ),
    "`sharpened` is deprecated. Hint: use `shares_above_95`": (
        lambda: EXAMPLES["Regression"](),
        lambda fit: fit.sharpened,
        lambda fit: fit.shares_above_95,
    ),
    "`standardised` is deprecated. Hint: use `standardized`": (
        lambda: EXAMPLES["Residuals"](),
        lambda residuals: residuals.standardised,
        lambda residuals: residuals.standardized,
    ),
    "`realised()` is deprecated. Hint: use `realized()`": (
        lambda: COVERED,
        lambda design: design.realised(100).document(),
        lambda design: design.realized(100).document(),
    ),
    "`question_law()` is deprecated. Hint: use `question_distribution()`": (
        lambda: sp.uniform(range(4)),
        lambda design: design.question_law()[1],
        lambda design: design.question_distribution()[1],
    ),
    "`alone()` is deprecated. Hint: use `unique_rows()`": (
        lambda: EXAMPLES["Release"](),
        lambda release: release.alone(),
        lambda release: release.unique_rows(),
    ),
}


@pytest.mark.parametrize("message", OLD_NAMES)
def test_an_old_name_warns_and_gives_the_same(message):
    make, old, new = OLD_NAMES[message]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = make()
    expected = new(result)
    with pytest.warns(DeprecationWarning, match="is deprecated") as caught:
        value = old(result)
    assert [str(warning.message).rstrip(".") for warning in caught] == [message]
    assert caught[0].filename == __file__  # the line of the user
    if isinstance(expected, np.ndarray):
        np.testing.assert_array_equal(value, expected)
    else:
        assert value is expected or value == expected
