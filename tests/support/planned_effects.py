"""Whether plans of effects hold: simulated surveys of the planned size. Run as a script it prints the table.

python tests/support/planned_effects.py [replications] [first letters of the settings to run]

For each setting the people for a power of 0.8 are worked out, and as many are simulated, asked and fitted. The planned
standard error is compared with the standard deviation of the estimates, and the planned power with how often the test
of the fit rejects.
"""

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from attrs import frozen
from scipy.special import expit, logit, ndtri

import subsetprivacy as sp
from subsetprivacy.planning.populations import Nodes, cut_points, logit_intercepts

UNIFORM = sp.uniform(list("abcd"))
PAIRS = sp.fixed_size(list("abc"), 2)
SIX = sp.partition(list("abcdef"), groups=3)
WARNER = sp.warner(["no", "yes"])
FIVE = sp.uniform(list("abcde"))
W4, W3, W6, W5 = (0.4, 0.3, 0.2, 0.1), (0.5, 0.3, 0.2), (0.25, 0.2, 0.2, 0.15, 0.1, 0.1), (0.3, 0.25, 0.2, 0.15, 0.1)


@frozen
class Setting:
    """A plan, and a survey of its size: from a seed to the estimate and its standard error."""

    plan: sp.EffectPower
    survey: Callable[[int], tuple[float, float]]


@frozen
class Held:
    """What came of simulated surveys.

    Attributes
    ----------
    used
        The samples that have an estimate.
    ratio
        The standard deviation of the estimates over the planned standard error.
    power
        How often the test rejects.
    """

    used: int
    ratio: float
    power: float


def response(design, w, category, baseline, ratio, *, share=None, ordinal=False):
    """Return a setting with a private response."""
    family = "ordinal" if ordinal else "logit"
    options = {} if ordinal else {"category": category, "baseline": baseline}
    plan = sp.response_power(design, w, odds_ratio=ratio, share=share, family=family, target=0.8, **options)
    labels = list(design.categories.labels)
    x = Nodes.normal(1.0) if share is None else Nodes.binary(share)
    slopes = np.log(ratio) * (np.array(labels) == category)
    a = None if ordinal else logit_intercepts(np.array(w), slopes, x)
    cuts = cut_points(np.array(w), np.log(ratio), x) if ordinal else None

    def survey(seed):
        rng = np.random.default_rng(seed)
        v = rng.standard_normal(plan.n) if share is None else (rng.random(plan.n) < share).astype(float)
        if cuts is not None:
            values = (rng.random(plan.n) > expit(cuts[:, None] - np.log(ratio) * v)).sum(axis=0)
        else:
            P = np.exp(a[:, None] + slopes[:, None] * v)
            values = (P.cumsum(axis=0) > rng.random(plan.n) * P.sum(axis=0)).argmax(axis=0)
        data = sp.privatize(np.array(labels)[values], design, seed=seed)
        fit = sp.regress(data, {"v": v}, family=family, **({} if ordinal else {"baseline": baseline}))
        at = len(fit.estimates) - 1 if ordinal else fit.labels.index((category, "v"))
        return fit.estimates[at], np.sqrt(fit.cov[at, at])

    return Setting(plan, survey)


def outcomes(family, eta, values, rng):
    """Return outcomes of people."""
    u = eta[values]
    if family == "linear":
        return u + rng.standard_normal(len(values))
    if family == "logit":
        return (rng.random(len(values)) < expit(u)).astype(float)
    return rng.poisson(np.exp(u)).astype(float)


def predictor(design, w, category, baseline, family, effect, *, method="corrected", mean=None):
    """Return a setting with a private predictor."""
    form = {"linear": "difference", "logit": "odds_ratio", "poisson": "rate_ratio"}[family]
    named = {"category": category, "baseline": baseline, form: effect}
    plan = sp.predictor_power(design, w, family=family, mean=mean, method=method, target=0.8, **named)
    labels = list(design.categories.labels)
    start = {"linear": 0.0, "logit": logit(mean or 0.5), "poisson": np.log(mean or 1.0)}[family]
    eta = start + (effect if family == "linear" else np.log(effect)) * (np.array(labels) == category)

    def survey(seed):
        rng = np.random.default_rng(seed)
        values = rng.choice(len(w), plan.n, p=w)
        codes = sp.privatize(np.array(labels)[values], design, seed=seed).codes
        table = pd.DataFrame({"y": outcomes(family, eta, values, rng), "x": codes})
        fit = sp.regress("y ~ x", table, designs={"x": design}, family=family, method=method, baseline={"x": baseline})
        frame = fit.to_frame().set_index("term").loc[f"x[{category}]"]
        return float(frame["estimate"]), float(frame["se"])

    return Setting(plan, survey)


def means(design, w, groups, difference, *, sd=1.0):
    """Return a setting of two group means."""
    plan = sp.means_power(design, w, groups=groups, difference=difference, sd=sd, target=0.8)
    labels = list(design.categories.labels)
    spread = np.array([sd[label] for label in labels]) if isinstance(sd, dict) else np.full(len(labels), sd)
    mean = difference * (np.array(labels) == groups[0])

    def survey(seed):
        rng = np.random.default_rng(seed)
        values = rng.choice(len(w), plan.n, p=w)
        y = mean[values] + spread[values] * rng.standard_normal(plan.n)
        found = sp.group_means(y, sp.privatize(np.array(labels)[values], design, seed=seed))
        return difference_of(found, labels, groups)

    return Setting(plan, survey)


def difference_of(found: Any, labels: list, groups: tuple) -> tuple[float, float]:
    """Return the difference of two means and its standard error."""
    c = np.zeros(len(labels))
    c[labels.index(groups[0])], c[labels.index(groups[1])] = 1.0, -1.0
    return float(c @ found.mean), float(np.sqrt(c @ found.cov @ c))


SETTINGS: dict[str, Callable[[], Setting]] = {
    "response, warner, p = 2": lambda: response(WARNER, (0.7, 0.3), "yes", "no", 1.6),
    "response, pairs, p = 3": lambda: response(PAIRS, W3, "c", "a", 1.5),
    "response, uniform, p = 4": lambda: response(UNIFORM, W4, "c", "a", 1.4),
    "response, uniform, p = 4, covariate of 0 and 1": lambda: response(UNIFORM, W4, "c", "a", 1.7, share=0.3),
    "response, partition, p = 6": lambda: response(SIX, W6, "d", "a", 1.5),
    "response, ordered, uniform, p = 5": lambda: response(FIVE, W5, None, None, 1.2, ordinal=True),
    "predictor, linear, pairs, p = 3": lambda: predictor(PAIRS, W3, "c", "a", "linear", 0.3),
    "predictor, linear, uniform, p = 4": lambda: predictor(UNIFORM, W4, "c", "a", "linear", 0.3),
    "predictor, linear, ml, uniform, p = 4": lambda: predictor(UNIFORM, W4, "c", "a", "linear", 0.3, method="ml"),
    "predictor, logit, uniform, p = 4": lambda: predictor(UNIFORM, W4, "c", "a", "logit", 1.8, mean=0.3),
    "predictor, logit, ml, uniform, p = 4": lambda: predictor(
        UNIFORM, W4, "c", "a", "logit", 1.8, mean=0.3, method="ml"
    ),
    "predictor, poisson, partition, p = 6": lambda: predictor(SIX, W6, "d", "a", "poisson", 1.3, mean=2.0),
    "predictor, poisson, ml, uniform, p = 4": lambda: predictor(
        UNIFORM, W4, "c", "a", "poisson", 1.3, mean=2.0, method="ml"
    ),
    "means, warner, p = 2": lambda: means(WARNER, (0.7, 0.3), ("yes", "no"), 0.4),
    "means, uniform, p = 4": lambda: means(UNIFORM, W4, ("c", "a"), 0.3),
    "means, partition, p = 6, two spreads": lambda: means(
        SIX, W6, ("d", "a"), 0.6, sd={"a": 1.0, "b": 1.0, "c": 1.0, "d": 2.0, "e": 2.0, "f": 2.0}
    ),
}


def simulate(name, replications, *, seed=1):
    """Return the plan of a setting, and what came of surveys of its size."""
    setting = SETTINGS[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sp.errors.SubsetPrivacyWarning)
        found = [setting.survey(seed * 1_000_000 + k) for k in range(replications)]
    estimates, errors = np.array(found).T
    kept = np.isfinite(estimates) & np.isfinite(errors)
    estimates, errors = estimates[kept], errors[kept]
    rejected = np.abs(estimates) > ndtri(1 - setting.plan.alpha / 2) * errors
    return setting.plan, Held(int(kept.sum()), float(estimates.std(ddof=1) / setting.plan.se), float(rejected.mean()))


def main(replications=1000, letters=""):
    print("| plan | people | asked directly | samples | planned se | sd over se | planned power | rejected |")
    print("|---|---|---|---|---|---|---|---|")
    for name in SETTINGS:
        if name.startswith(letters):
            plan, held = simulate(name, replications)
            cells = [f"{plan.n}", f"{plan.direct}", f"{held.used}", f"{plan.se:.4f}", f"{held.ratio:.3f}"]
            print(f"| {name} | {' | '.join(cells)} | {plan.power:.3f} | {held.power:.3f} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000, sys.argv[2] if len(sys.argv) > 2 else "")
