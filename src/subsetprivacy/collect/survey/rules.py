"""How a respondent's browser draws by a design: the rule that a manifest states for each variable."""

import math
from collections import Counter
from functools import lru_cache
from typing import Any

import numpy as np

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.collect.survey.definition import MODES, MOST_OPTIONS
from subsetprivacy.collect.survey.drawing import WORD_BITS
from subsetprivacy.design import (
    ArtificialBit,
    Conditional,
    Design,
    EvenPartition,
    FixedSize,
    Hadamard,
    Independent,
    ListedPartition,
    Uniform,
    fixed_size,
    hadamard,
    uniform,
    warner,
)
from subsetprivacy.design.held import MOST_ODDS
from subsetprivacy.errors import InvalidDesignError
from subsetprivacy.messages.for_surveys import (
    ASKABLE_KINDS,
    HIDING_Q,
    MORE_QUESTIONS,
    TAKE_RECOMMENDED,
    UNLISTED_KINDS,
)

KINDS = ("yes_no", "groups", "bit", "local")
MOST_LISTED = 2048  # questions that a manifest may list
_FEW = 5  # options up to which all subsets are asked about; beyond, the few questions of a Hadamard design
_FEW_APART = 8  # the same where nobody can know what a person was asked: in open mode, outside a link
_WEIGHT_BITS = 36  # weights are stated to this many bits: 2048 of them still sum below 2^48


@lru_cache(maxsize=256)  # an editor checks its text with every change
def recommended(options: tuple[str, ...], *, mode: str = MODES[0], linked: bool = False) -> Design:
    """Return the design to take where the file names none.

    Two options get Warner's question, three the device's draw of a companion. Of a few options every subset may be
    asked about; more get the few questions of a Hadamard design. More than five are too many in a link, since a
    person's questions together are like a fingerprint, and in code mode, since whoever kept the list of codes may
    know what each was asked, and would find the answer to a question that nobody else had.
    """
    if len(options) == 2:
        return warner(options)
    if len(options) == 3:
        return fixed_size(options, 2)
    few = _FEW_APART if mode == "open" and not linked else _FEW
    return uniform(options) if len(options) <= few else hadamard(options)


def asking(design: Design) -> tuple[str, dict[str, Any]]:
    """Return the kind of question a design makes, and the rule it is drawn by.

    Raises
    ------
    InvalidDesignError
        If a browser cannot ask by this design, an answer would reveal the value, or the answers would not tell the
        shares; with what to take instead.
    """
    if design.p > MOST_OPTIONS:
        raise InvalidDesignError(f"`options` must be at most {MOST_OPTIONS} to be asked; got {design.p}.")
    _check_askable(design)
    if isinstance(design, ArtificialBit):
        return "bit", {"rule": "bit", "p": 2, "ones": round(design.q * (1 << WORD_BITS))}
    if not design.is_subset_private:
        raise InvalidDesignError(
            "a design must leave two of the `options` possible, whatever is answered, to be asked; a "
            f"{design.kind} design does not.",
            TAKE_RECOMMENDED,
        )
    if isinstance(design, Uniform):
        return "yes_no", {"rule": "uniform", "p": design.p}
    if isinstance(design, EvenPartition):
        kind = "yes_no" if design.m == 2 else "groups"
        return kind, {"rule": "groups", "p": design.p, "sizes": list(design.group_sizes)}
    if isinstance(design, FixedSize):
        if design.is_independent:  # half of the options: the same law as a question that needs no value on the device
            return "yes_no", {"rule": "groups", "p": design.p, "sizes": [design.k, design.k]}
        return "local", {"rule": "companions", "p": design.p, "size": design.k}
    if not design.is_identifiable:
        raise InvalidDesignError(
            "a design must tell different shares apart; from the answers to these questions some could not be told.",
            MORE_QUESTIONS,
        )
    return _given(design) if isinstance(design, Conditional) else _listed(design)


def number_of_questions(rule: dict[str, Any]) -> int:
    """Return how many different questions, or sets that are sent, a rule can draw."""
    p = rule["p"]
    if rule["rule"] == "uniform":
        return int(2 ** (p - 1) - p - 1)
    if rule["rule"] == "groups":
        ways = math.factorial(p)
        for size, times in Counter(rule["sizes"]).items():
            ways //= math.factorial(size) ** times * math.factorial(times)
        return ways
    if rule["rule"] == "listed":
        return len({tuple(sorted(question)) for question in rule["questions"]})
    if rule["rule"] == "companions":
        return math.comb(p, rule["size"])
    return 1 if rule["rule"] == "bit" else len(rule["subsets"])


def _check_askable(design: Design) -> None:
    """Raise unless a browser can ask by a design; looks at no list before it is known to be short."""
    if isinstance(design, Hadamard):
        _check_number(design.questions)
    elif isinstance(design, Conditional):
        _check_number(len(design.codes))
    elif isinstance(design, Independent):
        _check_number(len(design.questions))
    elif isinstance(design, ListedPartition) and not design.recorded:
        _check_number(len(design.groups))
    elif isinstance(design, ArtificialBit) and design.equal_only:
        _check_odds(design.q)
    elif not isinstance(design, (Uniform, EvenPartition, FixedSize)):
        raise InvalidDesignError(
            f"a design must be one that a browser can ask by; got a {design.kind} design.", ASKABLE_KINDS
        )


def _check_odds(q: float) -> None:
    odds = max(q, 1 - q) / min(q, 1 - q)
    if odds > MOST_ODDS:
        raise InvalidDesignError(
            f"`q` must hide the answer: an answer may multiply the odds by {MOST_ODDS:g} at most; got {q:g}, which "
            f"multiplies them by {odds:.3g}.",
            HIDING_Q,
        )


def _given(design: Conditional) -> tuple[str, dict[str, Any]]:
    rule = {"rule": "given", "p": design.p, "subsets": design.codes.tolist(), "weights": _whole(design.weights)}
    return "local", rule


def _listed(design: Design) -> tuple[str, dict[str, Any]]:
    rows, nu = _questions(design)
    if (rows == 0).any():
        raise InvalidDesignError(
            "a question must be about some of the `options`; the design also asks about all of them."
        )
    rule = {"rule": "listed", "p": design.p, "questions": rows.tolist(), "weights": _whole(nu)}
    return ("yes_no" if rows.shape[1] == 2 else "groups"), rule


def _questions(design: Design) -> tuple[IntArray, FloatArray]:
    """Return the questions, a row of codes each, and their weights."""
    if isinstance(design, ListedPartition):
        return design.groups, np.ones(len(design.groups))
    if isinstance(design, Independent):
        return np.column_stack([design.questions, design.complement(design.questions)]), design.nu
    assert isinstance(design, Hadamard)
    asked = design.code_of(np.arange(1, design.size), np.int64(1))
    return np.column_stack([asked, design.complement(asked)]), np.ones(design.questions)


def _check_number(number: int) -> None:
    if number > MOST_LISTED:
        raise InvalidDesignError(
            f"a design must list at most {MOST_LISTED} questions to be asked in a browser; got {number}.",
            UNLISTED_KINDS,
        )


def _whole(weights: FloatArray) -> list[int]:
    """Return weights as whole numbers in proportion."""
    if np.ptp(weights) == 0:
        return [1] * len(weights)
    return [max(1, round(float(weight) * (1 << _WEIGHT_BITS))) for weight in weights / weights.max()]
