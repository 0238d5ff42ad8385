"""Drafts: beginning them, the file and the form, the preview, publishing, deleting."""

import json
import re
from datetime import timedelta
from html import unescape

import pytest
from sites import OWNER, PASSWORD, SMALL, Site

from subsetprivacy.collect.service import accounts, publishing
from subsetprivacy.collect.survey.describing import NoticeKind, survey_facts
from subsetprivacy.collect.survey.documents import survey_document
from subsetprivacy.collect.survey.manifest import read_manifest
from subsetprivacy.collect.survey.problems import SurveyProblem
from subsetprivacy.collect.survey.reading import read_survey
from subsetprivacy.collect.web.form_wording import error_in_words, in_words_of_the_form
from subsetprivacy.collect.web.respond import page_bytes
from subsetprivacy.collect.web.studio_examples import EXAMPLES
from subsetprivacy.collect.web.studio_promises import promises
from subsetprivacy.messages.for_surveys import ASK_ALIKE


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with Site(tmp_path_factory.mktemp("site") / "store.db") as held:
        yield held


@pytest.fixture
def draft(site):
    held = publishing.save_draft(site.engine, SMALL, "toml")
    yield held.id
    if publishing.read_draft(site.engine, held.id) is not None:
        publishing.delete_draft(site.engine, held.id)


def document_of(page):
    return json.loads(unescape(re.search(r'data-document="([^"]*)"', page.text)[1]))


def save_form(client, place, document):
    """Open the form and save a document in the place of its own."""
    page = unescape(client.get(place).text)
    held = {name: re.search(rf'data-{name}="([^"]*)"', page)[1] for name in ("revision", "format")}
    return client.send("POST", place, {**held, "document": document})


def parts(name, content, boundary="xyz"):
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
    body = (
        head.encode() + b"Content-Type: application/octet-stream\r\n\r\n" + content + f"\r\n--{boundary}--\r\n".encode()
    )
    return body, {"Content-Type": f"multipart/form-data; boundary={boundary}"}


# Beginning --------------------------------------------------------------------------------------


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: one.id)
def test_every_example_becomes_a_draft_that_can_be_published(site, owner, example):
    reply = owner.post("/studio/drafts/new", {"example": example.id})
    assert reply.status == 303
    place = reply.header("location")
    assert owner.get(place).status == 200
    page = owner.get(f"{place}/publish")
    assert page.status == 200
    for variable in read_survey(example.text, "toml").variables:
        assert variable.label in unescape(page.text)


@pytest.mark.parametrize("format", ["toml", "yaml", "json"])
def test_draft_from_a_file(site, owner, format):
    from subsetprivacy.collect.survey.writing import write_survey

    text = write_survey(read_survey(SMALL, "toml"), format)
    reply = owner.request("POST", "/studio/drafts/new", *parts(f"my survey.{format.upper()}", text.encode()))
    assert reply.status == 303
    held = publishing.read_draft(site.engine, reply.header("location").rpartition("/")[2])
    assert (held.format, held.text) == (format, text)


@pytest.mark.parametrize(
    ("name", "content", "status", "said"),
    [
        ("a.toml", b'title = "x"\nnonsense = 3', 422, "Line 2"),
        ("a.txt", SMALL.encode(), 422, ".toml, .yaml or .json"),
        ("a.toml", b"\xff\xfe", 422, "UTF-8"),
        ("a.toml", b"#" * (256 * 1024 + 1), 413, "256 kB"),
        ("", b"", 422, ".toml, .yaml or .json"),
    ],
)
def test_files_that_are_no_survey(owner, name, content, status, said):
    reply = owner.request("POST", "/studio/drafts/new", *parts(name, content))
    assert reply.status == status
    assert said in reply.text


def test_file_with_mistakes_opens_in_the_editor_and_becomes_a_draft_once_mended(site, owner):
    before = publishing.drafts(site.engine)
    wrong = SMALL.replace("batch = 10", "batch = 3")
    reply = owner.request("POST", "/studio/drafts/new", *parts("mine.toml", wrong.encode()))
    assert reply.status == 422
    assert 'data-line="4"' in reply.text
    assert "batch = 3" in unescape(reply.text)  # the text, to be mended
    assert 'action="/studio/drafts/new"' in reply.text
    again = owner.post("/studio/drafts/new", {"text": wrong.replace("3", "4"), "format": "toml"})
    assert (again.status, "batch = 4" in unescape(again.text)) == (422, True)
    assert owner.post("/studio/drafts/new", {"text": "#" * 262145, "format": "toml"}).status == 413
    assert publishing.drafts(site.engine) == before
    mended = owner.post("/studio/drafts/new", {"text": SMALL, "format": "toml"})
    assert mended.status == 303
    held = publishing.read_draft(site.engine, mended.header("location").rpartition("/")[2])
    assert held.text == SMALL
    publishing.delete_draft(site.engine, held.id)


def test_example_is_that_of_the_command_line(site, owner):
    from click.testing import CliRunner

    from subsetprivacy.cli.main import main

    place = owner.post("/studio/drafts/new", {"example": "work"}).header("location")
    held = publishing.read_draft(site.engine, place.rpartition("/")[2])
    assert held.text == CliRunner().invoke(main, ["survey", "example"]).stdout
    titles = [read_survey(one.text, "toml").title for one in EXAMPLES]
    assert titles[1:] == [one.title for one in EXAMPLES[1:]]
    publishing.delete_draft(site.engine, held.id)


# The file ---------------------------------------------------------------------------------------


def test_text_is_kept_to_the_letter(site, owner, draft):
    text = SMALL.replace("Small survey", "Größer & <besser>") + "\n# a comment\n\n\n"
    reply = owner.submit(f"/studio/drafts/{draft}/file", {"text": text.replace("\n", "\r\n"), "format": "toml"})
    assert reply.status == 303
    assert publishing.read_draft(site.engine, draft).text == text
    saved = owner.get(f"/studio/drafts/{draft}/export/survey.toml")
    assert saved.body == text.encode()
    assert saved.header("content-disposition") == 'attachment; filename="grosser-besser.toml"'
    assert owner.get(f"/studio/drafts/{draft}/export/survey.json").status == 404


def test_file_that_was_saved_says_so_once(owner, draft):
    place = f"/studio/drafts/{draft}/file"
    assert "Saved." not in owner.get(place).text
    reply = owner.submit(place, {"text": SMALL, "format": "toml"})
    assert '<p class="success" role="status">Saved.</p>' in owner.get(reply.header("location")).text


def test_problems_come_with_their_lines_and_nothing_is_saved(site, owner, draft):
    wrong = SMALL.replace('"black", ', '"red", ').replace("batch = 10", "batch = 3")
    reply = owner.submit(f"/studio/drafts/{draft}/file", {"text": wrong, "format": "toml"})
    assert reply.status == 422
    assert 'data-line="4"' in reply.text  # the batch
    assert 'data-line="12"' in reply.text  # the options
    assert unescape(reply.text).count("batch = 3") == 1
    assert publishing.read_draft(site.engine, draft).text == SMALL


def test_file_can_be_written_in_another_format(site, owner, draft):
    for before, after in [("toml", "yaml"), ("yaml", "json"), ("json", "toml")]:
        held = publishing.read_draft(site.engine, draft)
        reply = owner.submit(f"/studio/drafts/{draft}/file", {"text": held.text, "format": before, "convert": after})
        assert reply.status == 303
        held = publishing.read_draft(site.engine, draft)
        assert held.format == after
        assert read_survey(held.text, after) == read_survey(SMALL, "toml")


@pytest.mark.parametrize(
    ("text", "format", "status"), [(SMALL, "ini", 400), (SMALL, "", 400), ("#" * 262145, "toml", 413)]
)
def test_strange_files_are_refused(owner, draft, text, format, status):
    assert owner.submit(f"/studio/drafts/{draft}/file", {"text": text, "format": format}).status == status


# The form ---------------------------------------------------------------------------------------


def test_form_and_file_are_the_same_survey(site, owner, draft):
    document = document_of(owner.get(f"/studio/drafts/{draft}"))
    assert document == survey_document(read_survey(SMALL, "toml"))
    document["title"] = "Changed in the form"
    document["variables"][0]["options"].append("yellow")
    reply = save_form(owner, f"/studio/drafts/{draft}", document)
    held = publishing.read_draft(site.engine, draft)
    assert (reply.status, reply.json()) == (200, {"saved": True, "problems": [], "revision": held.revision})
    assert held.title == "Changed in the form"
    assert read_survey(held.text, "toml").variable("colour").options[-1] == "yellow"
    assert document_of(owner.get(f"/studio/drafts/{draft}")) == document


def test_problems_of_the_form_come_with_their_places(site, owner, draft):
    document = document_of(owner.get(f"/studio/drafts/{draft}"))
    document["variables"][1]["options"][0] = ""
    document["links"] = [{"variables": ["colour", "nothing"]}]
    reply = save_form(owner, f"/studio/drafts/{draft}", document)
    assert reply.status == 422
    assert not reply.json()["saved"]
    paths = [problem["path"] for problem in reply.json()["problems"]]
    assert ["variables", 1, "options", 0] in paths
    assert ["links", 0, "variables", 1] in paths
    assert publishing.read_draft(site.engine, draft).text == SMALL


def test_problems_of_the_form_speak_of_questions_and_answers(owner, draft):
    document = document_of(owner.get(f"/studio/drafts/{draft}"))
    document["variables"][1]["options"][2] = "Monday"
    document["variables"][0]["id"] = "day"
    document["variables"][2]["options"] = ["options, variable"] * 2  # what was typed stays as it is
    document["links"] = [{"variables": ["day"]}]
    document["batch"] = 3
    problems = save_form(owner, f"/studio/drafts/{draft}", document).json()["problems"]
    said = {one["place"]: one["message"] for one in problems}
    assert said["Question 2, answer 3"].startswith("must differ from the others; number 1 ")
    assert {"Batch", "Question 2, name", "Link 1"} <= set(said)
    assert said["Link 1"] == "must be at least two; got 1."
    for place, message in said.items():
        without = re.sub('"[^"]*"', "", f"{place} {message}")
        assert not re.search(r"\b(variables?|options?|ids?)\b", without), (place, message)


def test_words_that_were_typed_are_not_translated():
    problem = SurveyProblem(
        1, "variable 1", 'must be one of the `options`; got "options of a variable".', ("variables", 0)
    )
    held = in_words_of_the_form(problem)
    assert held["message"] == 'must be one of the answers; got "options of a variable".'
    assert (held["place"], held["path"]) == ("Question 1", ["variables", 0])


def test_designs_are_named_as_the_form_names_them(owner):
    place = owner.post("/studio/drafts/new", {"example": "empty"}).header("location")
    document = document_of(owner.get(place))
    never_alone = {"options": ["a", "b", "c", "d"], "never_alone": [["a", "b"]]}
    document["variables"][0] |= {"question": "Which?", **never_alone}
    (problem,) = save_form(owner, place, document).json()["problems"]
    assert problem["message"].endswith(
        "Hint: make it five answers or more, or have people mark answers on the device (“How it is asked”: “On the "
        "device”, 3 sent together)."
    )


def test_study_follows_the_title_until_people_were_asked(site, owner):
    def follows(place):
        return "data-study-follows" in owner.get(place).text

    place = owner.post("/studio/drafts/new", {"example": "empty"}).header("location")
    assert follows(place)
    document = document_of(owner.get(place))
    document |= {"title": "Chosen"}
    del document["study"]
    document["variables"][0] |= {"question": "Which?", "options": ["a", "b", "c", "d"]}
    assert save_form(owner, place, document).json()["saved"]
    assert document_of(owner.get(place))["study"] == "chosen"
    assert follows(place)
    assert owner.submit(f"{place}/publish").status == 303
    assert not follows(place)
    other = owner.post("/studio/drafts/new", {"example": "work"}).header("location")
    assert not follows(other)  # it has a study of its own


def test_notices_name_questions_by_their_labels():
    survey = read_survey(SMALL.replace('"Smokes"', '"The option to smoke"'), "toml")
    linked, *_ = [one for one in promises(survey).notices if "kept together" in one]
    assert linked.startswith("“Colour” and “Day”: kept together.")
    (odds,) = [one for one in promises(survey).notices if "odds" in one]
    assert odds == "“The option to smoke”: an answer multiplies the odds of a value by at most 3."


def test_questions_with_the_same_label_are_told_apart_before_they_are_published():
    said = promises(read_survey(SMALL.replace('"Colour"', '"Day"'), "toml"))
    assert [line.label for line in said.lines][:2] == ["Day (colour)", "Day (day)"]
    assert said.linked[0][0] == "Day (colour), Day (day)"
    assert any(notice.startswith("“Day (colour)” and “Day (day)”: ") for notice in said.notices)


def test_an_open_survey_is_a_warning_and_no_notice_besides():
    survey = read_survey(SMALL, "toml")
    assert NoticeKind.OPEN in [notice.kind for notice in survey_facts(survey).notices]
    said = promises(survey)
    assert any("Anyone with the link" in warning for warning in said.warnings)
    assert not any(notice.startswith("open mode") for notice in said.notices)


def test_errors_on_a_page_speak_of_questions_and_answers():
    error = publishing.PublishingError("'a' must have the same `options` and `design` as before.", ASK_ALIKE)
    said = error_in_words(error)
    assert said.startswith("'a' must have the same answers and way of asking as before. Hint: take those")
    assert "give the question another name" in said
    assert "give the variable another id" in str(error)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"1",
        b"null",
        b'"x"',
        b'{"title": 3}',
        b"[" * 20000,
        b'{"a": NaN}',
        b'{"document": {}}',
        b'{"document": {}, "format": "toml", "revision": 3}',
        b'{"document": {}, "format": "ini", "revision": ""}',
        b'{"document": {"title": NaN}, "format": "toml", "revision": ""}',
        b'{"document": {"title": "\\ud800"}, "format": "toml", "revision": ""}',
        b"\xff",
    ],
)
def test_strange_documents_are_refused_and_break_nothing(site, owner, draft, body):
    assert owner.send("POST", f"/studio/drafts/{draft}", body).status in (400, 422)
    assert publishing.read_draft(site.engine, draft).text == SMALL


def test_form_takes_json_only(owner, draft):
    assert owner.post(f"/studio/drafts/{draft}", {"title": "x"}).status == 415


# The preview ------------------------------------------------------------------------------------


def test_preview_is_the_respondents_page_with_the_draft_marked(site, owner, draft):
    place = owner.get(f"/studio/drafts/{draft}/preview").header("location")
    page = site.nobody.get(place)  # the page sends no cookies: its address lets it in
    assert page.body == page_bytes()
    assert "frame-ancestors 'self'" in page.header("content-security-policy")
    manifest = site.nobody.get(f"{place}/manifest").json()
    assert manifest.pop("preview") is True
    assert manifest["title"] == "Small survey"
    read_manifest(json.dumps(manifest).encode())
    assert owner.get(f"/studio/drafts/{draft}/preview").header("location") == place


def test_pass_of_one_draft_opens_no_other(site, owner, draft):
    other = publishing.save_draft(site.engine, SMALL, "toml").id
    place = owner.get(f"/studio/drafts/{draft}/preview").header("location")
    assert site.nobody.get(place.replace(draft, other)).status == 404
    assert site.nobody.get(place.replace(draft, other) + "/manifest").status == 404
    assert site.nobody.get(place[:-1]).status == 404
    publishing.delete_draft(site.engine, other)


@pytest.mark.parametrize("end", ["signed out", "removed", "too old"])
def test_preview_ends_with_the_session_that_opened_it(site, draft, monkeypatch, end):
    """An owner who was removed would otherwise read what is saved after that."""
    invitation = accounts.invite(site.engine, OWNER, "eve", "owner")
    eve = accounts.accept(site.engine, "eve", invitation, PASSWORD)
    theirs = site.signed_in(eve)
    place = theirs.get(f"/studio/drafts/{draft}/preview").header("location")
    assert site.nobody.get(f"{place}/manifest").status == 200
    if end == "signed out":
        theirs.post("/studio/sign-out", {})
    elif end == "removed":
        accounts.remove(site.engine, OWNER, "eve")
    else:
        later = accounts.today() + timedelta(days=accounts.SESSION_DAYS + 1)
        monkeypatch.setattr(accounts, "today", lambda: later)
    assert site.nobody.get(place).status == 404
    assert site.nobody.get(f"{place}/manifest").status == 404
    if end != "removed":
        accounts.remove(site.engine, OWNER, "eve")


def test_pass_is_the_same_on_every_server_of_a_database(owner, draft):
    place = owner.get(f"/studio/drafts/{draft}/preview").header("location")
    (secret,) = owner.cookies.values()
    assert place.rpartition("/")[2] == accounts.preview_pass(secret, draft)


# Publishing and deleting ------------------------------------------------------------------------


def test_publishing_freezes_and_shows_the_fingerprint(site, owner, draft):
    assert "After that, the survey can no longer change" in owner.get(f"/studio/drafts/{draft}/publish").text
    reply = owner.submit(f"/studio/drafts/{draft}/publish")
    assert reply.status == 303
    page = owner.get(reply.header("location"))
    survey = reply.header("location").split("/")[3]
    manifest = read_manifest(site.nobody.get(f"/s/{survey}/manifest").body)
    assert manifest.fingerprint in page.text
    again = owner.submit(f"/studio/drafts/{draft}/publish").header("location")
    assert "Version 2" in owner.get(again).text
    changed = SMALL.replace('"black", ', "")
    assert owner.submit(f"/studio/drafts/{draft}/file", {"text": changed, "format": "toml"}).status == 303
    refused = owner.submit(f"/studio/drafts/{draft}/publish")
    assert refused.status == 409
    assert "must have the same answers" in refused.text
    assert site.nobody.get(f"/s/{survey}/manifest").body == manifest.text


def test_refusal_is_said_before_publishing(site, owner, draft):
    assert owner.submit(f"/studio/drafts/{draft}/publish").status == 303
    assert "This draft cannot be published yet" not in owner.get(f"/studio/drafts/{draft}/publish").text
    other = publishing.save_draft(site.engine, SMALL.replace('"black", ', ""), "toml").id
    listed = len(publishing.surveys(site.engine))
    page = owner.get(f"/studio/drafts/{other}/publish")
    assert page.status == 200
    assert "This draft cannot be published yet" in page.text
    assert "must have the same answers" in unescape(page.text)
    assert ">Publish</button>" not in page.text
    refused = owner.submit(f"/studio/drafts/{other}/publish")
    assert (refused.status, "must have the same answers" in unescape(refused.text)) == (409, True)
    assert len(publishing.surveys(site.engine)) == listed
    publishing.delete_draft(site.engine, other)


def test_placeholders_are_not_published(site, owner):
    place = owner.post("/studio/drafts/new", {"example": "empty"}).header("location")
    page = owner.get(f"{place}/publish")
    assert "Some texts are still placeholders" in page.text
    for text in (
        "Untitled survey",
        "untitled-survey",
        "Which of these is true of you?",
        "first answer",
        "fourth answer",
    ):
        assert f"“{text}”" in page.text
    assert ">Publish</button>" not in page.text
    listed = publishing.surveys(site.engine)
    assert owner.submit(f"{place}/publish").status == 409
    assert publishing.surveys(site.engine) == listed
    held = publishing.read_draft(site.engine, place.rpartition("/")[2])
    mine = held.text.replace("Untitled survey", "Mine").replace("Which of these is true of you?", "Which?")
    mine = mine.replace(" answer", "")
    publishing.save_draft(site.engine, mine.replace('"first"', '"first answer"'), "toml", held.id)
    assert owner.submit(f"{place}/publish").status == 409  # one is too many
    publishing.save_draft(site.engine, mine, "toml", held.id)
    assert ">Publish</button>" in owner.get(f"{place}/publish").text
    assert owner.submit(f"{place}/publish").status == 303


def test_list_tells_what_was_published_of_a_draft(site, owner, draft):
    def said():
        (row,) = re.findall(rf'/studio/drafts/{draft}">[^<]*</a> <span class="dim">([^<]*)<', owner.get("/studio").text)
        return row

    assert said() == "· not published yet"
    assert "Publishing adds version" not in owner.get(f"/studio/drafts/{draft}/publish").text
    owner.submit(f"/studio/drafts/{draft}/publish")
    assert said() == "· published as version 1"
    assert (
        "version 1, and not changed since. Publishing adds version 2"
        in owner.get(f"/studio/drafts/{draft}/publish").text
    )
    publishing.save_draft(site.engine, SMALL + "# a further line\n", "toml", draft)
    assert said() == "· published as version 1, changed since"
    assert "version 1, and changed since" in owner.get(f"/studio/drafts/{draft}/publish").text
    owner.submit(f"/studio/drafts/{draft}/publish")
    assert said() == "· published as version 2"


def test_publish_page_warns(site, owner):
    linked = ", ".join(f'"v{k}"' for k in range(6))
    variables = "".join(
        f'[[variables]]\nid = "v{k}"\nquestion = "?"\noptions = ["a", "b", "c", "d", "e", "f"]\ndesign = "uniform"\n'
        for k in range(6)
    )
    text = f'title = "Wide"\nmode = "open"\n{variables}[[links]]\nvariables = [{linked}]\n'
    held = publishing.save_draft(site.engine, text, "toml")
    page = unescape(owner.get(f"/studio/drafts/{held.id}/publish").text)
    for part in ("Anyone with the link", "are a fingerprint of", "There is no contact", "There is no introduction"):
        assert part in page
    publishing.delete_draft(site.engine, held.id)


def test_draft_is_deleted_after_a_question(site, owner, draft):
    assert "Delete this draft?" in owner.get(f"/studio/drafts/{draft}/delete").text
    assert owner.submit(f"/studio/drafts/{draft}/delete").header("location") == "/studio"
    assert owner.get(f"/studio/drafts/{draft}").status == 404


@pytest.mark.parametrize("name", ["nothing", "a" * 16, "%00" * 16, "..", "%2e%2e%2fdrafts"])
def test_drafts_that_are_none(owner, name):
    for path in ("", "/file", "/publish", "/delete", "/preview", "/export/survey.toml"):
        assert owner.get(f"/studio/drafts/{name}{path}").status == 404
