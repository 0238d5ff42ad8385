"""How often 95% intervals of pooled fits hold the truth. Run as a script it prints the tables.

python tests/support/imputation_coverage.py [replications] [first letters of the settings to run]

A private race X depends on a seen v; the outcome y on both: y = effect of X + 0.6 v + normal error, or, for a yes or no
outcome, on X alone. Then X given y and v is a logit in both, which is what a regression of race on y and v fits: the
imputation model holds what the analysis asks. It does not where race is imputed without y.
"""

import sys
import warnings

import numpy as np
from attrs import frozen
from scipy.special import expit

import subsetprivacy as sp

M = 20
SLOPE = 0.6
DESIGNS = {
    "warner, p = 2": lambda: sp.warner(range(2)),
    "pairs, p = 3": lambda: sp.fixed_size(range(3), 2),
    "uniform, p = 4": lambda: sp.uniform(range(4)),
    "uniform, p = 5": lambda: sp.uniform(range(5)),
    "partition in 3 groups, p = 6": lambda: sp.partition(range(6), groups=3),
}
NEAR_ZERO = (0.9, 0.06, 0.03, 0.01)


@frozen
class Coverage:
    """What was found in the samples whose imputation model has finite coefficients, per parameter.

    Attributes
    ----------
    used
        The number of samples.
    covered
        How often the intervals hold the truth.
    bias
        The mean error, in standard deviations of the estimate.
    ratio
        The mean pooled standard error over the standard deviation of the estimates.
    missing
        The mean fraction of missing information.
    """

    used: int
    covered: np.ndarray
    bias: np.ndarray
    ratio: np.ndarray
    missing: np.ndarray


def effects(p):
    """Return the effect of each race on the outcome."""
    return np.linspace(0, 1.0, p) * np.where(np.arange(p) % 2, 1, -1)


def people(p, n, rng, *, binary=False):
    """Return the values, v and the outcome."""
    v = rng.standard_normal(n)
    U = np.outer(np.linspace(0, 0.6, p), v) * (not binary)
    P = np.exp(U)
    P /= P.sum(axis=0)
    x = (P.cumsum(axis=0) > rng.random(n)).argmax(axis=0)
    if binary:
        return x, v, (rng.random(n) < expit(effects(p)[x])).astype(float)
    return x, v, effects(p)[x] + SLOPE * v + rng.standard_normal(n)


def least_squares(y, X):
    """Return the estimates of ordinary least squares and their covariance."""
    inverse = np.linalg.inv(X.T @ X)
    b = inverse @ (X.T @ y)
    rest = y - X @ b
    return b, inverse * (rest @ rest) / (len(y) - X.shape[1])


def log_odds(y, x, p):
    """Return the log odds of each race less those of the first, the coefficients of a logistic regression."""
    yes, people = np.bincount(x, y, minlength=p), np.bincount(x, minlength=p)
    no = people - yes
    u = np.log(yes / no)
    V = np.diag(1 / yes + 1 / no)
    C = np.column_stack([-np.ones(p - 1), np.eye(p - 1)])
    return C @ u, C @ V @ C.T


def given(kind, data, v, y):
    """Return the imputation model: with all that the analysis uses, without the outcome, or without anything."""
    if kind == "nothing":
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sp.errors.SubsetPrivacyWarning)
        columns = {"y": y} if kind == "y" else {"v": v} if kind == "v" else {"y": y, "v": v}
        return sp.regress(data, columns, baseline=0)


def one(design, n, seed, kind, *, binary=False, m=M):
    """Return estimates, standard errors, intervals and missing information of one sample; None where separated."""
    rng = np.random.default_rng(seed)
    p = design.p
    x, v, y = people(p, n, rng, binary=binary)
    data = sp.privatize(x, design, seed=seed)
    fit = given(kind, data, v, y)
    if fit is not None and (fit.separated or not np.isfinite(fit.cov).all()):
        return None
    imputed = sp.impute(data, m, fit, seed=rng)
    fits = []
    for values in imputed.values:
        if binary:
            fits.append(log_odds(y, values, p))
        else:
            dummies = (values[:, None] == np.arange(1, p)).astype(float)
            fits.append(least_squares(y, np.column_stack([dummies, v, np.ones(n)])))
    pooled = sp.pool(fits)
    return pooled.estimates, pooled.se, pooled.interval(), pooled.missing


def coverage(name, n, replications, kind="all", *, binary=False, seed=1):
    """Return the coverage of race's coefficients, and of v's where it is in the model."""
    design = DESIGNS[name]()
    a = effects(design.p)
    truth = a[1:] - a[0] if binary else np.append(a[1:] - a[0], SLOPE)
    found = [one(design, n, seed * 1_000_000 + k, kind, binary=binary) for k in range(replications)]
    return _summed([each for each in found if each is not None], truth)


def shares(design, w, n, replications, *, seed=2, m=M):
    """Return the coverage of pooled shares, imputed from the estimated distribution."""
    found = []
    for k in range(replications):
        rng = np.random.default_rng(seed * 1_000_000 + k)
        data = sp.privatize(rng.choice(len(w), n, p=w), design, seed=seed * 1_000_000 + k)
        pooled = sp.impute(data, m, seed=rng).shares
        found.append((pooled.estimates, pooled.se, pooled.interval(), pooled.missing))
    return _summed(found, np.asarray(w))


def _summed(found, truth):
    estimates, se, ends, missing = (np.array(each) for each in zip(*found, strict=True))
    k = len(truth)
    estimates, se, ends, missing = estimates[:, :k], se[:, :k], ends[:, :k], missing[:, :k]
    spread = estimates.std(axis=0, ddof=1)
    return Coverage(
        len(found),
        ((ends[..., 0] <= truth) & (truth <= ends[..., 1])).mean(axis=0),
        (estimates.mean(axis=0) - truth) / spread,
        se.mean(axis=0) / spread,
        missing.mean(axis=0),
    )


def _printed(label, found):
    cells = [", ".join(f"{100 * each:.1f}" for each in found.covered)]
    cells += [", ".join(f"{each:.2f}" for each in values) for values in (found.bias, found.ratio, found.missing)]
    print(f"| {label} | {found.used} | {' | '.join(cells)} |", flush=True)


def main(replications=1000, letters=""):
    print("| setting | samples | coverage | bias / SD | SE / SD | missing information |\n|---|---|---|---|---|---|")
    for name in DESIGNS:
        if "congenial".startswith(letters[:9]):
            _printed(f"congenial, {name}", coverage(name, 2000, replications))
    if "yes/no".startswith(letters[:6]):
        _printed("yes/no outcome, uniform, p = 4", coverage("uniform, p = 4", 2000, replications, "y", binary=True))
    if "without".startswith(letters[:7]):
        for kind, label in (("v", "given v only"), ("nothing", "given nothing")):
            _printed(
                f"without the outcome, {label}, uniform, p = 4", coverage("uniform, p = 4", 2000, replications, kind)
            )
    if "shares".startswith(letters[:6]):
        uniform = sp.uniform(range(4))
        _printed("shares 0.1 to 0.4, n = 300", shares(uniform, (0.1, 0.2, 0.3, 0.4), 300, replications))
        _printed("shares near 0, n = 300", shares(uniform, NEAR_ZERO, 300, replications))
        _printed("shares near 0, n = 2000", shares(uniform, NEAR_ZERO, 2000, replications))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000, sys.argv[2] if len(sys.argv) > 2 else "")
