"""Servers that cheat: the respondent's page notices, says so, and sends nothing."""

import json
from base64 import b32encode
from hashlib import sha256

import pytest
from fake_collector import DRUGS, HEALTH, INCOME, KEY, SPORT, FakeReply, lock_to, make_survey
from visitor import TRUTH

import subsetprivacy as sp
from subsetprivacy.collect.survey import coin
from subsetprivacy.collect.survey.definition import VariableDefinition
from subsetprivacy.collect.survey.manifest import ID_LETTERS, Manifest


def doctored(manifest, change):
    """Return a manifest with something changed, under the id that its new content has."""
    document = json.loads(manifest.text)
    change(document)
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    digest = sha256(text)
    return Manifest(text, document, digest.hexdigest(), b32encode(digest.digest()).decode().lower()[:ID_LETTERS])


def test_other_questions_behind_the_same_link_are_refused(site):
    manifest = site.collector.add(make_survey())
    other = doctored(manifest, lambda document: document["variables"][0].update(question="Who are you?"))
    preview = doctored(manifest, lambda document: document.update(preview=True))  # no survey can pass for one
    with site.visitor() as visitor:
        for served in (other, preview):
            site.collector.surveys[manifest.id] = served
            visitor.open(site.link(manifest), "problem")
            assert visitor.heading == visitor.words["problem.mismatch.title"]
            assert "Who are you?" not in visitor.page.content()
            assert visitor.remembered() == "{}{}"


UNSAFE = {
    "a list of one": (INCOME, {"rule": "listed", "p": 6, "questions": [[1, 62]], "weights": [1]}),
    "all but one": (INCOME, {"rule": "listed", "p": 6, "questions": [[62, 1]], "weights": [1]}),
    "a list with a hole": (INCOME, {"rule": "listed", "p": 6, "questions": [[3, 28]], "weights": [1]}),
    "groups that overlap": (SPORT, {"rule": "listed", "p": 7, "questions": [[3, 3, 121]], "weights": [1]}),
    "fewer options than shown": (INCOME, {"rule": "uniform", "p": 5}),
    "a group of one": (SPORT, {"rule": "groups", "p": 7, "sizes": [1, 3, 3]}),
    "a number that is no secret": (DRUGS, {"rule": "bit", "p": 2, "ones": 0}),
    "a number that is always 1": (DRUGS, {"rule": "bit", "p": 2, "ones": 2**48}),
    "a number that is nearly always 0": (DRUGS, {"rule": "bit", "p": 2, "ones": 2**48 // 1000}),
    "a number that is nearly always 1": (DRUGS, {"rule": "bit", "p": 2, "ones": 2**48 - 2**48 // 22}),
    "no companions": (HEALTH, {"rule": "companions", "p": 3, "size": 1}),
    "weights that are none": (INCOME, {"rule": "listed", "p": 6, "questions": [[3, 60]], "weights": [0]}),
    "weights beyond all words": (INCOME, {"rule": "listed", "p": 6, "questions": [[3, 60]], "weights": [2**49]}),
    "a set of one": (HEALTH, {"rule": "given", "p": 3, "subsets": [1, 6], "weights": [1, 1]}),
}


# What a visit does before the first question.
DRAW = """
async (variable) => {
  const { Answers, random } = await import(document.querySelector("script").src);
  try {
    new Answers("s", [variable], { question: random(32), device: random(32) });
    return "asked";
  } catch (error) {
    return error.message;
  }
}
"""


def test_rules_that_would_reveal_the_answer_are_refused(site):
    manifest = site.collector.add(make_survey(practice=False))
    rule = UNSAFE["a group of one"][1]
    unsafe = doctored(manifest, lambda document: document["variables"][1].update(draw=rule))
    site.collector.surveys[unsafe.id] = unsafe
    with site.visitor() as visitor:
        visitor.open(site.link(unsafe))
        visitor.press("intro.start")
        visitor.wait("problem")
        assert visitor.heading == visitor.words["problem.unsafe.title"]
        for name, (variable, rule) in UNSAFE.items():
            honest = next(held for held in manifest.variables if held["id"] == variable.id)
            assert visitor.page.evaluate(DRAW, honest | {"design": None}) == "asked"
            assert visitor.page.evaluate(DRAW, honest | {"design": None, "draw": rule}) == "unsafe", name


def wrong_share(honest):
    return FakeReply(200, honest.document | {"share": "00" * 31})


def no_share(honest):
    return FakeReply(200, {name: honest.document[name] for name in ("commitment", "wrapped")})


def shouted_share(honest):
    return FakeReply(200, honest.document | {"share": honest.document["share"].upper()})


def other_commitment(honest):
    return FakeReply(200, honest.document | {"commitment": coin.commit(bytes(32)).hex()})


def short_wrapping(honest):
    return FakeReply(200, honest.document | {"commitment": coin.commit(bytes(32)).hex(), "wrapped": "00"})


def test_a_lock_that_does_not_fit_is_refused(site):
    manifest = site.collector.add(make_survey("code"))
    with site.visitor() as visitor:
        for number, lie in enumerate([wrong_share, no_share, shouted_share, other_commitment, short_wrapping]):
            site.collector.twist["lock"] = lie
            visitor.open(site.link(manifest, site.collector.code(number)), then="problem")
            assert visitor.heading == visitor.words["problem.bad_lock.title"], lie.__name__
        assert visitor.watched.posts("/submit") == []


def test_a_server_that_changes_its_share_or_its_lock_is_refused(site):
    manifest = site.collector.add(make_survey("code", variables=(INCOME,), practice=False))
    code = site.collector.code()
    ticket, half = coin.read_code(code)
    with site.visitor() as visitor:
        visitor.open(site.link(manifest, code))
        visitor.start(practised=False)
        asked = visitor.shown()
        site.collector.twist["lock"] = lambda honest: FakeReply(200, honest.document | {"share": "ab" * 32})
        visitor.reload(then="problem")
        assert visitor.heading == visitor.words["problem.bad_lock.title"]
        # A lock made by someone who kept the code: it unwraps, and still is not the one of this device.
        chosen = bytes(range(32))
        made = lock_to(chosen, half)
        share = coin.share(KEY, ticket, coin.commit(chosen)).hex()
        site.collector.twist["lock"] = lambda honest: FakeReply(200, {**made, "share": share})
        visitor.reload(then="problem")
        assert visitor.heading == visitor.words["problem.bad_lock.title"]
        site.collector.twist.clear()  # honest again: the same question as before
        visitor.reload()
        visitor.start(practised=False)
        assert visitor.shown() == asked


@pytest.mark.parametrize("fair", [True, False])
def test_after_the_study_the_draw_is_checked_against_the_published_key(site, fair):
    manifest = site.collector.add(make_survey("code", variables=(INCOME,), practice=False))
    if not fair:  # a share of another key than the one that the manifest commits to

        def steered(honest):
            commitment = bytes.fromhex(honest.document["commitment"])
            return FakeReply(
                200, honest.document | {"share": coin.share(bytes(32), (1).to_bytes(10), commitment).hex()}
            )

        site.collector.twist = {"lock": steered, "submit": lambda honest: FakeReply(201, {"status": "counted"})}
    with site.visitor() as visitor:
        visitor.open(site.link(manifest, site.collector.code()))
        visitor.start(practised=False)
        visitor.answer_all(manifest, TRUTH)
        visitor.send()
        assert visitor.says("promise.check")
        if fair:
            visitor.reload("done")
            assert visitor.says("promise.check")  # still open: nothing to check yet
        site.collector.closed.add(manifest.id)
        site.collector.published = True
        visitor.reload("done")
        assert visitor.says("promise.fair") is fair
        assert visitor.says("problem.unfair") is not fair
        if not fair:
            site.collector.key_served = bytes(32)  # fits the share, not the commitment
            visitor.reload("done")
            assert visitor.says("problem.unfair")


def test_a_changed_script_or_sentence_does_not_load(site):
    manifest = site.collector.add(make_survey())
    with site.visitor(tolerated=("integrity", "Failed to load")) as visitor:
        for name in ("respond.js", "en.json"):

            def change(route):
                response = route.fetch()
                route.fulfill(response=response, body=response.text() + " ")

            visitor.page.route(f"**/{name}", change)
            with visitor.page.expect_console_message(lambda message: "integrity" in message.text):
                visitor.page.goto(site.link(manifest))
            visitor.page.wait_for_selector("#unreachable", state="attached")
            visitor.page.evaluate(
                "for (const one of document.getAnimations()) one.finish()"
            )  # it appears after a while
            visitor.page.wait_for_selector("#unreachable", state="visible")
            assert visitor.page.query_selector("h1") is None, name
            visitor.page.unroute(f"**/{name}")


def test_text_of_a_survey_is_never_markup(site):
    nasty = '<img src=x onerror="document.title=1"><script>alert(1)</script>{list}${1}'
    options = tuple(f"{nasty}{k}" for k in range(5))
    variable = VariableDefinition("__proto__", nasty, nasty, options, sp.uniform(options), help=nasty)
    survey = make_survey(
        variables=(variable,), title=nasty, introduction=nasty, contact=nasty, thanks=nasty, practice=False
    )
    manifest = site.collector.add(survey)
    with site.visitor() as visitor:
        visitor.open(site.link(manifest))
        assert visitor.heading == nasty
        visitor.start(practised=False)
        visitor.page.keyboard.press("y")
        visitor.wait("review")
        visitor.send()
        assert visitor.page.locator("img, main script").count() == 0
    assert len(site.collector.counted) == 1
