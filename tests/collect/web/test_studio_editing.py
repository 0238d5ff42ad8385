"""The editor in a real Chromium: the form, the file, the preview, and that nothing that was typed gets lost."""

import pytest
from sites import SMALL, Site
from visits import faults

from subsetprivacy.collect.service import publishing
from subsetprivacy.collect.survey.reading import read_survey
from subsetprivacy.collect.web.studio_examples import EMPTY


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with Site(tmp_path_factory.mktemp("site") / "store.db") as held:
        held.draft = publishing.save_draft(held.engine, SMALL, "toml").id
        yield held


# The form ---------------------------------------------------------------------------------------


def test_form_edits_the_file_and_the_preview_follows(visit, site):
    draft = publishing.save_draft(site.engine, SMALL, "toml").id
    page = visit(f"/studio/drafts/{draft}")
    preview = page.frame_locator("#preview")
    assert preview.locator("h1").inner_text() == "Small survey"
    page.get_by_label("Title").fill("Edited <b>here</b>")
    page.get_by_role("button", name="Add a question").click()
    page.keyboard.type("How tall are you?")
    card = page.get_by_role("region", name="Question 4")
    for k, text in enumerate(["short", "medium", "tall", "very tall"]):
        card.get_by_label(f"Answer {k + 1} of question 4").fill(text)
    card.get_by_label("Label").fill("Height")
    assert card.get_by_label("Name").input_value() == "height"
    card.get_by_role("button", name="Move answer 4 up").click()
    card.get_by_role("button", name="Move question 4 up").click()
    page.get_by_role("button", name="Remove answer 5").first.click()
    page.keyboard.press("Control+s")
    page.get_by_text("Saved", exact=True).wait_for()
    survey = read_survey(publishing.read_draft(site.engine, draft).text, "toml")
    assert survey.title == "Edited <b>here</b>"
    assert [one.id for one in survey.variables] == ["colour", "day", "height", "smokes"]
    assert survey.variable("height").options == ("short", "medium", "very tall", "tall")
    assert survey.variable("colour").options == ("black", "red", "green", "blue")
    preview.locator("h1", has_text="Edited <b>here</b>").wait_for()
    assert page.inner_text("h1") == "Edited <b>here</b>"
    # Links, guesses and designs.
    first = page.get_by_role("region", name="Question 1")
    first.get_by_label("How it is asked").select_option("partition")
    first.get_by_label("How many groups").fill("2")
    first.get_by_text("Help text, guess").click()
    first.get_by_role("button", name="Guess the shares").click()
    page.get_by_role("button", name="Remove link 1").click()
    page.get_by_role("button", name="Link questions").click()
    for name in ("Colour", "Smokes"):
        page.get_by_role("group", name="Link 1").get_by_label(name).check()
    save(page)
    survey = read_survey(publishing.read_draft(site.engine, draft).text, "toml")
    assert survey.links == (("colour", "smokes"),)
    assert survey.variable("colour").written == {"kind": "partition", "groups": 2}
    assert sum(survey.variable("colour").guess) == pytest.approx(1)


def save(page):
    """Press Save, and wait until it is: what was changed before is not saved yet."""
    page.get_by_text("Not saved", exact=True).wait_for()
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Saved", exact=True).wait_for()


@pytest.mark.slow
def test_sets_that_are_never_left_alone_follow_the_answers(visit, site):
    draft = publishing.save_draft(site.engine, SMALL, "toml").id
    page = visit(f"/studio/drafts/{draft}")
    first = page.get_by_role("region", name="Question 1")
    first.get_by_text("Help text, guess").click()
    first.get_by_role("button", name="Add a set").click()
    sets = first.get_by_role("group", name="Forbidden set 1")
    sets.get_by_label("green").check()
    answer = first.get_by_label("Answer 2 of question 1")
    answer.fill("green")  # as another while it is typed
    answer.fill("orange")
    sets.get_by_label("orange").check()
    first.get_by_role("button", name="Move answer 2 up").click()
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Saved", exact=True).wait_for()
    colour = read_survey(publishing.read_draft(site.engine, draft).text, "toml").variable("colour")
    assert colour.options == ("orange", "black", "green", "blue", "white")
    assert colour.never_alone == (("orange", "green"),)
    page.reload()
    first.get_by_role("button", name="Remove answer 3").click()  # four are left, and the set is gone with it
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Saved", exact=True).wait_for()
    colour = read_survey(publishing.read_draft(site.engine, draft).text, "toml").variable("colour")
    assert colour.never_alone == ()
    first.get_by_text("Help text, guess").click()
    assert first.get_by_role("button", name="Add a set").is_disabled()  # it would be refused
    assert "Write five answers or more, or choose “On the device”" in first.inner_text()
    first.get_by_label("How it is asked").select_option("fixed_size")
    first.get_by_text("Help text, guess").click()
    assert first.get_by_role("button", name="Add a set").is_enabled()


def test_answers_are_typed_pasted_and_mended(visit, site):
    """Enter goes on to the next answer, and empty ones at the end are dropped."""
    draft = publishing.save_draft(site.engine, SMALL, "toml").id
    page = visit(f"/studio/drafts/{draft}", tolerated=("status of 422",))
    page.get_by_role("button", name="Add a question").click()
    page.keyboard.type("How tall are you?")
    page.get_by_label("Answer 1 of question 4").focus()
    for text in ("short", "medium", "tall", "very tall", "taller"):  # four lines wait, the fifth is made
        page.keyboard.type(text)
        page.keyboard.press("Enter")
    assert page.get_by_label("Answer 6 of question 4").input_value() == ""
    page.keyboard.press("Control+s")
    page.get_by_text("Saved", exact=True).wait_for()
    survey = read_survey(publishing.read_draft(site.engine, draft).text, "toml")
    assert survey.variables[3].options == ("short", "medium", "tall", "very tall", "taller")
    assert survey.variables[3].label == "How tall are you?"  # there was none
    assert page.get_by_label("Answer 6 of question 4").count() == 0
    first = page.get_by_label("Answer 1 of question 4")
    first.focus()
    page.keyboard.press("Enter")  # between two that are written
    assert page.get_by_label("Answer 2 of question 4").input_value() == ""
    assert page.get_by_label("Answer 3 of question 4").input_value() == "medium"
    page.get_by_role("button", name="Remove answer 2").last.click()
    # A pasted list fills the answers.
    page.get_by_label("Answer 1 of question 3").focus()
    page.evaluate(
        """() => {
          const data = new DataTransfer();
          data.setData("text/plain", "one\\ntwo\\nthree");
          const how = { clipboardData: data, bubbles: true, cancelable: true };
          document.activeElement.dispatchEvent(new ClipboardEvent("paste", how));
        }"""
    )
    values = [page.get_by_label(f"Answer {k} of question 3").input_value() for k in (1, 2, 3, 4)]
    assert values == ["one", "two", "three", "no"]
    # A problem leads to its field.
    page.get_by_label("Answer 2 of question 1").fill("black")
    page.get_by_role("button", name="Save", exact=True).click()
    page.locator("#problems li a").first.click()
    assert page.evaluate("document.activeElement.value") == "black"
    page.get_by_label("Answer 2 of question 1").fill("red")
    save(page)
    assert page.locator("#problems").is_hidden()


@pytest.mark.parametrize("place", ["", pytest.param("/file", marks=pytest.mark.slow)])
def test_what_is_typed_is_saved_before_it_is_published(visit, site, place):
    draft = publishing.save_draft(site.engine, SMALL, "toml").id
    page = visit(f"/studio/drafts/{draft}{place}", tolerated=("status of 422",))
    write = {"": lambda text: page.get_by_label("Title").fill(text)}.get(
        place, lambda text: page.fill("#text", SMALL.replace("Small survey", text))
    )
    write("Typed at the last moment")
    page.get_by_text("Not saved", exact=True).wait_for()
    page.get_by_role("link", name="Publish…").click()
    page.get_by_role("heading", name="Publish “Typed at the last moment”?").wait_for()
    assert publishing.read_draft(site.engine, draft).title == "Typed at the last moment"
    page.goto(f"{site.url}/studio/drafts/{draft}{place}")
    write("Downloaded")
    with page.expect_download() as file:
        page.get_by_role("link", name="Download").click()
    assert "Downloaded" in file.value.path().read_text()
    page.get_by_text("Saved", exact=True).wait_for()
    write("")
    page.get_by_role("link", name="Publish…").click()
    page.get_by_text("1 problem: not saved yet").wait_for()
    assert publishing.read_draft(site.engine, draft).title == "Downloaded"


def test_placeholders_are_written_over(visit, site):
    draft = publishing.save_draft(site.engine, EMPTY.text, "toml").id
    page = visit(f"/studio/drafts/{draft}")
    for label, text in [("Title", "Mine"), ("Answer 1 of question 1", "one"), ("Answer 2 of question 1", "two")]:
        page.get_by_label(label).focus()
        page.keyboard.type(text)
        assert page.get_by_label(label).input_value() == text
        page.get_by_label(label).focus()  # what one wrote oneself is not selected
    page.get_by_text("Thanks, contact").click()
    assert page.get_by_label("Study").input_value() == ""  # made from the title when it is saved
    page.get_by_role("link", name="Publish…").click()
    page.get_by_text("Some texts are still placeholders").wait_for()
    assert "“Untitled survey”" not in page.inner_text("main")
    assert "“untitled-survey”" not in page.inner_text("main")
    assert read_survey(publishing.read_draft(site.engine, draft).text, "toml").study == "mine"
    assert "“third answer”" in page.inner_text("main")


def test_file_is_saved_without_leaving_it(visit, site):
    draft = publishing.save_draft(site.engine, SMALL, "toml").id
    page = visit(f"/studio/drafts/{draft}/file", tolerated=("status of 422",))
    page.fill("#text", SMALL.replace("batch = 10", "batch = 2"))
    page.keyboard.press("Control+s")
    go_to_line_4(page)
    assert page.evaluate("document.getSelection().toString()") == "batch = 2"
    assert page.inner_text("#where").startswith("Line 4")
    page.fill("#text", SMALL.replace("Small survey", "Seen in the preview"))
    page.evaluate("window.stayed = true")
    page.keyboard.press("Control+s")
    page.get_by_text("Saved", exact=True).wait_for()
    assert page.evaluate("window.stayed")
    page.frame_locator("#preview").locator("h1", has_text="Seen in the preview").wait_for()
    page.get_by_role("button", name="Change to YAML").click()
    page.get_by_text("The survey as a file (YAML)").wait_for()
    assert page.locator(".success").inner_text() == "Saved."


@pytest.mark.slow
def test_file_with_mistakes_is_mended_in_the_editor(visit, site, tmp_path):
    (tmp_path / "mine.toml").write_text(SMALL.replace("batch = 10", "batch = 2").replace("Small", "Mended"))
    page = visit("/studio/drafts/new", tolerated=("status of 422",))
    page.set_input_files("#file", tmp_path / "mine.toml")
    page.click("text=Open the file")
    go_to_line_4(page)
    assert page.evaluate("document.getSelection().toString()") == "batch = 2"
    assert faults(page) == []
    page.keyboard.type("batch = 12")
    page.click("button.primary")
    page.frame_locator("#preview").locator("h1", has_text="Mended survey").wait_for()


def go_to_line_4(page):
    """Wait for the page that lists a problem of this line, and for its script, and follow the link there."""
    page.get_by_text("Line 4").wait_for()
    page.wait_for_load_state()
    page.get_by_text("Line 4").click()


# Two tabs ---------------------------------------------------------------------------------------

THEIRS = SMALL.replace("On which day were you born?", "On which day were they born?")


def check_conflict(page):
    """The page that shows both versions."""
    page.get_by_role("heading", name="was changed while you edited it").wait_for()
    assert page.locator(".diff .old", has_text="On which day were they born?").is_visible()


def test_form_shows_both_versions_where_someone_else_has_saved(visit, site):
    draft = publishing.save_draft(site.engine, "# a comment\n" + SMALL, "toml").id
    page = visit(f"/studio/drafts/{draft}", tolerated=("status of 409",))
    assert "A comment in this file will be lost" in page.inner_text("#comments")
    for title in ("First", "Second"):  # at once: the second save waits for the first
        page.get_by_label("Title").fill(title)
        page.keyboard.press("Control+s")
    page.get_by_text("Saved", exact=True).wait_for()
    assert page.inner_text("h1") == "Second"
    assert page.locator("#comments").count() == 0
    publishing.save_draft(site.engine, THEIRS, "toml", draft)
    page.get_by_label("Title").fill("Typed <here>")
    page.get_by_role("link", name="Publish…").click()
    check_conflict(page)
    page.set_viewport_size({"width": 390, "height": 800})
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert 'title = "Typed <here>"' in page.input_value("#text")
    page.click("text=Save my version")
    page.get_by_role("heading", name="Typed <here>", level=1).wait_for()
    assert page.get_by_label("Title").input_value() == "Typed <here>"
    assert "were you born" in publishing.read_draft(site.engine, draft).text


@pytest.mark.slow
def test_file_shows_both_versions_where_someone_else_has_saved(visit, site):
    draft = publishing.save_draft(site.engine, SMALL, "toml").id
    page = visit(f"/studio/drafts/{draft}/file", tolerated=("status of 409",))
    for title in ("First", "Second"):
        page.fill("#text", SMALL.replace("Small", title))
        page.keyboard.press("Control+s")
    page.get_by_text("Saved", exact=True).wait_for()
    assert publishing.read_draft(site.engine, draft).title == "Second survey"
    publishing.save_draft(site.engine, THEIRS, "toml", draft)
    page.fill("#text", SMALL.replace("Small", "Third"))
    page.keyboard.press("Control+s")
    check_conflict(page)
    page.once("dialog", lambda dialog: dialog.accept())  # it asks before what was typed is dropped
    page.click("text=Discard my version")
    # Not for the address, which both pages have.
    page.wait_for_function("text => document.querySelector('#text')?.value === text", arg=THEIRS)
    assert page.locator(".diff").count() == 0
    assert publishing.read_draft(site.engine, draft).text == THEIRS


def test_without_javascript_the_file_does(visit, site):
    page = visit(f"/studio/drafts/{site.draft}", java_script_enabled=False, tolerated=("status of 409",))
    page.click("text=as a file")
    page.fill("#text", SMALL.replace("Small survey", "No script"))
    page.click("button.primary")
    headed(page, "No script").wait_for()
    publishing.save_draft(site.engine, THEIRS, "toml", site.draft)
    page.fill("#text", SMALL.replace("Small survey", "No script either"))
    page.click("button.primary")
    headed(page, "“Small survey” was changed while you edited it").wait_for()
    page.click("text=Save my version")
    headed(page, "No script either").wait_for()


def headed(page, heading):
    """Return the heading of the page that has this one."""
    return page.get_by_role("heading", name=heading, level=1, exact=True)
