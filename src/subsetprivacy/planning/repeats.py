"""`repeat_risk`: the risk of asking the same person again, since subsets that contain the value intersect."""

from collections.abc import Mapping
from functools import reduce
from math import comb

import numpy as np
from attrs import evolve

from subsetprivacy._checks import check_count, check_distribution, read_only
from subsetprivacy._seeds import numpy_generator
from subsetprivacy._types import Distribution, FloatArray, Seed
from subsetprivacy.design import Design, Product, require_design
from subsetprivacy.errors import ArgumentError, TooLargeError, UnknownDesignError
from subsetprivacy.mechanism.randomness import SeededSource
from subsetprivacy.mechanism.reports import draw_given
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_general import NEAREST
from subsetprivacy.messages.for_plans import HADAMARD_HAS_A_BOUND, ONE_VARIABLE_AT_A_TIME
from subsetprivacy.planning.repeat_result import RepeatRisk

MAX_LISTED = 16  # the most categories for which every possible intersection is listed
MAX_SIMULATED = 4096
MAX_COMBINATIONS = 1 << 20  # of the values of several variables
MOST_TIMES = 1000
_DRAWS = 100_000
_CELLS = 1 << 24


def repeat_risk(design: Design, w: Distribution | None = None, times: int = 2, *, seed: Seed | None = 0) -> RepeatRisk:
    r"""Return what several independent draws for the same person would reveal.

    Parameters
    ----------
    design
        The design with which subsets are drawn. For a covered design the
        result is for someone who knows which rows belong to the person. The
        variables of a product are drawn independently and treated one by one.
    w
        The distribution of the value, for the averages. By default all values are equally likely.
    times
        The number of draws, up to 1000.
    seed
        A number, or a NumPy Generator or SeedSequence, for designs whose intersections are simulated. The default is 0,
        so that the same call gives the same numbers. None gives a simulation that is not repeatable.

    Raises
    ------
    ArgumentError, DistributionError
        If an argument is out of range.
    UnknownDesignError
        If the design is unknown.
    TooLargeError
        If there are too many categories to list, to simulate or to bound.

    Notes
    -----
    Given the value x the draws are independent, so a value j remains with probability :math:`q_{xj}^r`. Only x remains
    with probability :math:`\sum_{B\ni x}(-1)^{|B|-1} f(B)^r`, where :math:`f(B) = \sum_{a\supseteq B}\mu_a`. This sum
    is listed for up to 16 categories. If the design treats all categories alike, it is computed from the distribution
    of sizes. Otherwise it is simulated, and for more than 4,096 categories it is an upper bound. For several variables,
    candidates and probabilities multiply. If no answer rules out a value, r answers multiply the odds by at most
    :math:`e^{r\varepsilon}`.

    Examples
    --------
    >>> from subsetprivacy.design import uniform
    >>> risk = repeat_risk(uniform(["black", "red", "green", "blue"]))
    >>> round(risk.expected, 3), round(risk.probability, 3)
    (1.333, 0.667)
    >>> from subsetprivacy.design import warner
    >>> repeat_risk(warner(["no", "yes"], q=0.25))
    <RepeatRisk: 2 draws can multiply the odds of a value by up to 9; none of 2 candidates is ruled out>
    """
    if check_count(times, "times", least=1) > MOST_TIMES:
        raise ArgumentError(f"`times` must be at most {MOST_TIMES}; got more.", NEAREST(nearest=MOST_TIMES))
    generator = numpy_generator(seed)
    if not require_design(design).is_known:
        raise UnknownDesignError("the design must be known to compute what several draws reveal; got one that is not.")
    drawn = design.exposed
    several = drawn.product
    if several is not None and drawn.p > MAX_COMBINATIONS:
        raise TooLargeError(
            f"the variables together must have at most {MAX_COMBINATIONS} combinations; got {drawn.p}.",
            ONE_VARIABLE_AT_A_TIME(name=next(iter(several.by_name()))),
        )
    p = design.p
    weights = read_only(np.full(p, 1 / p) if w is None else check_distribution(w, design.categories.labels))
    if several is not None:
        return evolve(_by_variable(several, weights, int(times), generator), design=design)
    return evolve(_one_variable(drawn, weights, int(times), generator), design=design)


def _by_variable(design: Product, w: FloatArray, times: int, generator: np.random.Generator) -> RepeatRisk:
    """Compute each variable at its own margin, and multiply, because the draws are independent given the values."""
    table = w.reshape([factor.p for factor in design.factors])
    parts = {}
    for axis, (name, factor) in enumerate(design.by_name().items()):
        margin = table.sum(axis=tuple(k for k in range(table.ndim) if k != axis))
        parts[name] = _one_variable(factor, read_only(margin), times, generator)
    candidates = reduce(np.multiply.outer, [part.candidates for part in parts.values()]).ravel()
    alone = reduce(np.multiply.outer, [part.alone for part in parts.values()]).ravel()
    remarks = tuple(
        Note(note.kind, f"{name}: {note.text}") for name, part in parts.items() for note in part.approximations
    )
    return RepeatRisk(design, times, w, read_only(candidates), read_only(alone), remarks, parts)


def _one_variable(design: Design, w: FloatArray, times: int, generator: np.random.Generator) -> RepeatRisk:
    remarks: tuple[Note, ...] = ()
    if design.by_size is not None:
        candidates, alone = _alike(design.p, design.by_size, times)
    elif design.p <= MAX_LISTED and design.enumerable:
        candidates, alone = _listed(design, times)
    elif design.p <= MAX_SIMULATED:
        candidates, alone, variance = _simulated(design, times, generator)
        se = float(np.sqrt(w**2 @ variance))
        remarks = (Note(NoteKind.SIMULATED, f"The probability was simulated, standard error {se:.1g}."),)
    elif design.has_alike_triples:
        candidates, alone = _bounded(design, times)
        remarks = (Note(NoteKind.ASSUMPTION, "The probability is an upper bound."),)
    else:
        raise TooLargeError(
            f"the risk of repeats must be simulated with at most {MAX_SIMULATED} categories; got {design.p}.",
            HADAMARD_HAS_A_BOUND,
        )
    return RepeatRisk(design, times, w, read_only(candidates), read_only(alone), remarks)


def _alike(p: int, by_size: Mapping[int, float], times: int) -> tuple[FloatArray, FloatArray]:
    """Track the number of candidates: a draw of size k keeps a hypergeometric number of them besides the value."""
    step = np.zeros((p + 1, p + 1))
    for c in range(1, p + 1):
        for k, share in by_size.items():
            for kept in range(max(0, c + k - p - 1), min(c, k)):
                ways = comb(c - 1, kept) * comb(p - c, k - 1 - kept)
                step[c, kept + 1] += share * (ways / comb(p - 1, k - 1))
    probabilities = np.linalg.matrix_power(step, times)[p]
    return np.full(p, probabilities @ np.arange(p + 1)), np.full(p, probabilities[1])


def _listed(design: Design, times: int) -> tuple[FloatArray, FloatArray]:
    """Return exact numbers from the distribution over all 2^p sets that can remain, for every value of the person."""
    p, mu = design.p, design.support()[1]
    rows = design.support_incidence.inner(np.eye(p))  # P(a | x) / mu_a, which is 0 if a rules out x
    masks = (np.int64(1) << np.arange(p)) @ (rows > 0)
    members = np.bitwise_count(np.arange(1 << p))
    candidates, alone = np.empty(p), np.empty(p)
    for x in range(p):
        left = np.bincount(masks, weights=mu * rows[x], minlength=1 << p).astype(np.float64)
        _along_supersets(left, +1)  # the chance that a draw contains all of B
        left **= times
        _along_supersets(left, -1)  # the chance that exactly C remains
        candidates[x], alone[x] = left @ members, max(left[1 << x], 0.0)
    return candidates, alone


def _along_supersets(values: FloatArray, sign: int) -> None:
    """Add to (or subtract from) every set the values of its supersets, one category after the other, in place."""
    for j in range(len(values).bit_length() - 1):
        pairs = values.reshape(-1, 2, 1 << j)
        pairs[:, 0] += sign * pairs[:, 1]


def _simulated(design: Design, times: int, generator: np.random.Generator) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Intersect the subsets of simulated people of every category, and return the share alone and its variance."""
    p = design.p
    each = max(min(_DRAWS, _CELLS // p) // p, 1)
    x = np.tile(np.arange(p), each)
    source = SeededSource(generator)
    left = np.ones((len(x), p), bool)
    for _ in range(times):
        left &= design.possible(draw_given(x, design, source)[:, None], np.arange(p))
    alone = (left.sum(axis=1) == 1).reshape(each, p).mean(axis=0)
    return _expected(design, times), alone, alone * (1 - alone) / each


def _expected(design: Design, times: int) -> FloatArray:
    """Return the sum over j of q_xj to the power of the number of draws."""
    q = design.pair_probability
    if q is None:
        return (design.Q**times).sum(axis=1)
    return np.full(design.p, 1 + (design.p - 1) * q**times)


def _bounded(design: Design, times: int) -> tuple[FloatArray, FloatArray]:
    """Bound the chance that no other value remains by the first two moments of their number, if triples are alike.

    P(N = 0) <= 1 - (EN)^2 / EN^2 by the Cauchy–Schwarz inequality.
    """
    codes, mu = design.support()
    both = (
        design.contains(codes, np.int64(0)) & design.contains(codes, np.int64(1)) & design.contains(codes, np.int64(2))
    )
    others = _expected(design, times) - 1
    squares = others + (design.p - 1) * (design.p - 2) * float(mu @ both) ** times
    return others + 1, 1 - others**2 / squares
