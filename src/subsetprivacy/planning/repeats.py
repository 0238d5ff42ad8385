"""What asking the same person again would leave: true subsets intersect."""

from math import comb, exp, isfinite
from typing import Any

import numpy as np
from attrs import frozen

from subsetprivacy._checks import check_count, check_distribution
from subsetprivacy._checks import frozen as read_only
from subsetprivacy._types import ArrayLike, FloatArray
from subsetprivacy.design import Design, Hadamard, Sized, require_design
from subsetprivacy.errors import TooLargeError
from subsetprivacy.mechanism.randomness import SeededSource
from subsetprivacy.mechanism.reports import draw_given
from subsetprivacy.tables import Table, frame, number

MAX_LISTED = 16  # categories up to which every possible intersection is listed
MAX_SIMULATED = 4096
_DRAWS = 100_000
_CELLS = 1 << 24


@frozen(eq=False, repr=False)
class RepeatRisk:
    """What several independent draws for one person leave possible.

    Attributes
    ----------
    design, times
        The design, and how often it was drawn.
    w
        The distribution that the averages are over.
    candidates
        Per category of the person, how many values are left on average, her own among them.
    alone
        Per category of the person, the probability that only her own is left.
    remark
        What is approximate about `alone`; empty where it is exact.
    """

    design: Design
    times: int
    w: FloatArray
    candidates: FloatArray
    alone: FloatArray
    remark: str = ""

    @property
    def expected(self) -> float:
        """The number of values left, on average over the people."""
        return float(self.w @ self.candidates)

    @property
    def probability(self) -> float:
        """The share of people of whom only their own value is left."""
        return float(self.w @ self.alone)

    @property
    def odds(self) -> float:
        """What the answers can multiply the odds of a value by; infinite where they can rule others out."""
        return exp(self.times * self.design.exposed.epsilon)

    def to_frame(self, *, engine: str = "pandas") -> Any:
        """Return a data frame of pandas, polars or pyarrow: a row per category."""
        columns = {
            "category": list(self.design.categories),
            "candidates": self.candidates,
            "alone": self.alone,
        }
        return frame(columns, engine)

    def summary(self) -> Table:
        """Return the table to print or to show in a notebook."""
        shown = list(zip(self.design.categories, self.candidates, self.alone, strict=True))[:48]
        rows = tuple((str(label), number(left, 3), number(alone)) for label, left, alone in shown)
        total = ("all people", number(self.expected, 3), number(self.probability))
        notes = ["Asking the same question again leaves what the first answer left: remember it, or ask once."]
        if isfinite(self.odds):
            notes.append(f"No answer rules a value out; together they can multiply its odds by {self.odds:.3g}.")
        if self.remark:
            notes.append(self.remark)
        title = f"{self.times} draws for the same person: {self.design.kind} design, {self.design.p} categories"
        return Table(title, ("value", "candidates left", "only it is left"), (*rows, total), tuple(notes))

    def __repr__(self) -> str:
        return (
            f"<{self.times} draws for one person leave {self.expected:.4g} of {self.design.p} candidates, "
            f"one alone with probability {self.probability:.4g}>"
        )

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def repeat_risk(design: Design, w: ArrayLike | None = None, times: int = 2, *, seed: int = 0) -> RepeatRisk:
    r"""Say what several independent draws for the same person would leave possible.

    Parameters
    ----------
    design
        How subsets are drawn. Of a covered design, what is left to somebody
        who knows which rows are this person's.
    w
        The distribution of the value, for the averages; by default even.
    times
        How many draws.
    seed
        For designs whose intersections are simulated.

    Notes
    -----
    Given the value x the draws are independent, so a value j is left with
    probability :math:`q_{xj}^r`. Only x is left with probability
    :math:`\sum_{B\ni x}(-1)^{|B|-1} f(B)^r`, where :math:`f(B) = \sum_{a\supseteq B}\mu_a`: this is listed up to
    16 categories, follows from the law of sizes where all categories are alike,
    and else is simulated; for more than 4096 categories it is an upper bound.

    Examples
    --------
    >>> from subsetprivacy.design import uniform
    >>> risk = repeat_risk(uniform(["black", "red", "green", "blue"]))
    >>> round(risk.expected, 3), round(risk.probability, 3)
    (1.333, 0.667)
    """
    check_count(times, "times", least=1)
    p = require_design(design).p
    weights = np.full(p, 1 / p) if w is None else check_distribution(w, design.categories.labels)
    drawn = design.exposed
    remark = ""
    if isinstance(drawn, Sized):
        candidates, alone = _alike(drawn, times)
    elif p <= MAX_LISTED and drawn.enumerable:
        candidates, alone = _listed(drawn, times)
    elif p <= MAX_SIMULATED:
        candidates, alone, variance = _simulated(drawn, times, seed)
        error = float(np.sqrt(weights**2 @ variance))
        remark = f"The probability was simulated, standard error {error:.1g}."
    elif isinstance(drawn, Hadamard):
        candidates, alone = _bounded(drawn, times)
        remark = "The probability is an upper bound."
    else:
        raise TooLargeError(
            f"what is left is simulated, for at most {MAX_SIMULATED} categories; got {p}. "
            "Hint: sp.hadamard(categories) has a bound."
        )
    return RepeatRisk(design, times, read_only(weights), read_only(candidates), read_only(alone), remark)


def _alike(design: Sized, times: int) -> tuple[FloatArray, FloatArray]:
    """Follow the number of candidates: of c, a draw of size k keeps a hypergeometric number besides the value."""
    p = design.p
    step = np.zeros((p + 1, p + 1))
    for c in range(1, p + 1):
        for k, share in design.by_size.items():
            for kept in range(max(0, c + k - p - 1), min(c, k)):
                ways = comb(c - 1, kept) * comb(p - c, k - 1 - kept)
                step[c, kept + 1] += share * (ways / comb(p - 1, k - 1))
    law = np.linalg.matrix_power(step, times)[p]
    return np.full(p, law @ np.arange(p + 1)), np.full(p, law[1])


def _listed(design: Design, times: int) -> tuple[FloatArray, FloatArray]:
    """Return the exact law over all 2^p sets that can be left, for every value of the person."""
    p, mu = design.p, design.support()[1]
    rows = design.support_incidence.inner(np.eye(p))  # P(a | x) / mu_a, and where it is 0 the value x is ruled out
    masks = (np.int64(1) << np.arange(p)) @ (rows > 0)
    members = np.bitwise_count(np.arange(1 << p))
    candidates, alone = np.empty(p), np.empty(p)
    for x in range(p):
        left = np.bincount(masks, weights=mu * rows[x], minlength=1 << p).astype(np.float64)
        _along_supersets(left, +1)  # the chance to hold all of B
        left **= times
        _along_supersets(left, -1)  # the chance that exactly C is left
        candidates[x], alone[x] = left @ members, max(left[1 << x], 0.0)
    return candidates, alone


def _along_supersets(values: FloatArray, sign: int) -> None:
    """Add to (or take from) every set the values of its supersets, one category after the other, in place."""
    for j in range(len(values).bit_length() - 1):
        pairs = values.reshape(-1, 2, 1 << j)
        pairs[:, 0] += sign * pairs[:, 1]


def _simulated(design: Design, times: int, seed: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Intersect the subsets of as many people of every category; return the share left alone and its variance."""
    p = design.p
    each = max(min(_DRAWS, _CELLS // p) // p, 1)
    x = np.tile(np.arange(p), each)
    source = SeededSource(np.random.default_rng(seed))
    left = np.ones((len(x), p), bool)
    for _ in range(times):
        left &= design.holds(draw_given(x, design, source)[:, None], np.arange(p))
    alone = (left.sum(axis=1) == 1).reshape(each, p).mean(axis=0)
    return _expected(design, times), alone, alone * (1 - alone) / each


def _expected(design: Design, times: int) -> FloatArray:
    """Return the sum over j of q_xj to the power of the number of draws."""
    q = design.pair_probability
    if q is None:
        return (design.Q**times).sum(axis=1)
    return np.full(design.p, 1 + (design.p - 1) * q**times)


def _bounded(design: Design, times: int) -> tuple[FloatArray, FloatArray]:
    """Bound the chance that no other is left by the first two moments of their number, where triples are alike.

    P(N = 0) <= 1 - (EN)^2 / EN^2 by Cauchy and Schwarz.
    """
    codes, mu = design.support()
    both = design.holds(codes, np.int64(0)) & design.holds(codes, np.int64(1)) & design.holds(codes, np.int64(2))
    others = _expected(design, times) - 1
    squares = others + (design.p - 1) * (design.p - 2) * float(mu @ both) ** times
    return others + 1, 1 - others**2 / squares
