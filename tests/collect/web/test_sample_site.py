"""A sample: the way in, the way to answer, and that every page of it says what it is."""

import re

import pytest
from sites import Site

from subsetprivacy.collect.service import accounts
from subsetprivacy.collect.service.demonstration import SPARE_CODES, demonstrate
from subsetprivacy.collect.service.respondents import Respondent
from subsetprivacy.collect.web.sample_site import add_sample

SAID = "these people are simulated"


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    site = Site(tmp_path_factory.mktemp("sample") / "store.db", people=False)
    site.made = demonstrate(site.engine, people=60, seed=1)
    person = accounts.set_up(site.engine, "demo", "a long password")
    site.inside, site.respond = add_sample(site.app, person, site.made)
    with site:
        yield site


def test_link_opens_the_results_as_often_as_wanted(sample):
    for _ in range(2):
        visitor = sample.nobody
        reply = visitor.get(sample.inside)
        assert (reply.status, reply.header("location")) == (303, f"/studio/surveys/{sample.made.work.id}")
        assert visitor.get("/studio").status == 200
    wrong = sample.nobody
    assert wrong.get(sample.inside[:-1] + "~").header("location") == "/studio/sign-in"
    assert wrong.get("/studio").header("location") == "/studio/sign-in"


def test_every_page_says_that_nobody_is_real(sample):
    visitor = sample.nobody
    assert SAID in visitor.get("/studio/sign-in").text
    visitor.get(sample.inside)
    lunch = sample.made.lunch.id
    for path in ("/studio", f"/studio/surveys/{lunch}/manage", "/studio/api", "/studio/nothing", "/studio/drafts/new"):
        page = visitor.get(path).text
        assert SAID in page, path
        assert f'href="{sample.respond}"' in page
        assert "on this computer only" not in page  # nobody hands these links out


def test_no_other_studio_says_so(sample, tmp_path):
    with Site(tmp_path / "store.db", people=False) as other:
        assert SAID not in other.nobody.get("/studio/setup").text
        assert other.nobody.get(sample.respond).status == 404


def test_everybody_who_answers_gets_a_link_of_their_own(sample):
    def post(path, document):
        reply = sample.nobody.send("POST", path, document)
        return reply.status, reply.json()

    codes = set()
    for k in range(SPARE_CODES + 2):  # more than were laid aside
        place, _, code = sample.nobody.get(sample.respond).header("location").partition("#")
        assert place == f"/s/{sample.made.work.id}"
        assert re.fullmatch("[a-z2-7]{32}", code)
        codes.add(code)
        if k in (0, SPARE_CODES + 1):
            values = {held["id"]: 0 for held in sample.made.work.variables}
            assert Respondent(values, code=code).take_part(sample.made.work, post) == (201, {"status": "counted"})
    assert len(codes) == SPARE_CODES + 2
