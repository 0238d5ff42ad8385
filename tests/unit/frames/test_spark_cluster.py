"""Privatising on a real cluster: what has to hold is in `cases_on_cluster.py`."""

from pathlib import Path

import pytest
from spark import SPARK, run_under_spark


@pytest.mark.slow  # four JVMs; `test_on_spark.py` is its short form
def test_cluster(tmp_path, need):
    need(*SPARK)
    run_under_spark("connect", str(Path(__file__).with_name("cases_on_cluster.py")), tmp_path, timeout=1200)
