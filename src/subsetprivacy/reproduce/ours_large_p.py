"""Few subsets for many categories, which the paper asks for (`sec_con`)."""

from time import perf_counter

import numpy as np
from scipy.special import chdtri

from subsetprivacy._types import ArrayLike, FloatArray
from subsetprivacy.design import Design, hadamard, uniform
from subsetprivacy.draw import side_by_side
from subsetprivacy.estimation.dispatch import estimate
from subsetprivacy.estimation.likelihood import limit_covariance
from subsetprivacy.mechanism.simulate import simulate
from subsetprivacy.reproduce.checks import Check, number, says, stated
from subsetprivacy.reproduce.experiment import Experiment, Outcome, Run

ABOUT = """With many categories the uniform design has too many subsets to list: 16 354 of them for 14 categories, a
number of 31 digits for a hundred. The paper calls for “new mechanisms with fewer subset candidates”. The rows of a
Hadamard matrix are such: as many yes/no questions as there are categories, about, chosen so that all pairs of
categories are treated alike. Moments are then a fast transform, which takes milliseconds for thousands of categories.

What is lost? At equally likely categories no yes/no design can do better than p - 1 times the people of asking
directly. The figure shows that the Hadamard design is at this bound for every p (balls: simulated, with whiskers of
two standard errors; moments are unbiased, so theory is exact for any number of people), with about twice as many
subsets as categories. For 14 categories its moments are even more precise than those of the uniform design, since the
size of a subset varies less. The price is paid where the distribution is uneven and the estimate is the maximum of the
likelihood; more questions buy it back."""

SIZES = (8, 14, 16, 64, 256, 1024, 4096)
LISTED, SKEWED = 16, 8  # the most categories whose uniform design is drawn; and those of the uneven example
N, TIMES = 10_000, 5
ONE_IN = 0.001  # chance of a false alarm
SOLVING = 3  # the power of p that solving linear equations takes


def price(design: Design, w: FloatArray) -> float:
    """Return the loss of moments over that of asking directly, where Q = (1 - q) I + q 11' (`gen_mom`).

    Then Q^-1 1_a = (1_a - c |a| 1) / (1 - q) with c = q / (1 - q + q p), so only the law of |A| matters.
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
    both = design.holds(codes, np.int64(0)) & design.holds(codes, np.int64(1))
    return float(mu[both].sum())


def simulated_price(rng: np.random.Generator, p: int) -> list[float]:
    """Return the squared error of moments in one sample of evenly distributed people, in units of asking directly."""
    w = np.full(p, 1 / p)
    found = estimate(simulate(hadamard(p), w, N, seed=rng), "mom")
    return [float(N * ((found.w - w) ** 2).sum() / (1 - 1 / p))]


def perform(run: Run) -> Outcome:
    """Compute the exact price for every p, simulate it, and time the moments."""
    exact = np.array([price(hadamard(p), np.full(p, 1 / p)) for p in SIZES])
    found = run.replicate(simulated_price, [(p,) for p in SIZES])
    means = np.array([values.mean() for values in found])
    errors = np.array([values.std(ddof=1) / np.sqrt(len(values)) for values in found])
    seconds = np.array([_seconds(run, p) for p in run.alone(SIZES)])
    checks = [*_fourteen(), _bound(exact)]
    checks += [_agreement(exact, means, errors), *_times(seconds), *_uneven()]
    subsets = [len(hadamard(p).support()[0]) for p in SIZES]
    columns = ("p", "subsets", "price", "bound", "simulated", "error", "seconds_of_moments")
    cells = (SIZES, subsets, exact.tolist(), [p - 1 for p in SIZES], means.tolist(), errors.tolist(), seconds.tolist())
    table = dict(zip(columns, map(list, cells), strict=True))
    return Outcome(checks, table, _draw(subsets, means, errors))


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
    return side_by_side(
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
    maxima = [float(np.trace(limit_covariance(design, w))) for design in (few, many)]
    return [
        number("subsets of the Hadamard design, p = 14 (ours)", "30", len(few.support()[0]), digits=0),
        number("subsets of the uniform design, p = 14 (ours)", "16354", len(many.support()[0]), digits=0),
        number("loss of its moments, Hadamard (ours)", "12.19", price(few, w) * (1 - w @ w)),
        number("loss of its moments, uniform (ours)", "12.99", price(many, w) * (1 - w @ w)),
        stated("limit of the loss of maximum likelihood, Hadamard and uniform", f"{maxima[0]:.4f} and {maxima[1]:.4f}"),
    ]


def _bound(exact: FloatArray) -> Check:
    """Check that moments are at the bound p - 1, or just above it where p is no power of two."""
    above = exact / (np.array(SIZES) - 1) - 1
    return says(
        "moments cost next to nothing more than the best yes/no design at equally likely categories (ours)",
        "p - 1 times the people of asking directly",
        f"{above.max():.2%} more at most (p = {SIZES[int(above.argmax())]})",
        bool((above >= -1e-9).all() and (above <= 0.02).all()),
        "never below the bound; at most 2 % above it",
    )


def _agreement(exact: FloatArray, means: FloatArray, errors: FloatArray) -> Check:
    """Check all simulated prices together: the squares of their distances in standard errors follow a chi-square."""
    away = (means - exact) / errors
    most = float(chdtri(len(away), ONE_IN))
    return says(
        "the simulated price of moments is that of theory for every p (ours)",
        ", ".join(f"{value:.5g}" for value in exact),
        ", ".join(f"{value:.5g}" for value in means),
        bool((away**2).sum() <= most),
        f"squared distances in standard errors sum to {(away**2).sum():.1f}, at most {most:.1f} (one in 1000)",
    )


def _seconds(run: Run, p: int) -> float:
    """Return the seconds that moments take, the best of a few."""
    counts = simulate(hadamard(p), np.full(p, 1 / p), N, seed=run.rng(f"timed {p}"))
    taken = []
    for _ in range(TIMES):
        start = perf_counter()
        estimate(counts, "mom")
        taken.append(perf_counter() - start)
    return min(taken)


def _times(seconds: FloatArray) -> list[Check]:
    first = SIZES.index(64)
    growth, categories = seconds[-1] / seconds[first], SIZES[-1] / SIZES[first]
    return [
        says(
            "moments take a fast transform, not a solution of p linear equations (ours)",
            "p log p steps",
            f"{growth:.1f} times the time for {categories:g} times the categories",
            bool(growth < categories ** (SOLVING - 1)),
            f"below {categories ** (SOLVING - 1):g} times; solving takes {categories**SOLVING:g} times",
        ),
        stated(f"moments of {SIZES[-1]} categories", f"{1e3 * seconds[-1]:.2g} ms"),
    ]


def _uneven() -> list[Check]:
    """State what maximum likelihood loses at shares of 1, 1/2, 1/4, …, and what more questions buy back."""
    w = 0.5 ** np.arange(SKEWED)
    w /= w.sum()
    least = float(np.trace(limit_covariance(uniform(range(SKEWED)), w)))
    sizes = [SKEWED * times - 1 for times in (1, 2, 4, 8)]
    ratios = [float(np.trace(limit_covariance(hadamard(SKEWED, size), w))) / least for size in sizes]
    said = ", ".join(f"{ratio:.2f} with {size}" for size, ratio in zip(sizes, ratios, strict=True))
    return [stated(f"loss over that of the uniform design at shares 1, 1/2, 1/4, …, p = {SKEWED}", f"{said} questions")]


EXPERIMENT = Experiment("ours:large_p", "Few subsets for many categories", ABOUT, perform, quick=100, full=1000)
