"""`independence_power`: by hand, by the tests' own statistics at expected tables, by inversion and by simulation."""

import json

import numpy as np
import pandas as pd
import pytest
from every_case import every_case
from lopsided import ASKED, GIVEN, GIVEN3
from matplotlib.axes import Axes
from problems import lopsided, quietly, random_design, random_distribution, with_full_question
from refusals import refused
from scipy.stats import chi2, ncx2

import subsetprivacy as sp
from subsetprivacy.design.secret_bit import uniform_with_bit, warner
from subsetprivacy.errors import (
    ArgumentError,
    BudgetWarning,
    DistributionError,
    InvalidDesignError,
    NotIdentifiableError,
    TooLargeError,
)
from subsetprivacy.examples import adult
from subsetprivacy.messages import NoteKind
from subsetprivacy.messages.for_plans import SIMULATE_POWER
from subsetprivacy.planning import dependence_trials, independence_power
from subsetprivacy.planning.dependence_limits import NoncentralChiSquare

WITH_LAW = ("lrt", "pearson", "pearson-conditional")
SEX_INCOME = adult.sex_income / adult.sex_income.sum()
# Lopsided in both directions, and no multiple of the product of its margins.
SQUARE = np.array([[20, 5, 10, 3], [4, 12, 2, 6], [7, 1, 9, 2], [3, 8, 2, 6]]) / 100
SLIGHT = np.outer([0.3, 0.28, 0.22, 0.2], [0.2, 0.3, 0.23, 0.27]) + 0.0125 * np.kron(
    np.eye(2), [[1.0, -1.0], [-1.0, 1.0]]
)


def joint(p, q):
    """A joint distribution of any shape in which nothing is alike."""
    W = np.add.outer(np.arange(1, p + 1) ** 2, np.arange(q)) + 3.0 * np.eye(p, q)
    return W / W.sum()


def expected_table(design, W, n):
    """The table of n people as it is expected, rounded to whole people: with many, no rounding is seen."""
    codes, mu = design.support()
    expected = n * mu * design.support_incidence.inner(W.ravel())
    return sp.JointCounts(codes, np.rint(expected).astype(np.int64), design)


# Noncentralities and degrees of freedom -------------------------------------------------------

PAIRS = {
    "yes/no": (ASKED, GIVEN),
    "full sets": (with_full_question(), GIVEN3),
    "Warner": (warner(["no", "yes"], q=0.2), ASKED),
    "a bit, three groups": (uniform_with_bit(["f", "m"], q=0.3), sp.partition(range(6), groups=3)),
    "values": (sp.nonprivate(list("abc")), with_full_question()),
}


@every_case("method", WITH_LAW)
@every_case("pair", PAIRS)
def test_the_noncentrality_is_the_statistic_of_the_expected_table(pair, method):
    one, two = PAIRS[pair]
    design, W = sp.product({"x": one, "y": two}), joint(one.p, two.p)
    n = 10**10
    tested = sp.independence_test(expected_table(design, W, n), method, permutations=0)
    result = independence_power(design, W, 500, method=method)
    assert 500 * tested.statistic / n == pytest.approx(result.noncentrality, rel=1e-5)
    assert tested.df == result.df


def test_pearson_of_the_values_by_hand():
    designs = [sp.nonprivate(["f", "m"]), sp.nonprivate(["low", "high"])]
    a, b, c, d = 0.5, 0.1, 0.15, 0.25
    phi2 = (a * d - b * c) ** 2 / ((a + b) * (c + d) * (a + c) * (b + d))
    result = independence_power(designs, [[a, b], [c, d]], 40, method="pearson", alpha=0.01)
    assert result.noncentrality == pytest.approx(40 * phi2)
    assert result.power == pytest.approx(ncx2.sf(chi2.isf(0.01, 1), 1, 40 * phi2))
    assert result.alpha == 0.01
    assert np.isnan(result.se)


def test_the_margins_that_fit_the_subsets_best_are_those_of_the_joint_distribution():
    # Which is why the null hypothesis is approached at the product of the margins.
    design = sp.product({"x": ASKED, "y": GIVEN})
    table = expected_table(design, SQUARE, 10**10)
    for name, margin in (("x", SQUARE.sum(axis=1)), ("y", SQUARE.sum(axis=0))):
        assert sp.estimate(table.margin(name)).w == pytest.approx(margin, abs=1e-6)


def test_people_who_say_nothing_add_nothing():
    silent = sp.independent(list("abcd"), {("a", "b"): 0.3, ("a", "c"): 0.18, ("a", "d"): 0.12, tuple("abcd"): 0.4})
    for method in WITH_LAW:
        some, all_of_them = (independence_power([d, GIVEN], SQUARE, 500, method=method) for d in (silent, ASKED))
        assert some.noncentrality == pytest.approx(0.6 * all_of_them.noncentrality)
        assert some.df == all_of_them.df


def test_given_the_questions_there_are_fewer_degrees_of_freedom_and_more_power():
    plain, given = (independence_power([ASKED, ASKED], SQUARE, 300, method=m) for m in WITH_LAW[1:])
    assert given.noncentrality == pytest.approx(plain.noncentrality)
    assert (plain.df, given.df) == (36 - 1 - 6, 36 - 9 - 6)
    assert given.power > plain.power + 0.02


def test_without_dependence_the_power_is_the_level():
    W = np.outer([0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4])
    result = independence_power([ASKED, GIVEN], W, 10**6, alpha=0.1)
    assert result.power == pytest.approx(0.1)


# People ---------------------------------------------------------------------------------------


@every_case("method", WITH_LAW)
@every_case("target", [0.06, 0.8, 0.999])
def test_the_fewest_people_for_a_power(method, target):
    n = independence_power([ASKED, GIVEN], SQUARE, target=target, method=method).n
    powers = [independence_power([ASKED, GIVEN], SQUARE, k, method=method).power for k in (n - 1, n)]
    assert powers[0] < target <= powers[1]


def test_a_power_takes_at_least_one_person():
    assert NoncentralChiSquare(50.0, 1).people(0.8, 0.05) == 1


def test_the_bit_of_the_paper_takes_nine_times_as_many_people():
    # `sec_gender_income`: each variable is known in a third of the rows, both in a ninth, and the rest says nothing.
    held = {"sex": uniform_with_bit(["Female", "Male"]), "income": uniform_with_bit(["low", "high"])}
    wanted = independence_power(held, SEX_INCOME, target=0.8, compare=True)
    values = independence_power([sp.nonprivate(range(2))] * 2, SEX_INCOME, 1)
    assert wanted.test.limit.rate == pytest.approx(values.noncentrality / 9)
    assert {name: test.n for name, test in wanted.comparison.items() if np.isfinite(test.power)} == {
        "lrt": 1371,
        "pearson": 4920,
        "pearson-conditional": 4408,
        "PT:X": 169,
        "PT:Y": 336,
    }


def test_the_paper_does_not_hold_the_bit_and_tests_in_nine_dimensions():
    # Value and bit as one variable of four categories, all of whose joint distributions are allowed.
    Y = np.kron(SEX_INCOME, np.full((2, 2), 0.25))
    assert independence_power([sp.uniform(range(4))] * 2, Y, target=0.8).n == 2734
    direct = independence_power([sp.nonprivate(range(4))] * 2, Y, target=0.8)
    assert (direct.n, direct.df) == (304, 9)
    assert independence_power([sp.nonprivate(range(2))] * 2, SEX_INCOME, target=0.8).n == 153


# Comparison -----------------------------------------------------------------------------------


def test_all_tests_and_those_without_privacy():
    result = independence_power([ASKED, GIVEN], SQUARE, 200, compare=True)
    assert list(result.comparison) == [*sp.independence.testing.METHODS, "PT:X"]
    assert result.rows == tuple(result.comparison.values())
    assert result.test is result.comparison["lrt"]
    for method in WITH_LAW:
        alone = independence_power([ASKED, GIVEN], SQUARE, 200, method=method)
        assert result.comparison[method] == alone.test
    direct = independence_power([sp.nonprivate(range(4))] * 2, SQUARE, 200, method="pearson")
    assert result.comparison["PT:X"].power == direct.power
    assert np.isnan(result.comparison["bonferroni"].power)


def test_a_known_bit_beside_one_of_the_values():
    one, two = warner(["no", "yes"], q=0.2), GIVEN
    W = joint(2, 4)
    result = independence_power([one, two], W, 200, compare=True)
    Y = np.vstack([W[0] * 0.8, W[0] * 0.2, W[1] * 0.8, W[1] * 0.2])
    direct = independence_power([sp.nonprivate(range(4))] * 2, Y, 200, method="pearson").test
    enlarged = result.comparison["PT:Y"]
    assert enlarged.noncentrality == pytest.approx(direct.noncentrality)
    assert enlarged.df == direct.df == 9
    assert enlarged.noncentrality == pytest.approx(result.comparison["PT:X"].noncentrality)  # a bit tells nothing


def test_the_price_is_in_people():
    result = independence_power([ASKED, GIVEN], SQUARE, target=0.9, method="pearson", compare=True)
    direct = result.comparison["PT:X"]
    assert result.test.price == result.n / direct.n
    assert direct.price == 1
    assert result.n > result.comparison["pearson-conditional"].n > result.comparison["lrt"].n > direct.n
    assert np.isnan(independence_power([ASKED, GIVEN], SQUARE, 200).test.price)


# Simulation -----------------------------------------------------------------------------------


def test_simulated_power_is_that_of_the_tests_on_simulated_tables():
    result = independence_power([ASKED, GIVEN], SQUARE, 60, method="pearson", replications=60, permutations=0, seed=3)
    assert (result.replications, result.permutations) == (60, 0)
    assert 0 < result.power < 1
    share = (60 * result.power + 2) / 64
    assert result.se == pytest.approx(np.sqrt(share * (1 - share) / 64))
    rng, design = np.random.default_rng(8), sp.product({"x": ASKED, "y": GIVEN})
    tables = [sp.simulate(design, SQUARE.ravel(), 60, seed=rng) for _ in range(60)]
    with quietly():
        again = np.mean([sp.independence_test(t, "pearson", permutations=0).pvalue <= 0.05 for t in tables])
    assert abs(again - result.power) < 3 * np.sqrt(2) * result.se


def test_a_comparison_does_not_change_what_is_found_for_one():
    options = {"replications": 8, "permutations": 19, "seed": 5}
    design = {"x": uniform_with_bit(["f", "m"]), "y": ASKED}
    together = independence_power(design, joint(2, 4), 300, compare=True, **options)
    alone = independence_power(design, joint(2, 4), 300, method="bonferroni", **options)
    assert together.comparison["bonferroni"] == alone.test
    assert all(test.replications == 8 and np.isfinite(test.se) for test in together.rows)


def test_the_people_worked_out_are_confirmed():
    result = independence_power(
        [ASKED, GIVEN], SQUARE, target=0.8, method="pearson-conditional", replications=100, permutations=19, seed=4
    )
    assert result.limit_power == pytest.approx(0.8, abs=0.005)
    assert result.power == pytest.approx(result.limit_power, abs=4 * result.se)
    assert "limit power" in str(result.summary())


def test_progress_is_told():
    told = []
    independence_power(
        [ASKED, GIVEN],
        SQUARE,
        50,
        compare=True,
        replications=2,
        permutations=19,
        seed=1,
        progress=lambda k, m: told.append((k, m)),
    )
    assert told == [(k, 12) for k in range(1, 13)]


def test_people_who_all_say_the_same_reject_nothing():
    result = independence_power([ASKED, GIVEN], SQUARE, 1, method="pearson", replications=5, permutations=19, seed=1)
    assert result.power == 0
    assert result.se > 0


def test_what_cannot_be_simulated_keeps_its_limit_law():
    # A value of more than 48 fits in no code, and moments have no asymptotic p-value.
    result = independence_power(
        [sp.hadamard(range(60)), GIVEN3], joint(60, 3), 500, compare=True, replications=1, permutations=0, seed=1
    )
    direct = result.comparison["PT:X"]
    assert (direct.replications, direct.power) == (0, direct.limit_power)
    assert np.isnan(direct.se)
    assert np.isnan(result.comparison["lrt-mom"].power)
    assert [result.comparison[method].replications for method in WITH_LAW] == [1, 1, 1]


def test_too_many_pairs_to_list():
    many = sp.uniform(range(12))
    W = joint(12, 12)
    with pytest.raises(TooLargeError):
        independence_power([many, many], W, 50, method="pearson")
    with refused(ArgumentError, "n"):
        independence_power([many, many], W, target=0.8, method="pearson", replications=1)
    result = independence_power([many, many], W, 50, method="pearson", replications=2, permutations=19, seed=1)
    assert 0 <= result.power <= 1
    assert np.isnan(result.limit_power)
    assert "too many pairs" in str(result.summary())
    assert "Power to find that x depends on y" in result.plot().get_title()


# Arguments ------------------------------------------------------------------------------------


def test_designs_in_several_forms():
    forms = ([ASKED, GIVEN], (ASKED, GIVEN), {"x": ASKED, "y": GIVEN}, sp.product({"x": ASKED, "y": GIVEN}))
    assert len({independence_power(form, SQUARE, 200).power for form in forms}) == 1
    assert independence_power({"age": ASKED, "sex": GIVEN}, SQUARE, 9).variables == ("age", "sex")


def test_joint_distributions_in_several_forms():
    one, two = sp.nonprivate(["f", "m"]), GIVEN3
    W = joint(2, 3)
    table = pd.DataFrame(W, index=["f", "m"], columns=list("xyz"))
    by_label = {(x, y): table.loc[x, y] for x in "fm" for y in "xyz"}
    forms = [W, W.tolist(), W.ravel(), by_label, table, table.loc[["m", "f"], ["z", "x", "y"]], pd.DataFrame(W)]
    result = [independence_power([one, two], form, 200).power for form in forms]
    assert result == pytest.approx([result[0]] * len(forms))


def test_joined_variables_are_one_side():
    pair = sp.join({"sex": ["f", "m"], "smokes": ["yes", "no"]}, reveals=True)
    result = independence_power({"both": pair, "income": GIVEN}, SQUARE, 200)
    assert result.variables == ("sex x smokes", "income")


def test_small_levels_need_many_random_tables_only_where_there_are_any():
    assert independence_power([ASKED, GIVEN], SQUARE, 200, alpha=0.001).alpha == 0.001
    with refused(ArgumentError, "permutations"):
        independence_power([ASKED, GIVEN], SQUARE, 200, alpha=0.001, replications=5)


def test_a_category_that_nobody_has():
    W = SQUARE.copy()
    W[2] = 0
    result = independence_power([ASKED, GIVEN], W / W.sum(), 4000, compare=True)
    assert all(0.05 < test.power <= 1 for test in result.rows if test.limit)
    assert result.notes[0].kind is NoteKind.BOUNDARY


@every_case(
    ("change", "error", "argument"),
    [
        ({"design": ASKED}, ArgumentError, "design"),
        ({"design": [ASKED]}, ArgumentError, "design"),
        ({"design": [ASKED, ASKED, ASKED]}, ArgumentError, "design"),
        ({"design": sp.product({"x": ASKED, "y": ASKED, "z": ASKED})}, ArgumentError, "design"),
        ({"design": {"x": ASKED}}, InvalidDesignError, "designs"),
        ({"design": [ASKED, sp.fully_private(range(4))]}, NotIdentifiableError, None),
        ({"W": SQUARE[:3]}, DistributionError, "W"),
        ({"W": 100 * SQUARE}, DistributionError, "W"),
        ({"W": {("a", "a"): 1.0}}, DistributionError, "W"),
        ({"method": "g"}, ArgumentError, "method"),
        ({"method": "bonferroni"}, ArgumentError, "replications"),
        ({"method": "lrt-mom"}, ArgumentError, "replications"),
        ({"method": "lrt-mom", "replications": 5, "permutations": 0}, ArgumentError, "permutations"),
        ({"n": None}, ArgumentError, "n"),
        ({"target": 0.8}, ArgumentError, "n"),
        ({"n": 0}, ArgumentError, "n"),
        ({"n": None, "target": 0.05}, ArgumentError, "target"),
        ({"n": None, "target": 80}, ArgumentError, "target"),
        ({"n": None, "target": 0.8, "W": np.full((4, 4), 1 / 16)}, ArgumentError, "W"),
        ({"n": None, "target": 0.8, "method": "bonferroni", "replications": 5}, ArgumentError, "n"),
        ({"alpha": 5}, ArgumentError, "alpha"),
        ({"replications": -1}, ArgumentError, "replications"),
        ({"replications": 5, "permutations": 18}, ArgumentError, "permutations"),
        ({"seed": "x"}, ArgumentError, "seed"),
    ],
)
def test_refusals(change, error, argument):
    given = {"design": [ASKED, GIVEN], "W": SQUARE, "n": 200, **change}
    with refused(error, argument):
        independence_power(**given)


# Output ---------------------------------------------------------------------------------------


def test_summaries():
    single = str(independence_power({"age": ASKED, "sex": GIVEN}, SQUARE, 4000).summary())
    assert single.startswith("Tests of independence of age and sex at 5%\n")
    assert "PT:X" not in single
    result = independence_power([ASKED, GIVEN], SQUARE, target=0.8, compare=True)
    lines = {row[0]: row for row in result.summary().rows}
    assert lines["lrt-mom"][1:] == ("-",) * 5
    assert list(lines["PT:X"][1:3]) == [f"{result.comparison['PT:X'].n}", "1.00"]
    assert (
        repr(result) == f"<IndependencePower of lrt: {result.power:.4f} with {result.n:,} people (limit distribution)>"
    )


def test_numbers_for_json():
    result = independence_power([ASKED, GIVEN], SQUARE, 300, compare=True)
    again = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert (again["method"], again["n"], again["power"], again["se"]) == ("lrt", 300, result.power, None)
    assert [test["name"] for test in again["comparison"]] == list(result.comparison)
    assert again["comparison"][4]["power"] is None


def test_doubt_is_said():
    rare = np.outer([0.9, 0.06, 0.03, 0.01], [0.8, 0.15, 0.04, 0.01])
    W = 0.9 * rare + 0.1 * np.diag([0.8, 0.14, 0.05, 0.01])
    notes = independence_power([ASKED, GIVEN], W, 500, compare=True).notes
    assert [note.kind for note in notes] == [NoteKind.BOUNDARY, NoteKind.SMALL_COUNTS]
    assert "Small counts: with 500 people" in notes[1].text
    assert all(note.advice == SIMULATE_POWER() for note in notes)
    assert independence_power([ASKED, ASKED], SLIGHT, 10**6, compare=True).notes == ()
    assert len(independence_power([ASKED, GIVEN], W, 500, method="pearson").notes) == 1


def test_the_picture_shows_the_limit_laws_and_what_was_found():
    result = independence_power(
        {"age": ASKED, "sex": GIVEN}, SQUARE, 100, compare=True, replications=4, permutations=19, seed=1
    )
    ax = result.plot(title="Power")
    assert isinstance(ax, Axes)
    assert ax.get_title() == "Power"
    lines = {line.get_label().split(":")[0]: line for line in ax.get_lines()}  # the power of each follows its name
    assert (
        f"bonferroni: power {result.comparison['bonferroni'].power:.2f} with 100 people"
        in ax.get_legend_handles_labels()[1]
    )
    n, height = lines["lrt"].get_data()
    assert height == pytest.approx(ncx2.sf(chi2.isf(0.05, 9), 9, n * result.test.limit.rate))
    assert height[0] < 0.15
    assert lines["pearson"].get_ydata()[-1] > 0.98  # the weakest of them
    assert lines["bonferroni"].get_data()[0] == [100]
    assert lines["bonferroni"].get_data()[1] == [result.comparison["bonferroni"].power]
    assert {text.get_text() for text in ax.texts} == {"alpha 0.05"}


def test_the_picture_of_one_test_and_of_no_dependence():
    wanted = independence_power([ASKED, GIVEN], SQUARE, target=0.8).plot()
    assert "wanted 0.8" in {text.get_text() for text in wanted.texts}
    even = independence_power([ASKED, GIVEN], np.full((4, 4), 1 / 16), 100).plot()
    assert even.get_lines()[0].get_ydata() == pytest.approx(0.05)


# Long simulations -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("method", WITH_LAW)
def test_the_limit_law_at_a_regular_alternative(method):
    # No joint share is near 0, no pair of subsets is rare: what is left is the Monte-Carlo error and 0.02.
    result = independence_power(
        [lopsided(), sp.uniform(range(4))], SLIGHT, 8000, method=method, replications=1000, seed=5
    )
    assert result.notes == ()
    assert 0.3 < result.limit_power < 0.9
    assert result.power == pytest.approx(result.limit_power, abs=0.02 + 2.5 * result.se)


@pytest.mark.slow
def test_near_the_boundary_the_limit_law_says_too_little():
    rare = np.outer([0.9, 0.06, 0.03, 0.01], [0.8, 0.15, 0.04, 0.01])
    W = 0.85 * rare + 0.15 * np.diag([0.8, 0.14, 0.05, 0.01])
    result = independence_power([lopsided(), sp.uniform(range(4))], W, 600, replications=200, seed=1)
    assert result.power > result.limit_power + 0.08
    assert [note.kind for note in result.notes] == [NoteKind.BOUNDARY]
    assert result.notes[0].advice is None  # it was simulated


@pytest.mark.slow
def test_the_power_of_the_simulated_tables_of_the_paper():
    """`subsec_indtest`: p = q = 4, rho = .05, 2000 people, margins and designs drawn from U(0, 1)."""
    rng = np.random.default_rng(20)
    rejected = dict.fromkeys(WITH_LAW, 0)
    for _ in range(1000):
        designs = [random_design(4, rng) for _ in range(2)]
        W = np.outer(*(random_distribution(4, rng) for _ in range(2))) + 0.05 * np.eye(4)
        table = sp.simulate(sp.product(dict(zip("xy", designs))), (W / W.sum()).ravel(), 2000, seed=rng)
        for method in WITH_LAW:
            rejected[method] += sp.independence_test(table, method, permutations=199, seed=rng).pvalue <= 0.05
    assert rejected["lrt"] >= 900
    assert rejected["pearson-conditional"] >= 780
    assert rejected["pearson-conditional"] > rejected["pearson"]


def test_a_long_simulation_is_announced(monkeypatch):
    monkeypatch.setattr(dependence_trials, "BUDGET", 1e-3)
    with pytest.warns(BudgetWarning, match=r"2 samples for each test take about .* Hint: fewer replications"):
        result = independence_power((lopsided(), lopsided()), SQUARE, 100, replications=2, permutations=19, seed=1)
    assert result.test.replications == 2  # and done all the same


def test_categories_that_are_numbers_are_names_in_a_data_frame():
    design = sp.product({"x": sp.warner([1, 0]), "y": sp.warner([True, False])})
    W = np.array([[0.4, 0.3], [0.1, 0.2]])
    frame = pd.DataFrame(W[::-1, ::-1], index=[0, 1], columns=[False, True])
    assert independence_power(design, frame, 500).noncentrality == independence_power(design, W, 500).noncentrality
