"""The studio in a real Chromium: the editor, set-up links, live results, hostile texts, and accessibility."""

import json

import pytest
from browser import CHROMIUM, PLAYWRIGHT, chromium, watched
from payloads import harmless, placed, survey_document
from sites import OWNER, PASSWORD, SMALL, Site, light_hashes

from subsetprivacy.collect.service import accounts, publishing
from subsetprivacy.collect.survey.reading import read_survey

CODES = SMALL.replace('mode = "open"', 'mode = "code"').replace('study = "small"', 'study = "coded"')
VARIANTS = {
    "desktop": {"viewport": {"width": 1280, "height": 900}},
    "phone": {"viewport": {"width": 360, "height": 740}},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "forced colours": {"viewport": {"width": 1280, "height": 900}, "forced_colors": "active"},
}
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"]


@pytest.fixture(scope="module")
def browser():
    with chromium() as held:
        yield held


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with light_hashes(), Site(tmp_path_factory.mktemp("site") / "store.db") as held:
        held.full, held.waiting, held.coded = held.publish(), held.publish(), held.publish(CODES)
        held.fill(held.full, 120)
        held.fill(held.coded, 60)
        accounts.make_token(held.engine, OWNER, "nightly", "analyst")
        accounts.invite(held.engine, OWNER, "maria", "analyst")
        held.draft = publishing.save_draft(held.engine, SMALL, "toml").id
        yield held


@pytest.fixture
def visit(need, browser, site):
    """Open pages as the owner; at the end no page may have complained, and all requests must have gone here."""
    need(*PLAYWRIGHT)
    need(*CHROMIUM)
    held = []

    def open_page(path, where=site, tolerated=(), signed_in=True, **settings):
        manager = watched(browser, where.url, tolerated=tolerated, **settings)
        context = manager.__enter__()
        held.append(manager)
        if signed_in:
            cookies = where.signed_in(OWNER).cookies.items()
            context.context.add_cookies([{"name": k, "value": v, "url": f"{where.url}/studio"} for k, v in cookies])
        page = context.page()
        page.goto(where.url + path)
        return page

    yield open_page
    for manager in held:
        manager.__exit__(None, None, None)


# Accessibility ----------------------------------------------------------------------------------


def pages_of(site):
    full, coded = f"/studio/surveys/{site.full.id}", f"/studio/surveys/{site.coded.id}"
    draft = f"/studio/drafts/{site.draft}"
    return {
        "list": "/studio",
        "new": "/studio/drafts/new",
        "form": draft,
        "file": f"{draft}/file",
        "publish": f"{draft}/publish",
        "delete draft": f"{draft}/delete",
        "dashboard": full,
        "dashboard with codes": coded,
        "waiting": f"/studio/surveys/{site.waiting.id}",
        "manage open": f"{full}/manage",
        "manage codes": f"{coded}/manage",
        "close": f"{coded}/close",
        "delete": f"{full}/delete",
        "people": "/studio/people",
        "account": "/studio/account",
        "api": "/studio/api",
        "nothing": "/studio/nothing",
        "sign in": "/studio/sign-in",
        "invitation": "/studio/invitation",
    }


def faults(page):
    """Return what axe finds, everything that can be unfolded being open."""
    from axe_playwright_python.sync_playwright import Axe

    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    found = Axe().run(page, options={"runOnly": {"type": "tag", "values": WCAG}, "resultTypes": ["violations"]})
    return [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found.response["violations"]]


def check_page(visit, site, name, variant):
    page = visit(pages_of(site)[name], tolerated=("status of 404",), **VARIANTS[variant])
    page.wait_for_load_state("load")
    assert faults(page) == []
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= VARIANTS[variant]["viewport"]["width"], "the page scrolls sideways"


@pytest.mark.parametrize(
    ("name", "variant"), [("list", "desktop"), ("form", "dark"), ("dashboard", "phone"), ("people", "forced colours")]
)
def test_axe_finds_nothing(visit, site, name, variant):
    check_page(visit, site, name, variant)


def test_axe_is_at_work(visit):
    page = visit("/studio/account")
    page.evaluate("document.querySelector('main').append(document.createElement('button'))")
    assert [name for name, _ in faults(page)] == ["button-name"]


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_axe_finds_nothing_on_any_page(visit, site, variant):
    for name in pages_of(site):
        check_page(visit, site, name, variant)


# Doors ------------------------------------------------------------------------------------------


def test_set_up_link_fills_its_field_and_leaves_the_address(visit, tmp_path):
    with Site(tmp_path / "store.db", people=False, setup_token="from-the-fragment") as site:
        page = visit("/studio/setup#from-the-fragment", where=site, signed_in=False)
        assert page.input_value("#token") == "from-the-fragment"
        assert page.url == f"{site.url}/studio/setup"
        page.fill("#name", "olga")
        page.fill("#password", PASSWORD)
        page.fill("#repeated", PASSWORD)
        page.click("text=Make the account")
        page.wait_for_url(f"{site.url}/studio")
        assert page.inner_text("h1") == "Surveys"
        page.context.close()


def test_invitation_link_fills_name_and_token(visit, site):
    secret = accounts.invite(site.engine, OWNER, "nora", "analyst")
    page = visit(f"/studio/invitation#nora/{secret}", signed_in=False)
    assert (page.input_value("#name"), page.input_value("#token")) == ("nora", secret)
    page.fill("#password", PASSWORD)
    page.fill("#repeated", PASSWORD)
    page.click("text=Set the password")
    page.wait_for_url(f"{site.url}/studio")
    assert "analyst" in page.inner_text(".me")
    accounts.remove(site.engine, OWNER, "nora")


def test_forms_of_the_studio_are_sent_over_plain_http_on_a_local_network(visit, site):
    """There the browser sends no Sec-Fetch-Site: the Origin alone must do."""
    page = visit("/studio/account")
    page.click("text=Sign out")
    page.wait_for_url("**/studio/sign-in")
    assert page.inner_text("h1") == "Sign in"


# The editor -------------------------------------------------------------------------------------


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


def test_form_links_guesses_and_designs(visit, site):
    draft = publishing.save_draft(site.engine, SMALL, "toml").id
    page = visit(f"/studio/drafts/{draft}")
    first = page.get_by_role("region", name="Question 1")
    first.get_by_label("How it is asked").select_option("partition")
    first.get_by_label("How many groups").fill("2")
    first.get_by_text("Help and guess").click()
    first.get_by_role("button", name="State a guess").click()
    page.get_by_role("button", name="Remove link 1").click()
    page.get_by_role("button", name="Link questions").click()
    for name in ("Colour", "Smokes"):
        page.get_by_role("group", name="Link 1").get_by_label(name).check()
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Saved", exact=True).wait_for()
    survey = read_survey(publishing.read_draft(site.engine, draft).text, "toml")
    assert survey.links == (("colour", "smokes"),)
    assert survey.variable("colour").written == {"kind": "partition", "groups": 2}
    assert sum(survey.variable("colour").guess) == pytest.approx(1)


def test_problems_lead_to_their_fields(visit, site):
    draft = publishing.save_draft(site.engine, SMALL, "toml").id
    page = visit(f"/studio/drafts/{draft}", tolerated=("status of 422",))
    page.get_by_label("Answer 2 of question 1").fill("black")
    page.get_by_role("button", name="Save", exact=True).click()
    page.locator("#problems li a").first.click()
    assert page.evaluate("document.activeElement.value") == "black"
    page.get_by_label("Answer 2 of question 1").fill("red")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Saved", exact=True).wait_for()
    assert page.locator("#problems").is_hidden()


def test_problem_of_the_file_leads_to_its_line(visit, site):
    page = visit(f"/studio/drafts/{site.draft}/file", tolerated=("status of 422",))
    page.fill("#text", SMALL.replace("batch = 10", "batch = 2"))
    page.keyboard.press("Control+s")
    page.get_by_text("Line 4").click()
    assert page.evaluate("document.getSelection().toString()") == "batch = 2"
    assert page.inner_text("#where").startswith("Line 4")


def test_pasted_list_fills_the_answers(visit, site):
    draft = publishing.save_draft(site.engine, SMALL, "toml").id
    page = visit(f"/studio/drafts/{draft}")
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
    page.keyboard.press("Control+s")
    page.get_by_text("Saved", exact=True).wait_for()


def test_without_javascript_the_file_does(visit, site):
    page = visit(f"/studio/drafts/{site.draft}", java_script_enabled=False)
    page.click("text=as a file")
    page.fill("#text", SMALL.replace("Small survey", "No script"))
    page.click("button.primary")
    page.wait_for_load_state()
    assert page.inner_text("h1") == "No script"


# Results ----------------------------------------------------------------------------------------


def test_results_appear_by_themselves_at_a_release(visit, site):
    manifest = site.publish()
    page = visit(f"/studio/surveys/{manifest.id}")
    assert "Results appear when" in page.inner_text("main")
    site.fill(manifest, 20)
    page.get_by_text("People still needed").first.wait_for(timeout=15_000)


def test_links_can_be_copied_with_the_address_of_the_server(visit, site):
    page = visit(f"/studio/surveys/{site.full.id}/manage")
    assert page.input_value("#link") == f"{site.url}/s/{site.full.id}"
    page.click("text=Copy")
    assert page.get_by_text("Copied").is_visible()


# Hostile texts ----------------------------------------------------------------------------------

SLOW = pytest.mark.slow
COUNT = "Array.from(document.querySelectorAll('*'), (one) => one.localName).filter((name) => name !== 'text').join(' ')"


@pytest.mark.parametrize(
    "first", [0, pytest.param(58, marks=SLOW), pytest.param(116, marks=SLOW), pytest.param(174, marks=SLOW)]
)
def test_payloads_do_nothing_in_a_browser(visit, site, first):
    texts = placed(first)
    seen = []
    for given in (texts, harmless(texts)):
        document = survey_document(given)
        draft = publishing.save_draft(site.engine, json.dumps(document), "json")
        manifest = publishing.publish(site.engine, draft.id)
        site.fill(manifest, 30)
        page = visit("/studio")  # complains about scripts that the policy stops, and about requests to elsewhere
        page.on("dialog", lambda dialog: pytest.fail("a payload ran"))
        made = []
        there, here = f"/studio/surveys/{manifest.id}", f"/studio/drafts/{draft.id}"
        for path in (
            there,
            f"{there}/manage",
            f"{there}/delete",
            here,
            f"{here}/file",
            f"{here}/publish",
            f"/s/{manifest.id}",
        ):
            page.goto(site.url + path)
            page.wait_for_load_state("networkidle")
            made.append(page.evaluate(COUNT))
        seen.append(made)
        publishing.delete(site.engine, manifest.id)
        publishing.delete_draft(site.engine, draft.id)
    assert seen[0] == seen[1]
