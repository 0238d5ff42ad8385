"""What a thin client of Spark does in another way; run by `test_on_spark.py` beside a classic session."""

from pathlib import Path

from spark import run_under_spark

CASES = str(Path(__file__).with_name("cases_on_spark.py"))
CHOSEN = "test_folder_on_a_disk_that_only_spark_sees"  # all of them are in the slow run


def test_on_connect(spark_of_the_process, tmp_path):
    """In a process of its own, as a client has; its server is in the Java that runs already."""
    assert spark_of_the_process is not None
    run_under_spark("connect", f"{CASES}::{CHOSEN}", tmp_path, "-m", "slow")
