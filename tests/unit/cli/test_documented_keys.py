"""The keys that the reference lists for `--json` are those that the commands print."""

import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import subsetprivacy as sp

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "command-line.md"
TREES = ["ash", "birch", "cedar", "elm"]
DESIGN = sp.uniform(TREES)
VOTE = sp.warner(["no", "yes"])
CALLS = {
    "estimate": "estimate out.parquet",
    "estimate --strata": "estimate out.parquet --strata sex",
    "estimate --merge": "estimate out.parquet --merge other=cedar,elm",
    "compare`, two samples": "compare out.parquet --by sex",
    "compare`, more samples": "compare out.parquet --by year",
    "fit-test": "fit-test out.parquet --reference 0.25,0.25,0.25,0.25 --null chi-square",
    "loglinear": "loglinear out.parquet [tree,sex]",
    "loglinear --test": "loglinear out.parquet [tree,sex] --test",
    "loglinear --compare": "loglinear out.parquet [tree,sex] --compare independence",
    "loglinear --shares": "loglinear out.parquet [tree,sex] --shares tree --given sex",
    "loglinear --odds": "loglinear out.parquet [tree,sex] --odds tree,sex",
    "means": "means out.parquet --of year --by sex --model normal",
    "means --differences": "means out.parquet --of year --differences categories",
    "means --test": "means out.parquet --of year --test",
    "rake": "rake out.parquet margins.json",
    "regress": "regress out.parquet tree~year",
    "regress`, private terms": "regress two.parquet vote~tree",
    "regress --adjusted": "regress out.parquet year~tree --adjusted tree",
    "regress --test": "regress out.parquet tree~year --test",
    "regress --effects": "regress out.parquet tree~sex --effects",
    "regress --predict": "regress out.parquet tree~sex --predict out.parquet",
    "evaluate": "evaluate out.parquet --proba proba.csv --metric accuracy",
    "evaluate --compare": "evaluate out.parquet --proba proba.csv --compare proba.csv --metric accuracy",
    "test": "test out.parquet tree --by year --permutations 0",
    "test --trend": "test out.parquet tree --by year --trend --permutations 0",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    place = tmp_path_factory.mktemp("keys")
    codes = sp.privatize(np.random.default_rng(1).choice(TREES, 300), DESIGN, seed=1).codes
    table = pa.table({"tree": codes, "year": np.tile([1, 2, 3], 100), "sex": np.repeat(["f", "m"], 150)})
    sp.write_release(table, place / "out.parquet", {"tree": DESIGN}, keep=["year", "sex"])
    answers = sp.privatize(np.random.default_rng(2).choice(["no", "yes"], 300), VOTE, seed=2).codes
    both = pa.table({"tree": codes, "vote": answers})
    sp.write_release(both, place / "two.parquet", {"tree": DESIGN, "vote": VOTE})
    (place / "margins.json").write_text('{"sex": {"f": 0.6, "m": 0.4}}')
    (place / "proba.csv").write_text("ash,birch,cedar,elm\n" + "0.1,0.2,0.3,0.4\n" * 300)
    return place


@pytest.fixture
def release(made, monkeypatch):
    monkeypatch.chdir(made)


def keys(facts):
    """Return the keys of an object, and of the objects in it; those of notes are told elsewhere."""
    values = [value for name, value in facts.items() if name != "notes"]
    inner = [value for value in values if isinstance(value, dict)]
    inner += [entry for value in values if isinstance(value, list) for entry in value if isinstance(entry, dict)]
    return set(facts).union(*map(keys, inner))


@pytest.mark.usefixtures("release")
@pytest.mark.parametrize("row", CALLS)
def test_documented_keys(row, fine):
    start = f"| `{row}" if "`" in row else f"| `{row}`"
    (cell,) = [
        line.split(" | ", 1)[1]
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith(f"{start} |")
    ]
    assert set(re.findall(r"`(\w+)`", cell)) == keys(json.loads(fine(*CALLS[row].split(), "--json")))
