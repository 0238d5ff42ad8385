"""What a hurried reader takes the page to ask: buttons that answer another question than the one that is read."""

import json
import re
from itertools import pairwise

import pytest
from fake_collector import ALL_KINDS, DRUGS, HEALTH, INCOME, make_survey
from visitor import WORDS

PHONE = {"viewport": {"width": 320, "height": 568}, "has_touch": True, "is_mobile": True}
YES_OR_NO = tuple(words[key] for words in WORDS.values() for key in ("ask.yes", "ask.no"))


def button_names(visitor):
    """Return the names of the buttons in view, as a screen reader says them."""
    lines = visitor.page.locator("main").aria_snapshot().split("\n")
    return [json.loads(line.split("button ", 1)[1].rstrip(":")) for line in lines if "- button " in line]


def strike(visitor, key):
    """Press a key of any alphabet."""
    struck = "key => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, code, bubbles: true }))"
    visitor.page.evaluate(struck.replace("code", "code: /\\d/.test(key) ? `Digit${key}` : ''"), key)


OTHERS_SLOW = [
    pytest.param(language, marks=[] if language == "en" else pytest.mark.slow)  # `test_respond_languages` compares them
    for language in WORDS
]


@pytest.mark.parametrize("language", OTHERS_SLOW)
def test_where_two_numbers_are_compared_nothing_answers_yes_or_no(site, language):
    manifest = site.collector.add(make_survey(variables=(DRUGS,), language=language))
    with site.visitor(language) as visitor:
        words = visitor.words
        visitor.open(site.link(manifest))
        visitor.press("intro.start")
        for leave in (True, False):  # the practice, then the question
            visitor.wait("question")
            pair = visitor.page.get_by_role("group", name=words["ask.bit"], exact=True).get_by_role("button")
            assert [pair.nth(k).locator(".label").inner_text() for k in (0, 1)] == [
                words["ask.same"],
                words["ask.different"],
            ]
            names = button_names(visitor)
            assert names[:2] == [words["ask.same"], words["ask.different"]]
            assert not [name for name in names if name.split()[0] in YES_OR_NO]
            # Numbers are on the screen to be compared: whoever types one of them, or yes or no, has answered nothing.
            for key in "ynjنل0129":
                strike(visitor, key)
                assert visitor.screen == "question"
            if leave:
                visitor.press("practice.leave")
                visitor.page.wait_for_selector("#progress:not(:empty)")
        for key, answer in (("key.same", 0), ("key.different", 1)):
            shown = visitor.page.locator("kbd").all_text_contents()
            assert words[key] in shown
            strike(visitor, words[key].lower())
            visitor.wait("review")
            assert json.loads(visitor.literal())["answers"] == {"drugs": {"answer": answer}}
            told = words["ask.same" if answer == 0 else "ask.different"]
            assert visitor.page.inner_text(".kept .set").startswith(told)
            assert visitor.says("part.answer_bit") is False  # folded up
            visitor.page.click("summary")
            assert visitor.says("part.answer_bit")
            visitor.press("ask.back")


def test_the_heading_is_what_the_buttons_answer_and_the_topic_is_smaller(site):
    manifest = site.collector.add(make_survey(practice=False))
    headings = dict(zip(ALL_KINDS, ("ask.yes_no", "ask.groups", "ask.bit", None), strict=True))
    with site.visitor() as visitor:
        visitor.open(site.link(manifest))
        visitor.start(practised=False)
        for variable, key in headings.items():
            page = visitor.page
            assert visitor.asked == variable.question
            assert visitor.heading == (visitor.words[key] if key else variable.question)  # a mark answers it directly
            assert page.get_by_role("group", name=visitor.heading, exact=True).get_by_role("button").count() >= 2
            if key:
                size = "node => parseFloat(getComputedStyle(node).fontSize)"
                assert page.locator(".topic .text").evaluate(size) < page.locator("h1").evaluate(size)
                order = page.locator(".topic, .numbers, h1, .options, .answer, .card").evaluate_all(
                    "nodes => nodes.map((node) => node.classList[0] ?? 'h1')"
                )
                first = ["topic", "numbers", "h1"] if variable is DRUGS else ["topic", "h1"]
                assert order[: len(first)] == first
            if variable is INCOME:
                assert button_names(visitor)[:2] == ["Yes one of these", "No none of these"]
            page.keyboard.press("s" if variable is DRUGS else "1")


@pytest.mark.parametrize(
    "language",
    [pytest.param(language, marks=[] if language == "de" else pytest.mark.slow) for language in WORDS],  # long words
)
def test_on_a_small_phone_topic_numbers_question_and_buttons_are_all_in_view(site, language):
    manifest = site.collector.add(make_survey(variables=(DRUGS,), language=language, practice=False))
    with site.visitor(language, **PHONE) as visitor:
        visitor.open(site.link(manifest))
        visitor.start(practised=False)
        boxes = [visitor.page.locator(part).bounding_box() for part in (".topic", ".numbers", ".actions h1", ".pair")]
        for above, below in pairwise(boxes):
            assert above["y"] + above["height"] <= below["y"]
        assert boxes[-1]["y"] + boxes[-1]["height"] <= PHONE["viewport"]["height"]
        lines = visitor.page.locator(".answer > .label").evaluate_all(
            "all => all.map((one) => one.getClientRects().length)"
        )
        assert lines == [1, 1]  # no word is broken


REASONS = {
    "yes_no": ("practice.yes", "practice.no"),
    "groups": ("practice.group",),
    "bit": ("practice.same", "practice.different"),
    "local": ("practice.mark",),
}


def test_after_a_wrong_practice_answer_enter_tries_again(site):
    manifest = site.collector.add(make_survey())
    with site.visitor() as visitor:
        page, words = visitor.page, visitor.words
        visitor.open(site.link(manifest))
        visitor.press("intro.start")
        for number, (kind, reasons) in enumerate(REASONS.items(), 1):
            visitor.wait("question")
            page.keyboard.press("Enter")  # answers nothing
            assert visitor.screen == "question"
            visitor.answer_practice(kind, truly=False)
            assert visitor.heading == words["practice.wrong"]
            said = page.inner_text(".lead")
            assert [key for key in reasons if matches(words[key], said)]
            assert button_names(visitor) == [words["practice.retry"], words["practice.anyway"]]
            assert page.locator(".main").inner_text().startswith(words["practice.retry"])
            page.keyboard.press("Enter")
            visitor.wait("question")
            assert visitor.says("practice.badge_of", k=number, n=4)  # the same kind, with another draw
            visitor.answer_practice(kind, truly=False)
            visitor.press("practice.anyway")
        visitor.page.wait_for_selector("#progress:not(:empty)")


def matches(sentence, said):
    return re.fullmatch(re.sub(r"\\\{\w+\\\}", ".+", re.escape(sentence)), said)


def test_back_leads_to_the_practice_before(site):
    manifest = site.collector.add(make_survey(variables=(DRUGS, HEALTH)))
    with site.visitor() as visitor:
        visitor.open(site.link(manifest))
        visitor.press("intro.start")
        for back in (lambda: visitor.press("ask.back"), visitor.page.go_back):  # the browser's own does the same
            visitor.answer_practice("bit")
            visitor.page.keyboard.press("Enter")
            visitor.page.get_by_text(visitor.words["practice.badge_of"].format(k=2, n=2)).wait_for()
            back()
            visitor.page.get_by_text(visitor.words["practice.badge_of"].format(k=1, n=2)).wait_for()
        visitor.press("ask.back")
        visitor.wait("intro")
