"""How often intervals and the comparison of regressions on private predictors keep their level.

python tests/support/predictor_coverage.py [replications] [first replication] [family] [categories]

prints a line for each setting. A seen v is standard normal, and the private value has logits that rise with v. The
linear outcome has category effects from 0 to 2, slope 0.5 and normal errors; the logit effects from 0 to 1; the Poisson
effects from 0 to 0.5. In the wrong model the private value depends on the square of v as well, errors of the linear
outcome are exponential, and counts are overdispersed; the coefficients of a fit to the values stay the same.
"""

import sys
import warnings

import numpy as np
from attrs import field, frozen
from scipy.special import expit

import subsetprivacy as sp
from subsetprivacy.estimation.indicator import IndicatorTable
from subsetprivacy.predictors import fitting
from subsetprivacy.predictors.comparison import comparison_statistic
from subsetprivacy.predictors.corrected import CorrectedObjective
from subsetprivacy.predictors.indicators import Indicators
from subsetprivacy.predictors.layout import ModelTerm, arrange
from subsetprivacy.predictors.outcome import fit_outcome
from subsetprivacy.predictors.people import CellPeople
from subsetprivacy.predictors.problem import OutcomeProblem
from subsetprivacy.regression.model_tests import ModelTests
from subsetprivacy.subsets import Categories

Z95 = 1.959963984540054
N = 2000
SCALE = {"linear": 2.0, "logit": 1.0, "poisson": 0.5}  # the largest effect of a category
SLOPE = {"linear": 0.5, "logit": 0.5, "poisson": 0.25}
LEVEL = {"linear": 0.0, "logit": -0.5, "poisson": 0.0}


def design_of(p):
    return sp.uniform(range(p)) if p > 3 else sp.fixed_size(range(p), 2)


def truth(p, family):
    """Return the coefficients: intercept, slope, effects of all categories but the first."""
    return np.concatenate([[LEVEL[family], SLOPE[family]], np.linspace(0, SCALE[family], p)[1:]])


def sample(p, family, seed, *, wrong=False, n=N):
    """Return seen v, private values and outcomes."""
    rng = np.random.default_rng(seed)
    v = rng.standard_normal(n)
    U = np.outer(np.linspace(0, 1, p), v)
    if wrong:
        U += 0.6 * np.outer(np.arange(p) % 2, v**2 - 1)
    P = np.exp(U)
    P /= P.sum(axis=0)
    x = (P.cumsum(axis=0) > rng.random(n)).argmax(axis=0)
    b = truth(p, family)
    eta = b[0] + b[1] * v + np.concatenate([[0], b[2:]])[x]
    if family == "linear":
        return v, x, eta + (rng.exponential(size=n) - 1 if wrong else rng.standard_normal(n))
    if family == "logit":
        return v, x, (rng.random(n) < expit(eta)).astype(float)
    return v, x, rng.poisson(np.exp(eta) * (rng.gamma(2, 0.5, n) if wrong else 1.0)).astype(float)


def layout_of(p):
    return arrange(
        ["Intercept", "v"],
        0,
        {"x": Categories(range(p))},
        {"x": 0},
        [ModelTerm("Intercept", (0,)), ModelTerm("v", (1,)), ModelTerm("x", (0,), ("x",))],
    )


class Labels:
    """The true values in the place of indicators."""

    def __init__(self, x, p):
        self.rows = np.eye(p)[:, x]

    def __call__(self, part):
        return self.rows[:, part]


@frozen
class Line:
    """What one setting gave: estimates and whether intervals held the truth, per replication."""

    p: int
    family: str
    wrong: bool
    corrected: list = field(factory=list)
    likelihood: list = field(factory=list)
    labels: list = field(factory=list)
    even: list = field(factory=list)
    held_corrected: list = field(factory=list)
    held_likelihood: list = field(factory=list)
    pvalues: list = field(factory=list)

    def share(self, held):
        return 100 * np.mean(held, axis=0)

    def ratio(self, estimates):
        return np.nanvar(estimates, axis=0) / np.var(self.labels, axis=0)


def one(line, r, n=N):
    """Add a replication to a line; return whether the corrected equations had a solution."""
    p, family = line.p, line.family
    v, x, y = sample(p, family, [p, r, int(line.wrong)], wrong=line.wrong, n=n)
    design, b = design_of(p), truth(p, family)
    V = np.column_stack([np.ones(n), v])
    people = CellPeople(V, y, sp.privatize(x, design, seed=r).codes, design, layout_of(p))
    problem = OutcomeProblem(people, family, "corrected", starts=1)
    made = fitting.fit_corrected(problem)
    if not made.solved:
        return False
    solved = {}
    for name, indicators in (
        ("labels", Labels(x, p)),
        ("even", Indicators(people, IndicatorTable(design, np.full(p, 1 / p)), None)),
    ):
        found = fitting.solve(CorrectedObjective(people, problem.atoms, problem.model, indicators))
        solved[name] = np.full(len(b), np.nan) if found is None else found.theta
    ml = fitting.fit_mixture(problem)
    objective = fitting.mixture_objective(problem)
    line.corrected.append(made.theta)
    line.labels.append(solved["labels"])
    line.even.append(solved["even"])
    line.likelihood.append(ml.theta)
    line.held_corrected.append(np.abs(made.theta - b) <= Z95 * np.sqrt(made.robust.diagonal()))
    if ml.observed is not None:
        line.held_likelihood.append(np.abs(ml.theta - b) <= Z95 * np.sqrt(ml.observed.diagonal()))
        test = comparison_statistic(objective, ml.parameters, frequency=True)
        line.pvalues.append(float(ModelTests.of_forms("", {"": test}, "score").pvalue[0]))
    return True


def measure(p, family, wrong, replications, first=0, n=N):
    line, unsolved = Line(p, family, wrong), 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for r in range(first, first + replications):
            unsolved += not one(line, r, n)
    return line, unsolved


def private_outcome(replications, first=0, n=N):
    """Return coverages of both methods where the outcome of the logit is private too, by Warner's design."""
    design, outcome, b = design_of(4), sp.warner(["no", "yes"], 0.8), truth(4, "logit")
    held, unsolved = {"corrected": [], "ml": []}, 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for r in range(first, first + replications):
            v, x, y = sample(4, "logit", [4, r, 0], n=n)
            codes = sp.privatize(x, design, seed=r).codes
            answers = sp.privatize(np.where(y == 1, "yes", "no"), outcome, seed=10**6 + r).codes
            V = np.column_stack([np.ones(n), v])
            for method, each in held.items():
                fit = fit_outcome(
                    "y",
                    answers,
                    V,
                    codes,
                    design,
                    layout_of(4),
                    family="logit",
                    method=method,
                    response_design=outcome,
                    starts=1,
                )
                if not fit.fit.solved:
                    unsolved += 1
                    continue
                each.append(np.abs(fit.coef[0] - b) <= Z95 * fit.se[0])
    return {method: 100 * np.mean(each, axis=0) for method, each in held.items()}, unsolved


def between(values, digits=1):
    return f"{np.min(values):.{digits}f} to {np.max(values):.{digits}f}"


def row(line, unsolved):
    """Return a line of the table."""
    held = np.concatenate([line.share(line.held_corrected)])
    likely = line.share(line.held_likelihood)
    rejected = 100 * np.mean(np.array(line.pvalues) < 0.05)
    c, m, e = (line.ratio(x) for x in (line.corrected, line.likelihood, line.even))
    return (
        f"| {line.family}, {'wrong' if line.wrong else 'right'} | {line.p} | {between(held)} | {between(likely)} | "
        f"{rejected:.1f} | {e[2:].mean():.1f} / {e[1]:.1f} | {c[2:].mean():.1f} / {c[1]:.1f} | "
        f"{m[2:].mean():.1f} / {m[1]:.1f} | {unsolved} | {len(line.corrected)} |"
    )


def main():
    replications = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    families = [sys.argv[3]] if len(sys.argv) > 3 else ["linear", "logit", "poisson"]
    sizes = [int(sys.argv[4])] if len(sys.argv) > 4 else [3, 4, 5, 8]
    print("| model | p | corrected | likelihood | rejected | even w | w(v, y) | likelihood | unsolved | samples |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for family in families:
        for p in sizes:
            for wrong in (False, True):
                print(row(*measure(p, family, wrong, replications, first)), flush=True)
    found, unsolved = private_outcome(replications, first)
    parts = [f"{method} {between(each)}" for method, each in found.items()]
    print(f"Private outcome by Warner's design, four categories: {', '.join(parts)}; unsolved {unsolved}.")


if __name__ == "__main__":
    main()
