"""Pictures of awkward data: everything is inside the figure, nothing covers anything, and numbers can be read."""

from itertools import combinations

import matplotlib
import numpy as np
import pytest
from every_case import every_case

import subsetprivacy as sp
from subsetprivacy import draw
from subsetprivacy.draw import layout

matplotlib.use("Agg")
import matplotlib.pyplot as plt

LONG = [
    "Strongly agree that the government should do much more now",
    "Somewhat agree, but only if my own taxes do not go up again",
    "Neither agree nor disagree, or have never thought about it",
    "Strongly disagree with each and every part of the statement",
]
ODD = ["$10k to $20k", "x_1^2 & 50%", "Ελλάδα", "{\\alpha}_%"]
AWKWARD = [LONG[0], *ODD, LONG[1]]
MANY = [f"occupation {j}" for j in range(40)]
LABELS = {"two": ["yes", "no"], "long": LONG, "odd": ODD, "awkward": AWKWARD, "many": MANY}
LONG_TITLE = "Estimated shares of the answers to a question with a rather long name, 95% intervals, n = 1,000,000,000"
RNG = np.random.default_rng(1)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def written(figure):
    """Return the text and the box of everything that is written in a figure."""
    figure.draw_without_rendering()
    texts = [figure._suptitle] if figure._suptitle else []
    for ax in figure.axes:
        if ax.get_visible():
            texts += [*ax.texts, ax.title, ax._left_title, ax.xaxis.label, ax.yaxis.label]
            texts += [] if ax.get_legend() is None else ax.get_legend().get_texts()
            for axis in (ax.xaxis, ax.yaxis):
                low, high = sorted(axis.get_view_interval())
                ticks = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
                texts += [label for tick in ticks for label in (tick.label1, tick.label2) if label.get_visible()]
    texts = [text for text in texts if text.get_visible() and text.get_text().strip() and not text.get_rotation() % 90]
    return [(text.get_text(), text.get_window_extent()) for text in texts]


def assert_everything_fits(picture):
    figure = getattr(picture, "figure", picture)
    boxes = written(figure)
    for text, box in boxes:
        inside = box.x0 >= -1 and box.y0 >= -1 and box.x1 <= figure.bbox.width + 1 and box.y1 <= figure.bbox.height + 1
        assert inside, f"{text!r} leaves the figure"
    for (text, box), (other, place) in combinations(boxes, 2):
        across = min(box.x1, place.x1) - max(box.x0, place.x0)
        along = min(box.y1, place.y1) - max(box.y0, place.y0)
        assert across < 1.5 or along < 2.5, f"{text!r} and {other!r} overlap"


def shares(p):
    w = np.linspace(2, 1, p)
    return w / w.sum()


def ends(w, half):
    return np.clip(w - half, 0, 1), np.clip(w + half, 0, 1)


def drawn(name, labels, half):
    """Return a picture of these labels, with intervals of this half width."""
    w = shares(len(labels))
    low, high = ends(w, half)
    two = {"first": (1e5 * w, 1e5 * low, 1e5 * high), "second": (2e5 * w, 2e5 * low, 2e5 * high)}
    panels = [np.array([x, x, x]) for x in (w, low, high)]
    title = draw.Heading(LONG_TITLE)
    made = {
        "estimate": lambda: draw.estimate(labels, w, low, high, level=0.95, title=title),
        "reference": lambda: draw.estimate(labels, w, low, high, level=0.95, reference=w[::-1], title=title),
        "difference": lambda: draw.difference(
            labels, {"EM": w}, w[::-1], intervals={"EM": np.c_[low, high]}, title=title
        ),
        "differences": lambda: draw.differences(labels, w - 0.2, low - 0.2, high - 0.2, level=0.95, title=title),
        "subsets": lambda: draw.subset_shares(labels, w, title=title),
        "rows": lambda: draw.by_row(labels, two, xlabel="dollars", title=title),
        "groups": lambda: draw.by_group(labels, LONG[:3], *(x.T for x in panels), level=0.95, title=LONG_TITLE),
        "forest": lambda: draw.forest(labels, LONG[:3], *panels, level=0.95, what="log odds ratio", title=LONG_TITLE),
        "rates": lambda: draw.rates(labels, np.c_[w, low, high], np.c_[w, low, high], names=("a", "b"), title=title),
        "cases": lambda: draw.cases(labels, w, RNG.random((8, len(w))) < 0.5, title=title),
        "calibration": lambda: draw.calibration(dict.fromkeys(labels[:6], (w, w, low, high)), title=title),
        "heat map": lambda: draw.heatmap(labels, labels[:5], 100 * np.outer(w, w[:5]), title=title),
    }
    return made[name]()


NAMES = (
    "estimate",
    "reference",
    "difference",
    "differences",
    "subsets",
    "rows",
    "groups",
    "forest",
    "rates",
    "cases",
    "calibration",
    "heat map",
)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("kind", "half"), [pytest.param("two", 1e-5, marks=pytest.mark.slow), ("awkward", 0.2), ("many", 1e-5)]
)
def test_everything_is_in_the_figure_and_nothing_overlaps(name, kind, half):
    assert_everything_fits(drawn(name, LABELS[kind], half))


@pytest.mark.parametrize(("kind", "estimates"), [("two", 4), ("long", 3), ("odd", 2), ("many", 2), ("many", 4)])
def test_the_figure_grows_for_the_numbers_of_several_estimates(kind, estimates):
    labels = LABELS[kind]
    w = shares(len(labels))
    ax = None
    for k in range(estimates):
        ax = draw.estimate(labels, w, *ends(w, 0.1), level=0.95, label=f"wave {k}", ax=ax)
    assert len(ax.texts) == estimates * len(labels)
    assert_everything_fits(ax)


def test_the_figure_of_the_user_keeps_its_size():
    figure, ax = plt.subplots(figsize=(6, 2), layout="constrained")
    w = shares(4)
    for k in range(3):
        draw.estimate(LONG, w, *ends(w, 0.1), level=0.95, label=f"wave {k}", ax=ax)
    assert list(figure.get_size_inches()) == [6, 2]
    assert list(ax.texts) == []  # no space for numbers


@pytest.mark.parametrize("face", ["white", "black", "#1b1f24"])
def test_numbers_in_the_color_of_their_estimate_can_be_read(face):
    with plt.rc_context({"axes.facecolor": face}):
        ax = plt.subplots()[1]
    for color in layout.COLORS:
        assert layout._contrast(layout._ink(ax, layout._tone(ax, color)), face) >= 4.5
    assert layout._ink(ax, "#767676" if face == "white" else "#F2F2F2") == ("#767676" if face == "white" else "#f2f2f2")


# Numbers ----------------------------------------------------------------------------------------------------------


def printed(ax):
    ax.figure.draw_without_rendering()
    return [text.get_text() for text in ax.texts]


def test_a_small_effect_is_not_printed_as_zero():
    d, half = np.array([2e-5, 0.02]), np.array([1e-5, 0.05])
    ax = draw.differences(["income (+1)", "sex"], d, d - half, d + half, level=0.95)
    assert printed(ax) == ["+0.0020", "+2.0"]


def test_an_interval_without_width_gives_no_decimals():
    w = np.array([0.55, 0.45])
    assert printed(draw.estimate(["a", "b"], w, w - 1e-12, w + 1e-12, level=0.95)) == ["55.0%", "45.0%"]


def test_an_estimate_that_is_missing_says_so():
    w = np.array([0.5, np.nan])
    assert printed(draw.estimate(["a", "b"], w, w - 0.1, w + 0.1, level=0.95)) == ["50.0%", "not given"]


def test_differences_from_a_reference_are_printed():
    w, bounds = np.array([0.6, 0.4]), np.array([[0.5, 0.7], [0.3, 0.5]])
    ax = draw.difference(["a", "b"], {"EM": w}, [0.5, 0.5], intervals={"EM": bounds})
    assert printed(ax) == ["+10.0", "\N{MINUS SIGN}10.0"]


def test_rare_subsets_are_not_printed_as_zero():
    assert printed(draw.subset_shares(["a", "b"], [0.0006, 0.0004])) == ["0.060%", "0.040%"]
    assert printed(draw.subset_shares(["a", "b"], [0.6, 0.4])) == ["60.0%", "40.0%"]


def test_changes_of_shares_are_in_percentage_points():
    change = np.array([[0.02, -0.02]])
    figure = draw.by_group(
        ["sex"], ["a", "b"], change, change - 0.01, change + 0.01, level=0.95, what="change", points=True, title=""
    )
    assert [printed(ax) for ax in figure.axes] == [["+2.0"], ["\N{MINUS SIGN}2.0"]]
    assert figure.get_supxlabel() == "change, percentage points, 95% interval"
    assert not any("%" in label.get_text() for ax in figure.axes for label in ax.get_xticklabels())


# Axes and legends ---------------------------------------------------------------------------------------------------


def test_an_interval_at_zero_is_drawn_whole():
    ax = draw.rates(["a"], [(0.0, 0.0, 0.1)], [(0.05, 0.0, 0.2)], names=("one", "two"))
    assert ax.get_xlim()[0] < 0


@every_case("steps", [1, 2, 5])
def test_steps_are_whole(steps):
    ax = draw.convergence({"EM": np.geomspace(0.1, 1e-9, steps)})
    assert list(ax.get_xticks()) == list(range(1, steps + 1))


def legend_and_axes(ax):
    ax.figure.draw_without_rendering()
    return ax.get_legend().get_window_extent(), ax.get_window_extent()


def test_legends_hide_no_data():
    statistics = np.random.default_rng(1).chisquare(3, 99)
    null = draw.null_distribution(statistics, 6.0, df=3, pvalue=0.1)
    power = draw.power_curves([10, 100, 1000], {"lrt": [0.1, 0.5, 0.9]}, points={"lrt": (100, 0.5, 0.0)}, alpha=0.05)
    for ax in (null, power):
        box, place = legend_and_axes(ax)
        assert box.y1 <= place.y0
        assert_everything_fits(ax)


def test_the_power_that_is_marked_is_in_the_legend():
    ax = draw.power_curves([10, 1e4, 1e5], {"lrt": [0.1, 0.5, 0.9]}, points={"lrt": (1e4, 0.5, 0.0)}, alpha=0.05)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["lrt: power 0.50 with 10,000 people"]
    ax.figure.draw_without_rendering()
    assert "10,000" in [label.get_text() for label in ax.get_xticklabels()]


def test_people_have_a_title():
    design = sp.uniform(list("abcd"))
    leakage = sp.person_leakage(sp.privatize(list("abcdabcdabcd"), design, seed=1), [0.25] * 4)
    assert leakage.plot().get_title() == "What the subsets of the first 8 of 12 people reveal"
    assert leakage.plot(most=20).get_title() == "What the subsets of 12 people reveal"
    assert leakage.plot(title="Mine").get_title() == "Mine"


def test_groups_that_are_left_out_are_named_in_the_title():
    series = {f"group {k}": ([1.0], [0.5], [1.5]) for k in range(30)}
    ax = draw.by_row(["a"], series, xlabel="mean", title=draw.Heading("Estimated mean"))
    assert ax.get_title() == "Estimated mean, the first 7 of 30 groups"


def test_many_differences_are_in_percentage_points():
    design = sp.uniform(list("abcd"))
    fits = {k: sp.estimate(sp.simulate(design, [0.25] * 4, 500, seed=k)) for k in range(5)}
    figure = sp.compare(fits).plot()
    assert figure.get_supxlabel() == "difference, percentage points, 95% interval"
    assert all(text[0] in "+\N{MINUS SIGN}" for ax in figure.axes for text in printed(ax))
    assert sp.compare(fits, baseline=0).plot().get_title() == "Differences of shares from 0, 95% intervals"


def test_numbers_stand_clear_of_their_bars():
    (panel,) = draw.leakage(["a", "b"], {"bits": [1.0, 2.0]}).axes
    assert printed(panel) == ["1.00", "2.00"]  # a space before them would be lost in SVG
    ends = [bar.get_window_extent().x1 for bar in panel.patches]
    assert all(text.get_window_extent().x0 > end + 3 for text, end in zip(panel.texts, ends, strict=True))


def test_all_panels_have_the_same_decimals():
    w, half = np.array([[0.1, 0.5], [0.2, 0.4]]), np.array([[1e-5, 0.1], [0.1, 0.1]])
    figure = draw.by_group(["a", "b"], ["x", "y"], w, w - half, w + half, level=0.95, title="")
    assert [printed(ax) for ax in figure.axes] == [["10.0%", "20.0%"], ["50.0%", "40.0%"]]
    half[:, 0] = 1e-9  # as good as no interval
    figure = draw.by_group(["a", "b"], ["x", "y"], w, w - half, w + half, level=0.95, title="")
    assert [printed(ax) for ax in figure.axes] == [["10.0%", "20.0%"], ["50.0%", "40.0%"]]
