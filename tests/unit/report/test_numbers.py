"""The numbers on the page are the library's."""

import shlex
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import subsetprivacy as sp
from subsetprivacy.report import report_html

WHOLE = ["a", "b", "c", "d", "e"]


def test_shares_errors_and_intervals(census, parsed, numbers_in):
    page = parsed(report_html(census, level=0.9, tests=False))
    head, rows = page.table("race: estimated shares")
    assert head[3:] == ["Lower 90%", "Upper 90%"]
    told = sp.estimate(census.count("race")).to_dict(0.9)
    for k, label in enumerate(told["categories"]):
        shown = [numbers_in(cell)[0] for cell in rows[label]]
        wanted = [100 * told[key][k] for key in ("estimate", "se", "lower", "upper")]
        assert shown == pytest.approx(wanted, abs=0.0051)


def test_what_a_column_gives_away(census, census_page, numbers_in):
    _, rows = census_page.table("race: what a row gives away")
    facts = sp.audit(census.count("race")).to_dict()
    bits = [facts["mi_leakage"], facts["mi_leakage_lower"], facts["mi_leakage_upper"]]
    assert numbers_in(rows["Information in a row"][0]) == pytest.approx(bits, abs=0.0051)
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


def test_tests_and_joint_shares(census, census_page, numbers_in):
    table = census.crosstab("race", "sex_income")
    test = sp.independence_test(table, permutations=199, seed=1)
    _, rows = census_page.table("race and sex_income: do they go together?")
    assert rows["p-value"][0] == f"{test.pvalue:.4f}"
    assert numbers_in(rows["Statistic"][0]) == pytest.approx([test.statistic], abs=0.0051)
    assert "12 degrees of freedom, 32,561 complete rows" in rows["Statistic"][1]
    _, cells = census_page.table("Estimated joint shares, in percent of all people: race (rows)")
    W = 100 * sp.estimate(table).w.reshape(5, 4)
    for label, row in zip(census.designs["race"].categories, W):
        assert [numbers_in(cell)[0] for cell in cells[label]] == pytest.approx([*row, row.sum()], abs=0.051)


def test_variables_inside_a_column_are_compared(census, census_page, numbers_in):
    counts = census.count("sex_income")
    _, rows = census_page.table("sex and income: do they go together?")
    assert rows["p-value"][0] == f"{sp.independence_test(counts, permutations=199, seed=1).pvalue:.4f}"
    V = sp.association(counts).cramers_v()
    assert numbers_in(rows["Cramér’s V"][0]) == pytest.approx([V.value, V.lower, V.upper], abs=0.00051)


def test_what_a_whole_row_gives_away(census, census_page, numbers_in):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sp.errors.SubsetPrivacyWarning)
        total = sp.audit(census.crosstab("race", "sex_income")).totals()
    _, rows = census_page.table("What one person’s row gives away")
    shown = [numbers_in(cell)[0] for cell in rows["All together"]]
    wanted = [total["mi_leakage"], total["maximal_leakage"], 100 * total["prediction_leakage"]]
    assert shown[:3] == pytest.approx(wanted, abs=0.051)
    assert shown[4] == total["smallest_set"] == 6


def test_doubts_are_sentences_and_the_intervals_are_those_of_the_library(parsed, release_of, numbers_in, people):
    design = sp.uniform(["a", "b", "c", "d"])
    data = sp.privatize(people(["a", "b", "d"], [0.2, 0.3, 0.5], 300, 4), design, seed=3)
    fit = sp.estimate(data)
    assert fit.on_boundary == ("c",)  # else the example is none
    page = parsed(report_html(release_of({"x": data})))
    assert "On the boundary: the estimate for c is 0." in page.text
    assert "profile likelihood intervals" in page.text
    assert "--interval" not in page.text  # the commands give the same intervals by default
    _, rows = page.table("x: estimated shares")
    assert numbers_in(rows["c"][3]) == pytest.approx([100 * fit.interval()[2, 1]], abs=0.051)


def test_many_categories_are_cut(parsed, numbers_in):
    design = sp.hadamard([f"place {k}" for k in range(5000)])
    w = np.arange(5000, 0, -1.0) ** 3
    counts = sp.simulate(design, w / w.sum(), 20_000, seed=1)
    release = SimpleNamespace(
        path="big.parquet",
        designs={"place": design},
        rows=20_000,
        kept=(),
        alone=lambda: 0,
        count=lambda column: counts,
    )
    page = parsed(report_html(release))
    _, rows = page.table("place: estimated shares")
    by_moments = sp.estimate(counts, method="mom")
    first = np.argsort(-by_moments.w)[:20]
    assert list(rows) == [f"place {k}" for k in first]
    assert numbers_in(rows[f"place {first[0]}"][1]) == pytest.approx([100 * by_moments.se[first[0]]], rel=0.05)
    assert "the 20 largest of 5,000 shares" in page.text
    assert "--column place --method mom" in page.text
    assert "kB and travels with the file" in page.text
    assert len(page.source) < 60_000


def test_dummy_rows_are_told_from_people(parsed, release_of, people):
    data = sp.privatize(
        people(WHOLE, [0.05, 0.1, 0.2, 0.25, 0.4], 3000, 1), sp.covered(sp.uniform(WHOLE), 0.03), seed=1
    )
    other = sp.privatize(people(WHOLE, [0.2] * 5, len(data), 2), sp.uniform(WHOLE), seed=2)
    page = parsed(report_html(release_of({"x": data, "y": other}), seed=1))
    dummies = data.design.D * data.design.dummies
    assert "3,000 people gave a subset that says something; none is missing." in page.text
    assert f"Besides, {dummies} dummy rows belong to no one" in page.text
    assert "every person’s subset is true" in page.text
    assert "Nothing is said of these two: a dummy row must be one in every variable" in page.text
    assert "This could not be worked out" in page.text


def test_missing_answers_are_counted_and_named(parsed, release_of, people):
    values = [*people(WHOLE, [0.05, 0.1, 0.2, 0.25, 0.4], 900, 1), *([None] * 37)]
    page = parsed(report_html(release_of({"x": sp.privatize(values, sp.uniform(WHOLE), missing="full", seed=1)})))
    assert "say nothing, for want of an answer or by the draw: 37." in page.text
    assert "That there is no answer. 37 rows" in page.text


@pytest.mark.filterwarnings("ignore:a nonprivate design")
def test_what_does_not_protect_is_called_so(parsed, release_of, people):
    values = people(["x", "y", "z"], [0.2, 0.3, 0.5], 200, 1)
    bare, dark = sp.nonprivate(["x", "y", "z"]), sp.fully_private(["x", "y", "z"])
    page = parsed(
        report_html(release_of({"bare": sp.privatize(values, bare), "dark": sp.privatize(values, dark)}), seed=1)
    )
    assert "Not private: bare. A row can leave a single value." in page.text
    assert "No value was published" not in page.text
    assert "No shares can be estimated: there must be at least one informative observation" in page.text
    assert page.table("dark: what a row gives away")[1]["Smallest set"][0] == "3 of 3"


def test_a_variable_in_two_columns_is_an_alarm(parsed, release_of, people):
    once = sp.privatize(people(["f", "m"], [0.3, 0.7], 400, 1), sp.warner(["f", "m"], 0.25), seed=1)
    joined = sp.join({"sex": ["f", "m"], "smokes": ["no", "yes"]})
    both = sp.privatize([("f", "no"), ("m", "yes")] * 200, joined, seed=2)
    page = parsed(report_html(release_of({"sex": once, "sex_smokes": both}), seed=1, permutations=19))
    assert "In more than one column: sex." in page.text


def test_of_very_many_pairs_the_first_are_shown(parsed, release_of, numbers_in, people):
    data = {
        f"v{k}": sp.privatize(people(list("abcd"), [0.1, 0.2, 0.3, 0.4], 300, k), sp.uniform(list("abcd")), seed=k)
        for k in range(6)
    }
    page = parsed(report_html(release_of(data), tests=False))
    assert "The first 10 of 15 pairs" in page.text
    assert sum(attributes.get("id", "").startswith("pair-") for attributes in page.all("section")) == 10
    assert "p-value" not in page.text
    # 4^6 combinations are too many to be estimated: the last line is the worst case.
    _, rows = page.table("What one person’s row gives away")
    assert rows["All together"][0].startswith("at most ")
    assert numbers_in(rows["All together"][1]) == [6]


def test_the_recipes_print_the_numbers_of_the_page(census, census_page, numbers_in):
    code = [text for text in census_page.words if "sp.read_release" in text]
    printed = []
    known = {name: getattr(sp, name) for name in ("estimate", "audit", "independence_test", "association")} | {
        "read_release": lambda name: census if name == "adult.parquet" else None
    }
    program = code[0].replace("import subsetprivacy as sp", "")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sp.errors.SubsetPrivacyWarning)
        exec(program, {"sp": SimpleNamespace(**known), "print": lambda table: printed.append(str(table))})
    assert len(printed) == 8
    _, rows = census_page.table("race: estimated shares")
    line = next(line for line in printed[0].splitlines() if line.startswith("White"))
    assert 100 * float(line.split()[1]) == pytest.approx(numbers_in(rows["White"][0])[0], abs=0.0151)
    _, facts = census_page.table("race and sex_income: do they go together?")
    tested = next(text for text in printed if "race and sex_income are independent" in text or "race and sex" in text)
    assert facts["p-value"][0] in tested


def test_the_commands_are_one_word_a_name(parsed, release_of, people):
    data = sp.privatize(people(list("abcd"), [0.1, 0.2, 0.3, 0.4], 300, 1), sp.uniform(list("abcd")), seed=1)
    page = parsed(report_html(release_of({"my col; rm": data}, "a file.csv")))
    commands = next(text for text in page.words if text.startswith("subsetprivacy estimate")).splitlines()
    assert shlex.split(commands[0]) == ["subsetprivacy", "estimate", "a file.csv", "--column", "my col; rm"]
