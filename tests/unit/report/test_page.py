"""The page is whole, needs nothing else, and says things so that everybody can read them."""

import re
import sys
from importlib.resources import files
from itertools import pairwise

import numpy as np
import pytest
from every_case import every_case
from report_pages import Page, Rows, people

import subsetprivacy as sp
from subsetprivacy.report import report_html

EVIL = "<script>alert(1)</script>"
SHEETS = {"report": "page.css", "presenting": "findings.css"}
CSS = "\n".join(
    files(f"subsetprivacy.{package}").joinpath(name).read_text(encoding="utf-8") for package, name in SHEETS.items()
)


@pytest.fixture(scope="module")
def evil():
    design = sp.uniform([EVIL, "a & b", '" onload="x', "plain"])
    other = sp.uniform(["r", "s", "t", "</td><img src=x>"])
    release = Rows(
        {
            f"<b>{EVIL}": sp.privatize(people(design.categories.labels, [0.3, 0.2, 0.1, 0.4], 500, 1), design, seed=1),
            'q"uote': sp.privatize(people(other.categories.labels, [0.1, 0.2, 0.3, 0.4], 500, 2), other, seed=2),
        },
        f"{EVIL.replace('/', '')}.csv",
    )
    return Page(report_html(release, seed=1, permutations=19, title=f"{EVIL} & co"))


@pytest.fixture(params=["census_page", "evil"])
def page(request):
    return request.getfixturevalue(request.param)


def test_every_element_is_closed_and_every_id_is_its_own(page):
    assert page.open == []
    ids = [attributes["id"] for _, attributes, _ in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids)) > 5
    assert page.source.startswith("<!DOCTYPE html>\n<html lang=")


def test_links_lead_to_places_on_the_page(page):
    ids = {attributes.get("id") for _, attributes, _ in page.elements}
    links = [attributes["href"] for attributes in page.all("a")]
    assert links
    assert all(link.startswith("#") and link[1:] in ids for link in links)


def test_nothing_is_fetched_and_nothing_runs(page):
    tags = {tag for tag, _, _ in page.elements}
    assert not tags & {"script", "link", "img", "iframe", "object", "embed", "form", "base", "b"}
    for tag, attributes, _ in page.elements:
        assert "src" not in attributes, tag
        assert not any(name.startswith("on") for name in attributes), tag
    assert not re.search(r"url\(|@import|https?:", CSS)
    policy = [meta["content"] for meta in page.all("meta") if "http-equiv" in meta]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'"]


def test_labels_names_and_titles_are_text(evil):
    assert EVIL not in evil.source
    assert f"{EVIL} & co" in evil.text
    _, rows = evil.table(f"Estimated shares of <b>{EVIL}")
    assert list(rows) == [EVIL, "a & b", '" onload="x', "plain"]
    assert any(EVIL in attributes.get("aria-label", "") for attributes in evil.all("div"))


def test_headings_go_down_one_step_at_a_time(page):
    steps = [int(tag[1]) for tag, _, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert steps.count(1) == 1
    assert steps[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(steps))


def test_tables_have_captions_and_headers_and_scroll_in_their_box(page):
    assert len(page.all("table")) == len(page.all("caption")) == len(page.tables)
    assert all(attributes.get("scope") in {"row", "col"} for attributes in page.all("th"))
    boxes = [attributes for attributes in page.all("div") if attributes.get("class", "").startswith("scroll")]
    assert all(box["role"] == "region" and box["tabindex"] == "0" and box["aria-label"] for box in boxes)
    assert ".scroll { overflow-x: auto" in CSS


def test_pictures_say_their_numbers(census_page, census):
    said = census_page.between("Estimated shares of race: ", "Amer-Indian-Eskimo 0.76% Asian")
    fit = sp.estimate(census.count("race"))
    for label, w in zip(fit.categories, fit.w):
        assert f"{label} {100 * w:.2f}%" in said
    pictures = census_page.all("svg")
    assert len(pictures) == 3  # two columns, and the draws of one
    assert all(picture["role"] == "img" for picture in pictures)
    inside = [around[-1] for tag, _, around in census_page.elements if tag in {"title", "desc"}]
    assert inside.count("svg") == 2 * len(pictures)  # each has a name and a meaning for those who do not see it


def test_joined_labels_read_as_words(census_page):
    _, rows = census_page.table("Estimated shares of sex_income")
    assert list(rows) == ["Female & low", "Female & high", "Male & low", "Male & high"]
    assert "('" not in census_page.text.replace("read_release('", "")


def test_no_advice_to_programmers_reaches_readers(census_page):
    assert "On the boundary" not in census_page.text
    assert "Estimated as 0: Amer-Indian-Eskimo & Female & low" in census_page.text
    hints = re.findall("Hint: [^.]*[.]", census_page.text)
    # About questions, which people who made the survey read too; none names a function or an argument.
    assert set(hints) <= {
        "Hint: use yes/no questions, or partitions that record the question.",
        "Hint: ask more different questions, of different sizes.",
    }


def test_the_page_comes_in_its_order(census_page):
    places = [attributes["id"] for attributes in census_page.all("section")]
    wanted = ["column-1", "column-2", "pairs", "pair-1", "pair-2", "together", "reading", "limits", "designs", "again"]
    assert [place for place in places if not place.startswith("design-")] == wanted


def test_same_seed_same_bytes(census, census_page):
    assert report_html(census, seed=1, permutations=199) == census_page.source
    assert report_html(census, seed=2, permutations=199) != census_page.source


def test_a_date_stands_there_only_if_asked_for(census):
    plain = report_html(census, tests=False)
    assert "Date:" not in plain
    assert not re.search(r"\b20\d\d-\d\d", plain)
    assert "Date: 2031-05-07." in report_html(census, tests=False, date="2031-05-07")


def test_without_matplotlib_the_page_is_the_same(census, census_page, monkeypatch):
    for module in [module for module in sys.modules if module.partition(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, module, None)
    assert report_html(census, seed=1, permutations=199) == census_page.source


def _luminance(colour):
    light = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    linear = np.where(light <= 0.04045, light / 12.92, ((light + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def _contrast(one, two):
    low, high = sorted([_luminance(one), _luminance(two)])
    return (high + 0.05) / (low + 0.05)


@every_case("scheme", [0, 1, 2], ids=["light", "dark", "paper"])
def test_text_can_be_read(scheme):
    block = re.findall(r":root \{(.*?)\}", CSS, re.DOTALL)[scheme]
    colours = dict(re.findall(r"--([\w-]+): (#\w{6})", block))
    assert _contrast(colours["ink"], colours["paper"]) >= 7
    for ink, paper in (
        ("dim", "paper"),
        ("dim", "soft"),
        ("accent", "paper"),
        ("accent", "soft"),
        ("alarm", "alarm-soft"),
        ("warn", "warn-soft"),
        ("good", "good-soft"),
    ):
        assert _contrast(colours[ink], colours[paper]) >= 4.5, (ink, paper)
    assert _contrast(colours["point"], colours["paper"]) >= 3
    paper = np.array([int(colours["paper"][k : k + 2], 16) for k in (1, 3, 5)])
    for side in ("more", "fewer"):
        shade = np.array([int(part) for part in re.search(rf"--{side}: (\d+) (\d+) (\d+)", block).groups()])
        strongest = max(float(part) for part in re.findall(rf"var\(--{side}\) / ([.\d]+)", CSS))
        mixed = "#" + "".join(f"{round(x):02x}" for x in strongest * shade + (1 - strongest) * paper)
        assert _contrast(colours["ink"], mixed) >= 4.5
