"""What the respondent's page remembers on a device, and that answering again cannot change the question."""

import json
import re

from fake_collector import HEALTH, INCOME, KEY, SPORT, lock_to, make_survey
from visitor import TRUTH

from subsetprivacy.collect.survey import coin
from subsetprivacy.collect.survey.drawing import Stream, draw_question

LISTS = (INCOME, SPORT)
BLOCK_STORAGE = """
Object.defineProperty(window, "localStorage", { get() { throw new DOMException("blocked", "SecurityError"); } });
"""


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


def test_a_code_asks_the_same_lists_in_another_wave_and_in_a_second_browser(site):
    """Of a browser that was cleared nothing is left either. What joins a mark is drawn anew, and the page says so."""
    waves = [
        site.collector.add(make_survey("code", variables=variables, practice=False))
        for variables in ((*LISTS, HEALTH), LISTS[:1])
    ]
    code, seeds = site.collector.code(), set()
    with site.visitor() as visitor:
        visitor.open(site.link(waves[0], code))
        assert not visitor.says("promise.same_code")
        first = asked(visitor, waves[0])
        seeds.add(seed_of(visitor))
        visitor.open(site.link(waves[1], code))
        assert visitor.says("promise.same_code")
        assert asked(visitor, waves[1])["income"] == first["income"]
    with site.visitor(fresh=True) as other:
        other.open(site.link(waves[0], code), then="elsewhere")
        assert other.says("limit.reopened")
        assert "Lists and groups are those that were drawn then." in other.page.inner_text("body")
        other.press("ask.go")
        assert not other.says("promise.same_code")
        other.start(practised=False)
        other.answer_all(waves[0], TRUTH)
        sent = json.loads(other.literal())
        seeds.add(seed_of(other))
        other.send()
    assert {name: given.get("asked") for name, given in sent["answers"].items()} == first
    assert len(seeds) == 2  # the answers that join a mark are drawn from it
    # What was asked is what the coin flip drew, by the server's own reckoning.
    share = coin.share(KEY, bytes.fromhex(sent["ticket"]), coin.commit(bytes.fromhex(sent["opening"])))
    seed = coin.seed(share, bytes.fromhex(sent["opening"]))
    for variable in waves[0].variables[:2]:
        assert first[variable["id"]] == draw_question(variable["draw"], Stream(seed, "work", variable["id"]))


def seed_of(visitor):
    return re.search(r'"seed":"(\w+)"', visitor.page.evaluate("Object.values(localStorage).join()"))[1]


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


def test_whoever_has_the_code_can_open_the_link_first_and_the_page_says_so(site):
    """Where the link was mistyped meanwhile, too: that is refused, and locks nothing."""
    manifest = site.collector.add(make_survey("code", variables=LISTS, practice=False))
    code = site.collector.code()
    mistyped = code[:-1] + ("a" if code[-1] != "a" else "b")
    ticket, half = coin.read_code(code)
    site.collector.locks[coin.ticket_mark(manifest.id, ticket)] = lock_to(bytes(32), half)
    with site.visitor() as second:
        second.open(site.link(manifest, mistyped))
        second.appear("problem")
        assert second.heading == second.words["problem.bad_lock.title"]
        second.open(site.link(manifest, code))
        second.appear("elsewhere")
        assert second.says("limit.reopened")
        second.press("ask.go")
        seed = coin.seed(coin.share(KEY, ticket, coin.commit(bytes(32))), bytes(32))
        assert asked(second, manifest) == {
            variable["id"]: draw_question(variable["draw"], Stream(seed, "work", variable["id"]))
            for variable in manifest.variables
        }


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
    """And where it cannot send, that the page must stay open."""
    with site.visitor(fresh=True, tolerated=("ERR_FAILED",)) as visitor:
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
            if mode == "open":
                visitor.page.route("**/submit", lambda route: route.abort())
                visitor.send("unsent")
                assert visitor.says("limit.unsent")
                assert not visitor.says("promise.unsent")
                visitor.page.unroute("**/submit")
                visitor.insist()
                visitor.wait("done")
            else:
                visitor.send()
            assert visitor.says("promise.again") is (mode == "code")
            assert not visitor.says("promise.again_open")
            assert visitor.page.get_by_role("button").count() == 0  # there is nothing to forget
    assert len(site.collector.counted) == 2


def test_a_spoilt_memory_is_begun_anew(site):
    manifest = site.collector.add(make_survey(variables=(INCOME,), practice=False))
    spoilt = ("not json", "null", '{"people": 3}', '{"people": null}', '{"people": {"open": {}}}')
    with site.visitor() as visitor:
        visitor.open(site.link(manifest))
        seeds = visitor.page.evaluate(
            """async (all) => {
              const { Store } = await import(document.querySelector("script").src);
              return all.map((spoilt) => {
                localStorage.setItem("subsetprivacy work", spoilt);
                const store = new Store("work");
                store.take("open");
                return store.person.seed;
              });
            }""",
            spoilt,
        )
        assert [len(seed) for seed in seeds] == [64] * len(spoilt)
        visitor.page.evaluate("spoilt => localStorage.setItem('subsetprivacy work', spoilt)", spoilt[-1])
        visitor.reload()
        visitor.start(practised=False)
        visitor.answer_all(manifest, TRUTH)
        assert len(json.loads(visitor.literal())["ticket"]) == 64
