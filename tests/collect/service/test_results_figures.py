"""The pictures are well-formed SVG without inline styles, name themselves, and escape every label."""

from xml.etree import ElementTree

import numpy as np
import pytest
from released import drawn, options, survey_of, values

import subsetprivacy as sp
from subsetprivacy.collect.service.figures import draws_figure, pair_figure, releases_figure, shares_figure
from subsetprivacy.collect.service.results import results
from subsetprivacy.collect.service.results_draws import DrawsCheck
from subsetprivacy.report.markup import Html

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = (
    "<script>alert(1)</script>",
    "\"><img src=x onerror='alert(1)'>",
    "a & b && c &amp; d &lt; e",
    "]]> <!-- x --> <![CDATA[ <?xml ?>",
    "javascript:alert(1) \x00\x08\x1b ‮ end",
    "</title></svg><style>*{display:none}</style>",
)


def figures(labels, seed=1):
    designs = {"a": sp.uniform(labels), "b": sp.uniform(options(4))}
    survey = survey_of(designs, [["a", "b"]])
    truth = {name: values(np.arange(1, design.p + 1), 300, seed) for name, design in designs.items()}
    found = results(drawn(survey, truth, releases=6))
    variable, title = found.variables[0], f"Shares of {labels[0]}"
    return {
        "shares": shares_figure(variable.options, variable.shares, title),
        "draws": draws_figure(variable.draws, title),
        "pair": pair_figure(found.pairs[0], (labels[0], "B"), title),
        "releases": releases_figure(found.releases, title),
    }


@pytest.fixture(scope="module")
def hostile():
    return figures(HOSTILE)


NAMES = ("shares", "draws", "pair", "releases")
ALLOWED = {"svg", "title", "desc", "text", "line", "circle", "rect"}


@pytest.mark.parametrize("name", NAMES)
def test_labels_come_out_as_text(hostile, name):
    tree = ElementTree.fromstring(hostile[name])
    assert {element.tag.removeprefix(SVG) for element in tree.iter()} <= ALLOWED
    assert tree.find(f"{SVG}title").text == f"Shares of {HOSTILE[0]}"
    said = " ".join(tree.itertext())
    assert HOSTILE[0] in said
    if name == "shares":
        shown = [HOSTILE[k] for k in (0, 1, 2, 3, 5)]
        assert all(label in tree.find(f"{SVG}desc").text for label in shown)


@pytest.mark.parametrize("name", NAMES)
def test_no_picture_needs_an_inline_style_a_script_or_a_request(hostile, name):
    tree = ElementTree.fromstring(hostile[name])
    for element in tree.iter():
        for attribute, value in element.attrib.items():
            assert attribute != "style"
            assert not attribute.startswith("on")
            assert "href" not in attribute
            assert "url(" not in value
    assert isinstance(hostile[name], Html)


@pytest.mark.parametrize("name", NAMES)
def test_every_picture_names_itself(hostile, name):
    tree = ElementTree.fromstring(hostile[name])
    assert tree.get("role") == "img"
    assert [child.tag.removeprefix(SVG) for child in tree][:2] == ["title", "desc"]
    assert len(tree.find(f"{SVG}desc").text) > 40


def places(tree, tag, attribute):
    return [float(one.get(attribute).rstrip("%")) for one in tree.iter(f"{SVG}{tag}")]


def test_the_points_of_shares_lie_in_their_lines_and_in_order_of_size():
    names = options(5)
    tree = ElementTree.fromstring(figures(names)["shares"])
    points = places(tree, "circle", "cx")
    whiskers = [one for one in tree.iter(f"{SVG}line") if one.get("class") == "figure-line"]
    ends = [(float(one.get("x1")[:-1]), float(one.get("x2")[:-1])) for one in whiskers]
    assert len(points) == len(ends) == 5
    assert all(low <= point <= high for point, (low, high) in zip(points, ends, strict=True))
    designs = {"a": sp.uniform(names), "b": sp.uniform(options(4))}
    truth = {name: values(np.arange(1, design.p + 1), 300, 1) for name, design in designs.items()}
    w = results(drawn(survey_of(designs, [["a", "b"]]), truth, releases=6)).variables[0].shares.w
    assert np.corrcoef(points, w)[0, 1] == pytest.approx(1, abs=1e-4)


def test_no_grid_line_runs_through_a_text():
    """A text of 14 pixels reaches about 11 above its base line and 3 below."""
    tree = ElementTree.fromstring(figures(options(5))["shares"])
    lines = [one for one in tree.iter(f"{SVG}line") if one.get("class") == "figure-grid"]
    texts = [(float(one.get("y")), int(one.get("font-size"))) for one in tree.iter(f"{SVG}text")]
    assert len(lines) >= 5 * 3
    assert len(texts) >= 5 * 2
    for line in lines:
        top, bottom = sorted((float(line.get("y1")), float(line.get("y2"))))
        assert all(bottom <= y - 0.8 * size or top >= y + 0.2 * size for y, size in texts)


def test_forty_eight_options_with_long_names_fit():
    names = tuple(f"{k} a very long name of an option, which goes on and on beyond any screen {k}" for k in range(48))
    found = results(drawn(survey_of({"a": sp.uniform(names)}), {"a": values([1] * 48, 400, 1)}))
    variable = found.variables[0]
    tree = ElementTree.fromstring(shares_figure(variable.options, variable.shares, "Long"))
    texts = [one.text for one in tree.iter(f"{SVG}text")]
    assert max(map(len, texts)) <= 34
    assert len(places(tree, "circle", "cx")) == 48
    assert all(0 <= float(one.get("y")) <= float(tree.get("height")) for one in tree.iter(f"{SVG}text"))
    drawn_pairs = ElementTree.fromstring(draws_figure(variable.draws, "Pairs"))
    assert len(places(drawn_pairs, "circle", "cx")) == 120


def test_cells_of_a_table_have_colour_by_their_share():
    designs = {"a": sp.uniform(options(4)), "b": sp.warner(("no", "yes"))}
    truth = {"a": values([1, 2, 3, 4], 3000, 1), "b": values([1, 3], 3000, 2)}
    pair = results(drawn(survey_of(designs, [["a", "b"]]), truth)).pairs[0]
    tree = ElementTree.fromstring(pair_figure(pair, ("A", "B"), "Table"))
    colours = places(tree, "rect", "fill-opacity")
    assert np.argsort(colours).tolist() == np.argsort(pair.shares.ravel()).tolist()


def test_nothing_to_draw_is_nothing():
    assert releases_figure((), "None") == ""
    assert draws_figure(DrawsCheck(0), "None") == ""


def test_the_last_release_is_highest():
    tree = ElementTree.fromstring(figures(options(5))["releases"])
    heights = places(tree, "circle", "cy")
    assert len(heights) == 6
    assert heights == sorted(heights, reverse=True)
