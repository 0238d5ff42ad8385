"""Which designs can distinguish distributions (`thm_identi`)."""

import numpy as np
from scipy.optimize import linprog

from subsetprivacy._types import BoolArray, FloatArray
from subsetprivacy.design import Design, conditional, uniform
from subsetprivacy.draw import series
from subsetprivacy.reproduce.checks import Check, corrected, says, stated
from subsetprivacy.reproduce.experiment import Experiment, ExperimentResult, Run
from subsetprivacy.subsets import bits

ABOUT = """Some designs ask so few questions that two different populations give exactly the same answers. Then no
amount of data helps. The theorem says when: if a direction in which shares can move, with their sum fixed, is invisible
to every subset. We draw many small random designs and search for two such populations by brute force, with a linear
program that moves one share as far as it can while every subset keeps its probability. Its answer must agree with the
theorem's condition on ranks and with the package's answer.

For independent designs, those that yes/no questions can realize, the paper gives a simpler condition, without "with
their sum fixed". It is right, and right for every other design as well. The random designs here are of both kinds.

The figure shows four colors, and the expected log-likelihood per person as weight moves from the first and third color
to the second and fourth. With the four pairs of neighbors it is flat: all these populations are equally likely. With
all six pairs it peaks at the truth."""

CLOSE = 1e-7
SQUARE = {(0, 1): 0.5, (1, 2): 0.5, (2, 3): 0.5, (3, 0): 0.5}
DIRECTION = np.array([-1.0, 1.0, -1.0, 1.0])
TRUTH = np.array([0.2, 0.2, 0.3, 0.3])


def random_conditional(rng: np.random.Generator) -> Design:
    """Return a design of few subsets on 4 to 7 categories: a random mixture of partitions and of rings."""
    p = int(rng.integers(4, 8))
    parts = int(rng.integers(1, p))
    weights: dict[tuple[int, ...], float] = {}
    for share in rng.dirichlet(np.ones(parts)):
        subsets = _partition(rng, p) if rng.random() < 0.7 else _ring(rng, p)
        for subset, mu in subsets.items():
            weights[subset] = weights.get(subset, 0.0) + share * mu
    return conditional(range(p), weights)


def _partition(rng: np.random.Generator, p: int) -> dict[tuple[int, ...], float]:
    """Cut the categories in two or three groups of two or more, and report the one that holds the value."""
    order, groups = rng.permutation(p), int(rng.integers(2, p // 2 + 1))
    return {tuple(sorted(group.tolist())): 1.0 for group in np.array_split(order, groups)}


def _ring(rng: np.random.Generator, p: int) -> dict[tuple[int, ...], float]:
    """Seat the categories around a table and report neighbors, `size` of them: no yes/no question does that."""
    order, size = rng.permutation(p).tolist(), int(rng.integers(2, p - 1))
    return {tuple(sorted(order[(i + k) % p] for k in range(size))): 1 / size for i in range(p)}


def farthest(M: FloatArray) -> float:
    """Return how far apart a share can be in two distributions v, w with the same distribution of subsets, Mv = Mw."""
    m, p = M.shape
    equal = np.vstack([np.hstack([M, -M]), np.repeat(np.eye(2), p, axis=1)])
    right = np.concatenate([np.zeros(m), np.ones(2)])
    return max(-linprog(np.concatenate([-unit, unit]), A_eq=equal, b_eq=right, bounds=(0, 1)).fun for unit in np.eye(p))


def verdicts(rng: np.random.Generator) -> list[float]:
    """Return p, the number of subsets, whether the design is independent; is it identifiable, by four ways."""
    design = random_conditional(rng)
    codes, mu = design.support()
    p = len(design.categories)
    M = bits(codes, p) * mu[:, None]
    B = np.vstack([np.eye(p - 1), -np.ones(p - 1)])
    brute, first = farthest(M) < CLOSE, np.linalg.matrix_rank(M @ B) == p - 1
    second = np.linalg.matrix_rank(M) == p
    symmetric = np.allclose(design.mu(design.categories.full - codes), mu)
    return [float(x) for x in (p, len(codes), symmetric, brute, first, second, design.is_identifiable)]


def expected_loglik(design: Design, t: FloatArray) -> FloatArray:
    """Return the expected log-likelihood per person at TRUTH + t DIRECTION, the data being drawn from TRUTH."""
    codes, mu = design.support()
    M = bits(codes, len(TRUTH))
    moved = TRUTH + t[:, None] * DIRECTION
    return np.asarray(np.log(moved @ M.T) @ (mu * (M @ TRUTH)))


def perform(run: Run) -> ExperimentResult:
    """Compare brute force, both conditions and the package on random designs; draw the likelihood of two designs."""
    (results,) = run.replicate(verdicts, [()])
    t = np.linspace(-0.18, 0.18, 25)
    flat, peaked = (expected_loglik(design, t) for design in (conditional(range(4), SQUARE), uniform(range(4))))
    names = ("categories", "subsets", "independent", "brute force", "condition", "second form", "package")
    table = dict(zip(names, results.astype(int).T.tolist(), strict=True))
    axes = series(
        t,
        {"four pairs of neighbors": flat, "all six pairs": peaked},
        xlabel="weight moved from colors 1 and 3 to colors 2 and 4, each",
        ylabel="expected log-likelihood per person",
    )
    return ExperimentResult([*agreement(results), *_likelihood(t, flat, peaked)], table, axes.figure)


def agreement(results: FloatArray) -> list[Check]:
    """Compare the answers that `verdicts` gave."""
    symmetric, brute, first, second, package = results[:, 2:].T.astype(bool)
    k = len(results)
    return [
        says(
            "rank condition against brute force",
            "identifiable if and only if [the condition] holds",
            f"{(brute == first).sum()} of {k} designs agree",
            bool((brute == first).all()) and _both(brute),
            "all, with designs of both kinds among them",
        ),
        says(
            "second form, without the simplex, independent designs", *_equivalent(first[symmetric], second[symmetric])
        ),
        corrected(
            "second form, designs that are not independent",
            *_equivalent(first[~symmetric], second[~symmetric]),
            erratum="thm_identi",
            how="too narrow in print",
        ),
        says(
            "what the package says (`is_identifiable`)",
            "",
            f"{(package == brute).sum()} of {k} agree with brute force",
            bool((package == brute).all()),
            "all",
            source="ours",
        ),
        stated("designs: identifiable, independent", f"{brute.sum()} and {symmetric.sum()} of {k}"),
    ]


def _equivalent(first: BoolArray, second: BoolArray) -> tuple[str, str, bool, str]:
    """Compare both forms of the condition, for a check."""
    same = first == second
    printed = "for an independent mechanism, [it] is equivalent to the following"
    return printed, f"{same.sum()} of {len(same)} agree", bool(same.all()) and _both(first), "all, of both kinds"


def _both(answers: BoolArray) -> bool:
    return bool(answers.any() and not answers.all())


def _likelihood(t: FloatArray, flat: FloatArray, peaked: FloatArray) -> list[Check]:
    return [
        says(
            "log-likelihood along the blind direction of four neighboring pairs",
            "",
            f"varies by {np.ptp(flat):.1e}",
            bool(np.ptp(flat) < 1e-12),
            "less than 1e-12: not identifiable",
            source="theory",
        ),
        says(
            "log-likelihood with all six pairs",
            "",
            f"{peaked.max() - peaked[0]:.4f} lower at the left end",
            bool(t[peaked.argmax()] == 0 and (np.diff(peaked, 2) < 0).all()),
            "concave, with its peak at the truth: identifiable",
            source="theory",
        ),
    ]


EXPERIMENT = Experiment(
    "thm_identi", "Identifiability: the rank condition against brute force", ABOUT, perform, quick=100, full=500
)
