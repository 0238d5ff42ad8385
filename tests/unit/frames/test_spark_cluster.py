"""Privatising on a real cluster: what has to hold is in `cases_on_cluster.py`."""

from pathlib import Path

from spark import SPARK, run_under_spark


def test_cluster(tmp_path, need):
    need(*SPARK)
    run_under_spark("connect", str(Path(__file__).with_name("cases_on_cluster.py")), tmp_path, timeout=1200)
