"""Privatising tables of Spark: what has to hold is in `cases_on_spark.py`; and the contract of engines, on Spark."""

from pathlib import Path

import pytest
from spark import SPARK, run_under_spark

CASES = str(Path(__file__).with_name("cases_on_spark.py"))
CONTRACT = str(Path(__file__).parents[2] / "contracts" / "test_every_engine.py")


def test_on_spark(tmp_path, need):
    """Both in one process: to start Spark takes as long as all of them."""
    need(*SPARK)
    run_under_spark("classic", CASES, tmp_path, CONTRACT)


def test_on_connect(tmp_path, need):
    """What a thin client does in another way."""
    need(*SPARK)
    chosen = "read_from_the_files or only_spark_sees or what_is_there or names or guide"
    run_under_spark("connect", CASES, tmp_path, "-k", chosen)


@pytest.mark.slow
def test_contract_on_connect(tmp_path, need):
    need(*SPARK)
    run_under_spark("connect", CONTRACT, tmp_path)
