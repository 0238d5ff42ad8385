"""The studio in a real Chromium: set-up links, live results, hostile texts, and accessibility."""

import json

import pytest
from browser import CHROMIUM, NAMES, PLAYWRIGHT, watched
from payloads import harmless, placed, spread, survey_document
from sites import CODES, OWNER, PASSWORD, SMALL, Site
from visits import faults

from subsetprivacy.collect.service import accounts, publishing
from subsetprivacy.presenting.words import LANGUAGES

VARIANTS = {
    "desktop": {"viewport": {"width": 1280, "height": 900}},
    "phone": {"viewport": {"width": 360, "height": 740}},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "forced colours": {"viewport": {"width": 1280, "height": 900}, "forced_colors": "active"},
    "print": {"viewport": {"width": 680, "height": 960}, "media": "print"},  # the width of A4 without margins
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with Site(tmp_path_factory.mktemp("site") / "store.db") as held:
        held.full, held.waiting, held.coded = held.publish(), held.publish(), held.publish(CODES)
        held.fill(held.full, 120)
        held.fill(held.coded, 60)
        accounts.make_token(held.engine, OWNER, "nightly", "analyst")
        accounts.invite(held.engine, OWNER, "maria", "analyst")
        held.draft = publishing.save_draft(held.engine, SMALL, "toml").id
        yield held


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
        **{f"dashboard in {language}": f"{full}?language={language}" for language in LANGUAGES},
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


def check_page(page, site, name, variant):
    open_as(page, site, name, variant)
    assert faults(page) == [], (name, variant)
    has_room(page, name, variant)


def open_as(page, site, name, variant):
    how = {"color_scheme": "light", "forced_colors": "none", "media": "screen", **VARIANTS[variant]}
    page.set_viewport_size(how.pop("viewport"))
    page.emulate_media(**how)
    page.goto(site.url + pages_of(site)[name])


def has_room(page, name, variant):
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= VARIANTS[variant]["viewport"]["width"], f"{name}, {variant}: the page scrolls sideways"


def test_axe_finds_nothing(visit, site):
    page = visit("/studio/account", fresh=True)
    page.evaluate("document.querySelector('main').append(document.createElement('button'))")
    assert [name for name, _ in faults(page)] == ["button-name"]  # it is at work
    few = [("form", "dark"), ("people", "forced colours"), ("dashboard in ar", "phone")]
    for name, variant in few:  # and the dashboard below
        check_page(page, site, name, variant)


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_axe_finds_nothing_on_any_page(visit, site, variant):
    page = visit("/studio", tolerated=("status of 404",), fresh=True)
    for name in pages_of(site):
        check_page(page, site, name, variant)


CUT_OFF = """() => Array.from(document.querySelectorAll(".scroll, table, figure, svg"), (one) => [
    one.className.baseVal ?? one.className, one.closest(".scroll") ?? one, one.getBoundingClientRect()])
  .filter(([, box, place]) => (place.right > innerWidth + 1 || place.left < -1)
    && !["auto", "scroll"].includes(getComputedStyle(box).overflowX))
  .map(([name]) => name)"""


@pytest.mark.slow
def test_no_table_of_the_dashboard_is_cut_off_and_axe_finds_nothing(visit, site):
    """Whatever is wider than the screen can be scrolled in its box; on paper nothing can, and nothing is."""
    page = visit("/studio/account", fresh=True)
    check_page(page, site, "dashboard", "dark")
    for variant in ("desktop", "phone", "print"):
        open_as(page, site, "dashboard", variant)
        has_room(page, "dashboard", variant)
        assert page.evaluate(CUT_OFF) == [], variant


# Doors ------------------------------------------------------------------------------------------


def test_set_up_link_fills_its_field_leaves_the_address_and_outlives_a_slip(visit, tmp_path):
    token = "from-the-fragment"
    with Site(tmp_path / "store.db", people=False, setup_token=token) as site:
        page = visit("/studio/setup", where=site, signed_in=False, tolerated=("status of 422",))
        assert page.input_value("#token") == ""
        page.goto(f"{site.url}/studio/setup#{token}")  # pasted where the page is open: the fragment loads nothing anew
        page.wait_for_function("token => document.querySelector('#token').value === token", arg=token)
        page.wait_for_function("location.hash === ''")
        page.goto(f"{site.url}/studio/sign-in")
        page.goto(f"{site.url}/studio/setup#{token}")
        assert page.input_value("#token") == token
        assert page.url == f"{site.url}/studio/setup"
        page.fill("#name", "olga")
        page.fill("#password", PASSWORD)
        page.fill("#repeated", f"{PASSWORD}!")
        page.click("text=Create the account")
        page.get_by_text("The two passwords are not the same").wait_for()
        kept = {name: page.input_value(f"#{name}") for name in ("token", "name", "password", "repeated")}
        assert kept == {"token": token, "name": "olga", "password": "", "repeated": ""}
        page.fill("#password", PASSWORD)
        page.fill("#repeated", PASSWORD)
        page.click("text=Create the account")
        page.wait_for_url(f"{site.url}/studio")
        assert page.inner_text("h1") == "Surveys"


def test_invitation_link_fills_name_and_token(visit, site):
    secret = accounts.invite(site.engine, OWNER, "nora", "analyst")
    page = visit(f"/studio/invitation#nora/{secret}", signed_in=False)
    assert (page.input_value("#name"), page.input_value("#token")) == ("nora", secret)
    page.fill("#password", PASSWORD)
    page.fill("#repeated", PASSWORD)
    page.click("text=Set the password")
    page.wait_for_url(f"{site.url}/studio")
    assert page.text_content(".me .role") == "analyst"  # hidden in narrow windows, but there
    accounts.remove(site.engine, OWNER, "nora")


def test_forms_of_the_studio_are_sent_over_plain_http_on_a_local_network(visit, site):
    """There the browser sends no Sec-Fetch-Site: the Origin alone must do."""
    page = visit("/studio/account")
    page.click("text=Sign out")
    page.wait_for_url("**/studio/sign-in")
    assert page.inner_text("h1") == "Sign in"


# Results ----------------------------------------------------------------------------------------


def test_results_appear_by_themselves_at_a_release(visit, site):
    manifest = site.publish()
    page = visit(f"/studio/surveys/{manifest.id}", clock=True)
    assert "Results appear when" in page.inner_text("main")
    with page.expect_response("**/release"):
        page.clock.run_for(10_000)
    site.fill(manifest, 20)
    page.clock.run_for(10_000)
    page.get_by_text("People still needed").first.wait_for()


def test_links_can_be_copied_with_the_address_of_the_server(visit, site):
    page = visit(f"/studio/surveys/{site.full.id}/manage", clock=True)
    assert page.input_value("#link") == f"{site.url}/s/{site.full.id}"
    page.get_by_role("button", name="Copy").first.click()
    page.get_by_role("button", name="Copied").wait_for()
    page.clock.run_for(1500)
    assert page.get_by_role("button", name="Copied").count() == 0


def test_links_that_work_here_only_are_warned_of(visit, site):
    warned = "work on this computer only"
    draft = publishing.save_draft(site.engine, SMALL, "toml").id
    page = visit(f"/studio/surveys/{site.coded.id}/manage")
    assert page.input_value("#address") == site.url
    warning = page.locator("[data-local-only]")
    assert warned in warning.inner_text()
    assert site.url in warning.inner_text()
    assert "--base-url" in warning.inner_text()
    page.fill("#address", "https://ask.example.org")
    assert warning.is_hidden()
    page.fill("#address", "http://localhost:9")
    assert warning.is_visible()
    for path in ("/studio", f"/studio/surveys/{site.waiting.id}"):
        page.goto(site.url + path)
        assert warned in page.locator("[data-local-only]").inner_text()
    page.goto(f"{site.url}/studio/drafts/{draft}/publish")
    assert "will work on this computer only" in page.locator("[data-local-only]").inner_text()


def test_links_are_not_warned_of_where_the_page_has_another_name(need, browser, site):
    need(*PLAYWRIGHT)
    need(*CHROMIUM)
    named = site.url.replace("127.0.0.1", NAMES[1])
    plain = "Cross-Origin-Opener-Policy header has been ignored"  # as by http it is
    with watched(browser, named, tolerated=(plain,)) as context:
        cookies = site.signed_in(OWNER).cookies.items()
        context.context.add_cookies([{"name": k, "value": v, "url": f"{named}/studio"} for k, v in cookies])
        page = context.page()
        page.goto(f"{named}/studio/surveys/{site.full.id}/manage")
        assert page.input_value("#link") == f"{named}/s/{site.full.id}"
        assert page.locator("[data-local-only]").is_hidden()


# Hostile texts ----------------------------------------------------------------------------------

COUNT = "Array.from(document.querySelectorAll('*'), (one) => one.localName).filter((name) => name !== 'text').join(' ')"


def elements_of_pages(page, site, draft, manifest, few):
    """Return the names of the elements that each page with the texts of a survey has, once its scripts are done."""
    there, here = f"/studio/surveys/{manifest.id}", f"/studio/drafts/{draft.id}"
    paths = (there, f"{there}/manage", f"{there}/delete", here, f"{here}/file", f"{here}/publish", f"/s/{manifest.id}")
    made = {}
    for path in (there, here, f"/s/{manifest.id}") if few else paths:
        page.goto(site.url + path)
        if page.locator("#preview").count():
            page.frame_locator("#preview").locator("main[data-screen=intro]").wait_for()
        if path.startswith("/s/"):
            page.wait_for_selector("main[data-screen=intro]")
        made[path.replace(manifest.id, "survey").replace(draft.id, "draft")] = page.evaluate(COUNT)
    return made


def check_payloads(visit, site, texts, *, few=False):
    """Show texts, then harmless ones as long; the page complains about stopped scripts and requests to elsewhere."""
    page = visit("/studio", fresh=True)
    page.on("dialog", lambda dialog: pytest.fail("a payload ran"))
    seen = []
    for given in (texts, harmless(texts)):
        draft = publishing.save_draft(site.engine, json.dumps(survey_document(given)), "json")
        manifest = publishing.publish(site.engine, draft.id)
        site.fill(manifest, 30)
        seen.append(elements_of_pages(page, site, draft, manifest, few))
        publishing.delete(site.engine, manifest.id)
        publishing.delete_draft(site.engine, draft.id)
    assert seen[0] == seen[1]


def test_payloads_do_nothing_in_a_browser(visit, site):
    """On the pages with most of them; on every page in the slow test, and as text in `test_studio_payloads`."""
    check_payloads(visit, site, spread(), few=True)


@pytest.mark.slow
@pytest.mark.parametrize("first", [0, 58, 116, 174])
def test_each_payload_alone_in_a_field_does_nothing_in_a_browser(visit, site, first):
    check_payloads(visit, site, placed(first))
