"""How often comparisons keep their level: intervals of differences and tests. Run as a script it prints the tables.

python tests/support/comparison_coverage.py [replications] [first letters of the tables to print]
"""

import sys
import warnings

import numpy as np
from attrs import frozen
from scipy.special import ndtr, ndtri

import subsetprivacy as sp
from subsetprivacy.estimation.contrast import signed_statistic
from subsetprivacy.estimation.difference import _accepted_range, _statistic
from subsetprivacy.estimation.linear_profile import LinearProfile
from subsetprivacy.estimation.profile import Peak

FOUR = sp.uniform(range(4))
FAR, NEAR = (0.1, 0.2, 0.3, 0.4), (0.9, 0.06, 0.03, 0.01)
SIX = (0.3, 0.2, 0.2, 0.1, 0.1, 0.1)
EIGHT = tuple(k / 36 for k in range(1, 9))


@frozen
class Setting:
    """Two samples."""

    design: sp.Design
    one: tuple[float, ...]
    two: tuple[float, ...]
    n: tuple[int, int] = (200, 300)


DIFFERENCES = {
    "uniform, p = 4": Setting(FOUR, FAR, FAR),
    "uniform, near 0": Setting(FOUR, NEAR, NEAR),
    "uniform, at 0": Setting(FOUR, (0.9, 0.1, 0, 0), (0.8, 0.1, 0.1, 0)),
    "partition in 3 groups, p = 6": Setting(sp.partition(range(6), groups=3), SIX, SIX),
    "hadamard, p = 8": Setting(sp.hadamard(range(8)), EIGHT, EIGHT, (500, 500)),
    "warner, p = 2": Setting(sp.warner(range(2)), (0.3, 0.7), (0.3, 0.7)),
}
LEVELS = {**DIFFERENCES, "uniform, at 0": Setting(FOUR, (0.9, 0.1, 0, 0), (0.9, 0.1, 0, 0))}
METHODS = ("score", "profile", "wald")
Z = float(ndtri(0.975))


def quietly(function):
    """Return the function without the warnings of the package."""

    def run(*args, **options):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sp.errors.SubsetPrivacyWarning)
            return function(*args, **options)

    return run


def pairs(setting, replications, seed):
    """Yield the difference of two samples, again and again."""
    ones = sp.simulate_many(setting.design, setting.one, setting.n[0], replications, seed=seed)
    twos = sp.simulate_many(setting.design, setting.two, setting.n[1], replications, seed=seed + 1)
    for one, two in zip(ones, twos, strict=True):
        yield sp.estimate(one).difference(sp.estimate(two))


@quietly
def difference_coverage(setting, replications, seed=1):
    """Return, for each method, how often the 95% interval holds each difference.

    A difference lies in an interval if its test does not reject it. Where that is a near thing, in about one case of
    fifteen, the interval itself decides.
    """
    truth = np.subtract(setting.one, setting.two)
    inside = {method: np.zeros((replications, len(truth)), bool) for method in METHODS}
    for k, found in enumerate(pairs(setting, replications, seed)):
        wald = found._bounds(0.95, "wald")
        inside["wald"][k] = (wald[:, 0] <= truth) & (truth <= wald[:, 1])
        for j, (profile, value) in enumerate(zip(found._profiles, truth, strict=True)):
            for method in ("score", "profile"):
                z = abs(_statistic(profile, value, score=method == "score"))
                inside[method][k, j] = z <= Z
                if 1.7 < z < 2.2:
                    low, high = _accepted_range(profile, Z, score=method == "score")
                    inside[method][k, j] = low <= value <= high
    return {method: found.mean(axis=0) for method, found in inside.items()}


@quietly
def overall_level(setting, replications, seed=1, level=0.05):
    """Return how often the score test of all differences rejects although there are none."""
    return np.mean([found.test.pvalue <= level for found in pairs(setting, replications, seed)])


CONTRASTS = {
    "one share of 0.01": (FOUR, NEAR, {3: 1}, 300),
    "one share of 0": (FOUR, (0.6, 0.3, 0.1, 0), {3: 1}, 300),
    "0.03 - 0.01": (FOUR, NEAR, {2: 1, 3: -1}, 300),
    "0.9 - 0.01": (FOUR, NEAR, {0: 1, 3: -1}, 300),
    "0.4 - 0.1": (FOUR, tuple(reversed(FAR)), {0: 1, 3: -1}, 300),
}


@quietly
def contrast_level(case, replications, seed=1, level=0.05):
    """Return how often each method rejects the true value of a contrast."""
    design, w, weights, n = CONTRASTS[case]
    truth = sum(weight * w[label] for label, weight in weights.items())
    c = np.zeros(len(w))
    c[list(weights)] = list(weights.values())
    fits = [sp.estimate(sample) for sample in sp.simulate_many(design, w, n, replications, seed=seed)]
    # The statistic alone: `contrast` would search for the ends of an interval each time.
    profiles = [LinearProfile(Peak(fit.counts, fit.w), c) for fit in fits]
    found = {
        method: np.mean(
            [2 * ndtr(-abs(signed_statistic(profile, truth, score=method == "score"))) <= level for profile in profiles]
        )
        for method in ("score", "profile")
    }
    wald = [fit.contrast(weights, null=truth, method="wald").pvalue <= level for fit in fits]
    return {**found, "wald": np.mean(wald)}


PAIR = sp.product({"x": sp.uniform(range(4)), "y": sp.warner(range(2))})
SUMS = {
    "margin of 4 x 2": (PAIR, tuple(np.outer(FAR, (0.3, 0.7)).ravel()), lambda fit: fit.margin("x"), 1000),
    "margin of 4 x 2, near 0": (PAIR, tuple(np.outer(NEAR, (0.3, 0.7)).ravel()), lambda fit: fit.margin("x"), 1000),
    "merged, 0.9; 0.06 + 0.03; 0.01": (FOUR, NEAR, lambda fit: fit.collapse({"rare": [1, 2]}), 300),
    "merged, 0.9 + 0.06; 0.03 + 0.01": (FOUR, NEAR, lambda fit: fit.collapse({"often": [0, 1], "rare": [2, 3]}), 300),
    "merged, 0.1 + 0.2; 0.3 + 0.4": (FOUR, FAR, lambda fit: fit.collapse({"low": [0, 1], "high": [2, 3]}), 300),
}


@quietly
def sum_coverage(case, replications, seed=1):
    """Return how often the default interval and Wald's hold each margin or merged share."""
    design, w, read, n = SUMS[case]
    fits = [read(sp.estimate(sample)) for sample in sp.simulate_many(design, w, n, replications, seed=seed)]
    truth = np.bincount(fits[0].where, w)
    found = {}
    for method in ("auto", "wald"):
        bounds = np.array([fit.interval(method=method) for fit in fits])
        found[method] = ((bounds[..., 0] <= truth + 1e-12) & (truth - 1e-12 <= bounds[..., 1])).mean(axis=0)
    return found


TOGETHER = {
    "uniform, p = 4, n = 300": (FOUR, FAR, 300),
    "uniform, p = 4, near 0, n = 300": (FOUR, NEAR, 300),
    "hadamard, p = 8, n = 500": (sp.hadamard(range(8)), EIGHT, 500),
}


@quietly
def joint_coverage(case, replications, seed=1):
    """Return how often all simultaneous intervals hold their share, and how often all single ones do."""
    design, w, n = TOGETHER[case]
    fits = [sp.estimate(sample) for sample in sp.simulate_many(design, w, n, replications, seed=seed)]
    found = []
    for simultaneous in (True, False):
        bounds = np.array([fit.interval(simultaneous=simultaneous) for fit in fits])
        found.append(((bounds[..., 0] <= w) & (w <= bounds[..., 1])).all(axis=1).mean())
    return tuple(found)


FITS = {
    "uniform, interior, n = 300": (FOUR, FAR, 300),
    "uniform, near 0, n = 300": (FOUR, NEAR, 300),
    "partition in 3 groups, n = 200": (sp.partition(range(6), groups=3), SIX, 200),
}


@quietly
def fit_test_pvalues(case, replications, seed=1, reference=None, draws=199):
    """Return the p-values of the test of fit, from drawn samples and by chi-square."""
    design, w, n = FITS[case]
    tests = [
        sp.fit_test(sample, w if reference is None else reference, replications=draws, seed=k)
        for k, sample in enumerate(sp.simulate_many(design, w, n, replications, seed=seed))
    ]
    return np.array([test.pvalue for test in tests]), np.array([test.chi_square_pvalue for test in tests])


# Tables -------------------------------------------------------------------------------------------


def percents(values):
    return ", ".join(f"{100 * value:.1f}" for value in np.atleast_1d(values))


def table_of_differences(replications):
    yield "| samples | n | w | score | profile | Wald |"
    yield "|---" * 6 + "|"
    for name, setting in DIFFERENCES.items():
        found = difference_coverage(setting, replications)
        shares = ", ".join(f"{x:.3g}" for x in setting.one)
        if setting.two != setting.one:
            shares += " and " + ", ".join(f"{x:.3g}" for x in setting.two)
        n = " and ".join(map(str, setting.n))
        yield f"| {name} | {n} | {shares} | {' | '.join(percents(found[method]) for method in METHODS)} |"


def table_of_levels(replications):
    yield "| samples | rejected at 5% |"
    yield "|---" * 2 + "|"
    for name, setting in LEVELS.items():
        yield f"| {name} | {percents(overall_level(setting, replications))} |"


def table_of_contrasts(replications):
    yield "| contrast | score | profile | Wald |"
    yield "|---" * 4 + "|"
    for name in CONTRASTS:
        found = contrast_level(name, replications)
        yield f"| {name} | {' | '.join(percents(found[method]) for method in METHODS)} |"


def table_of_sums(replications):
    yield "| shares | default | Wald |"
    yield "|---" * 3 + "|"
    for name in SUMS:
        found = sum_coverage(name, replications)
        yield f"| {name} | {percents(found['auto'])} | {percents(found['wald'])} |"


def table_of_together(replications):
    yield "| samples | simultaneous | each alone |"
    yield "|---" * 3 + "|"
    for name in TOGETHER:
        both, single = joint_coverage(name, replications)
        yield f"| {name} | {percents(both)} | {percents(single)} |"


def table_of_fits(replications):
    yield "| samples | drawn samples | chi-square |"
    yield "|---" * 3 + "|"
    for name in FITS:
        drawn, chi_square = fit_test_pvalues(name, replications)
        yield f"| {name} | {percents((drawn <= 0.05).mean())} | {percents((chi_square <= 0.05).mean())} |"


TABLES = {
    "differences": table_of_differences,
    "levels": table_of_levels,
    "contrasts": table_of_contrasts,
    "sums": table_of_sums,
    "together": table_of_together,
    "fits": table_of_fits,
}


if __name__ == "__main__":
    asked = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    for title, table in TABLES.items():
        if len(sys.argv) < 3 or title.startswith(tuple(sys.argv[2:])):
            print(f"\n{title}\n", flush=True)
            for line in table(asked):
                print(line, flush=True)
