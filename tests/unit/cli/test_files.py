"""Commands over tables: what they write and print, beside what the library says of the same codes."""

import csv
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest

import subsetprivacy as sp

RACES = ["ash", "birch", "cedar", "d|elm", "fir"]
SHARES = [0.05, 0.1, 0.15, 0.2, 0.5]
RACE = sp.uniform(RACES)
BOTH = sp.join({"sex": ["f", "m"], "income": ["low", "high"]})


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """A folder with a lopsided table of people and two designs."""
    folder = tmp_path_factory.mktemp("people")
    drawn = np.random.default_rng(5)
    n = 900
    race = drawn.choice(RACES, n, p=SHARES)
    sex = drawn.choice(["f", "m"], n, p=[0.3, 0.7])
    income = np.where((race == "fir") & (drawn.random(n) < 0.8), "high", "low")
    region = drawn.choice(["north", "south"], n, p=[0.25, 0.75])
    with (folder / "people.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["person", "race", "sex", "income", "region"])
        writer.writerows(zip(range(n), race, sex, income, region, strict=True))
    RACE.save(folder / "race.design.json")
    BOTH.save(folder / "both.design.json")
    return folder


@pytest.fixture(scope="module")
def private(people):
    """The path of a release of two columns and a kept one."""
    from subsetprivacy.frames.privatizing import privatize_table

    path = people / "release.parquet"
    designs = {"race": RACE, "both": BOTH}
    with pytest.warns(sp.errors.NotPrivateWarning, match="published unchanged"):
        privatize_table(people / "people.csv", designs, path, keep=["region"], seed=3)
    return path


@pytest.fixture(scope="module")
def codes(private):
    table = pq.read_table(private)
    return {name: np.array(table[name].to_pylist()) for name in table.column_names}


@pytest.fixture
def of_race(people):
    """The words that privatize the race of the people."""
    return ["privatize", people / "people.csv", "--column", "race", "--design", people / "race.design.json"]


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def values_of(people, column):
    return [row[column] for row in rows_of(people / "people.csv")]


# privatize ----------------------------------------------------------------------------------------


def test_every_subset_holds_its_value(run, of_race, people, tmp_path):
    path = tmp_path / "private.parquet"
    result = run(*of_race, "-o", path, "--keep-order")
    assert result.exit_code == 0, result.output
    table = pq.read_table(path)
    assert table.column_names == ["race"]
    for code, value in zip(table["race"].to_pylist(), values_of(people, "race"), strict=True):
        assert value in RACE.members(code)
    assert result.stdout.splitlines() == [
        f"Wrote 900 rows to {path}: column race.",
        f"Next: subsetprivacy report {path} -o report.html",
    ]
    assert result.stderr.startswith("Warning: the rows keep their order")
    assert {file.name for file in tmp_path.iterdir()} == {"private.parquet", "private.parquet.design.json"}


def test_rows_are_shuffled_unless_told(fine, run, of_race, people, tmp_path):
    shuffled, ordered = tmp_path / "shuffled.parquet", tmp_path / "ordered.parquet"
    fine(*of_race, "-o", shuffled)
    run(*of_race, "-o", ordered, "--keep-order")
    values = values_of(people, "race")
    fits = [
        np.mean([value in RACE.members(code) for value, code in zip(values, codes, strict=True)])
        for codes in (pq.read_table(path)["race"].to_pylist() for path in (shuffled, ordered))
    ]
    assert fits[1] == 1
    assert fits[0] < 0.9


def test_several_columns_with_their_designs(fine, people, tmp_path):
    path = tmp_path / "private.csv"
    named = [f"race={people / 'race.design.json'}", f"both={people / 'both.design.json'}"]
    fine("privatize", people / "people.csv", "--column", named[0], "--column", named[1], "-o", path)
    rows = rows_of(path)
    assert list(rows[0]) == ["race", "both"]
    assert len(rows) == 900
    assert all(row["both"].count("|") == 2 and "&" in row["both"] for row in rows)  # three of four combinations
    assert any("d\\|elm" in row["race"] for row in rows)
    facts = json.loads(fine("estimate", path, "--column", "both", "--json"))
    assert facts["n"] == 900
    assert facts["categories"] == [["f", "low"], ["f", "high"], ["m", "low"], ["m", "high"]]


def test_codes_for_machines(fine, of_race, tmp_path):
    path = tmp_path / "private.csv"
    fine(*of_race, "--codes", "-o", path)
    assert all(0 < int(row["race"]) < 31 for row in rows_of(path))


def test_a_product_names_its_columns(fine, people, tmp_path):
    design, path = tmp_path / "all.design.json", tmp_path / "private.parquet"
    sp.product({"race": RACE, "sex": sp.warner(["f", "m"])}).save(design)
    fine("privatize", people / "people.csv", "--design", design, "-o", path)
    assert pq.read_table(path).column_names == ["race", "sex"]


def test_what_is_kept_is_said(run, of_race, people, tmp_path):
    path = tmp_path / "private.parquet"
    result = run(*of_race, "--keep", "region", "--seed", 4, "-o", path)
    assert result.exit_code == 0, result.output
    warnings = result.stderr.splitlines()
    assert len(warnings) == 2
    assert warnings[0].startswith("Warning: draws with --seed are not private")
    assert warnings[1].startswith("Warning: ")
    assert "published unchanged" in warnings[1]
    assert "region" in warnings[1]
    assert Counter(pq.read_table(path)["region"].to_pylist()) == Counter(values_of(people, "region"))


def test_a_seed_repeats_an_experiment(run, of_race, tmp_path):
    tables = []
    for name, seed in (("one", 1), ("two", 1), ("three", 2)):
        path = tmp_path / f"{name}.parquet"
        run(*of_race, "--seed", seed, "-o", path)
        tables.append(pq.read_table(path)["race"].to_pylist())
    assert tables[0] == tables[1] != tables[2]


def test_a_key_gives_everybody_the_same_subset_again(fine, run, of_race, tmp_path):
    fine("key", "-o", tmp_path / "secret.key")
    drawn = []
    for name in ("one", "two"):
        path = tmp_path / f"{name}.parquet"
        keyed = ["--key-file", tmp_path / "secret.key", "--id", "person"]
        result = run(*of_race, *keyed, "--keep-order", "-o", path)
        assert result.exit_code == 0, result.output
        drawn.append(pq.read_table(path)["race"].to_pylist())
    assert drawn[0] == drawn[1]


def test_categories_read_off_the_data_are_warned_of(run, people, tmp_path):
    path = tmp_path / "private.parquet"
    result = run(
        "privatize", people / "people.csv", "--column", "race", "--column", "sex", "--infer-categories", "-o", path
    )
    assert result.exit_code == 0, result.output
    assert result.stderr.count("Warning: ") == 2
    assert "5 categories were read from the private column race" in result.stderr
    assert "ash" not in result.output
    from subsetprivacy.frames.reading import read_release

    assert read_release(path).designs == {"race": RACE, "sex": sp.small(["f", "m"])}


def test_an_interrupted_run_says_how_to_go_on(run, of_race, tmp_path, monkeypatch):
    def stopped(*arguments, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr("subsetprivacy.frames.plan.PrivatizePlan.run", stopped)
    result = run(*of_race, "-o", tmp_path / "x.parquet")
    assert result.exit_code == 130
    assert result.stderr == "\nStopped. Nothing was published; the same command starts over.\n"
    assert not list(tmp_path.iterdir())


def test_a_run_that_was_stopped_goes_on(run, fine, of_race, tmp_path, monkeypatch):
    words = [*of_race, "-o", tmp_path / "x.parquet"]

    def stop(self, done, total):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("subsetprivacy.cli.progress.ProgressLine.__call__", stop)  # when the first rows are drawn
        result = run(*words)
    assert result.exit_code == 130
    said = "\nStopped. Nothing was published; the same command continues where it stopped."
    assert result.stderr == f"{said} To discard it, delete {tmp_path / '.x.parquet.partial'}.\n"
    assert not (tmp_path / "x.parquet").exists()
    fine(*words)
    assert {path.name for path in tmp_path.iterdir()} == {"x.parquet", "x.parquet.design.json"}
    assert pq.read_table(tmp_path / "x.parquet").num_rows == 900


# count --------------------------------------------------------------------------------------------


def test_subsets_are_counted(fine, private, codes, tmp_path):
    facts = json.loads(fine("count", private, "--column", "race", "--json"))
    counted = Counter(codes["race"].tolist())
    assert {entry["codes"][0]: entry["n"] for entry in facts["counts"]} == dict(counted)
    assert facts["columns"] == ["race"]
    assert facts["n"] == 900
    for entry in facts["counts"]:
        assert entry["subsets"] == [list(RACE.members(entry["codes"][0]))]
    text = fine("count", private, "--column", "race")
    many = counted.most_common(1)[0][1]
    named = {"|".join(label.replace("|", "\\|") for label in RACE.members(code)): n for code, n in counted.items()}
    assert text.splitlines()[4].split()[1:] == [str(many), f"{many / 900:.4f}"]
    assert named[text.splitlines()[4].split()[0]] == many
    path = tmp_path / "counts.csv"
    assert fine("count", private, "--column", "race", "-o", path) == f"Wrote {path}.\n"
    assert {row["race"]: int(row["count"]) for row in rows_of(path)} == named
    printed = csv.DictReader(fine("count", private, "--column", "race", "-o", "-").splitlines())
    assert {row["race"]: int(row["count"]) for row in printed} == named


def test_two_columns_give_a_cross_table(fine, private, codes, tmp_path):
    path = tmp_path / "counts.csv"
    fine("count", private, "--column", "race", "--column", "both", "-o", path)
    expected = Counter(zip(codes["race"].tolist(), codes["both"].tolist(), strict=True))
    assert Counter(int(row["count"]) for row in rows_of(path)) == Counter(expected.values())
    facts = json.loads(fine("count", private, "--column", "race", "--column", "both", "--json"))
    assert {tuple(entry["codes"]): entry["n"] for entry in facts["counts"]} == dict(expected)


def test_a_cross_table_is_printed_if_it_is_not_too_wide(fine, private, codes, monkeypatch):
    words = ["count", private, "--column", "race", "--column", "both"]
    monkeypatch.setenv("COLUMNS", "300")
    assert fine(*words).startswith("Reported subsets, race by sex x income, n = 900")
    monkeypatch.setenv("COLUMNS", "80")
    lines = fine(*words).splitlines()
    assert lines[0] == "Subsets of race and both, n = 900"
    (_, many), *_ = Counter(zip(codes["race"].tolist(), codes["both"].tolist(), strict=True)).most_common(1)
    assert lines[4].split()[-2:] == [str(many), f"{many / 900:.4f}"]
    assert "The 24 most frequent of" in lines[-1]


def test_counts_in_groups(fine, private, codes, tmp_path):
    facts = json.loads(fine("count", private, "--column", "race", "--by", "region", "--json"))
    for part in facts:
        here = codes["race"][codes["region"] == part["group"]]
        assert {entry["codes"][0]: entry["n"] for entry in part["counts"]} == dict(Counter(here.tolist()))
    assert {part["group"] for part in facts} == {"north", "south"}
    assert "region: north" in fine("count", private, "--column", "race", "--by", "region")
    path = tmp_path / "counts.csv"
    assert fine("count", private, "--column", "race", "--by", "region", "-o", path) == f"Wrote {path}.\n"
    rows = rows_of(path)
    assert list(rows[0]) == ["region", "race", "count"]
    assert sum(int(row["count"]) for row in rows if row["region"] == "north") == (codes["region"] == "north").sum()


@pytest.mark.parametrize("name", ["counts.csv", "counts.parquet"])
def test_counts_are_read_back_as_they_are(name, fine, refused, private, tmp_path):
    path = tmp_path / name
    fine("count", private, "--column", "race", "-o", path)
    expected = json.loads(fine("estimate", private, "--column", "race", "--json"))
    again = json.loads(fine("estimate", path, "--json"))
    assert again["n"] == 900
    assert again["estimate"] == pytest.approx(expected["estimate"], abs=1e-9)
    assert "--force" in refused("count", private, "--column", "race", "-o", path)


def test_counts_of_a_database(fine, private, people, tmp_path):
    """As SELECT race, COUNT(*) AS people … GROUP BY race returns them, saved without a document."""
    facts = json.loads(fine("count", private, "--column", "race", "--json"))
    path = tmp_path / "made.csv"
    path.write_text("race,people\n" + "".join(f"{one['codes'][0]},{one['n']}\n" for one in facts["counts"]))
    again = fine(
        "estimate", path, "--column", f"race={people / 'race.design.json'}", "--form", "codes", "--weights", "people",
        "--weights-kind", "frequency", "--json",
    )  # fmt: skip
    expected = json.loads(fine("estimate", private, "--column", "race", "--json"))
    assert json.loads(again)["estimate"] == pytest.approx(expected["estimate"], abs=1e-9)


def test_groups_of_other_types(fine, tmp_path):
    """Groups keep their type where JSON has it, and are text where it has not."""
    from datetime import date

    days = [date(2026, 1, 1), date(2026, 1, 2), None]
    table = pa.table({"x": [3, 12, 5], "day": days, "wave": [7, 8, 8]})
    pq.write_table(table, tmp_path / "waves.parquet")
    sp.uniform(list("abcd")).save(tmp_path / "x.json")
    words = ["count", tmp_path / "waves.parquet", "--column", f"x={tmp_path / 'x.json'}"]
    parts = json.loads(fine(*words, "--by", "wave", "--json"))
    assert [(part["group"], part["n"]) for part in parts] == [(7, 1), (8, 2)]
    assert [part["group"] for part in json.loads(fine(*words, "--by", "day", "--json"))] == [
        "2026-01-01",
        "2026-01-02",
        None,
    ]
    assert "day: (missing)" in fine(*words, "--by", "day")
    both = json.loads(fine(*words, "--by", "wave", "--by", "day", "--json"))
    assert both[0]["group"] == [7, "2026-01-01"]
    head = fine(*words, "--by", "wave", "--by", "day", "-o", "-").splitlines()
    assert head[:2] == ["wave,day,x,count", "7,2026-01-01,a|b,1"]


# estimate -----------------------------------------------------------------------------------------

KEYS = {"categories", "estimate", "se", "lower", "upper", "level", "n", "method", "gap"}


def test_estimates_for_machines(fine, private, codes):
    facts = json.loads(fine("estimate", private, "--column", "race", "--json"))
    assert set(facts) >= KEYS
    fit = sp.estimate(sp.SubsetData(codes["race"], RACE))
    assert facts["categories"] == RACES
    assert facts["estimate"] == pytest.approx(fit.w.tolist(), abs=1e-9)
    assert facts["n"] == 900
    assert all(lower <= w <= upper for lower, w, upper in zip(facts["lower"], facts["estimate"], facts["upper"]))
    wide = json.loads(fine("estimate", private, "--column", "race", "--level", 0.99, "--interval", "profile", "--json"))
    assert wide["level"] == 0.99
    assert wide["lower"] == pytest.approx(fit.interval(0.99, method="profile")[:, 0].tolist(), abs=1e-6)


def test_estimates_for_people(fine, private, codes):
    text = fine("estimate", private, "--column", "race", "--method", "em")
    assert text.splitlines()[0] == "Estimated shares, maximum likelihood by EM, n = 900"
    fit = sp.estimate(sp.SubsetData(codes["race"], RACE))
    assert f"{fit.w[4]:.4f}" in text


def test_the_one_column_need_not_be_named(fine, of_race, misused, private, tmp_path):
    path = tmp_path / "one.parquet"
    fine(*of_race, "-o", path)
    assert json.loads(fine("estimate", path, "--json"))["n"] == 900
    assert "choose a --column" in misused("estimate", private)
    assert "race, both" in misused("estimate", private)


def test_a_joint_distribution(fine, private, codes, tmp_path):
    facts = json.loads(fine("estimate", private, "--column", "race", "--column", "both", "--json"))
    table = sp.crosstab(sp.SubsetData(codes["race"], RACE), sp.SubsetData(codes["both"], BOTH), names=["race", "both"])
    assert facts["estimate"] == pytest.approx(sp.estimate(table).w.tolist(), abs=1e-6)
    path = tmp_path / "est.csv"
    fine("estimate", private, "--column", "race", "--column", "both", "-o", path)
    rows = rows_of(path)
    assert list(rows[0]) == ["race", "sex", "income", "estimate", "se", "lower", "upper", "level"]
    assert len(rows) == 20
    assert sum(float(row["estimate"]) for row in rows) == pytest.approx(1)


def test_estimates_in_groups(fine, private, codes, tmp_path):
    facts = json.loads(fine("estimate", private, "--column", "race", "--by", "region", "--json"))
    for part in facts:
        here = sp.SubsetData(codes["race"][codes["region"] == part["group"]], RACE)
        assert part["estimate"] == pytest.approx(sp.estimate(here).w.tolist(), abs=1e-9)
        assert set(part) >= {"group", *KEYS}
    path = tmp_path / "est.csv"
    fine("estimate", private, "--column", "race", "--by", "region", "-o", path)
    assert Counter(row["region"] for row in rows_of(path)) == {"north": 5, "south": 5}
    printed = fine("estimate", private, "--column", "race", "--by", "region")
    assert printed.startswith("Estimated shares by region, maximum likelihood, 2 groups\n")
    assert [line for line in printed.splitlines() if line.startswith("south ")]


@pytest.mark.parametrize(("name", "start"), [("est.png", b"\x89PNG"), ("est.svg", b"<?xml"), ("est.json", b"{")])
def test_estimates_in_files(name, start, run, private, tmp_path):
    path = tmp_path / name
    result = run("estimate", private, "--column", "race", "-o", path, "--json")
    assert path.read_bytes().startswith(start)
    assert json.loads(result.stdout)["n"] == 900  # nothing else on standard output
    assert json.loads(result.stderr) == {"kind": "Message", "message": f"Wrote {path}.", "advice": None}
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_a_warning_of_the_library_is_one_line(run, tmp_path):
    design = sp.uniform(list("abcd"))
    path, document = tmp_path / "few.csv", design.save(tmp_path / "d.json")
    path.write_text("x\na|b\na|b\nc|d\n")
    result = run("estimate", path, "--column", f"x={document}", "--form", "labels")
    assert result.exit_code == 0, result.output
    assert "n = 3" in result.stdout
    (line,) = result.stderr.splitlines()
    assert line.startswith("Warning: ")
    assert "unique" in line
    assert ".py" not in line


# test ---------------------------------------------------------------------------------------------


def test_independence(fine, private, codes):
    facts = json.loads(fine("test", private, "race", "both", "--permutations", 99, "--seed", 1, "--json"))
    assert set(facts) >= {"statistic", "df", "pvalue", "asymptotic_pvalue", "n", "method", "permutations", "notes"}
    table = sp.crosstab(sp.SubsetData(codes["race"], RACE), sp.SubsetData(codes["both"], BOTH), names=["race", "both"])
    expected = sp.independence_test(table, permutations=99, seed=1)
    assert facts["statistic"] == pytest.approx(expected.statistic, abs=1e-6)
    assert facts["pvalue"] == pytest.approx(expected.pvalue)
    assert facts["df"] == expected.df
    text = fine("test", private, "race", "both", "--method", "pearson", "--permutations", 0)
    assert text.startswith("Pearson's test. Null hypothesis: race and sex x income are independent")


def test_independence_within_groups(fine, private, codes):
    facts = json.loads(fine("test", private, "race", "both", "--given", "region", "--permutations", 0, "--json"))
    whole = json.loads(fine("test", private, "race", "both", "--permutations", 0, "--json"))
    assert facts["hypothesis"].endswith("in each of 2 groups")
    assert facts["df"] == 2 * whole["df"]


def test_joined_variables_are_tested_by_their_one_column(fine, private):
    facts = json.loads(fine("test", private, "both", "--permutations", 19, "--seed", 1, "--json"))
    assert "sex and income" in facts["hypothesis"]
    assert facts["permutations"] == 19


def test_a_third_column_of_subsets_is_given(fine, people, tmp_path):
    path = tmp_path / "three.parquet"
    for name, labels in (("sex", ["f", "m"]), ("income", ["low", "high"]), ("region", ["north", "south"])):
        sp.warner(labels).save(tmp_path / f"{name}.json")
    named = [word for name in ("sex", "income", "region") for word in ("--column", f"{name}={tmp_path / name}.json")]
    fine("privatize", people / "people.csv", *named, "-o", path)
    facts = json.loads(fine("test", path, "sex", "income", "--given", "region", "--permutations", 19, "--json"))
    assert "given" in facts["hypothesis"] or "region" in facts["hypothesis"]


# audit --------------------------------------------------------------------------------------------


def test_a_published_column_is_audited(fine, private, codes):
    facts = json.loads(fine("audit", private, "--column", "race", "--json"))
    expected = sp.audit(sp.SubsetData(codes["race"], RACE).counts()).to_dict()
    assert facts.keys() == expected.keys()
    assert facts["mi_leakage"] == pytest.approx(expected["mi_leakage"], abs=1e-9)
    assert facts["mi_leakage_lower"] < facts["mi_leakage"] < facts["mi_leakage_upper"]
    assert "Privacy audit: uniform design, 5 categories, n = 900" in fine("audit", private, "--column", "race")


def test_several_columns_add_up(fine, private):
    one, two = (json.loads(fine("audit", private, "--column", name, "--json")) for name in ("race", "both"))
    together = json.loads(fine("audit", private, "--column", "race", "--column", "both", "--json"))
    assert together["maximal_leakage"] == pytest.approx(one["maximal_leakage"] + two["maximal_leakage"])
    assert together["joint_known"] is True
    assert set(together["variables"]) == {"race", "sex x income"}


def test_a_given_distribution_and_a_prior(fine, private):
    even = "0.2,0.2,0.2,0.2,0.2"
    facts = json.loads(fine("audit", private, "--column", "race", "--w", even, "--json"))
    assert facts["mi_leakage"] == pytest.approx(sp.audit(RACE, [0.2] * 5).to_dict()["mi_leakage"])
    believed = json.loads(fine("audit", private, "--column", "race", "--prior", "0.6,0.1,0.1,0.1,0.1", "--json"))
    assert "mi_leakage_lower" not in believed


def test_a_design_is_audited_at_the_even_distribution_by_default(run, misused, people):
    design = people / "race.design.json"
    result = run("audit", design, "--json")
    assert json.loads(result.stderr)["message"] == "Audited at the uniform distribution. Use --w for another."
    assert run("audit", design).stderr == "Audited at the uniform distribution. Use --w for another.\n"
    assert json.loads(result.stdout) == json.loads(run("audit", design, "--json", "--w", "0.2,0.2,0.2,0.2,0.2").stdout)
    assert "are for tables" in misused("audit", design, "--w", "0.2,0.2,0.2,0.2,0.2", "--column", "race")


@pytest.fixture
def probabilities(tmp_path):
    """Return a CSV file with a row of probabilities for each of six rows, columns in another order, and the numbers."""
    P = np.random.default_rng(1).dirichlet(np.ones(5), 6)
    table = pa.table({"id": range(6), **{name: P[:, j] for j, name in reversed(list(enumerate(RACE.categories)))}})
    arrow_csv.write_csv(table, tmp_path / "probabilities.csv")
    pq.write_table(table, tmp_path / "probabilities.parquet")
    return tmp_path, P


def test_rows_with_covariates_are_audited_before_and_after_publishing(run, fine, private, people, probabilities):
    folder, P = probabilities
    for name in ("probabilities.csv", "probabilities.parquet"):
        result = run("audit", people / "race.design.json", "--given", folder / name, "--json")
        assert result.stderr == ""  # not at the even distribution
        facts, expected = json.loads(result.stdout), sp.audit(RACE, given=P).to_dict()
        assert facts["given"]["expected"] == expected["given"]["expected"]
        assert facts["mi_leakage"] == expected["mi_leakage"]
    printed = fine("audit", private, "--column", "race", "--given", folder / "probabilities.csv")
    assert "given covariates: one value above 95%" in printed


def test_probabilities_that_do_not_fit_are_refused_without_showing_a_cell(refused, misused, private, people, tmp_path):
    design, path = people / "race.design.json", tmp_path / "wrong.csv"
    header = ",".join(map(str, RACE.categories))
    for row, message in (
        ("0.2,0.2,0.2,0.2,secret", "each row of --given must be finite; got 1 row that is not, first in row 0"),
        ("0.2,0.2,0.2,0.2,", "each row of --given must be finite"),
        ("0.2,0.2,0.2,0.2,0.31", "each row of --given must sum to 1; got 1 row that does not, first in row 0"),
        ("", "--given must have at least one row; got none"),
    ):
        path.write_text(f"{header}\n{row}\n" if row else f"{header}\n")
        line = refused("audit", design, "--given", path)
        assert message in line
        assert "secret" not in line
        assert "0.31" not in line
    path.write_text("a,b\n0.5,0.5\n")
    assert "got no column" in refused("audit", design, "--given", path)
    assert "--given is for a single column" in misused("audit", private, "--given", path)


# report -------------------------------------------------------------------------------------------


def test_a_page(fine, refused, private, tmp_path):
    path = tmp_path / "report.html"
    said = fine("report", private, "-o", path, "--permutations", 19, "--seed", 1, "--title", "Trees & people")
    assert said == f"Wrote {path}. Open it in a browser.\n"
    page = path.read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "Trees &amp; people" in page
    assert "birch" in page
    assert "--force" in refused("report", private, "-o", path)
    fine("report", private, "--column", "race", "-o", path, "--force", "--no-tests")
    again = path.read_text(encoding="utf-8")
    assert "Trees" not in again
    assert "income" not in again
    assert fine("report", private, "--column", "race", "-o", "-", "--no-tests") == again


def test_adults_own_file_takes_two_options(fine, refused, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = ["Private", "State-gov", "?", "Self-emp", "Private", "Never-worked"]
    Path("adult.csv").write_text("work\n" + "".join(f" {cell}\n" for cell in cells * 20), encoding="utf-8")
    fine("design", "uniform", "Private", "State-gov", "Self-emp", "Never-worked", "-o", "work.design.json")
    command = ("privatize", "adult.csv", "--column", "work=work.design.json", "-o", "private.csv")
    said = refused(*command)
    assert "100 of them are categories after stripping spaces" in said
    assert "20 look like marks of a missing answer, such as ? or NA" in said
    assert "--strip" in said
    assert "--na" in said
    assert "Private" not in said
    fine(*command, "--strip", "--na", "?")
    assert json.loads(fine("count", "private.csv", "--json"))["n_missing"] >= 20


def test_labels_that_are_read_off_are_stripped_as_well(fine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("adult.csv").write_text("work\n" + " a\n b\n ?\n c\n d\n" * 20, encoding="utf-8")
    fine("privatize", "adult.csv", "--column", "work", "--infer-categories", "--strip", "--na", "?", "-o", "out.csv")
    assert "a, b, c, d" in fine("design", "show", "out.csv.design.json")


# What would be done -------------------------------------------------------------------------------


def test_a_dry_run_shows_the_plan_and_writes_nothing(fine, people, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = people / "people.csv"
    words = ["privatize", table, "--column", f"race={people / 'race.design.json'}", "-o", "x.csv", "--dry-run"]
    text = fine(*words)
    for word in (f"{table} to x.csv", "in random order", "race", "uniform", RACE.fingerprint[:16]):
        assert word in text
    facts = json.loads(fine(*words, "--json"))
    assert (facts["output"], facts["kept"], facts["is_finished"]) == ("x.csv", [], False)
    assert [column["name"] for column in facts["columns"]] == ["race"]
    assert not list(tmp_path.iterdir())


def test_a_dry_run_finds_what_a_run_would(run, people, tmp_path):
    words = ["privatize", people / "people.csv", "--column", f"race={people / 'race.design.json'}", "--dry-run"]
    result = run(*words, "--keep", "nowhere", "-o", tmp_path / "x.csv")
    assert (result.exit_code, "no column nowhere" in result.stderr) == (1, True)
    result = run(*words, "-o", tmp_path / "nowhere" / "x.csv")
    assert (result.exit_code, "must be in a folder that exists" in result.stderr) == (1, True)
    result = run(*words, "-o", "-")
    assert (result.exit_code, "name one with --output" in result.stderr) == (2, True)


def test_a_file_of_counts_without_its_document_is_refused(fine, refused, tmp_path):
    counts = sp.simulate(RACE, [0.2] * 5, 300, seed=1)
    sp.write_counts(counts, tmp_path / "counts.csv", name="race")
    RACE.save(tmp_path / "race.json")
    bare = tmp_path / "bare.csv"
    bare.write_text((tmp_path / "counts.csv").read_text())
    named = ["--column", f"race={tmp_path / 'race.json'}"]
    weighted = ["--weights", "count", "--weights-kind", "frequency"]
    for command in (["count"], ["estimate"], ["check"], ["report", "-o", tmp_path / "page.html"]):
        line = refused(command[0], bare, *named, *command[1:])
        assert "an unused column count" in line
        assert "`" not in line
        assert "--weights count --weights-kind frequency" in line
    assert "n = 300" in fine("estimate", bare, *named, *weighted)
    fine("count", bare, *named, *weighted, "-o", tmp_path / "again.csv")
    assert "300 people" in fine("check", tmp_path / "again.csv")
