"""How often regressions on private predictors refuse a coefficient, and what they give otherwise.

python tests/support/predictor_refusals.py [replications] [corrected or ml] [first replication]

prints a line for each family, number of people and kind of shares. A seen v is standard normal. The shares of the p
categories (3, 4 and 6) are even, or proportional to p + 1, p, ..., 2; the first category is the baseline. Effects of
the categories rise from 0 to 1 (linear, with errors of standard deviation 1, and logit) or to 0.5 (Poisson).
"""

import sys
import warnings

import numpy as np
from attrs import field, frozen
from predictor_coverage import design_of, layout_of
from scipy.special import expit

import subsetprivacy as sp
from subsetprivacy.predictors.outcome import fit_outcome

Z95 = 1.959963984540054
PEOPLE = (100, 150, 300, 600, 2000)
SIZES = (3, 4, 6)
FAMILIES = ("linear", "logit", "poisson")
LEVEL = {"linear": 0.0, "logit": -0.5, "poisson": 0.0}
SLOPE = {"linear": 0.5, "logit": 0.5, "poisson": 0.25}
LARGEST = {"linear": 1.0, "logit": 1.0, "poisson": 0.5}
FAR, VAGUE = 5.0, 3.0  # a coefficient and a standard error that no one can use
USABLE = 0.5  # the largest error and standard error of an estimate that a reader would want


def truth(p, family):
    """Return the coefficients: intercept, slope, effects of all categories but the first."""
    return np.r_[LEVEL[family], SLOPE[family], np.linspace(0, LARGEST[family], p)[1:]]


def people(p, family, n, seed, *, skewed):
    """Return outcomes, seen columns, codes and their design."""
    rng = np.random.default_rng([seed, n, p])
    shares = np.arange(p + 1.0, 1, -1) if skewed else np.ones(p)
    x = rng.choice(p, n, p=shares / shares.sum())
    v = rng.standard_normal(n)
    b, design = truth(p, family), design_of(p)
    eta = b[0] + b[1] * v + np.r_[0, b[2:]][x]
    if family == "linear":
        y = eta + rng.standard_normal(n)
    elif family == "logit":
        y = (rng.random(n) < expit(eta)).astype(float)
    else:
        y = rng.poisson(np.exp(eta)).astype(float)
    return y, np.column_stack([np.ones(n), v]), sp.privatize(x, design, seed=seed).codes, design


def fitted(p, family, n, seed, *, skewed, method="corrected"):
    """Return a fit and whether it warned of anything besides refused coefficients."""
    y, V, codes, design = people(p, family, n, seed, skewed=skewed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit = fit_outcome("y", y, V, codes, design, layout_of(p), family=family, method=method)
    return fit, len(caught) > bool(fit.rare)


def useless(estimates, se):
    """Return which finite estimates are too large, or have too large a standard error."""
    with np.errstate(invalid="ignore"):
        return np.isfinite(estimates) & ((np.abs(estimates) > FAR) | (se > VAGUE))


@frozen
class Line:
    """What one setting gave, by sample or by coefficient of all samples."""

    useless_before: list = field(factory=list)
    silent_before: list = field(factory=list)
    useless_after: list = field(factory=list)
    silent_after: list = field(factory=list)
    refused: list = field(factory=list)
    refused_usable: list = field(factory=list)
    held: list = field(factory=list)

    def add(self, fit, warned, b):
        size = len(b)
        bound = fit.fit.infinite == 0
        cov = fit.fit.robust if fit.problem.is_robust else fit.fit.observed
        se = np.full(size, np.nan) if cov is None else np.sqrt(np.maximum(cov.diagonal(), 0))
        before = useless(np.where(bound, fit.fit.theta, np.nan), np.where(bound, se, np.nan))
        after = useless(fit.estimates, fit._se("auto"))
        self.useless_before.append(before.any())
        self.silent_before.append(before.any() and not warned)
        self.useless_after.append(after.any())
        self.silent_after.append(after.any() and not warned and not fit.rare)
        with np.errstate(invalid="ignore"):
            error = np.abs(fit.fit.theta - b)
            usable = bound & (error <= USABLE) & (se <= USABLE)
        given = np.isfinite(fit._se("auto"))
        self.refused.extend(~given)
        self.refused_usable.extend(~given[usable])
        self.held.extend((error <= Z95 * se)[given])

    def row(self):
        before, silent, after, still, refused, usable, held = (
            100 * np.mean(each) if len(each) else np.nan
            for each in (
                self.useless_before,
                self.silent_before,
                self.useless_after,
                self.silent_after,
                self.refused,
                self.refused_usable,
                self.held,
            )
        )
        return (
            f"{before:.1f} | {silent:.1f} | {after:.1f} | {still:.1f} | {refused:.1f} | {usable:.1f} | {held:.1f} | "
            f"{len(self.useless_before)} |"
        )


def measure(family, n, *, skewed, replications, first=0, method="corrected", sizes=SIZES):
    line = Line()
    for p in sizes:
        for r in range(first, first + replications):
            line.add(*fitted(p, family, n, r, skewed=skewed, method=method), truth(p, family))
    return line


def main():
    replications = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    method = sys.argv[2] if len(sys.argv) > 2 else "corrected"
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    print(
        "| family | people | shares | before | silent | after | silent | refused | usable refused | covered | samples |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for family in FAMILIES:
        for n in PEOPLE:
            for skewed in (False, True):
                line = measure(family, n, skewed=skewed, replications=replications, first=first, method=method)
                print(f"| {family} | {n:,} | {'skewed' if skewed else 'even'} | {line.row()}", flush=True)


if __name__ == "__main__":
    main()
