"""The respondent's page without a network, with a bad one, and with every reply that a server may give."""

import json
import time
from urllib.parse import urlsplit

import pytest
from browser import watched
from fake_collector import INCOME, FakeReply, make_survey
from sites import Client
from visitor import TRUTH, Visitor

from subsetprivacy.collect.service.respondents import Respondent

# A tab may have a process of its own, which hears a moment later of what another has stored.
HEARD_OF = 'word => Object.values(localStorage).join().includes(`"${word}"`)'
NO_NETWORK = ("ERR_INTERNET_DISCONNECTED", "ERR_FAILED", "ERR_CONNECTION", "ERR_NETWORK")


def answered(site, visitor, mode="open"):
    """Carry a visit up to the check before sending."""
    manifest = site.collector.add(make_survey(mode, variables=(INCOME,), practice=False))
    visitor.open(site.link(manifest, site.collector.code() if mode == "code" else None))
    visitor.start(practised=False)
    visitor.answer_all(manifest, TRUTH)
    return manifest


@pytest.mark.parametrize("mode", [pytest.param("open", marks=pytest.mark.slow), "code"])
def test_offline_after_loading_it_is_sent_when_the_network_is_back(site, mode):
    manifest = site.collector.add(make_survey(mode))
    with site.visitor(tolerated=NO_NETWORK) as visitor:
        visitor.open(site.link(manifest, site.collector.code() if mode == "code" else None))
        if mode == "code":
            visitor.press("intro.start")  # the lock is the last thing that needs the server
            visitor.wait("question")
            visitor.context.set_offline(True)
            visitor.press("practice.leave")
        else:
            visitor.context.set_offline(True)
            visitor.start()
        visitor.answer_all(manifest, TRUTH)
        visitor.send("unsent")
        assert visitor.says("promise.unsent")
        assert site.collector.counted == []
        visitor.context.set_offline(False)  # the page hears of it
        visitor.wait("done")
    assert len(site.collector.counted) == 1


def test_the_same_bytes_are_tried_again_and_count_once(site):
    lost = []

    def lose(route):
        """Let the server have it, and lose its reply; then fail before it; then let it pass."""
        lost.append(route.request.post_data_buffer)
        if len(lost) == 1:
            route.fetch()
            route.abort()
        elif len(lost) == 2:
            route.abort()
        else:
            route.continue_()

    with site.visitor(tolerated=(*NO_NETWORK, "status of 409"), clock=True) as visitor:
        answered(site, visitor)
        literal = visitor.literal().encode()
        visitor.page.route("**/submit", lose)
        visitor.stop_time()  # it does not try again by itself: the button might be gone before it is pressed
        visitor.send("unsent")
        visitor.press("unsent.retry")
        visitor.insist()
        visitor.wait("done")
        assert visitor.says("done.already_counted")
    assert set(lost) == {literal}
    assert len(lost) >= 3
    assert len(site.collector.counted) == 1


def test_closing_the_tab_loses_nothing(site):
    with site.visitor(tolerated=NO_NETWORK) as visitor:
        manifest = answered(site, visitor)
        literal = visitor.literal()
        visitor.page.route("**/submit", lambda route: route.abort())
        visitor.send("unsent")
        assert json.loads(json.loads(visitor.remembered().split("}{}")[0] + "}")["subsetprivacy work"])["people"][
            "open"
        ]["visits"] == {manifest.id: {"unsent": literal}}
        visitor.page.close()
        visitor.page = visitor.watched.page()
        visitor.open(site.link(manifest), "done")
        assert visitor.says("done.counted")
        assert visitor.watched.posts("/submit")[-1] == literal.encode()
        assert literal[:40] not in visitor.remembered()
    assert len(site.collector.counted) == 1


def test_replies_that_settle_nothing_are_tried_again_first_of_all_by_itself(site):
    odd = [(503, {"status": "busy"}), (500, {}), (200, {"status": "counted"}), (429, {}), (404, {}), (201, {})]
    site.collector.twist["submit"] = lambda honest: FakeReply(*odd.pop()) if odd else honest
    with site.visitor(tolerated=("status of",), clock=True) as visitor:
        answered(site, visitor)
        visitor.stop_time()
        visitor.send("unsent")
        with visitor.page.expect_response("**/submit"):
            visitor.page.clock.run_for(1000)  # nobody presses anything
        visitor.insist()
        visitor.wait("done")
        assert odd == []
        assert len(visitor.watched.posts("/submit")) == 7
    assert len(site.collector.counted) == 1


REFUSALS = [
    (409, "stale", "stale"),
    (410, "closed", "closed"),
    (404, "unknown code", "unknown_code"),
    (404, "unknown survey", "unknown_survey"),
    (422, "refused", "refused"),
    (413, "too large", "refused"),
]


def test_a_refusal_is_said_clearly_and_the_content_dropped(site):
    with site.visitor(tolerated=("status of 4",)) as visitor:
        for times, (status, said, problem) in enumerate(REFUSALS, start=1):
            reply = FakeReply(status, {"status": said})
            site.collector.twist["submit"] = lambda honest, reply=reply: reply
            answered(site, visitor)
            visitor.send("problem")
            assert visitor.heading == visitor.words[f"problem.{problem}.title"]
            assert visitor.says(f"problem.{problem}.text")
            assert "unsent" not in visitor.remembered()
            assert len(visitor.watched.posts("/submit")) == times


def post(site, manifest, act, document):
    """Send what another device sends, and return the reply."""
    return Client(urlsplit(site.origin).port).send("POST", f"/s/{manifest.id}/{act}", document).json()


def lock_elsewhere(site, manifest, code):
    """Let somebody else open a link; return the person, who can send later."""
    person = Respondent(TRUTH, code=code)
    person.take_share(manifest, post(site, manifest, "lock", person.lock(manifest)))
    return person


def send_elsewhere(site, manifest, person):
    assert post(site, manifest, "submit", person.submission(manifest)) == {"status": "counted"}


def test_a_code_that_was_used_shows_so_at_the_start(site):
    manifest = site.collector.add(make_survey("code", variables=(INCOME,), practice=False))
    code = site.collector.code()
    send_elsewhere(site, manifest, lock_elsewhere(site, manifest, code))
    with site.visitor(tolerated=("status of 409",)) as other:  # as whoever kept the list of codes could
        for _ in range(2):  # and a second time no different
            other.open(site.link(manifest, code))
            assert other.says("limit.summary")
            other.appear("problem")
            assert other.heading == other.words["problem.already_counted.title"]
            assert other.says("problem.already_counted.text")
            assert not other.says("promise.cleared")  # there were no answers here
            assert not other.says("limit.device")
        other.press("done.forget")
        other.wait("forgotten")
        assert other.remembered() == "{}{}"
    assert len(site.collector.counted) == 1


def test_two_tabs_of_one_link_are_one_person(site):
    """Both are loaded before anybody moves: what one draws then is the other's, too."""
    manifest = site.collector.add(make_survey("code", variables=(INCOME,), practice=False))
    link = site.link(manifest, site.collector.code())
    with site.visitor() as visitor:
        tab = Visitor(visitor.watched)
        tab.page = visitor.watched.page()
        for one in (visitor, tab):
            one.open(link)
        for one in (visitor, tab):
            one.page.bring_to_front()  # a page behind another is drawn once a second
            one.start(practised=False)
            one.answer_all(manifest, TRUTH)
            tab.page.wait_for_function(HEARD_OF, arg="share")
        assert visitor.literal() == tab.literal()
        for one in (visitor, tab):
            one.page.bring_to_front()
            one.send()
            tab.page.wait_for_function(HEARD_OF, arg="sent")
        assert tab.says("done.already_counted")
    assert len(site.collector.counted) == 1


def test_whoever_sends_after_somebody_else_with_the_same_link_is_told(site):
    manifest = site.collector.add(make_survey("code", variables=(INCOME,), practice=False))
    code = site.collector.code()
    one = lock_elsewhere(site, manifest, code)
    with site.visitor(tolerated=("status of 409",)) as other:
        other.open(site.link(manifest, code))
        other.appear("elsewhere")
        other.press("ask.go")
        other.wait("intro")
        other.start(practised=False)
        other.answer_all(manifest, TRUTH)
        send_elsewhere(site, manifest, one)
        other.send("problem")
        assert other.says("problem.already_counted.text")
    assert len(site.collector.counted) == 1


def test_a_code_is_locked_when_somebody_is_there_and_not_before(site):
    """Programs that check the links in letters open them: the person must not be told that somebody else did."""
    manifest = site.collector.add(make_survey("code", variables=(INCOME,), practice=False))
    link = site.link(manifest, site.collector.code())
    with site.visitor(clock=True) as program:
        program.open(link)
        program.stop_time()
        program.page.clock.run_for(60_000)
        # Chromium says this of a pointer that it does not have, now and then while a page is loading.
        program.page.evaluate("dispatchEvent(new PointerEvent('pointermove', { clientX: 0, clientY: 0 }))")
        assert program.watched.posts("/lock") == []
        assert site.collector.locks == {}

    def turn_the_wheel(page):
        """Turn it until the page has moved: before its first picture is drawn there is nothing to move."""
        until = time.monotonic() + 60
        while page.evaluate("scrollY") == 0:
            assert time.monotonic() < until, "it does not move"
            page.mouse.wheel(0, 100)

    for deed in ("mouse", "wheel", "key", "touch"):
        site.collector.locks.clear()
        with site.visitor(has_touch=True, viewport={"width": 320, "height": 480}) as person:
            person.open(link)
            with person.page.expect_response("**/lock"):
                {
                    "mouse": lambda page: page.mouse.move(20, 30, steps=3),
                    "wheel": turn_the_wheel,
                    "key": lambda page: page.keyboard.press("Tab"),
                    "touch": lambda page: page.touchscreen.tap(20, 30),
                }[deed](person.page)
            assert len(site.collector.locks) == 1, deed
            assert person.screen == "intro"
            if deed == "mouse":
                person.start(practised=False)
                assert len(person.watched.posts("/lock")) == 1


def test_a_link_that_leads_nowhere_says_why(site):
    """And one that leads somewhere is locked by "Start" alone: some software presses a button without a move or key."""
    manifest = site.collector.add(make_survey("code", variables=(INCOME,), practice=False))
    closed = site.collector.add(make_survey())
    site.collector.closed.add(closed.id)
    nowhere = {
        "/s/aaaaaaaaaaaaaaaa": "unknown_survey",
        f"/s/{closed.id}": "closed",  # before anything is asked
        f"/s/{manifest.id}": "no_code",
        f"/s/{manifest.id}#abc": "broken_code",
    }
    with site.visitor(tolerated=("status of 404",), locale="en-GB") as visitor:
        for path, problem in nowhere.items():
            visitor.open(site.origin + path, "problem")
            assert visitor.heading == visitor.words[f"problem.{problem}.title"]
        for code, screen in ((site.collector.code(), "question"), ("a" * 32, "problem")):
            visitor.open(site.link(manifest, code))
            visitor.page.evaluate("document.querySelector('.main').click()")
            visitor.wait(screen)
        assert visitor.heading == visitor.words["problem.unknown_code.title"]


def test_no_connection_at_the_start_is_said_and_tried_again(site):
    """And a lock whose reply was lost is the same lock."""
    manifest = site.collector.add(make_survey("code", variables=(INCOME,), practice=False))
    lost = []

    def lose(route):
        """Lose the request; then let the server have it, and lose its reply."""
        if lost:
            route.fetch()
        lost.append(route.request)
        route.abort()

    with site.visitor(tolerated=NO_NETWORK) as visitor:
        visitor.page.route("**/lock", lose)
        visitor.open(site.link(manifest, site.collector.code()))
        with visitor.page.expect_event("requestfailed"):
            visitor.appear("intro")  # nothing is lost yet: somebody reads
        assert site.collector.locks == {}
        visitor.press("intro.start")
        visitor.wait("problem")
        assert visitor.heading == visitor.words["problem.unreachable.title"]
        assert len(site.collector.locks) == 1
        visitor.page.unroute("**/lock")
        visitor.press("problem.reload")
        visitor.wait("intro")
        visitor.start(practised=False)  # not "opened before": the lock is this browser's own
        assert len(set(visitor.watched.posts("/lock"))) == 1


def test_over_plain_http_it_works_and_warns(site):
    manifest = site.collector.add(make_survey("code", variables=(INCOME,), practice=False))
    origin = site.origin.replace("127.0.0.1", "survey.test")
    with watched(site.browser, origin, tolerated=("Cross-Origin-Opener-Policy",)) as held:
        visitor = Visitor(held)
        visitor.open(f"{origin}/s/{manifest.id}#{site.collector.code()}")
        assert visitor.page.evaluate("isSecureContext || !!crypto.subtle") is False
        assert visitor.says("limit.plain")
        visitor.start(practised=False)
        visitor.answer_all(manifest, TRUTH)
        visitor.send()
    assert len(site.collector.counted) == 1
