"""Surveys with questions of every kind, which several tests look at, and those whose results of version 1 are kept."""

from collections.abc import Mapping
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from released import drawn, options, sent, survey_of, values

import subsetprivacy as sp
from subsetprivacy.collect.survey.tallies import Released
from subsetprivacy.design import Design

SIX = options(6)
LISTED = sp.partition(
    SIX,
    partitions=[
        [(SIX[a], SIX[b]), (SIX[c], SIX[d]), (SIX[e], SIX[f])]
        for a, b, c, d, e, f in ((0, 1, 2, 3, 4, 5), (0, 2, 1, 4, 3, 5), (0, 3, 1, 5, 2, 4), (0, 4, 1, 3, 2, 5))
    ],
)
LOPSIDED = sp.independent(
    options(5),
    {(options(5)[i], options(5)[j]): nu for (i, j), nu in zip(combinations(range(5), 2), [0.3, 0.1, *[0.075] * 8])},
)
FOUR = options(4)
GIVEN = sp.conditional(FOUR, {**dict.fromkeys(combinations(FOUR, 3), 0.3), FOUR[:2]: 0.1, FOUR[2:]: 0.1})
DESIGNS: dict[str, Design] = {
    "uniform": sp.uniform(options(5)),
    "four": sp.uniform(options(4)),
    "lopsided": LOPSIDED,
    "hadamard": sp.hadamard(options(12)),
    "warner": sp.warner(("no", "yes")),
    "pair": sp.fixed_size(options(3), 2),
    "given": GIVEN,
    "halves": sp.partition(options(7), 2),
    "thirds": sp.partition(options(9), 3),
    "listed": LISTED,
    "large": sp.uniform(options(48)),
}


def truths(designs: Mapping[str, Design], n: int, seed: int = 1) -> dict[str, Any]:
    """Return the true values of n people, the last option of each variable the most frequent."""
    shares = {name: np.arange(1, design.p + 1.0) for name, design in designs.items()}
    return {name: values(w, n, seed + k) for k, (name, w) in enumerate(shares.items())}


def _every_kind() -> Released:
    survey = survey_of(DESIGNS, [["uniform", "warner", "pair"]], mode="code", batch=25)
    return sent(survey, truths(DESIGNS, 1500), skips=lambda name, k: name in ("four", "thirds") and k % 12 == 0)


def _few_people() -> Released:
    designs = {name: DESIGNS[name] for name in ("uniform", "warner", "thirds", "halves")}
    return drawn(survey_of(designs, [["uniform", "thirds"]]), truths(designs, 40), releases=1)


def _three_releases() -> Released:
    designs = {"a": sp.uniform(options(5)), "b": sp.warner(("no", "yes")), "c": sp.partition(options(9), 3)}
    return drawn(survey_of(designs, [["a", "b"]]), truths(designs, 400), releases=3)


_MADE = {"every_kind": _every_kind, "few_people": _few_people, "three_releases": _three_releases}
KEPT = tuple(_MADE)


@cache
def kept_survey(name: str) -> Released:
    """Return a survey whose results of version 1 are in tests/collect/service/golden."""
    return _MADE[name]()
