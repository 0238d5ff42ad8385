"""Spark reads the Parquet files that we write, with and without its vectorised reader."""

import json
import subprocess
import sys

import numpy as np
from spark import SPARK

import subsetprivacy as sp
from subsetprivacy.frames.writing import write_release

# A process of its own: a session that is running is somebody else's.
READ = """
import json, sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
found = []
for vectorised in ("true", "false"):
    spark.conf.set("spark.sql.parquet.enableVectorizedReader", vectorised)
    frame = spark.read.parquet(sys.argv[1])
    found.append([frame.dtypes, [row[0] for row in frame.collect()]])
print("FOUND" + json.dumps(found))
spark.stop()
"""


def test_spark_reads_our_codes(tmp_path, need):
    need(*SPARK)
    design = sp.hadamard([f"c{k}" for k in range(100)])
    codes = np.random.default_rng(3).choice(design.support()[0], 5000)
    release = write_release(sp.SubsetData(codes, design), tmp_path / "x.parquet", {"x": design})
    ran = subprocess.run(
        [sys.executable, "-c", READ, str(release.path)], capture_output=True, text=True, check=False, timeout=300
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    found = json.loads(ran.stdout.partition("FOUND")[2])
    assert found == [[[["x", "bigint"]], codes.tolist()]] * 2
