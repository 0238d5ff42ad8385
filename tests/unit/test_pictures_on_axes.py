"""Pictures on the user's axes: titles, long labels, several estimates, dark styles; what is no axes."""

import warnings
from functools import cache
from itertools import pairwise

import matplotlib
import numpy as np
import pytest
from every_case import every_case
from refusals import refused

matplotlib.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, MismatchError

LONG = [
    "Never, and would not consider it in any circumstances",
    "Once or twice in the last twelve months, at a friend's place",
    "Monthly",
    "Weekly, mostly on weekends or on holidays, but not when it rains or when there is something on television",
    "Prefer-not-to-say-because-it-is-nobodys-business-at-all-is-it",
]
W = [0.4, 0.3, 0.15, 0.1, 0.05]
FIT, OTHER = (sp.estimate(sp.simulate(sp.uniform(LONG), W, n, seed=n)) for n in (2000, 3000))
PAIR = sp.product({"x": sp.uniform(list("abcd")), "y": sp.uniform(list("abcd"))})
TABLE = sp.simulate(PAIR, np.full(16, 1 / 16), 2000, seed=1)
FIVE = sp.simulate(sp.uniform(list("abcde")), W, 2000, seed=1)


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def rendered(ax):
    ax.figure.draw_without_rendering()
    return ax


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def dots(ax, label):
    (found,) = [line for line in ax.lines if line.get_label() == label]
    return found


# Every picture ------------------------------------------------------------------------------------------------


@cache
def result(name):
    """What takes a moment is computed once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            "margin": lambda: sp.estimate(TABLE).margin("x"),
            "independence": lambda: sp.independence_test(TABLE, permutations=19, seed=1),
            "plan": lambda: sp.plan(5, n=3000),
            "power": lambda: sp.independence_power(PAIR, np.full((4, 4), 0.0575) + 0.02 * np.eye(4), 1000),
            "frontier": lambda: sp.frontier(list("abcd"), [0.4, 0.3, 0.2, 0.1]),
            "honesty": lambda: sp.check_honesty(FIVE, method="chi-square"),
            "persons": lambda: sp.person_leakage(sp.privatize(list("abcde"), FIVE.design, seed=1), W),
        }[name]()


PICTURES = {
    "estimate": FIT.plot,
    "difference": lambda **options: FIT.plot(kind="difference", reference=W, **options),
    "convergence": lambda **options: FIT.plot(kind="convergence", **options),
    "margin": lambda **options: result("margin").plot(**options),
    "shares": sp.association(TABLE).plot,
    "conditional": lambda **options: sp.association(TABLE).plot("conditional", given="x", **options),
    "residuals": lambda **options: sp.association(TABLE).plot("residuals", **options),
    "independence": lambda **options: result("independence").plot(**options),
    "plan": lambda **options: result("plan").plot(**options),
    "power": lambda **options: result("power").plot(**options),
    "frontier": lambda **options: result("frontier").plot(**options),
    "honesty": lambda **options: result("honesty").plot(**options),
    "persons": lambda **options: result("persons").plot(**options),
}


@pytest.mark.parametrize("name", PICTURES)
def test_the_users_title_is_the_only_one(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ax = PICTURES[name]()
        assert ax.get_title(loc="left") == ax.get_title(loc="right") == ""
        ax.set_title("Mine")
        assert [ax.get_title(loc=loc) for loc in ("left", "center", "right")] == ["", "Mine", ""]
        rendered(ax)
        heading = ax.title.get_window_extent()
        if ax.get_legend() is not None:
            assert not heading.overlaps(ax.get_legend().get_window_extent())


@every_case("name", PICTURES)
def test_a_title_that_is_there_stays(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ax = plt.subplots(layout="constrained")[1]
        ax.set_title("Mine", loc="left")
        assert PICTURES[name](ax=ax) is ax
        assert [ax.get_title(loc=loc) for loc in ("left", "center", "right")] == ["Mine", "", ""]


@every_case("name", PICTURES)
def test_what_is_no_axes_is_refused_in_words(name):
    for wrong, hint in (
        (Figure(), "fig, ax = plt.subplots"),
        (plt.subplots(1, 2)[1], "one of them, as in ax=axes"),
        ("left", "fig, ax = plt.subplots"),
    ):
        with refused(ArgumentError, "ax") as caught:
            PICTURES[name](ax=wrong)
        assert hint in str(caught.value.advice)


def test_an_audit_draws_a_figure_and_takes_no_axes():
    found = sp.audit(FIVE.design, W)
    assert isinstance(found.plot(), Figure)
    with refused(ArgumentError, "ax"):
        found.plot(ax=plt.subplots()[1])


# Titles ---------------------------------------------------------------------------------------------------------


def test_titles_say_what_is_seen():
    assert FIT.plot().get_title() == "Estimated shares, 95% intervals, n = 2,000"
    assert FIT.plot(level=0.9).get_title() == "Estimated shares, 90% intervals, n = 2,000"
    assert FIT.plot(kind="difference", reference=W).get_title() == (
        "Estimated shares minus reference, 95% intervals, n = 2,000"
    )
    assert PICTURES["margin"]().get_title() == "Estimated shares of x, 95% intervals, n = 2,000"
    assert FIT.plot(title="Mine").get_title() == "Mine"
    ax = plt.subplots()[1]
    ax.set_title("Old")
    assert FIT.plot(ax=ax, title="Mine").get_title() == "Mine"


# Labels ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda: None,
        lambda: plt.subplots(figsize=(4, 2.4))[1],
        lambda: plt.subplots()[1],
        lambda: plt.subplots(figsize=(3, 2), layout="constrained")[1],
        lambda: plt.subplots(2, 2)[1][1, 0],
    ],
    ids=["own", "narrow", "default", "constrained", "grid"],
)
def test_long_labels_neither_meet_nor_leave_the_figure(make):
    ax = rendered(FIT.plot(ax=make()))
    boxes = [label.get_window_extent() for label in ax.get_yticklabels()]
    assert all(upper.y0 >= lower.y1 - 1 for upper, lower in pairwise(boxes))
    assert min(box.x0 for box in boxes) >= -1
    assert all(label.get_text()[:4] == full[:4] for label, full in zip(ax.get_yticklabels(), LONG, strict=True))


@pytest.mark.parametrize("p", [30, 60])
def test_many_categories_do_not_meet(p):
    fit = sp.estimate(sp.simulate(sp.hadamard(range(p)), np.full(p, 1 / p), 20_000, seed=1), "mom")
    for ax in (fit.plot(), fit.plot(ax=plt.subplots()[1])):
        boxes = [label.get_window_extent() for label in rendered(ax).get_yticklabels()]
        assert all(upper.y0 >= lower.y1 - 1 for upper, lower in pairwise(boxes))


# Several estimates ----------------------------------------------------------------------------------------------


def test_two_estimates_are_told_apart():
    ax = FIT.plot()
    assert ax.get_legend() is None
    assert OTHER.plot(ax=ax, reference=W) is ax
    assert legend(ax) == ["maximum likelihood, n = 2,000", "maximum likelihood, n = 3,000", "reference"]
    one, two = (dots(ax, f"maximum likelihood, n = {n}") for n in ("2,000", "3,000"))
    assert one.get_color() != two.get_color()
    assert one.get_marker() != two.get_marker()
    np.testing.assert_allclose(one.get_ydata(), np.arange(5) - 0.13)
    np.testing.assert_allclose(two.get_ydata(), np.arange(5) + 0.13)
    np.testing.assert_array_equal(one.get_xdata(), np.sort(FIT.w)[::-1])
    np.testing.assert_array_equal(two.get_xdata(), OTHER.w[np.argsort(-FIT.w)])  # in the rows of the first
    assert ax.get_title() == "Estimated shares, 95% intervals"  # of different numbers of people
    left, right = ax.get_xlim()
    for fit in (FIT, OTHER):
        assert left < fit.interval().min()
        assert right > fit.interval().max()
    rendered(ax)


def test_estimates_are_named_and_whiskers_move_with_them():
    ax = FIT.plot(label="first wave")
    for name in ("second wave", "third wave"):
        OTHER.plot(ax=ax, label=name)
    assert legend(ax) == ["first wave", "second wave", "third wave"]
    rows = {line.get_gid(): set() for line in ax.lines if line.get_gid()}
    for line in ax.lines:
        if line.get_gid():
            rows[line.get_gid()] |= {round(y, 6) for y in line.get_ydata() if y == y}
    assert [min(places) for places in rows.values()] == pytest.approx([-0.26, 0, 0.26])
    assert all(len(places) == 5 for places in rows.values())


def test_differences_join_in():
    ax = FIT.plot(kind="difference", reference=W, label="one")
    OTHER.plot(kind="difference", reference=W, ax=ax, label="two")
    assert legend(ax) == ["one", "two"]
    assert ax.get_title() == "Estimated shares minus reference, 95% intervals"
    assert dots(ax, "one").get_color() != dots(ax, "two").get_color()


def test_estimates_of_other_categories_do_not_join_in():
    ax = FIT.plot()
    with pytest.raises(MismatchError):
        PICTURES["margin"](ax=ax)


# Intervals and colors ------------------------------------------------------------------------------------------


def test_an_interval_is_seen_however_narrow():
    ax = sp.estimate(sp.simulate(sp.uniform(LONG), W, 10**9, seed=1)).plot()
    ends = [line for line in ax.lines if line.get_marker() == "|"]
    assert len(ends) == 2
    marker = dots(ax, "maximum likelihood, n = 1,000,000,000")
    assert all(line.get_markersize() > 2 * marker.get_markersize() for line in ends)
    assert all(line.get_zorder() > marker.get_zorder() for line in ends)


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_what_is_drawn_is_seen_on_the_background(style):
    with plt.style.context(style):
        ax = rendered(FIT.plot(reference=W))
        ground = np.array(to_rgba(ax.get_facecolor()))[:3]
        reference = np.array(to_rgba(dots(ax, "reference").get_markeredgecolor()))[:3]
        assert abs(reference.mean() - ground.mean()) > 0.8
        grid = ax.get_ygridlines()[0]
        assert abs(np.array(to_rgba(grid.get_color()))[:3].mean() - ground.mean()) < 0.3
