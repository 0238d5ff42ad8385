"""Find private categories with negative estimated counts, for which corrected equations have no solution."""

import numpy as np

from subsetprivacy._types import FloatArray
from subsetprivacy.predictors.corrected import CorrectedObjective
from subsetprivacy.predictors.problem import OutcomeProblem
from subsetprivacy.tables import label_text


def estimated_counts(objective: CorrectedObjective) -> FloatArray:
    """Return the indicators' estimates for every cell, shape (kinds, cells).

    The rows are the number of people, of people with outcome 1 (or of events), and of people with outcome 0.
    """
    people = objective.people
    out = np.zeros((3, people.design.p))
    for block in people.blocks():
        D = block.weighted(objective.indicators(block.part))
        y = np.broadcast_to(block.y, D.shape)
        out += np.stack([D.sum(axis=1), (D * y).sum(axis=1), (D * (1 - y)).sum(axis=1)])
    return out


def negative_counts(problem: OutcomeProblem, objective: CorrectedObjective) -> tuple[str, ...]:
    """Return the names of private categories with a negative count of all people or of one outcome.

    If no count is negative, return the category with the smallest, which may be negative at some observed columns.
    """
    layout, counts = problem.layout, estimated_counts(objective)
    kinds = {"linear": (0,), "poisson": (0, 1), "logit": (0, 1, 2)}[problem.family]
    least = []
    for name, categories in layout.private.items():
        where = np.repeat(layout.coordinate(name), problem.people.outcomes)
        for j, label in enumerate(categories.labels):
            if problem.people.private_outcome:
                of = _by_outcome(counts[0], where == j, problem.people.outcomes)
            else:
                of = [float(counts[kind, where == j].sum()) for kind in kinds]
            least.append((min(of), f"{name}[{label_text(label)}]"))
    named = [name for count, name in least if count <= 0]
    return tuple(named or [min(least)[1]])


def _by_outcome(counts: FloatArray, inside: FloatArray, outcomes: int) -> list[float]:
    """Return the counts of each category of a private outcome among the cells inside."""
    return list((counts * inside).reshape(-1, outcomes).sum(axis=0).astype(float))
