"""The API under schemathesis: no status, header or document that its description does not announce, and no 5xx."""

import importlib.util
from functools import cache
from itertools import count

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from sites import SMALL, Site

from subsetprivacy.collect.service import publishing
from subsetprivacy.collect.service.publishing import MOST_CODES
from subsetprivacy.collect.web.api import api_document, endpoints

SCHEMATHESIS = ("schemathesis", importlib.util.find_spec("schemathesis") is not None, "pip install schemathesis")
OPERATIONS = [(one["method"], one["path"]) for one in endpoints()]
FEW, MANY = 5, {"GET": 1800}  # 20,000 in all
CHANGES = 400  # of what changes something, which takes longer
STUDIES = count(1)  # of which each is used once


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with Site(tmp_path_factory.mktemp("site") / "store.db") as held:
        held.program = held.with_token("owner")
        yield held


def coded():
    """Return a survey with codes in a study of its own: one whose key is published takes no further codes."""
    text = SMALL.replace('mode = "open"', 'mode = "code"')
    return text.replace('study = "small"', f'study = "s{next(STUDIES)}"')


def known_ids(site):
    """Return a survey with results, one that can be closed or deleted, and a draft; made anew where they are gone."""
    if not publishing.drafts(site.engine):
        publishing.save_draft(site.engine, SMALL, "toml")
    lines = publishing.surveys(site.engine)
    if not any(line.n for line in lines):
        site.fill(site.publish(), 20)
    if not any(line.is_open and not line.n for line in lines):
        site.publish(coded())
    lines = publishing.surveys(site.engine)
    return [line.id for line in lines][:3], [draft.id for draft in publishing.drafts(site.engine)][:3]


def secret_ids(site):
    """Return a survey that is closed and whose key can be published; made anew each time."""
    manifest = site.publish(coded())
    publishing.close(site.engine, manifest.id, last_wave=False)
    for line in publishing.surveys(site.engine):
        if line.id == manifest.id:
            publishing.delete_draft(site.engine, line.draft)  # once its key is published, it can be no more
    return [manifest.id]


@cache
def schema_of(url):
    import schemathesis

    schema = schemathesis.openapi.from_dict(api_document())
    schema.config.update(base_url=url)
    return schema


def fuzz(site, method, path, cases, start=1):
    """Send many requests to an endpoint, with ids that exist in half of them, and check every answer."""
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    schema = schema_of(site.url)
    headers = {"Authorization": f"Bearer {site.program.token}"}
    statuses = set()
    # What is a survey no schema can say: a text that fits it may be refused.
    excluded = [positive_data_acceptance] if method in ("POST", "PUT") and "draft" in path else []

    @seed(start)
    @settings(max_examples=cases, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(case=schema[path][method].as_strategy(), known=st.booleans(), which=st.integers(0, 2))
    def run(case, known, which):
        if known and case.path_parameters:
            surveys, drafts = known_ids(site)
            if path.endswith("/key"):
                surveys = secret_ids(site)
            for name, ids in (("survey_id", surveys), ("draft_id", drafts)):
                if name in case.path_parameters:
                    case.path_parameters[name] = ids[which % len(ids)]
            if "group" in case.path_parameters:
                case.path_parameters["group"] = which
        if known and "draft" in path and method in ("POST", "PUT") and not path.endswith("publish"):
            case.body = {"format": "toml", "text": SMALL}
        if known and "draft_id" in case.path_parameters and method in ("POST", "DELETE"):
            revision = publishing.read_draft(site.engine, case.path_parameters["draft_id"]).revision
            if method == "DELETE":
                case.query = {"revision": revision}
            else:
                case.body = {"revision": revision}
        if path.endswith("/codes") and isinstance(case.body, dict) and case.body.get("n", 0) in range(200, MOST_CODES):
            case.body["n"] = 200  # many thousands each time would test the disk
        response = case.call(headers=headers)
        statuses.add(response.status_code)
        case.validate_response(response, headers=headers, excluded_checks=excluded)

    run()
    return statuses


def test_every_endpoint_keeps_to_its_description(need, site):
    need(*SCHEMATHESIS)
    for method, path in OPERATIONS:
        statuses = set()
        for start in range(1, 51):  # the ids differ each time, and with them what is sent: until something is granted
            statuses |= fuzz(site, method, path, FEW, start)
            if min(statuses) < 300:
                break
        assert all(status < 500 for status in statuses), (method, path)
        assert any(status < 300 for status in statuses), (method, path)


@pytest.mark.slow
@pytest.mark.parametrize(("method", "path"), OPERATIONS, ids=lambda text: text)
def test_endpoint_keeps_to_its_description_under_many_requests(need, site, method, path):
    need(*SCHEMATHESIS)
    fuzz(site, method, path, MANY.get(method, CHANGES))
