"""What `association` takes and refuses, and how it shows itself."""

import json

import numpy as np
import pandas as pd
import pytest
from every_case import every_case
from lopsided import ASKED, GIVEN3, TRIPLE, WARNER
from problems import quietly, rising
from refusals import refused
from scipy.stats import contingency

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, BoundaryWarning, CategoryError
from subsetprivacy.measures import Measure, association
from subsetprivacy.messages import Note, NoteKind

BOTH = sp.product({"x": ASKED, "y": GIVEN3})
W = (np.outer([1, 2, 3, 4], [5, 3, 2]) + 12 * np.eye(4, 3)).ravel() / 136
FOUND = association(sp.simulate(BOTH, W, 100_000, seed=1))


class TestArguments:
    def test_an_estimate_counts_and_a_table_are_the_same_thing(self):
        chance = np.random.default_rng(1)
        pair = sp.product({"x": ASKED, "y": sp.warner(["no", "yes"], 0.2)})
        values = {"x": chance.choice(list("abcd"), 5000), "y": chance.choice(["no", "yes"], 5000)}
        data = sp.privatize(values, pair, seed=2)
        by_table = association(data)
        for other in (data.counts(), data[("x", "y")], sp.estimate(data)):
            assert association(other).table == pytest.approx(by_table.table)
        assert by_table.fit.method == "mle"

    def test_two_columns_of_a_table_are_estimated_by_themselves(self):
        chance = np.random.default_rng(1)
        values = {
            "x": chance.choice(list("abcd"), 3000),
            "y": chance.choice(["x", "y", "z"], 3000),
            "z": chance.choice(["no", "yes"], 3000),
        }
        data = sp.privatize(values, TRIPLE, seed=3)
        with quietly():
            result = association(data, "z", "x")
            assert result.names == ("z", "x")
            assert result.table == pytest.approx(sp.estimate(data.counts("x", "z")).table().T)

    def test_two_of_three_are_a_margin_of_the_joint_estimate(self):
        fit = sp.estimate(sp.simulate(TRIPLE, rising(24), 100_000, seed=4))
        assert association(fit, "y", "x").table == pytest.approx(fit.table().sum(axis=2).T)
        assert association(fit.counts, "x", "z").table == pytest.approx(fit.table().sum(axis=1))

    def test_which_two_must_be_said_where_there_are_three(self):
        counts = sp.simulate(TRIPLE, rising(24), 1000, seed=4)
        with quietly():
            fit = sp.estimate(counts)
        for names, got in (((), "none"), (("x",), "x"), (("x", "x"), "x, x"), (("x", "y", "z"), "x, y, z")):
            with pytest.raises(ArgumentError, match=rf"two different variables of x, y, z; got {got}\. Hint:"):
                association(fit, *names)

    @pytest.mark.parametrize("make", [sp.estimate, lambda counts: counts])
    def test_one_variable_only(self, make):
        alone = make(sp.simulate(ASKED, [0.1, 0.2, 0.3, 0.4], 500, seed=1))
        with pytest.raises(ArgumentError, match=r"; got one\. Hint: .* sp\.association"):
            association(alone)

    def test_joined_variables_can_be_compared(self):
        joined = sp.join({"s": ["f", "m"], "v": ["no", "so", "yes"]})
        people = np.array([[3, 5, 12], [8, 4, 8]])
        result = association(sp.simulate(joined, people.ravel() / 40, 50_000, seed=2))
        measure = result.odds_ratio(None, ("no", "yes"), method="profile")
        assert measure.lower < 3 * 8 / (12 * 8) < measure.upper
        strength = result.cramers_v()
        assert 0 < strength.lower < contingency.association(people, method="cramer") < strength.upper

    @pytest.mark.parametrize("method", ["delta", "profile"])
    def test_two_categories_need_not_be_named(self, method):
        pair = sp.product({"x": WARNER, "y": sp.warner(["m", "n"], 0.2)})
        result = association(sp.simulate(pair, [0.4, 0.1, 0.2, 0.3], 3000, seed=1))
        named = result.odds_ratio(("no", "yes"), ("m", "n"), method=method)
        assert result.odds_ratio(method=method) == named
        assert result.difference("m", method=method) == result.difference("m", ("no", "yes"), method=method)

    @every_case(
        ("ask", "error", "argument"),
        [
            (lambda: association([1, 2, 3]), ArgumentError, "data"),
            (lambda: association(FOUND.fit, "x", "age"), CategoryError, "names"),
            (lambda: FOUND.difference("x"), ArgumentError, "between"),
            (lambda: FOUND.difference("x", pd.Series(["a", "b"])), ArgumentError, "between"),
            (lambda: FOUND.difference("x", ("b", "q")), CategoryError, "between"),
            (lambda: FOUND.risk_ratio("x", ("a", "a")), ArgumentError, "between"),
            (lambda: FOUND.risk_ratio("q", ("b", "c")), CategoryError, "outcome"),
            (lambda: FOUND.odds_ratio("ab", ("x", "y")), ArgumentError, "rows"),
            (lambda: FOUND.odds_ratio(("a", "b"), ("x", "y", "z")), ArgumentError, "columns"),
            (lambda: FOUND.conditional("z"), CategoryError, "given"),
            (lambda: FOUND.cramers_v(corrected="yes"), ArgumentError, "corrected"),
            (lambda: FOUND.conditional().interval(method="delta"), ArgumentError, "method"),
        ],
    )
    def test_variables_and_categories_that_there_are_not(self, ask, error, argument):
        with refused(error, argument):
            ask()

    def test_categories_of_the_other_variable(self):
        swap = r"Hint: this is a category of {}; swap `rows` and `columns`\."
        with pytest.raises(CategoryError, match=r"`rows` must be .* of x; got 'y'\. " + swap.format("y")):
            FOUND.odds_ratio(("y", "z"), ("a", "b"))
        with pytest.raises(CategoryError, match=r"`columns` must be .* of y; got 'd'\. " + swap.format("x")):
            FOUND.odds_ratio(("a", "b"), ("x", "d"))
        other = r"Hint: this is a category of {}; with given='{}' `between` is of {} and `outcome` of {}\."
        with pytest.raises(CategoryError, match="got 'a'. " + other.format("x", "y", "y", "x")):
            FOUND.difference("a", ("b", "c"))
        with pytest.raises(CategoryError, match="got 'z'. " + other.format("y", "y", "y", "x")):
            FOUND.risk_ratio("x", ("z", "x"))
        with pytest.raises(CategoryError, match="got 'd'. " + other.format("x", "x", "x", "y")):
            FOUND.risk_ratio("a", ("d", "x"), given="y")

    @pytest.mark.parametrize(
        ("column", "kind"),
        [
            (["secret", "a"], "list"),
            (np.array(["secret", "a"]), "ndarray"),
            (pd.Series(["secret", "a"]), "Series"),
            (pd.DataFrame({"x": ["secret"]}), "DataFrame"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_a_column_in_the_place_of_a_word_is_named_by_its_type(self, column, kind):
        for argument, ask in {
            "names": lambda: association(FOUND.fit, "x", column),
            "given": lambda: FOUND.conditional(column),
            "outcome": lambda: FOUND.difference(column, ("a", "b")),
            "between": lambda: FOUND.risk_ratio("x", ("a", column)),
            "rows": lambda: FOUND.odds_ratio((column, "b"), ("x", "y")),
            "columns": lambda: FOUND.odds_ratio(("a", "b"), (column, column)),
        }.items():
            with pytest.raises(CategoryError, match=rf"^`{argument}` .*; got {kind}\.$"):
                ask()
        with pytest.raises(CategoryError, match=rf"`given` .*; got {kind}\.$"):
            FOUND.plot("conditional", given=column)
        for argument, ask in {
            "method": lambda: FOUND.difference("x", ("a", "b"), method=column),
            "level": lambda: FOUND.odds_ratio(("a", "b"), ("x", "y"), level=column),
            "corrected": lambda: FOUND.cramers_v(corrected=column),
        }.items():
            with pytest.raises(ArgumentError, match=rf"^`{argument}` .*; got {kind}\."):
                ask()

    @every_case(
        "ask",
        [
            lambda **options: FOUND.difference("x", ("a", "b"), **options),
            lambda **options: FOUND.risk_ratio("x", ("a", "b"), **options),
            lambda **options: FOUND.odds_ratio(("a", "b"), ("x", "y"), **options),
        ],
    )
    def test_wrong_levels_and_methods(self, ask):
        with refused(ArgumentError, "level"):
            ask(level=95)
        with refused(ArgumentError, "level"):
            FOUND.cramers_v(level=95)
        with refused(ArgumentError, "method"):
            ask(method="wald")


class TestDoubt:
    @pytest.fixture
    def doubtful(self):
        counts = sp.simulate(BOTH, np.r_[np.zeros(3), np.full(9, 1 / 9)], 4000, seed=3)
        with quietly():
            result = association(counts)
        assert result.fit.on_boundary
        return result

    @every_case(
        "ask",
        [
            lambda found: found.residuals,
            lambda found: found.se,
            lambda found: found.conditional().se,
            lambda found: found.conditional().interval(method="wald"),
            lambda found: found.difference("x", ("b", "c"), method="delta"),
            lambda found: found.risk_ratio("x", ("b", "c"), method="delta"),
            lambda found: found.odds_ratio(("b", "c"), ("x", "y"), method="delta"),
            lambda found: found.cramers_v(),
        ],
    )
    def test_errors_by_the_delta_method_warn(self, doubtful, ask):
        with pytest.warns(BoundaryWarning, match="is 0") as caught:
            ask(doubtful)
        assert caught[0].filename == __file__  # it is the caller's doubt

    def test_default_intervals_tables_and_pictures_do_not_warn(self, doubtful):
        doubtful.difference("x", ("b", "c"))
        doubtful.conditional().interval()
        for result in (doubtful, doubtful.conditional()):
            (note,) = (note for note in result.notes if note.kind is NoteKind.BOUNDARY)
            assert note.advice is None  # no table has the intervals that an estimate has
            assert note in result.summary().notes
        doubtful.to_frame()
        doubtful.plot("residuals")


class TestOutput:
    def test_summary(self):
        text = str(FOUND.summary())
        assert text.startswith("x and y: maximum likelihood, n = ")
        lines = text.splitlines()
        assert lines[2].split() == ["x", "\\", "y", "x", "y", "z", "all"]
        first = lines[4].split()
        assert first[0] == "a"
        assert float(first[1]) == pytest.approx(FOUND.table[0, 0], abs=5e-5)
        assert float(first[2].strip("()")) == pytest.approx(FOUND.se[0, 0], abs=5e-5)
        assert float(first[7]) == pytest.approx(FOUND.rows.w[0], abs=5e-5)
        assert lines[8].split()[0] == "all"
        assert float(lines[8].split()[3]) == pytest.approx(FOUND.columns.w[1], abs=5e-5)
        raw, less = FOUND.cramers_v().value, FOUND.cramers_v(corrected=True).value
        assert f"Cramér's V {raw:.4f}, corrected for its upward bias {less:.4f}." in text
        assert FOUND._repr_html_().count("<tr>") == 6
        assert repr(FOUND).startswith("<Association of x and y: 4 x 3, n = ")

    def test_conditional_summary_and_frame(self):
        given = FOUND.conditional("y")
        text = str(given.summary())
        assert text.startswith("x given y: maximum likelihood, n = ")
        assert f"{given.table[2, 3]:.4f} ({given.se[2, 3]:.4f})" in text
        assert given.table.sum(axis=1) == pytest.approx(np.ones(3))
        frame = given.to_frame(0.9)
        assert frame.columns.tolist() == ["y", "x", "estimate", "se", "lower", "upper", "level"]
        assert set(frame["level"]) == {0.9}
        row = frame.set_index(["y", "x"]).loc[("z", "b")]
        assert row["estimate"] == pytest.approx(given.table[2, 1])
        assert row["upper"] == pytest.approx(given.interval(0.9)[2, 1, 1])
        assert given._repr_html_().count("<tr>") == 4
        assert repr(given) == "<ConditionalShares of x given y: 3 x 4 shares>"

    @every_case("engine", ["pandas", "polars", "pyarrow"])
    def test_long_frames(self, engine):
        frame = FOUND.to_frame(0.9, engine=engine)
        assert len(frame) == 12
        assert np.asarray(frame["estimate"]) == pytest.approx(FOUND.table.ravel())
        assert np.asarray(frame["residual"]) == pytest.approx(FOUND.residuals.ravel())
        assert np.asarray(frame["count"]) == pytest.approx(FOUND.counts.ravel())
        assert np.asarray(frame["expected"]) == pytest.approx(FOUND.expected.ravel())
        half = np.asarray(frame["upper"]) - FOUND.table.ravel()
        assert half == pytest.approx(1.6448536 * FOUND.se.ravel())

    def test_both_variables_are_columns_of_a_pandas_frame(self):
        frame = FOUND.to_frame()
        numbers = ["estimate", "se", "lower", "upper", "level", "count", "expected", "residual"]
        assert frame.columns.tolist() == ["x", "y", *numbers]
        assert frame.index.is_unique
        assert frame["y"].tolist() == ["x", "y", "z"] * 4
        assert frame.pivot(index="x", columns="y", values="estimate").to_numpy() == pytest.approx(FOUND.table)

    def test_variables_named_as_the_columns_are(self):
        pair = sp.product({"estimate": WARNER, "count": sp.warner(["n", "m"], 0.2)})
        result = association(sp.simulate(pair, [0.4, 0.1, 0.2, 0.3], 3000, seed=1))
        frame = result.to_frame(engine="polars")
        assert frame.columns[:3] == ["estimate (category)", "count (category)", "estimate"]
        assert frame["estimate"].to_numpy() == pytest.approx(result.table.ravel())

    def test_arrays_are_locked(self):
        for array in (FOUND.table, FOUND.conditional().table, FOUND.conditional().se, FOUND.rows.w):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1

    def test_bounds_of_moments_are_not_cut(self):
        counts = sp.simulate(BOTH, np.r_[np.zeros(3), np.full(9, 1 / 9)], 4000, seed=3)
        with quietly():
            moments = association(sp.estimate(counts, "mom"))
            assert moments.conditional().interval().min() < 0
            assert association(counts).conditional().interval().min() == 0
            assert moments.to_frame()["lower"].min() < 0
            assert association(counts).to_frame()["lower"].min() == 0


class TestMeasure:
    FEW = Note(NoteKind.SMALL_COUNTS, "Few people.")
    RATIO = Measure("odds ratio", 2.5, 0.75, 1.25, np.inf, 0.9, "profile", 1.0, 0.0123, (FEW,))
    DIFFERENCE = Measure("difference", 0.1, 0.1, -0.1, 0.3, 0.95, "delta", 0.0, 0.401)

    def test_in_words(self):
        assert str(self.RATIO) == (
            "odds ratio: 2.5000 (std. error 0.7500, 90% profile interval 1.2500 to inf, p-value against one 0.0123)\n"
            "Few people."
        )
        assert "interval -0.1000 to 0.3000, p-value against zero 0.4010)" in str(self.DIFFERENCE)
        assert repr(self.DIFFERENCE) == f"<Measure {self.DIFFERENCE}>"
        assert repr(self.RATIO) == f"<Measure {str(self.RATIO).splitlines()[0]}>"

    def test_as_a_table(self):
        table = self.RATIO.summary()
        assert table.title == "odds ratio"
        assert table.columns == ("interval", "estimate", "std. error", "lower 90%", "upper 90%", "p-value")
        assert table.rows == (("profile", "2.5000", "0.7500", "1.2500", "inf", "0.0123"),)
        assert table.notes == ("The p-value is from a two-sided test of 1, which means no association.", self.FEW)
        assert table.to_html() == self.RATIO._repr_html_()

    def test_a_table_without_a_test(self):
        table = FOUND.cramers_v().summary()
        assert table.rows[0][-1] == "-"
        assert not any("p-value" in str(note) for note in table.notes)

    def test_as_a_frame(self):
        measure = FOUND.difference("x", ("a", "b"), level=0.9)
        frame = measure.to_frame()
        assert frame.columns.tolist() == [
            "measure", "estimate", "se", "lower", "upper", "level", "null", "pvalue", "method"
        ]  # fmt: skip
        assert len(frame) == 1
        row = frame.loc[0]
        assert (row["measure"], row["estimate"]) == (measure.name, measure.value)
        assert (row["lower"], row["upper"], row["level"]) == (measure.lower, measure.upper, 0.9)

    def test_as_a_dict(self):
        measure = FOUND.difference("x", ("a", "b"))
        plain = measure.to_dict()
        assert plain["measure"] == "difference of P(y = x) between x = a and x = b"
        assert plain["estimate"] == measure.value == measure.estimate
        assert set(plain) == {
            "measure", "estimate", "se", "lower", "upper", "level", "null", "pvalue", "method", "infinite", "notes"
        }  # fmt: skip

    @every_case(
        ("numbers", "infinite"),
        [
            ((2.5, 0.75, 1.25, np.inf), ["upper"]),
            ((np.inf, np.inf, 0.0, np.inf), ["estimate", "se", "upper"]),
            ((0.1, np.inf, -np.inf, np.inf), ["se", "lower", "upper"]),
            ((np.nan, np.nan, 0.0, 1.0), []),
        ],
    )
    def test_infinite_and_unknown_numbers_come_back_from_json(self, numbers, infinite):
        measure = Measure("odds ratio", *numbers, 0.9, "delta", 1.0, np.nan, (self.FEW,))
        plain = json.loads(json.dumps(measure.to_dict(), allow_nan=False))
        assert plain["infinite"] == infinite
        again = Measure.from_dict(plain)
        assert (again.value, again.se, again.lower, again.upper) == pytest.approx(numbers, nan_ok=True)
        assert str(again) == str(measure)
        assert again.notes == (self.FEW,)

    def test_a_dict_that_is_no_measure(self):
        with refused(ArgumentError, "facts"):
            Measure.from_dict({"measure": "V", "estimate": 0.1})


class TestPictures:
    def test_kinds(self):
        shares = FOUND.plot()
        assert shares.get_title() == f"Estimated joint shares of x and y, n = {FOUND.fit.n:,}"
        assert shares.images[0].colorbar.ax.get_ylabel() == "share of the population, %"
        np.testing.assert_allclose(shares.images[0].get_array(), 100 * FOUND.table)
        within = FOUND.plot("conditional", given="y")
        np.testing.assert_allclose(within.images[0].get_array(), 100 * FOUND.conditional("y").table)
        assert (within.get_ylabel(), within.get_xlabel()) == ("y", "x")
        away = FOUND.plot("residuals", title="Mine")
        np.testing.assert_allclose(away.images[0].get_array(), FOUND.residuals)
        assert away.get_title() == "Mine"
        low, high = away.images[0].get_clim()
        assert low == -high

    def test_on_given_axes(self):
        from matplotlib.pyplot import subplots

        _, axes = subplots(1, 2)
        assert FOUND.plot("residuals", ax=axes[1]) is axes[1]
        assert FOUND.conditional().plot(ax=axes[0]) is axes[0]

    def test_wrong_kinds(self):
        with refused(ArgumentError, "kind"):
            FOUND.plot("bars")
        with refused(ArgumentError, "given") as caught:
            FOUND.plot("residuals", given="x")
        assert caught.value.advice.name == "kind_conditional"


def test_numbers_for_json():
    both = sp.product({"x": sp.uniform(list("abcd")), "y": sp.warner(["no", "yes"])})
    described = sp.association(sp.simulate(both, np.full(8, 1 / 8), 2000, seed=1))
    plain = json.loads(json.dumps(described.to_dict(), allow_nan=False))
    assert plain["variables"] == ["x", "y"]
    assert np.shape(plain["estimate"]) == np.shape(plain["se"]) == np.shape(plain["upper"]) == (4, 2)
    assert plain["level"] == 0.95
    half = 1.6448536 * described.se[2, 1]
    assert described.to_dict(0.9)["lower"][2][1] == pytest.approx(described.table[2, 1] - half)
    assert plain["cramers_v_corrected"] <= plain["cramers_v"]
    within = described.conditional("y")
    plain = json.loads(json.dumps(within.to_dict(0.9), allow_nan=False))
    assert (plain["given"], plain["of"], plain["rows"], plain["level"]) == ("y", "x", ["no", "yes"], 0.9)
    assert plain["estimate"] == within.table.tolist()
    assert plain["upper"][1][2] == pytest.approx(within.interval(0.9)[1, 2, 1])
    assert plain["n"] == described.n
    for result in (described, within):
        with refused(ArgumentError, "level"):
            result.to_dict(90)
