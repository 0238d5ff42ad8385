"""Privatizing tables of Spark: what has to hold is in `cases_on_spark.py`; and the contract of engines, on Spark."""

from pathlib import Path

import pytest
from spark import SPARK, run_under_spark

CASES, THIN_CLIENT, REGRESSION = (
    str(Path(__file__).with_name(f"cases_{name}.py")) for name in ("on_spark", "on_connect", "of_regression_on_spark")
)
CONTRACTS = [str(Path(__file__).parents[2] / "contracts" / f"test_every_engine{of}.py") for of in ("", "_of_formulas")]
# Of the contracts in the quick run: counts, weights, gaps and numbers of a regression, and that no cell is told.
QUICK = {
    CONTRACTS[0]: "what_a_table_says_of_itself count groups_of_two_columns frequency_weights missing_codes text",
    CONTRACTS[1]: "private_terms_are_fitted_alike cells_of_private_terms_are_not_told"
    " a_large_table_is_not_brought_from_a_cluster",
}


def test_on_spark(tmp_path, need):
    """All in one process: to start Spark takes as long as all of them."""
    need(*SPARK)
    contracts = [f"{file}::test_{name}" for file, names in QUICK.items() for name in names.split()]
    run_under_spark("classic", CASES, tmp_path, REGRESSION, *contracts)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["classic", "connect"])
def test_all_on_spark(mode, tmp_path, need):
    need(*SPARK)
    alike = ("-k", "not every_family_and_method")  # which has no tables
    run_under_spark(mode, CASES, tmp_path, REGRESSION, *CONTRACTS, *alike, "-m", "slow or not slow")


@pytest.mark.slow
def test_a_thin_client_beside_a_classic_session(tmp_path, need):
    need(*SPARK)
    run_under_spark("classic", THIN_CLIENT, tmp_path)
