import os
import subprocess
import sys
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from every_case import every_case
from matplotlib.colors import to_hex
from scipy import stats

from subsetprivacy import draw
from subsetprivacy.draw import layout
from subsetprivacy.errors import MissingDependencyError

LABELS = ["Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White"]
W = np.array([0.009551, 0.031909, 0.095943, 0.008323, 0.854274])  # tab:race_pop_dist
SUBSETS = np.array([[0, 1, 1, 0, 1], [1, 0, 1, 1, 0]], dtype=bool)
ESTIMATES = {
    "EM": W + np.array([0.01, -0.01, 0.02, -0.03, 0.01]),
    "MoM": W + np.array([-0.02, 0.0, 0.01, 0.005, 0.005]),
}
DESIGNS = ["non-private", "uniform", "fully private"]
METRICS = {
    "size": [0.2598, 0.1559, 0],
    "mutual information": [0.7987, 0.4090, 0],
    "prediction": [1, 0.9224, 0.8543],
}
BASELINES = {"size": 0, "mutual information": 0, "prediction": 0.8543}


def texts(artists):
    return [artist.get_text() for artist in artists]


def line(ax, label):
    (result,) = [x for x in ax.lines if x.get_label() == label]
    return result


def legend(ax):
    return texts(ax.get_legend().get_texts())


def whiskers(ax):
    """Return (value, end) by row and side: the lower whiskers are one line with gaps, the upper another."""
    ends = {}
    solid = [x for x in ax.lines if x.get_gid() and x.get_linestyle() == "-"]
    for side, whisker in zip(("lower", "upper"), solid, strict=True):
        x, rows = np.reshape(whisker.get_xdata(), (-1, 3)), np.reshape(whisker.get_ydata(), (-1, 3))
        for (value, end, _), (row, _, _) in zip(x, rows, strict=True):
            ends[int(row), side] = (value, end)
    return ends


def rendered(ax):
    ax.figure.draw_without_rendering()  # warnings are errors, so a broken layout or scale shows here
    return ax


class TestEstimate:
    def test_rows_dots_and_whiskers(self):
        ax = rendered(draw.estimate(LABELS, W, W - 0.01, W + 0.02, level=0.95, title="Race"))
        assert texts(ax.get_yticklabels()) == LABELS
        assert ax.get_ylim() == (4.5, -0.5)  # the first on top
        dots = line(ax, "estimate")
        np.testing.assert_array_equal(dots.get_xdata(), W)
        np.testing.assert_array_equal(dots.get_ydata(), range(5))
        ends = whiskers(ax)
        assert ends[2, "lower"] == pytest.approx((W[2], W[2] - 0.01))
        assert ends[4, "upper"] == pytest.approx((W[4], W[4] + 0.02))
        assert ax.get_title() == "Race"
        assert ax.get_legend() is None

    @pytest.mark.parametrize(("level", "words"), [(0.95, "95%"), (0.975, "97.5%"), (0.9999, "99.99%")])
    def test_level_is_named(self, level, words):
        ax = draw.estimate(LABELS, W, W, W, level=level)
        assert ax.get_xlabel() == f"share of the population, {words} interval"

    def test_reference_is_an_open_diamond(self):
        ax = rendered(draw.estimate(LABELS, W + 0.01, W, W + 0.02, level=0.9, reference=W, reference_name="census"))
        diamonds = line(ax, "census")
        np.testing.assert_array_equal(diamonds.get_xdata(), W)
        assert diamonds.get_marker() == "D"
        assert diamonds.get_markerfacecolor() == "none"
        assert legend(ax) == ["estimate", "census"]

    def test_zero_and_negative_values_are_in_view(self):
        values = np.array([0.0, -0.03, 0.4, 0.3, 0.33])
        ax = rendered(draw.estimate(LABELS, values, values, values, level=0.95))
        left, right = ax.get_xlim()
        assert left < -0.03
        assert right > 0.4
        assert {"0%", "20%"} <= set(texts(ax.get_xticklabels()))

    def test_shares_without_negatives_start_at_zero(self):
        left, right = draw.estimate(LABELS, W, W, W, level=0.95).get_xlim()
        assert -0.05 < left < 0
        assert 0.854274 < right < 1

    def test_infinite_ends_stop_at_the_edge_with_an_arrow(self):
        low, high = W - 0.01, W + 0.01
        low[1], high[1], high[2] = -np.inf, np.inf, np.inf
        ax = rendered(draw.estimate(LABELS, W, low, high, level=0.95))
        left, right = ax.get_xlim()
        ends = whiskers(ax)
        assert ends[1, "lower"] == pytest.approx((W[1], left))
        assert ends[1, "upper"] == pytest.approx((W[1], right))
        arrows = {x.get_marker(): list(x.get_ydata()) for x in ax.lines if x.get_marker() in {"<", ">"}}
        assert arrows == {"<": [1], ">": [1, 2]}

    def test_nan_ends_are_omitted(self):
        low, high = W - 0.01, W + 0.01
        low[1] = high[1] = high[3] = np.nan
        ends = whiskers(rendered(draw.estimate(LABELS, W, low, high, level=0.95)))
        assert {(row, side) for row in range(5) for side in ("lower", "upper")} - set(ends) == {
            (1, "lower"),
            (1, "upper"),
            (3, "upper"),
        }

    def test_nothing_but_nan_still_draws(self):
        none = np.full(5, np.nan)
        ax = rendered(draw.estimate(LABELS, none, none, none, level=0.95))
        assert ax.get_xlim()[0] < ax.get_xlim()[1]

    def test_absurdly_wide_intervals_do_not_squeeze_the_estimates(self):
        left, right = draw.estimate(LABELS, W, W - 100, W + 100, level=0.95).get_xlim()
        assert -0.6 < left < right < 1.6

    def test_height_grows_to_48_categories(self):
        w = np.full(48, 1 / 48)
        many = rendered(draw.estimate([f"category {j}" for j in range(48)], w, w, w, level=0.95))
        few = draw.estimate(LABELS, W, W, W, level=0.95)
        assert many.figure.get_figheight() > 5 * few.figure.get_figheight()
        boxes = [label.get_window_extent() for label in many.get_yticklabels()]
        assert all(upper.y0 >= lower.y1 for upper, lower in pairwise(boxes))

    def test_dollars_are_not_mathematics(self):
        ax = rendered(draw.estimate(["$10k to $20k", "more"], [0.4, 0.6], [0.3, 0.5], [0.5, 0.7], level=0.95))
        assert texts(ax.get_yticklabels())[0] == r"\$10k to \$20k"


class TestNumbersAndOrder:
    def test_numbers_have_the_decimals_that_the_intervals_justify(self):
        ax = rendered(draw.estimate(LABELS, W, W - 0.03, W + 0.03, level=0.95))
        assert texts(ax.texts) == [f"{100 * w:.1f}%" for w in W]
        ax = rendered(draw.estimate(LABELS, W, W - 0.0003, W + 0.0003, level=0.95))
        assert texts(ax.texts) == [f"{100 * w:.3f}%" for w in W]

    def test_the_largest_share_is_on_top_if_sorted(self):
        ax = rendered(draw.estimate(LABELS, W, W - 0.01, W + 0.01, level=0.95, sort=True))
        order = np.argsort(-W, kind="stable")
        assert texts(ax.get_yticklabels()) == [LABELS[j] for j in order]
        np.testing.assert_array_equal(line(ax, "estimate").get_xdata(), W[order])
        assert texts(ax.texts) == [f"{100 * w:.1f}%" for w in W[order]]

    def test_a_second_estimate_follows_the_order_of_the_first(self):
        ax = draw.estimate(LABELS, W, W, W, level=0.95, sort=True)
        other = W[::-1]
        rendered(draw.estimate(LABELS, other, other, other, level=0.95, sort=True, label="second", ax=ax))
        order = np.argsort(-W, kind="stable")
        assert texts(ax.get_yticklabels()) == [LABELS[j] for j in order]
        np.testing.assert_array_equal(line(ax, "second").get_xdata(), other[order])

    def test_cleared_axes_forget_the_order(self):
        ax = draw.estimate(LABELS, W, W, W, level=0.95, sort=True)
        ax.clear()
        rendered(draw.estimate(LABELS, W, W, W, level=0.95, ax=ax))
        assert texts(ax.get_yticklabels()) == LABELS

    def test_numbers_that_would_run_into_each_other_are_dropped(self):
        ax = draw.estimate(LABELS, W, W - 0.03, W + 0.03, level=0.95)
        for k in range(4):
            draw.estimate(LABELS, W, W - 0.03, W + 0.03, level=0.95, label=str(k), ax=ax)
        assert list(rendered(ax).texts) == []

    def test_axes_that_make_no_space_get_no_numbers(self):
        figure, ax = plt.subplots()
        assert figure.get_layout_engine() is None
        assert list(rendered(draw.estimate(LABELS, W, W, W, level=0.95, ax=ax)).texts) == []

    def test_narrow_intervals_get_small_markers_and_keep_their_strokes(self):
        wide = rendered(draw.estimate(LABELS, W, W - 0.05, W + 0.05, level=0.95))
        narrow = rendered(draw.estimate(LABELS, W, W - 1e-4, W + 1e-4, level=0.95))
        assert line(narrow, "estimate").get_markersize() < line(wide, "estimate").get_markersize()
        strokes = [x for x in narrow.lines if x.get_marker() == "|"]
        assert len(strokes) == 2
        assert all(x.get_markersize() > 2 * line(narrow, "estimate").get_markersize() for x in strokes)

    def test_numbers_and_ranges_have_an_order(self):
        assert draw.have_an_order(["under 20", "20 to 39", "over 40"])
        assert not draw.have_an_order(["never", "1 to 3 times"])

    def test_differences_have_a_sign_and_intervals(self):
        bounds = np.column_stack([W - 0.02, W + 0.02])
        ax = rendered(draw.difference(LABELS, {"EM": W}, W + 0.01, intervals={"EM": bounds}, level=0.9))
        ends = whiskers(ax)
        assert ends[0, "lower"] == pytest.approx((-0.01, -0.03))
        assert ends[0, "upper"] == pytest.approx((-0.01, 0.01))
        assert ax.get_xlabel() == "estimate minus reference, percentage points, 90% interval"
        low, high = [0, -0.3, -0.1], [0.2, -0.1, 0.1]
        signed = rendered(draw.differences(["a", "b", "c"], [0.1, -0.2, 0.0], low, high, level=0.95))
        assert texts(signed.texts) == ["+10.0", "\N{MINUS SIGN}20.0", "+0.0"]

    def test_ratios_are_printed_as_ratios(self):
        words = {"what": "odds ratio", "title": "", "ratios": True}
        figure = draw.forest(["x"], [""], [[np.log(2)]], [[0.1]], [[1.0]], level=0.95, **words)
        figure.draw_without_rendering()
        assert texts(figure.axes[0].texts) == ["2.00"]


def test_the_style_sheet_has_the_colors_of_the_pictures():
    with plt.style.context("subsetprivacy.draw.style"):
        colors = plt.rcParams["axes.prop_cycle"].by_key()["color"]
    assert [f"#{color.lstrip('#')}" for color in colors] == list(layout.COLORS)


class TestDifference:
    def test_points_are_estimate_minus_reference(self):
        ax = rendered(draw.difference(LABELS, ESTIMATES, W))
        for method, values in ESTIMATES.items():
            np.testing.assert_allclose(line(ax, method).get_xdata(), values - W)
        assert legend(ax) == ["EM", "MoM"]
        assert texts(ax.get_yticklabels()) == LABELS
        assert ax.get_xlabel() == "estimate minus reference, percentage points"

    def test_methods_stay_in_their_row_and_apart(self):
        ax = draw.difference(LABELS, {str(i): W for i in range(6)}, W)
        rows = np.array([line(ax, str(i)).get_ydata() for i in range(6)])
        assert np.all(np.diff(rows, axis=0) > 0)
        np.testing.assert_array_less(np.abs(rows - np.arange(5)), 0.5)

    def test_color_and_marker_both_differ(self):
        ax = draw.difference(LABELS, ESTIMATES, W)
        assert line(ax, "EM").get_marker() != line(ax, "MoM").get_marker()
        assert line(ax, "EM").get_color() != line(ax, "MoM").get_color()

    def test_more_methods_than_colors(self):
        ax = rendered(draw.difference(LABELS, {f"m{i}": W for i in range(20)}, W))
        looks = {(line(ax, f"m{i}").get_marker(), line(ax, f"m{i}").get_color()) for i in range(20)}
        assert len(looks) == 20

    def test_zero_line_is_the_middle(self):
        ax = rendered(draw.difference(LABELS, ESTIMATES, W))
        assert any(list(x.get_xdata()) == [0, 0] for x in ax.lines)
        left, right = ax.get_xlim()
        assert left == -right
        assert right > 0.03
        assert "\N{MINUS SIGN}2" in texts(ax.get_xticklabels())

    @pytest.mark.parametrize("values", [W, np.full(5, np.nan)])
    def test_no_difference_still_has_an_axis(self, values):
        assert rendered(draw.difference(LABELS, {"EM": values}, W)).get_xlim() == (-0.01, 0.01)


class TestLeakage:
    def test_a_panel_per_metric_and_a_bar_per_design(self):
        figure = draw.leakage(DESIGNS, METRICS, units={"mutual information": "bits"}, title="Adult")
        figure.draw_without_rendering()
        assert [ax.get_title() for ax in figure.axes] == list(METRICS)
        for ax, values in zip(figure.axes, METRICS.values(), strict=True):
            assert [bar.get_width() for bar in ax.patches] == pytest.approx(values)
            assert ax.get_xlim()[0] == 0
        assert texts(figure.axes[0].get_yticklabels()) == DESIGNS
        assert [ax.get_xlabel() for ax in figure.axes] == ["", "bits", ""]
        assert figure.get_suptitle() == "Adult"

    def test_numbers_stand_at_the_ends_of_the_bars(self):
        panel = draw.leakage(DESIGNS, METRICS).axes[2]
        assert [text.strip() for text in texts(panel.texts)] == ["1.00", "0.922", "0.854"]
        assert [text.get_position() for text in panel.texts] == [(1, 0), (0.9224, 1), (0.8543, 2)]

    def test_baseline_is_a_labeled_dashed_line(self):
        panels = draw.leakage(DESIGNS, METRICS, baselines=BASELINES).axes
        for panel, baseline in zip(panels, BASELINES.values(), strict=True):
            (dashes,) = panel.lines
            assert list(dashes.get_xdata()) == [baseline, baseline]
            assert dashes.is_dashed()
        assert texts(panels[2].texts)[-1] == "without data 0.854"

    def test_metrics_without_a_baseline_have_no_line(self):
        panels = draw.leakage(DESIGNS, METRICS, baselines={"prediction": 0.8543}).axes
        assert [len(panel.lines) for panel in panels] == [0, 0, 1]

    def test_infinite_leakage_is_written_not_drawn(self):
        figure = draw.leakage(["a", "b", "c"], {"epsilon": [np.inf, np.nan, 2.0]})
        figure.draw_without_rendering()
        (panel,) = figure.axes
        assert [bar.get_width() for bar in panel.patches] == [0, 0, 2]
        assert [text.strip() for text in texts(panel.texts)] == ["∞", "nan", "2.00"]

    def test_many_metrics_take_several_rows(self):
        figure = draw.leakage(["a", "b"], {f"m{i}": [0.1, 0.2] for i in range(6)})
        figure.draw_without_rendering()
        assert len(figure.axes) == 6
        assert figure.axes[0].get_gridspec().get_geometry() == (2, 4)
        assert texts(figure.axes[4].get_yticklabels()) == ["a", "b"]

    def test_no_leakage_at_all(self):
        figure = draw.leakage(["fully private"], {"size": [0.0]}, baselines={"size": 0.0})
        figure.draw_without_rendering()
        assert figure.axes[0].get_xlim() == (0, 1)


class TestCases:
    def colors(self, ax):
        return np.array([to_hex(ball.get_facecolor()) for ball in ax.patches]).reshape(-1, 5).tolist()

    def test_area_is_proportional_to_w(self):
        w = np.array([0.4, 0.3, 0.15, 0.1, 0.05])
        ax = rendered(draw.cases(LABELS, w, SUBSETS))
        area = np.array([ball.get_radius() ** 2 for ball in ax.patches]).reshape(2, 5)
        np.testing.assert_allclose(area / area[:, :1], np.tile(w / w[0], (2, 1)))
        assert [ball.get_center() for ball in ax.patches[5:7]] == [(0, 1), (1, 1)]
        assert ax.get_aspect() == 1

    def test_balls_do_not_touch_and_stay_visible(self):
        ax = draw.cases(LABELS, [1.0, 0.0, -0.01, 0.01, 0.0], SUBSETS)
        radius = [ball.get_radius() for ball in ax.patches]
        assert max(radius) < 0.5
        assert min(radius) > 0.03

    def test_colors_tell_truth_subset_and_rest(self):
        ax = rendered(draw.cases(LABELS, W, SUBSETS, truth=[4, 2]))
        out, member, true = layout.PALE.lower(), layout.CYAN.lower(), layout.DARK.lower()
        assert self.colors(ax) == [[out, member, member, out, true], [member, out, true, member, out]]
        assert legend(ax) == ["true category", "in the reported subset", "excluded"]

    def test_without_truth_all_members_are_alike(self):
        ax = rendered(draw.cases(LABELS, W, SUBSETS))
        expected = np.where(SUBSETS, layout.CYAN.lower(), layout.PALE.lower())
        assert self.colors(ax) == expected.tolist()
        assert legend(ax) == ["in the reported subset", "excluded"]

    def test_verdicts_are_those_of_the_paper(self):
        # Case 12: {Asian, Black, White}; 1 - .982 is excluded, and White is .854 / .982 likely.
        ax = draw.cases(LABELS, W, SUBSETS, names=["case 12", "case 15"])
        assert texts(ax.texts) == [
            "size leakage 0.018, best guess White (0.87)",
            "size leakage 0.886, best guess Black (0.84)",
        ]
        assert [text.get_position()[1] for text in ax.texts] == [0, 1]
        assert texts(ax.get_yticklabels()) == ["case 12", "case 15"]

    def test_subset_without_mass_has_no_best_guess(self):
        ax = rendered(draw.cases(["a", "b", "c"], [1.0, 0.0, 0.0], [[False, True, True]]))
        assert texts(ax.texts) == ["size leakage 1.000, no best guess"]

    def test_names_by_default_and_wrapped_categories(self):
        ax = draw.cases(LABELS, W, SUBSETS)
        assert texts(ax.get_yticklabels()) == ["case 1", "case 2"]
        assert texts(ax.get_xticklabels())[0] == "Amer-Indian-\nEskimo"

    @pytest.mark.parametrize("p", [2, 5, 12, 48])
    def test_everything_fits_in_the_figure(self, p):
        labels = [f"occupation {j}" for j in range(p)]
        ax = rendered(draw.cases(labels, np.full(p, 1 / p), np.eye(p, dtype=bool)[:3], title="People"))
        width, height = ax.figure.get_size_inches()
        box = ax.figure.get_tightbbox()
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= width
        assert box.y1 <= height


class TestConvergence:
    def test_lines_against_iterations(self):
        gaps = {"EM": [0.4, 0.2, 0.1, 0.05], "Newton": [0.4, 0.01]}
        ax = rendered(draw.convergence(gaps, title="Adult"))
        for method, values in gaps.items():
            np.testing.assert_array_equal(line(ax, method).get_ydata(), values)
            np.testing.assert_array_equal(line(ax, method).get_xdata(), np.arange(len(values)) + 1)
        assert (ax.get_yscale(), ax.get_xscale()) == ("log", "linear")
        assert line(ax, "EM").get_linestyle() != line(ax, "Newton").get_linestyle()
        assert line(ax, "EM").get_marker() != line(ax, "Newton").get_marker()
        assert legend(ax) == ["EM", "Newton"]
        assert all(float(tick).is_integer() for tick in ax.get_xticks())

    def test_zero_and_negative_gaps_are_hollow_at_the_foot(self):
        ax = rendered(draw.convergence({"Newton": [0.1, 1e-6, 0.0, -1e-17]}))
        np.testing.assert_allclose(line(ax, "Newton").get_ydata(), [0.1, 1e-6, 1e-7, 1e-7])
        (hollow,) = [x for x in ax.lines if x.get_markerfacecolor() == (1, 1, 1, 1) and len(x.get_xdata())]
        np.testing.assert_array_equal(hollow.get_xdata(), [3, 4])
        assert ax.get_ylim()[0] > 0
        assert legend(ax) == ["Newton", "zero or less"]

    @pytest.mark.parametrize(
        "gaps", [{}, {"EM": []}, {"EM": [0.0, 0.0]}, {"EM": [np.nan, np.inf, 0.1]}, {"EM": [-np.inf]}]
    )
    def test_odd_gaps_do_not_break_the_axis(self, gaps):
        low, high = rendered(draw.convergence(gaps)).get_ylim()
        assert 0 < low < high < np.inf

    def test_tolerance_is_a_dashed_line(self):
        ax = rendered(draw.convergence({"EM": [0.4, 0.2]}, tolerance=1e-8))
        dashes = line(ax, "tolerance 1e-08")
        assert list(dashes.get_ydata()) == [1e-8, 1e-8]
        assert dashes.is_dashed()
        assert ax.get_ylim()[0] < 1e-8

    def test_lines_of_very_different_length_share_a_log_axis(self):
        ax = rendered(draw.convergence({"EM": np.geomspace(1, 1e-8, 400), "Newton": [0.4, 0.01, 1e-9]}))
        assert ax.get_xscale() == "log"
        assert "100" in texts(ax.get_xticklabels())
        assert draw.convergence({"EM": [0.4, 0.2]}, ax=ax).get_xscale() == "linear"


def ends_of_whiskers(container):
    """Return the ends of the upright whiskers of a line, a row per point."""
    (bars,) = container.lines[2]
    return np.array(bars.get_segments())[:, :, 1]


LOSSES = {"MLE": [2.0, 3.0, 4.5], "MoM": [2.5, np.nan, 6.0]}


class TestSeries:
    X = (4, 6, 8)

    def draw(self, **options):
        return rendered(draw.series(self.X, LOSSES, xlabel="categories", ylabel="loss", **options))

    def test_a_line_per_method_at_the_values_of_the_parameter(self):
        ax = self.draw(title="Loss")
        for container, (name, values) in zip(ax.containers, LOSSES.items(), strict=True):
            assert container.get_label() == name
            np.testing.assert_array_equal(container.lines[0].get_xdata(), self.X)
            np.testing.assert_array_equal(container.lines[0].get_ydata(), values)
            assert not container.has_yerr
        one, two = (container.lines[0] for container in ax.containers)
        assert one.get_color() != two.get_color()
        assert one.get_marker() != two.get_marker()
        assert legend(ax) == ["MLE", "MoM"]
        assert texts(ax.get_xticklabels()) == ["4", "6", "8"]
        assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("categories", "loss", "Loss")

    def test_whiskers_are_two_errors_within_what_is_possible(self):
        ax = self.draw(errors={"MLE": [0.5, 1.5, 0.25]}, within=(0.5, 4.75))
        first, second = ax.containers
        np.testing.assert_allclose(ends_of_whiskers(first), [[1, 3], [0.5, 4.75], [4, 4.75]])
        assert not second.has_yerr

    def test_limits_have_the_color_of_their_line(self):
        ax = self.draw(limits={"MoM": 6.74})
        (dashes,) = [x for x in ax.lines if x.is_dashed() and list(x.get_ydata()) == [6.74, 6.74]]
        assert dashes.get_color() == ax.containers[1].lines[0].get_color()

    def test_levels_are_named_on_the_right(self):
        ax = self.draw(levels=[(3.5, "guessing")])
        (word,) = ax.texts
        assert (word.get_text(), word.get_position()) == ("guessing", (1.01, 3.5))
        assert any(list(x.get_ydata()) == [3.5, 3.5] for x in ax.lines)

    @pytest.mark.parametrize(
        ("log", "scales"), [("", "linear linear"), ("x", "log linear"), ("y", "linear log"), ("xy", "log log")]
    )
    def test_scales(self, log, scales):
        ax = self.draw(log=log, legend=False)
        assert f"{ax.get_xscale()} {ax.get_yscale()}" == scales
        assert ax.get_legend() is None

    def test_lines_stand_apart_around_the_value(self):
        one, two = (container.lines[0].get_xdata() for container in self.draw(apart=0.1).containers)
        np.testing.assert_allclose(two - one, 0.4)  # a tenth of the width
        np.testing.assert_allclose((one + two) / 2, self.X)
        one, two = (container.lines[0].get_xdata() for container in self.draw(apart=0.1, log="x").containers)
        np.testing.assert_allclose(two / one, 2**0.1)  # on the log scale
        np.testing.assert_allclose(np.sqrt(one * two), self.X)

    def test_many_values_have_round_ticks(self):
        x = np.linspace(0.01, 3.0, 40)
        ax = rendered(draw.series(x, {"a": x**2}, xlabel="x", ylabel="y"))
        assert len(ax.get_xticks()) < 20


SHARES = {"even": {"a": [0.1, 0.2], "b": [0.3, 0.4]}, "uneven": {"a": [0.5, 0.6], "b": [0.7, 3.0]}}


class TestSideBySide:
    X = (1000, 2000)

    def draw(self, **options):
        figure = draw.line_panels(self.X, SHARES, xlabel="people", ylabel="share", **options)
        figure.draw_without_rendering()
        return figure

    def test_a_panel_per_heading_on_one_scale(self):
        figure = self.draw()
        assert [ax.get_title() for ax in figure.axes] == list(SHARES)
        left, right = figure.axes
        assert left.get_ylim() == right.get_ylim()
        assert [ax.get_ylabel() for ax in figure.axes] == ["share", ""]
        assert [ax.get_xlabel() for ax in figure.axes] == ["people", "people"]
        for ax, lines in zip(figure.axes, SHARES.values(), strict=True):
            for container, values in zip(ax.containers, lines.values(), strict=True):
                np.testing.assert_array_equal(container.lines[0].get_ydata(), values)

    def test_one_legend_for_all(self):
        figure = self.draw()
        (shared,) = figure.legends
        assert texts(shared.get_texts()) == ["a", "b"]
        assert [ax.get_legend() for ax in figure.axes] == [None, None]

    def test_levels_are_named_in_the_last_panel_only(self):
        figure = self.draw(levels=[(0.05, "level")])
        assert [texts(ax.texts) for ax in figure.axes] == [[""], ["level"]]

    def test_errors_are_those_of_the_panel(self):
        errors = {"even": {"a": [0.01, 0.02]}, "uneven": {"b": [0.1, 0.3]}}
        left, right = self.draw(errors=errors).axes
        np.testing.assert_allclose(ends_of_whiskers(left.containers[0]), [[0.08, 0.12], [0.16, 0.24]])
        np.testing.assert_allclose(ends_of_whiskers(right.containers[1]), [[0.5, 0.9], [2.4, 3.6]])
        assert not left.containers[1].has_yerr

    def test_width_is_that_of_a_panel(self):
        assert self.draw(width=3.0).get_figwidth() == 6.0


BOTH = {  # simulated and predicted
    "loss": {"MLE": ([1.1, 2.1, 2.9], [1.0, 2.0, 3.0]), "MoM": ([2.0, 2.5, 4.0], [2.0, 3.0, 4.0])},
    "bias": {"MLE": ([0.2, 0.1, 0.1], [0.2, 0.1, 0.05]), "MoM": ([0.0, 0.1, 0.0], [0.0, 0.0, 0.0])},
}


class TestPredicted:
    X = (4, 6, 8)

    def test_markers_are_simulated_and_lines_predicted(self):
        figure = draw.predicted(self.X, BOTH, xlabel="categories")
        figure.draw_without_rendering()
        assert [ax.get_ylabel() for ax in figure.axes] == list(BOTH)
        assert [ax.get_xlabel() for ax in figure.axes] == ["categories"] * 2
        for ax, pairs in zip(figure.axes, BOTH.values(), strict=True):
            markers, laws = ax.lines[:2], ax.lines[2:]
            for marker, law, (seen, expected) in zip(markers, laws, pairs.values(), strict=True):
                np.testing.assert_array_equal(marker.get_ydata(), seen)
                np.testing.assert_array_equal(law.get_ydata(), expected)
                assert marker.get_linestyle() == "None"
                assert law.get_marker() == "None"
                assert marker.get_color() == law.get_color()

    def test_panels_have_scales_of_their_own_and_one_legend(self):
        figure = draw.predicted(self.X, BOTH, xlabel="categories", log="x", width=4.0)
        left, right = figure.axes
        assert left.get_ylim() != right.get_ylim()
        assert (left.get_xscale(), left.get_yscale()) == ("log", "linear")
        (shared,) = figure.legends
        assert texts(shared.get_texts()) == ["MLE", "MoM"]
        assert shared.get_title().get_text() == "markers simulated, lines predicted"
        assert figure.get_figwidth() == 8.0


class TestNormality:
    SAMPLE = np.random.default_rng(1).normal(size=400)

    def draw(self, **options):
        laws = {"density": stats.norm.pdf, "quantile": stats.norm.ppf}
        figure = draw.normality(self.SAMPLE, xlabel="normalized error", **{**laws, **options})
        figure.draw_without_rendering()
        return figure

    def test_a_histogram_with_the_density(self):
        left, _ = self.draw().axes
        assert sum(bar.get_height() * bar.get_width() for bar in left.patches) == pytest.approx(1)
        assert len(left.patches) == 20
        curve = line(left, "standard normal")
        np.testing.assert_allclose(curve.get_ydata(), stats.norm.pdf(curve.get_xdata()))
        assert legend(left) == ["standard normal"]
        assert (left.get_xlabel(), left.get_ylabel()) == ("normalized error", "density")

    def test_quantiles_of_both(self):
        _, right = self.draw(law="normal").axes
        diagonal, dots = right.lines
        np.testing.assert_array_equal(dots.get_ydata(), np.sort(self.SAMPLE))
        np.testing.assert_allclose(dots.get_xdata(), stats.norm.ppf((np.arange(400) + 0.5) / 400))
        assert list(diagonal.get_xdata()) == list(diagonal.get_ydata())
        assert diagonal.get_xdata()[0] <= self.SAMPLE.min()
        assert right.get_xlabel() == "quantile of the normal distribution"

    def test_another_law(self):
        left, right = self.draw(density=stats.cauchy.pdf, quantile=stats.cauchy.ppf, law="Cauchy").axes
        curve = line(left, "Cauchy")
        np.testing.assert_allclose(curve.get_ydata(), stats.cauchy.pdf(curve.get_xdata()))
        assert right.lines[1].get_xdata()[0] == pytest.approx(stats.cauchy.ppf(0.5 / 400))

    def test_the_title_is_that_of_the_figure(self):
        assert self.draw(title="Maximum likelihood").get_suptitle() == "Maximum likelihood"
        assert self.draw().get_suptitle() == ""


SAMPLES = {"first": np.linspace(-1, 1, 100), "second": np.linspace(0, 8, 400)}


class TestHistograms:
    def test_a_panel_per_sample_with_one_law(self):
        figure = draw.histograms(SAMPLES, density=stats.norm.pdf, xlabel="error")
        figure.draw_without_rendering()
        assert [ax.get_title() for ax in figure.axes] == ["first", "second"]
        assert [ax.get_xlabel() for ax in figure.axes] == ["error", "error"]
        assert [ax.get_ylabel() for ax in figure.axes] == ["density", ""]
        for ax in figure.axes:
            assert sum(bar.get_height() * bar.get_width() for bar in ax.patches) == pytest.approx(1)
            (curve,) = ax.lines
            np.testing.assert_allclose(curve.get_ydata(), stats.norm.pdf(curve.get_xdata()))
            assert (curve.get_xdata()[0], curve.get_xdata()[-1]) == (-3, 8)  # all in view, on one scale
        assert [texts(x.get_texts()) for x in figure.legends] == [["standard normal"]]

    def test_bars_are_where_the_sample_is(self):
        bars = draw.histograms(SAMPLES, density=stats.norm.pdf, xlabel="error").axes[1].patches
        filled = [bar for bar in bars if bar.get_height() > 0]
        assert min(bar.get_x() + bar.get_width() for bar in filled) >= 0
        assert all(bar.get_height() == 0 for bar in bars if bar.get_x() + bar.get_width() < 0)
        inner = [bar.get_height() for bar in filled[1:-1]]
        np.testing.assert_allclose(inner, 1 / 8, rtol=0.1)

    def test_the_law_has_a_name(self):
        (shared,) = draw.histograms(SAMPLES, density=stats.t(2).pdf, xlabel="error", law="Student").legends
        assert texts(shared.get_texts()) == ["Student"]


RUNS = {"moments": [[3.0, 1.0, 0.3], [9.0, 3.0, 1.0], [6.0, 2.0, 0.5]], "maxima": [[2.0, 1.0, 0.2]]}


class TestPaths:
    X = (10, 100, 1000)

    def draw(self, **options):
        guide = options.pop("guide", ("slope -1/2", [3.0, 1.0, 0.3]))
        return rendered(draw.paths(self.X, RUNS, guide=guide, xlabel="people", ylabel="error", **options))

    def test_every_path_thin_and_the_median_bold(self):
        ax = self.draw()
        median = line(ax, "moments, median")
        np.testing.assert_array_equal(median.get_ydata(), [6, 2, 0.5])
        thin = [x for x in ax.lines if x.get_linewidth() < 1 and x.get_color() == median.get_color()]
        np.testing.assert_array_equal([x.get_ydata() for x in thin], RUNS["moments"])
        assert median.get_linewidth() > 1
        assert line(ax, "maxima, median").get_color() != median.get_color()
        assert all(list(x.get_xdata()) == list(self.X) for x in ax.lines)

    def test_the_guide_is_dashed_on_log_scales(self):
        ax = self.draw()
        guide = line(ax, "slope -1/2")
        assert guide.is_dashed()
        np.testing.assert_array_equal(guide.get_ydata(), [3, 1, 0.3])
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
        assert legend(ax) == ["moments, median", "maxima, median", "slope -1/2"]
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("people", "error")


class TestBeside:
    PRINTED, OBTAINED = np.array([2.5, 2.71, 5.68, 6.74, 1.0]), np.array([2.52, 2.7, 5.6, 6.8, 1.1])

    def test_printed_and_obtained_in_a_row_each(self):
        ax = rendered(draw.printed_and_obtained(LABELS, self.PRINTED, self.OBTAINED, xlabel="loss", title="Losses"))
        above, below = ax.containers
        assert [x.get_label() for x in ax.containers] == ["printed", "obtained"] == legend(ax)
        np.testing.assert_array_equal(above.lines[0].get_xdata(), self.PRINTED)
        np.testing.assert_array_equal(below.lines[0].get_xdata(), self.OBTAINED)
        rows = np.array([x.lines[0].get_ydata() for x in ax.containers])
        assert np.all(np.abs(rows - np.arange(5)) < 0.5)
        assert np.all(rows[0] < rows[1])
        assert above.lines[0].get_marker() != below.lines[0].get_marker()
        assert texts(ax.get_yticklabels()) == LABELS
        assert ax.get_ylim() == (4.5, -0.5)
        assert (ax.get_xlabel(), ax.get_title()) == ("loss", "Losses")

    def test_whiskers_are_two_standard_errors_of_either(self):
        own = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
        ax = rendered(draw.printed_and_obtained(LABELS, self.PRINTED, self.OBTAINED, errors=own, xlabel="loss"))
        assert not ax.containers[0].has_xerr
        bars = np.array(ax.containers[1].lines[2][0].get_segments())
        np.testing.assert_allclose(bars[:, :, 0], np.c_[self.OBTAINED - 2 * own, self.OBTAINED + 2 * own])
        both = draw.printed_and_obtained(
            LABELS, self.PRINTED, self.OBTAINED, printed_errors=own / 2, errors=own, xlabel="loss"
        )
        bars = np.array(both.containers[0].lines[2][0].get_segments())
        np.testing.assert_allclose(bars[:, :, 0], np.c_[self.PRINTED - own, self.PRINTED + own])


class TestDurations:
    NAMES, SECONDS = ("EM", "MoM", "EM on counts"), (12.0, 0.0345, 0.5)
    KINDS = ("the paper's", "the paper's", "ours")

    def test_a_row_each_with_its_number(self):
        ax = rendered(draw.durations(self.NAMES, self.SECONDS, self.KINDS, xlabel="seconds"))
        assert texts(ax.get_yticklabels()) == list(self.NAMES)
        assert texts(ax.texts) == ["12 s", "0.0345 s", "0.5 s"]
        assert [text.xy for text in ax.texts] == [(12.0, 0), (0.0345, 1), (0.5, 2)]
        assert ax.get_ylim() == (2.5, -0.5)
        assert (ax.get_xscale(), ax.get_xlabel()) == ("log", "seconds")

    def test_a_color_and_a_marker_per_kind(self):
        ax = draw.durations(self.NAMES, self.SECONDS, self.KINDS, xlabel="seconds")
        theirs, ours = line(ax, "the paper's"), line(ax, "ours")
        np.testing.assert_array_equal(theirs.get_xydata(), [[12, 0], [0.0345, 1]])
        np.testing.assert_array_equal(ours.get_xydata(), [[0.5, 2]])
        assert theirs.get_color() != ours.get_color()
        assert theirs.get_marker() != ours.get_marker()
        assert legend(ax) == ["the paper's", "ours"]


NAMED = {"xlabel": "x", "ylabel": "y"}


# What is told before a figure is made leaves none; the others say so when they come to draw the line.
EARLY = [
    (lambda: draw.estimate(LABELS, W, W[:4], W, level=0.95), "lower"),
    (lambda: draw.leakage(["a"], {}), "metrics"),
    (lambda: draw.leakage(["a", "b"], {"size": [0.1]}), "metrics"),
    (lambda: draw.cases(LABELS, W, SUBSETS, truth=[0, 2]), "truth"),
    (lambda: draw.cases(LABELS, W, SUBSETS, names=["case 12"]), "names"),
    (lambda: draw.cases(LABELS, W, SUBSETS[0]), "members"),
    (lambda: draw.line_panels([1, 2], {}, **NAMED), "panels"),
]
LATE = [
    (lambda: draw.series([4, 6], LOSSES, **NAMED), "MLE"),
    (lambda: draw.series([4, 6, 8], LOSSES, errors={"MLE": [0.1, 0.2]}, **NAMED), "MLE"),
    (lambda: draw.line_panels([1, 2, 3], SHARES, **NAMED), "a"),
    (lambda: draw.predicted([4, 6], BOTH, xlabel="x"), "MLE"),
    (lambda: draw.paths([1, 2, 3], {"EM": [[1, 2, 3]]}, guide=("slope", [1.0, 0.1]), **NAMED), "guide"),
    (lambda: draw.printed_and_obtained(LABELS, W[:4], W, xlabel="x"), "values"),
    (lambda: draw.printed_and_obtained(LABELS, W, W[:4], xlabel="x"), "values"),
    (lambda: draw.printed_and_obtained(LABELS, W, W, errors=W[:4], xlabel="x"), "errors"),
    (lambda: draw.durations(["a", "b", "c"], [1.0, 2.0], ["k"] * 3, xlabel="x"), "seconds"),
]


@every_case(("call", "argument"), EARLY + LATE)
def test_what_does_not_fit_is_refused(call, argument):
    with pytest.raises(ValueError, match=f"^`{argument}` must "):
        call()


def test_paths_of_another_length_are_refused_by_matplotlib():
    with pytest.raises(ValueError, match="x and y must have same first dimension"):
        draw.paths([1, 2], RUNS, guide=("slope", [1.0, 0.1]), **NAMED)


@every_case(("call", "argument"), EARLY)
def test_what_is_refused_early_leaves_no_figure(call, argument):
    with pytest.raises(ValueError, match=f"`{argument}`"):
        call()
    assert plt.get_fignums() == []


DRAWINGS = {
    "estimate": lambda ax: draw.estimate(LABELS, W, W, W, level=0.95, ax=ax),
    "difference": lambda ax: draw.difference(LABELS, {"EM": W}, W, ax=ax),
    "cases": lambda ax: draw.cases(LABELS, W, SUBSETS, ax=ax),
    "convergence": lambda ax: draw.convergence({"EM": [0.1]}, ax=ax),
    "series": lambda ax: draw.series([1, 2], {"EM": [0.1, 0.2]}, xlabel="x", ylabel="y", ax=ax),
    "paths": lambda ax: draw.paths([1, 2], {"EM": [[0.1, 0.2]]}, guide=("g", [1, 2]), xlabel="x", ylabel="y", ax=ax),
    "printed and obtained": lambda ax: draw.printed_and_obtained(LABELS, W, W, xlabel="x", ax=ax),
    "durations": lambda ax: draw.durations(["a", "b"], [0.1, 2.0], ["k", "k"], xlabel="x", ax=ax),
}


@pytest.mark.parametrize("name", DRAWINGS)
def test_given_axes_are_used_and_returned(name):
    figure, ax = plt.subplots(figsize=(9, 5))
    assert DRAWINGS[name](ax) is ax
    assert plt.get_fignums() == [figure.number]
    assert list(figure.get_size_inches()) == [9, 5]
    assert not ax.spines["top"].get_visible()
    assert not ax.spines["right"].get_visible()


@pytest.mark.parametrize("name", DRAWINGS)
def test_without_axes_a_new_figure_is_made(name):
    assert plt.get_fignums() == []
    assert rendered(DRAWINGS[name](None)).figure.axes
    assert len(plt.get_fignums()) == 1


def test_read_only_arrays_will_do():
    w, subsets = W.copy(), SUBSETS.copy()
    w.flags.writeable = subsets.flags.writeable = False  # the arrays of results are
    assert draw.estimate(LABELS, w, w, w, level=0.95, reference=w).has_data()
    assert draw.difference(LABELS, {"EM": w}, w).has_data()
    assert draw.cases(LABELS, w, subsets, truth=[4, 2]).patches


def test_missing_matplotlib_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingDependencyError) as caught:
        draw.convergence({"EM": [0.1]})
    assert isinstance(caught.value, ImportError)


def test_matplotlib_is_imported_lazily():
    code = "import sys, subsetprivacy.draw; sys.exit('matplotlib' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0
