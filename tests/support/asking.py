"""Questions to people who may behave in ways that the checks should find, as counts."""

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import frozen

import subsetprivacy as sp
from subsetprivacy.data.questions import question_kind
from subsetprivacy.mechanism.randomness import SeededSource


@frozen
class Manners:
    """How people answer where they are not simply honest.

    Attributes
    ----------
    always_yes, at_random
        The shares of people who take the first answer whatever it is, or any.
    skips
        From what is shown (a row of codes a person) and the values: the probability to skip.
    steers
        From what is shown, the values and a generator: the questions that are asked instead.
    """

    always_yes: float = 0.0
    at_random: float = 0.0
    skips: Callable[[Any, Any], Any] | None = None
    steers: Callable[[Any, Any, np.random.Generator], Any] | None = None


HONEST = Manners()


def options(p: int) -> list[str]:
    """Return p labels."""
    return [f"option {j + 1}" for j in range(p)]


def ask(design: sp.Design, w: Any, n: int, seed: int, manners: Manners = HONEST, *, keep: bool = False) -> Any:
    """Return the `QuestionCounts` and `SubsetCounts` of n people; `keep`: the groups shown are kept for all."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(design.p, n, p=np.asarray(w, float) / np.sum(w))
    asked = np.asarray(design.draw_options(n, SeededSource(rng)), np.int64)
    shown = rng.permuted(asked, axis=1)
    if manners.steers is not None:
        shown = manners.steers(shown, truth, rng)
    holds = np.column_stack([design.contains(column, truth) for column in shown.T])
    chosen = holds.argmax(axis=1)
    chosen = np.where(rng.random(n) < manners.always_yes, 0, chosen)
    chosen = np.where(rng.random(n) < manners.at_random, rng.integers(shown.shape[1], size=n), chosen)
    if manners.skips is not None:
        chosen = np.where(rng.random(n) < manners.skips(shown, truth), -1, chosen)
    codes = np.where(chosen == -1, design.missing_code, shown[np.arange(n), np.maximum(chosen, 0)])
    counts = sp.SubsetData(codes, design).counts()
    if question_kind(design) == "yes_no":
        return sp.QuestionCounts(design, shown[:, 0], answers=chosen), counts
    kept = shown if keep else np.where((chosen == -1)[:, None], np.sort(shown, axis=1), 0)
    return sp.QuestionCounts(design, kept, answers=chosen), counts


def prefer_last(shown: Any, truth: Any, rng: np.random.Generator) -> Any:
    """Ask a third of the people about the last two options."""
    full = int(shown[0].sum())
    last = 3 << (full.bit_length() - 2)
    fixed = rng.permuted(np.tile([last, full - last], (len(shown), 1)), axis=1)
    return np.where((rng.random(len(shown)) < 1 / 3)[:, None], fixed, shown)


def redraw(shown: Any, truth: Any, rng: np.random.Generator) -> Any:
    """Let people draw another question, once, where the smaller side holds their answer."""
    smaller = np.where(np.bitwise_count(shown[:, 0]) <= np.bitwise_count(shown[:, 1]), shown[:, 0], shown[:, 1])
    again = smaller >> truth & 1 == 1
    return np.where(again[:, None], shown[rng.permutation(len(shown))], shown)


def sensitive(shown: Any, truth: Any) -> Any:
    """Return the probability to skip: people with the last option skip half of the time when it is asked about."""
    p = int(shown[0].sum()).bit_length()
    return np.where((truth == p - 1) & (shown[:, 0] >> (p - 1) & 1 == 1), 0.5, 0.02)
