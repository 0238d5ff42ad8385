"""Hostile texts in every field of a survey, on every page, picture, document and export: they stay texts."""

import io
import json
import re
import zipfile
from html import escape, unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from payloads import PAYLOADS, SLOTS, harmless, placed, spread, survey_document
from sites import OWNER, Site

import subsetprivacy.collect.web as web
from subsetprivacy.collect.service import accounts, publishing

PLACES = ("/studio", "/static/studio/", "#", "/s/", "/api/v1/openapi.json")


class Skeleton(HTMLParser):
    """Takes down the elements of a page and the names of their attributes, and where addresses lead."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.bones, self.addresses = [], []

    def handle_starttag(self, tag, attributes):
        bone = (tag, *(name for name, _ in attributes))
        if tag == "text" and self.bones[-2:] == [bone, "/text"]:
            del self.bones[-2:]  # a longer label has more lines
        self.bones.append(bone)
        self.addresses += [value for name, value in attributes if name in ("href", "src", "action", "formaction")]

    def handle_endtag(self, tag):
        self.bones.append(f"/{tag}")

    def handle_comment(self, data):
        raise AssertionError("there are no comments in our pages")

    def handle_decl(self, decl):
        self.bones.append(decl)


def skeleton(reply):
    held = Skeleton()
    held.feed(reply.text)
    held.close()
    ids = re.compile(r"[a-z2-7]{16}(?:[a-z2-7]{10})?")
    return held.bones, [ids.sub("ID", one) for one in held.addresses]


def pages(site, owner, texts):
    """Publish a survey with these texts, let people answer, and return every page that shows them."""
    document = survey_document(texts)
    draft = publishing.save_draft(site.engine, json.dumps(document), "json")
    manifest = publishing.publish(site.engine, draft.id)
    empty = publishing.publish(site.engine, draft.id)
    site.fill(manifest, 40)
    token = accounts.make_token(site.engine, OWNER, texts[3][:64], "analyst")
    there, here = f"/studio/surveys/{manifest.id}", f"/studio/drafts/{draft.id}"
    shown = {
        "list": owner.get("/studio"),
        "form": owner.get(here),
        "file": owner.get(f"{here}/file"),
        "problems": owner.post(
            f"{here}/file",
            {"text": f'{{"title": {json.dumps(texts[5])}, {json.dumps(texts[6])}: 1}}', "format": "json"},
        ),
        "publish": owner.get(f"{here}/publish"),
        "delete draft": owner.get(f"{here}/delete"),
        "dashboard": owner.get(there),
        "empty": owner.get(f"/studio/surveys/{empty.id}"),
        "manage": owner.get(f"{there}/manage"),
        "codes": owner.post(f"{there}/codes", {"n": texts[4], "address": texts[5]}),
        "close": owner.get(f"{there}/close"),
        "delete": owner.get(f"{there}/delete"),
        "delete refused": owner.submit(f"{there}/delete", {"title": texts[7]}),
        "people": owner.get("/studio/people"),
        "sign-in": site.nobody.post("/studio/sign-in", {"name": texts[8], "password": texts[9]}),
        "invite": owner.post("/studio/people/invite", {"name": texts[10], "role": texts[11]}),
        "token": owner.post("/studio/tokens/make", {"name": texts[12] * 9, "role": texts[13]}),
        "setup": site.nobody.post("/studio/setup", {"name": texts[14], "token": texts[15]}),
        "invitation": site.nobody.post("/studio/invitation", {"name": texts[16], "token": texts[17]}),
    }
    unsaved = {"text": json.dumps(document, indent=1), "format": "json"}
    shown |= {
        "conflict": owner.post(f"{here}/file", unsaved),
        "unpublished": owner.post(f"{here}/publish", unsaved),
        "gone": owner.post(f"/studio/drafts/{'a' * 16}/file", unsaved),
    }
    document["variables"][0]["options"][0] = "another"
    publishing.save_draft(site.engine, json.dumps(document), "json", draft.id)
    shown["refused"] = owner.submit(f"{here}/publish")
    assert shown["refused"].status == 409
    data = {
        name: owner.get(f"{there}/export/{name}")
        for name in ("results.json", "manifest.json", "everything.zip", "0.csv", "0.parquet")
    }
    program = site.program
    data |= {
        "api": program.get(f"/api/v1/surveys/{manifest.id}/results"),
        "api drafts": program.get("/api/v1/drafts"),
        "api problems": program.send("POST", "/api/v1/drafts", {"format": "json", "text": texts[20]}),
    }
    for survey in (manifest.id, empty.id):
        publishing.delete(site.engine, survey)
    publishing.delete_draft(site.engine, draft.id)
    accounts.revoke_token(site.engine, OWNER, accounts.mark("token", token).hex())
    return shown, data


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with Site(tmp_path_factory.mktemp("site") / "store.db") as held:
        held.program = held.with_token("owner")
        yield held


def check(site, texts):
    """Compare pages with payloads to the same with harmless texts: nothing but the texts may differ."""
    from sqlalchemy import delete

    from subsetprivacy.collect.storage.schema import deed

    owner = site.signed_in(OWNER)
    made = []
    for given in (texts, harmless(texts)):
        with site.engine.begin() as connection:
            connection.execute(delete(deed))
        site.app.state.studio.throttle.__init__()
        made.append(pages(site, owner, given))
    (shown, data), (plain, _) = made
    for name, reply in shown.items():
        bones, addresses = skeleton(reply)
        assert (bones, addresses) == skeleton(plain[name]), name
        assert all(address.startswith(PLACES) for address in addresses), name
        assert reply.header("content-type") == "text/html; charset=utf-8"
    assert texts[0] in unescape(shown["list"].text)
    assert escape(texts[0]) in shown["list"].text.replace("&#39;", "&#x27;").replace("&#34;", "&quot;")
    for text in texts[4:]:
        assert text.split(" ", 1)[0] in shown["dashboard"].text
    for name, reply in data.items():
        assert reply.header("x-content-type-options") == "nosniff"
        assert "html" not in reply.header("content-type")
        assert reply.header("content-security-policy").startswith("default-src 'none'")
        if "json" in reply.header("content-type"):
            json.loads(reply.body)
        if name == "everything.zip":
            held = zipfile.ZipFile(io.BytesIO(reply.body))
            assert all(re.fullmatch(r"[A-Za-z0-9._/-]+", one) for one in held.namelist())
            assert json.loads(held.read("results.json"))["survey"]["title"] == texts[0]


def test_corpus_has_200_different_payloads():
    assert len(set(PAYLOADS)) == 200
    assert sum("<" in text for text in PAYLOADS) > 120


def test_one_survey_holds_every_payload_and_each_of_its_texts_at_least_one():
    texts = spread()
    assert all(any(payload in text for text in texts) for payload in PAYLOADS)
    assert all(any(payload in text for payload in PAYLOADS) for text in texts)
    assert len(texts) == SLOTS


def test_every_payload_stays_a_text(site):
    check(site, spread())


@pytest.mark.slow
def test_every_payload_in_every_field_stays_a_text(site):
    for first in range(200):
        check(site, placed(first))


# The templates themselves -----------------------------------------------------------------------

WEB = Path(web.__file__).parent
TEMPLATES = sorted((WEB / "templates").glob("*.html"))
SCRIPTS = sorted((WEB / "static" / "studio").glob("*.js"))


def test_templates_escape_everything():
    for file in TEMPLATES:
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"\|\s*safe\b|autoescape|Markup|\bxmlattr\b|tojson", text), file.name
        assert not re.search(r"\son\w+\s*=|\sstyle\s*=|<style|javascript:|<script(?![^>]*\ssrc=)", text), file.name
        # A value in an attribute stands in quotation marks.
        assert not re.search(r"=\{\{", text), file.name


def test_scripts_never_read_text_as_markup():
    for file in SCRIPTS:
        text = file.read_text(encoding="utf-8")
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|DOMParser|srcdoc", text
        ), file.name
        assert "http://" not in text, file.name
        assert "https://" not in text, file.name


def test_no_python_of_the_web_marks_text_as_safe():
    for file in WEB.glob("*.py"):
        text = file.read_text(encoding="utf-8")
        assert "Markup" not in text, file.name
        assert not re.search(r"Html\([^)]", text), file.name
