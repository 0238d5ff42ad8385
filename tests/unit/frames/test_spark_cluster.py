"""Privatising and regressing on a real cluster: what has to hold is in `cases_….py`."""

from pathlib import Path

import pytest
from spark import SPARK, run_under_spark


@pytest.mark.slow  # four JVMs; `test_on_spark.py` is its short form
def test_cluster(tmp_path, need):
    need(*SPARK)
    run_under_spark("connect", str(Path(__file__).with_name("cases_on_cluster.py")), tmp_path, timeout=1200)


@pytest.mark.slow
def test_regression_on_a_cluster(tmp_path, need):
    need(*SPARK)
    cases = Path(__file__).with_name("cases_of_regression_on_cluster.py")
    run_under_spark("connect", str(cases), tmp_path, timeout=1200)
