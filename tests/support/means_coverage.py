"""How good the estimates of `group_means` are: coverage of intervals, level of tests. As a script it prints the tables.

OMP_NUM_THREADS=1 python tests/support/means_coverage.py [samples] [first letters of the settings to print]
"""

import sys
import warnings

import numpy as np
from attrs import frozen
from scipy.special import ndtri

import subsetprivacy as sp
from subsetprivacy._words import whole

DESIGNS = {
    "pairs, p = 3": lambda: sp.fixed_size(range(3), 2),
    "uniform, p = 4": lambda: sp.uniform(range(4)),
    "uniform, p = 5": lambda: sp.uniform(range(5)),
    "partition in 3 groups, p = 6": lambda: sp.partition(range(6), groups=3),
    "uniform, p = 8": lambda: sp.uniform(range(8)),
}
OUTCOMES = ("normal", "skewed", "binary")
SIZES = (500, 2000, 10_000)


@frozen
class Population:
    """Shares that rise from category to category, and an outcome that does or does not differ between them."""

    p: int
    outcome: str
    equal: bool = False

    @property
    def shares(self):
        weights = np.arange(2.0, self.p + 2)
        return weights / weights.sum()

    @property
    def center(self):
        return np.full(self.p, 0.5) if self.equal else np.linspace(0, 1, self.p)

    def draw(self, n, rng):
        x = rng.choice(self.p, size=n, p=self.shares)
        if self.outcome == "normal":
            return x, self.center[x] + rng.normal(size=n)
        if self.outcome == "skewed":
            return x, np.exp(self.center[x] + 0.7 * rng.normal(size=n))
        return x, (rng.random(n) < 0.2 + 0.5 * self.center[x]).astype(float)

    @property
    def mean(self):
        return {
            "normal": self.center,
            "skewed": np.exp(self.center + 0.245),
            "binary": 0.2 + 0.5 * self.center,
        }[self.outcome]

    @property
    def sd(self):
        spread = {
            "normal": np.ones(self.p),
            "skewed": self.mean * np.sqrt(np.expm1(0.49)),
            "binary": np.full(self.p, np.nan),
        }
        return spread[self.outcome]

    @property
    def median(self):
        return {"normal": self.center, "skewed": np.exp(self.center), "binary": np.full(self.p, np.nan)}[self.outcome]


def inside(ends, truth):
    """Return where intervals hold the truth; an end that is not a number is no end. NaN where there is no interval."""
    low, high = np.nan_to_num(ends[..., 0], nan=-np.inf), np.nan_to_num(ends[..., 1], nan=np.inf)
    return np.where(np.isnan(ends).all(axis=-1) | np.isnan(truth), np.nan, (low <= truth) & (truth <= high))


def performance(design, n, outcome, samples, seed=1, model=None):
    """Return the coverage of each kind of interval, and how often the tests reject, over so many samples."""
    people, alike = Population(design.p, outcome), Population(design.p, outcome, equal=True)
    z = float(ndtri(0.975))
    found = {name: [] for name in ("mean", "wald", "difference", "sd", "median", "given", "ratio")}
    tests = {"score": [], "wald test": []}
    for k in range(samples):
        rng = np.random.default_rng([seed, design.p, n, OUTCOMES.index(outcome), k])
        x, y = people.draw(n, rng)
        means = sp.group_means(y, sp.privatize(x, design, seed=rng), quantiles=0.5, model=model)
        found["mean"].append(inside(means.interval(), people.mean))
        found["wald"].append(inside(means.interval(method="wald"), people.mean))
        found["given"].append(np.isfinite(means.mean))
        found["ratio"].append(means.mean - people.mean)
        found["median"].append(inside(means.quantile_interval()[:, 0], people.median))
        ends = means.sd[:, None] + z * means.sd_se[:, None] * np.array([-1, 1])
        found["sd"].append(inside(ends, people.sd))
        apart = means.difference(design.p - 1, 0)
        found["difference"].append(inside(apart.interval(), people.mean[-1] - people.mean[0]))
        x, y = alike.draw(n, rng)
        null = sp.group_means(y, sp.privatize(x, design, seed=rng), quantiles=0.5, model=model)
        if model is None:
            tests["score"].append(null.test().pvalue[0] < 0.05)
        else:
            tests["score"].append(means.comparison.pvalue[0] < 0.05)
        tests["wald test"].append(null.test(method="wald").pvalue[0] < 0.05)
    arrays = {name: np.array(values, float) for name, values in found.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of categories that are never given
        bias = np.nanmean(arrays.pop("ratio"), axis=0)
        return (
            {name: np.nanmean(values, axis=0) for name, values in arrays.items()},
            {name: float(np.mean(values)) for name, values in tests.items()},
            bias,
        )


def span(values):
    """Return the smallest and the largest in percent."""
    known = values[np.isfinite(values)]
    return f"{100 * known.min():.1f} to {100 * known.max():.1f}" if len(known) else "-"


def main(samples=1000, start="", sizes=None, model=None):
    print("| design | people | outcome | given | means | Wald | difference | sd | medians | score test | Wald test |")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sp.errors.SubsetPrivacyWarning)
        for name, make in DESIGNS.items():
            for n in SIZES if sizes is None else sizes:
                for outcome in OUTCOMES:
                    if not name.startswith(start) or (model and outcome == "binary"):
                        continue
                    found, tests, _ = performance(make(), n, outcome, samples, model=model)
                    cells = [span(found[key]) for key in ("given", "mean", "wald", "difference", "sd", "median")]
                    print(
                        "|",
                        " | ".join([name, whole(n), outcome, *cells, *(f"{100 * x:.1f}" for x in tests.values())]),
                        "|",
                        flush=True,
                    )


if __name__ == "__main__":
    words = sys.argv[1:]
    main(
        int(words[0]) if words else 1000,
        words[1] if len(words) > 1 else "",
        [int(words[2])] if len(words) > 2 else None,
        words[3] if len(words) > 3 else None,
    )
