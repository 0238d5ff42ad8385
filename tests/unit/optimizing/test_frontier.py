"""The frontier as data: convex, below every named design, never below the bound."""

import numpy as np
import pytest
from every_case import every_case
from refusals import refused

from subsetprivacy.design import fixed_size, hadamard, partition, uniform
from subsetprivacy.errors import ArgumentError, MismatchError
from subsetprivacy.examples import adult
from subsetprivacy.optimizing import frontier, marked_designs, optimal
from subsetprivacy.optimizing.measure import leakage, loss

LABELS = list("abcdef")
W = np.array([0.35, 0.25, 0.15, 0.12, 0.08, 0.05])
EVEN = np.full(6, 1 / 6)


@pytest.fixture(scope="module")
def independent():
    return frontier(LABELS, W, points=6)


@pytest.fixture(scope="module")
def conditional():
    return frontier(LABELS, W, points=6, kind="conditional")


@pytest.fixture(scope="module")
def even():
    return frontier(LABELS, EVEN, points=3)


def test_points_are_optima(conditional):
    assert len(conditional.loss) == len(conditional.leakage) == len(conditional.optima)
    for k in (0, 3, 5):
        again = optimal(LABELS, W, {"mi": conditional.leakage[k]}, kind="conditional")
        assert conditional.loss[k] == pytest.approx(again.loss, rel=1e-6)
        assert conditional.optima[k].loss == conditional.loss[k]
    free = optimal(LABELS, W, kind="conditional")
    assert conditional.loss[-1] == pytest.approx(free.loss, rel=1e-7)
    assert conditional.leakage[-1] == pytest.approx(free.leakage["mi"], abs=1e-6)


def test_curve_falls_and_is_convex(independent, conditional):
    for curve in (independent, conditional):
        slopes = np.diff(curve.loss) / np.diff(curve.leakage)
        assert (np.diff(curve.leakage) > 0).all()
        assert (slopes <= 1e-6).all()
        assert (np.diff(slopes) >= -1e-6 * np.abs(slopes[:-1])).all()
        assert (np.array([one.gap for one in curve.optima]) <= 1e-6).all()
    assert conditional.best(independent.leakage[3]) < independent.loss[3]  # whoever holds the values can do better


def test_no_named_design_lies_below_its_curve(independent, conditional):
    for curve in (independent, conditional):
        result = [mark for mark in curve.marks if mark.attainable and mark.leakage >= curve.leakage[0]]
        assert len(result) >= 2
        for mark in result:
            exact = optimal(LABELS, W, {"mi": mark.leakage}, kind=curve.kind).loss
            assert exact <= mark.loss * (1 + 1e-9)
            assert exact <= curve.best(mark.leakage) * (1 + 1e-9)  # a chord lies above a convex curve
    assert np.isnan(conditional.best(conditional.least - 0.01))


def test_marks_are_the_named_designs():
    named = marked_designs(LABELS)
    assert list(named) == ["uniform", "size 2", "size 3", "size 4", "size 5", "2 groups", "3 groups", "Hadamard"]
    assert named["uniform"] == uniform(LABELS)
    assert named["size 4"] == fixed_size(LABELS, 4)
    assert named["3 groups"] == partition(LABELS, groups=3)
    assert named["Hadamard"] == hadamard(LABELS)
    assert "Hadamard" not in marked_designs(LABELS[:5])  # some row would reveal a value
    assert list(marked_designs(LABELS[:3])) == ["size 2"]


def test_marks_know_leakage_loss_and_kind(independent, conditional):
    by_name = {mark.name: mark for mark in independent.marks}
    for name, design in marked_designs(LABELS).items():
        mark = by_name[name]
        assert mark.leakage == pytest.approx(leakage(design, W[None])["mi"])
        assert mark.loss == pytest.approx(loss(design, W[None], "A", False))
    assert {name for name, mark in by_name.items() if mark.attainable} == {"uniform", "size 3", "2 groups", "Hadamard"}
    assert all(mark.attainable for mark in conditional.marks)
    large = frontier(LABELS, W, points=2, kind="conditional", smallest=3)
    small = {mark.name for mark in large.marks if not mark.attainable}
    assert small == {"size 2", "3 groups", "uniform", "Hadamard"}
    assert [mark.leakage for mark in conditional.marks] == sorted(mark.leakage for mark in conditional.marks)


def test_bound_is_met_at_the_even_distribution(even):
    for metric in ("mi", "maximal", "prediction", "size"):
        curve = frontier(LABELS, EVEN, leakage=metric, kind="conditional", points=2)
        np.testing.assert_allclose(curve.loss, curve.bound, rtol=1e-5)
    # Sets of five of six leak the least, 5/(6/5-1) times the 5/6 of asking directly.
    assert curve.loss[0] == pytest.approx(25 * 5 / 6)
    np.testing.assert_allclose(even.bound, 5 * 5 / 6)


def test_bound_holds_for_d_at_every_distribution_and_is_not_claimed_for_a(independent):
    assert independent.bound is None
    conditional = frontier(LABELS, W, criterion="D", kind="conditional", points=3)
    assert (conditional.loss >= conditional.bound * (1 - 1e-9)).all()
    assert conditional.loss[-1] < 1.1 * conditional.bound[-1]  # and is nearly met by pairs
    questions = frontier(LABELS, W, criterion="D", points=2)
    assert (questions.loss >= questions.bound).all()
    np.testing.assert_allclose(questions.bound, 5 * questions.direct_loss)
    # Adult race: the mean squared error is below (p-1)/(S-1) = 4 times that of asking directly.
    race = optimal(adult.races, adult.race)
    assert race.loss / race.direct_loss < 3.1


def test_given_leakages_and_other_budgets():
    curve = frontier(LABELS, W, leakage="prediction", points=[0.7, 0.55], budget={"mi": 0.9})
    np.testing.assert_array_equal(curve.leakage, [0.55, 0.7])
    assert all(one.leakage["mi"] <= 0.9 for one in curve.optima)
    assert curve.loss[0] == pytest.approx(optimal(LABELS, W, {"mi": 0.9, "prediction": 0.55}).loss, rel=1e-6)
    with refused(ArgumentError, "budget"):
        frontier(LABELS, W, points=[0.1, 0.9])


def test_where_nothing_can_be_traded_there_is_one_point():
    curve = frontier(LABELS, EVEN, smallest=3, points=6)
    assert curve.leakage == pytest.approx([1.0])
    assert curve.loss == pytest.approx([5 * 5 / 6])


def test_several_distributions():
    curve = frontier(LABELS, [W, W[::-1]], over="worst", points=3)
    assert curve.marks[0].loss == pytest.approx(
        max(loss(curve.marks[0].design, w[None], "A", False) for w in (W, W[::-1]))
    )
    assert (np.diff(curve.loss) < 0).all()


def test_frames(conditional, even):
    columns = ["leakage", "loss", "people", "gap", "subsets"]
    assert list(conditional.to_frame().columns) == columns
    frame = conditional.to_frame(engine="polars")
    np.testing.assert_allclose(frame["loss"], conditional.loss)
    np.testing.assert_allclose(frame["people"] * conditional.direct_loss, conditional.loss)
    assert list(even.to_frame(engine="pyarrow").column_names) == [*columns, "bound"]


def test_summary_and_repr(independent):
    text = str(independent.summary())
    assert "Frontier of independent designs on 6 categories, A-criterion" in text
    uniform_row = next(line for line in text.splitlines() if line.startswith("uniform"))
    mark = next(mark for mark in independent.marks if mark.name == "uniform")
    numbers = [float(cell) for cell in uniform_row.split()[1:]]
    expected = [mark.leakage, mark.loss, mark.loss / independent.direct_loss, independent.best(mark.leakage)]
    assert numbers == pytest.approx([*expected, independent.best(mark.leakage) / mark.loss], abs=1e-4)
    assert next(line for line in text.splitlines() if line.startswith("size 2")).count(" -") == 2
    assert f"The least leakage is {independent.least:.4f}" in text
    assert "no more can be gained" in text
    assert "6 points" in repr(independent)
    assert "uniform" in independent._repr_html_()


def test_progress_is_told():
    lines = []
    frontier(LABELS, W, points=3, progress=lines.append)
    assert [line.split(":")[0] for line in lines] == ["point 1 of 3", "point 2 of 3", "point 3 of 3"]


@every_case("points", [0, -3, "many", [], [np.nan]])
def test_points_must_be_some(points):
    with refused(ArgumentError, "points"):
        frontier(LABELS, W, points=points)


def test_leakage_must_be_known():
    with refused(ArgumentError, "leakage"):
        frontier(LABELS, W, leakage="bits")


def test_arrays_cannot_be_written(independent):
    with pytest.raises(ValueError, match="read-only"):
        independent.loss[0] = 0


class TestPlot:
    def test_curves_and_named_designs(self, independent, conditional):
        ax = independent.plot(conditional, title="Six categories")
        labels = [line.get_label() for line in ax.lines]
        assert labels[:3] == ["best independent", "best conditional", "named design"]
        np.testing.assert_allclose(ax.lines[0].get_xdata()[:-1], independent.leakage)
        np.testing.assert_allclose(ax.lines[1].get_ydata()[: len(conditional.loss)], conditional.loss)
        assert len(ax.lines[2].get_xdata()) == len(independent.marks)
        assert ax.get_xlabel() == "mutual information leakage (bits)"
        assert ax.get_title() == "Six categories"

    def test_curve_is_flat_beyond_what_is_needed_and_only_there(self, independent):
        x, y = independent.plot().lines[0].get_data()
        assert x[-1] == max(mark.leakage for mark in independent.marks)
        assert y[-1] == independent.loss[-1]
        short = frontier(LABELS, W, points=[0.6, 0.7])
        np.testing.assert_array_equal(short.plot().lines[0].get_xdata(), [0.6, 0.7])
        assert "no more can be gained" not in str(short.summary())

    def test_designs_of_another_kind_are_hollow(self, independent):
        ax = independent.plot()
        filled, hollow = (next(line for line in ax.lines if line.get_label() == name) for name in (
            "named design", "named design of another kind"))  # fmt: skip
        kinds = [mark.attainable for mark in independent.marks]
        assert (len(filled.get_xdata()), len(hollow.get_xdata())) == (sum(kinds), len(kinds) - sum(kinds))
        assert hollow.get_markerfacecolor() == (1, 1, 1, 1)

    def test_bound_only_where_it_applies(self, independent, even):
        assert any("bound" in line.get_label() for line in even.plot().lines)
        assert not any("bound" in line.get_label() for line in independent.plot().lines)

    def test_smallest_sets_tell_curves_of_one_kind_apart(self, conditional):
        large = frontier(LABELS, W, points=3, kind="conditional", smallest=3)
        labels = [line.get_label() for line in conditional.plot(large).lines]
        assert labels[:2] == ["best conditional, sets of 2 or more", "best conditional, sets of 3 or more"]

    def test_others_must_be_the_same_problem(self, independent, even):
        with pytest.raises(MismatchError):
            independent.plot(even)
        with pytest.raises(MismatchError):
            independent.plot(frontier(LABELS, W, points=1, leakage="size"))
        with refused(ArgumentError, "others"):
            independent.plot(3)
