"""From version 1 of the results to version 2: the same numbers in other places, and the same sealed files.

The folder `golden` holds what the last release of the package with version 1 made of three surveys: results.json, and
the SHA-256 of every file of the export. `as_version_1` says where every number of version 1 is now.
"""

import io
import json
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

import pytest
from analysing import analysed, by_name
from every_design import KEPT, kept_survey

import subsetprivacy as sp
from subsetprivacy.collect.service.exporting import export_zip
from subsetprivacy.collect.service.results import results

GOLDEN = Path(__file__).parent / "golden"
CHANGED = {"README.txt", "analyse.py", "results.json"}  # of an export; all other files are sealed
WORDS = {"said", "notes"}  # sentences, which version 2 leaves to the pages
FIGURES = 1e-7  # eight figures
ENDS = ("lower", "upper")


@pytest.fixture(scope="module", params=KEPT)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def old(name):
    return json.loads((GOLDEN / f"{name}.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def found(name):
    return results(kept_survey(name))


@pytest.fixture(scope="module")
def exported(name, found):
    return ZipFile(io.BytesIO(export_zip(kept_survey(name), found)))


@pytest.fixture(scope="module")
def new(exported):
    return json.loads(exported.read("results.json"))


# Where the numbers are --------------------------------------------------------------------------


def as_version_1(document):
    """Return version 2 as version 1, without its sentences: a problem is only whether there is one."""
    found = document["findings"]
    same = ("format", "survey", "n", "locked", "seal", "fingerprint_bits", "releases")
    rows = {tuple(row["names"]): row for row in found["rows"]}
    return {
        **{key: document[key] for key in same},
        "version": 1,
        "level": found["level"],
        "alarms": {"level" if key == "alpha" else key: value for key, value in found["alarm"].items()},
        "variables": [
            variable(asked, one) for asked, one in zip(document["variables"], found["variables"], strict=True)
        ],
        "groups": [
            {**group, "candidates": rows.get(tuple(group["variables"]), {"candidates": None})["candidates"]}
            for group in document["groups"]
        ],
        "pairs": [pair(one) for one in found["pairs"]],
    }


def variable(asked, one):
    checks, privacy = one["checks"], one["privacy"]
    moments = shares(one["moments"], one["categories"])
    same = ("at", "information", "guess", "ruled_out", "maximal_bits", "maximal_factor", "smallest_set")
    assert asked["id"] == one["name"]
    return {
        **{key: asked[key] for key in ("id", "label", "question", "kind")},
        "design": one["design_kind"],
        "options": one["categories"],
        "n": one["people"],
        "answered": one["answered"],
        "skipped": one["missing"],
        "alarm": one["alarms"] > 0,
        "shares": shares(one["shares"], one["categories"]),
        "moments": None if moments is None else {**moments, "holds": one["moments_hold"]},
        "needed": one["needed"],
        "privacy": {
            **{key: privacy[key] for key in (*same, "largest_posterior", "epsilon", "cost")},
            "options": len(one["categories"]),
            "telling_answer": privacy["telling_report"],
            "told_option": privacy["told_category"],
            "fingerprint_bits": asked["fingerprint_bits"],
        },
        "draws": draws(checks["draws"]),
        "leaning": check(checks["leaning"]),
        "skips": check(checks["skips"]),
        "honesty": honesty(checks["honesty"]),
        "problem": bool(one["problem"]),
    }


def shares(found, categories):
    if found is None:
        return None
    (interval,) = set(found["interval"])
    columns = {"option": categories, "share": found["estimate"], **{key: found[key] for key in ("se", *ENDS)}}
    lines = zip(*columns.values(), strict=True)
    options = [dict(zip(columns, line, strict=True)) for line in lines]
    return {"method": found["method"], "interval": interval, "options": options}


def check(found):
    held = {key: one for key, one in found.items() if key not in {"kind", "is_alarm", "test", *WORDS}}
    return {
        **held,
        "alarm": found["is_alarm"],
        "problem": bool(found["problem"]),
        "test": numbers_in(found.get("test")),
    }


def draws(found):
    cells = [
        {"name": ", ".join(cell["groups"][0]), "asked": cell["asked"], "expected": cell["expected"]}
        for cell in found["cells"]
    ]
    return {**check(found), "cells": cells, "sides": numbers_in(found["sides"])}


def honesty(found):
    held = {key: one for key, one in found.items() if key not in {"answers_test", "random_test", "is_small"}}
    return {**check(held), "answers": numbers_in(found["answers_test"]), "test": numbers_in(found["random_test"])}


def numbers_in(found):
    return None if found is None else {key: found[key] for key in ("by", "statistic", "df", "pvalue", "law")}


def pair(found):
    same = ("rows", "columns", "n", "incomplete", "method", "shares", "se", "lower", "upper")
    strength = ("value", "se", "lower", "upper")
    of_test = ("method", "statistic", "df", "pvalue", "law", "tables")
    return {
        **{key: found[key] for key in same},
        "variables": found["names"],
        "test": None if found["test"] is None else {key: found["test"][key] for key in of_test},
        "strength": None if found["strength"] is None else {key: found["strength"][key] for key in strength},
        "problem": bool(found["problem"]),
    }


def numbers_of(document):
    """Return version 1 as `as_version_1` gives it: without sentences."""
    if isinstance(document, list):
        return [numbers_of(one) for one in document]
    if not isinstance(document, dict):
        return document
    held = {key: numbers_of(one) for key, one in document.items() if key not in WORDS}
    return {**held, "problem": bool(held["problem"])} if "problem" in held else held


def without_intervals(document):
    """Return version 1 without the numbers that are others now: intervals, and the power against leaning."""
    for one in document["variables"]:
        if one["shares"] is not None:
            del one["shares"]["interval"]
            for line in one["shares"]["options"]:
                line.update(dict.fromkeys(ENDS))
        # These were too optimistic where one option is frequent; see `power_for`.
        for key in ("detectable", "power"):
            one["leaning"][key] = None
    for pair in document["pairs"]:  # of Cramér's V, which were too long
        if pair["strength"] is not None:
            pair["strength"].update(dict.fromkeys(ENDS))
    return document


def unlike(one, two, path=""):
    """Yield the places where two documents are not the same to eight figures."""
    if isinstance(one, dict) and isinstance(two, dict):
        for key in sorted({*one, *two}):
            if key in one and key in two:
                yield from unlike(one[key], two[key], f"{path}.{key}")
            else:
                yield f"{path}.{key} is in one of them alone"
    elif isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        for k, (mine, yours) in enumerate(zip(one, two, strict=True)):
            yield from unlike(mine, yours, f"{path}[{k}]")
    elif is_number(one) and is_number(two):
        if one != pytest.approx(two, rel=FIGURES, abs=1e-15):
            yield f"{path}: {one} and {two}"
    elif one != two:
        yield f"{path}: {one!r} and {two!r}"


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def test_every_number_of_version_1_is_in_version_2(old, new):
    assert (old["version"], new["version"]) == (1, 2)
    assert list(unlike(without_intervals(numbers_of(old)), without_intervals(as_version_1(new)))) == []


def test_a_number_that_differs_is_noticed(old):
    changed = json.loads(json.dumps(old))
    changed["variables"][0]["privacy"]["guess"]["leakage"] *= 1 + 1e-6
    assert list(unlike(old, changed)) != []


def test_intervals_of_shares_are_those_of_the_library(found, new):
    for one in new["findings"]["variables"]:
        facts = sp.estimate(found.findings[one["name"]].counts).to_dict()
        assert one["shares"]["interval"] == facts["interval"]
        assert set(facts["interval"]) == {"wald" if one["name"] == "large" else "adjusted"}
        for end in ENDS:
            assert one["shares"][end] == pytest.approx(facts[end], rel=FIGURES)


def test_intervals_of_strength_contain_it(new):
    for pair in new["findings"]["pairs"]:
        if pair["strength"] is not None and pair["strength"]["value"] is not None:
            assert 0 <= pair["strength"]["lower"] <= pair["strength"]["value"] <= pair["strength"]["upper"] <= 1


# Files of an export -----------------------------------------------------------------------------


def test_every_sealed_file_of_an_export_has_the_same_bytes(name, exported):
    before = json.loads((GOLDEN / f"{name}.files.json").read_text("utf-8"))
    assert sorted(before) == sorted(exported.namelist())
    # The bytes of a Parquet file are those of a version of PyArrow; what is in them is compared below.
    sealed = [path for path in before if path not in CHANGED and not path.endswith(".parquet")]
    assert {path.rpartition(".")[2] for path in sealed} == {"csv", "json"}
    assert {path: sha256(exported.read(path)).hexdigest() for path in sealed} == {path: before[path] for path in sealed}
    assert all(sha256(exported.read(path)).hexdigest() != before[path] for path in CHANGED)


def test_a_parquet_file_holds_what_the_sealed_csv_file_holds(exported, tmp_path):
    exported.extractall(tmp_path)
    paths = sorted((tmp_path / "data").glob("*.parquet"))
    assert paths
    for path in paths:
        parquet, csv = sp.read_release(path), sp.read_release(path.with_suffix(".csv"))
        assert parquet.designs == csv.designs
        for column in csv.designs:
            one, two = parquet.count(column), csv.count(column)
            assert (one.codes.tolist(), one.counts.tolist()) == (two.codes.tolist(), two.counts.tolist())
        if len(csv.designs) > 1:
            one, two = parquet.crosstab(*csv.designs), csv.crosstab(*csv.designs)
            assert (one.codes.tolist(), one.counts.tolist()) == (two.codes.tolist(), two.counts.tolist())


# The program of an export -----------------------------------------------------------------------


def test_the_program_of_an_export_finds_the_numbers_of_the_dashboard(exported, new, tmp_path):
    exported.extractall(tmp_path)
    found, printed = analysed(tmp_path)
    assert by_name(found) == by_name(new["findings"])
    for part in ("pairs", "rows", "alarm", "level", "pairs_alpha", "notes"):
        assert found[part] == new["findings"][part], part
    for one in new["findings"]["variables"]:
        for line in zip(*(one["shares"][key] for key in ("estimate", "se", *ENDS)), strict=True):
            assert all(f"{number:.4f}" in printed for number in line)
