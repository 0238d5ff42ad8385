"""A regression by two workers of a standalone cluster, through Spark Connect; they do not have this package.

Run by `test_spark_cluster.py`, in a process of its own.
"""

import numpy as np
import pyarrow as pa
import pytest
from cluster import connected, standalone

import subsetprivacy as sp
from subsetprivacy.errors import DataFileError

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning")

DESIGN = sp.uniform(["red", "green", "blue", "black"])
N = 15_000  # of more, corrected scores take working distributions from a sample, which has no order on Spark


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    with standalone(tmp_path_factory.mktemp("cluster"), "scipy") as cluster, connected(cluster) as opened:
        yield opened


@pytest.fixture(scope="module")
def people_table():
    rng = np.random.default_rng(3)
    age, town = rng.uniform(20, 70, N), rng.choice(["north", "south", "west"], N)
    U = np.vstack([np.zeros(N), 0.02 * age - 1, 0.5 * (town == "west"), 0.2 * (town == "south")])
    P = np.exp(U) / np.exp(U).sum(axis=0)
    values = np.array(DESIGN.categories.labels)[(P.cumsum(axis=0) > rng.random(N)).argmax(axis=0)]
    return pa.table({"colour": sp.privatize(values, DESIGN, seed=1).codes, "age": age, "town": town})


@pytest.fixture(scope="module")
def table(session, people_table):
    return session.createDataFrame(people_table).repartition(6)


def workers_of(table):
    """Return where the parts of a table are worked on: every worker has a folder of its own."""

    def part(batches):
        import os

        import pyarrow as pa

        for _ in batches:
            pass
        yield pa.RecordBatch.from_pydict({"folder": [os.getcwd()]})

    folders = table.mapInArrow(part, "folder string").toArrow().to_pydict()["folder"]
    return {name for folder in folders for name in folder.split("/") if name.startswith("worker-")}


@pytest.mark.parametrize("method", ["ml", "corrected"])
def test_two_workers_add_up_what_memory_does(table, people_table, method):
    assert workers_of(table) == {"worker-0", "worker-1"}
    fit = sp.regress("colour ~ age + town", table, designs={"colour": DESIGN}, stream=True, method=method)
    expected = sp.regress("colour ~ age + town", people_table, designs={"colour": DESIGN}, method=method)
    np.testing.assert_allclose(fit.estimates, expected.estimates, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(fit.robust, expected.robust, rtol=1e-6, atol=1e-12)
    assert fit.fitted_people is None


def test_workers_that_lack_a_package_say_which(table):
    with pytest.raises(DataFileError):
        sp.regress("colour ~ np.log(age)", table, designs={"colour": DESIGN}, stream=True)
