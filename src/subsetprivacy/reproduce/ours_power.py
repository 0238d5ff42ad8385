"""How often tests at 5% with shuffled tables find a dependence, and what privacy costs them (`subsec_indtest`)."""

import numpy as np

from subsetprivacy._types import FloatArray
from subsetprivacy.design import Design, product, uniform
from subsetprivacy.draw import power_curves
from subsetprivacy.independence.testing import METHODS, independence_test
from subsetprivacy.mechanism.simulate import simulate
from subsetprivacy.planning.dependence import independence_power
from subsetprivacy.planning.dependence_result import IndependencePower
from subsetprivacy.reproduce.auc import dependent
from subsetprivacy.reproduce.checks import MONTE_CARLO, Check, says, spread, stated
from subsetprivacy.reproduce.experiment import Experiment, ExperimentResult, Run
from subsetprivacy.reproduce.simulations import as_columns, random_design, random_distribution, share_error

ABOUT = """An area under a curve measures how well a test could do with the right threshold. In practice the threshold
is 5%, and the p-value must be valid at that level. Here it comes from 199 shuffled tables for each sample. The
dependence is that of the paper, W proportional to w_X w_Y' + 0.05 I, with four categories each and 2000 people. Margins
and designs are drawn at random as in the paper, or the categories are equally likely and the designs uniform.

The figure is for the second case. Balls are the simulated power of five tests (moments slightly to the right), with
whiskers of two standard errors. Lines are the power that limit distributions predict for other numbers of people. PT:X
is Pearson's test of the values themselves, which are not available when subsets are used. The distance to its line is
the price of privacy: nine times as many people with yes/no questions for both variables, because each variable alone
costs p - 1 = 3."""

P, N, RHO, LEVEL, SHUFFLES = 4, 2000, 0.05, 0.05, 199
RANDOM, EVEN = "random margins and designs", "equally likely, uniform designs"
CASES = (RANDOM, EVEN)
ASIDE = 1.07  # horizontal offset of moments, to be visible next to maxima
ROUGH = 0.01  # of power: how far the limit distribution may be off with 2000 people


def decisions(rng: np.random.Generator, case: str) -> list[bool]:
    """Tell for every test whether it finds the dependence in one sample."""
    W, first, second = problem(rng, case)
    table = simulate(product({"x": first, "y": second}), W.ravel(), N, seed=rng)
    return [independence_test(table, m, permutations=SHUFFLES, seed=rng).pvalue <= LEVEL for m in METHODS]


def problem(rng: np.random.Generator, case: str) -> tuple[FloatArray, Design, Design]:
    """Return the joint distribution and both designs."""
    if case == EVEN:
        even = np.full(P, 1 / P)
        return dependent(even, even, RHO), uniform(range(P)), uniform(range(P))
    W = dependent(random_distribution(rng, P), random_distribution(rng, P), RHO)
    return W, random_design(rng, P), random_design(rng, P)


def perform(run: Run) -> ExperimentResult:
    """Simulate both cases, and work out the people for a power of 80% by the limit distributions."""
    results = dict(zip(CASES, run.replicate(decisions, [(case,) for case in CASES]), strict=True))
    W, first, second = problem(run.rng(), EVEN)
    here = independence_power((first, second), W, N, compare=True)
    wanted = independence_power((first, second), W, target=0.8, compare=True)
    powers = {
        case: (values.mean(axis=0), share_error(values.mean(axis=0), len(values))) for case, values in results.items()
    }
    checks = [_powers(case, *powers[case]) for case in CASES]
    checks += [check for case, values in results.items() for check in _orderings(case, values, run.quick)]
    checks += [*_limits(here, *powers[EVEN]), *_price(wanted)]
    columns = ("case", "test", "n", "power", "error")
    rows = [
        (case, test, N, float(power[j]), float(error[j]))
        for case, (power, error) in powers.items()
        for j, test in enumerate(METHODS)
    ]
    table = as_columns(columns, rows)
    return ExperimentResult(checks, table, _draw(wanted, *powers[EVEN]))


def _powers(case: str, power: FloatArray, error: FloatArray) -> Check:
    """State the power of every test."""
    texts = (f"{test} {spread(float(power[j]), float(error[j]), 3)}" for j, test in enumerate(METHODS))
    return stated(f"power, {case}", ", ".join(texts))


def _orderings(case: str, values: FloatArray, quick: bool) -> list[Check]:
    """Check on the same samples which test finds more; the short form can only refute."""
    others = [other for other in METHODS if other not in ("lrt", "lrt-mom")]
    least = -MONTE_CARLO if quick else MONTE_CARLO
    return [
        _ahead(case, values, "lrt", "lrt-mom", -MONTE_CARLO),  # no more is claimed: they may be alike
        *(_ahead(case, values, "lrt", other, least) for other in others),
        _ahead(case, values, "pearson-conditional", "pearson", min(least, 0.0)),  # of three or four standard errors
    ]


def _ahead(case: str, values: FloatArray, first: str, other: str, least: float) -> Check:
    """Check that one test finds more than another, by so many standard errors; below 0, that it finds no less."""
    lead = values[:, METHODS.index(first)] - values[:, METHODS.index(other)]
    mean, error = float(lead.mean()), max(float(lead.std(ddof=1)), 1 / len(lead)) / len(lead) ** 0.5
    how = f"ahead by more than {least:g} standard errors" if least else "ahead at all"
    if least < 0:
        how = f"behind by no more than {-least:g} standard errors"
    return says(
        f"{first} finds {'no less' if least < 0 else 'more'} than {other}, {case}",
        "",
        f"ahead by {spread(mean, error)}",
        mean > least * error,
        f"{how}, in the same samples",
        source="ours",
    )


def _limits(here: IndependencePower, power: FloatArray, error: FloatArray) -> list[Check]:
    """Compare the simulated power of the likelihood ratio with its limit distribution, and state that of Pearson's."""
    law = {test: here.comparison[test].limit_power for test in ("lrt", "pearson-conditional", "pearson")}
    at = METHODS.index("lrt")
    rest = ", ".join(f"{test} {value:.3f}" for test, value in law.items() if test != "lrt")
    return [
        says(
            f"power of lrt by its limit distribution, {EVEN}",
            f"{law['lrt']:.4f}",
            spread(float(power[at]), float(error[at])),
            bool(abs(power[at] - law["lrt"]) <= ROUGH + MONTE_CARLO * error[at]),
            f"three standard errors, and {ROUGH} since {N} people are not infinitely many",
            source="theory",
        ),
        stated(f"power by the limit distributions, {EVEN}", rest),
    ]


def _price(wanted: IndependencePower) -> list[Check]:
    """Check what privacy costs: (p - 1) times (q - 1) of asking directly, at equally likely categories."""
    people = {name: test.n for name, test in wanted.comparison.items() if np.isfinite(test.power)}
    price = wanted.test.price
    return [
        says(
            "the likelihood ratio needs (p − 1)(q − 1) times the people of a test of the values",
            f"{(P - 1) ** 2}",
            f"{price:.2f} ({people['lrt']} against {people['PT:X']}, for a power of 80%)",
            abs(price - (P - 1) ** 2) <= 0.1,
            "± 0.1",
            source="theory",
        ),
        stated(
            "people for a power of 80%, by limit distributions", ", ".join(f"{name} {n}" for name, n in people.items())
        ),
    ]


def _draw(wanted: IndependencePower, power: FloatArray, error: FloatArray) -> object:
    """Draw the limit distributions against people, and the simulated power of every test."""
    people = np.geomspace(50, 10_000, 200)
    axes = power_curves(
        people,
        {name: test.limit.power(people, LEVEL) for name, test in wanted.comparison.items() if test.limit},
        points={
            test: (N * (ASIDE if test == "lrt-mom" else 1), float(power[j]), float(error[j]))
            for j, test in enumerate(METHODS)
        },
        alpha=LEVEL,
        target=wanted.target,
    )
    return axes.figure


EXPERIMENT = Experiment("ours:power", "How often tests find a dependence", ABOUT, perform, quick=60, full=1000)
