"""The document of the results: its shape, and the same bytes for the same counters."""

import json
import subprocess
import sys
from random import Random

import numpy as np
import pytest
from attrs import evolve
from released import Manners, drawn, options, survey_of, values

import subsetprivacy as sp
from subsetprivacy.collect.service.results import results, results_document
from subsetprivacy.collect.service.results_document import document_text

DESIGNS = {"a": sp.uniform(options(5)), "b": sp.warner(("no", "yes")), "c": sp.partition(options(9), 3)}


def truths(designs, n):
    return {name: values(np.arange(1, design.p + 1), n, k) for k, (name, design) in enumerate(designs.items())}


@pytest.fixture(scope="module")
def answered():
    return drawn(survey_of(DESIGNS, [["a", "b"]]), truths(DESIGNS, 400), releases=3)


@pytest.fixture(scope="module")
def found(answered):
    return results(answered)


def keys(names):
    return dict.fromkeys(names.split())


def shape(value):
    """Return the keys of a document, lists by their first entry."""
    if isinstance(value, dict):
        return {key: shape(one) for key, one in value.items()}
    return [shape(value[0])] if isinstance(value, list) and value and isinstance(value[0], dict) else None


TEST = keys("by statistic df pvalue law")
LEAK = keys("leakage baseline nonprivate lower upper")
LINE = keys("option share se lower upper")
SHARES = {"method": None, "interval": None, "options": [LINE], "notes": None}
WORDS = keys("alarm said problem")
GOLDEN = {
    "format": None,
    "version": None,
    "survey": keys("id fingerprint title study mode version state opened_day closed_day batch self_selected"),
    "n": None,
    "locked": None,
    "seal": None,
    "level": None,
    "alarms": keys("chance tests level"),
    "fingerprint_bits": None,
    "releases": [keys("no n total locked day tally_sha256 chain_sha256")],
    "variables": [
        {
            **keys("id label question kind design options n answered skipped alarm notes problem"),
            "shares": SHARES,
            "moments": {**SHARES, "holds": None},
            "needed": [keys("margin answers more people")],
            "privacy": {
                **keys("at maximal_bits maximal_factor smallest_set options largest_posterior"),
                **keys("telling_answer told_option epsilon cost fingerprint_bits notes"),
                "information": LEAK,
                "guess": LEAK,
                "ruled_out": LEAK,
            },
            "draws": {
                "n": None,
                "test": TEST,
                "sides": TEST,
                "cells": [keys("name asked expected")],
                "notes": None,
                **WORDS,
            },
            "leaning": {
                **keys("n share se lower upper detectable power positions"),
                "test": TEST,
                **WORDS,
            },
            "skips": {
                **keys("asked skipped rate lower upper"),
                "test": None,
                "options": [keys("option asked_with skipped_with asked_without skipped_without")],
                **WORDS,
            },
            "honesty": {
                **keys("share se lower upper detectable notes"),
                "answers": TEST,
                "test": TEST,
                **WORDS,
            },
        }
    ],
    "groups": [
        {
            **keys("variables rows fingerprint_bits notes"),
            "candidates": {"expected": None, "least": None},
        }
    ],
    "pairs": [
        {
            **keys("variables rows columns n incomplete method shares se lower upper said notes problem"),
            "test": keys("method statistic df pvalue law tables"),
            "strength": keys("value se lower upper"),
        }
    ],
    "notes": None,
}


def test_the_shape_of_the_document(found):
    document = results_document(found)
    assert shape(document) == GOLDEN
    keys = set(GOLDEN["variables"][0])
    assert all(set(variable) == keys for variable in document["variables"])
    assert (document["format"], document["version"], document["survey"]["state"]) == (
        "subsetprivacy.results",
        1,
        "open",
    )


def test_the_document_is_plain_data_without_nan(found):
    document = results_document(found)
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def in_other_order(released, seed):
    """Return the same counters as a database may return them."""
    shuffle = Random(seed)

    def stirred(held):
        items = list(held.items())
        shuffle.shuffle(items)
        return dict(items)

    return evolve(released, rows=tuple(map(stirred, released.rows)), framings=stirred(released.framings))


def test_the_same_counters_in_any_order_give_the_same_bytes(answered, found):
    again = in_other_order(answered, 4)
    assert list(again.framings) != list(answered.framings)
    assert document_text(results_document(results(again))) == document_text(results_document(found))


def test_the_order_does_not_matter_where_samples_are_drawn_either():
    """Some people skip, questions are many, answers few and given by chance: laws are simulated."""
    odd = Manners(at_random=0.6, skips=lambda shown, truth, rng: rng.random(len(truth)) < 0.05 + (shown[:, 0] & 1) / 2)
    designs = {"a": sp.uniform(options(8)), "b": sp.uniform(options(16)), "c": sp.partition(options(9), 3)}
    released = drawn(survey_of(designs, [["a", "c"]]), truths(designs, 200), manners=dict.fromkeys(designs, odd))
    found = results(released)
    numbers = {test.samples for one in found.variables for test in one.tests}
    assert 199 in numbers
    assert max(numbers) > 1000
    text = document_text(results_document(found))
    assert all(document_text(results_document(results(in_other_order(released, seed)))) == text for seed in range(3))


_AGAIN = """
import sys
sys.path[:0] = sys.argv[1:]
from released import drawn, options, survey_of, values
import subsetprivacy as sp
from subsetprivacy.collect.service.results import results, results_document
from subsetprivacy.collect.service.results_document import document_text

designs = {"a": sp.uniform(options(5)), "b": sp.hadamard(options(12)), "c": sp.uniform(options(16))}
released = drawn(survey_of(designs, [["a", "b"]]), {k: values([1] * d.p, 120, 3) for k, d in designs.items()})
text = document_text(results_document(results(released)))
"""


def test_another_process_gives_the_same_bytes():
    support = next(path for path in sys.path if path.endswith("support"))
    here: dict = {}
    exec(_AGAIN.replace("sys.path[:0] = sys.argv[1:]", ""), here)
    there = subprocess.run(
        [sys.executable, "-c", f"{_AGAIN}\nsys.stdout.buffer.write(text.encode())", support],
        env={"PYTHONHASHSEED": "77", "PATH": ""},
        capture_output=True,
        check=True,
    ).stdout
    assert there.decode() == here["text"]
    assert json.loads(there)["n"] == 120


def test_another_seal_draws_other_tables():
    designs = {"a": sp.uniform(options(5)), "b": sp.uniform(options(5))}
    released = drawn(survey_of(designs, [["a", "b"]]), truths(designs, 100))
    sealed = evolve(released, releases=(evolve(released.releases[0], chain_sha256="0" * 64),))
    one, two = (results(held).pairs[0].test.pvalue for held in (released, sealed))
    assert one != two
    assert one == pytest.approx(two, abs=0.2)


def test_releases_are_listed_with_their_seals():
    released = drawn(
        survey_of({"a": sp.uniform(options(4))}, mode="code"), {"a": values([1] * 4, 130, 1)}, releases=4, locked=7
    )
    document = results_document(results(released))
    assert [line["total"] for line in document["releases"]] == [32, 64, 96, 130]
    assert document["seal"] == released.releases[-1].chain_sha256
    assert document["locked"] == 7
