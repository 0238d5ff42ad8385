"""Samples of people in clusters and strata, with unequal weights, for tests."""

import numpy as np
from attrs import frozen

LABELS = np.array(["a", "b", "c", "d"])


@frozen
class Sample:
    """People who were drawn in two stages: their values, and how they were drawn."""

    values: np.ndarray
    strata: np.ndarray
    clusters: np.ndarray
    weights: np.ndarray
    group: np.ndarray
    number: np.ndarray


def small_sample(seed=11, *, strata=6, clusters=3, people=(2, 7)):
    """Return a small sample: clusters of different sizes whose ids repeat from one stratum to the next."""
    rng = np.random.default_rng(seed)
    stratum, cluster, values = [], [], []
    for h in range(strata):
        for c in range(clusters):
            shares = rng.dirichlet([2, 3, 4, 5])
            size = int(rng.integers(*people))
            stratum += [h] * size
            cluster += [c] * size
            values += rng.choice(4, size, p=shares).tolist()
    n = len(values)
    weights = rng.uniform(0.5, 3, n)
    group = np.array(["x", "y", "z"])[rng.integers(0, 3, n)]
    return Sample(LABELS[values], np.array(stratum), np.array(cluster), weights, group, rng.normal(size=n))
