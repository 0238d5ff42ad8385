"""The loss as categories and people grow together (`fig:high_1`)."""

import numpy as np

from subsetprivacy._choices import Estimator
from subsetprivacy._types import FloatArray
from subsetprivacy.draw import series
from subsetprivacy.errors import NotIdentifiableError
from subsetprivacy.estimation.dispatch import EstimateOptions, estimate
from subsetprivacy.mechanism.simulate import simulate
from subsetprivacy.reproduce.as_printed import people as drawn
from subsetprivacy.reproduce.checks import Check, says, stated, theory
from subsetprivacy.reproduce.experiment import Experiment, ExperimentResult, Run
from subsetprivacy.reproduce.simulations import (
    falling,
    mean_and_error,
    moment_limit,
    random_design,
    random_distribution,
    share_error,
)
from subsetprivacy.subsets import bits

ABOUT = """Can a longer list of categories be estimated by asking more people? With p categories, n is (p ln p)²,
rounded: 31 people for four categories, 889 for twelve. Population and questions are drawn again for each sample. The
loss is the sum of the absolute errors of all shares. For consistency it must fall from point to point.

EM and MLE are the same maximum by two algorithms and share one line. The paper's MLE is CVXPY's, ours is Newton's
method on counts, certified. ONE is this package's Newton step from MoM, which stays in the simplex. In samples with so
few people that the Hessian cannot be inverted, it is not defined, and these are left out of its mean. "MoM, given the
questions" is this package's own. For MoM the expected loss is known up to the shape of the distribution: sqrt(2/pi)
times the sum of the standard deviations.

Why not fewer people than categories? The maximum is unique if the people's subsets, as rows of zeros and ones,
distinguish every direction in which shares can move. With twelve categories there are eleven directions, so ten people
are never enough. How often a few more people fail is counted in separate samples."""

CATEGORIES = (4, 6, 8, 10, 12)
FEW = (6, 11, 12, 14, 24)  # people, for the last of them
METHODS: dict[str, tuple[Estimator, EstimateOptions]] = {
    "EM": ("em", {"tol": 1e-7}),
    "MLE": ("mle", {}),
    "MoM": ("mom", {}),
    "ONE": ("one-step", {"start": "mom"}),
    "MoM, given the questions": ("mom-conditional", {}),
}
PAPERS = ("EM", "MLE", "MoM", "ONE")


def people(p: int) -> int:
    """Return (p ln p)², rounded."""
    return round((p * np.log(p)) ** 2)


def losses(rng: np.random.Generator, p: int) -> list[float]:
    """Return the L1 loss of each method in one sample (nan where it is not defined), and what to expect of MoM."""
    n = people(p)
    w, design = random_distribution(rng, p), random_design(rng, p)
    counts = simulate(design, w, n, seed=rng)

    def loss(method: Estimator, options: EstimateOptions) -> float:
        try:
            return float(np.abs(estimate(counts, method, **options).w - w).sum())
        except NotIdentifiableError:
            return float("nan")

    expected = np.sqrt(2 / np.pi) * np.sqrt(moment_limit(design, w).diagonal() / n).sum()
    return [*(loss(*how) for how in METHODS.values()), float(expected)]


def deficient(rng: np.random.Generator, p: int) -> list[float]:
    """Tell for each of FEW whether the rows of so many people have too low a rank on the simplex (`unique`)."""
    w, design = random_distribution(rng, p), random_design(rng, p)
    B = np.vstack([np.eye(p - 1), -np.ones(p - 1)])
    return [float(np.linalg.matrix_rank(bits(drawn(rng, design, w, n), p) @ B) < p - 1) for n in FEW]


def simulated(run: Run) -> list[FloatArray]:
    """Return the losses for each p; in the short form four times as many where a sample is small and cheap."""
    copies = [4 if run.quick and p <= 6 else 1 for p in CATEGORIES]
    settings = [(p,) for p, times in zip(CATEGORIES, copies, strict=True) for _ in range(times)]
    results = iter(run.replicate(losses, settings))
    return [np.concatenate([next(results) for _ in range(times)]) for times in copies]


def perform(run: Run) -> ExperimentResult:
    """Simulate all p, check that every method's loss falls and that MoM's is the expected one."""
    results = simulated(run)
    summary = np.array([[mean_and_error(values[:, i]) for values in results] for i in range(len(METHODS))])
    checks = [_falls(name, *summary[i].T) for i, name in enumerate(METHODS)]
    moments = list(METHODS).index("MoM")
    for p, values in zip(CATEGORIES, results, strict=True):
        gap, error = mean_and_error(values[:, moments] - values[:, -1])
        expected = float(values[:, -1].mean())
        checks.append(theory(f"MoM, p = {p}: mean loss", expected, expected + gap, error, digits=3))
    (unseen,) = run.replicate(deficient, [(CATEGORIES[-1],)])
    checks += [few_people(unseen), *_beside(results)]
    table = {"p": list(CATEGORIES), "n": [people(p) for p in CATEGORIES]}
    lines = {name: summary[i, :, 0] for i, name in enumerate(METHODS)}
    bars = {name: summary[i, :, 1] for i, name in enumerate(METHODS)}
    for name in METHODS:
        table |= {name: lines[name].tolist(), f"{name} error": bars[name].tolist()}
    table["ONE undefined"] = [int(np.isnan(values[:, list(METHODS).index("ONE")]).sum()) for values in results]
    table |= {"few people": list(FEW), f"share not unique, p = {CATEGORIES[-1]}": unseen.mean(axis=0).tolist()}
    label = "number of categories p, with n = (p ln p)² people"
    axes = series(CATEGORIES, lines, errors=bars, xlabel=label, ylabel="mean L1 loss and two standard errors")
    axes.set_ylim(bottom=0)
    return ExperimentResult(checks, table, axes.figure)


def _falls(name: str, means: FloatArray, errors: FloatArray) -> Check:
    ours = name not in PAPERS
    return says(
        f"{name}: the loss falls as p and n grow",
        "" if ours else "all methods are consistent in the sense of L1 loss",
        ", ".join(f"{mean:.3f}" for mean in means) + f" (errors up to {errors.max():.3f})",
        falling(means, errors),
        "no rise beyond 3 standard errors, and from first to last a fall of at least 3",
        source="ours" if ours else "paper",
    )


def few_people(unseen: FloatArray) -> Check:
    """Check that the fewer people, the more often the maximum need not be unique."""
    shares = unseen.mean(axis=0)
    return says(
        f"p = {CATEGORIES[-1]}, samples that violate it with n = {', '.join(map(str, FEW))} people",
        "a small n tends to violate [the uniqueness of MLE]",
        ", ".join(f"{share:.3f}" for share in shares),
        falling(shares, share_error(shares, len(unseen))) and shares[1] > 0.05 > shares[-1],
        "no rise beyond 3 standard errors and a fall by 3; with p − 1 people more than 0.05, with 2p less",
    )


def _beside(results: list[FloatArray]) -> list[Check]:
    """State where one step is not defined, and how ours compares with the paper's moments."""
    names, last = list(METHODS), results[-1]
    one_step, ours = (names.index(name) for name in ("ONE", "MoM, given the questions"))
    lost = [int(np.isnan(values[:, one_step]).sum()) for values in results]
    unfit = [int(np.isnan(values[:, ours]).sum()) for values in results]
    saved, error = mean_and_error(last[:, names.index("MoM")] - last[:, ours])
    apart = float(np.abs(last[:, 0] - last[:, 1]).max())
    k = [len(values) for values in results]
    return [
        says(
            f"EM and MLE are the same maximum, p = {CATEGORIES[-1]}",
            "",
            f"losses of one sample differ by {apart:.5f} at most",
            apart < 0.02,
            "less than 0.02: EM stops where 1e-7 per person is still to be gained",
            source="ours",
        ),
        stated("samples in which one step is not defined, for each p", _shares(lost, k)),
        stated("samples in which moments given the questions are not defined", _shares(unfit, k)),
        stated(
            f"loss of MoM less that given the questions, same samples, p = {CATEGORIES[-1]}",
            f"{saved:.4f} ({error:.4f})",
        ),
    ]


def _shares(some: list[int], of: list[int]) -> str:
    return ", ".join(f"{few} of {all_}" for few, all_ in zip(some, of, strict=True))


EXPERIMENT = Experiment(
    "fig:high_1", "L1 loss as categories and people grow together", ABOUT, perform, quick=60, full=1000
)
