"""Makes `docs/reference/vectors.json`: examples that every client of the collection service must repeat.

The file is one JSON object. Byte strings are lower-case hexadecimal text; every number is whole and below 2^53.

``"format": "subsetprivacy.vectors"``, ``"version": 1``

``"seed_prefix"``
    Seed number i is the SHA-256 of this text followed by i in decimal digits, as UTF-8: 32 bytes.
``"labels"``
    ``[[study, variable], …]``: what a draw is for.
``"rules"``
    ``[{"kind": "yes_no" | "groups" | "bit" | "local", "draw": {…}}, …]``: as a variable of a manifest states them.
``"draws"``
    10,000 rows ``[rule, seed, label, value, result]``: the first three are positions (rule and label in the lists
    above, seed a seed number). A fresh Stream(seed, study, variable) is taken for each row.
    Kinds "yes_no" and "groups": value is null, result the list of codes of `draw_question`, in its order.
    Kind "bit": value is null, result 0 or 1 of `draw_bit`. Kind "local": value is the position of the true
    value, result the code of `draw_around`.
``"words"``
    ``[[seed, label, [the first words of the stream]], …]``, numbers below 2^48.
``"below"``
    ``[[seed, label, [bounds], [results]], …]``: `below` called for each bound in turn on one stream.
``"coin"``
    For each function of `coin` rows of its arguments and its result, all but the survey id and the code in hexadecimal:
    ``commit [secret, result]``, ``share [key, ticket, commitment, result]``, ``seed [server_share, secret, result]``,
    ``commit_key [key, result]``, ``wrap [secret, half, commitment, result]`` (twice is back),
    ``open_ticket [device_seed, fingerprint, result]``, ``ticket_mark [survey id, ticket, result]``,
    ``code_text [ticket, half, code]``.
``"manifests"``
    ``[{"text": the canonical JSON as text, "fingerprint": hex, "id": 26 letters, "length": of every submission, in
    bytes}, …]``; hash the UTF-8 of the text.

Run this file to write it again: ``python tests/support/vectors.py``.
"""

import json
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import subsetprivacy as sp
from subsetprivacy.collect.survey import coin
from subsetprivacy.collect.survey.definition import SurveyDefinition, VariableDefinition
from subsetprivacy.collect.survey.drawing import Stream, draw_around, draw_bit, draw_question
from subsetprivacy.collect.survey.manifest import freeze
from subsetprivacy.collect.survey.padding import length_of
from subsetprivacy.collect.survey.rules import asking

FILE = Path(__file__).parents[2] / "docs" / "reference" / "vectors.json"
SEED_PREFIX = "subsetprivacy vector "
LABELS = (("work-2026", "income"), ("s", "v"), ("a-long-study-name_of-32-letters0", "variable_2"))

SEVEN = tuple("abcdefg")
# Lopsided: an index that is off by one shows.
FEW = {("a", "b"): 0.5, ("a", "c"): 0.3, ("a", "d"): 0.2}
THIRDS = [[tuple(group) for group in groups.split()] for groups in ("abc de fg", "ab cd efg", "ac bdf eg", "ag bf cde")]
GIVEN = {
    ("a", "b", "c"): 0.4,
    ("a", "b", "d"): 0.2,
    ("a", "c", "d"): 0.1,
    ("a", "d"): 0.3,
    ("b", "c", "d"): 0.1,
    ("b", "c"): 0.2,
    ("b", "d"): 0.1,
    ("c", "d"): 0.2,
}
WINDOWS = {tuple((first + step) % 40 for step in range(11)): (first + 1) / 820 for first in range(40)}

# Each design with how many draws it gets.
DESIGNS: tuple[tuple[sp.Design, int], ...] = (
    (sp.uniform(list("abcd")), 600),
    (sp.uniform(list("abcde")), 600),
    (sp.uniform(range(12)), 500),
    (sp.uniform(range(33)), 400),
    (sp.uniform(range(48)), 700),
    (sp.independent(list("abcd"), FEW), 600),
    (sp.independent(range(40), WINDOWS), 500),
    (sp.hadamard(range(8)), 600),
    (sp.hadamard(range(48)), 500),
    (sp.partition(SEVEN, 3, partitions=THIRDS), 600),
    (sp.partition(list("abcde"), 2), 500),
    (sp.partition(range(9), 3), 500),
    (sp.partition(range(48), 5), 400),
    (sp.partition(range(48), 24), 100),
    (sp.warner(list("ab"), 0.25), 500),
    (sp.warner(list("ab"), 0.7), 500),
    (sp.fixed_size(list("abc"), 2), 500),
    (sp.fixed_size(range(48), 21), 400),
    (sp.conditional(list("abcd"), GIVEN), 500),
    (sp.conditional(list("abc"), {("a", "b"): 0.3, ("a", "c"): 0.3, ("b", "c"): 0.3, ("a", "b", "c"): 0.4}), 300),
)
# No design makes it, and the protocol allows it: the weights sum to just above 2^47, so half of the words are refused.
REFUSING = {
    "kind": "yes_no",
    "draw": {
        "rule": "listed",
        "p": 4,
        "questions": [[3, 12], [5, 10], [9, 6]],
        "weights": [(1 << 46) + 1, 1 << 45, 1 << 45],
    },
}


def vectors() -> dict[str, Any]:
    """Return all vectors as plain data."""
    rules = [{"kind": kind, "draw": rule} for kind, rule in (asking(design) for design, _ in DESIGNS)] + [REFUSING]
    times = [number for _, number in DESIGNS]
    times.append(10_000 - sum(times))
    return {
        "format": "subsetprivacy.vectors",
        "version": 1,
        "seed_prefix": SEED_PREFIX,
        "labels": [list(label) for label in LABELS],
        "rules": rules,
        "draws": list(_draws(rules, times)),
        "words": [[i, i % 3, _words(_stream(i, i % 3))] for i in range(12)],
        "below": [_below(i) for i in range(40)],
        "coin": _coin(),
        "manifests": [_manifest(i) for i in range(3)],
    }


def seed(number: int) -> bytes:
    """Return seed number i."""
    return sha256(f"{SEED_PREFIX}{number}".encode()).digest()


def _stream(number: int, label: int) -> Stream:
    return Stream(seed(number), *LABELS[label])


def _words(stream: Stream) -> list[int]:
    return [stream.word() for _ in range(12)]


def _draws(rules: list[dict[str, Any]], times: list[int]) -> Iterator[list[Any]]:
    number = 0
    for position, (rule, repeats) in enumerate(zip(rules, times, strict=True)):
        for repeat in range(repeats):
            label = number % len(LABELS)
            value = repeat % rule["draw"]["p"] if rule["kind"] == "local" else None
            yield [position, number, label, value, _draw(rule, value, _stream(number, label))]
            number += 1


def _draw(rule: dict[str, Any], value: int | None, stream: Stream) -> Any:
    if rule["kind"] == "local":
        return draw_around(rule["draw"], value, stream)
    return draw_bit(rule["draw"], stream) if rule["kind"] == "bit" else draw_question(rule["draw"], stream)


def _below(number: int) -> list[Any]:
    # Bounds just above half of all words are refused half of the time; powers of two never.
    bounds = [2, 3, (1 << 47) + 1, 6, 1 << 48, (1 << 47) + 12_345, 1, (1 << 32) + 1, 48, (1 << 48) - 1]
    stream = _stream(number, number % 3)
    return [number, number % 3, bounds, [stream.below(bound) for bound in bounds]]


def _coin() -> dict[str, list[list[str]]]:
    functions: dict[str, tuple[Callable[..., bytes], tuple[int, ...]]] = {
        "commit": (coin.commit, (32,)),
        "share": (coin.share, (32, 10, 32)),
        "seed": (coin.seed, (32, 32)),
        "commit_key": (coin.commit_key, (32,)),
        "wrap": (coin.wrap, (32, 10, 32)),
        "open_ticket": (coin.open_ticket, (32, 32)),
    }
    made: dict[str, list[list[str]]] = {}
    for name, (function, lengths) in functions.items():
        made[name] = []
        for i in range(8):
            given = [seed(100 * i + k)[:length] for k, length in enumerate(lengths)]
            made[name].append([*(part.hex() for part in given), function(*given).hex()])
    surveys = [f"{'abcdefghijklmnop'[i:]}{'2' * i}" for i in range(8)]
    tickets = [seed(i)[: 10 if i % 2 else 32] for i in range(8)]
    made["ticket_mark"] = [[s, t.hex(), coin.ticket_mark(s, t).hex()] for s, t in zip(surveys, tickets, strict=True)]
    halves = [(seed(i)[:10], seed(i)[10:20]) for i in range(8)]
    made["code_text"] = [[ticket.hex(), half.hex(), coin.code_text(ticket, half)] for ticket, half in halves]
    return made


def _manifest(number: int) -> dict[str, Any]:
    labels = (("never", "once", "often"), ("ja", "nein"), ("لا", "نعم", "ربما", "أحيانا", "دائما", "😀"))[number]
    design = (sp.small if len(labels) < 4 else sp.uniform)(labels)
    variable = VariableDefinition("habit", 'A "label"', f"Größe\u2009– {number}?", labels, design, guess=None)
    survey = SurveyDefinition(("Habits", "Gewohnheiten", "عادات")[number], (variable,), "habits")
    made = freeze(survey, seed(number), nonce=f"{number:016x}")
    return {"text": made.text.decode(), "fingerprint": made.fingerprint, "id": made.id, "length": length_of(made)}


def vectors_text() -> str:
    """Return the file: a row of the long lists a line."""
    parts = []
    for name, held in vectors().items():
        if isinstance(held, list):
            rows = ",\n".join(_compact(row) for row in held)
            parts.append(f"{json.dumps(name)}: [\n{rows}\n]")
        else:
            parts.append(f"{json.dumps(name)}: {_compact(held)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _compact(held: Any) -> str:
    return json.dumps(held, separators=(",", ":"), ensure_ascii=False)


if __name__ == "__main__":
    FILE.write_text(vectors_text(), encoding="utf-8")
