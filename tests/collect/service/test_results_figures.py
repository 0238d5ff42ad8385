"""The pictures and tables of a dashboard: well-formed, without inline styles, with their names, every label escaped."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest
from attrs import evolve
from every_case import every_case
from released import drawn, emptied, options, survey_of, values

import subsetprivacy as sp
from subsetprivacy.collect.service.results import results
from subsetprivacy.collect.web.studio_dashboard import dashboard
from subsetprivacy.presenting.checks import panels_of
from subsetprivacy.presenting.html import Html
from subsetprivacy.presenting.shares import shares_section
from subsetprivacy.presenting.words import words_of

SVG = "{http://www.w3.org/2000/svg}"
WORDS = words_of("en")
HOSTILE = (
    "<script>alert(1)</script>",
    "\"><img src=x onerror='alert(1)'>",
    "a & b && c &amp; d &lt; e",
    "]]> <!-- x --> <![CDATA[ <?xml ?>",
    "javascript:alert(1) \x00\x08\x1b ‮ end",
    "</title></svg><style>*{display:none}</style>",
)
ALLOWED = {"svg", "title", "desc", "text", "line", "circle", "rect"}  # elements of a picture


def board_of(labels, seed=1):
    """Return the dashboard of two linked variables, the first of which is called like its first option."""
    designs = {"a": sp.uniform(labels), "b": sp.uniform(options(4))}
    survey = survey_of(designs, [["a", "b"]])
    first, second = survey.variables
    survey = evolve(survey, variables=(evolve(first, label=labels[0]), second))
    truth = {name: values(np.arange(1, design.p + 1), 300, seed) for name, design in designs.items()}
    released = drawn(survey, truth, releases=6)
    return dashboard(released, results(released))


def figures(board):
    variable = board.results.findings["a"]
    return {
        "shares": pictures_in(shares_section(WORDS, variable))[0],
        "draws": panels_of(WORDS, variable)[0].figure,
        "releases": board.growth,
    }


def pictures_in(section):
    """Return the pictures of a section; of many options there are several."""
    return [Html(picture) for picture in re.findall("<svg .*?</svg>", section, re.DOTALL)]


@pytest.fixture(scope="module")
def hostile():
    return board_of(HOSTILE)


@every_case("name", ["shares", "draws", "releases"])
def test_pictures_of_hostile_labels_are_text_and_nothing_else(hostile, name):
    picture = figures(hostile)[name]
    assert isinstance(picture, Html)
    tree = ElementTree.fromstring(picture)
    assert {element.tag.removeprefix(SVG) for element in tree.iter()} <= ALLOWED
    for element in tree.iter():
        for attribute, value in element.attrib.items():
            assert attribute != "style"
            assert not attribute.startswith("on")
            assert "href" not in attribute
            assert "url(" not in value
    assert tree.get("role") == "img"
    assert [child.tag.removeprefix(SVG) for child in tree][:2] == ["title", "desc"]
    assert len(tree.find(f"{SVG}desc").text) > 40
    if name != "releases":
        assert HOSTILE[0] in tree.find(f"{SVG}title").text
        assert HOSTILE[0] in " ".join(tree.itertext())
    if name == "shares":
        assert all(HOSTILE[k] in tree.find(f"{SVG}desc").text for k in (0, 1, 2, 3, 5))


# Tables -------------------------------------------------------------------------------------------


class Read(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.text = [], ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    handle_startendtag = handle_starttag

    def handle_data(self, data):
        self.text += data


def test_labels_of_tables_come_out_as_text_and_nothing_has_a_style(hostile):
    pages = [*(panel.body for panel in hostile.variables), *(body for _, body in hostile.pairs), *hostile.together]
    for page in pages:
        read = Read(page)
        assert not {"script", "img", "style", "b"} & {tag for tag, _ in read.elements}
        names = {name for _, attributes in read.elements for name in attributes}
        assert "style" not in names
        assert not any(name.startswith("on") for name in names)
    text = Read(hostile.pairs[0][1]).text
    assert all(HOSTILE[k] in text for k in (0, 1, 2, 3, 5))


# Places -------------------------------------------------------------------------------------------


def places(tree, tag, attribute):
    return [float(one.get(attribute).rstrip("%")) for one in tree.iter(f"{SVG}{tag}")]


def test_the_points_of_shares_lie_in_their_lines_and_in_order_of_size():
    board = board_of(options(5))
    tree = ElementTree.fromstring(figures(board)["shares"])
    points = places(tree, "circle", "cx")
    lines = [one for one in tree.iter(f"{SVG}line") if one.get("class") == "figure-line"]
    whiskers = [one for one in lines if one.get("y1") == one.get("y2")]
    ends = [(float(one.get("x1")[:-1]), float(one.get("x2")[:-1])) for one in whiskers]
    assert len(points) == len(ends) == 5
    assert all(low <= point <= high for point, (low, high) in zip(points, ends, strict=True))
    assert np.corrcoef(points, board.results.findings["a"].shares.estimate)[0, 1] == pytest.approx(1, abs=1e-4)


def test_no_grid_line_runs_through_a_text():
    """A text of 14 pixels reaches about 11 above its base line and 3 below."""
    tree = ElementTree.fromstring(figures(board_of(options(5)))["shares"])
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
    variable = found.findings["a"]
    trees = [ElementTree.fromstring(picture) for picture in pictures_in(shares_section(WORDS, variable))]
    assert sum(len(places(tree, "circle", "cx")) for tree in trees) == 48
    for tree in trees:
        texts = list(tree.iter(f"{SVG}text"))
        assert max(len(one.text) for one in texts) <= 34
        assert all(0 <= float(one.get("y")) <= float(tree.get("height")) for one in texts)
    drawn_pairs = ElementTree.fromstring(panels_of(WORDS, variable)[0].figure)
    assert len(places(drawn_pairs, "circle", "cx")) == 120


def test_nothing_to_draw_is_nothing():
    released = drawn(survey_of({"a": sp.warner(("no", "yes"))}), {"a": values([1, 1], 40, 1)})
    assert dashboard(emptied(released), results(emptied(released))).growth == ""
    assert panels_of(WORDS, results(released).findings["a"])[0].figure == ""


def test_the_last_release_is_highest():
    tree = ElementTree.fromstring(board_of(options(5)).growth)
    heights = places(tree, "circle", "cy")
    assert len(heights) == 6
    assert heights == sorted(heights, reverse=True)
