"""The respondent's page against a server that sees every request, and against the next person at the same device."""

import json

from fake_collector import ALL_KINDS, INCOME, KEY, make_survey
from visitor import TRUTH

import subsetprivacy as sp
from subsetprivacy.collect.survey import coin
from subsetprivacy.collect.survey.definition import VariableDefinition
from subsetprivacy.collect.survey.drawing import Stream, draw_around, draw_bit, draw_question


def asked_by_the_page(site):
    """Return what was asked of the server so far, but for the icon: the browser asks for it, and when it likes."""
    return [one for one in site.app.state.seen if not one[1].endswith("/icon.svg")]


def test_while_somebody_answers_nothing_is_asked_of_the_server_and_nothing_is_kept(site):
    """No request of any kind, and no trace in the browser, from the practice to "Send"."""
    manifest = site.collector.add(make_survey("code"))
    with site.visitor() as visitor:
        visitor.open(site.link(manifest, site.collector.code()))
        visitor.press("intro.start")
        visitor.wait("question")
        requests, kept, seen = list(visitor.watched.requests), visitor.remembered(), asked_by_the_page(site)
        for k, variable in enumerate(manifest.variables, 1):
            visitor.answer_practice(variable["kind"])
            visitor.press("practice.next" if k < len(manifest.variables) else "practice.go")
            visitor.wait("question")
        visitor.answer_all(manifest, TRUTH)
        visitor.press("ask.back")
        visitor.wait("question")
        assert visitor.watched.requests == requests
        assert asked_by_the_page(site) == seen
        assert visitor.remembered() == kept
        assert visitor.page.evaluate("document.cookie") == ""


def test_a_server_that_knows_the_coin_flip_cannot_tell_the_secret_numbers_and_the_marks(site):
    """With the opened secret and its key a server knows the seed of the lists. That of the numbers is another one."""
    numbers = tuple(
        VariableDefinition(f"number{k}", "Number", "Yes?", ("no", "yes"), sp.warner(("no", "yes"))) for k in range(12)
    )
    sizes = ("small", "medium", "large")
    marks = tuple(VariableDefinition(f"mark{k}", "Mark", "Which?", sizes, sp.fixed_size(sizes, 2)) for k in range(10))
    manifest = site.collector.add(make_survey("code", variables=(INCOME, *numbers, *marks), practice=False))
    guessed = {"numbers": True, "marks": True}
    # By chance a visit's numbers are guessed once in 280 visits, its marks once in 1000: all of five, in no life.
    for visit in range(1, 6):
        shown, sent = _numbers_and_content(site, manifest, site.collector.code(visit))
        secret = bytes.fromhex(sent["opening"])
        seed = coin.seed(coin.share(KEY, bytes.fromhex(sent["ticket"]), coin.commit(secret)), secret)
        streams = {held["id"]: (held["draw"], Stream(seed, manifest.study, held["id"])) for held in manifest.variables}
        kept = [sent["answers"][one.id]["kept"] for one in marks]
        guessed["numbers"] &= shown == [draw_bit(*streams[one.id]) for one in numbers]
        guessed["marks"] &= kept == [
            draw_around(rule, 0, stream) for rule, stream in (streams[one.id] for one in marks)
        ]
        if not any(guessed.values()):
            break
    assert guessed == {"numbers": False, "marks": False}


def _numbers_and_content(site, manifest, code):
    """Answer with a browser that has not been here before; return the numbers that it showed, and what it sent."""
    shown = []
    with site.visitor() as visitor:
        visitor.open(site.link(manifest, code))
        visitor.start(practised=False)
        for k, variable in enumerate(manifest.variables):
            visitor.page.wait_for_function("k => document.querySelector('progress').value === k", arg=k + 1)
            if variable["kind"] == "bit":
                shown.append(int(visitor.page.inner_text("p.number strong")))
            visitor.answer(variable, 0)
        visitor.wait("review")
        sent = json.loads(visitor.literal())
        visitor.send()
    return shown, sent


def test_every_browser_draws_from_a_number_of_its_own(site):
    """A server that could foresee the number that a device draws would know every draw."""
    manifest = site.collector.add(make_survey(variables=ALL_KINDS, practice=False))
    seeds = []
    for fresh in (False, True):
        with site.visitor(fresh=fresh) as visitor:
            visitor.open(site.link(manifest))
            seeds.append(
                json.loads(visitor.page.evaluate("localStorage['subsetprivacy work']"))["people"]["open"]["seed"]
            )
            replies = visitor.page.evaluate("fetch(location.pathname + '/manifest').then((reply) => reply.text())")
            assert seeds[-1] not in replies
    assert len({*seeds}) == 2
    assert all(len({*bytes.fromhex(seed)}) > 16 for seed in seeds)  # of 32 bytes drawn by chance 30 differ


def test_two_studies_on_one_device_have_no_number_in_common(site):
    """Whoever runs two studies could otherwise tell that the same device took part in both."""
    seen = []
    with site.visitor() as visitor:
        for study in ("work", "health"):
            manifest = site.collector.add(make_survey("code", variables=(INCOME,), study=study, practice=False))
            visitor.open(site.link(manifest, site.collector.code()))  # of one list of codes
            visitor.start(practised=False)
            visitor.answer_all(manifest, TRUTH)
            visitor.send()
            seen.append(json.loads(visitor.watched.posts("/submit")[-1]))
        kept = json.loads(visitor.page.evaluate("JSON.stringify(localStorage)"))
    people = [person for entry in kept.values() for person in json.loads(entry)["people"].values()]
    for name in ("seed", "secret", "share"):
        assert len({person[name] for person in people}) == 2, name
    assert seen[0]["opening"] != seen[1]["opening"]


def test_the_next_person_at_the_device_can_work_out_the_questions_and_not_the_answers(site):
    """What stays until "Forget" is the seed: the page says what an expert makes of it, and it is no more than that."""
    manifest = site.collector.add(make_survey(practice=False))
    kept = []
    for truth in (
        {"income": 1, "sport": 3, "drugs": 1, "health": 2},
        {"income": 4, "sport": 0, "drugs": 0, "health": 0},
    ):
        with site.visitor() as visitor:
            visitor.open(site.link(manifest))
            if kept:  # the same device, and another answer to each question
                visitor.page.evaluate("seed => localStorage.setItem('subsetprivacy work', seed)", kept[0][0])
                visitor.reload()
            untouched = visitor.page.evaluate("localStorage['subsetprivacy work']")
            visitor.start(practised=False)
            visitor.answer_all(manifest, truth)
            sent = json.loads(visitor.literal())
            visitor.send()
            assert visitor.says("limit.device")
            kept.append((untouched, visitor.remembered()))
        site.collector.counted.clear()
    assert kept[0][1] == kept[1][1]
    person = json.loads(kept[0][0])["people"]["open"]
    for variable in manifest.variables:
        stream = Stream(bytes.fromhex(person["seed"]), manifest.study, variable["id"])
        if "asked" in sent["answers"][variable["id"]]:
            assert draw_question(variable["draw"], stream) == sent["answers"][variable["id"]]["asked"]
        elif variable["kind"] == "bit":  # the last value was number 0, so the button has the secret number
            assert draw_bit(variable["draw"], stream) == sent["answers"][variable["id"]]["answer"]
