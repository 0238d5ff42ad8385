"""Privatizing tables of Spark: what has to hold is in `cases_on_spark.py`; and the contract of engines, on Spark."""

from pathlib import Path

import pytest
from spark import SPARK, run_under_spark

CASES, THIN_CLIENT, REGRESSION = (
    str(Path(__file__).with_name(f"cases_{name}.py")) for name in ("on_spark", "on_connect", "of_regression_on_spark")
)
CONTRACTS = [str(Path(__file__).parents[2] / "contracts" / f"test_every_engine{of}.py") for of in ("", "_of_formulas")]


def test_on_spark(tmp_path, need):
    """All in one process: to start Spark takes as long as all of them."""
    need(*SPARK)
    run_under_spark("classic", CASES, tmp_path, THIN_CLIENT, REGRESSION, *CONTRACTS)


@pytest.mark.slow
def test_contract_on_connect(tmp_path, need):
    need(*SPARK)
    run_under_spark("connect", CONTRACTS[0], tmp_path, REGRESSION, *CONTRACTS[1:], "-m", "slow or not slow")
