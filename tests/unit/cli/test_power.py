"""The command that plans effects says what the library says."""

import json

import pytest

import subsetprivacy as sp

TREES = ["ash", "birch", "cedar", "elm"]
W = [0.4, 0.3, 0.2, 0.1]


@pytest.fixture
def document(tmp_path):
    return sp.uniform(TREES).save(tmp_path / "tree.json")


@pytest.mark.parametrize(
    ("words", "plan", "arguments"),
    [
        (
            ["response", "--category", "elm", "--odds-ratio", "1.5", "--target", ".8"],
            sp.response_power,
            {"category": "elm", "odds_ratio": 1.5, "target": 0.8},
        ),
        (
            ["response", "--family", "ordinal", "--odds-ratio", "1.5", "--share", ".3", "--people", "900"],
            sp.response_power,
            {"family": "ordinal", "odds_ratio": 1.5, "share": 0.3, "n": 900},
        ),
        (
            ["predictor", "--category", "elm", "--baseline", "ash", "--difference", "4", "--sd", "9", "--target", ".9"],
            sp.predictor_power,
            {"category": "elm", "baseline": "ash", "difference": 4.0, "sd": 9.0, "target": 0.9},
        ),
        (
            [
                "predictor",
                "--category",
                "elm",
                "--family",
                "poisson",
                "--rate-ratio",
                "2",
                "--mean",
                "3",
                "--method",
                "ml",
            ],
            sp.predictor_power,
            {"category": "elm", "family": "poisson", "rate_ratio": 2.0, "mean": 3.0, "method": "ml", "n": 400},
        ),
        (
            ["means", "--group", "elm", "--group", "ash", "--difference", "1", "--people", "300", "--alpha", ".01"],
            sp.means_power,
            {"groups": ("elm", "ash"), "difference": 1.0, "n": 300, "alpha": 0.01},
        ),
    ],
)
def test_a_plan_is_that_of_the_library(words, plan, arguments, document, fine):
    more = [] if {"--people", "--target"} & set(words) else ["--people", "400"]
    call = ["power", words[0], str(document), "--w", ".4,.3,.2,.1", *words[1:], *more]
    expected = plan(sp.uniform(TREES), W, **arguments)
    made = json.loads(fine(*call, "--json"))
    assert {**made, "notes": []} == {**expected.to_dict(), "notes": []}
    assert expected.summary().title in " ".join(fine(*call).split())


def test_labels_that_are_numbers(tmp_path, fine):
    path = sp.uniform([1, 2, 3, 4]).save(tmp_path / "number.json")
    words = ["--w", ".4,.3,.2,.1", "--group", "2", "--group", "1", "--difference", "1", "--people", "300", "--json"]
    assert json.loads(fine("power", "means", str(path), *words))["what"] == "mean of 2 less that of 1"
