"""The publish page lists the smallest sets that can be sent, and what it costs to forbid one; so does the API."""

import re
from html import unescape

import pytest
from sites import Site

from subsetprivacy.collect.service import publishing
from subsetprivacy.collect.web.api_models import DraftText

HABITS = """\
title = "Habits"
study = "habits"
mode = "open"
introduction = "Why we ask."
contact = "The office"

[[variables]]
id = "home"
label = "Taking things home"
question = "Have you?"
options = ["never", "thought of it", "did it", "did it <b>often</b>", "cannot remember"]

[[variables]]
id = "sick"
label = "Calling in sick"
question = "Have you?"
options = ["never", "thought of it", "once", "often"]

[[variables]]
id = "days"
label = "Days"
question = "How many?"
options = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]

[[variables]]
id = "smokes"
label = "Smokes"
question = "Do you?"
options = ["yes", "no"]
"""
PAIR = '["thought of it", "did it"]'
NEXT_PAIR = '["did it", "did it <b>often</b>"]'
FORBIDDING = HABITS.replace('"cannot remember"]', f'"cannot remember"]\nnever_alone = [{PAIR}]')


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with Site(tmp_path_factory.mktemp("site") / "store.db") as held:
        yield held


def panel(site, owner, text):
    """Return the panel of the publish page as plain lines."""
    draft = publishing.save_draft(site.engine, text, "toml").id
    page = owner.get(f"/studio/drafts/{draft}/publish").text
    (held,) = re.findall(r'<section class="card revealing".*?</section>', page, re.DOTALL)
    assert "<b>often</b>" not in held
    return [line for line in unescape(re.sub("<[^>]*>", "\n", held)).splitlines() if line.strip()]


def test_publish_page_names_the_pairs_in_the_words_of_the_options(site, owner):
    lines = panel(site, owner, HABITS)
    home = lines[lines.index("Taking things home") : lines.index("Days")]
    assert home[1] == "10 pairs can be sent, out of 5 answers."
    at = home.index("“thought of it” or “did it”")
    assert home[at - 1] == "An answer may become "
    assert home[at + 1] == "sent by 10% of the people with one of these answers; forbidding it takes 13% more people"
    assert "3 larger sets of neighbors" in home
    sick = " ".join(lines[lines.index("Calling in sick") : lines.index("Days")])
    assert "“once” or “often” sent by 33.3% of the people with one of these answers" in sick
    assert "None of these can be forbidden: with 4 answers, all of them are needed to estimate the shares." in sick
    assert "15 sets of 4 can be sent, out of 10 answers." in lines
    assert "Smokes" not in lines  # no answer rules anything out


def test_what_is_forbidden_is_gone_and_has_its_price(site, owner):
    lines = panel(site, owner, FORBIDDING)
    assert "9 pairs can be sent, out of 5 answers." in lines
    assert "“thought of it” or “did it”" not in lines
    assert (
        "Never sent: “thought of it” or “did it”. The price is 13% more people: 1,107 instead of 984 for a "
        "margin of 5 points, at even shares." in lines
    )


def test_prices_are_counted_from_the_design_that_forbids_nothing(site, owner):
    text = "\n".join(panel(site, owner, FORBIDDING))
    more = re.search(
        r"“did it” or “did it <b>often</b>”\n.*; forbidding it as well takes (\d+)% more people than forbidding", text
    )
    both = HABITS.replace('"cannot remember"]', f'"cannot remember"]\nnever_alone = [{PAIR}, {NEXT_PAIR}]')
    paid = re.search(r"The price is (\d+)% more people: [\d,]+ instead of 984 for", "\n".join(panel(site, owner, both)))
    assert more[1] == paid[1]


def test_sets_without_a_price_say_how_to_learn_it(site, owner):
    text = "\n".join(panel(site, owner, HABITS))
    folded = text[text.index("6 more") : text.index("3 larger sets")]
    assert "; forbidding it" not in folded
    assert "To see what it costs to forbid one of these, add it to the draft" in folded


def test_api_tells_the_same(site):
    made = site.with_token("owner").send("POST", "/api/v1/drafts", {"format": "toml", "text": FORBIDDING})
    assert made.status == 201
    held = {one.id: one for one in DraftText.model_validate(made.json()).variables}
    assert held["home"].never_alone == [["thought of it", "did it"]]
    assert (held["home"].price.people, held["home"].price.people_before) == (1107, 984)
    assert held["home"].revealing.number == 9
    assert held["sick"].price is None
    assert held["sick"].revealing.sets[0].options == ["never", "thought of it"]
    assert held["smokes"].revealing is None


def test_server_takes_no_forbidden_set(site):
    draft = publishing.save_draft(site.engine, FORBIDDING.replace('"habits"', '"forbidding"'), "toml").id
    manifest = publishing.publish(site.engine, draft)
    sick = {"asked": [0b0011, 0b1100], "answer": 0}
    rest = {"sick": sick, "days": {"asked": days(manifest), "answer": 0}, "smokes": {"answer": 0}}

    def submit(number, asked):
        answers = {"home": {"asked": asked, "answer": 0}, **rest}
        body = {"fingerprint": manifest.fingerprint, "ticket": f"{number:064x}", "answers": answers}
        return site.nobody.send("POST", f"/s/{manifest.id}/submit", body)

    for number, asked in enumerate(([0b00110, 0b11001], [0b11001, 0b00110])):
        assert submit(number, asked).status == 422
    assert submit(2, [0b00011, 0b11100]).status == 201


def days(manifest):
    return next(held for held in manifest.variables if held["id"] == "days")["draw"]["questions"][0]


def test_another_wave_must_forbid_the_same(site):
    first = publishing.save_draft(site.engine, HABITS.replace('"habits"', '"waves"'), "toml").id
    publishing.publish(site.engine, first)
    second = publishing.save_draft(site.engine, FORBIDDING.replace('"habits"', '"waves"'), "toml").id
    with pytest.raises(publishing.PublishingError, match=r"forbidden sets are part of the design"):
        publishing.publish(site.engine, second)
    # Days are asked by a design that cannot send a pair: nothing changes, nothing is in the way.
    third = HABITS.replace('"habits"', '"waves"').replace('"10"]', '"10"]\nnever_alone = [["1", "2"]]')
    assert publishing.publish(site.engine, publishing.save_draft(site.engine, third, "toml").id).title == "Habits"
