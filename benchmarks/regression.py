"""Regression on subsets next to regression on labels, by statsmodels and scikit-learn; and the memory that it takes.

The peers fit the true values of the same people, which is an easier problem: their log-likelihood is concave.
"""

import one_thread  # noqa: F401  (before NumPy)

# isort: split
import resource
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen
from peers import Floats, Ints, Skip
from work import Timing, clock

import subsetprivacy as sp

PEOPLE = 32_561  # of the Adult data
_BLOCK = 1 << 14


# People -----------------------------------------------------------------------------------------


@frozen(eq=False)
class Sample:
    """Covariates without an intercept, values, and subsets of the values."""

    X: Floats
    y: Ints
    data: sp.SubsetData


@frozen
class Response:
    """A response like one of Adult's: shares of its categories, and the covariates that it depends on."""

    shares: tuple[float, ...]
    columns: tuple[str, ...]
    ordered: bool = False


_ALL = ("age", "years", "hours", "male", "rich", "white", "native")
RESPONSES = {
    "marital status": Response((0.460, 0.328, 0.136, 0.046, 0.030), _ALL),
    "race": Response((0.854, 0.096, 0.032, 0.010, 0.008), ("age", "years", "hours", "male", "rich", "native")),
    "education": Response(
        (0.322, 0.224, 0.164, 0.098, 0.076, 0.053, 0.038, 0.025), ("age", "hours", "male", "rich", "white", "native")
    ),
    "work class": Response(
        (0.740, 0.128, 0.079, 0.053), (*_ALL, "age squared", "office", "manual", "service", "sales", "technical")
    ),
    "high income": Response((0.759, 0.241), ("age", "years", "hours", "male", "white", "native")),
    "education, ordered": Response(
        (0.038, 0.076, 0.322, 0.224, 0.098, 0.164, 0.053, 0.025),
        ("age", "hours", "male", "rich", "white", "native"),
        ordered=True,
    ),
}


def covariates(rng: np.random.Generator) -> dict[str, Floats]:
    """Draw covariates with about the means, spreads and ties of Adult's, in its units."""
    n = PEOPLE
    age = np.clip(np.round(17 + rng.gamma(2.1, 10.3, n)), 17, 90)
    years = np.clip(np.round(10.1 + 2.6 * rng.standard_normal(n)), 1, 16)
    usual = rng.random(n) < 0.47
    hours = np.where(usual, 40, np.clip(np.round(40 + 14 * rng.standard_normal(n)), 1, 99))
    male = rng.random(n) < 0.67
    logit = -7.6 + 0.04 * age + 0.33 * years + 0.03 * hours + 0.8 * male - 0.001 * (age - 45) ** 2
    job = rng.choice(6, n, p=(0.2, 0.25, 0.15, 0.12, 0.08, 0.2))
    drawn = {
        "age": age,
        "years": years,
        "hours": hours,
        "male": male,
        "rich": rng.random(n) < 1 / (1 + np.exp(-logit)),
        "white": rng.random(n) < 0.854,
        "native": rng.random(n) < 0.896,
        "age squared": (age - 40) ** 2 / 100,
    }
    jobs = {name: job == k for k, name in enumerate(("office", "manual", "service", "sales", "technical"))}
    return {name: np.asarray(column, np.float64) for name, column in (drawn | jobs).items()}


@cache
def like_adult(name: str) -> Sample:
    """Draw a response from a logit model, with slopes of about 0.4 per standard deviation of a covariate."""
    response = RESPONSES[name]
    rng = np.random.default_rng(len(response.columns) + 100 * len(response.shares))
    drawn = covariates(rng)
    X = np.column_stack([drawn[column] for column in response.columns])
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    p = len(response.shares)
    if response.ordered:
        below = np.cumsum(response.shares)[:-1]
        latent = Z @ (0.4 * rng.standard_normal(Z.shape[1])) + rng.logistic(size=len(Z))
        y = (latent[:, None] > np.log(below / (1 - below))).sum(axis=1)
    else:
        y = _choose(np.log(response.shares) + Z @ (0.4 * rng.standard_normal((Z.shape[1], p))), rng)
    design = sp.warner(range(p), 0.75) if p == 2 else sp.uniform(range(p))
    return Sample(X, y, sp.privatize(y, design, seed=1))


def normal(n: int, d: int, p: int = 5) -> Sample:
    """Draw normal covariates and a response, with linear predictors of standard deviation 0.7."""
    rng = np.random.default_rng(d)
    X, y = np.empty((n, d)), np.empty(n, np.int64)
    B = 0.7 / np.sqrt(d) * rng.standard_normal((d, p))
    for start in range(0, n, _BLOCK):
        part = slice(start, start + _BLOCK)
        rng.standard_normal(out=X[part])
        y[part] = _choose(X[part] @ B, rng)
    return Sample(X, y, sp.privatize(y, sp.uniform(range(p)), seed=1))


def _choose(U: Floats, rng: np.random.Generator) -> Ints:
    """Draw a category for each row of linear predictors."""
    return np.asarray((U + rng.gumbel(size=U.shape)).argmax(axis=1), np.int64)


# Fits -------------------------------------------------------------------------------------------


def ours(sample: Sample, **options: Any) -> sp.Regression:
    fit = sp.regress(sample.data, sample.X, **options)
    assert np.isfinite(fit.se).any()
    return fit


def by_statsmodels(model: str, sample: Sample) -> Any:
    """Fit labels by Newton's method, as statsmodels does by default, with standard errors."""
    discrete = _module("statsmodels.api")
    X = discrete.add_constant(sample.X)
    fit = getattr(discrete, model)(sample.y, X).fit(disp=0, maxiter=100)
    assert np.isfinite(fit.bse).any()
    return fit


def by_ordered_model(sample: Sample) -> Any:
    """Fit ordered labels by BFGS, which statsmodels' pages use, with standard errors."""
    ordinal = _module("statsmodels.miscmodels.ordinal_model")
    fit = ordinal.OrderedModel(sample.y, sample.X, distr="logit").fit(method="bfgs", maxiter=500, disp=0)
    assert np.isfinite(fit.bse).any()
    return fit


def our_classifier(sample: Sample) -> Any:
    from subsetprivacy.learning import SubsetLogisticRegression

    return SubsetLogisticRegression(sample.data.design, ridge=1.0).fit(sample.X, sample.data.codes)


def by_scikit_learn(sample: Sample) -> Any:
    linear = _module("sklearn.linear_model")
    return linear.LogisticRegression(C=1.0, max_iter=1000).fit(sample.X, sample.y)


def _module(name: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError:
        raise Skip(f"{name} is not installed. Hint: pip install --group bench") from None


def _standardised(sample: Sample) -> Sample:
    return Sample((sample.X - sample.X.mean(axis=0)) / sample.X.std(axis=0), sample.y, sample.data)


# The rows of the table --------------------------------------------------------------------------


def against_statsmodels(name: str, rounds: int) -> Timing:
    """Time coefficients with standard errors, from a matrix of covariates to the last digit."""
    sample, response = like_adult(name), RESPONSES[name]
    if response.ordered:
        return _against(sample, partial(ours, family="ordinal"), by_ordered_model, rounds)
    model = "Logit" if len(response.shares) == 2 else "MNLogit"
    return _against(sample, ours, partial(by_statsmodels, model), rounds)


def ridge_against_scikit_learn(name: str, rounds: int) -> Timing:
    """Time the classifiers; columns are standardised, which helps scikit-learn and not us."""
    sample = _standardised(like_adult(name))
    timing = _against(sample, our_classifier, by_scikit_learn, rounds)
    whole = min(clock(partial(sp.regress, sample.data, sample.X, ridge=1.0)) for _ in range(rounds))
    remark = (
        f"tolerances are the defaults of both; regress with the same penalty, until 1e-8 of log-likelihood is left to "
        f"gain, takes {whole / timing.other:.2f} times the other's time"
    )
    return Timing(timing.ours, timing.other, timing.check, (*timing.remarks, remark))


def large_against_statsmodels(n: int, d: int, rounds: int) -> Timing:
    timing = _against(normal(n, d), ours, partial(by_statsmodels, "MNLogit"), _few(n, d, rounds))
    return Timing(timing.ours, timing.other, timing.check, (*timing.remarks, memory(n, d, "regress")))


def large_against_scikit_learn(n: int, d: int, rounds: int) -> Timing:
    timing = _against(normal(n, d), our_classifier, by_scikit_learn, _few(n, d, rounds))
    return Timing(timing.ours, timing.other, timing.check, (*timing.remarks, memory(n, d, "classifier")))


def _few(n: int, d: int, rounds: int) -> int:
    return rounds if n * d <= 10**7 else 1


def _against(sample: Sample, fit: Callable[[Sample], Any], peer: Callable[[Sample], Any], rounds: int) -> Timing:
    """Time both in turn; the ratio is that of the shortest times, which other work on the machine lengthens least."""
    peer(Sample(sample.X[:2000], sample.y[:2000], sample.data))  # warm: nobody's first import is timed
    times: tuple[list[float], list[float]] = ([], [])
    made: list[Any] = [None, None]
    for _ in range(rounds):
        for k, call in enumerate((fit, peer)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # whether they arrived is said in the notes
                times[k].append(clock(lambda call=call, k=k: made.__setitem__(k, call(sample))))
    return Timing(min(times[0]), min(times[1]), _check(*made), ("times are the shortest of all rounds",))


def _check(fit: Any, peer: Any) -> str:
    """Say how ours arrived, how many steps the peer took, and how far the two are apart."""
    if not isinstance(fit, sp.Regression):
        apart = np.abs(fit.coef_ - (peer.coef_ - peer.coef_.mean(axis=0))).max()
        return f"{int(np.max(fit.n_iter_))} iterations (ours), {int(np.max(peer.n_iter_))} (other); coefficients " + (
            f"differ by at most {apart:.2f}, since subsets say less than labels"
        )
    wider = np.median(np.asarray(fit.se)[np.isfinite(fit.se)]) / np.median(np.asarray(peer.bse))
    steps = peer.mle_retvals.get("iterations", "?")
    arrived = "arrived" if peer.mle_retvals["converged"] else "did not arrive"
    return (
        f"ours has {fit.gap:.0e} of log-likelihood left to gain; the other {arrived} in {steps} iterations; the median "
        f"standard error is {wider:.1f} times that on labels"
    )


# Memory -----------------------------------------------------------------------------------------


def memory(n: int, d: int, what: str) -> str:
    """Measure, in a process of its own, the peak of resident memory beyond the matrix of covariates."""
    if not Path("/proc/self/statm").exists():
        return "memory is measured under Linux only"
    command = [sys.executable, __file__, what, str(n), str(d)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    beyond, matrix = map(float, ran.stdout.split())
    if what == "regress":
        return (
            f"memory at its peak: {beyond - matrix:.0f} MB beyond the matrix with its intercept, which is made from "
            f"the {matrix:.0f} MB that were given"
        )
    return f"memory at its peak: {beyond:.0f} MB beyond the {matrix:.0f} MB that were given"


def _peak(what: str, n: int, d: int) -> None:
    """Print the peak of memory beyond what was there before, and the size of X, in MB."""
    fit: Callable[[Sample], Any] = ours if what == "regress" else our_classifier
    few = normal(5000, 3)
    fit(few)  # warm
    sample = normal(n, d)
    before = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize() / 1e6
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak begins here
    fit(sample)
    status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    peak = next(float(line.split()[1]) * 1024 / 1e6 for line in status if line.startswith("VmHWM"))
    print(peak - before, sample.X.nbytes / 1e6)


def main(arguments: Sequence[str]) -> None:
    what, n, d = arguments
    _peak(what, int(n), int(d))


if __name__ == "__main__":
    main(sys.argv[1:])
