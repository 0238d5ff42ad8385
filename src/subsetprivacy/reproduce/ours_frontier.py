"""The best trade of privacy for precision, which the paper leaves open (`sec_con`)."""

import numpy as np

from subsetprivacy._choices import OptimalKind
from subsetprivacy._types import Distribution
from subsetprivacy.auditing import audit
from subsetprivacy.design import uniform
from subsetprivacy.errors import MissingDependencyError
from subsetprivacy.optimizing import Frontier, Optimum, frontier, optimal
from subsetprivacy.reproduce.checks import Check, says, stated, unchecked
from subsetprivacy.reproduce.experiment import Experiment, ExperimentResult, Run
from subsetprivacy.reproduce.simulations import as_columns
from subsetprivacy.reproduce.timing import HOW

ABOUT = """The paper ends with an open question: what is the best possible trade of privacy for precision? A design is a
list of subsets with probabilities. Its leakage and its information are both linear in these. The design with the
smallest loss within a budget of leakage is therefore the solution of a convex program, with a proof of how near it is
to the best. The frontier is the smallest loss at every leakage.

The figure is for race in the Adult data. The horizontal axis is how much an answer reveals about the person, in bits.
The vertical axis is how imprecise the estimate is (n times its mean squared error). The right axis is how many people
replace one person asked directly. The uniform design of the paper is above both curves. Better yes/no questions save
people and leak less. A data holder who has the values and may report any subset saves more. The numbers are stated
below. If all categories are equally likely, nothing beats the bound (p - 1)/(S - 1), where S is the sum of the subset
probabilities (2 for yes/no questions), and the best designs meet it. The bound does not hold for the mean squared error
of other distributions."""

KINDS: tuple[OptimalKind, ...] = ("independent", "conditional")
PROVEN, BOUND = 1e-4, 1e-6


def perform(run: Run) -> ExperimentResult:
    """Compute both frontiers, and the best designs at the leakage of the uniform one."""
    races, w = list(run.adult.races), run.adult.race
    leaked = float(audit(uniform(races), w).to_dict()["mi_leakage"])
    best = {kind: optimal(races, w, {"mi": leaked}, kind=kind) for kind in KINDS}
    curves = [frontier(races, w, kind=kind) for kind in KINDS]
    even = frontier(races, np.full(len(races), 1 / len(races)), kind="conditional", points=8)
    checks = [_ordering(best), *_numbers(best, leaked), *_proofs([*curves, even], [*best.values()])]
    checks += [_named(curves), _meets_bound(even), _by_another_solver(races, w, leaked, best["conditional"])]
    return ExperimentResult(checks, _table([*curves, even]), curves[0].plot(*curves[1:]).figure)


def _ordering(best: dict[OptimalKind, Optimum]) -> Check:
    """Check that more freedom in the design lowers the loss, by more than the unproven gap."""
    conditional, independent = best["conditional"].loss, best["independent"].loss
    even = best["independent"].uniform_loss
    return says(
        "at the leakage of the uniform design, the best conditional design loses less than the best independent one, "
        "and that less than the uniform one",
        "",
        f"{conditional:.4f}, {independent:.4f} and {even:.4f}",
        conditional < (1 - PROVEN) * independent and independent < (1 - PROVEN) * even,
        f"each by more than a share of {PROVEN:g}",
        source="ours",
    )


def _numbers(best: dict[OptimalKind, Optimum], leaked: float) -> list[Check]:
    """State the leakage of the uniform design, and what the best designs at that leakage save."""
    checks = [stated("mutual information leakage of the uniform design", f"{leaked:.4f} bit")]
    for kind, optimum in best.items():
        saved = f"{1 - optimum.loss / optimum.uniform_loss:.1%} fewer people, {optimum.leakage['mi']:.4f} bit"
        checks.append(
            stated(f"the best {kind} design compared with the uniform one", f"{saved}, {optimum.questions} subsets")
        )
    return checks


def _proofs(curves: list[Frontier], best: list[Optimum]) -> list[Check]:
    """Check the certificate of every optimum, and that more leakage never costs precision."""
    optima = [*best, *(optimum for curve in curves for optimum in curve.optima)]
    gap = max(optimum.gap for optimum in optima)
    steps = max(float((np.diff(curve.loss) / curve.loss[1:]).max()) for curve in curves)
    return [
        says(
            "the certificate of every design proves it to be the best",
            "",
            f"at most {gap:.1e} of the loss is still to be gained by any of {len(optima)} designs",
            gap <= PROVEN,
            f"a share of {PROVEN:g}",
            source="ours",
        ),
        says(
            "more leakage, no more loss",
            "",
            f"largest rise from point to point {max(steps, 0.0):.1e} of the loss",
            steps <= PROVEN,
            f"a share of {PROVEN:g}",
            source="ours",
        ),
    ]


def _named(curves: list[Frontier]) -> Check:
    """Check that no named design is below the frontier of its kind."""
    ratios = {
        f"{mark.name} ({curve.kind})": optimal(
            list(mark.design.categories.labels), curve.optima[0].w[0], {curve.metric: mark.leakage}, kind=curve.kind
        ).loss
        / mark.loss
        for curve in curves
        for mark in curve.marks
        if mark.attainable and np.isfinite(mark.loss)
    }
    nearest = max(ratios, key=lambda name: ratios[name])
    return says(
        "no named design beats the frontier: the least loss at its leakage is no larger",
        "",
        f"nearest: {nearest}, with {ratios[nearest]:.4f} of its loss possible",
        max(ratios.values()) <= 1 + PROVEN,
        f"of {len(ratios)} designs, a ratio of 1 + {PROVEN:g}",
        source="ours",
    )


def _meets_bound(even: Frontier) -> Check:
    """Check the bound (p - 1)/(S - 1) at the even distribution, where the best designs meet it."""
    assert even.bound is not None
    above = even.loss / even.bound - 1
    return says(
        "with equally likely categories the least loss is (p - 1)/(S - 1) times that of asking directly",
        "",
        f"{above.min():.1e} to {above.max():.1e} of the bound above it at {len(above)} leakages",
        bool((np.abs(above) <= BOUND).all()),
        f"a share of {BOUND:g}",
        source="ours",
    )


def _by_another_solver(races: list[str], w: Distribution, leaked: float, ours: Optimum) -> Check:
    """Compare with a general solver of convex programs, where it is installed."""
    claim = "a general conic solver finds the same loss"
    try:
        other = optimal(races, w, {"mi": leaked}, kind="conditional", solver="conic")
    except MissingDependencyError:
        return unchecked(claim, "", HOW, source="ours")
    near = abs(other.loss / ours.loss - 1) <= PROVEN
    obtained = f"{other.loss:.6f}, ours {ours.loss:.6f}"
    return says(claim, "", obtained, near, f"a share of {PROVEN:g}", source="ours")


def _table(curves: list[Frontier]) -> dict[str, list[object]]:
    names = ("adult race", "adult race", "even")
    rows = [
        (
            name,
            curve.kind,
            float(leakage),
            float(optimum.loss),
            optimum.loss / curve.direct_loss,
            optimum.gap,
            optimum.questions,
        )
        for name, curve in zip(names, curves, strict=True)
        for leakage, optimum in zip(curve.leakage, curve.optima, strict=True)
    ]
    columns = ("distribution", "kind", "mi_leakage", "loss", "people", "gap", "subsets")
    return as_columns(columns, rows)


EXPERIMENT = Experiment("ours:frontier", "The best trade of privacy for precision", ABOUT, perform, adult=True)
