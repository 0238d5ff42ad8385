"""The draw of a respondent's browser. Python and JavaScript make exactly the same draw.

A stream of 48-bit words comes from HMAC-SHA256 with a secret seed. Every draw uses rejection sampling on these words,
so it is exactly uniform. `docs/reference/collection-protocol.md` is the specification, and
`docs/reference/vectors.json` contains examples to check other clients.
"""

import hmac
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

WORD_BITS = 48
_WORDS = 1 << WORD_BITS
_WORD_BYTES = WORD_BITS // 8
_BLOCK_BYTES = 30  # of 32: the last two make no word
_PREFIX = b"subsetprivacy draw v1\0"


class Stream:
    """Random words that a seed and a label determine.

    Parameters
    ----------
    seed
        32 secret bytes.
    study, variable
        What the draw is for. The same seed gives a different draw for each of them, and always the same for each.
    """

    def __init__(self, seed: bytes, study: str, variable: str) -> None:
        self._keyed = hmac.new(seed, _PREFIX + f"{study}\0{variable}\0".encode(), sha256)
        self._blocks = 0
        self._left = b""  # of the last block, whole words

    def word(self) -> int:
        """Return the next number below 2^48."""
        if not self._left:
            block = self._keyed.copy()
            block.update(self._blocks.to_bytes(4, "big"))
            self._blocks += 1
            self._left = block.digest()[:_BLOCK_BYTES]
        word, self._left = int.from_bytes(self._left[:_WORD_BYTES], "big"), self._left[_WORD_BYTES:]
        return word

    def below(self, bound: int) -> int:
        """Return a uniform draw from 0 … bound - 1. The bound is at most 2^48."""
        if not 0 < bound <= _WORDS:  # no word is large enough
            raise ValueError("a bound must lie in 1 … 2^48")
        limit = _WORDS - _WORDS % bound
        word = self.word()
        while word >= limit:
            word = self.word()
        return word % bound

    def shuffle(self, items: list[Any]) -> list[Any]:
        """Return the items in a uniformly random order."""
        order = list(items)
        for i in range(len(order) - 1, 0, -1):
            j = self.below(i + 1)
            order[i], order[j] = order[j], order[i]
        return order

    def weighted(self, weights: Sequence[int]) -> int:
        """Return a position with probability proportional to its whole-number weight."""
        left = self.below(sum(weights))
        for position, weight in enumerate(weights):
            if left < weight:
                return position
            left -= weight
        raise AssertionError("the draw lies below the sum of the weights")


def draw_question(rule: Mapping[str, Any], stream: Stream) -> list[int]:
    """Draw a question by the rule of a variable, and return the codes of its answers in the order shown.

    Parameters
    ----------
    rule
        The entry ``draw`` of a variable of a manifest whose kind is "yes_no" or "groups".
    stream
        The source of random words.
    """
    full = (1 << rule["p"]) - 1
    if rule["rule"] == "uniform":
        asked = stream.below(full + 1)
        while not 2 <= asked.bit_count() <= rule["p"] - 2:
            asked = stream.below(full + 1)
        return [asked, full - asked]
    if rule["rule"] == "listed":
        return stream.shuffle(rule["questions"][stream.weighted(rule["weights"])])
    if rule["rule"] == "groups":
        order = stream.shuffle(list(range(rule["p"])))
        groups = []
        for size in rule["sizes"]:
            groups.append(sum(1 << j for j in order[:size]))
            order = order[size:]
        return stream.shuffle(groups)
    raise AssertionError(f"no question is drawn by the rule {rule['rule']}")


def draw_bit(rule: Mapping[str, Any], stream: Stream) -> int:
    """Draw the secret number of Warner's question, 0 or 1. It never leaves the respondent's device."""
    return int(stream.word() < rule["ones"])


def draw_around(rule: Mapping[str, Any], value: int, stream: Stream) -> int:
    """Draw the subset around a value that only the respondent's device knows, and return its code."""
    if rule["rule"] == "companions":
        others = [j for j in range(rule["p"]) if j != value]
        chosen = 1 << value
        for i in range(rule["size"] - 1):
            j = i + stream.below(len(others) - i)
            others[i], others[j] = others[j], others[i]
            chosen |= 1 << others[i]
        return chosen
    holding = [k for k, code in enumerate(rule["subsets"]) if code >> value & 1]
    return int(rule["subsets"][holding[stream.weighted([rule["weights"][k] for k in holding])]])
