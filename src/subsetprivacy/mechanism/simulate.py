"""Draw counts under a known distribution, for experiments, power and bootstrap."""

from math import ceil
from typing import Any, overload

import numpy as np

from subsetprivacy._checks import check_count, check_distribution
from subsetprivacy._seeds import numpy_generator
from subsetprivacy._types import Distribution, FloatArray, Seed
from subsetprivacy.data import CountsBatch, JointCounts, SubsetCounts, as_joint, count_codes
from subsetprivacy.design import Design, Product, require_design
from subsetprivacy.mechanism.cover import add_dummies
from subsetprivacy.mechanism.randomness import SeededSource
from subsetprivacy.mechanism.reports import draw_given

_FEW = 1 << 12


@overload
def simulate(design: Product, w: Distribution, n: int, *, seed: Seed | None = ...) -> JointCounts: ...
@overload
def simulate(design: Design, w: Distribution, n: int, *, seed: Seed | None = ...) -> SubsetCounts: ...
def simulate(design: Design, w: Distribution, n: int, *, seed: Seed | None = None) -> SubsetCounts:
    r"""Draw the counts of n people whose values follow w, without drawing the people.

    Parameters
    ----------
    design
        The design with which subsets are drawn.
    w
        The distribution of the value, in category order or by label.
    n
        The number of people.
    seed
        A number or a NumPy generator. By default the draw is not repeatable.

    Notes
    -----
    The counts are multinomial with :math:`P(A=a) = \mu_a 1_a^\top w`. If there are more subsets than
    people, people are drawn one by one.

    Examples
    --------
    >>> from subsetprivacy.design import uniform
    >>> simulate(uniform(["a", "b", "c", "d"]), [0.1, 0.2, 0.3, 0.4], 1000, seed=1).n
    1000
    """
    generator = numpy_generator(seed)
    size = check_count(n, "n")
    weights = _exact(check_distribution(w, require_design(design).categories.labels))
    if design.covered is not None:
        x = generator.choice(design.p, size, p=weights)
        source = SeededSource(generator)
        return count_codes(*add_dummies(draw_given(x, design.exposed, source), design.covered, source))
    if not design.enumerable or len(design.support()[0]) > max(size, _FEW):
        x = generator.choice(design.p, size, p=weights)
        return count_codes(draw_given(x, design, SeededSource(generator)), design)
    codes, probabilities = subset_probabilities(design, weights)
    return as_joint(SubsetCounts(codes, generator.multinomial(size, probabilities), design))


def simulate_many(design: Design, w: Distribution, n: int, size: int, *, seed: Seed | None = None) -> CountsBatch:
    """Draw `size` independent samples of n people each, for simulation studies.

    Parameters
    ----------
    design, w, n, seed
        As in `simulate`.
    size
        The number of samples.

    Examples
    --------
    >>> from subsetprivacy.design import uniform
    >>> simulate_many(uniform(list("abcd")), [0.1, 0.2, 0.3, 0.4], n=50, size=3, seed=1).counts.sum(axis=1)
    array([50, 50, 50])
    """
    generator = numpy_generator(seed)
    weights = _exact(check_distribution(w, require_design(design).categories.labels))
    people, samples = check_count(n, "n"), check_count(size, "size", least=1)
    if design.covered is not None or not design.enumerable:
        return _one_by_one(design, weights, people, samples, generator)
    codes, probabilities = subset_probabilities(design, weights)
    return CountsBatch(codes, generator.multinomial(people, probabilities, size=samples), design)


def _one_by_one(design: Design, w: FloatArray, n: int, size: int, generator: Any) -> CountsBatch:
    """Draw samples whose counts are not multinomial, or have too many cells to list."""
    samples = [simulate(design, w, n, seed=generator) for _ in range(size)]
    codes = np.unique(np.concatenate([sample.codes for sample in samples]))
    counts = np.zeros((size, len(codes)), np.int64)
    for row, sample in zip(counts, samples, strict=True):
        row[np.searchsorted(codes, sample.codes)] = sample.counts
    return CountsBatch(codes, counts, samples[0].design)


def subset_probabilities(design: Design, w: FloatArray) -> tuple[Any, FloatArray]:
    """Return the support and the probability mu_a L(a) of each subset."""
    codes, mu = design.support()
    return codes, _exact(mu * design.support_incidence.inner(w))


def informative_probabilities(design: Design, w: FloatArray) -> tuple[Any, FloatArray]:
    """Return the informative subsets, and the probability of each given that the subset is informative."""
    codes, probabilities = subset_probabilities(design, w)
    kept = ~design.is_missing(codes)
    return codes[kept], _exact(probabilities[kept])


def simulate_informative(design: Design, w: FloatArray, n: int, generator: np.random.Generator) -> SubsetCounts:
    """Draw the counts of n people with informative subsets."""
    if design.enumerable:
        codes, probabilities = informative_probabilities(design, w)
        return SubsetCounts.trusted(codes, generator.multinomial(n, probabilities), design)
    rows = np.empty(0, np.int64)
    while len(rows) < n:
        drawn = simulate(design, w, ceil((n - len(rows)) / (1 - design.mu_full)), seed=generator)
        rows = np.concatenate([rows, np.repeat(drawn.observed_codes, drawn.n_a.astype(np.int64))])
    return count_codes(generator.permutation(rows)[:n], design)


def _exact(law: FloatArray) -> FloatArray:
    return law / law.sum()
