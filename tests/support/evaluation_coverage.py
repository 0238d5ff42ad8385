"""How good the estimates of `evaluate` are: bias and coverage of each measure. Run as a script it prints the tables.

OMP_NUM_THREADS=1 python tests/support/evaluation_coverage.py [test sets] [first letters of the settings to print]
"""

import sys
import warnings

import numpy as np
from attrs import frozen
from scipy.special import ndtri, softmax

import subsetprivacy as sp
from subsetprivacy.estimation.indicator import rows_of

Z = float(ndtri(0.975))


@frozen
class Setting:
    """A design, and how many people a test set has."""

    design: sp.Design
    n: int = 2000


SETTINGS = {
    "uniform, p = 5": Setting(sp.uniform(range(5))),
    "partition in 3 groups, p = 6": Setting(sp.partition(range(6), groups=3)),
    "hadamard, p = 8": Setting(sp.hadamard(range(8)), 8000),
    "warner, p = 2": Setting(sp.warner(range(2))),
}


@frozen
class Population:
    """Many people with their values, and what two classifiers predict: neither has the true model."""

    y: np.ndarray
    proba: np.ndarray
    other: np.ndarray

    @classmethod
    def of(cls, p, people=40_000, seed=1):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(people, 3))
        turn = 2 * np.pi * np.arange(p) / p
        slopes = 1.2 * np.array([np.cos(turn), np.sin(turn), np.cos(2 * turn)])
        base = np.linspace(0.3, -0.3, p)
        curved = 0.4 * (x[:, :1] ** 2 - 1) * rng.normal(size=p)
        true = softmax(base + x @ slopes + curved, axis=1)
        y = (rng.random((people, 1)) < true.cumsum(axis=1)).argmax(axis=1)
        sharp = softmax(1.3 * (base + x @ slopes), axis=1)  # too sure of itself
        return cls(y, sharp, softmax(base + x[:, :2] @ slopes[:2], axis=1))

    def truth(self, design):
        """Return the measures that everyone's true labels have, of the first classifier and of the difference."""
        labels = sp.SubsetData(np.int64(1) << self.y, sp.nonprivate(range(design.p)))
        known = sp.evaluate(labels, proba=self.proba, compare=self.other)
        at = known.measures.index("subset_log_loss")
        one, two = known.one.estimates.copy(), known.two.estimates.copy()
        one[at], two[at] = (self._subset_loss(design, proba) for proba in (self.proba, self.other))
        return known.one, one, one - two

    def _subset_loss(self, design, proba):
        codes, mu = design.support()
        rows = rows_of(codes, design)
        return -float(((mu * rows.T[:, self.y].T) * np.log(proba @ rows)).sum(axis=1).mean())


@frozen
class Performance:
    """What was measured of each measure over many test sets."""

    names: list
    bias: np.ndarray  # in standard errors of the mean over test sets
    relative_bias: np.ndarray  # in standard deviations of the estimate
    error_ratio: np.ndarray  # standard error over standard deviation
    coverage: np.ndarray
    given: np.ndarray  # the share of test sets in which it is not NaN


def performance(setting, replications, seed=1):
    """Return the performance of the estimates of one classifier, and of the difference between two."""
    population = Population.of(setting.design.p)
    shape, *truths = population.truth(setting.design)
    rng = np.random.default_rng(seed)
    drawn = [([], []), ([], [])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sp.errors.SubsetPrivacyWarning)
        for _ in range(replications):
            at = rng.integers(0, len(population.y), setting.n)
            data = sp.privatize(population.y[at], setting.design, seed=rng)
            one = sp.evaluate(data, proba=population.proba[at])
            both = sp.evaluate(data, proba=population.proba[at], compare=population.other[at])
            for (values, errors), found in zip(drawn, ((one.estimates, one.errors), (both.differences, both.errors))):
                values.append(found[0])
                errors.append(found[1])
    names = [name if j is None else f"{name} {j}" for name, j in zip(shape.measures, shape.positions, strict=True)]
    return [_performance(names, *map(np.array, found), truth) for found, truth in zip(drawn, truths, strict=True)]


def _performance(names, values, errors, truth):
    given = np.isfinite(errors)
    count = given.sum(axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of measures that are never given
        values, errors = np.where(given, values, np.nan), np.where(given, errors, np.nan)
        spread = np.nanstd(values, axis=0, ddof=1)
        off = np.nanmean(values, axis=0) - truth
        inside = np.where(given, np.abs(values - truth) <= Z * errors + 1e-12, np.nan)
        return Performance(
            names,
            off / (spread / np.sqrt(count)),
            off / spread,
            np.sqrt(np.nanmean(errors**2, axis=0)) / spread,
            np.nanmean(inside, axis=0),
            count / len(values),
        )


def main(replications=1000, start=""):
    for name, setting in SETTINGS.items():
        if not name.startswith(start):
            continue
        for what, found in zip(("one classifier", "difference of two"), performance(setting, replications)):
            print(f"\n{name}, n = {setting.n}, {what}, {replications} test sets")
            print("| measure | bias / its standard error | bias / SD | se / SD | coverage |")
            for row in zip(found.names, found.bias, found.relative_bias, found.error_ratio, found.coverage):
                print("| {} | {:.1f} | {:.3f} | {:.3f} | {:.1%} |".format(*row))


if __name__ == "__main__":
    main(*(int(word) if k == 0 else word for k, word in enumerate(sys.argv[1:])))
