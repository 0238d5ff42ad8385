"""One contract for every engine: the same table gives the same means by private category, whoever holds it."""

import numpy as np
import pytest
from engines import CONSTRUCTORS, LIBRARY, engines_under_test

import subsetprivacy as sp

DESIGN = sp.uniform(["ash", "birch", "cedar", "elm"])
RNG = np.random.default_rng(1)
VALUES = RNG.choice(4, size=400)
TABLE = {
    "tree": sp.privatize([DESIGN.categories.labels[x] for x in VALUES], DESIGN, seed=1).codes.tolist(),
    "height": (10.0 + VALUES + RNG.normal(size=400)).round(3).tolist(),
    "side": RNG.choice(["n", "s"], size=400).tolist(),
    "weight": RNG.integers(1, 4, size=400).tolist(),
}
HERE = [name for name in engines_under_test() if name != "pyspark"]


@pytest.mark.parametrize("engine", HERE)
def test_means_are_the_same(engine, tmp_path):
    pytest.importorskip(LIBRARY.get(engine, engine.split()[0]))
    build, _ = CONSTRUCTORS[engine]
    options = {"designs": {"tree": DESIGN}, "by": "side", "weights": "weight", "weights_kind": "frequency"}
    result = sp.group_means("height", build(TABLE, tmp_path), **options)
    expected = sp.group_means("height", TABLE, **options)
    assert result.groups == ("n", "s")
    assert np.allclose(result.mean, expected.mean, rtol=1e-10)
    assert np.allclose(result.cov, expected.cov, rtol=1e-8, atol=1e-14)
