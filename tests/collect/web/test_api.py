"""The API: what each endpoint gives and refuses, and that its document says so."""

import io
import json
import zipfile
from hashlib import sha256

import jsonschema
import pytest
from browser import served
from sites import CODES, OWNER, SMALL, Client, Site

from subsetprivacy.collect.service import accounts, publishing
from subsetprivacy.collect.service.results import results_schema
from subsetprivacy.collect.web.api import api_document, endpoints
from subsetprivacy.collect.web.api_models import Error

KINDS = """
title = "All kinds"
mode = "open"
batch = 10
[[variables]]
id = "a"
question = "?"
options = ["1", "2", "3", "4", "5", "6"]
design = {kind = "partition", groups = 3}
[[variables]]
id = "b"
question = "?"
options = ["x", "y", "z"]
[[variables]]
id = "c"
question = "?"
options = ["x", "y", "z", "u", "v", "w", "s", "t", "r"]
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with Site(tmp_path_factory.mktemp("site") / "store.db") as held:
        held.manifest = held.publish()
        held.fill(held.manifest, 60)
        yield held


@pytest.fixture(scope="module")
def owner(site):
    return site.with_token("owner")


@pytest.fixture(scope="module")
def analyst(site):
    return site.with_token("analyst")


def refusal(reply, status):
    assert reply.status == status, reply.text[:300]
    held = Error.model_validate(reply.json())
    assert held.status == status
    return held


# Reading ----------------------------------------------------------------------------------------


def test_surveys_are_listed_with_their_links(site, analyst):
    (one,) = [held for held in analyst.get("/api/v1/surveys").json()["surveys"] if held["id"] == site.manifest.id]
    assert one == analyst.get(f"/api/v1/surveys/{site.manifest.id}").json()
    assert one["link"] == f"/s/{site.manifest.id}"
    assert (one["n"], one["releases"], one["mode"], one["is_open"]) == (50, len(_releases(site, analyst)), "open", True)


def _releases(site, client):
    return client.get(f"/api/v1/surveys/{site.manifest.id}/releases").json()["releases"]


def test_releases_are_chained(site, analyst):
    held = _releases(site, analyst)
    assert [one["no"] for one in held] == list(range(1, len(held) + 1))
    assert sum(one["n"] for one in held) == 50
    assert len({one["chain_sha256"] for one in held}) == len(held)


def test_manifest_is_the_frozen_bytes(site, analyst):
    reply = analyst.get(f"/api/v1/surveys/{site.manifest.id}/manifest")
    assert sha256(reply.body).hexdigest() == site.manifest.fingerprint


@pytest.mark.parametrize("text", [SMALL, CODES, KINDS], ids=["small", "codes", "kinds"])
def test_results_are_as_the_document_says(site, analyst, text):
    manifest = site.publish(text)
    for people, n in ((0, 0), (45, 30)):
        if people:
            site.fill(manifest, people)
        reply = analyst.get(f"/api/v1/surveys/{manifest.id}/results")
        found = reply.json()
        for schema in (results_schema(), described("/surveys/{survey_id}/results")):
            problems = jsonschema.Draft202012Validator(schema).iter_errors(found)  # nothing more, nothing less
            assert [(list(one.absolute_path), one.message) for one in problems] == []
        assert found["n"] == n
        ids = [held["id"] for held in manifest.variables]
        assert [one["id"] for one in found["variables"]] == ids
        assert [one["name"] for one in found["findings"]["variables"]] == ids
    publishing.delete(site.engine, manifest.id)


def described(path):
    """Return what the document of the API says of a reply."""
    (operation,) = [held["get"] for name, held in api_document()["paths"].items() if name.endswith(path)]
    return operation["responses"]["200"]["content"]["application/json"]["schema"]


def test_the_description_of_results_is_that_of_their_classes():
    schema = described("/surveys/{survey_id}/results")
    assert schema == json.loads(json.dumps(results_schema(inline=True)))
    jsonschema.Draft202012Validator.check_schema(schema)
    assert "$ref" not in json.dumps(schema)  # it stands alone


def test_exports_are_those_of_the_studio(site, analyst):
    session = site.signed_in(OWNER)
    there = f"/api/v1/surveys/{site.manifest.id}"
    for path, name, kind in [
        ("export.zip", "everything.zip", "application/zip"),
        ("groups/0/export.csv", "0.csv", "text/csv; charset=utf-8"),
        ("groups/1/export.parquet", "1.parquet", "application/vnd.apache.parquet"),
        ("results", "results.json", "application/json"),
    ]:
        reply = analyst.get(f"{there}/{path}")
        assert reply.header("content-type") == kind
        there_too = session.get(f"/studio/surveys/{site.manifest.id}/export/{name}")
        assert reply.body == there_too.body
        called = None if path == "results" else there_too.header("content-disposition")
        assert reply.header("content-disposition") == called
    names = zipfile.ZipFile(io.BytesIO(analyst.get(f"{there}/export.zip").body)).namelist()
    assert {"manifest.json", "results.json", "analyse.py"} <= set(names)


def test_groups_that_are_none(site, analyst):
    for group in ("2", "-1", "99999999999999999999", "x", "1.5", "true"):
        for kind in ("csv", "parquet"):
            reply = analyst.get(f"/api/v1/surveys/{site.manifest.id}/groups/{group}/export.{kind}")
            assert reply.status in (404, 422), (group, kind)
            Error.model_validate(reply.json())


def test_surveys_that_are_none(analyst):
    for name in ("nothing", "a" * 16, "%00" * 16, "A" * 16):
        for end in ("", "/manifest", "/results", "/releases", "/export.zip", "/groups/0/export.csv"):
            refusal(analyst.get(f"/api/v1/surveys/{name}{end}"), 404)


# Writing ----------------------------------------------------------------------------------------


def test_from_draft_to_deleted_survey(site, owner):
    made = owner.send("POST", "/api/v1/drafts", {"format": "toml", "text": CODES})
    assert made.status == 201
    draft = made.json()["id"]
    shown = made.json()
    assert [one["id"] for one in shown.pop("variables")] == ["colour", "day", "smokes"]
    told = {"id": draft, "title": "Small survey", "format": "toml", "text": CODES, "problems": []}
    assert shown == {**told, "revision": publishing.read_draft(site.engine, draft).revision}
    assert draft in [one["id"] for one in owner.get("/api/v1/drafts").json()["drafts"]]
    changed = CODES.replace("Small survey", "Changed")
    assert (
        owner.send("PUT", f"/api/v1/drafts/{draft}", {"format": "toml", "text": changed}).json()["title"] == "Changed"
    )
    assert owner.get(f"/api/v1/drafts/{draft}").json()["text"] == changed
    seen = {"revision": owner.get(f"/api/v1/drafts/{draft}").json()["revision"]}
    survey = owner.send("POST", f"/api/v1/drafts/{draft}/publish", seen).json()
    assert (survey["title"], survey["version"], survey["draft"]) == ("Changed", 1, draft)
    there = f"/api/v1/surveys/{survey['id']}"
    codes = owner.send("POST", f"{there}/codes", {"n": 3})
    assert codes.status == 201
    assert len(set(codes.json()["codes"])) == 3
    assert codes.json()["links"] == [f"/s/{survey['id']}#{code}" for code in codes.json()["codes"]]
    assert owner.send("POST", f"{there}/close", {"last_wave": False}).json()["is_open"] is False
    refusal(owner.send("POST", f"{there}/codes", {"n": 3}), 409)
    assert owner.request("DELETE", there).status == 204
    refusal(owner.get(there), 404)
    assert owner.request("DELETE", f"/api/v1/drafts/{draft}").status == 204
    refusal(owner.get(f"/api/v1/drafts/{draft}"), 404)
    acts = [deed.act for deed in accounts.activity(site.engine, 5)]
    assert [act.split("“")[0].strip() for act in acts] == [
        "deleted the draft",
        "deleted",
        "closed",
        "made 3 one-time links for",
        "published",
    ]
    assert accounts.activity(site.engine, 1)[0].actor == "token for owner"


def test_key_is_published_when_all_surveys_of_the_study_are_closed(site, owner):
    text = CODES.replace('study = "', 'study = "key-of-')
    first, second = site.publish(text), site.publish(text)
    there = [f"/api/v1/surveys/{one.id}" for one in (first, second)]
    owner.send("POST", f"{there[0]}/close", {})
    refusal(owner.send("POST", f"{there[0]}/key", b""), 409)
    assert owner.get(f"{there[0]}/releases").json()["key"] is None
    owner.send("POST", f"{there[1]}/close", {"last_wave": False})
    assert site.nobody.get(f"/s/{first.id}/key").status == 404
    key = owner.send("POST", f"{there[0]}/key", b"").json()["key"]
    assert site.nobody.get(f"/s/{second.id}/key").json() == {"key": key}
    assert owner.get(f"{there[1]}/releases").json()["key"] == key
    assert accounts.activity(site.engine, 1)[0].act.startswith("published the key of the study “key-of-")
    open_survey = site.publish(SMALL.replace('study = "', 'study = "no-key-of-'))
    refusal(owner.send("POST", f"/api/v1/surveys/{open_survey.id}/key", b""), 409)
    for one in (first, second, open_survey):
        assert owner.request("DELETE", f"/api/v1/surveys/{one.id}").status == 204


def test_deleted_survey_that_is_left_in_the_files_is_told(site, owner, monkeypatch):
    monkeypatch.setattr(publishing, "erase", lambda engine: False)
    manifest = site.publish(SMALL.replace('study = "', 'study = "left-of-'))
    reply = owner.request("DELETE", f"/api/v1/surveys/{manifest.id}")
    assert reply.status == 202
    assert "still contain traces" in reply.json()["message"]
    refusal(owner.get(f"/api/v1/surveys/{manifest.id}"), 404)


def test_problems_of_a_draft_come_with_their_lines(owner):
    held = refusal(
        owner.send("POST", "/api/v1/drafts", {"format": "toml", "text": SMALL.replace("batch = 10", "batch = 3")}), 422
    )
    assert [problem.line for problem in held.problems] == [4]
    assert "from 10" in held.problems[0].message


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"{}",
        b"\xff",
        b"[" * 50_000,
        json.dumps({"format": "ini", "text": SMALL}).encode(),
        json.dumps({"format": "toml", "text": 3}).encode(),
        json.dumps({"format": "toml", "text": SMALL, "more": 1}).encode(),
        json.dumps({"format": "toml", "text": "#" * 262145}).encode(),
        b'{"format": "toml", "text": "\\ud800"}',
        b'{"format": "toml", "text": "\\u0000"}',
    ],
)
def test_strange_bodies_are_refused(owner, body):
    reply = owner.send("POST", "/api/v1/drafts", body)
    held = refusal(reply, 400 if reply.status == 400 else 422)
    assert held.problems or held.status == 400


def test_too_large_bodies_are_refused(owner):
    refusal(owner.send("POST", "/api/v1/drafts", b"x" * (1 << 20) + b"x"), 413)


@pytest.mark.parametrize("n", [0, -1, 100_001, 1.5, "3", True, None, 1e400])
def test_numbers_of_codes_that_are_refused(site, owner, n):
    refusal(owner.send("POST", f"/api/v1/surveys/{site.manifest.id}/codes", {"n": n}), 422)


def test_second_version_that_would_narrow_answers_down_is_refused(site, owner):
    made = owner.send("POST", "/api/v1/drafts", {"format": "toml", "text": SMALL.replace('"black", ', "")}).json()
    seen = {"revision": made["revision"]}
    held = refusal(owner.send("POST", f"/api/v1/drafts/{made['id']}/publish", seen), 409)
    assert "must have the same `options`" in held.message


def test_programs_publish_replace_and_delete_what_they_have_read(site, owner):
    """Someone else changes the draft after a program has read it: nothing is published, overwritten or deleted."""
    read = owner.send("POST", "/api/v1/drafts", {"format": "toml", "text": SMALL}).json()
    there, listed = f"/api/v1/drafts/{read['id']}", len(publishing.surveys(site.engine))
    theirs = owner.send("PUT", there, {"format": "toml", "text": SMALL.replace("Small", "Their")}).json()
    assert theirs["revision"] != read["revision"]
    mine = {"format": "toml", "text": SMALL.replace("Small", "My")}
    seen = {"revision": read["revision"]}
    refusal(owner.send("POST", f"{there}/publish", seen), 409)
    refusal(owner.send("PUT", there, {**mine, **seen}), 409)
    refusal(owner.request("DELETE", f"{there}?revision={read['revision']}"), 409)
    assert owner.get(there).json()["text"] == theirs["text"]
    assert len(publishing.surveys(site.engine)) == listed
    for body in (b"", {}, {"revision": None}, {"revision": ""}, {"revision": "x"}):
        refusal(owner.send("POST", f"{there}/publish", body), 422)  # publishing cannot be undone: it must be said what
    saved = owner.send("PUT", there, {**mine, "revision": theirs["revision"]}).json()
    assert owner.send("PUT", there, {**mine, "revision": read["revision"]}).json() == saved  # sent twice, the same text
    listing = {one["id"]: one["revision"] for one in owner.get("/api/v1/drafts").json()["drafts"]}
    assert listing[read["id"]] == saved["revision"] == owner.get(there).json()["revision"]
    survey = owner.send("POST", f"{there}/publish", {"revision": saved["revision"]})
    assert (survey.status, survey.json()["title"]) == (201, "My survey")
    assert owner.request("DELETE", f"{there}?revision={saved['revision']}").status == 204
    assert owner.request("DELETE", f"/api/v1/surveys/{survey.json()['id']}").status == 204


def test_a_revision_in_another_place_changes_and_publishes_nothing(site, owner):
    read = owner.send("POST", "/api/v1/drafts", {"text": SMALL, "format": "toml"}).json()
    there, mine = f"/api/v1/drafts/{read['id']}", read["revision"]
    theirs = {"text": SMALL.replace("Small", "Theirs"), "format": "toml"}
    for query in (f"?revision={mine}", "?x=1"):
        refusal(owner.send("PUT", there + query, theirs), 400)
        refusal(owner.send("POST", f"{there}/publish{query}", {"revision": mine}), 400)
    for method, place, body in (("PUT", there, theirs), ("POST", f"{there}/publish", {"revision": mine})):
        reply = owner.send(method, place, body, headers={"If-Match": mine})
        assert "Send the `revision`" in refusal(reply, 400).message
    refusal(owner.request("DELETE", there, headers={"If-Match": mine}), 400)
    assert owner.get(there).json()["revision"] == mine
    assert not any(line.draft == read["id"] for line in publishing.surveys(site.engine))


def test_a_revision_that_is_not_understood_deletes_nothing(site, owner):
    read = owner.send("POST", "/api/v1/drafts", {"format": "toml", "text": SMALL}).json()
    there, mine = f"/api/v1/drafts/{read['id']}", read["revision"]
    for query in (f"rev={mine}", f"Revision={mine}", f"revision={mine}&revision={mine}", f"revision={mine}&x=1"):
        assert "?revision=… once" in refusal(owner.request("DELETE", f"{there}?{query}"), 400).message
    refusal(owner.send("DELETE", there, {"revision": mine}), 400)
    assert owner.get(there).json()["revision"] == mine
    assert owner.request("DELETE", f"{there}?revision={mine}").status == 204


# The document -----------------------------------------------------------------------------------


def test_document_is_valid_and_served_as_it_is(site):
    document = site.nobody.get("/api/v1/openapi.json").json()
    assert document == json.loads(json.dumps(api_document()))
    assert document["openapi"].startswith("3.1")
    assert "HTTPValidationError" not in json.dumps(document)
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert {"401", "403", "422", "500"} <= set(operation["responses"]), (method, path)
            assert operation["security"] == [{"token": []}]


def test_studio_explains_every_endpoint(site):
    page = site.signed_in(OWNER).get("/studio/api").text
    assert len(endpoints()) == 18
    for one in endpoints():
        assert f"<code>{one['path']}</code>" in page
        assert one["description"]


def test_no_other_documentation_is_served(site):
    for path in ("/docs", "/redoc", "/openapi.json"):
        assert site.nobody.get(path).status == 404


def test_links_have_the_configured_address(tmp_path):
    with Site(tmp_path / "store.db", base_url="https://ask.example.org") as site:
        manifest = site.publish()
        client = site.with_token()
        reply = client.request("GET", f"/api/v1/surveys/{manifest.id}", headers={"Host": "evil.example"})
        assert reply.json()["link"] == f"https://ask.example.org/s/{manifest.id}"


def test_nothing_of_a_request_is_told_to_whoever_watches_the_process(tmp_path, monkeypatch):
    """The framework reports requests to OpenTelemetry unless it is told not to."""
    from fastapi import FastAPI
    from opentelemetry import trace

    seen = []

    class Watching(trace.TracerProvider):  # not a provider that does nothing: the framework would not ask it
        def get_tracer(self, *arguments, **more):
            tracer = trace.NoOpTracer()
            for name in ("start_span", "start_as_current_span"):
                real = getattr(tracer, name)
                setattr(tracer, name, lambda *a, _real=real, **k: (seen.append(a), _real(*a, **k))[1])
            return tracer

    watching = Watching()
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: watching)
    monkeypatch.setenv("FASTAPI_OTEL_AUTO_CONFIGURE", "true")
    with Site(tmp_path / "store.db") as site:
        manifest = site.publish()
        site.nobody.get(f"/s/{manifest.id}/manifest")
        site.nobody.send("POST", f"/s/{manifest.id}/submit", {"ticket": "x"})
        site.signed_in(OWNER).get("/studio")
        Client(site.port, token="sp_x").get("/api/v1/surveys")
    assert not seen
    with served(FastAPI(telemetry={"auto_configure": False})) as origin:
        Client(int(origin.rpartition(":")[2])).get("/somewhere")
    assert seen, "who watches would see the requests to another application"
