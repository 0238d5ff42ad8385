"""Apply budgets to a program, with error messages for budgets that cannot be met."""

import numpy as np

from subsetprivacy._types import FloatArray
from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages.for_plans import ALLOW_MORE, LEAKS_WITHOUT_DATA
from subsetprivacy.optimizing.arguments import DesignTask
from subsetprivacy.optimizing.feasible import Extreme, inside, least
from subsetprivacy.optimizing.program import Program, as_leakage, as_linear

_CLOSE = 1e-8  # a budget this close to the least possible leakage is treated as equal to it


def apply_budgets(task: DesignTask, columns: Program, budget: dict[str, float]) -> tuple[Program, FloatArray]:
    """Return the program with its budgets and feasible weights, or raise an error for a budget that is too small."""
    limited = columns.limited(budget)
    start = inside(limited)
    if start is not None:
        return limited, start
    before: dict[str, float] = {}
    for metric, value in budget.items():
        extreme = least(columns.limited(before), metric)
        room = as_linear(metric, value) - extreme.value
        if abs(room) <= _CLOSE:
            face = _face(columns, extreme, {name: budget[name] for name in budget if name != metric})
            if face is not None:
                return face
        alone = _face(columns, extreme, {})
        if room < -_CLOSE or (room <= _CLOSE and alone is None):
            raise _refusal(task, metric, value, extreme, bool(before), attained=alone is not None)
        before[metric] = value
    # All budgets but the last can be met together, and the last only up to rounding.
    raise _refusal(task, metric, value, extreme, len(budget) > 1, attained=False)


def _face(columns: Program, extreme: Extreme, others: dict[str, float]) -> tuple[Program, FloatArray] | None:
    """Return the program restricted to designs of least leakage, if they are identifiable."""
    if extreme.face is None or np.linalg.matrix_rank(columns.V[extreme.face]) < columns.p - 1:
        return None
    face = columns.limited(others).restricted(extreme.face)
    start = inside(face)
    return None if start is None else (face, start)


def _refusal(
    task: DesignTask, metric: str, value: float, extreme: Extreme, others: bool, *, attained: bool
) -> ArgumentError:
    nearest = np.ceil(as_leakage(metric, extreme.value) * 1e5 - 1e-4) / 1e5 + 0.0
    least_words = f"{nearest:.5g} or more" if attained else f"above {nearest:.5g}"
    within = ", given the other budgets" if others else ""
    sets = f"sets of {task.smallest} or more"
    return ArgumentError(
        f"`budget` must be {least_words} for {metric!r} with {task.kind} designs and {sets}{within}; got {value:g}.",
        LEAKS_WITHOUT_DATA if task.full_set else ALLOW_MORE,
    )
