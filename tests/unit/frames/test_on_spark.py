"""Privatising tables of Spark: what has to hold is in `cases_on_spark.py`."""

from pathlib import Path

import pytest
from spark import SPARK, run_under_spark


@pytest.mark.parametrize("mode", ["classic", "connect"])
def test_on_spark(tmp_path, need, mode):
    need(*SPARK)
    run_under_spark(mode, str(Path(__file__).with_name("cases_on_spark.py")), tmp_path)
