"""Shared code of the ROC-AUC figures: p-values of one sample, the area and its error, the claims (`subsec_indtest`)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import frozen
from scipy.special import chdtrc

from subsetprivacy._choices import DegreesOfFreedom, IndependenceMethod
from subsetprivacy._types import FloatArray
from subsetprivacy.design import product
from subsetprivacy.draw import line_panels
from subsetprivacy.independence.crossing import Crossing, cross
from subsetprivacy.independence.degrees import degrees
from subsetprivacy.independence.statistics import STATISTICS
from subsetprivacy.independence.testing import read_table
from subsetprivacy.mechanism.simulate import simulate
from subsetprivacy.reproduce.checks import MONTE_CARLO, Check, says, spread, stated
from subsetprivacy.reproduce.experiment import Run
from subsetprivacy.reproduce.simulations import as_columns, random_design, random_distribution

# By the paper's names: the method here, and whose degrees of freedom.
TESTS: dict[str, tuple[IndependenceMethod, DegreesOfFreedom]] = {
    "LRT:MLE": ("lrt", "corrected"),
    "LRT:MoM": ("lrt-mom", "corrected"),
    "Bon": ("bonferroni", "corrected"),
    "Pearson": ("pearson", "paper"),
    "Pearson given the questions": ("pearson-conditional", "corrected"),
}
PAPER = tuple(TESTS)[:4]
LEAST = 0.01  # of an area: where all are near 1, three standard errors are next to nothing
APART = 0.012  # of a picture's width, between the lines
STEP = 4.0  # standard errors, of which there are several on the way
SIMILAR = 0.02  # of an area: what the paper's figures do not show

TENDS = """“For all the tests, the AUC score tends to decrease if p increases, n decreases, or ρ (dependence) decreases,
with other factors fixed”""".replace("\n", " ")
OUTPERFORM = "“the LRT:MLE and LRT:MoM outperform the Pearson and Bon tests”"
ALIKE = "“LRT:MoM has similar AUC scores compared with LRT:MLE”"

HOW = """In half of the replications X and Y are independent. In the other half their joint distribution is proportional
to w_X w_Y' + rho I, which puts more people on the diagonal. Both margins and both designs are drawn again each time.
The area under the ROC curve is the probability that a test's p-value is smaller in a dependent sample than in an
independent one: 1/2 is guessing, 1 is perfect. P-values come from the limit distributions, as in the paper (Pearson
with s·r degrees of freedom, moments with the distribution of the likelihood ratio). An area depends only on their
order, so it does not show that some of these distributions are wrong. Whiskers are two standard errors (DeLong)."""


# One sample -----------------------------------------------------------------------------------


def dependent(w_x: FloatArray, w_y: FloatArray, rho: float) -> FloatArray:
    """Return the joint distribution W proportional to w_X w_Y' + rho I; with rho = 0 the variables are independent."""
    W = np.outer(w_x, w_y) + rho * np.eye(len(w_x))
    return np.asarray(W / W.sum())


def random_crossing(rng: np.random.Generator, p: int, n: int, rho: float) -> Crossing:
    """Draw margins and a product design, then n people, and count their pairs of subsets."""
    W = dependent(random_distribution(rng, p), random_distribution(rng, p), rho)
    both = product({"x": random_design(rng, p), "y": random_design(rng, p)})
    return cross(read_table(simulate(both, W.ravel(), n, seed=rng)))


def limit_pvalue(crossing: Crossing, method: IndependenceMethod, df: DegreesOfFreedom = "corrected") -> float:
    """Return the p-value as in the paper, from the limit distribution. Moments use that of the likelihood ratio.

    Bonferroni's is the smallest of the 2 x 2 tables times pq. It is not capped at 1, because many would then tie.
    """
    statistic = float(STATISTICS[method](crossing.layout, crossing.counts[None, :])[0])
    pairs = crossing.first.design.p * crossing.second.design.p if method == "bonferroni" else 1
    return pairs * float(chdtrc(degrees(crossing, method, df), max(statistic, 0.0)))


def pvalues(rng: np.random.Generator, p: int, n: int, rho: float) -> list[float]:
    """Return the p-values of all tests, first in an independent sample, then in a dependent one."""
    samples = [random_crossing(rng, p, n, strength) for strength in (0.0, rho)]
    return [limit_pvalue(sample, method, df) for sample in samples for method, df in TESTS.values()]


# The area -------------------------------------------------------------------------------------


def roc_areas(independent: FloatArray, dependent: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the areas under the ROC curves of several tests on the same samples, and their covariance (DeLong 1988).

    Parameters
    ----------
    independent, dependent : ndarray, shape (samples, tests)
        P-values. A pair of samples counts 1 where the dependent one has the smaller p-value, 1/2 where they tie.
    """
    ahead = np.sign(independent[None, :, :] - dependent[:, None, :]) / 2 + 0.5
    of_dependent, of_independent = ahead.mean(axis=1), ahead.mean(axis=0)
    covariance = sum(np.cov(share, rowvar=False) / len(share) for share in (of_dependent, of_independent))
    return ahead.mean(axis=(0, 1)), np.asarray(covariance)


@frozen(eq=False)
class Areas:
    """Areas under the curve along a grid of settings.

    Attributes
    ----------
    at
        The parameter that varies.
    values, covariances
        Per setting, of the tests in the order of `TESTS`: shapes (settings, tests) and (settings, tests, tests).
    """

    at: tuple[float, ...]
    values: FloatArray
    covariances: FloatArray

    def line(self, test: str) -> FloatArray:
        """Return the areas of one test along the grid."""
        return np.asarray(self.values[:, list(TESTS).index(test)])

    def errors(self, test: str) -> FloatArray:
        """Return their standard errors."""
        k = list(TESTS).index(test)
        return np.asarray(np.sqrt(self.covariances[:, k, k]))

    def lead(self, first: str, other: str) -> tuple[FloatArray, FloatArray]:
        """Return the lead of one test over another in the same samples, and the standard errors."""
        sign = np.array([(name == first) - (name == other) for name in TESTS], float)
        variance = np.einsum("i,kij,j->k", sign, self.covariances, sign)
        return self.values @ sign, np.sqrt(np.maximum(variance, 0))

    def mean_lead(self, first: str, other: str) -> tuple[float, float]:
        """Return the mean of that over the grid, and its standard error."""
        lead, error = self.lead(first, other)
        return float(lead.mean()), float(np.sqrt((error**2).sum()) / len(error))


def measure_areas(run: Run, settings: Sequence[tuple[int, int, float]], at: Sequence[float]) -> Areas:
    """Simulate (p, n, rho) for every setting, half of the replications without dependence."""
    results = run.replicate(pvalues, settings, max(run.k // 2, 2))
    return collect(at, [roc_areas(*np.split(values, 2, axis=1)) for values in results], len(results[0]))


def collect(at: Sequence[float], parts: Sequence[tuple[FloatArray, FloatArray]], samples: int) -> Areas:
    """Put areas along a grid; to each variance that of one sample, so that an area of 1 has an error too."""
    covariances = np.array([covariance for _, covariance in parts]) + np.eye(len(TESTS)) / samples**2
    return Areas(tuple(at), np.array([area for area, _ in parts]), covariances)


# The claims -----------------------------------------------------------------------------------


def trend(values: FloatArray, errors: FloatArray) -> tuple[float, float]:
    """Return how much independent values rise from setting to setting by least squares, and the standard error."""
    step = np.arange(len(values)) - (len(values) - 1) / 2
    weights = step / (step @ step)
    return float(weights @ values), float(np.sqrt(weights**2 @ errors**2))


def goes(areas: Areas, test: str, *, up: bool, by: str, least: float = MONTE_CARLO, where: str = "") -> Check:
    """Check that a test's area rises (or falls) along the grid, on average by so many standard errors."""
    line, error = areas.line(test), areas.errors(test)
    word, other, sign = ("rises", "falls", 1) if up else ("falls", "rises", -1)
    allowed = np.maximum(STEP * np.hypot(error[1:], error[:-1]), LEAST)
    slope, slope_error = trend(sign * line, error)
    true = bool((sign * np.diff(line) >= -allowed).all() and slope > least * slope_error)
    ends = f"{spread(line[0], error[0], 3)} at {areas.at[0]:g} to {spread(line[-1], error[-1], 3)} at {areas.at[-1]:g}"
    tolerance = (
        f"the least-squares line {word}{_by(least, other)}; "
        f"no step the other way by more than {STEP:g} standard errors, or {LEAST}"
    )
    obtained = f"{ends}; {word} by {spread(slope, slope_error, 3)} a step"
    return says(f"AUC of {test} {word} with {by}{where}", TENDS, obtained, true, tolerance)


def beats(areas: Areas, first: str, other: str, *, least: float, where: str = "") -> Check:
    """Check that a test outperforms another in the same samples, on average by so many standard errors."""
    lead, error = areas.lead(first, other)
    mean, mean_error = areas.mean_lead(first, other)
    true = bool(mean > least * mean_error and (lead >= -np.maximum(MONTE_CARLO * error, LEAST)).all())
    obtained = f"ahead by {spread(mean, mean_error, 3)} on average, {lead.min():.3f} to {lead.max():.3f}"
    tolerance = (
        f"on average ahead{_by(least, 'behind')}; "
        f"nowhere by more than three standard errors of the difference behind, or {LEAST}"
    )
    return says(f"{first} outperforms {other}{where}", OUTPERFORM, obtained, true, tolerance)


def _by(least: float, other: str) -> str:
    if least < 0:
        short = "the short form can refute the claim, not show it"
        return f", or {other} by no more than {-least:g} standard errors ({short})"
    if least == 0:
        return f" at all (an area near 1 has little to lose: not by {MONTE_CARLO:g} standard errors)"
    return f" by more than {least:g} standard errors"


def similar(areas: Areas, most: float, where: str = "") -> Check:
    """Check that moments do about as well as maxima in the likelihood ratio."""
    mean, error = areas.mean_lead("LRT:MLE", "LRT:MoM")
    true = abs(mean) <= most + MONTE_CARLO * error
    return says(
        f"LRT:MoM is similar to LRT:MLE{where}",
        ALIKE,
        f"LRT:MLE ahead by {spread(mean, error, 4)} on average",
        true,
        f"on average within {most} and three standard errors of the difference",
    )


def claims(areas: Areas, *, by: str, quick: bool) -> list[Check]:
    """Return the checks of a figure whose areas rise with a parameter; the short form can only refute an ordering."""
    checks = [goes(areas, test, up=True, by=by) for test in PAPER]
    return [*checks, *orderings(areas, quick=quick), similar(areas, SIMILAR), *asides(areas)]


def orderings(areas: Areas, *, quick: bool, where: str = "") -> list[Check]:
    """Check that both likelihood ratios outperform the other two; the short form is too short to show it."""
    least = -MONTE_CARLO if quick else MONTE_CARLO
    likelihood = ("LRT:MLE", "LRT:MoM")
    return [
        beats(areas, first, other, least=least, where=where) for first in likelihood for other in ("Pearson", "Bon")
    ]


def asides(areas: Areas, where: str = "") -> list[Check]:
    """State what the paper does not say."""
    pairs = (
        ("Pearson given the questions", "Pearson", "which questions were asked says nothing of dependence"),
        ("Bon", "Pearson", "the paper does not compare the two"),
    )
    return [
        stated(f"lead of {first} over {other}{where}", spread(*areas.mean_lead(first, other), 3) + " on average", note)
        for first, other, note in pairs
    ]


def picture(panels: Mapping[str, Areas], **options: Any) -> Any:
    """Draw the areas of all tests along a grid, in a panel for each of several by its heading, or in one without."""
    return line_panels(
        next(iter(panels.values())).at,
        {name: {test: areas.line(test) for test in TESTS} for name, areas in panels.items()},
        errors={name: {test: areas.errors(test) for test in TESTS} for name, areas in panels.items()},
        levels=[(0.5, "guessing")],
        within=(0, 1),
        apart=APART,
        ylabel="area under the ROC curve",
        **options,
    )


def tabulate(areas: Areas, **columns: Any) -> dict[str, list[Any]]:
    """Return the numbers behind a figure, a row per setting and test; `columns` are the same for all."""
    rows = [
        (*columns.values(), at, test, float(areas.line(test)[i]), float(areas.errors(test)[i]))
        for i, at in enumerate(areas.at)
        for test in TESTS
    ]
    return as_columns((*columns, "at", "test", "auc", "error"), rows)
