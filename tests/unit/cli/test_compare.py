"""`compare`: differences between tables and between groups are those of the library, in every form."""

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pytest
from click.testing import CliRunner
from shell_words import without_advice

import subsetprivacy as sp
from subsetprivacy.cli.main import main

ANSWERS = ["never", "monthly", "weekly", "daily"]
DESIGN = sp.uniform(ANSWERS)
COARSER = sp.fixed_size(["often", "never", "monthly"], 2)
WAVES = {2023: [0.5, 0.3, 0.15, 0.05], 2024: [0.4, 0.3, 0.2, 0.1], 2025: [0.3, 0.3, 0.2, 0.2]}
COLUMNS = ["group", "against", "category", "estimate", "se", "lower", "upper", "level", "pvalue"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A file for each wave, one with other categories, and one with all waves and a column of sexes."""
    folder = tmp_path_factory.mktemp("waves")
    drawn = np.random.default_rng(5)
    codes = {year: sp.privatize(drawn.choice(ANSWERS, 500, p=w), DESIGN, seed=year).codes for year, w in WAVES.items()}
    for year, column in codes.items():
        sp.write_release(pa.table({"answer": column}), folder / f"{year}.parquet", {"answer": DESIGN})
    often = sp.privatize(drawn.choice(["often", "never", "monthly"], 600, p=[0.3, 0.4, 0.3]), COARSER, seed=1)
    sp.write_release(pa.table({"answer": often.codes}), folder / "old.csv", {"answer": COARSER})
    sexes = drawn.choice(["f", "m"], 1500)
    weights = np.tile([1, 2, 3], 500)
    years = np.repeat(list(WAVES), 500)
    whole = pa.table({"answer": np.concatenate(list(codes.values())), "year": years, "sex": sexes, "weight": weights})
    twice = whole.append_column("again", whole["answer"])
    sp.write_release(twice, folder / "twice.parquet", {"answer": DESIGN, "again": DESIGN})
    sp.write_release(whole, folder / "all.parquet", {"answer": DESIGN}, keep=["year", "sex", "weight"])
    DESIGN.save(folder / "answer.json")
    fits = {str(year): sp.estimate(sp.SubsetData(column, DESIGN)) for year, column in codes.items()}
    fits["old"] = sp.estimate(often)
    return folder, fits, whole


@pytest.fixture(autouse=True)
def folder(made, monkeypatch):
    monkeypatch.chdir(made[0])
    return made[0]


@pytest.fixture
def fits(made):
    return made[1]


def same(found, expected):
    """Compare what JSON has with the dictionary of the library; advice is in other words."""
    written = json.loads(json.dumps(without_advice(expected.to_dict())))
    assert without_advice(found).keys() == written.keys()
    for key, value in written.items():
        if key != "notes":
            assert found[key] == close(value), key
    assert [note["kind"] for note in found["notes"]] == [note["kind"] for note in written["notes"]]


def close(value):
    if isinstance(value, dict):
        return {key: close(inner) for key, inner in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], float):
        return pytest.approx(value, abs=1e-9)
    return pytest.approx(value, abs=1e-9) if isinstance(value, float) else value


def rows(text):
    return list(csv.DictReader(text.splitlines()))


# Tables -------------------------------------------------------------------------------------------


def test_two_tables_are_the_first_minus_the_second(fine, fits):
    expected = fits["2025"].difference(fits["2024"], names=("2025", "2024"))
    same(json.loads(fine("compare", "2025.parquet", "2024.parquet", "--json")), expected)
    printed = fine("compare", "2025.parquet", "2024.parquet", "--column", "answer")
    assert printed.startswith("Difference of shares, 2025 minus 2024: n = 500 and n = 500\n")
    assert f"{expected.estimate[0]:.4f}" in printed


def test_names_are_given_or_those_of_the_files(fine):
    assert json.loads(fine("compare", "b=2025.parquet", "2024.parquet", "--json"))["names"] == ["b", "2024"]
    Path("x=1.parquet").write_bytes(Path("2023.parquet").read_bytes())
    assert json.loads(fine("compare", "x=1.parquet", "2024.parquet", "--json"))["names"] == ["x=1", "2024"]


def test_a_compressed_table_is_called_without_its_whole_ending(fine):
    people = ["answer", *(ANSWERS * 50)]
    Path("people.csv").write_text("\n".join(people) + "\n")
    fine("privatize", "people.csv", "--column", "answer=answer.json", "-o", "later.csv.gz", "--force")
    facts = json.loads(fine("compare", "later.csv.gz", "2024.parquet", "--json"))
    assert facts["names"] == ["later", "2024"]


def test_level_and_method_are_those_of_the_library(fine, fits):
    words = ["compare", "2025.parquet", "2024.parquet", "--level", "0.8", "--method", "wald", "--json"]
    facts = json.loads(fine(*words))
    bounds = fits["2025"].difference(fits["2024"]).interval(0.8, method="wald")
    assert facts["method"] == "wald"
    assert np.column_stack([facts["lower"], facts["upper"]]) == pytest.approx(bounds)


def test_several_tables_are_each_minus_those_named_later(fine, fits):
    found = json.loads(fine("compare", "2025.parquet", "2024.parquet", "2023.parquet", "--json"))
    same(found, sp.compare({name: fits[name] for name in ("2025", "2024", "2023")}))
    pairs = set(zip(found["differences"]["group"], found["differences"]["against"], strict=True))
    assert pairs == {("2025", "2024"), ("2025", "2023"), ("2024", "2023")}


def test_a_baseline_is_subtracted_from_all_others(fine, fits):
    words = ["compare", "2023.parquet", "2024.parquet", "2025.parquet", "--baseline", "2023"]
    expected = sp.compare({name: fits[name] for name in ("2023", "2024", "2025")}, baseline="2023")
    same(json.loads(fine(*words, "--json")), expected)
    assert "2025 - 2023" in fine(*words)
    two = json.loads(fine("compare", "2023.parquet", "2024.parquet", "--baseline", "2023", "--json"))
    assert two["names"] == ["2024", "2023"]
    two = json.loads(fine("compare", "2023.parquet", "2024.parquet", "--baseline", "2024", "--json"))
    assert two["names"] == ["2023", "2024"]


def test_merged_categories_make_other_questionnaires_comparable(fine, fits):
    found = json.loads(fine("compare", "2025.parquet", "old.csv", "--merge", "often=weekly,daily", "--json"))
    merged = fits["2025"].collapse({"often": ["weekly", "daily"]})
    same(found, merged.difference(fits["old"], names=("2025", "old")))
    assert found["categories"] == ["never", "monthly", "often"]


def test_a_table_on_standard_input(folder):
    given = (folder / "2025.parquet").read_bytes()
    words = ["compare", "now=-", "2024.parquet", "--input-format", "parquet", "--json"]
    result = CliRunner().invoke(main, words, input=given)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["names"] == ["now", "2024"]


def test_a_form_is_for_the_tables_that_do_not_say_it(fine, refused, folder, fits, tmp_path):
    codes = sp.read_release(folder / "2025.parquet").count("answer")
    lines = [str(code) for code, n in zip(codes.codes, codes.counts, strict=True) for _ in range(int(n))]
    (tmp_path / "bare.csv").write_text("\n".join(["answer", *lines]) + "\n")
    named = ["--column", "answer=answer.json", "--form", "codes"]
    found = json.loads(fine("compare", tmp_path / "bare.csv", "2024.parquet", *named, "--json"))
    assert found["estimate"] == pytest.approx(fits["2025"].difference(fits["2024"]).estimate, abs=1e-9)
    assert "--form must be left out" in refused("compare", "2025.parquet", "2024.parquet", "--form", "labels")


def test_a_design_on_standard_input_is_for_all_tables(folder):
    given = (folder / "answer.json").read_bytes()
    words = ["compare", "2025.parquet", "2024.parquet", "--column", "answer=-", "--json"]
    result = CliRunner().invoke(main, words, input=given)
    assert result.exit_code == 0, result.output


# Groups -------------------------------------------------------------------------------------------


def grouped(whole, by, **settings):
    return sp.estimate_many(sp.count(whole, "answer", design=DESIGN, by=by, **settings))


def test_two_groups_are_the_first_minus_the_second(fine, made):
    batch = grouped(made[2], "sex")
    same(json.loads(fine("compare", "all.parquet", "--by", "sex", "--json")), batch.difference("f", "m"))
    swapped = json.loads(fine("compare", "all.parquet", "--by", "sex", "--baseline", "f", "--json"))
    assert swapped["names"] == ["m", "f"]


def test_groups_of_several_columns_have_a_baseline_of_several_parts(fine, made):
    fits = sp.estimate_many(sp.read_release(made[0] / "all.parquet").count("answer", by=["sex", "year"]))
    found = rows(fine("compare", "all.parquet", "--by", "sex", "--by", "year", "--baseline", "f,2023", "-o", "-"))
    assert [(row["group"], row["against"]) for row in found[:: len(ANSWERS)]] == [
        (f"{sex} / {year}", "f / 2023") for sex, year in fits.names if (sex, year) != ("f", 2023)
    ]
    shares = fits["f", 2024].w - fits["f", 2023].w
    assert [float(row["estimate"]) for row in found[: len(ANSWERS)]] == pytest.approx(shares, abs=1e-9)


def test_weights_are_those_of_the_column(fine, made):
    batch = grouped(made[2], "sex", weights="weight", weights_kind="sampling")
    words = ["compare", "all.parquet", "--by", "sex", "--weights", "weight", "--weights-kind", "sampling", "--json"]
    same(json.loads(fine(*words)), batch.difference("f", "m"))


# Files --------------------------------------------------------------------------------------------


def test_files_have_a_row_for_each_pair_and_category(fine, fits, tmp_path):
    expected = fits["2025"].difference(fits["2024"]).to_frame()
    assert fine("compare", "2025.parquet", "2024.parquet", "-o", tmp_path / "two.csv") == (
        f"Wrote {tmp_path / 'two.csv'}.\n"
    )
    two = rows((tmp_path / "two.csv").read_text())
    assert list(two[0]) == COLUMNS
    assert [(row["group"], row["against"]) for row in two] == [("2025", "2024")] * 4
    for name in ("estimate", "lower", "pvalue"):
        assert [float(row[name]) for row in two] == pytest.approx(expected[name].tolist(), abs=1e-9)
    three = rows(fine("compare", "2025.parquet", "2024.parquet", "2023.parquet", "-o", "-"))
    assert list(three[0]) == [*COLUMNS, "adjusted_pvalue"]
    assert len(three) == 12


def test_json_files_are_what_is_printed(fine, tmp_path):
    fine("compare", "2025.parquet", "2024.parquet", "-o", tmp_path / "two.json")
    printed = json.loads(fine("compare", "2025.parquet", "2024.parquet", "--json"))
    assert json.loads((tmp_path / "two.json").read_text()) == printed


@pytest.mark.parametrize(
    ("tables", "ending", "sign"),
    [(["2025", "2024"], "svg", b"<?xml"), (["2025", "2024", "2023"], "pdf", b"%PDF")],
)
def test_pictures(tables, ending, sign, fine, tmp_path):
    fine("compare", *(f"{name}.parquet" for name in tables), "-o", tmp_path / f"x.{ending}")
    assert (tmp_path / f"x.{ending}").read_bytes().startswith(sign)


def test_a_file_is_replaced_by_force_alone(fine, refused, tmp_path):
    place = tmp_path / "x.csv"
    place.write_text("mine")
    words = ["compare", "2025.parquet", "2024.parquet", "-o", place]
    assert "--force" in refused(*words)
    assert place.read_text() == "mine"
    fine(*words, "--force")
    assert place.read_text().startswith("group,")


# Wrong calls --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["2025.parquet"], "give two or more TABLEs, or --by COLUMN"),
        (["2025.parquet", "2024.parquet", "--by", "sex"], "--by compares groups within one TABLE"),
        (["2025.parquet", "x=2025.parquet"], "2025 and x are the same file"),
        (["a=2025.parquet", "a=2024.parquet"], "two samples are called a"),
        (["=2025.parquet", "2024.parquet"], "got no name"),
        (["2025.parquet", "x=nowhere.parquet"], "'nowhere.parquet' does not exist"),
        (["2025.parquet", "2024.parquet", "--baseline", "2023"], "must be one of 2025, 2024"),
        (["all.parquet", "--by", "year", "--baseline", "1999"], "must be one of the 3 groups of --by"),
        (["all.parquet", "--by", "year", "--by", "sex", "--baseline", "f"], "groups of --by, written YEAR,SEX"),
        (["all.parquet", "--by", "answer"], "--by must name columns other"),
        (["twice.parquet", "--column", "answer", "--by", "again"], "again holds subsets"),
        (["twice.parquet", "2025.parquet"], "choose a --column of twice.parquet: answer, again"),
        (["2025.parquet", "2024.parquet", "--merge", "often"], "must be NAME=LABEL,LABEL"),
        (["2025.parquet", "2024.parquet", "--merge", "a=never", "--merge", "a=daily"], "the name a twice"),
        (["2025.parquet", "2024.parquet", "--estimator", "mom"], "No such option"),
        (["2025.parquet", "2024.parquet", "-o", "2024.parquet"], "--output must not be TABLE"),
        (["2025.parquet", "2024.parquet", "--format", "csv"], "--format is for -o -"),
        (["2025.parquet", "2024.parquet", "-o", "-", "--json"], "both write to standard output"),
        (["2025.parquet", "2024.parquet", "--weights", "weight"], "--weights and --weights-kind go together"),
    ],
)
def test_words_that_make_no_comparison(words, message, misused):
    assert message in " ".join(misused("compare", *words).split())


def test_samples_with_other_categories(refused):
    line = refused("compare", "2025.parquet", "old.csv")
    assert line.startswith("Error: the samples must have the same categories; 2025 has weekly, daily, old does not.")
    assert line.endswith("Hint: merge categories with --merge NAME=LABEL,LABEL until both have the same categories.")
    merged = refused("compare", "old.csv", "2025.parquet", "--merge", "seldom=never,monthly")
    assert "old has often, 2025 does not" in merged


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["2025.parquet", "2024.parquet", "--level", "95"], "--level must be between 0 and 1"),
        (["2025.parquet", "2024.parquet", "--merge", "often=hourly"], "--merge must name categories"),
        (["2025.parquet", "2024.parquet", "--merge", "never=weekly,daily"], "--merge must have new labels"),
        (["2025.parquet", "2024.parquet", "--merge", f"all={','.join(ANSWERS)}"], "--merge must leave at least two"),
        (
            ["2025.parquet", "2024.parquet", "--column", "colour"],
            "2025.parquet must have a column of subsets named 'colour'; it has answer",
        ),
        (["all.parquet", "--by", "nowhere"], "nowhere"),
    ],
)
def test_what_cannot_be_compared(words, message, refused):
    line = refused("compare", *words)
    assert message in line
    assert "`" not in line


def test_one_group_is_none_to_compare(refused, tmp_path):
    place = tmp_path / "one.parquet"
    table = pa.table({"answer": [3, 5, 12], "year": [1, 1, 1]})
    sp.write_release(table, place, {"answer": DESIGN}, keep=["year"])
    assert refused("compare", place, "--by", "year") == "Error: the groups of --by must be two or more; got 1."


def test_a_sample_that_says_nothing_is_named(refused, tmp_path):
    (tmp_path / "silent.csv").write_text('answer\n""\n')
    words = [tmp_path / "silent.csv", "--column", "answer=answer.json", "--form", "labels", "--missing", "full"]
    assert refused("compare", "2025.parquet", *words).startswith("Error: silent: ")


def test_files_are_completed():
    from click.shell_completion import ShellComplete

    complete = ShellComplete(main, {}, "subsetprivacy", "_SUBSETPRIVACY_COMPLETE")
    assert [item.type for item in complete.get_completions(["compare"], "2025")] == ["file"]
    assert [item.value for item in complete.get_completions(["compare", "--method"], "s")] == ["score"]
    assert "fit-test" in [item.value for item in complete.get_completions([], "f")]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("sampled", [False, True])
def test_people_without_a_group_are_not_compared(fine, refused, made, ending, sampled, tmp_path):
    table = made[2]
    for name, gaps in (("year", lambda k: k % 5 == 0), ("sex", lambda k: k % 3 == 0)):
        cells = [None if gaps(k) else cell for k, cell in enumerate(table[name].to_pylist())]
        table = table.set_column(table.column_names.index(name), name, pa.array(cells))
    table = table.append_column("town", pa.array(np.arange(len(table)) % 50))
    path = tmp_path / f"gaps.{ending}"
    sp.write_release(table, path, {"answer": DESIGN}, keep=["year", "sex", "town"])
    options = ["--strata", "town", "--json"] if sampled else ["--json"]
    for by, n in ((["year"], 3), (["sex"], 2), (["year", "sex"], 6)):
        words = [word for name in by for word in ("--by", name)]
        found = json.loads(fine("compare", path, *words, *options))
        known = [row for row in table.select(by).to_pylist() if None not in row.values()]
        assert len(found["names"]) == n
        assert found["test"]["df"] == 3 * (n - 1)
        assert len(found["differences"]["group"]) == 4 * n * (n - 1) // 2
        (note,) = (note for note in found["notes"] if note["kind"] == "left_out")
        assert note["text"].startswith("Left out, because their group is missing: ")
        if not sampled:
            assert f": {len(table) - len(known):,} rows." in note["text"]
    one = table.filter(pa.compute.not_equal(table["sex"].fill_null("none"), "m"))
    sp.write_release(one, path, {"answer": DESIGN}, keep=["sex"], overwrite=True)
    assert "must be two or more" in refused("compare", path, "--by", "sex")
