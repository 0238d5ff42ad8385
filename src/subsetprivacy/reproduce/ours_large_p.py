"""Few subsets for many categories, which the paper asks for (`sec_con`)."""

from time import perf_counter

import numpy as np
from scipy.special import chdtri

from subsetprivacy._types import ArrayLike, FloatArray
from subsetprivacy.design import Design, hadamard, uniform
from subsetprivacy.draw import line_panels
from subsetprivacy.estimation.dispatch import estimate
from subsetprivacy.estimation.likelihood import limit_covariance
from subsetprivacy.mechanism.simulate import simulate
from subsetprivacy.reproduce.checks import Check, says, stated
from subsetprivacy.reproduce.experiment import Experiment, ExperimentResult, Run

ABOUT = """With many categories the uniform design has too many subsets to list: 16,354 of them for 14 categories, a
number of 31 digits for a hundred. The paper calls for “new mechanisms with fewer subset candidates”. The rows of a
Hadamard matrix are such a mechanism: about as many yes/no questions as categories, chosen so that all pairs of
categories are treated equally. Moments are then a fast transform, whose time grows little faster than p.

What is lost? With equally likely categories, no yes/no design can do better than p - 1 times as many people as asking
directly. The figure shows that the Hadamard design is at this bound for every p, with about twice as many subsets as
categories. (Balls are simulated, with whiskers of two standard errors. Moments are unbiased, so theory is exact for any
number of people.) For 14 categories its moments are even more precise than those of the uniform design, because the
size of a subset varies less. It loses precision if the distribution is uneven and the estimate is the maximum of the
likelihood. More questions recover the loss."""

SIZES = (8, 14, 16, 64, 256, 1024, 4096)
BEYOND = 65_536  # timed only
LISTED, SKEWED = 16, 8  # largest number of categories with a uniform design; categories of the uneven example
N, TIMES = 10_000, 5
ONE_IN = 0.001  # chance of a false alarm
SLOWER = 4  # times p log p: how far off the time may be


def price(design: Design, w: FloatArray) -> float:
    """Return the loss of moments over that of asking directly, where Q = (1 - q) I + q 11' (`gen_mom`).

    Then Q^-1 1_a = (1_a - c |a| 1) / (1 - q) with c = q / (1 - q + q p), so only the distribution of |A| matters.
    """
    codes, mu = design.support()
    law = mu * design.support_incidence.inner(w)
    size = design.sizes(codes).astype(float)
    q = float(law_of_pair(design))
    c = q / (1 - q + q * design.p)
    square = size - 2 * c * size**2 + c**2 * size**2 * design.p
    return float((law @ square / (1 - q) ** 2 - w @ w) / (1 - w @ w))


def law_of_pair(design: Design) -> float:
    """Return the probability that the subset of one category holds a given other one, alike for all pairs."""
    codes, mu = design.support()
    both = design.contains(codes, np.int64(0)) & design.contains(codes, np.int64(1))
    return float(mu[both].sum())


def simulated_price(rng: np.random.Generator, p: int) -> list[float]:
    """Return the squared error of moments in one sample of evenly distributed people, in units of asking directly."""
    w = np.full(p, 1 / p)
    estimated = estimate(simulate(hadamard(p), w, N, seed=rng), "mom")
    return [float(N * ((estimated.w - w) ** 2).sum() / (1 - 1 / p))]


def perform(run: Run) -> ExperimentResult:
    """Compute the exact price for every p, simulate it, and time the moments."""
    exact = np.array([price(hadamard(p), np.full(p, 1 / p)) for p in SIZES])
    results = run.replicate(simulated_price, [(p,) for p in SIZES])
    means = np.array([values.mean() for values in results])
    errors = np.array([values.std(ddof=1) / np.sqrt(len(values)) for values in results])
    *seconds, beyond = (_seconds(run, p) for p in run.alone((*SIZES, BEYOND)))
    checks = [*_fourteen(), _bound(exact), _agreement(exact, means, errors)]
    checks += [_transform(seconds[-1], beyond), *_uneven()]
    subsets = [len(hadamard(p).support()[0]) for p in SIZES]
    columns = ("p", "subsets", "price", "bound", "simulated", "error", "seconds_of_moments")
    cells = (SIZES, subsets, exact.tolist(), [p - 1 for p in SIZES], means.tolist(), errors.tolist(), seconds)
    table = dict(zip(columns, map(list, cells), strict=True))
    return ExperimentResult(checks, table, _draw(subsets, means, errors))


def _draw(subsets: list[int], means: FloatArray, errors: FloatArray) -> object:
    """Draw the numbers of subsets and the price against p, for powers of two."""
    at = [i for i, p in enumerate(SIZES) if p & (p - 1) == 0]
    p = [SIZES[i] for i in at]
    people = "people for one asked directly, Hadamard"
    lines: dict[str, ArrayLike] = {
        "least people of all yes/no designs, p − 1": [size - 1 for size in p],
        people: means[at],
        "subsets, Hadamard": [subsets[i] for i in at],
        "subsets, uniform": [float(2**size - 2 * size - 2) if size <= LISTED else np.nan for size in p],
    }
    return line_panels(
        p,
        {"": lines},
        errors={"": {people: errors[at]}},
        xlabel="categories p",
        ylabel="number",
        log="xy",
        width=8.0,
    )


def _fourteen() -> list[Check]:
    """Compare both designs with 14 equally likely categories: subsets, and the loss of moments and of maxima."""
    w = np.full(14, 1 / 14)
    few, many = hadamard(14), uniform(range(14))
    subsets = [len(design.support()[0]) for design in (few, many)]
    moments = [price(design, w) * (1 - w @ w) for design in (few, many)]
    maxima = [float(np.trace(limit_covariance(design, w))) for design in (few, many)]
    return [
        stated("subsets of the Hadamard and of the uniform design, p = 14", f"{subsets[0]} and {subsets[1]}"),
        says(
            "n times the squared error of moments is smaller with the Hadamard than with the uniform design, p = 14",
            "",
            f"{moments[0]:.4f} against {moments[1]:.4f}",
            moments[0] < moments[1],
            "exact: smaller",
            source="ours",
        ),
        stated(
            "limit of the same for maximum likelihood, Hadamard and uniform", f"{maxima[0]:.4f} and {maxima[1]:.4f}"
        ),
    ]


def _bound(exact: FloatArray) -> Check:
    """Check that moments are at the bound p - 1, or just above it where p is no power of two."""
    above = exact / (np.array(SIZES) - 1) - 1
    return says(
        "at equally likely categories moments need about p - 1 times the people of asking directly, as the best yes/no "
        "designs do",
        "",
        f"{above.max():.2%} more at most (p = {SIZES[int(above.argmax())]})",
        bool((above >= -1e-9).all() and (above <= 0.02).all()),
        "never below the bound; at most 2% above it",
        source="ours",
    )


def _agreement(exact: FloatArray, means: FloatArray, errors: FloatArray) -> Check:
    """Check all simulated prices together: the squares of their distances in standard errors follow a chi-square."""
    away = (means - exact) / errors
    most = float(chdtri(len(away), ONE_IN))
    return says(
        "the simulated price of moments is that of theory for every p",
        ", ".join(f"{value:.5g}" for value in exact),
        ", ".join(f"{value:.5g}" for value in means),
        bool((away**2).sum() <= most),
        f"squared distances in standard errors sum to {(away**2).sum():.1f}, at most {most:.1f} (one in 1000)",
        source="theory",
    )


def _seconds(run: Run, p: int) -> float:
    """Return the seconds that moments take, the best of a few samples; each only once, since counts keep their sums."""
    design, rng = hadamard(p), run.rng(f"timed {p}")
    samples = [simulate(design, np.full(p, 1 / p), N, seed=rng) for _ in range(TIMES)]
    taken = []
    for counts in samples:
        start = perf_counter()
        estimate(counts, "mom")
        taken.append(perf_counter() - start)
    return min(taken)


def _transform(before: float, beyond: float) -> Check:
    """Check that the time grows like p log p: a product with a p x p matrix takes p² steps, which is far more here."""
    p = SIZES[-1]
    growth, categories = beyond / before, BEYOND / p
    most = SLOWER * categories * np.log(BEYOND) / np.log(p)
    return says(
        "moments take a fast transform of p log p steps, not products of p² or equations of p³",
        "",
        f"{1e3 * before:.2g} ms with {p} categories, {1e3 * beyond:.2g} ms with {BEYOND}: {growth:.1f} times",
        bool(growth < most),
        f"below {most:.0f} times, {SLOWER} times the growth of p log p; that of p² is {categories**2:g} times",
        source="ours",
    )


def _uneven() -> list[Check]:
    """State what maximum likelihood loses at shares of 1, 1/2, 1/4, …, and what more questions buy back."""
    w = 0.5 ** np.arange(SKEWED)
    w /= w.sum()
    least = float(np.trace(limit_covariance(uniform(range(SKEWED)), w)))
    sizes = [SKEWED * times - 1 for times in (1, 2, 4, 8)]
    ratios = [float(np.trace(limit_covariance(hadamard(SKEWED, size), w))) / least for size in sizes]
    text = ", ".join(f"{ratio:.2f} with {size}" for size, ratio in zip(sizes, ratios, strict=True))
    return [stated(f"loss over that of the uniform design at shares 1, 1/2, 1/4, …, p = {SKEWED}", f"{text} questions")]


EXPERIMENT = Experiment("ours:large_p", "Few subsets for many categories", ABOUT, perform, quick=100, full=1000)
