"""The process of which Spark's Python workers are forks, with all that they import already in it.

Spark gives its workers PySpark as an archive of sources, which each would compile. A worker that ends with an error is
replaced by another one, which would import everything again.
"""

import gc
import sys


def main():
    """Import what workers import, and serve as Spark's own daemon does."""
    sys.path[:] = [place for place in sys.path if not place.endswith("pyspark.zip")]  # there is an installed one
    import pandas  # noqa: F401
    import pyarrow.pandas_compat  # noqa: F401
    import pyspark.worker  # noqa: F401
    from pyspark.daemon import manager

    import subsetprivacy.frames.regressing_on_spark  # noqa: F401

    gc.freeze()  # a worker looks for garbage after every task, and none of this is any
    manager()


if __name__ == "__main__":
    main()
