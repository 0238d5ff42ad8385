"""Published surveys in the studio: links, closing, deleting, results, and that nothing shows between releases."""

import csv
import io
import json
import re
import subprocess
import sys
import threading
import time
import zipfile
from html import unescape

import pytest
from sites import ANALYST, CODES, OWNER, SMALL, Site

import subsetprivacy as sp
from subsetprivacy.collect.service import accounts, publishing
from subsetprivacy.collect.service.respondents import Respondent
from subsetprivacy.collect.storage.opening import reading
from subsetprivacy.collect.storage.released import read_released
from subsetprivacy.collect.web import studio_results
from subsetprivacy.collect.web.result_cache import ResultCache
from subsetprivacy.presenting.checks import panels_of
from subsetprivacy.presenting.words import LANGUAGES, digits_for, words_of

ADDRESS = {"address": "http://ask.example.org/"}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with Site(tmp_path_factory.mktemp("site") / "store.db") as held:
        yield held


@pytest.fixture
def coded(site):
    manifest = site.publish(CODES)
    yield manifest
    if site.app.state.studio.cache.line(manifest.id):
        publishing.delete(site.engine, manifest.id)


@pytest.fixture
def opened(site):
    manifest = site.publish()
    yield manifest
    if site.app.state.studio.cache.line(manifest.id):
        publishing.delete(site.engine, manifest.id)


def answer(site, manifest, code=None):
    values = {held["id"]: 0 for held in manifest.variables}

    def post(path, document):
        reply = site.nobody.send("POST", path, document)
        return reply.status, reply.json()

    return Respondent(values, code=code).take_part(manifest, post)


# Links ------------------------------------------------------------------------------------------


def test_links_as_a_file_can_be_used_once(site, owner, coded):
    reply = owner.post(f"/studio/surveys/{coded.id}/codes", {"n": "12", "as": "csv", **ADDRESS})
    assert reply.header("content-type").startswith("text/csv")
    assert reply.header("content-disposition") == 'attachment; filename="small-survey-links.csv"'
    (head, *links) = list(csv.reader(io.StringIO(reply.text)))
    assert head == ["link"]
    assert len({link for (link,) in links}) == 12
    place, _, code = links[3][0].partition("#")
    assert place == f"http://ask.example.org/s/{coded.id}"
    assert answer(site, coded, code) == (201, {"status": "counted"})
    assert answer(site, coded, code)[0] in (404, 409)


def test_links_as_text_and_as_a_page(site, owner, coded):
    text = owner.post(f"/studio/surveys/{coded.id}/codes", {"n": "3", "as": "txt", **ADDRESS})
    assert len(text.text.splitlines()) == 3
    assert text.header("content-disposition").endswith('.txt"')
    page = owner.post(f"/studio/surveys/{coded.id}/codes", {"n": "3", "as": "page", **ADDRESS})
    found = re.findall(rf"http://ask\.example\.org/s/{coded.id}#[a-z2-7]{{32}}", unescape(page.text))
    assert len(set(found)) == 3
    assert "shuffle" in page.text
    many = owner.post(f"/studio/surveys/{coded.id}/codes", {"n": "501", "as": "page", **ADDRESS})
    assert many.header("content-type").startswith("text/plain")


def test_page_of_links_counts_those_of_the_survey_used_or_not(site, owner, coded):
    def made(n):
        page = owner.post(f"/studio/surveys/{coded.id}/codes", {"n": str(n), "as": "page", **ADDRESS})
        return re.search("<h1>(.*?)</h1>", page.text)[1], re.search(r"now has (\d+) in total", page.text)[1], page

    assert made(3)[:2] == ("3 new links", "3")
    *_, page = made(1)
    code = re.search(rf"/s/{coded.id}#([a-z2-7]{{32}})", page.text)[1]
    assert answer(site, coded, code)[0] == 201
    assert made(2)[:2] == ("2 new links", "6")
    site.fill(coded, 40)  # released, with 40 further codes
    assert made(1)[:2] == ("1 new link", "47")


def test_page_of_links_warns_of_those_that_work_here_only(owner, coded):
    for address, local in (
        ("http://127.0.0.1:8000", True),
        ("http://localhost", True),
        ("http://[::1]:80", True),
        ("https://a.example", False),
    ):
        page = owner.post(f"/studio/surveys/{coded.id}/codes", {"n": "1", "as": "page", "address": address})
        assert ("work on this computer only" in page.text) == local, address
        assert ("--base-url" in page.text) == local, address


def test_links_with_a_known_address_are_warned_of_if_they_are_local(tmp_path):
    for address, local in (("https://ask.example.org", False), ("http://127.0.0.1:8000", True)):
        with Site(tmp_path / f"{local}.db", base_url=address) as site:
            owner, manifest = site.signed_in(OWNER), site.publish()
            draft = publishing.save_draft(site.engine, SMALL, "toml").id
            paths = (f"/studio/surveys/{manifest.id}/manage", f"/studio/surveys/{manifest.id}", "/studio")
            for path in (*paths, f"/studio/drafts/{draft}/publish"):
                page = owner.get(path).text
                assert ("on this computer only" in page) == local
                assert "data-local-only" not in page


def test_wishes_for_links_that_are_refused(owner, coded):
    wishes = [{}, {"n": "0"}, {"n": "-1"}, {"n": "100001"}, {"n": "1e3"}, {"n": "٣"}, {"n": "9" * 50}]
    addresses = ("", "javascript:alert(1)", "ask.example.org", "http://a\nb", "http://" + "x" * 300)
    for sent in [*wishes, *({"n": "1", "address": bad} for bad in addresses)]:
        reply = owner.post(f"/studio/surveys/{coded.id}/codes", {**ADDRESS, **sent})
        assert reply.status == 422, sent
        assert "#" + "a" * 32 not in reply.text, sent


def test_open_surveys_have_one_link_and_no_codes(owner, opened):
    assert f'value="/s/{opened.id}"' in owner.get(f"/studio/surveys/{opened.id}/manage").text
    assert owner.post(f"/studio/surveys/{opened.id}/codes", {"n": "3", **ADDRESS}).status == 409


def test_links_of_an_earlier_wave_are_let_in(site, owner, coded):
    (code,) = publishing.make_codes(site.engine, coded.id, 1)
    second = publishing.publish(site.engine, publishing.save_draft(site.engine, CODES, "toml").id)
    place = f"/studio/surveys/{second.id}/earlier-codes"
    assert answer(site, second, code)[0] == 404
    page = unescape(owner.get(f"/studio/surveys/{second.id}/manage").text)
    assert "asks about the same lists and groups on every device. In another browser, secret numbers" in page
    assert "In the browser that they used before, they are then asked the same questions" in page
    assert owner.post(place, {"links": f"http://x/s/{coded.id}#{code}\r\n\r\n"}).status == 200
    assert answer(site, second, code) == (201, {"status": "counted"})
    refused = owner.post(place, {"links": "nonsense"})
    assert refused.status == 422
    assert "line 1" in refused.text
    publishing.delete(site.engine, second.id)


# Closing and deleting ---------------------------------------------------------------------------


def test_closing_releases_and_lets_nobody_in(site, owner, coded):
    code = publishing.make_codes(site.engine, coded.id, 1)[0]
    site.fill(coded, 25)
    line = site.app.state.studio.cache.line(coded.id)
    assert "more waves" in owner.get(f"/studio/surveys/{coded.id}/close").text.lower()
    assert owner.submit(f"/studio/surveys/{coded.id}/close", {"more_waves": "on"}).status == 303
    closed = site.app.state.studio.cache.line(coded.id)
    assert (line.n, closed.n, closed.is_open) == (10, 25, False)
    assert answer(site, coded, code)[0] == 410
    assert site.nobody.get(f"/s/{coded.id}/key").status == 404
    page = owner.get(f"/studio/surveys/{coded.id}").text
    assert "The survey is closed and no longer accepts answers. The key is still secret." in page
    assert "The key of the study" not in page
    assert owner.submit(f"/studio/surveys/{coded.id}/close", {}).status == 303
    key = site.nobody.get(f"/s/{coded.id}/key").json()["key"]
    page = owner.get(f"/studio/surveys/{coded.id}").text
    assert "The survey is closed and no longer accepts answers. The key is published" in page
    assert key in page


def test_closed_with_too_few_shows_nothing_for_ever(site, owner, opened):
    site.fill(opened, 9)
    assert "The survey is closed" not in owner.get(f"/studio/surveys/{opened.id}").text
    owner.submit(f"/studio/surveys/{opened.id}/close", {})
    page = owner.get(f"/studio/surveys/{opened.id}").text
    assert "There are no results, and there will be none" in page
    # A survey without codes has no draw to check.
    assert "The survey is closed and no longer accepts answers.</p>" in page


def test_whole_survey_is_deleted_if_its_title_is_typed(site, owner, opened):
    site.fill(opened, 30)
    assert owner.get(f"/studio/surveys/{opened.id}").status == 200
    for typed in ("", "small survey", "Small"):
        assert owner.submit(f"/studio/surveys/{opened.id}/delete", {"title": typed}).status == 422
    assert (
        owner.submit(f"/studio/surveys/{opened.id}/delete", {"title": " Small  survey "}).header("location")
        == "/studio"
    )
    for path in ("", "/manage", "/release", "/export/everything.zip"):
        assert owner.get(f"/studio/surveys/{opened.id}{path}").status == 404
    assert site.nobody.get(f"/s/{opened.id}/manifest").status == 404
    assert answer(site, opened)[0] == 404


def test_key_is_published_by_a_button_of_a_closed_survey(site, owner):
    text = CODES.replace('study = "', 'study = "key-of-')
    first, second = site.publish(text), site.publish(text)
    place = f"/studio/surveys/{first.id}"

    def page():
        return unescape(owner.get(f"{place}/manage").text)

    assert "The key of the study" not in page()  # it is open
    owner.submit(f"{place}/close", {})
    assert "The key is still secret" in page()
    assert "You cannot publish it yet, because a survey of the study is open" in page()
    assert owner.post(f"{place}/key", {"sure": "on"}).status == 409
    owner.submit(f"/studio/surveys/{second.id}/delete", {"title": "Small survey"})  # the last that was open
    assert "Publish the key" in page()
    assert "needs another <code>study</code>" not in page()
    assert owner.post(f"{place}/key", {}).status == 422
    assert site.nobody.get(f"/s/{first.id}/key").status == 404
    assert owner.submit(f"{place}/manage", {"sure": "on"}, f"{place}/key").status == 303
    key = site.nobody.get(f"/s/{first.id}/key").json()["key"]
    assert key in page()
    assert "Publish the key" not in page()
    assert "then needs another <code>study</code>, because the key of “key-of-" in page()
    publishing.delete(site.engine, first.id)


@pytest.mark.parametrize(
    ("others", "said", "unsaid"),
    [
        (0, "is deleted with it, unpublished", "It is secret until"),
        (1, "It is secret until you publish it", "is deleted with it"),
    ],
)
def test_deleting_says_what_becomes_of_the_key(site, owner, others, said, unsaid):
    text = CODES.replace('study = "', f'study = "deleted-{others}-')
    made = [site.publish(text) for _ in range(1 + others)]
    page = unescape(owner.get(f"/studio/surveys/{made[0].id}/delete").text)
    assert said in page
    assert unsaid not in page
    for one in made:
        publishing.close(site.engine, one.id)
    assert said not in unescape(owner.get(f"/studio/surveys/{made[0].id}/delete").text)  # it is published
    for one in made:
        publishing.delete(site.engine, one.id)


def test_what_is_left_in_the_files_is_told(site, owner, opened, monkeypatch):
    monkeypatch.setattr(publishing, "erase", lambda engine: False)
    reply = owner.submit(f"/studio/surveys/{opened.id}/delete", {"title": "Small survey"})
    assert reply.status == 202
    assert "still contain traces of the survey" in reply.text
    assert owner.get(f"/studio/surveys/{opened.id}/manage").status == 404


def test_acts_are_recorded_by_day_and_nothing_else(site, owner, coded):
    owner.post(f"/studio/surveys/{coded.id}/codes", {"n": "2", "as": "txt", **ADDRESS})
    deed = accounts.activity(site.engine, 1)[0]
    assert (deed.actor, deed.act) == ("olga", f"made 2 one-time links for “Small survey” ({coded.id})")
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", deed.day)


# Results ----------------------------------------------------------------------------------------


def test_before_the_first_release_nobody_sees_anything(site, owner, opened):
    before = owner.get(f"/studio/surveys/{opened.id}").text
    assert "Results appear when 2 × 10 people have answered" in before
    assert "not even the number of answers" in before
    site.fill(opened, 19)
    assert owner.get(f"/studio/surveys/{opened.id}").text == before


def test_dashboard_shows_the_numbers_of_the_results(site, owner, opened):
    site.fill(opened, 200)
    page = owner.get(f"/studio/surveys/{opened.id}")
    text = unescape(page.text)
    with reading(site.engine) as connection:
        released = read_released(connection, opened.id)
    from subsetprivacy.collect.service.results import results

    found = results(released)
    assert f"<dd>{found.n}" in text
    assert "Self-selected" in text
    for variable in found.findings:
        assert found.variable(variable.name).label in text
        digits = digits_for(variable.shares.se)
        for option, w in zip(variable.categories, variable.shares.estimate, strict=True):
            row = rf"<th scope=\"row\">{re.escape(option)}</th><td data-of=\"Share\"><span>{100 * w:.{digits}f}%"
            assert re.search(row, text), (option, w)
        panels = panels_of(words_of("en"), variable)
        assert len(panels) == 4
        for panel in panels:
            assert panel.body
            assert unescape(panel.body) in text
    for release in found.releases[-12:]:
        assert release.chain_sha256 in text
    assert text.count("<svg") >= len(found.variables) + 1
    assert text.count('<table class="numbers stacked cross totals">') == len(found.findings.pairs) > 0
    assert "People still needed" in text
    assert 'style="' not in page.text  # the policy would drop it


PAGES = ("/studio", "/studio/surveys/{}", "/studio/surveys/{}/manage", "/studio/surveys/{}/release", "/studio/people")
EXPORTS = ("everything.zip", "results.json", "manifest.json", "0.csv", "0.parquet", "1.csv", "1.parquet")


@pytest.mark.slow
def test_nothing_changes_between_releases(site, owner, opened):
    program = site.with_token("owner")

    def seen():
        pages = [page.format(opened.id) for page in PAGES]
        pages += [f"/studio/surveys/{opened.id}/export/{name}" for name in EXPORTS]
        ends = ("", f"/{opened.id}", f"/{opened.id}/results", f"/{opened.id}/releases", f"/{opened.id}/export.zip")
        replies = [owner.get(path) for path in pages] + [program.get(f"/api/v1/surveys{end}") for end in ends]
        return [(reply.status, reply.headers, reply.body) for reply in replies]

    site.fill(opened, 28)  # the third batch lacks two
    before = seen()
    site.app.state.studio.cache.__init__(site.engine)  # worked out again, and with one person more
    assert answer(site, opened)[0] == 201
    assert seen() == before
    assert answer(site, opened)[0] == 201
    until = time.monotonic() + 60
    while owner.get(f"/studio/surveys/{opened.id}/release").json() == {"releases": 1}:
        assert time.monotonic() < until
    assert all(one != two for one, two in zip(before[:2], seen()[:2], strict=True))


def test_exports_and_their_names(site, owner, opened):
    site.fill(opened, 40)
    called = {
        "manifest.json": "small-survey-manifest.json",
        "results.json": "small-survey-results.json",
        "everything.zip": "small-survey.zip",
        "0.csv": "small-survey-colour-day.csv",
        "0.parquet": "small-survey-colour-day.parquet",
        "1.csv": "small-survey-smokes.csv",
        "1.parquet": "small-survey-smokes.parquet",
    }
    assert set(EXPORTS) <= set(called)
    for name, file in called.items():
        reply = owner.get(f"/studio/surveys/{opened.id}/export/{name}")
        assert reply.status == 200
        assert reply.header("content-disposition") == f'attachment; filename="{file}"'
        assert reply.body
    for name in (
        "2.csv",
        "00.csv",
        "-1.csv",
        "0.txt",
        "0",
        "csv",
        "%D9%A0.csv",
        "results.csv",
        "..%2f0.csv",
        "9" * 40 + ".csv",
    ):
        assert owner.request("GET", f"/studio/surveys/{opened.id}/export/{name}").status == 404


def test_what_is_saved_from_the_page_gives_its_numbers(site, owner, opened, tmp_path):
    """Every file that the page offers, under the name it is saved by, alone in a folder; and the page's program."""
    site.fill(opened, 60)
    page = owner.get(f"/studio/surveys/{opened.id}").text
    found = owner.get(f"/studio/surveys/{opened.id}/export/results.json").json()
    shares = {one["name"]: one["shares"]["estimate"] for one in found["findings"]["variables"]}
    program = tmp_path / "analyse.py"
    program.write_text(unescape(re.search(r'<code id="snippet">(.*?)</code>', page, re.DOTALL)[1]), "utf-8")
    saved = []
    for k, path in enumerate(re.findall(r'href="(/studio/surveys/[^"]*/export/[^"]*\.(?:csv|parquet|zip))"', page)):
        reply = owner.get(path)
        called = re.fullmatch(r'attachment; filename="([^"]*)"', reply.header("content-disposition"))[1]
        file = tmp_path / str(k) / called
        file.parent.mkdir()
        file.write_bytes(reply.body)
        saved += [file]
        if file.suffix == ".zip":
            with zipfile.ZipFile(file) as archive:
                archive.extractall(file.parent)
            assert (file.parent / "analyse.py").read_text("utf-8") == program.read_text("utf-8")
            saved[-1:] = [*file.parent.glob("data/*.csv"), *file.parent.glob("data/*.parquet")]
    assert len(saved) == 8
    for file in saved:
        release = sp.read_release(file)
        for name in release.names:
            assert sp.estimate(release.count(name)).w == pytest.approx(shares[name], abs=1e-6)
    alone = [str(file) for file in saved if file.name in {"small-survey-colour-day.csv", "small-survey-smokes.parquet"}]
    run = subprocess.run([sys.executable, str(program), *alone], capture_output=True, check=True, cwd=tmp_path)
    written = json.loads((tmp_path / "findings.json").read_text("utf-8"))
    assert {one["name"]: one["shares"]["estimate"] for one in written["variables"]} == shares
    assert b"colour" in run.stdout


@pytest.mark.parametrize("language", LANGUAGES)
def test_findings_are_read_in_a_language_that_is_asked_for(site, owner, opened, language):
    site.fill(opened, 60)
    reply = owner.get(f"/studio/surveys/{opened.id}?language={language}")
    words = words_of(language)
    assert reply.status == 200
    assert f'<div lang="{language}" dir="{words.direction}">' in reply.text
    address = f"/studio/surveys/{opened.id}?language={language}"
    assert f'<a href="{address}" lang="{language}" aria-current="true">' in reply.text
    assert words("needed.title") in unescape(reply.text)
    assert 'style="' not in reply.text


def test_languages_that_are_none(site, owner, opened):
    site.fill(opened, 60)
    english = owner.get(f"/studio/surveys/{opened.id}?language=en")
    assert english.body == owner.get(f"/studio/surveys/{opened.id}").body
    for language in ("xx", "EN", "", "../en", "en.json", "%00"):
        assert owner.get(f"/studio/surveys/{opened.id}?language={language}").status == 404


def test_exports_before_the_first_release_are_empty_and_work(site, owner, opened):
    for name in EXPORTS:
        assert owner.get(f"/studio/surveys/{opened.id}/export/{name}").status == 200
    assert json.loads(owner.get(f"/studio/surveys/{opened.id}/export/results.json").body)["n"] == 0


def test_results_are_worked_out_once_for_a_release(site, owner, opened, monkeypatch):
    made = []
    real = studio_results.results
    monkeypatch.setattr(studio_results, "results", lambda released: made.append(1) or real(released))
    site.fill(opened, 30)
    threads = [threading.Thread(target=owner.get, args=(f"/studio/surveys/{opened.id}",)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    owner.get(f"/studio/surveys/{opened.id}/export/everything.zip")
    assert len(made) == 1


def test_desk_keeps_a_limited_number_and_survives_failures(site, opened):
    cache = ResultCache(site.engine)
    line = cache.line(opened.id)
    for k in range(200):
        assert cache.cached(line, str(k), lambda k=k: k) == k
    assert len(cache._kept) == 64
    for k in range(200):
        assert cache.file(line, str(k), lambda released, k=k: k) == k
    assert len(cache._files) == 32
    assert cache.cached(line, "199", lambda: "made again") == 199  # files push nothing else out
    with pytest.raises(ZeroDivisionError, match="division"):
        cache.cached(line, "bad", lambda: 1 / 0)
    assert cache._working == {}


def test_manifests_are_read_once(site, opened, monkeypatch):
    from subsetprivacy.collect.storage import surveys as storage

    read, usual = [], storage.read_manifest
    monkeypatch.setattr(storage, "read_manifest", lambda text: read.append(text) or usual(text))
    cache = ResultCache(site.engine)
    assert cache.line(opened.id).title == "Small survey"
    assert read == [opened.text]  # of this one alone
    number = len(cache.lines())
    assert len(read) == number
    assert cache.line(opened.id) in cache.lines()
    assert len(read) == number
    publishing.delete(site.engine, opened.id)
    cache.forget(opened.id)
    assert cache.line(opened.id) is None
    assert opened.id not in cache._facts


def test_survey_that_is_deleted_while_it_is_looked_at_is_not_there(site, owner, opened, monkeypatch):
    cache = site.app.state.studio.cache
    line = cache.line(opened.id)
    publishing.delete(site.engine, opened.id)
    with monkeypatch.context() as patch:
        patch.setattr(cache, "line", lambda survey_id: line)  # found a moment before
        for place in ("manage", "export/manifest.json", "export/everything.zip", "export/0.csv"):
            assert owner.get(f"/studio/surveys/{opened.id}/{place}").status == 404
        program = site.with_token("analyst")
        assert program.get(f"/api/v1/surveys/{opened.id}/results").status == 404
    assert cache.cached(line, "bad", lambda: "good") == "good"
    assert not cache._working


def test_analyst_sees_no_buttons_that_are_not_for_analysts(site, opened):
    site.fill(opened, 30)
    analyst = site.signed_in(ANALYST)
    publishing.save_draft(site.engine, SMALL.replace("Small survey", "Only for owners"), "toml")
    listed, board = analyst.get("/studio").text, analyst.get(f"/studio/surveys/{opened.id}").text
    for page in (listed, board):
        for part in ("Only for owners", "/manage", "/drafts", "/people", "/close", "/delete"):
            assert part not in page


def test_surveys_that_are_none(owner):
    for name in ("nothing", "a" * 16, "%00" * 16):
        for path in ("", "/manage", "/close", "/delete", "/release", "/export/everything.zip"):
            assert owner.get(f"/studio/surveys/{name}{path}").status == 404, (name, path)


def test_studio_works_on_postgresql(postgres_url):
    with Site(postgres_url) as site:
        owner = site.signed_in(OWNER)
        place = owner.post("/studio/drafts/new", {"example": "work"}).header("location")
        survey = owner.submit(f"{place}/publish").header("location").split("/")[3]
        links = owner.post(f"/studio/surveys/{survey}/codes", {"n": "60", "as": "txt", **ADDRESS}).text.split()
        manifest = site.app.state.studio.cache.released(site.app.state.studio.cache.line(survey)).manifest
        for link in links[:3]:
            assert answer(site, manifest, link.partition("#")[2])[0] == 201
        site.fill(manifest, 60)
        assert "Together" in owner.get(f"/studio/surveys/{survey}").text
        assert owner.get(f"/studio/drafts/{'%00' * 16}").status == 404
        assert site.with_token().get(f"/api/v1/drafts/{'%00' * 16}").status == 404
        assert owner.submit(f"/studio/surveys/{survey}/delete", {"title": "Work and health"}).status == 303
