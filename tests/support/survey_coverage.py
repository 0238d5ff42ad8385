"""Coverage of intervals on a stratified two-stage population. Run as a script it prints the tables.

OMP_NUM_THREADS=1 python tests/support/survey_coverage.py [samples] [first letters of the settings to print]
"""

import sys
import warnings

import numpy as np
from attrs import field, frozen
from scipy.special import softmax

import subsetprivacy as sp
from subsetprivacy.errors import SubsetPrivacyWarning


@frozen
class Setting:
    """A design, and how a sample is drawn."""

    design: sp.Design
    strata: int = 20
    clusters: int = 4  # of each stratum
    people: int = 12  # of each cluster


SETTINGS = {
    "uniform, p = 4": Setting(sp.uniform(range(4))),
    "two clusters per stratum, uniform, p = 5": Setting(sp.uniform(range(5)), strata=40, clusters=2, people=15),
    "partition in 3 groups, p = 6": Setting(sp.partition(range(6), groups=3), strata=15, clusters=6),
}


@frozen
class Population:
    """People in clusters of strata. Clusters differ in their sizes, in x and in the shares of the value."""

    value: np.ndarray
    x: np.ndarray
    group: np.ndarray
    age: np.ndarray
    stratum: np.ndarray  # of each cluster
    first: np.ndarray  # the first person of each cluster, and one more
    p: int = field(default=4)

    @classmethod
    def of(cls, setting, seed=1):
        rng = np.random.default_rng(seed)
        p = setting.design.p
        per_stratum = rng.integers(100, 300, setting.strata)
        stratum = np.repeat(np.arange(setting.strata), per_stratum)
        size = rng.integers(20, 80, len(stratum))
        first = np.concatenate([[0], np.cumsum(size)])
        cluster = np.repeat(np.arange(len(stratum)), size)
        n = len(cluster)
        x = (rng.normal(0, 0.6, setting.strata)[stratum] + rng.normal(0, 0.5, len(stratum)))[cluster] + rng.normal(
            size=n
        )
        group = (rng.random(n) < (0.3 + 0.3 * rng.random(len(stratum)))[cluster]).astype(int)
        age = (x + rng.normal(size=n) > 0.3).astype(int)
        turn = 2 * np.pi * np.arange(p) / p
        logits = np.linspace(0.3, -0.3, p) + 0.5 * x[:, None] * np.cos(turn) + 0.4 * group[:, None] * np.sin(turn)
        logits += rng.normal(0, 0.4, (len(stratum), p))[cluster]
        value = (rng.random((n, 1)) < softmax(logits, axis=1).cumsum(axis=1)).argmax(axis=1)
        return cls(value, x, group, age, stratum, first, p)

    @property
    def shares(self):
        return np.bincount(self.value, minlength=self.p) / len(self.value)

    def shares_of(self, group):
        return np.bincount(self.value[self.group == group], minlength=self.p) / (self.group == group).sum()

    def margins(self):
        named = {"group": self.group, "age": self.age}
        return {name: dict(enumerate(np.bincount(column).tolist())) for name, column in named.items()}

    def slopes(self, design, times=5):
        """Return what the model has as its limit: the fit to everyone, privatized several times."""
        codes = np.concatenate([sp.privatize(self.value, design, seed=seed).codes for seed in range(times)])
        columns = {"x": np.tile(self.x, times), "group": np.tile(self.group, times)}
        return sp.regress(sp.SubsetData(codes, design), columns, baseline=0, method="ml")

    def sample(self, setting, rng):
        """Return the people, their strata, clusters and weights: clusters with equal chances, then people."""
        rows, strata, clusters, weights = [], [], [], []
        for h in range(setting.strata):
            mine = np.flatnonzero(self.stratum == h)
            for k, c in enumerate(rng.choice(mine, setting.clusters, replace=True)):
                size = self.first[c + 1] - self.first[c]
                rows.append(self.first[c] + rng.choice(size, setting.people, replace=False))
                strata.append(np.full(setting.people, h))
                clusters.append(np.full(setting.people, k))
                weights.append(np.full(setting.people, len(mine) / setting.clusters * size / setting.people))
        return tuple(np.concatenate(part) for part in (rows, strata, clusters, weights))


@frozen
class Performance:
    """What was measured of one quantity over many samples, for each of its numbers."""

    coverage: np.ndarray
    error_ratio: np.ndarray  # median standard error over the deviation that the quartiles show
    effect: np.ndarray  # the mean design effect
    bias: np.ndarray  # in standard deviations
    left_out: float = 0.0  # the share of samples without a finite answer, which are left out


def performance(setting, samples, seed=7):
    """Return the performance of each quantity."""
    population = Population.of(setting)
    limit = population.slopes(setting.design)
    truth = {
        "shares": population.shares,
        "shares, Wald": population.shares,
        "difference of two groups": population.shares_of(1) - population.shares_of(0),
        "regression": limit.estimates,
        "raked shares": population.shares,
    }
    found = {name: [] for name in truth}
    rng = np.random.default_rng(seed)
    for _ in range(samples):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SubsetPrivacyWarning)
            for name, numbers in _measured(population, setting, rng).items():
                found[name].append(numbers)
    return {name: _performance(np.array(found[name]), truth[name]) for name in truth}


def _measured(population, setting, rng):
    """Return estimate, standard error, interval and design effect of each quantity in one sample."""
    rows, strata, clusters, weights = population.sample(setting, rng)
    data = sp.privatize(population.value[rows], setting.design, seed=rng)
    sampling = sp.Sampling(weights, strata=strata, clusters=clusters)
    fit = sp.estimate(data, sampling=sampling)
    group, x = population.group[rows], population.x[rows]
    one, two = (sp.estimate(data, sampling=sampling.within(group == g)) for g in (1, 0))
    change = one.difference(two)
    slopes = sp.regress(data, {"x": x, "group": group}, sampling=sampling, baseline=0, method="ml", starts=1)
    raked = sp.rake({"group": group, "age": population.age[rows]}, population.margins(), sampling=sampling)
    known = sp.estimate(data, sampling=raked.sampling)
    none = np.full(population.p, np.nan)
    return {
        "shares": (fit.w, fit.se, *fit.interval().T, fit.design_effects),
        "shares, Wald": (fit.w, fit.se, *fit.interval(method="wald").T, fit.design_effects),
        "difference of two groups": (change.estimate, change.se, *change.interval().T, none),
        "regression": (slopes.estimates, slopes.se.ravel(), *slopes.interval().T, slopes.design_effects),
        "raked shares": (known.w, known.se, *known.interval().T, known.design_effects),
    }


def _performance(numbers, truth):
    finite = np.isfinite(numbers[:, :4]).all(axis=(1, 2))
    left_out, numbers = 1 - finite.mean(), numbers[finite]
    estimate, se, low, high, effect = np.moveaxis(numbers, 1, 0)
    # By quartiles: a few samples are near separation, and their coefficients and errors are huge.
    spread = np.subtract(*np.percentile(estimate, [75, 25], axis=0)) / 1.349
    return Performance(
        ((low <= truth) & (truth <= high)).mean(axis=0),
        np.median(se, axis=0) / spread,
        np.median(effect, axis=0),
        (np.median(estimate, axis=0) - truth) / spread,
        float(left_out),
    )


def table(setting, samples):
    """Return the table of a setting as Markdown."""
    lines = [
        "| quantity | coverage, each number | mean | standard error / deviation | design effect |",
        "|---|---|---|---|---|",
    ]
    for name, found in performance(setting, samples).items():
        each = ", ".join(f"{100 * share:.1f}" for share in found.coverage)
        effect = "–" if np.isnan(found.effect).all() else f"{found.effect.mean():.2f}"
        ratio = f"{found.error_ratio.min():.2f}–{found.error_ratio.max():.2f}"
        name += f" ({100 * found.left_out:.1f}% of samples separated, left out)" if found.left_out else ""
        lines.append(f"| {name} | {each} | {100 * found.coverage.mean():.1f}% | {ratio} | {effect} |")
    return "\n".join(lines)


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    for name, setting in SETTINGS.items():
        if len(sys.argv) < 3 or name.startswith(sys.argv[2]):
            print(f"\n{name}: {count} samples of {setting.strata * setting.clusters * setting.people} people\n")
            print(table(setting, count), flush=True)
