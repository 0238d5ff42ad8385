"""Privatising tables of Spark: what has to hold is in `cases_on_spark.py`."""

from pathlib import Path

from spark import SPARK, run_under_spark

CASES = str(Path(__file__).with_name("cases_on_spark.py"))


def test_on_spark(tmp_path, need):
    need(*SPARK)
    run_under_spark("classic", CASES, tmp_path)


def test_on_connect(tmp_path, need):
    """What a thin client does in another way; that it can privatise and count is in `test_spark_cluster.py`."""
    need(*SPARK)
    run_under_spark("connect", CASES, tmp_path, "-k", "only_spark_sees or what_is_there or names or guide")
