"""Whole visits to the respondent's page in a real browser: each kind of question, both modes, keys, content."""

import json

import pytest
from fake_collector import ALL_KINDS, DRUGS, HEALTH, INCOME, SPORT, make_survey
from visitor import TRUTH

import subsetprivacy as sp
from subsetprivacy.collect.survey.definition import VariableDefinition
from subsetprivacy.collect.survey.padding import length_of
from subsetprivacy.collect.survey.submission import read_submission
from subsetprivacy.collect.survey.tallies import row_codes


def kept_codes(site):
    """Return the codes that were counted of the only submission, one a variable."""
    (accepted,) = site.collector.counted
    return [code for row in accepted.rows for code in row_codes(row)]


@pytest.mark.parametrize(("mode", "thanks"), [("open", ""), ("code", "Thank you. The results come in May.")])
def test_a_visit_from_the_link_to_the_end(site, mode, thanks):
    manifest = site.collector.add(make_survey(mode, thanks=thanks))
    truth = TRUTH | {"sport": None}
    with site.visitor(fresh=True, by_mouse=True) as visitor:
        visitor.open(site.link(manifest, site.collector.code() if mode == "code" else None))
        assert visitor.heading == "Work and health"
        visitor.start()
        visitor.answer_all(manifest, truth)
        shown = visitor.literal()
        assert not visitor.watched.posts("/submit")
        visitor.send()
        assert visitor.watched.posts("/submit") == [shown.encode()]  # in one piece, and byte by byte what was shown
        assert visitor.says("done.counted")
        assert thanks in visitor.page.inner_text("main")
        assert visitor.page.inner_text("main").count("Thank you") == 1
        assert visitor.context.cookies() == []
    sent = json.loads(shown)
    assert sent["fingerprint"] == manifest.fingerprint
    assert sent.keys() == {"fingerprint", "ticket", "answers"} | ({"opening"} if mode == "code" else set())
    assert sent["answers"].keys() == truth.keys()
    assert sent["answers"]["sport"]["answer"] is None
    for variable, code in zip(manifest.variables, kept_codes(site), strict=True):
        if variable["kind"] != "bit":  # what is kept holds the true answer
            assert code >> TRUTH[variable["id"]] & 1
    *_, headers = [headers for method, _, headers, _ in site.app.state.seen if method == "POST"]
    assert headers["origin"] == site.origin
    assert "cookie" not in headers
    assert "referer" not in headers
    assert headers["user-agent"]  # the browser's own line, which the page admits


@pytest.mark.parametrize("mode", ["open", pytest.param("code", marks=pytest.mark.slow)])
def test_what_is_sent_is_as_long_whatever_is_asked_and_answered(site, mode):
    labels = tuple(f"option {k}" for k in range(12))
    wide = VariableDefinition("wide", "Wide", "Which?", labels, sp.uniform(labels))
    manifest = site.collector.add(make_survey(mode, variables=(*ALL_KINDS, wide), practice=False))
    truths = (TRUTH | {"wide": 11}, dict.fromkeys((*TRUTH, "wide")))
    with site.visitor() as visitor:
        for number, truth in enumerate(truths):
            visitor.page.evaluate("location.protocol.startsWith('http') && localStorage.clear()")  # a new draw
            visitor.open(site.link(manifest, site.collector.code(number) if mode == "code" else None))
            visitor.start(practised=False)
            visitor.answer_all(manifest, truth)
            assert visitor.says("promise.length")
            skipped = list(truth.values()).count(None)
            assert visitor.page.inner_text("main").count("No answer.") == skipped
            assert visitor.says("limit.skip") is bool(skipped)
            visitor.send()
        bodies = visitor.watched.posts("/submit")
    assert len(bodies) == 2
    assert {len(body) for body in bodies} == {length_of(manifest)}
    assert len({len(body.rstrip()) for body in bodies}) > 1
    _, skipped = site.collector.counted  # of whom everything is kept, which is no answer
    codes = [code for row in skipped.rows for code in row_codes(row)]
    assert codes == [0b111111, 0b1111111, 0b1111, 0b111, 0b111111111111]
    assert [framing.answer for framing in skipped.framings] == [-1] * 5
    assert skipped.framings[0].partition  # what was skipped is counted with the lists asked


def test_all_possible_answers_can_be_looked_at_beside_those_asked_about(site):
    manifest = site.collector.add(make_survey(variables=(INCOME, SPORT), practice=False))
    with site.visitor() as visitor:
        visitor.open(site.link(manifest))
        visitor.start(practised=False)
        asked = visitor.shown()
        page = visitor.page
        assert not visitor.says("all.note")  # folded up: the question is about the list above
        page.get_by_text(visitor.words["all.heading"]).click()
        assert visitor.says("all.note")
        lines = [line.strip() for line in page.locator(".all li").all_text_contents()]
        marked = [line.strip() for line in page.locator(".all .asked").all_text_contents()]
        told = visitor.words["all.asked"]
        assert marked == [f"{label} {told}" for label in asked]  # in words too, for those who hear it
        assert [line.removesuffix(f" {told}") for line in lines] == list(INCOME.options)
        assert 2 <= len(asked) <= 4
        page.keyboard.press("y")
        cards = [line.strip(", ") for text in visitor.shown() for line in text.split("\n") if line.strip(", ")]
        assert sorted(cards) == sorted(SPORT.options)  # groups show all of them anyway
        assert page.locator(".all").count() == 0


def test_how_it_works_tells_of_the_kinds_that_the_survey_has(site):
    with site.visitor() as visitor:
        for variables in ((INCOME,), (SPORT, DRUGS, HEALTH)):
            manifest = site.collector.add(make_survey(variables=variables))
            visitor.open(site.link(manifest))
            kinds = {held["kind"] for held in manifest.variables}
            for kind in ("yes_no", "groups", "bit", "local"):
                assert visitor.says(f"how.{kind}") is (kind in kinds)
            assert visitor.says("how.kinds") is (len(kinds) > 1)
            assert visitor.page.locator("ol").count() == 0  # they are no steps one after the other
            assert visitor.page.locator(".steps .steps > li").count() == (len(kinds) if len(kinds) > 1 else 0)


def test_every_answer_leaves_two_options_and_the_value_is_not_sent(site):
    manifest = site.collector.add(make_survey(practice=False))
    with site.visitor() as visitor:
        visitor.open(site.link(manifest))
        visitor.start(practised=False)
        visitor.answer_all(manifest, dict.fromkeys(TRUTH))
        for k, variable in enumerate(ALL_KINDS):
            sent = {}
            for value in range(len(variable.options)):
                visitor.page.locator(".change").nth(k).evaluate("button => button.click()")
                visitor.wait("question")
                visitor.answer(manifest.variables[k], value)
                visitor.wait("review")
                sent[value] = visitor.literal()
            _check_two_are_left(k, variable, manifest, sent)


def _check_two_are_left(k, variable, manifest, sent):
    for value, body in sent.items():
        accepted = read_submission(body.encode(), manifest)
        (code,) = row_codes(accepted.rows[k])
        alike = [other for other in sent if _could_send(variable, manifest, code, other)]
        assert value in alike
        assert len(alike) >= 2


def _could_send(variable, manifest, code, value):
    """Tell whether somebody with this value could have the same kept of them."""
    if variable is DRUGS:  # Warner: either number of the device is possible
        return code in (0b1001, 0b0110)
    return bool(code >> value & 1) and 0 < code < (1 << len(variable.options)) - 1


def test_the_mark_and_the_secret_number_stay_on_the_device(site):
    manifest = site.collector.add(make_survey(variables=(DRUGS, HEALTH)))
    with site.visitor() as visitor:
        visitor.open(site.link(manifest))
        visitor.start()
        assert visitor.says("promise.number")
        secret = visitor.page.inner_text(".secret .digit")
        visitor.answer(manifest.variables[0], 1)
        assert visitor.says("promise.mark")
        visitor.page.get_by_role("button", name="poor").click()
        visitor.wait("drawn")
        assert visitor.says("promise.mark")
        assert "poor" in visitor.shown()
        assert len(visitor.shown()) == 2
        drawn = sum(1 << HEALTH.options.index(label) for label in visitor.shown())
        assert "poor" not in visitor.remembered()
        visitor.press("ask.go")
        visitor.wait("review")
        body = visitor.literal()
        assert json.loads(body)["answers"] == {"drugs": {"answer": int(secret != "1")}, "health": {"kept": drawn}}
        visitor.send()
        assert visitor.watched.posts("/submit") == [body.encode()]


@pytest.mark.slow
def test_keys_alone_carry_a_visit(site):
    manifest = site.collector.add(make_survey())
    with site.visitor() as visitor:
        visitor.open(site.link(manifest))
        keys = visitor.page.keyboard
        keys.press("Tab")  # the details of what cannot be promised
        keys.press("Tab")
        keys.press("Enter")  # Start
        visitor.wait("question")
        keys.press("y")  # practice
        visitor.wait("practised")
        keys.press("Tab")
        keys.press("Space")  # try again, or the next practice
        visitor.wait("question")
        visitor.page.get_by_role("button", name="Skip the practice").focus()
        keys.press("Enter")
        visitor.page.wait_for_selector("#progress:not(:empty)")
        assert visitor.page.evaluate("document.activeElement.matches('.topic .start')")
        keys.press("n")
        keys.press("2")  # the second group
        keys.press("b")  # back to the groups
        assert visitor.asked == SPORT.question
        keys.press("r")  # skip them
        keys.press("s")  # the same number
        keys.press("3")  # the third mark
        visitor.wait("drawn")
        keys.press("Backspace")
        keys.press("Digit1")
        visitor.wait("drawn")
        keys.press("Tab")
        keys.press("Enter")
        visitor.wait("review")
        answers = json.loads(visitor.literal())["answers"]
        assert [answers["income"]["answer"], answers["sport"]["answer"], answers["drugs"]["answer"]] == [1, None, 0]
        assert answers["health"]["kept"] & 1
        visitor.page.get_by_role("button", name="Send").focus()
        keys.press("Enter")
        visitor.wait("done")
    assert len(site.collector.counted) == 1


def test_keys_clicks_and_the_way_back(site):
    manifest = site.collector.add(make_survey(variables=(INCOME, SPORT), practice=False))
    with site.visitor() as visitor:
        visitor.open(site.link(manifest))
        visitor.start(practised=False)
        asked = visitor.shown()
        # Keys do nothing with a modifier held down, or turned off.
        visitor.page.keyboard.press("Alt+y")
        visitor.page.keyboard.down("Control")
        visitor.page.keyboard.press("n")
        visitor.page.keyboard.up("Control")
        assert visitor.asked == INCOME.question
        visitor.press("keys.off")
        visitor.page.keyboard.press("y")
        assert visitor.asked == INCOME.question
        visitor.press("keys.on")
        visitor.page.keyboard.down("y")
        visitor.page.keyboard.down("y")  # a repeat: the second question is not answered with it
        visitor.page.keyboard.up("y")
        assert visitor.asked == SPORT.question
        # Back shows what was chosen and lets it change.
        visitor.press("ask.back")
        assert visitor.shown() == asked
        assert visitor.page.locator("button", has_text="your earlier choice").inner_text().startswith("Yes")
        visitor.page.get_by_role("button", name="No none").dblclick()  # of which the second click answers nothing
        assert visitor.asked == SPORT.question
        visitor.page.keyboard.press("1")
        visitor.wait("review")
        assert json.loads(visitor.literal())["answers"]["income"]["answer"] == 1
        visitor.page.get_by_role("button", name="Change the answer: Monthly income").click()
        visitor.page.keyboard.press("r")  # goes straight back to the check
        visitor.wait("review")
        assert json.loads(visitor.literal())["answers"]["income"]["answer"] is None
        visitor.page.go_back()  # the browser's own button does the same as "Back"
        visitor.page.wait_for_selector("main[data-screen=question]")
        assert visitor.asked == SPORT.question


def test_the_practice_is_judged_repeated_and_stored_nowhere(site):
    manifest = site.collector.add(make_survey(variables=(INCOME, SPORT, DRUGS, HEALTH)))
    with site.visitor() as visitor:
        visitor.open(site.link(manifest))
        before = visitor.remembered()
        visitor.press("intro.start")
        for number, kind in enumerate(("yes_no", "groups", "bit", "local"), 1):  # each kind of the survey, once
            visitor.wait("question")
            assert visitor.says("practice.badge_of", k=number, n=4)
            for again in (True, False):
                assert visitor.says("promise.practice")
                visitor.answer_practice(kind)
                assert visitor.heading == visitor.words["practice.right"]
                if again:
                    visitor.press("practice.again")
                    visitor.wait("question")
            visitor.press("practice.next" if number < 4 else "practice.go")
        assert visitor.asked == INCOME.question
        assert visitor.remembered() == before
        assert [method for method, _, _ in visitor.watched.requests if method != "GET"] == []


def test_a_preview_stores_and_sends_nothing(site):
    manifest = site.collector.add(make_survey("code"))
    with site.visitor() as visitor:
        visitor.open(f"{site.origin}/studio/drafts/{manifest.id}/preview")
        assert visitor.says("promise.preview")
        visitor.start()
        visitor.answer_all(manifest, TRUTH)
        assert json.loads(visitor.literal()).keys() == {"fingerprint", "ticket", "opening", "answers"}
        visitor.send()
        assert visitor.says("done.preview")
        assert visitor.remembered() == "{}{}"
        assert all(method == "GET" for method, _, _ in visitor.watched.requests)
        assert not [url for _, url, _ in visitor.watched.requests if "/s/" in url]
