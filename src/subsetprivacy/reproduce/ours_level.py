"""How often tests reject independent variables, with shuffled tables and with limit distributions (`sec_2D`)."""

import numpy as np
from scipy.special import chdtrc
from scipy.stats import binom

from subsetprivacy._choices import IndependenceMethod
from subsetprivacy._types import FloatArray
from subsetprivacy.design import product, uniform
from subsetprivacy.draw import line_panels
from subsetprivacy.independence.testing import METHODS, independence_test
from subsetprivacy.mechanism.simulate import simulate
from subsetprivacy.reproduce.checks import MONTE_CARLO, Check, corrected, says, spread, stated
from subsetprivacy.reproduce.experiment import Experiment, ExperimentResult, Run
from subsetprivacy.reproduce.simulations import as_columns, share_error

ABOUT = """A test at the 5% level should reject independent variables in 5% of the samples. It should not reject more
often, nor much less often, because a test that hardly ever rejects finds nothing. Here the variables are independent,
with four categories each and uniform designs. The categories are equally likely, uneven (0.7, 0.2, 0.07, 0.03), or the
colors of the urn (0.01, 0.1, 0.2, 0.69).

The p-value comes either from shuffling one column of subsets against the other (99 times for each sample), which is
valid for any number of people and any distribution, or from the limit distribution of the statistic. The paper's
distribution of Pearson's statistic has s·r degrees of freedom and rejects almost never. After subtracting those of the
estimated margins it is correct. The distribution of the likelihood ratio holds inside the simplex only. With rare
categories it rejects too rarely, and 5000 people are not enough to fix that. Whiskers are two standard errors."""

MARGINS = {
    "equally likely": (0.25, 0.25, 0.25, 0.25),
    "uneven": (0.7, 0.2, 0.07, 0.03),
    "the urn": (0.01, 0.1, 0.2, 0.69),
}
PEOPLE, LEVEL, SHUFFLES = (300, 1000, 5000), 0.05, 99
LIMITS: tuple[IndependenceMethod, ...] = ("lrt", "pearson", "pearson-conditional", "bonferroni")
COLUMNS = (
    *(f"{m}, shuffled" for m in METHODS),
    *(f"{m}, asymptotic" for m in LIMITS),
    "pearson, asymptotic as printed",
)
CHANCE = 0.001  # of a false alarm
SHUFFLING = "“a practical way to control the Type-I error of the tests”: “we randomly shuffle the order”"
DRAWN = {
    "LRT, shuffled": "lrt, shuffled",
    "LRT, asymptotic": "lrt, asymptotic",
    "Pearson, shuffled": "pearson, shuffled",
    "Pearson, asymptotic": "pearson, asymptotic",
    "Pearson, as printed": "pearson, asymptotic as printed",
}


def rejections(rng: np.random.Generator, margin: str, n: int) -> list[bool]:
    """Tell for every test and every kind of p-value whether it rejects one table of independent variables."""
    design = uniform(range(4))
    w = np.array(MARGINS[margin])
    table = simulate(product({"x": design, "y": design}), np.outer(w, w[::-1]).ravel(), n, seed=rng)
    results = {method: independence_test(table, method, permutations=SHUFFLES, seed=rng) for method in METHODS}
    printed = float(chdtrc(len(design.support()[0]) ** 2, results["pearson"].statistic))
    pvalues = [*(results[m].pvalue for m in METHODS), *(results[m].asymptotic_pvalue for m in LIMITS), printed]
    return [pvalue <= LEVEL for pvalue in pvalues]


def perform(run: Run) -> ExperimentResult:
    """Count rejections in every setting."""
    settings = [(margin, n) for margin in MARGINS for n in PEOPLE]
    results = run.replicate(rejections, settings)
    rates = {name: np.array([values[:, j].mean() for values in results]) for j, name in enumerate(COLUMNS)}
    panels = {
        margin: {line: rates[name][3 * i : 3 * i + 3] for line, name in DRAWN.items()}
        for i, margin in enumerate(MARGINS)
    }
    figure = line_panels(
        PEOPLE,
        panels,
        errors={margin: {line: share_error(y, run.k) for line, y in part.items()} for margin, part in panels.items()},
        levels=[(LEVEL, "level")],
        within=(0, 1),
        apart=0.015,
        xlabel="people",
        ylabel="share of independent samples rejected",
        log="x",
    )
    rows = [(*setting, name, float(rates[name][i]), run.k) for i, setting in enumerate(settings) for name in COLUMNS]
    columns = ("margins", "n", "test", "rejected", "samples")
    table = as_columns(columns, rows)
    return ExperimentResult(claims(rates, run.k, run.quick), table, figure)


def claims(rates: dict[str, FloatArray], k: int, quick: bool) -> list[Check]:
    """Judge the rates over all settings together."""
    checks = [_held(f"{method}, shuffled", rates, k, SHUFFLING) for method in METHODS]
    checks += [_held("pearson, asymptotic", rates, k, within=0.015)]  # 300 people are not infinitely many
    checks += [_printed_degrees(rates, k, quick), _near_the_boundary(rates, k, quick)]
    for name in ("lrt, asymptotic", "pearson-conditional, asymptotic", "bonferroni, asymptotic"):
        every = rates[name]
        checks.append(stated(f"{name}: share rejected", f"{every.mean():.4f} on average, {_ends(every)}"))
    return checks


def _held(name: str, rates: dict[str, FloatArray], k: int, printed: str = "", within: float = 0.0) -> Check:
    """Check that a level is kept over all settings and not missed by far in any, at 0.001 by the binomial."""
    every = rates[name]
    low, high = LEVEL - within, LEVEL + within
    total = k * len(every)
    ends = binom.ppf(CHANCE / 4, total, low) / total, binom.isf(CHANCE / 4, total, high) / total
    most = binom.isf(CHANCE / 2 / len(every), k, high) / k
    true = bool(ends[0] <= every.mean() <= ends[1] and every.max() <= most)
    allowed = f" and {within:g}" if within else ""
    return says(
        f"{name}: the level of 5% is kept",
        printed or f"{LEVEL}",
        f"{spread(float(every.mean()), _mean_error(every, k))} on average, {_ends(every)}",
        true,
        f"{ends[0]:.4f} to {ends[1]:.4f} on average, none above {most:.3f} (chance{allowed}: one in 1000)",
        source="paper" if printed else "theory",
    )


def _printed_degrees(rates: dict[str, FloatArray], k: int, quick: bool) -> Check:
    every = rates["pearson, asymptotic as printed"]
    most = LEVEL * (0.8 if quick else 0.5)
    return corrected(
        "Pearson's statistic with s·r degrees of freedom rejects far too rarely",
        "“T_P asymptotically converges to χ²_{sr}”",
        f"{spread(float(every.mean()), _mean_error(every, k))} on average at nominal 0.05, {_ends(every)}",
        bool(every.mean() < most),
        f"below {most:g}",
        erratum="Pearson's test",
    )


def _near_the_boundary(rates: dict[str, FloatArray], k: int, quick: bool) -> Check:
    every = rates["lrt, asymptotic"][len(PEOPLE) :]
    least = 0.0 if quick else MONTE_CARLO
    error = float(np.sqrt(LEVEL * (1 - LEVEL) / (k * len(every))))
    return corrected(
        "the limit distribution of the likelihood ratio rejects too rarely where categories are rare",
        "“T_L converges to χ²_{(p−1)(q−1)} in distribution”",
        f"{spread(float(every.mean()), _mean_error(every, k))} on average at nominal 0.05, {_ends(every)}",
        bool(every.mean() < LEVEL - least * error),
        "below the level" + (f" by more than {least:g} standard errors" if least else ": the short form shows no more"),
        erratum="eq_LRT",
        how="true inside the simplex only",
    )


def _mean_error(every: FloatArray, k: int) -> float:
    return float(share_error(every.mean(), k * len(every)))


def _ends(every: FloatArray) -> str:
    return f"{every.min():.3f} to {every.max():.3f}"


EXPERIMENT = Experiment(
    "ours:level", "How often tests reject independent variables", ABOUT, perform, quick=40, full=400
)
