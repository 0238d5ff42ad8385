"""What the respondent's page remembers on a device, and that answering again cannot change the question."""

import json
import re

import pytest
from browser import chromium
from fake_collector import HEALTH, INCOME, KEY, SPORT, make_survey
from visitor import TRUTH, opened_site

from subsetprivacy.collect.survey import coin
from subsetprivacy.collect.survey.drawing import Stream, draw_question

LISTS = (INCOME, SPORT)
BLOCK_STORAGE = """
Object.defineProperty(window, "localStorage", { get() { throw new DOMException("blocked", "SecurityError"); } });
"""


@pytest.fixture(scope="module")
def house():
    with chromium() as browser, opened_site(browser) as held:
        yield held


@pytest.fixture
def site(house, need):
    return house.fresh(need)


def asked(visitor, manifest):
    """Skip through the survey and return what was asked, as the literal content says it."""
    visitor.start(practised=False)
    visitor.answer_all(manifest, dict.fromkeys(variable["id"] for variable in manifest.variables))
    answers = json.loads(visitor.literal())["answers"]
    return {name: given.get("asked") for name, given in answers.items()}


def test_reloading_asks_and_draws_the_same(site):
    manifest = site.collector.add(make_survey(practice=False))
    seen = []
    with site.visitor() as visitor:
        visitor.open(site.link(manifest))
        for _ in range(2):
            visitor.start(practised=False)
            visitor.answer_all(manifest, TRUTH)  # of a secret number and a list drawn around the answer, too
            seen.append(visitor.literal())
            visitor.reload()
        assert seen[0] == seen[1]
        # A hundred reloads: what a visit does to draw, done again from what is stored.
        again = visitor.page.evaluate(
            """async (manifest) => {
              const { Answers, Store, unhex } = await import(document.querySelector("script").src);
              const all = new Set();
              for (let k = 0; k < 100; k++) {
                const store = new Store(manifest.study);
                store.take("open");
                const device = unhex(store.person.seed, 32);
                const answers = new Answers(manifest.study, manifest.variables, { question: device, device });
                const sets = answers.questions.map(({ asked, bit, variable }, k) => {
                  if (variable.kind === "local") answers.give(k, 0);
                  return [asked ?? null, bit ?? (variable.kind === "local" ? answers.left(k) : null)];
                });
                all.add(JSON.stringify(sets));
              }
              return [...all];
            }""",
            manifest.document,
        )
    (same,) = map(json.loads, again)
    answers = json.loads(seen[0])["answers"]
    for variable, (question, _) in zip(manifest.variables, same, strict=True):
        assert answers[variable["id"]].get("asked") == question, variable["id"]


def test_a_code_asks_the_same_in_a_second_browser_and_after_clearing(site):
    manifest = site.collector.add(make_survey("code", variables=LISTS, practice=False))
    link = site.link(manifest, site.collector.code())
    with site.visitor() as visitor:
        visitor.open(link)
        first = asked(visitor, manifest)
        visitor.page.evaluate("localStorage.clear()")
        visitor.open(link, then="elsewhere")
        assert visitor.says("limit.reopened")
        visitor.press("ask.go")
        visitor.start(practised=False)
        visitor.answer_all(manifest, {"income": None, "sport": None})
        assert {name: given["asked"] for name, given in json.loads(visitor.literal())["answers"].items()} == first
    with site.visitor(fresh=True) as other:
        other.open(link)
        other.appear("elsewhere")
        other.press("ask.go")
        other.start(practised=False)
        other.answer_all(manifest, TRUTH)
        sent = json.loads(other.literal())
        other.send()
    assert {name: given["asked"] for name, given in sent["answers"].items()} == first
    # What was asked is what the coin flip drew, by the server's own reckoning.
    share = coin.share(KEY, bytes.fromhex(sent["ticket"]), coin.commit(bytes.fromhex(sent["opening"])))
    seed = coin.seed(share, bytes.fromhex(sent["opening"]))
    for variable in manifest.variables:
        assert first[variable["id"]] == draw_question(variable["draw"], Stream(seed, "work", variable["id"]))


def test_a_second_browser_keeps_lists_alone_and_the_page_says_no_more(site):
    manifest = site.collector.add(make_survey("code", variables=(SPORT, HEALTH), practice=False))
    link, drawn, seeds = site.link(manifest, site.collector.code()), [], set()
    for fresh in (False, True):
        with site.visitor(fresh=fresh) as visitor:
            visitor.open(link)
            visitor.appear("elsewhere" if fresh else "intro")
            if fresh:
                assert "Lists and groups are those that were drawn then." in visitor.page.inner_text("body")
                visitor.press("ask.go")
            assert not visitor.says("promise.same_code")
            visitor.start(practised=False)
            visitor.answer_all(manifest, TRUTH)
            drawn.append(json.loads(visitor.literal())["answers"]["sport"]["asked"])
            stored = visitor.page.evaluate("Object.values(localStorage).join()")
            seeds.add(re.search(r'"seed":"(\w+)"', stored)[1])
    assert drawn[0] == drawn[1]
    assert len(seeds) == 2  # the answers that join a mark are drawn from it


def test_another_wave_asks_the_same(site):
    waves = [
        site.collector.add(make_survey("code", variables=variables, practice=False)) for variables in (LISTS, LISTS[:1])
    ]
    code = site.collector.code()
    with site.visitor() as visitor:
        visitor.open(site.link(waves[0], code))
        first = asked(visitor, waves[0])
        visitor.send()
        visitor.open(site.link(waves[1], code))
        assert asked(visitor, waves[1])["income"] == first["income"]


def test_two_codes_on_one_device_are_two_people(site):
    manifest = site.collector.add(make_survey("code", variables=(HEALTH,), practice=False))
    with site.visitor() as visitor:
        bodies = []
        for number in (1, 2):
            visitor.open(site.link(manifest, site.collector.code(number)))
            visitor.start(practised=False)
            visitor.answer_all(manifest, TRUTH)
            bodies.append(json.loads(visitor.literal()))
            visitor.send()
        people = json.loads(json.loads(visitor.remembered().split("}{")[0] + "}")["subsetprivacy work"])["people"]
    assert bodies[0]["ticket"] != bodies[1]["ticket"]
    assert bodies[0]["opening"] != bodies[1]["opening"]
    assert len({person["seed"] for person in people.values()}) == 2
    assert len(site.collector.counted) == 2


def test_the_code_leaves_the_address_survives_a_reload_and_is_forgotten(site):
    manifest = site.collector.add(make_survey("code", variables=LISTS, practice=False))
    code = site.collector.code()
    with site.visitor() as visitor:
        visitor.open(site.link(manifest, code))
        assert visitor.page.url == site.link(manifest)
        visitor.reload()
        assert visitor.screen == "intro"
        visitor.start(practised=False)
        assert visitor.page.url == site.link(manifest)
        sent = [url for _, url, _ in visitor.watched.requests]
        bodies = b"".join(visitor.watched.posts("/lock"))
        visitor.answer_all(manifest, TRUTH)
        visitor.send()
        forget(site, visitor, manifest)
        visitor.reload("problem")
        assert visitor.heading == visitor.words["problem.no_code.title"]
    assert not [url for url in sent if code in url.split("#")[0]]
    half = coin.read_code(code)[1]
    assert half.hex().encode() not in bodies
    assert code.encode() not in bodies


def test_a_link_mistyped_in_its_second_half_locks_the_code_and_the_page_says_so(site):
    """What was locked under the wrong half opens in that browser alone. The page names both causes there may be."""
    manifest = site.collector.add(make_survey("code", variables=LISTS, practice=False))
    code = site.collector.code()
    mistyped = code[:-1] + ("a" if code[-1] != "a" else "b")
    with site.visitor() as first, site.visitor(fresh=True) as second:
        first.open(site.link(manifest, mistyped))
        first.start(practised=False)
        second.open(site.link(manifest, code))
        second.appear("problem")
        assert "mistyped, here or in another browser" in second.page.inner_text("main")
        first.open(site.link(manifest, code))  # the right link works in the browser that made the mistake
        first.start(practised=False)
        first.answer_all(manifest, TRUTH)
        first.send()
    assert len(site.collector.counted) == 1


def test_the_right_link_works_where_it_was_mistyped_after_someone_opened_it(site):
    manifest = site.collector.add(make_survey("code", variables=LISTS, practice=False))
    code = site.collector.code()
    mistyped = code[:-1] + ("a" if code[-1] != "a" else "b")
    with site.visitor() as first, site.visitor(fresh=True) as second:
        first.open(site.link(manifest, code))
        questions = asked(first, manifest)
        second.open(site.link(manifest, mistyped))
        second.appear("problem")
        assert second.heading == second.words["problem.bad_lock.title"]
        second.open(site.link(manifest, code))
        second.appear("elsewhere")
        second.press("ask.go")
        assert asked(second, manifest) == questions


def forget(site, visitor, manifest):
    """Let the device forget what it did, and see that nothing is left."""
    visitor.press("done.forget")
    visitor.wait("forgotten")
    assert visitor.says("promise.forgotten")
    assert visitor.says("limit.history")
    assert visitor.remembered() == "{}{}"
    assert visitor.page.url == site.link(manifest)


def test_after_sending_no_answer_is_left_and_a_second_visit_does_not_ask(site):
    manifest = site.collector.add(make_survey(practice=False))
    with site.visitor() as visitor:
        visitor.open(site.link(manifest))
        visitor.start(practised=False)
        visitor.answer_all(manifest, TRUTH)
        body = json.loads(visitor.literal())
        visitor.send()
        assert visitor.says("promise.cleared")
        assert visitor.says("promise.again_open")
        left = visitor.remembered().replace(manifest.id, "")  # of random letters, which may make any word
        assert "sent" in left
        for word in ("answer", "asked", "kept", body["ticket"], *INCOME.options, *HEALTH.options):
            assert word not in left
        visitor.reload("done")
        assert visitor.says("done.already_counted")
        assert visitor.says("limit.device")  # whoever opens the link here sees that it was answered
        forget(site, visitor, manifest)
        visitor.reload("intro")
    assert len(site.collector.counted) == 1


def test_an_open_survey_can_be_answered_from_several_browsers(site):
    manifest = site.collector.add(make_survey(variables=(INCOME,), practice=False))
    for fresh in (False, True):
        with site.visitor(fresh=fresh) as visitor:
            visitor.open(site.link(manifest))
            visitor.page.click("summary")
            assert visitor.says("limit.open")
            visitor.start(practised=False)
            visitor.answer_all(manifest, TRUTH)
            visitor.send()
    assert len(site.collector.counted) == 2


def test_a_browser_that_stores_nothing_can_answer_and_is_told(site):
    with site.visitor(fresh=True) as visitor:
        visitor.context.add_init_script(BLOCK_STORAGE)
        for mode in ("open", "code"):
            manifest = site.collector.add(make_survey(mode, variables=(INCOME,), practice=False))
            link = site.link(manifest, site.collector.code() if mode == "code" else None)
            visitor.open(link)
            assert visitor.says("limit.unstored")
            assert not visitor.says("promise.same_open")
            assert visitor.page.url == link  # the code stays, or a reload would lose it
            visitor.start(practised=False)
            visitor.answer_all(manifest, TRUTH)
            visitor.send()
            assert visitor.says("promise.again") is (mode == "code")
            assert not visitor.says("promise.again_open")
            assert visitor.page.get_by_role("button").count() == 0  # there is nothing to forget
    assert len(site.collector.counted) == 2


def test_a_spoilt_memory_is_begun_anew(site):
    manifest = site.collector.add(make_survey(variables=(INCOME,), practice=False))
    with site.visitor() as visitor:
        visitor.open(site.link(manifest))
        for spoilt in ("not json", "null", '{"people": 3}', '{"people": null}', '{"people": {"open": {}}}'):
            visitor.page.evaluate("spoilt => localStorage.setItem('subsetprivacy work', spoilt)", spoilt)
            visitor.reload()
            visitor.start(practised=False)
            visitor.answer_all(manifest, TRUTH)
            assert len(json.loads(visitor.literal())["ticket"]) == 64
