"""What a thin client of Spark does in another way; run by `test_on_spark.py` beside a classic session."""

from pathlib import Path

from spark import run_under_spark

CASES = str(Path(__file__).with_name("cases_on_spark.py"))
CHOSEN = "read_from_the_files or only_spark_sees or what_is_there or names or guide"


def test_on_connect(spark_of_the_process, tmp_path):
    """In a process of its own, as a client has; its server is in the Java that runs already."""
    assert spark_of_the_process is not None
    run_under_spark("connect", CASES, tmp_path, "-k", CHOSEN)
