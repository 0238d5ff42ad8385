"""Designs with forbidden sets of options: no set within one of them can be sent.

A set is a code, the mask of its options. Both answers to a question count. If the list or the rest of the options lies
within a forbidden set, the question is not asked. The remaining questions must still identify the shares. They use the
existing rules ("listed" and "given"), so a browser does not need to know about forbidden sets. Everything here gives
the same design on every machine, because the surveys of a study must have the same one.
"""

import math
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache, singledispatch
from itertools import combinations
from typing import Any

import numpy as np

from subsetprivacy._types import BoolArray, IntArray
from subsetprivacy.collect.survey.drawing import Stream, draw_question
from subsetprivacy.collect.survey.rules import MOST_LISTED, RECOMMENDED_KINDS, asking, number_of_questions
from subsetprivacy.design import Design, Hadamard, Independent, conditional, hadamard, independent, partition
from subsetprivacy.design.hadamard import with_columns
from subsetprivacy.errors import InvalidDesignError
from subsetprivacy.messages import Advice
from subsetprivacy.messages.for_surveys import (
    ADD_OPTIONS_OR_DEVICE,
    FEWER_OPTIONS_OR_DEVICE,
    FIVE_OPTIONS,
    FIVE_OPTIONS_OR_DEVICE,
    FORBID_FEWER_OR_DEVICE,
    RECOMMENDED_OR_DEVICE,
)

Forbidden = tuple[int, ...]
_MOST_GROUPS = 4096  # of all listed partitions together: two lists of them must fit into a manifest
_TRIED_ROWS = 3200  # of Hadamard matrices with their columns in other orders
_ROUNDS = 2000  # of fitting weights
_FITTED = 1e-12
_PLACES = 11
_NEARLY_ZERO = 1e-9
_SOLVED, _INFEASIBLE = 0, 2  # as `linprog` says it
_LABEL = "never_alone"


def codes_of(options: tuple[str, ...], sets: Iterable[Iterable[str]]) -> Forbidden:
    """Return the codes of sets of options, sorted."""
    return tuple(sorted(sum(1 << options.index(option) for option in members) for members in sets))


def is_within(codes: IntArray, forbidden: Forbidden) -> BoolArray:
    """Tell which sets lie within a forbidden one."""
    return np.logical_or.reduce([(codes & ~np.int64(code)) == 0 for code in forbidden])


def without(design: Design, forbidden: Forbidden) -> Design:
    """Return the design most similar to this one that never sends a forbidden set, or a set within it.

    A design that never does is returned unchanged. For a Hadamard design, the questions are assigned to the options in
    another order, which costs nothing at even shares. Otherwise the forbidden questions or sets are removed, and the
    others get new weights.

    Raises
    ------
    InvalidDesignError
        If the remaining questions cannot identify the shares. The error says what to use instead.
    """
    outcome = _cached_outcome(design, forbidden)
    if isinstance(outcome, InvalidDesignError):
        raise InvalidDesignError(outcome.message, outcome.advice)
    return outcome


@lru_cache(maxsize=256)  # an editor checks its text with every change
def _cached_outcome(design: Design, forbidden: Forbidden) -> Design | InvalidDesignError:
    """Return the design, or the error. A refusal can take as long as a design, so it is cached as well."""
    try:
        return _find_design(design, forbidden)
    except InvalidDesignError as error:
        return InvalidDesignError(error.message, error.advice)  # without the traceback, which keeps everything alive


def _find_design(design: Design, forbidden: Forbidden) -> Design:
    if not design.rules_out:
        raise InvalidDesignError("must be left out with two `options`; no answer rules one of them out.")
    kind, rule = asking(design)
    if not _can_leave(design, forbidden):
        return design
    if kind == "local":
        return _around(design, forbidden)
    for made in _candidates(design, rule, forbidden):
        if made is not None and made.is_identifiable:
            return made
    raise _refusal(design, forbidden)


@singledispatch
def _candidates(design: Design, rule: dict[str, Any], forbidden: Forbidden) -> Iterator[Design | None]:
    """Yield the designs to use instead of one that asks questions, most similar first.

    The rule decides. Two kinds have a better solution and are registered below, because it needs the stream of this
    package, which designs do not know.
    """
    if rule["rule"] == "uniform":
        yield _all_questions(design, forbidden)
        yield from _many_hadamard(design, forbidden)
    elif rule["rule"] == "groups":
        yield _even_groups(design, rule, forbidden)
    elif len(set(rule["weights"])) > 1:
        yield _reweighted(design, forbidden)
    else:
        yield _partitions(design, rule["questions"], forbidden)


@_candidates.register
def _(design: Independent, rule: dict[str, Any], forbidden: Forbidden) -> Iterator[Design | None]:
    yield _reweighted(design, forbidden)


@_candidates.register
def _(design: Hadamard, rule: dict[str, Any], forbidden: Forbidden) -> Iterator[Design | None]:
    yield _other_columns(design, forbidden)
    yield _partitions(design, rule["questions"], forbidden)  # few questions, as it is meant to have
    yield _all_questions(design, forbidden)
    yield from _many_hadamard(design, forbidden)


def _can_leave(design: Design, forbidden: Forbidden) -> bool:
    """Tell whether a design can send a set within a forbidden one."""
    return design.reports_within(np.array(forbidden, np.int64))


def _refusal(design: Design, forbidden: Forbidden) -> InvalidDesignError:
    p = design.p
    if p == 4:
        why, advice = "with 4 `options` all three questions are needed", FIVE_OPTIONS_OR_DEVICE
    else:
        why = f"the remaining questions about {p} `options` do not"
        advice = ADD_OPTIONS_OR_DEVICE if design.kind in RECOMMENDED_KINDS else RECOMMENDED_OR_DEVICE
    return _advised(f"must leave enough questions to estimate the shares; {why}.", advice, p, forbidden)


def _advised(message: str, advice: Advice, p: int, forbidden: Forbidden) -> InvalidDesignError:
    """Return the error. It suggests larger sets, drawn on the device, which exist for more than three options."""
    size = max(code.bit_count() for code in forbidden) + 1
    if size >= p:
        return InvalidDesignError(message, FIVE_OPTIONS)
    return InvalidDesignError(message, advice(size=size, design=f'{{kind = "fixed_size", size = {size}}}'))


# Yes or no ----------------------------------------------------------------------------------------


def _other_columns(design: Hadamard, forbidden: Forbidden) -> Design | None:
    """Return the same matrix with its columns assigned to the options in another order."""
    stream = Stream(bytes(32), _LABEL, f"{design.p} {design.size}")
    columns = design.columns.tolist()
    for _ in range(max(1, _TRIED_ROWS // design.size)):
        columns = stream.shuffle(columns)
        made = with_columns(design.categories, design.size, columns)
        if not _can_leave(made, forbidden):
            return made
    return None


def _many_hadamard(design: Design, forbidden: Forbidden) -> Iterator[Design | None]:
    """Yield Hadamard designs without forbidden sets, the largest first, then the remaining questions of each."""
    sizes = [1 << k for k in range(MOST_LISTED.bit_length() - 1, 2, -1) if design.p <= 1 << k]
    made = []
    for size in sizes:
        with suppress(InvalidDesignError):  # too many questions for so few options
            made.append(hadamard(design.categories.labels, size - 1))
    for candidate in made:
        yield _other_columns(candidate, forbidden) if _can_leave(candidate, forbidden) else candidate
    for candidate in made:
        yield _partitions(candidate, asking(candidate)[1]["questions"], forbidden)


def _all_questions(design: Design, forbidden: Forbidden) -> Design | None:
    """Return the design of all questions that leave two options and no forbidden set, if they can be listed.

    All are equally likely. The weights that need the fewest people save a few percent and make some pairs twice as
    likely.
    """
    p, full = design.p, design.categories.full
    if 2 ** (p - 1) - p - 1 > MOST_LISTED:
        return None
    codes = np.arange(1, full, 2, dtype=np.int64)  # the sides with the first option
    sizes = np.bitwise_count(codes)
    asked = codes[(sizes >= 2) & (sizes <= p - 2) & ~_leaves(codes, full, forbidden)]
    if not len(asked):
        return None
    return independent(design.categories.labels, dict.fromkeys(asked.tolist(), 1 / len(asked)))


def _leaves(codes: IntArray, full: int, forbidden: Forbidden) -> BoolArray:
    """Tell for which questions one answer leaves a forbidden set."""
    return is_within(codes, forbidden) | is_within(full - codes, forbidden)


def _reweighted(design: Design, forbidden: Forbidden) -> Design | None:
    """Return the remaining yes/no questions with rescaled weights."""
    listed = design.listed_questions()
    if listed is None or listed[0].shape[1] > 2:
        return None
    questions, weights = listed[0][:, 0], listed[1]
    left = ~_leaves(questions, design.categories.full, forbidden)
    total = math.fsum(weights[left])
    if not left.any():
        return None
    kept = zip(questions[left].tolist(), weights[left].tolist(), strict=True)
    return independent(design.categories.labels, {code: weight / total for code, weight in kept})


# Groups -------------------------------------------------------------------------------------------


def _partitions(design: Design, listed: list[list[int]], forbidden: Forbidden) -> Design | None:
    groups = np.array(listed, np.int64)
    left = groups[~is_within(groups, forbidden).any(axis=1)]
    return partition(design.categories.labels, partitions=left.tolist()) if len(left) else None


def _even_groups(design: Design, rule: dict[str, Any], forbidden: Forbidden) -> Design | None:
    """Return all partitions into groups of these sizes that leave no forbidden set, or many random ones."""
    sizes = tuple(rule["sizes"])
    most = min(MOST_LISTED, _MOST_GROUPS // len(sizes))
    if number_of_questions(rule) <= most:
        every = [list(groups) for groups in _split(design.categories.full, sizes)]
        return _partitions(design, every, forbidden)
    stream = Stream(bytes(32), _LABEL, f"{design.p} {len(sizes)}")
    drawn: dict[tuple[int, ...], list[int]] = {}
    for _ in range(2 * most):
        groups = sorted(draw_question(rule, stream))
        if not is_within(np.array(groups, np.int64), forbidden).any():
            drawn[tuple(groups)] = groups
        if len(drawn) == most // 2:
            break
    return partition(design.categories.labels, partitions=drawn.values()) if drawn else None


def _split(left: int, sizes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield every partition of a set into groups of these sizes once. The first option chooses its group first."""
    if not left:
        yield ()
        return
    members = [j for j in range(left.bit_length()) if left >> j & 1]
    for size in sorted(set(sizes)):
        rest = list(sizes)
        rest.remove(size)
        for others in combinations(members[1:], size - 1):
            group = sum(1 << j for j in (members[0], *others))
            for groups in _split(left & ~group, tuple(rest)):
                yield (group, *groups)


# Drawn on the device ------------------------------------------------------------------------------


def _around(design: Design, forbidden: Forbidden) -> Design:
    """Return the remaining sets around the answers, with weights as close as possible to the old ones."""
    p = design.p
    number = design.report_count
    if number is None or number > MOST_LISTED:
        few = f"must leave at most {MOST_LISTED} sets, which a respondent's page loads; there are more."
        raise _advised(few, FEWER_OPTIONS_OR_DEVICE, p, forbidden)
    codes, weights = design.support()
    left = ~is_within(codes, forbidden)
    fitted = _fitted(codes[left].tolist(), weights[left].tolist(), p)
    made = None if fitted is None else conditional(design.categories.labels, fitted)
    if made is None or not made.is_identifiable:
        why = f"the remaining sets of the {p} `options` do not" if p > 3 else "with 3 `options` every pair is needed"
        advice = FIVE_OPTIONS_OR_DEVICE if p < 5 else FORBID_FEWER_OR_DEVICE
        raise _advised(f"must leave enough sets to hide every answer; {why}.", advice, p, forbidden)
    return made


def _fitted(codes: list[int], weights: list[float], p: int) -> dict[int, float] | None:
    """Return rescaled weights that sum to one around each option, or None if there are none.

    This is iterative proportional fitting, whose limit is the closest in relative entropy. It uses plain arithmetic,
    which is the same everywhere, and rounds the result.
    """
    around = [[k for k, code in enumerate(codes) if code >> j & 1] for j in range(p)]
    if not all(around) or not _can_be_fitted(codes, p):
        return None
    fitted = list(weights)
    for _ in range(_ROUNDS):
        worst = 0.0
        for places in around:
            total = math.fsum(fitted[k] for k in places)
            worst = max(worst, abs(total - 1))
            for k in places:
                fitted[k] /= total
        if worst < _FITTED:
            rounded = [round(weight, _PLACES) for weight in fitted]
            return dict(zip(codes, rounded, strict=True)) if min(rounded) > 0 else None
    return None


def _can_be_fitted(codes: list[int], p: int) -> bool:
    """Tell whether there are positive weights on all sets that sum to one around each option.

    If there are none, the fit needs all its rounds to find out, a hundred times as long as this linear program. The
    program refuses only what the fit would refuse too, because a weight near zero takes more rounds than the fit has.
    """
    from scipy.optimize import linprog

    around = np.array(codes, np.int64) >> np.arange(p)[:, np.newaxis] & 1
    # Find the largest t for weights x + t.
    best = linprog(
        np.append(np.zeros(len(codes)), -1.0),
        A_eq=np.column_stack([around, around.sum(axis=1)]),
        b_eq=np.ones(p),
        method="highs",
    )
    is_impossible = best.status == _INFEASIBLE or (best.status == _SOLVED and best.x[-1] <= _NEARLY_ZERO)
    return not is_impossible
