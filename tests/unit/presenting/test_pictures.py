"""Pictures: the interval is seen at any number of people, everything is inside, and no style or script is needed."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from every_case import every_case
from finding_cases import findings_of, letters

import subsetprivacy as sp
from subsetprivacy.presenting.shares import shares_section
from subsetprivacy.presenting.svg import AxisScale, Dot, band_figure, dots_figure, growth_figure
from subsetprivacy.presenting.words import words_of

EN = words_of("en")
NAME = "{http://www.w3.org/2000/svg}"


def drawn(svg):
    """Return the elements of a picture in the order they are painted, as (tag, attributes)."""
    return [(one.tag.removeprefix(NAME), one.attrib) for one in ET.fromstring(svg).iter()]


def _places(elements):
    return [
        (name, float(value.rstrip("%")))
        for _, held in elements
        for name, value in held.items()
        if name in {"x", "x1", "x2", "cx"} and value.endswith("%")
    ]


@pytest.mark.parametrize("n", [100, 10**8])
def test_the_interval_is_drawn_over_the_point_and_its_ends_are_taller(n):
    counts = letters(2000)
    many = sp.SubsetCounts(counts.codes, counts.counts.astype(np.int64) * max(1, n // 2000), counts.design)
    (one,) = sp.findings(many)
    svg = re.search(r"<svg.*?</svg>", shares_section(EN, one), re.DOTALL)[0]
    elements = drawn(svg)
    points = [k for k, (tag, held) in enumerate(elements) if tag == "circle"]
    assert len(points) == 4
    for k in points:
        line, first, last = elements[k + 1 : k + 4]  # painted after the point, so over it
        assert {tag for tag, _ in (line, first, last)} == {"line"}
        assert {held["class"] for _, held in (line, first, last)} == {"figure-line"}
        radius = float(elements[k][1]["r"])
        for _, end in (first, last):
            assert end["x1"] == end["x2"]
            assert float(end["y2"]) - float(end["y1"]) > 2 * radius + 2
        assert line[1]["y1"] == line[1]["y2"] == elements[k][1]["cy"]
    wide = max(one.shares.upper - one.shares.lower)
    assert (wide < 1e-3) == (n == 10**8)  # else the example is none


def test_the_point_lets_the_line_shine_through():
    from importlib.resources import files

    css = files("subsetprivacy.presenting").joinpath("findings.css").read_text(encoding="utf-8")
    assert re.search(r"\.figure-mark \{[^}]*fill-opacity: \.\d", css)


def test_everything_is_inside_the_picture():
    dots = [
        Dot("a", 0.2, -0.1, 0.9, "20%"),
        Dot("b" * 90, 0.999, 0.99, 1.0, "99.9%", "heading"),
        Dot("c", np.nan, np.nan, np.nan, "–"),
        Dot("d", 0.0, 0.0, 0.0, "0%"),
    ]
    elements = drawn(dots_figure(EN, dots, "A title"))
    assert all(0 <= place <= 100 for _, place in _places(elements))
    height = float(elements[0][1]["height"])
    assert all(0 <= float(held["y"]) <= height for tag, held in elements if tag == "text")
    assert sum(tag == "circle" for tag, _ in elements) == 3  # what is not known has no point


def test_a_picture_says_what_it_shows():
    svg = dots_figure(EN, [Dot("a", 0.2, 0.1, 0.3, "20%"), Dot("b", 0.8, 0.7, 0.9, "80%")], "Shares <of> x")
    root = ET.fromstring(svg)
    assert root.find(f"{NAME}title").text == "Shares <of> x"
    assert root.find(f"{NAME}desc").text == "Shares <of> x: a 20%; b 80%."
    assert root.attrib["role"] == "img"


def test_differences_have_a_line_at_zero_and_signs():
    svg = dots_figure(EN, [Dot("a", 0.02, -0.01, 0.05, "+2.0"), Dot("b", -0.03, -0.06, 0.0, "-3.0")], "x", points=True)
    zeros = [held for _, held in drawn(svg) if held.get("class") == "figure-zero"]
    assert len(zeros) == 2
    assert len({held["x1"] for held in zeros}) == 1
    ticks = [one.text for one in ET.fromstring(svg).iter(f"{NAME}text")]
    assert any(text.startswith("+") for text in ticks)
    assert not any("%" in text for text in ticks if text)


@every_case(
    ("values", "low", "high", "step"),
    [
        ([0.85, 0.1], 0.0, 1.0, 0.25),
        ([0.012, 0.003], 0.0, 0.015, 0.005),
        ([-0.04, 0.03], -0.04, 0.04, 0.02),
        ([0.0], 0.0, None, None),
        ([np.nan], 0.0, None, None),
        ([1.0], 0.0, 1.0, 0.25),
    ],
)
def test_a_scale_has_round_ends_and_holds_zero(values, low, high, step):
    scale = AxisScale.over(np.array(values))
    assert scale.low == pytest.approx(low)
    assert scale.high > scale.low
    if high is not None:
        assert (scale.high, scale.step) == (pytest.approx(high), pytest.approx(step))
    assert scale.at(scale.low) == "2.50%"
    assert scale.at(1e9) == "97.50%"  # never outside


def test_counts_are_shown_before_what_is_expected():
    observed, expected = np.array([130.0, 100.0, 70.0]), np.array([100.0, 100.0, 100.0])
    elements = drawn(band_figure(EN, observed, expected, 300, "Questions", "Said."))
    bands, points = ([held for tag, held in elements if tag == kind] for kind in ("rect", "circle"))
    assert len(bands) == len(points) == 3
    # 1.96 standard errors of a count of 100 among 300, to either side.
    tops = [float(band["y"]) for band in bands]
    bottoms = [float(band["y"]) + float(band["height"]) for band in bands]
    heights = [float(point["cy"]) for point in points]
    assert heights[0] < tops[0]  # above the band: more than chance leaves
    assert tops[1] < heights[1] < bottoms[1]
    assert heights[2] > bottoms[2]


def test_very_many_questions_are_thinned():
    many = np.arange(5000, 0, -1.0)
    elements = drawn(band_figure(EN, many, many, many.sum(), "Questions", "Said."))
    assert sum(tag == "circle" for tag, _ in elements) == 120
    totals = [float(k) for k in range(1, 1001)]
    elements = drawn(growth_figure(EN, totals, ("2030-01-01", "2030-12-31"), "People", "Said."))
    assert sum(tag == "circle" for tag, _ in elements) == 120


@every_case("totals", [[5.0], [5.0, 5.0], [0.0, 10.0]])
def test_growth_of_few_releases(totals):
    elements = drawn(growth_figure(EN, totals, ("2030-01-01", "2030-12-31"), "People", "Said."))
    assert sum(tag == "circle" for tag, _ in elements) == len(totals)


@every_case("case", ["uniform", "zeros", "questions", "earlier", "hadamard"])
def test_pictures_need_neither_styles_nor_scripts(case):
    from subsetprivacy.report import report_html

    for svg in re.findall(r"<svg.*?</svg>", report_html(findings_of(case)), re.DOTALL):
        for tag, held in drawn(svg):
            assert tag in {"svg", "title", "desc", "text", "line", "circle", "rect"}
            assert "style" not in held
            assert not [name for name in held if name.startswith("on")]


def test_letters_that_xml_does_not_have_are_replaced():
    svg = dots_figure(EN, [Dot("a\x00b\x1b", 0.2, 0.1, 0.3, "20%")], "x\ufffe")
    assert "a\ufffdb\ufffd" in svg
    ET.fromstring(svg)


def _heights(dots):
    figure = dots_figure(EN, dots, "x")
    return [float(ET.fromstring(svg).attrib["height"]) for svg in re.findall(r"<svg.*?</svg>", figure, re.DOTALL)]


@every_case(("groups", "categories"), [(1, 24), (3, 10), (30, 2), (5, 12), (1, 4)])
def test_no_picture_is_taller_than_a_page(groups, categories):
    """Letter paper leaves 930 pixels; names of two lines are the tallest."""
    dots = [
        Dot("a name of two lines " * 3, 0.5, 0.4, 0.6, "50%", f"category {j}" if groups > 1 and k == 0 else "")
        for j in range(categories)
        for k in range(groups)
    ]
    assert all(height < 900 for height in _heights(dots))
    figure = dots_figure(EN, dots, "x")
    assert figure.count("<circle") == groups * categories
    assert len({tuple(re.findall(r'figure-grid" x1="([\d.%]+)"', part)) for part in figure.split("</svg>")[:-1]}) <= 2


def test_parts_of_a_picture_have_one_scale():
    dots = [Dot("a", 0.9, 0.8, 1.0, "90%"), *[Dot("b", 0.01, 0.0, 0.02, "1%")] * 20]
    ends = [re.findall(r">(\d+%)</text>", part)[-1] for part in dots_figure(EN, dots, "x").split("</svg>")[:-1]]
    assert ends == ["100%", "100%"]
