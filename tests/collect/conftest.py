"""Loaded for all tests of the collection service: databases, a small survey of every kind of question, and the page."""

import os
import random

import pytest
from databases import (  # noqa: F401  fixtures
    _postgres_server,
    _postgres_template,
    empty_url,
    engine,
    postgres,
    postgres_empty_url,
    postgres_url,
    sqlite_empty_url,
    sqlite_template,
    sqlite_url,
    store,
    store_url,
)

import subsetprivacy as sp
from subsetprivacy.collect.survey.definition import SurveyDefinition, VariableDefinition

COLOURS = ("black", "red", "green", "blue", "white")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")


@pytest.fixture
def every_kind():
    """Make a survey with a question of each kind: yes/no and groups (linked), Warner's, and one drawn locally."""

    def make(**changes):
        variables = (
            VariableDefinition("colour", "Colour", "Which colour?", COLOURS, sp.uniform(COLOURS)),
            VariableDefinition("day", "Day", "Which day?", DAYS, sp.partition(DAYS, 3)),
            VariableDefinition("smokes", "Smokes", "Do you smoke?", ("yes", "no"), sp.warner(("yes", "no"))),
            VariableDefinition("size", "Size", "Which size?", ("S", "M", "L"), sp.fixed_size(("S", "M", "L"), 2)),
        )
        told = {"title": "All kinds", "study": "kinds", "batch": 10, "links": (("colour", "day"),), **changes}
        return SurveyDefinition(variables=variables, **told)

    return make


@pytest.fixture
def publish_kinds(every_kind):
    """Publish that survey in a store, without the file that it would come from, and return its manifest."""
    from subsetprivacy.collect.storage.opening import writing
    from subsetprivacy.collect.storage.surveys import Draft, add_survey, lock_study
    from subsetprivacy.collect.survey.manifest import freeze

    def publish(database, **changes):
        survey = every_kind(**changes)
        with writing(database) as connection:
            key, _ = lock_study(connection, survey.study)
            manifest = freeze(survey, key if survey.mode == "code" else None)
            add_survey(connection, manifest, Draft("a-draft", survey.title, "toml", "the file"))
        return manifest

    return publish


@pytest.fixture
def let_answer():
    """Let people answer it; those of code mode get codes first. Return the people."""
    from subsetprivacy.collect.service.respondents import Respondent, answer_all
    from subsetprivacy.collect.storage.opening import writing
    from subsetprivacy.collect.storage.surveys import add_codes
    from subsetprivacy.collect.survey import coin

    def answer(database, manifest, number, *, habits=None):
        tickets = [os.urandom(coin.TICKET_BYTES) for _ in range(number)]
        codes = [coin.code_text(ticket, bytes(10)) for ticket in tickets]
        if manifest.mode == "code":
            with writing(database) as connection:
                add_codes(connection, manifest.id, [coin.ticket_mark(manifest.id, ticket) for ticket in tickets])
        values = [{held["id"]: random.randrange(len(held["options"])) for held in manifest.variables} for _ in codes]
        people = [Respondent(value, code=code, habits=habits) for value, code in zip(values, codes)]
        assert answer_all(database, manifest, people) == ({"counted": number} if number else {})
        return people

    return answer


@pytest.fixture(scope="module")
def house():
    """The respondent's page, served from a collector in memory, and a browser where there is one."""
    from browser import chromium
    from visitor import opened_site

    with chromium() as browser, opened_site(browser) as held:
        yield held


@pytest.fixture
def site(house, need):
    """The same with nothing in its collector; without a browser the test is skipped."""
    return house.fresh(need)
