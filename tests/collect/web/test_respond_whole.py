"""The respondent's page on the real application: the guard's headers, the collector, the store."""

import json
import shutil

import pytest
from browser import CHROMIUM, PLAYWRIGHT, chromium, served
from fake_collector import ALL_KINDS, FakeCollector, make_survey
from sqlalchemy import select
from visitor import TRUTH, Site

from subsetprivacy.collect.service.publishing import close, make_codes, publish, save_draft
from subsetprivacy.collect.storage.opening import open_store, reading
from subsetprivacy.collect.storage.schema import pending
from subsetprivacy.collect.survey.submission import CODE_BYTES, read_submission
from subsetprivacy.collect.survey.writing import write_survey
from subsetprivacy.collect.web.app import create_app


@pytest.fixture(scope="module")
def running(tmp_path_factory, sqlite_template):
    """A store, and a site that is served from it."""
    file = shutil.copy(sqlite_template, tmp_path_factory.mktemp("whole") / "store.db")
    engine = open_store(f"sqlite:///{file}")
    app = create_app(engine)
    with chromium() as browser, served(app, lifespan="on") as origin:
        yield engine, Site(browser, FakeCollector(), app, origin)
    engine.dispose()


@pytest.fixture
def service(running, need):
    need(*PLAYWRIGHT)
    need(*CHROMIUM)
    return running


@pytest.mark.parametrize("mode", ["open", "code"])
def test_a_visit_is_counted_in_the_store_and_checked_after_the_study(service, mode):
    engine, site = service
    survey = make_survey(mode, batch=10, study=mode, links=(("income", "drugs"),))
    manifest = publish(engine, save_draft(engine, write_survey(survey, "toml"), "toml").id)
    (code,) = make_codes(engine, manifest.id, 1) if mode == "code" else (None,)
    with site.visitor(tolerated=("status of 404", "status of 409")) as visitor:
        if mode == "code":
            visitor.open(site.link(manifest, "a" * 32), then="problem")
            assert visitor.heading == visitor.words["problem.unknown_code.title"]
        visitor.open(site.link(manifest, code))
        visitor.start()
        visitor.answer_all(manifest, TRUTH)
        literal = visitor.literal()
        visitor.send()
        assert visitor.says("done.counted")
        with reading(engine) as connection:
            wanted = select(pending.c.grp, pending.c.row, pending.c.n).where(pending.c.survey == manifest.id)
            rows = connection.execute(wanted).all()
        if mode == "code":  # and in another browser
            stored = visitor.page.evaluate("JSON.stringify(localStorage)")
            visitor.page.evaluate("localStorage.clear()")
            visitor.open(site.link(manifest, code), then="problem")
            assert visitor.heading == visitor.words["problem.already_counted.title"]
            visitor.page.evaluate("stored => Object.assign(localStorage, JSON.parse(stored))", stored)
        close(engine, manifest.id)
        visitor.reload("done")
        assert visitor.says("promise.fair") is (mode == "code")
        visitor.page.evaluate("localStorage.clear()")  # as for somebody who comes too late
        visitor.open(site.link(manifest, code), "problem")
        assert visitor.heading == visitor.words["problem.closed.title"]
    expected = read_submission(literal.encode(), manifest).rows
    assert sorted(rows) == sorted((grp, row, 1) for grp, row in enumerate(expected))
    assert len(expected[0]) == 2 * CODE_BYTES
    assert len(json.loads(literal)["answers"]) == len(ALL_KINDS)
