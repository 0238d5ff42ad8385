"""Regression on a private predictor next to the same regression on its values, by statsmodels; and its memory."""

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
from peers import Floats, Ints
from regression import _module
from work import Timing, clock

import subsetprivacy as sp
from subsetprivacy.predictors.layout import ModelLayout, ModelTerm, arrange
from subsetprivacy.predictors.outcome import fit_outcome
from subsetprivacy.predictors.result import OutcomeRegression

N, P, D = 10**6, 5, 10
MODELS = {"linear": "OLS", "logit": "Logit"}


@frozen(eq=False)
class Sample:
    """Seen columns, the private values and subsets of them, and an outcome."""

    V: Floats
    x: Ints
    codes: Ints
    y: Floats
    design: Any
    layout: ModelLayout


@cache
def people(family: str, n: int = N) -> Sample:
    """Draw normal columns, a private value that depends on the first, and an outcome."""
    rng = np.random.default_rng(1)
    V = rng.standard_normal((n, D))
    V[:, 0] = 1
    U = np.outer(V[:, 1], np.linspace(0, 1, P)) + rng.gumbel(size=(n, P))
    x = U.argmax(axis=1)
    eta = V[:, 1:] @ np.full(D - 1, 0.1) + np.linspace(0, 1, P)[x]
    y = eta + rng.standard_normal(n) if family == "linear" else (eta - 0.5 + rng.logistic(size=n) > 0).astype(float)
    names = ["Intercept", *(f"v{k}" for k in range(1, D))]
    design = sp.uniform(range(P))
    terms = [*(ModelTerm(name, (k,)) for k, name in enumerate(names)), ModelTerm("x", (0,), ("x",))]
    layout = arrange(names, 0, {"x": design.categories}, {"x": 0}, terms)
    return Sample(V, x, sp.privatize(x, design, seed=1).codes, y, design, layout)


def ours(family: Any, sample: Sample) -> OutcomeRegression:
    """Fit corrected scores, with the sandwich."""
    fit = fit_outcome("y", sample.y, sample.V, sample.codes, sample.design, sample.layout, family=family)
    assert np.isfinite(fit.se).all()
    return fit


def by_statsmodels(family: str, sample: Sample, X: Floats) -> Any:
    """Fit the values, with the sandwich."""
    model = getattr(_module("statsmodels.api"), MODELS[family])(sample.y, X)
    fit = model.fit(cov_type="HC0") if family == "linear" else model.fit(cov_type="HC0", disp=0)
    assert np.isfinite(fit.bse).all()
    return fit


def against_statsmodels(family: str, rounds: int) -> Timing:
    """Time both in turn: from seen columns and subsets, or a matrix of values, to standard errors."""
    sample = people(family)
    X = sample.layout.expand(sample.V, sample.x)
    by_statsmodels(family, people(family, 5000), X[:5000])  # warm: nobody's first import is timed
    ours(family, people(family, 5000))
    times: tuple[list[float], list[float]] = ([], [])
    made: list[Any] = [None, None]
    calls: list[Callable[[], Any]] = [partial(ours, family, sample), partial(by_statsmodels, family, sample, X)]
    for _ in range(min(rounds, 3)):
        for k, call in enumerate(calls):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                times[k].append(clock(lambda call=call, k=k: made.__setitem__(k, call())))
    fit, peer = made
    wider = np.median(fit.se / np.asarray(peer.bse))
    away = np.abs(fit.coef - np.asarray(peer.params)) / fit.se
    check = f"the median standard error is {wider:.1f} times that on values; coefficients differ by at most " + (
        f"{away.max():.1f} standard errors"
    )
    return Timing(min(times[0]), min(times[1]), check, ("times are the shortest of all rounds", memory(family)))


def memory(family: str) -> str:
    """Measure, in a process of its own, the peak of resident memory beyond the data."""
    if not Path("/proc/self/statm").exists():
        return "memory is measured under Linux only"
    ran = subprocess.run([sys.executable, __file__, family], capture_output=True, text=True, check=True)
    beyond, data = map(float, ran.stdout.split())
    return f"memory at its peak: {beyond:.0f} MB beyond the {data:.0f} MB that were given"


def main(arguments: Sequence[str]) -> None:
    """Print the peak of memory beyond what was there before, and the size of the data, in MB."""
    (family,) = arguments
    ours(family, people(family, 5000))  # warm
    sample = people(family)
    before = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize() / 1e6
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak begins here
    ours(family, sample)
    status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    peak = next(float(line.split()[1]) * 1024 / 1e6 for line in status if line.startswith("VmHWM"))
    print(peak - before, (sample.V.nbytes + sample.codes.nbytes + sample.y.nbytes) / 1e6)


if __name__ == "__main__":
    main(sys.argv[1:])
