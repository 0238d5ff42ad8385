"""The respondent's page for everybody: axe in eight variants, small screens, focus, keys without a mouse."""

import pytest
from browser import AXE, violations
from fake_collector import ALL_KINDS, INCOME, make_survey
from visitor import TRUTH, tour

import subsetprivacy as sp
from subsetprivacy.collect.survey.definition import VariableDefinition

PHONE = {"viewport": {"width": 320, "height": 568}, "has_touch": True, "is_mobile": True}
DESKTOP = {"viewport": {"width": 1280, "height": 800}}
TABLET = {"viewport": {"width": 820, "height": 1180}, "has_touch": True}
VARIANTS = {
    "desktop": ("en", DESKTOP),
    "phone": ("en", PHONE),
    "tablet": ("en", TABLET),
    "forced colours": ("en", {"forced_colors": "active"}),
    "reduced motion": ("en", {"reduced_motion": "reduce"}),
    "dark": ("en", {"color_scheme": "dark"}),
    "right to left": ("ar", PHONE),
    "german": ("de", DESKTOP),
}
# How the screens of one visit are looked at in turn.
LOOKS = (
    {"color_scheme": "light", "forced_colors": "none"},
    {"color_scheme": "dark", "forced_colors": "none", "reduced_motion": "reduce"},
    {"color_scheme": "light", "forced_colors": "active"},
)
NO_NETWORK = ("ERR_FAILED",)
NO_OVERFLOW = "document.documentElement.scrollWidth <= innerWidth"


@pytest.fixture
def site(site, need):
    need(*AXE)
    return site


def check_every_screen(site, language, settings, before=lambda page, number: None):
    manifest = site.collector.add(make_survey("code", language=language, links=(("income", "health"),)))
    seen = []
    with site.visitor(language, tolerated=NO_NETWORK, by_mouse=True, **settings) as visitor:

        def look(name):
            before(visitor.page, len(seen))
            seen.append(name)
            direction = visitor.page.evaluate("document.documentElement.dir + document.documentElement.lang")
            assert direction == {"en": "ltren", "ar": "rtlar", "de": "ltrde"}[language]
            # At its end, where the buttons that stay in sight cover nothing. What they cover at its beginning depends
            # on the question that was drawn.
            visitor.page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
            assert violations(visitor.page) == [], name
            assert visitor.page.evaluate(NO_OVERFLOW), name
            check_focus(visitor.page, name)

        tour(site, visitor, manifest, look)
        assert visitor.page.get_attribute("#progress", "role") == "status"
    assert len(seen) == 16


def check_focus(page, name):
    """A screen begins at its topic or its heading, and every button of it can be reached by keys."""
    first = "main .start" if page.locator("main .start").count() else "h1"
    assert page.evaluate("first => document.activeElement.matches(`${first}, summary`)", first), name
    assert page.locator("h1").count() == 1, name
    status = page.inner_text("#progress")
    assert bool(status) is (name in ("question", "drawn", "before")), name
    if status:
        assert page.get_attribute("progress", "aria-label") == status, name
    wanted = page.locator("main :is(button, summary):visible").count()
    page.evaluate("first => document.querySelector(first).focus()", first)
    reached = set()
    for _ in range(wanted):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.outerHTML"))
    assert len(reached) == wanted, name


def test_axe_finds_nothing_on_any_screen_and_keys_reach_every_button(site):
    """Screens in turn on a phone and a desktop, light, dark, in forced colours; each variant alone is a slow test."""

    def change(page, number):
        page.emulate_media(**LOOKS[number % 3])
        page.set_viewport_size((PHONE if number % 2 else DESKTOP)["viewport"])
        page.evaluate("for (const one of document.getAnimations()) one.finish()")  # of colours that change

    check_every_screen(site, "en", DESKTOP | {"fresh": True}, change)


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_axe_finds_nothing_in_each_variant_by_itself(site, variant):
    check_every_screen(site, *VARIANTS[variant])


@pytest.mark.slow
def test_axe_finds_nothing_after_skipping_all_and_after_going_back(site):
    manifest = site.collector.add(make_survey("open", language="ar"))
    with site.visitor("ar", **PHONE, color_scheme="dark") as visitor:
        visitor.open(site.link(manifest))
        visitor.start()
        visitor.answer_all(manifest, dict.fromkeys(TRUTH))
        assert violations(visitor.page) == []
        visitor.press("ask.back")
        assert visitor.says("ask.before")
        assert violations(visitor.page) == []
        visitor.page.evaluate("document.querySelector('main').append(document.createElement('button'))")
        assert len(violations(visitor.page)) == 1  # a button without a name is noticed: axe is at work


def _inside(visitor, locator):
    box = locator.bounding_box()
    height = visitor.page.viewport_size["height"]
    return box["y"] >= 0 and box["y"] + box["height"] <= height


def check_size(visitor):
    """Yes and No are large, and look the same."""
    yes, no = (visitor.page.locator(".answer").nth(k).bounding_box() for k in (0, 1))
    assert yes["height"] == no["height"] >= 48
    assert yes["width"] == pytest.approx(no["width"], abs=0.1)
    assert yes["width"] >= 120
    styles = "node => { const s = getComputedStyle(node); return [s.color, s.backgroundColor, s.borderColor, s.font]; }"
    assert len({tuple(visitor.page.locator(".answer").nth(k).evaluate(styles)) for k in (0, 1)}) == 1


def test_yes_and_no_are_large_and_in_reach_on_a_small_phone(site):
    labels = tuple(f"an answer with some words {k}" for k in range(12))
    wide = VariableDefinition("wide", "Wide", "A question that takes more than one line?", labels, sp.uniform(labels))
    manifest = site.collector.add(make_survey(variables=(wide, *ALL_KINDS)))
    with site.visitor(**PHONE, by_mouse=True) as visitor:
        visitor.open(site.link(manifest))
        assert _inside(visitor, visitor.page.locator(".main"))
        visitor.press("intro.start")
        visitor.wait("question")
        for button in visitor.page.locator("button:visible").all():  # of the practice
            assert _inside(visitor, button)
        visitor.press("practice.leave")
        visitor.page.wait_for_selector("#progress:not(:empty)")
        check_size(visitor)
        for variable in manifest.variables:
            shown = visitor.page.locator(".answer, .minor button:visible")
            for button in shown.all():
                assert _inside(visitor, button)
            visitor.answer(variable, 1)


def test_enlarged_four_times_the_question_is_not_hidden_by_its_buttons(site):
    manifest = site.collector.add(make_survey(variables=(INCOME,), practice=False))
    with site.visitor(viewport={"width": 320, "height": 256}) as visitor:
        visitor.open(site.link(manifest))
        visitor.start(practised=False)
        assert visitor.page.evaluate("getComputedStyle(document.querySelector('.actions')).position") == "static"
        assert visitor.page.evaluate(NO_OVERFLOW)
        visitor.page.keyboard.press("Tab")
        assert _inside(visitor, visitor.page.locator(":focus"))


def test_without_scripts_the_page_says_what_it_needs(site):
    manifest = site.collector.add(make_survey())
    with site.visitor(java_script_enabled=False) as visitor:
        visitor.page.goto(site.link(manifest))
        text = visitor.page.inner_text("main")
    assert text.count("JavaScript") == 6  # twice in each of three languages
