"""Heat maps of plain arrays."""

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from subsetprivacy.draw import heatmap

LONG = ["Amer-Indian-Eskimo", "Asian-Pac-Islander, of the islands beyond", "Black", "$10k to $20k", "White"]
Z = np.array([[-4.2, 0.04, 1.3], [0.5, np.nan, -0.01]])


def rendered(ax):
    ax.figure.draw_without_rendering()  # warnings are errors, so a broken layout shows here
    return ax


def texts(ax):
    return [text.get_text() for text in ax.texts]


def luminance(colour):
    light = np.array(to_rgb(colour))
    return np.where(light <= 0.04045, light / 12.92, ((light + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]


def contrasts(ax):
    """Return the contrast of every number to its cell, as the WCAG has it."""
    (image,) = ax.images
    faces = image.cmap(image.norm(image.get_array()))[..., :3].reshape(-1, 3)
    pairs = [(luminance(text.get_color()), luminance(face)) for text, face in zip(ax.texts, faces, strict=True)]
    return [(max(pair) + 0.05) / (min(pair) + 0.05) for pair in pairs]


def test_signs_dashes_and_a_middle_of_white():
    ax = rendered(heatmap(["r", "s"], ["a", "b", "c"], Z, diverging=True, label="in standard errors"))
    assert texts(ax) == ["−4.2", "0.0", "+1.3", "+0.5", "–", "0.0"]
    (image,) = ax.images
    assert image.get_clim() == (-4.2, 4.2)
    assert image.cmap(0.5)[:3] == pytest.approx((1, 1, 1), abs=0.01)
    below, above = np.array(image.cmap(0.2)[:3]), np.array(image.cmap(0.8)[:3])
    assert below[0] > below[2]  # vermilion
    assert above[2] > above[0]  # blue
    assert ax.images[0].colorbar.ax.get_ylabel() == "in standard errors"


def test_chance_stays_pale():
    ax = heatmap(["r"], ["a", "b"], [[-0.5, 0.3]], diverging=True)
    assert ax.images[0].get_clim() == (-3, 3)


def test_shares_begin_at_zero():
    ax = rendered(heatmap(["r"], ["a", "b"], [[12.34, 56.78]], title="Shares", label="%"))
    assert texts(ax) == ["12.3", "56.8"]
    assert ax.images[0].get_clim() == (0, 56.78)
    assert ax.images[0].cmap(0.0)[:3] == (1, 1, 1)
    assert (ax.get_title(), ax.images[0].colorbar.ax.get_ylabel()) == ("Shares", "%")
    assert heatmap(["r"], ["a"], [[0.0]]).images[0].get_clim() == (0, 1)
    assert heatmap(["r"], ["a"], [[5.0]], largest=100).images[0].get_clim() == (0, 100)
    assert heatmap(["r"], ["a", "b"], [[-1.0, 5.0]]).images[0].get_clim() == (-1, 5)  # moments leave the simplex


@pytest.mark.parametrize("diverging", [True, False])
def test_numbers_can_be_read(diverging):
    values = np.linspace(-5 if diverging else 0, 5, 48).reshape(6, 8)
    ax = rendered(heatmap([""] * 6, [""] * 8, values, diverging=diverging))
    ratios = contrasts(ax)
    assert min(ratios) >= 3
    inks = [text.get_color() for text in ax.texts]
    # Half dark, half light: at a lightness (CIE L*) of 50 to 60 black passes the ratio, and people find white clearer.
    assert all(ratio > 6 for ratio, ink in zip(ratios, inks, strict=True) if ink == "black")
    assert {"black", "white"} == set(inks)


@pytest.mark.parametrize("shape", [(100, 100), (2, 47), (25, 3)])
def test_large_tables_are_colours_and_some_labels(shape):
    p, q = shape
    values = np.random.default_rng(1).random(shape)
    values[1, 1] = np.nan
    names = [f"label number {k}" for k in range(max(shape))]
    ax = rendered(heatmap(names[:p], names[:q], values, title="x and y", label="%"))
    assert not ax.texts
    assert np.ma.filled(ax.images[0].get_array(), np.nan) == pytest.approx(values, nan_ok=True)
    width, height = ax.figure.get_size_inches()
    assert max(width, height) < 15
    for ticks, size in ((ax.get_xticklabels(), q), (ax.get_yticklabels(), p)):
        assert min(size, 12) <= len(ticks) <= 24
        assert all(tick.get_text() == f"label number {round(max(tick.get_position()))}" for tick in ticks)
    boxes = [text.get_window_extent() for text in ax.get_yticklabels()]
    assert all(one.y0 > two.y1 for one, two in pairwise(boxes))


@pytest.mark.parametrize(
    ("size", "names"), [((2, 2), ["f", "m"]), ((2, 5), LONG), ((5, 2), LONG), ((8, 8), LONG + LONG)]
)
def test_nothing_is_cut(size, names):
    p, q = size
    values = np.arange(p * q).reshape(p, q)
    ax = rendered(
        heatmap(
            names[:p],
            names[:q],
            values,
            row_name="race",
            column_name="income after taxes",
            title="race and income after taxes: mle, n = 20000",
            label="difference from independence, in standard errors",
        )
    )
    figure = ax.figure
    width, height = figure.canvas.get_width_height()
    shown = [*ax.get_xticklabels(), *ax.get_yticklabels(), ax.xaxis.label, ax.yaxis.label, ax.title]
    for text in shown:
        box = text.get_window_extent()
        assert min(box.x0, box.y0) >= -1, text.get_text()
        assert box.x1 <= width + 1, text.get_text()
        assert box.y1 <= height + 1, text.get_text()
    cell = ax.transData.transform([(0, 0), (1, 1)])
    for text in ax.texts:
        assert text.get_window_extent().width < abs(cell[1, 0] - cell[0, 0])


def test_labels_of_columns_do_not_run_into_each_other():
    ax = rendered(heatmap(["r"], ["under 9", "9 to 12", "over 12"], [[1, 2, 3]]))
    boxes = [text.get_window_extent() for text in ax.get_xticklabels()]
    assert all(one.x1 < two.x0 for one, two in pairwise(boxes))
    turned = rendered(heatmap(["r"], LONG, [[1, 2, 3, 4, 5]]))
    assert {text.get_rotation() for text in turned.get_xticklabels()} == {40}


def test_a_dollar_is_no_formula():
    ax = rendered(heatmap(["$1 to $2"], ["a"], [[1.0]]))
    assert ax.get_yticklabels()[0].get_text() == r"\$1 to \$2"


def test_wrong_shapes():
    with pytest.raises(ValueError, match=r"\(2, 3\) of the labels; got \(3, 2\)"):
        heatmap(["r", "s"], ["a", "b", "c"], Z.T)
