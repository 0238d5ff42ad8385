"""A pandas or Polars series keeps its name, wherever a variable or a group has one."""

import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from every_case import every_case

import subsetprivacy as sp
from subsetprivacy.frames.people import people_of

RACES, PAY = list("abcd"), ["low", "middle", "high"]
RACE, INCOME = sp.uniform(RACES), sp.fixed_size(PAY, 2)
rng = np.random.default_rng(1)
PEOPLE = pd.DataFrame(
    {
        "race": rng.choice(RACES, 400),
        "income": rng.choice(PAY, 400),
        "sex": rng.choice(["f", "m"], 400),
        "age": rng.normal(size=400),
    }
)
LIBRARIES = {"pandas": PEOPLE, "polars": pl.from_pandas(PEOPLE)}


@pytest.fixture(params=LIBRARIES)
def people(request):
    return LIBRARIES[request.param]


def test_privatized_data_have_the_name_of_their_column(people):
    data = sp.privatize(people["race"], RACE, seed=1)
    assert data.name == "race"
    assert repr(data).startswith("<SubsetData of race: 400 people, ")
    assert data.summary().title.startswith("Reported subsets of race: n = 400, ")
    for kept in (pickle.loads(pickle.dumps(data)), sp.SubsetData.from_dict(json.loads(json.dumps(data.to_dict())))):
        assert kept.name == "race"
    assert sp.privatize(people["race"], sp.covered(RACE, 0.1), seed=1).name == "race"
    assert sp.cover(data, 0.1, seed=1).name == "race"
    plain = sp.privatize(people["race"].to_list(), RACE, seed=1)
    assert plain.name is None
    assert repr(plain).startswith("<SubsetData: 400 people, ")
    assert plain.codes.tolist() == data.codes.tolist()


def test_a_variable_named_for_a_key_has_that_name(people):
    settings = {"key": b"k" * 16, "ids": range(400), "variable": "ethnicity"}
    named = sp.privatize(people["race"], RACE, **settings)
    assert named.name == "ethnicity"
    assert named.codes.tolist() == sp.privatize(people["race"].to_list(), RACE, **settings).codes.tolist()


def test_groups_have_the_name_of_their_column(people):
    data = sp.privatize(people["race"], RACE, seed=1)
    groups = sp.count(data, by=people["sex"])
    assert groups.by == ("sex",)
    assert groups.to_frame().columns[0] == "sex"
    assert "by sex" in groups.summary().title
    fits = sp.estimate_many(groups)
    assert fits.to_frame().columns[0] == "sex"
    assert "by sex" in fits.summary().title
    assert sp.count(data, by=people["sex"].to_list()).by == ("group",)
    tables = sp.crosstab(data, sp.privatize(people["income"], INCOME, seed=2), by=people["sex"])
    assert (tables.by, tables["f"].names) == (("sex",), ("race", "income"))


def test_tables_have_the_names_of_their_columns(people):
    race, income = sp.privatize(people["race"], RACE, seed=1), sp.privatize(people["income"], INCOME, seed=2)
    assert sp.crosstab(race, income).names == ("race", "income")
    assert sp.crosstab(race, income, names=["r", "i"]).names == ("r", "i")
    codes = people.with_columns if isinstance(people, pl.DataFrame) else people.assign
    codes = codes(race=race.codes, income=income.codes)
    assert sp.crosstab(codes["race"], codes["income"], designs=[RACE, INCOME]).names == ("race", "income")
    assert sp.crosstab(codes["race"], codes["income"], designs={"race": RACE, "income": INCOME}).names[0] == "race"
    # A column without a name gets one, and two of the same name cannot keep it.
    alone = sp.SubsetData(income.codes, INCOME)
    assert sp.crosstab(race, alone).names == ("race", "y")
    assert sp.crosstab(race, sp.SubsetData(income.codes, INCOME, "race")).names == ("x", "y")
    assert sp.independence_test(sp.crosstab(race, income), permutations=0).hypothesis.startswith("race and income")


def test_a_column_of_a_table_keeps_its_name(tmp_path):
    both = sp.product({"race": RACE, "income": INCOME})
    table = sp.privatize(PEOPLE, both, seed=1)
    assert (table["race"].name, table["race", "income"].name) == ("race", None)
    assert sp.crosstab(table["income"], table["race"]).names == ("income", "race")
    release = sp.write_release(table, tmp_path / "both.parquet")
    assert people_of(release, ["race"]).name == "race"


@every_case(
    ("result", "name"),
    [
        (lambda data: list(sp.write_release(data, "made.csv").designs), ["race"]),
        (lambda data: list(sp.findings(data, tests=False).names), ["race"]),
        (lambda data: list(sp.check_all(data).variables), ["race"]),
        (lambda data: list(sp.impute(data, m=2, seed=1).columns), ["race_imputed"]),
        (lambda data: sp.regress(data, PEOPLE[["age"]]).name, "race"),
        (lambda data: list(sp.group_means(PEOPLE["age"], data).variables), ["race"]),
        (lambda data: sp.group_means(PEOPLE["age"], data).outcome, "age"),
    ],
)
def test_results_have_the_name(result, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert result(sp.privatize(PEOPLE["race"], RACE, seed=1)) == name
