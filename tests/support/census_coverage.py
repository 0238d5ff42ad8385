"""Coverage of the shares, means and slopes of finite populations. Run as a script it prints the tables.

OMP_NUM_THREADS=1 python tests/support/census_coverage.py [samples] [first letters of the settings to print]
"""

import sys
import warnings

import numpy as np
from attrs import frozen

import subsetprivacy as sp
from subsetprivacy.errors import SubsetPrivacyWarning

CENSUS = sp.Sampling(fpc=1)


@frozen
class Setting:
    """A population and its design. Only strata of a fraction below 1 are sampled; all else is drawn subsets."""

    design: sp.Design
    shares: tuple[float, ...]
    people: int = 1000
    fractions: tuple[float, ...] = (1.0,)  # of equal strata of the population, in which shares differ


NEAR_0 = (0.9, 0.06, 0.03, 0.01)
SETTINGS = {
    "uniform, p = 4": Setting(sp.uniform(range(4)), (0.1, 0.2, 0.3, 0.4)),
    "uniform, p = 4, near 0": Setting(sp.uniform(range(4)), NEAR_0),
    "uniform, p = 4, at 0": Setting(sp.uniform(range(4)), (0.9, 0.1, 0, 0)),
    "warner": Setting(sp.warner(["no", "yes"], 0.25), (0.7, 0.3)),
    "warner, near 0": Setting(sp.warner(["no", "yes"], 0.25), (0.98, 0.02)),
    "partition in 3 groups, p = 6": Setting(sp.partition(range(6), groups=3), (0.3, 0.2, 0.2, 0.1, 0.1, 0.1)),
    "hadamard, p = 8": Setting(sp.hadamard(range(8)), tuple(np.arange(1, 9) / 36)),
    "strata of 10%, 50% and 100%": Setting(
        sp.uniform(range(4)), (0.1, 0.2, 0.3, 0.4), people=3000, fractions=(0.1, 0.5, 1.0)
    ),
    "half of everyone": Setting(sp.uniform(range(4)), (0.1, 0.2, 0.3, 0.4), people=2000, fractions=(0.5,)),
}


@frozen
class Performance:
    """Coverage of each number, the same if the population were taken for infinite, and error over deviation."""

    coverage: np.ndarray
    without: np.ndarray
    error_ratio: np.ndarray


def population(setting):
    """Return the values of everyone, with shares that are exact up to rounding, and their strata."""
    strata = np.arange(setting.people) * len(setting.fractions) // setting.people
    values = []
    for h in range(len(setting.fractions)):
        shares = np.roll(setting.shares, h)
        ends = np.round(np.cumsum(shares) * (strata == h).sum()).astype(int)
        values.append(np.repeat(np.arange(len(shares)), np.diff(ends, prepend=0)))
    return np.concatenate(values), strata


def shares(setting, samples, seed=7):
    """Return the performance of the default intervals of the shares of the population."""
    index, strata = population(setting)
    labels = np.array(setting.design.categories.labels)
    truth = np.bincount(index, minlength=len(labels)) / len(index)
    rng = np.random.default_rng(seed)
    found, without = [], []
    for _ in range(samples):
        rows = [rng.permutation(np.flatnonzero(strata == h)) for h in range(len(setting.fractions))]
        rows = [part[: round(f * len(part))] for part, f in zip(rows, setting.fractions, strict=True)]
        chosen = np.concatenate(rows)
        data = sp.privatize(labels[index[chosen]], setting.design, seed=rng)
        fraction = np.array(setting.fractions)[strata[chosen]]
        sampled = len(setting.fractions) > 1
        finite = sp.Sampling(1 / fraction, strata=strata[chosen], fpc=fraction) if sampled else None
        infinite = sp.Sampling(1 / fraction, strata=strata[chosen]) if sampled else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SubsetPrivacyWarning)
            fit = sp.estimate(data, sampling=finite or sp.Sampling(fpc=setting.fractions[0]))
            found.append((fit.w, fit.se, *fit.interval().T))
            without.append(sp.estimate(data, sampling=infinite).interval())
    return _performance(np.array(found), np.array(without), truth)


def models(samples, seed=8, people=2000):
    """Return the performance of means and slopes in a census of people, whose values and outcomes are fixed."""
    rng = np.random.default_rng(seed)
    labels, design = np.array(list("abcd")), sp.uniform(list("abcd"))
    x = rng.normal(size=people)
    U = np.stack([0 * x, 0.5 * x, 0.2 - 0.3 * x, np.full(people, -0.3)])
    index = (np.exp(U) / np.exp(U).sum(axis=0)).cumsum(axis=0)
    index = (rng.random(people) > index).sum(axis=0)
    y = np.array([0.0, 1.0, 0.5, -1.0])[index] + 0.5 * x + rng.normal(size=people)
    yes = (y > 0.3).astype(float)
    values = labels[index]
    # The maximum likelihood fit of subsets has as its limit that of everyone, privatized many times.
    times = 400
    many = sp.privatize(np.tile(values, times), design, seed=1)
    tables = {"x": x, "y": y, "yes": yes}
    calls = {
        "means by group": lambda data, **more: sp.group_means(tables["y"], data, **more),
        "means by group, normal model": lambda data, **more: sp.group_means(tables["y"], data, model="normal", **more),
        "private response": lambda data, **more: _response(data, tables, "ml", **more),
        "private response, corrected": lambda data, **more: _response(data, tables, "corrected", **more),
        "private predictor": lambda data, **more: _predictor(data, tables, "y", "corrected", **more),
        "private predictor, likelihood": lambda data, **more: _predictor(data, tables, "y", "ml", **more),
        "private predictor, logit": lambda data, **more: _predictor(data, tables, "yes", "corrected", **more),
    }
    found, without = ({name: [] for name in calls} for _ in range(2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        known = sp.privatize(values, sp.nonprivate(list(labels)), seed=1)
        exact = {name: _numbers(call(known))[0] for name, call in calls.items()}
        whole, tables = tables, {name: np.tile(column, times) for name, column in tables.items()}
        for name in ("means by group, normal model", "private response", "private predictor, likelihood"):
            exact[name] = _numbers(calls[name](many))[0]
        tables = whole
        for _ in range(samples):
            data = sp.privatize(values, design, seed=rng)
            for name, call in calls.items():
                found[name].append(_numbers(call(data, sampling=CENSUS)))
                without[name].append(_numbers(call(data))[2:])
    return {
        name: _performance(np.array(found[name]), np.moveaxis(np.array(without[name]), 1, 2), exact[name])
        for name in calls
    }


def _response(data, columns, method, **more):
    return sp.regress(data, {"x": columns["x"]}, method=method, baseline="a", starts=1, **more)


def _predictor(data, columns, outcome, method, **more):
    table = {"v": data.codes, "x": columns["x"], outcome: columns[outcome]}
    family = "logit" if outcome == "yes" else "linear"
    designs = {"v": data.design}
    return sp.regress(
        f"{outcome} ~ v + x",
        table,
        designs=designs,
        family=family,
        method=method,
        baseline={"v": "a"},
        starts=1,
        **more,
    )


def _numbers(fit):
    """Return estimates, standard errors and the ends of the default intervals."""
    estimate = fit.mean if hasattr(fit, "mean") else fit.estimates
    se = fit.se if hasattr(fit, "mean") else np.sqrt(fit.cov.diagonal())
    return np.stack([estimate, se, *fit.interval().T])


def _performance(found, without, truth):
    finite = np.isfinite(found).all(axis=(1, 2))
    estimate, se, low, high = np.moveaxis(found[finite], 1, 0)
    spread = np.subtract(*np.percentile(estimate, [75, 25], axis=0)) / 1.349
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.median(se, axis=0) / spread
    cover = ((low <= truth + 1e-12) & (truth - 1e-12 <= high)).mean(axis=0)
    wide = ((without[..., 0] <= truth + 1e-12) & (truth - 1e-12 <= without[..., 1]))[finite].mean(axis=0)
    return Performance(cover, wide, ratio)


def table(results):
    """Return performances by name as a table in Markdown."""
    lines = [
        "| population | coverage, each number | mean | standard error / deviation | mean without `fpc` |",
        "|---|---|---|---|---|",
    ]
    for name, found in results.items():
        each = ", ".join(f"{100 * share:.1f}" for share in found.coverage)
        usual = found.error_ratio[np.isfinite(found.error_ratio)]
        lines.append(
            f"| {name} | {each} | {100 * found.coverage.mean():.1f} | {usual.min():.2f}–{usual.max():.2f} | "
            f"{100 * found.without.mean():.1f} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    start = sys.argv[2] if len(sys.argv) > 2 else ""
    print(table({name: shares(each, count) for name, each in SETTINGS.items() if name.startswith(start)}), flush=True)
    if not start or "models".startswith(start):
        print("\n" + table(models(count)), flush=True)
