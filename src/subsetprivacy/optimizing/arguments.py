"""Check the arguments of `optimal` and `frontier`. Errors name the nearest possible value."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, get_args

import numpy as np
from attrs import frozen

from subsetprivacy._checks import check_choice, check_count, check_distribution
from subsetprivacy._choices import Criterion, OptimalKind, Over, Solver
from subsetprivacy._types import FloatArray, Label
from subsetprivacy.design.require import check_size
from subsetprivacy.errors import ArgumentError, DistributionError, TooLargeError
from subsetprivacy.messages.for_designs import CONDITIONAL_KIND, USE_WARNER
from subsetprivacy.messages.for_general import NEAREST
from subsetprivacy.messages.for_plans import BUDGET_BY_LEAKAGE, GROUP_OR_HADAMARD, INTERIOR_SOLVER, SMALLEST_SHARE
from subsetprivacy.optimizing import conic
from subsetprivacy.optimizing.criterion import CRITERIA
from subsetprivacy.optimizing.program import METRICS
from subsetprivacy.subsets import Categories

KINDS: tuple[OptimalKind, ...] = get_args(OptimalKind)
OVER: tuple[Over, ...] = get_args(Over)
MOST_CATEGORIES: dict[Solver, int] = {"interior": 14, "conic": conic.MOST}
LEAST_SHARE = 1e-6  # of a category: with less, the information of subsets differs by more than double precision


@frozen(eq=False)
class DesignTask:
    """The checked arguments of `optimal` and `frontier`. `w` has a row per distribution."""

    categories: Categories
    w: FloatArray
    kind: OptimalKind
    criterion: Criterion
    smallest: int
    over: Over
    full_set: bool
    solver: Solver
    tol: float
    max_iter: int
    progress: Callable[[str], object] | None

    @property
    def worst(self) -> bool:
        """Whether the largest loss is minimized instead of the average."""
        return self.over == "worst" and len(self.w) > 1


def read_design_task(
    categories: Iterable[Label],
    w: Any,
    *,
    kind: OptimalKind,
    criterion: Criterion,
    smallest: int,
    over: Over,
    full_set: bool,
    solver: Solver,
    tol: float,
    max_iter: int,
    progress: Callable[[str], object] | None,
) -> DesignTask:
    """Check the arguments and return them."""
    labels = categories if isinstance(categories, Categories) else Categories(categories)
    check_choice(kind, KINDS, "kind")
    check_choice(criterion, CRITERIA, "criterion")
    check_choice(over, OVER, "over")
    check_choice(solver, tuple(MOST_CATEGORIES), "solver")
    _check_number(labels, kind, solver)
    if progress is not None and not callable(progress):
        raise ArgumentError(f"`progress` must be called with a line of text; got {type(progress).__name__}.")
    if not isinstance(tol, (int, float)) or not 0 < tol < 1:
        raise ArgumentError(f"`tol` must be between 0 and 1; got {tol!r}.")
    return DesignTask(
        labels,
        _read_distributions(w, labels),
        kind,
        criterion,
        _check_smallest(smallest, labels.p, kind),
        over,
        bool(full_set),
        solver,
        float(tol),
        check_count(max_iter, "max_iter", least=1),
        progress,
    )


def _check_number(labels: Categories, kind: OptimalKind, solver: Solver) -> None:
    most, other = MOST_CATEGORIES[solver], MOST_CATEGORIES["interior"]
    if labels.p > most:
        raise TooLargeError(
            f"`categories` must have at most {most} labels for solver={solver!r}, which weighs all 2^p subsets; got "
            f"{labels.p}.",
            INTERIOR_SOLVER(most=other) if labels.p <= other else GROUP_OR_HADAMARD,
        )
    least, advice = {
        "independent": (4, CONDITIONAL_KIND),
        "conditional": (3, USE_WARNER),
    }[kind]
    check_size(labels, least, kind, advice)


def _check_smallest(smallest: Any, p: int, kind: str) -> int:
    size, most = check_count(smallest, "smallest", least=2), p // 2 if kind == "independent" else p - 1
    if size > most:
        why = "either answer must leave that many" if kind == "independent" else "the full set says nothing"
        raise ArgumentError(
            f"`smallest` must be at most {most} for {kind} designs on {p} categories, where {why}; got {size}.",
            NEAREST(nearest=most),
        )
    return size


def _read_distributions(w: Any, labels: Categories) -> FloatArray:
    """Return one or several distributions as rows."""
    several = not isinstance(w, Mapping) and not hasattr(w, "items") and _holds_distributions(w)
    named = [(f"w[{k}]", distribution) for k, distribution in enumerate(w)] if several else [("w", w)]
    if not named:
        raise DistributionError("`w` must be a distribution or a list of them; got an empty list.")
    rows = np.array([check_distribution(distribution, labels.labels, name) for name, distribution in named])
    for (name, _), row in zip(named, rows, strict=True):
        if row.min() < LEAST_SHARE:
            raise DistributionError(
                f"`{name}` must be at least {LEAST_SHARE:g} in every category, since normal limits need all of them; "
                f"got {row.min():.3g} for {labels.labels[int(row.argmin())]!r}.",
                SMALLEST_SHARE,
            )
    return rows / rows.sum(axis=1, keepdims=True)


def _holds_distributions(w: Any) -> bool:
    if isinstance(w, np.ndarray):
        return w.ndim > 1
    return isinstance(w, Iterable) and any(isinstance(entry, (Mapping, Iterable)) for entry in w)


def read_budget(budget: Any) -> dict[str, float]:
    """Return the budgets as numbers.

    Raises
    ------
    ArgumentError
        If a metric is unknown, or a budget is not a number.
    """
    if budget is None:
        return {}
    if not isinstance(budget, Mapping):
        raise ArgumentError(
            f"`budget` must map leakages to the most they may be; got {type(budget).__name__}.", BUDGET_BY_LEAKAGE
        )
    for metric, value in budget.items():
        check_choice(metric, METRICS, "budget")
        number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
        if not number or not np.isfinite(value) or value < 0:
            raise ArgumentError(
                f"`budget` must be finite and not negative; got {value if number else type(value).__name__} "
                f"for {metric!r}."
            )
    return {metric: float(value) for metric, value in budget.items()}
