"""The numbers on the page are the library's."""

import shlex
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from report_pages import Page, Rows, numbers_in, people

import subsetprivacy as sp
from subsetprivacy.report import report_html

WHOLE = ["a", "b", "c", "d", "e"]


def _findings(census):
    return sp.findings(census, seed=1, permutations=199)


def test_shares_errors_and_intervals(census):
    page = Page(report_html(census, level=0.9, tests=False))
    head, rows = page.table("Estimated shares of race")
    assert head[3] == "90% interval"
    told = sp.estimate(census.count("race")).to_dict(0.9)
    for k, label in enumerate(told["categories"]):
        shown = [number for cell in rows[label] for number in numbers_in(cell)]
        wanted = [100 * told[key][k] for key in ("estimate", "se", "lower", "upper")]
        assert shown == pytest.approx(wanted, abs=0.0051)


def test_what_a_column_reveals(census, census_page):
    _, rows = census_page.table("What a report of race reveals")
    facts = sp.audit(census.count("race")).to_dict()
    bits = [facts["mi_leakage"], facts["mi_leakage_lower"], facts["mi_leakage_upper"]]
    assert numbers_in(rows["Information in a report"][0]) == pytest.approx(bits, abs=0.0051)
    guess = [100 * facts[f"prediction_leakage{end}"] for end in ("", "_lower", "_upper")]
    assert numbers_in(rows["Best guess is right"][0]) == pytest.approx(guess, abs=0.051)
    assert numbers_in(rows["Best guess is right"][1])[-1] == pytest.approx(
        100 * facts["prediction_baseline"], abs=0.051
    )
    assert numbers_in(rows["Largest posterior"][0]) == pytest.approx([100 * facts["largest_posterior"]], abs=0.0051)
    assert numbers_in(rows["Maximal leakage"][0]) == [1]
    assert rows["Smallest set"][0] == "2 of 5"
    assert numbers_in(rows["Price"][0]) == pytest.approx([facts["cost"]], abs=0.0051)
    assert numbers_in(rows["Price"][1])[1] == round(32561 / facts["cost"])
    again = sp.repeat_risk(census.designs["race"], sp.estimate(census.count("race")).w)
    assert f"a single one for {100 * again.probability:.1f}% of the people" in census_page.text


def test_tests_and_joint_shares(census, census_page):
    table, result = census.crosstab("race", "sex_income"), _findings(census)
    seed = result.settings.seed_of("pair", "race", "sex_income")
    test = sp.independence_test(table, permutations=199, seed=seed)
    assert f"p = {test.pvalue:.4f}" in census_page.fact("Test of independence")
    assert result.pairs[0].test.statistic == pytest.approx(test.statistic)
    assert result.pairs[0].test.df == test.df == 12
    assert census_page.fact("People who reported both") == "32,561"
    _, cells = census_page.table("Estimated joint shares of race (rows)")
    W = 100 * sp.estimate(table).w.reshape(5, 4)
    for label, row in zip(census.designs["race"].categories, W):
        assert [numbers_in(cell)[0] for cell in cells[label]] == pytest.approx([*row, row.sum()], abs=0.051)


def test_variables_inside_a_column_are_compared(census, census_page):
    counts = census.count("sex_income")
    seed = _findings(census).settings.seed_of("pair", "sex", "income")
    test = sp.independence_test(counts, permutations=199, seed=seed)
    assert f"p = {test.pvalue:.4f}" in census_page.fact("Test of independence", 1)
    V = sp.association(counts).cramers_v(corrected=True)
    shown = census_page.fact("Cramér’s V", 1)
    assert numbers_in(shown) == pytest.approx([V.value, V.lower, V.upper], abs=0.0051)
    assert "Both are in the column sex_income." in census_page.text


def test_what_a_whole_row_reveals(census, census_page):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sp.errors.SubsetPrivacyWarning)
        total = sp.audit(census.crosstab("race", "sex_income")).totals()
    _, rows = census_page.table("What one person’s row reveals")
    shown = [numbers_in(cell)[0] for cell in rows["All together"]]
    wanted = [total["mi_leakage"], total["maximal_leakage"], 100 * total["prediction_leakage"]]
    assert shown[:3] == pytest.approx(wanted, abs=0.051)
    assert shown[4] == total["smallest_set"] == 6


def test_caveats_are_sentences_and_the_intervals_are_those_of_the_library():
    design = sp.uniform(["a", "b", "c", "d"])
    data = sp.privatize(people(["a", "b", "d"], [0.2, 0.3, 0.5], 300, 4), design, seed=3)
    fit = sp.estimate(data)
    assert fit.on_boundary == ("c",)  # else the example is none
    page = Page(report_html(Rows({"x": data})))
    assert "Estimated as 0: c." in page.text
    assert "profile likelihood intervals" in page.text
    assert "--interval" not in page.text  # the commands give the same intervals by default
    _, rows = page.table("Estimated shares of x")
    assert numbers_in(rows["c"][2])[1] == pytest.approx(100 * fit.interval()[2, 1], abs=0.051)


def test_many_categories_are_cut():
    design = sp.hadamard([f"place {k}" for k in range(5000)])
    w = np.arange(5000, 0, -1.0) ** 3
    counts = sp.simulate(design, w / w.sum(), 20_000, seed=1)
    page = Page(report_html({"place": counts}))
    _, rows = page.table("Estimated shares of place")
    by_moments = sp.estimate(counts, method="mom")
    first = np.argsort(-by_moments.w, kind="stable")[:20]  # many are equal
    assert list(rows) == [f"place {k}" for k in first]
    assert numbers_in(rows[f"place {first[0]}"][1]) == pytest.approx([100 * by_moments.se[first[0]]], rel=0.05)
    assert "the 20 largest of 5,000 shares" in page.text
    assert "Estimated by moments" in page.text
    assert "kB and is stored with the file" in page.text
    assert len(page.source) < 80_000


def test_dummy_rows_are_told_from_people():
    data = sp.privatize(
        people(WHOLE, [0.05, 0.1, 0.2, 0.25, 0.4], 3000, 1), sp.covered(sp.uniform(WHOLE), 0.03), seed=1
    )
    other = sp.privatize(people(WHOLE, [0.2] * 5, len(data), 2), sp.uniform(WHOLE), seed=2)
    page = Page(report_html(Rows({"x": data, "y": other}), seed=1))
    dummies = data.design.D * data.design.dummies
    assert "3,000 people reported a subset that says something." in page.text
    assert "hold the whole list" not in page.text  # no one is missing
    assert f"{dummies} dummy rows belong to no one" in page.text
    assert "every person’s subset is true" in page.text
    assert "Nothing can be said about these two. Dummy rows must cover all variable" in page.text
    assert "This could not be worked out" in page.text


def test_missing_answers_are_counted_and_named():
    values = [*people(WHOLE, [0.05, 0.1, 0.2, 0.25, 0.4], 900, 1), *([None] * 37)]
    page = Page(report_html(Rows({"x": sp.privatize(values, sp.uniform(WHOLE), missing="full", seed=1)})))
    assert "900 people reported a subset that says something." in page.text
    assert "37 rows contain the whole list of values and so say nothing" in page.text
    assert "Either there was no answer, or the draw gave this list" in page.text
    assert "People who did not answer. 37 rows" in page.text


@pytest.mark.filterwarnings("ignore:a nonprivate design")
def test_what_does_not_protect_is_called_so():
    values = people(["x", "y", "z"], [0.2, 0.3, 0.5], 200, 1)
    bare, dark = sp.nonprivate(["x", "y", "z"]), sp.fully_private(["x", "y", "z"])
    page = Page(report_html(Rows({"bare": sp.privatize(values, bare), "dark": sp.privatize(values, dark)}), seed=1))
    assert "Not private: bare. A row can leave a single value." in page.text
    assert "No value was published" not in page.text
    assert "No shares can be estimated. There must be at least one informative subset" in page.text
    assert page.table("What a report of bare reveals")[1]["Smallest set"][0] == "1 of 3"
    assert "Smallest set" not in page.table("What a report of dark reveals")[1]  # nothing is ruled out


def test_a_variable_in_two_columns_is_an_alarm():
    once = sp.privatize(people(["f", "m"], [0.3, 0.7], 400, 1), sp.warner(["f", "m"], 0.25), seed=1)
    joined = sp.join({"sex": ["f", "m"], "smokes": ["no", "yes"]})
    both = sp.privatize([("f", "no"), ("m", "yes")] * 200, joined, seed=2)
    page = Page(report_html(Rows({"sex": once, "sex_smokes": both}), seed=1, permutations=19))
    assert "In more than one column: sex." in page.text


def test_of_very_many_pairs_the_first_are_shown():
    design = sp.uniform(list("abcd"))
    data = {f"v{k}": sp.privatize(people(list("abcd"), [0.1, 0.2, 0.3, 0.4], 60, k), design, seed=k) for k in range(13)}
    page = Page(report_html(Rows(data), tests=False))
    assert "The first 66 of 78 pairs" in page.text
    assert sum(attributes.get("id", "").startswith("pair-") for attributes in page.all("section")) == 66
    assert not [key for key, _ in page.facts if key.startswith("Test of independence")]
    # 4^13 combinations are too many to be estimated: the last line is the worst case.
    _, rows = page.table("What one person’s row reveals")
    assert rows["All together"][0].startswith("at most ")
    assert numbers_in(rows["All together"][1]) == [13]
    assert "the last line shows the worst case" in page.text


def test_the_recipe_prints_the_numbers_of_the_page(census, census_page):
    (program,) = [text for text in census_page.words if "sp.read_release" in text]
    printed = []
    known = {"findings": sp.findings, "read_release": lambda name: census if name == "adult.parquet" else None}
    exec(
        program.replace("import subsetprivacy as sp", ""),
        {"sp": SimpleNamespace(**known), "print": lambda text: printed.append(str(text))},
    )
    assert len(printed) == 3
    _, rows = census_page.table("Estimated shares of race")
    line = next(line for line in printed[0].splitlines() if line.startswith("White"))
    assert 100 * float(line.split()[1]) == pytest.approx(numbers_in(rows["White"][0])[0], abs=0.0151)
    assert printed[2] == _findings(census).to_json()  # with the p-values of the page


def test_the_commands_are_one_word_a_name():
    data = sp.privatize(people(list("abcd"), [0.1, 0.2, 0.3, 0.4], 300, 1), sp.uniform(list("abcd")), seed=1)
    page = Page(report_html(Rows({"my col; rm": data}, "a file.csv"), columns="my col; rm", level=0.9))
    commands = next(text for text in page.words if text.startswith("subsetprivacy check")).splitlines()
    wanted = ["subsetprivacy", "check", "a file.csv", "--column", "my col; rm", "--level", "0.9"]
    assert shlex.split(commands[0]) == wanted
    assert shlex.split(commands[1]) == [*wanted, "--json"]
