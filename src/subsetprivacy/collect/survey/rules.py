"""The rule in a manifest by which a respondent's browser draws from a design."""

import math
from collections import Counter
from functools import lru_cache
from typing import Any

import numpy as np

from subsetprivacy._types import FloatArray
from subsetprivacy.collect.survey.definition import MODES, MOST_OPTIONS
from subsetprivacy.collect.survey.drawing import WORD_BITS
from subsetprivacy.design import Design, fixed_size, hadamard, uniform, warner
from subsetprivacy.design.document import kinds
from subsetprivacy.design.secret_bit import MOST_ODDS
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
_FEW = 5  # options up to which any subset may be asked about; more get the few questions of a Hadamard design
_FEW_APART = 8  # the same where no one can know what a person was asked: in open mode, outside a link
_WEIGHT_BITS = 36  # weights are stated to this many bits: 2048 of them still sum below 2^48


RECOMMENDED_KINDS = ("uniform", "hadamard")  # of four options or more, as `recommended` takes them


@lru_cache(maxsize=256)  # an editor checks its text with every change
def recommended(options: tuple[str, ...], *, mode: str = MODES[0], linked: bool = False) -> Design:
    """Return the design to use if the file names none.

    Two options get Warner's question. With three, the device draws a companion. With a few options, any subset may be
    asked about. More options get the few questions of a Hadamard design. More than five are too many in a link, because
    a person's questions together are like a fingerprint, and in code mode, because anyone who kept the list of codes
    may know what each person was asked, and would find the answer to a question that no one else had.
    """
    if len(options) == 2:
        return warner(options)
    if len(options) == 3:
        return fixed_size(options, 2)
    few = _FEW_APART if mode == "open" and not linked else _FEW
    return uniform(options) if len(options) <= few else hadamard(options)


def askable_kinds() -> tuple[str, ...]:
    """Return the kinds of design documents that a browser can ask by, if their content allows it."""
    examples = {kind: [each.example() for each in classes] for kind, classes in kinds().items()}
    return tuple(kind for kind, made in examples.items() if any(_is_askable(design) for design in made))


def _is_askable(design: Design) -> bool:
    return design.browser_rule is not None and design.is_subset_private and design.is_identifiable


def asking(design: Design) -> tuple[str, dict[str, Any]]:
    """Return the kind of question of a design, and the rule that draws it, in whole numbers.

    Raises
    ------
    InvalidDesignError
        If a browser cannot ask by this design, an answer would reveal the value, or the answers would not identify the
        shares. The error says what to use instead.
    """
    if design.p > MOST_OPTIONS:
        raise InvalidDesignError(f"`options` must be at most {MOST_OPTIONS} to be asked; got {design.p}.")
    _check_number(design.list_length)  # before any list is made
    stated = design.browser_rule
    if stated is None:
        raise InvalidDesignError(
            f"a design must be one that a browser can ask by; got a {design.maker} design.", ASKABLE_KINDS
        )
    if "q" in stated:
        _check_odds(stated["q"])
    _check_design(design)
    rule = {"rule": stated["rule"], "p": design.p, **_in_whole_numbers(stated)}
    return _kind_of(rule), rule


def _check_design(design: Design) -> None:
    """Raise if an answer would reveal the value, or the answers would not identify the shares."""
    if not design.is_subset_private:
        raise InvalidDesignError(
            "a design must leave two of the `options` possible, whatever is answered, to be asked; a "
            f"{design.maker} design does not.",
            TAKE_RECOMMENDED,
        )
    if not design.is_identifiable:
        raise InvalidDesignError(
            "a design must tell different shares apart; from the answers to these questions some could not be told.",
            MORE_QUESTIONS,
        )


def _in_whole_numbers(stated: dict[str, Any]) -> dict[str, Any]:
    """Return the content of a rule in a manifest: numbers that every language reads in the same way."""
    if stated["rule"] == "bit":
        return {"ones": round(stated["q"] * (1 << WORD_BITS))}
    if stated["rule"] == "given":
        return {"subsets": stated["subsets"].tolist(), "weights": _whole(stated["weights"])}
    if stated["rule"] == "listed":
        rows = stated["questions"]
        if (rows == 0).any():
            raise InvalidDesignError(
                "a question must be about some of the `options`; the design also asks about all of them."
            )
        return {"questions": rows.tolist(), "weights": _whole(stated["weights"])}
    return {name: value for name, value in stated.items() if name != "rule"}


def _kind_of(rule: dict[str, Any]) -> str:
    """Return the kind of question of a rule."""
    if rule["rule"] in ("given", "companions"):
        return "local"
    if rule["rule"] == "bit":
        return "bit"
    answers = rule["questions"][0] if rule["rule"] == "listed" else rule.get("sizes", ("yes", "no"))
    return "yes_no" if len(answers) == 2 else "groups"


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


def _check_odds(q: float) -> None:
    odds = max(q, 1 - q) / min(q, 1 - q)
    if odds > MOST_ODDS:
        raise InvalidDesignError(
            f"`q` must hide the answer: an answer may multiply the odds by {MOST_ODDS:g} at most; got {q:g}, which "
            f"multiplies them by {odds:.3g}.",
            HIDING_Q,
        )


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
