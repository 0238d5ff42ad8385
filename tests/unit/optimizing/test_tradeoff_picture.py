"""The picture of plain arrays: what is drawn where, and that no label covers another."""

from itertools import combinations

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.text import Text

from subsetprivacy import draw

X = np.linspace(0.2, 1.5, 12)
CURVES = {"one": (X, 1 + 1 / X), "two": (X + 0.1, 0.4 + 1 / X)}
MARKS = [("first", 0.5, 3.2, True), ("second", 0.9, 2.2, True), ("third", 1.2, 6.0, False)]


def names(ax):
    return {text.get_text().replace("\N{NO-BREAK SPACE}", " "): text for text in ax.texts}


def overlapping(ax):
    """The pairs of labels whose drawn boxes overlap."""
    ax.figure.draw_without_rendering()
    boxes = {text.get_text(): Text.get_window_extent(text) for text in ax.texts}  # without the leading line
    return [pair for pair in combinations(boxes, 2) if boxes[pair[0]].overlaps(boxes[pair[1]])]


def test_curves_are_drawn_as_they_are():
    ax = draw.tradeoff(CURVES)
    for line, (x, y) in zip(ax.lines, CURVES.values()):
        np.testing.assert_array_equal(line.get_xdata(), x)
        np.testing.assert_array_equal(line.get_ydata(), y)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["one", "two"]


def test_points_are_named_and_hollow_where_they_do_not_belong():
    ax = draw.tradeoff(CURVES, MARKS)
    assert set(names(ax)) == {"first", "second", "third"}
    filled, hollow = ax.lines[2:4]
    np.testing.assert_allclose(filled.get_xydata(), [[0.5, 3.2], [0.9, 2.2]])
    np.testing.assert_allclose(hollow.get_xydata(), [[1.2, 6.0]])
    assert hollow.get_markerfacecolor() == (1, 1, 1, 1)
    for name, x, y, _ in MARKS:
        assert names(ax)[name].xy == (x, y)


def test_points_in_one_place_share_a_label():
    ax = draw.tradeoff(CURVES, [("size 3", 0.8, 4.0, True), ("2 groups", 0.8, 4.0, True), ("other", 1.2, 2.0, True)])
    assert set(names(ax)) == {"size 3, 2 groups", "other"}


@pytest.mark.parametrize(("crowd", "spread"), [(6, 0.02), (14, 0.2)])
def test_labels_do_not_overlap(crowd, spread):
    rng = np.random.default_rng(crowd)
    places = np.column_stack([0.8 + spread * rng.normal(size=crowd), 3 + 3 * spread * rng.normal(size=crowd)])
    marks = [(f"size {k}", x, y, bool(k % 2)) for k, (x, y) in enumerate(places.tolist())]
    ax = draw.tradeoff(CURVES, marks)
    assert overlapping(ax) == []
    ax.figure.draw_without_rendering()
    frame = ax.get_window_extent()
    for text in ax.texts:  # and stay in the picture
        box = Text.get_window_extent(text)
        assert frame.x0 <= box.x0
        assert box.x1 <= frame.x1


def test_points_that_cannot_be_estimated_from_are_left_out():
    ax = draw.tradeoff(CURVES, [("good", 0.6, 3.0, True), ("useless", 0.7, np.inf, True)])
    assert set(names(ax)) == {"good"}
    assert np.isfinite(ax.get_ylim()).all()


def test_scale_is_logarithmic_where_losses_differ_much():
    flat = {"one": (X, 2 + 0.3 / X)}
    assert draw.tradeoff(flat, [("near", 0.5, 3.2, True)]).get_yscale() == "linear"
    wide = draw.tradeoff(CURVES, [*MARKS, ("poor", 0.3, 60.0, True)])
    assert wide.get_yscale() == "log"
    low, high = wide.get_ylim()
    assert low < 0.4 + 1 / X[-1]
    assert high > 60


def test_steep_ends_do_not_squeeze_the_rest():
    steep = {"one": (X, 1 + 1e4 * np.exp(-20 * (X - 0.2)))}
    assert draw.tradeoff(steep, [("it", 1.0, 1.5, True)]).get_ylim()[1] < 10


def test_bound_is_dashed():
    ax = draw.tradeoff(CURVES, bound=(X, 0.3 + 1 / X))
    (line,) = [line for line in ax.lines if "bound" in line.get_label()]
    assert line.get_linestyle() == "--"
    np.testing.assert_allclose(line.get_ydata(), 0.3 + 1 / X)


def test_second_axis_counts_people():
    ax = draw.tradeoff(CURVES, MARKS, unit=0.5)
    ax.figure.draw_without_rendering()
    (other,) = ax.child_axes
    assert np.array(other.get_ylim()) == pytest.approx(np.array(ax.get_ylim()) / 0.5)
    assert "asked directly" in other.get_ylabel()


def test_dollars_are_no_formula_and_given_axes_are_used():
    figure, given = plt.subplots()
    ax = draw.tradeoff({"$1 to $2": CURVES["one"]}, [("$5", 0.5, 3.0, True)], title="a $ b", ax=given)
    assert ax is given
    figure.draw_without_rendering()
    assert ax.get_title() == r"a \$ b"
