"""Two tabs or owners at one draft or study: what was shown is what is done, and nothing that was typed is lost."""

import re
from html import unescape

import pytest
from effort import calls
from sites import SMALL, Site

from subsetprivacy.collect.service import accounts, publishing
from subsetprivacy.collect.survey.documents import survey_document
from subsetprivacy.collect.survey.reading import read_survey
from subsetprivacy.collect.survey.writing import write_survey
from subsetprivacy.collect.web.studio_conflicts import line_diff

CODES = SMALL.replace('mode = "open"', 'mode = "code"').replace("Small", "Coded")
THEIRS = SMALL.replace("Which colour do you like best?", "Which colour <b>do they</b> like?")
MINE = SMALL.replace("On which day were you born?", "On which day was I born?")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with Site(tmp_path_factory.mktemp("site") / "store.db") as held:
        yield held


@pytest.fixture
def draft(site):
    return publishing.save_draft(site.engine, SMALL, "toml").id


def text_of(site, draft):
    return publishing.read_draft(site.engine, draft).text


def published_of(site, draft):
    return [line.version for line in publishing.surveys(site.engine) if line.draft == draft]


def differences(page):
    """Return the lines that a page shows as different, with their sign."""
    rows = re.findall(r'<tr class="(old|new)">.*?<td class="mono">([^<]*)</td>', page.text)
    return [(kind, unescape(text)) for kind, text in rows]


def changed_study(name, text=CODES):
    return text.replace('study = "small"', f'study = "{name}"')


# Publishing -------------------------------------------------------------------------------------


def test_what_was_shown_is_published_or_nothing(site, owner, draft):
    place = f"/studio/drafts/{draft}/publish"
    shown = owner.fields(place)
    publishing.save_draft(site.engine, THEIRS, "toml", draft)  # another tab
    reply = owner.post(place, shown)
    assert reply.status == 409
    assert "Nothing was published" in reply.text
    assert differences(reply) == [
        ("old", 'question = "Which colour do you like best?"'),
        ("new", 'question = "Which colour <b>do they</b> like?"'),
    ]
    assert f'href="{place}"' in reply.text
    assert published_of(site, draft) == []
    assert owner.submit(place).status == 303
    assert published_of(site, draft) == [1]


def test_the_form_says_what_was_shown(site, owner, draft):
    shown = owner.fields(f"/studio/drafts/{draft}/publish")
    held = publishing.read_draft(site.engine, draft)
    assert shown == {"revision": held.revision, "version": "1", "format": "toml", "text": SMALL}


def test_largest_draft_can_be_published_and_its_conflict_shown(site, owner):
    text = SMALL + "#" + "€" * ((256 * 1024 - len(SMALL) - 10) // 3)  # each of its bytes is three in a form
    draft = publishing.save_draft(site.engine, text, "toml").id
    shown = owner.fields(f"/studio/drafts/{draft}/publish")
    publishing.save_draft(site.engine, text.replace("Small", "Other"), "toml", draft)
    assert owner.post(f"/studio/drafts/{draft}/publish", shown).status == 409
    assert owner.post(f"/studio/drafts/{draft}/file", shown).status == 409
    assert owner.submit(f"/studio/drafts/{draft}/publish").status == 303


@pytest.mark.parametrize("left_out", ["revision", "version"])
def test_a_form_that_does_not_say_it_publishes_nothing(site, owner, draft, left_out):
    shown = owner.fields(f"/studio/drafts/{draft}/publish")
    shown[left_out] = ""
    assert owner.post(f"/studio/drafts/{draft}/publish", shown).status == 409
    assert owner.post(f"/studio/drafts/{draft}/publish", {}).status == 409
    assert published_of(site, draft) == []


def test_another_format_is_another_draft(site, owner, draft):
    shown = owner.fields(f"/studio/drafts/{draft}/publish")
    publishing.save_draft(site.engine, write_survey(read_survey(SMALL, "toml"), "json"), "json", draft)
    reply = owner.post(f"/studio/drafts/{draft}/publish", shown)
    assert reply.status == 409
    assert "The file was TOML and is JSON now" in reply.text
    assert "The survey is the same, line by line" in reply.text
    assert published_of(site, draft) == []
    mine = {**shown, "text": MINE}
    reply = owner.post(f"/studio/drafts/{draft}/file", mine)
    assert "The saved version is now a JSON file. Yours is TOML" in reply.text
    assert differences(reply) == [
        ("old", 'question = "On which day were you born?"'),
        ("new", 'question = "On which day was I born?"'),
    ]
    broken = owner.post(f"/studio/drafts/{draft}/publish", {**shown, "text": "no survey", "format": "ini"})
    assert (broken.status, ("old", "no survey") in differences(broken)) == (409, True)  # what anyone may send


def test_publish_form_that_is_sent_twice_publishes_once(site, owner, draft):
    shown = owner.fields(f"/studio/drafts/{draft}/publish")
    replies = [owner.post(f"/studio/drafts/{draft}/publish", shown) for _ in range(2)]
    assert [reply.status for reply in replies] == [303, 303]
    assert replies[0].header("location") == replies[1].header("location")
    assert published_of(site, draft) == [1]
    assert owner.submit(f"/studio/drafts/{draft}/publish").status == 303  # looked at again, it is version 2
    assert published_of(site, draft) == [2, 1]


def test_a_version_that_was_published_meanwhile_is_said_so(site, owner, draft):
    shown = owner.fields(f"/studio/drafts/{draft}/publish")
    publishing.save_draft(site.engine, THEIRS, "toml", draft)
    publishing.publish(site.engine, draft)
    publishing.save_draft(site.engine, SMALL, "toml", draft)  # and back: the text is the one that was shown
    reply = owner.post(f"/studio/drafts/{draft}/publish", shown)
    assert reply.status == 409
    assert "<strong>Nothing was published.</strong>" in reply.text
    assert "Publishing adds version 2" in reply.text
    assert published_of(site, draft) == [1]


def test_draft_that_was_deleted_meanwhile_is_not_published_and_can_be_saved(site, owner, draft):
    shown = owner.fields(f"/studio/drafts/{draft}/publish")
    publishing.delete_draft(site.engine, draft)
    reply = owner.post(f"/studio/drafts/{draft}/publish", shown)
    assert reply.status == 404
    assert "This draft was deleted" in reply.text
    assert "Which colour do you like best?" in unescape(reply.text)
    assert published_of(site, draft) == []


# The file ---------------------------------------------------------------------------------------


def test_file_that_someone_else_saved_is_not_overwritten(site, owner, draft):
    place = f"/studio/drafts/{draft}/file"
    mine = {**owner.fields(place), "text": MINE}
    publishing.save_draft(site.engine, THEIRS, "toml", draft)
    reply = owner.post(place, mine)
    assert reply.status == 409
    assert text_of(site, draft) == THEIRS
    assert differences(reply) == [
        ("old", 'question = "Which colour <b>do they</b> like?"'),
        ("new", 'question = "Which colour do you like best?"'),
        ("old", 'question = "On which day were you born?"'),
        ("new", 'question = "On which day was I born?"'),
    ]
    assert unescape(re.search(r"<textarea[^>]*>\n(.*?)</textarea>", reply.text, re.DOTALL)[1]) == MINE  # all of it
    assert f'href="{place}"' in reply.text  # to take the other version
    found = re.search(r'name="revision" value="([^"]*)"', reply.text)[1]
    again = owner.post(place, {**mine, "revision": found})  # saved over it on purpose
    assert again.status == 303
    assert text_of(site, draft) == MINE


def test_a_third_save_is_a_conflict_again(site, owner, draft):
    place = f"/studio/drafts/{draft}/file"
    mine = {**owner.fields(place), "text": MINE}
    publishing.save_draft(site.engine, THEIRS, "toml", draft)
    found = re.search(r'name="revision" value="([^"]*)"', owner.post(place, mine).text)[1]
    publishing.save_draft(site.engine, THEIRS + "# and more\n", "toml", draft)
    assert owner.post(place, {**mine, "revision": found}).status == 409
    assert text_of(site, draft) == THEIRS + "# and more\n"


def test_problems_do_not_renew_what_was_opened(site, owner, draft):
    """The page that lists problems still knows which text was edited, not the one that is there now."""
    place = f"/studio/drafts/{draft}/file"
    opened = owner.fields(place)
    publishing.save_draft(site.engine, THEIRS, "toml", draft)
    reply = owner.post(place, {**opened, "text": MINE.replace("batch = 10", "batch = 1")})
    assert reply.status == 422
    assert f'name="revision" value="{opened["revision"]}"' in reply.text


@pytest.mark.parametrize("change", [{}, {"convert": "yaml"}])
def test_file_that_is_sent_twice_is_saved_once_and_no_conflict(site, owner, draft, change):
    place = f"/studio/drafts/{draft}/file"
    mine = {**owner.fields(place), "text": MINE, **change}
    replies = [owner.post(place, mine) for _ in range(2)]
    assert [reply.status for reply in replies] == [303, 303]
    held = publishing.read_draft(site.engine, draft)
    assert replies[0].header("location") == replies[1].header("location") == f"{place}?saved={held.revision}"


def test_file_opened_again_after_saving_knows_what_was_saved(site, owner, draft):
    place = f"/studio/drafts/{draft}/file"
    owner.submit(place, {"text": MINE})
    assert owner.submit(place, {"text": THEIRS}).status == 303  # the back button loads the page anew
    assert "Saved." not in owner.get(f"{place}?saved={'0' * 64}").text
    form = re.search(rf'<form[^>]*action="{place}"[^>]*>', owner.get(place).text)[0]
    assert 'autocomplete="off"' in form  # or a browser would put an old text to the revision of a new one


def test_file_of_a_draft_that_was_deleted_can_still_be_saved(site, owner, draft):
    place = f"/studio/drafts/{draft}/file"
    mine = {**owner.fields(place), "text": MINE}
    publishing.delete_draft(site.engine, draft)
    reply = owner.post(place, mine)
    assert reply.status == 404
    assert "This draft was deleted" in reply.text
    assert unescape(re.search(r"<textarea[^>]*>\n(.*?)</textarea>", reply.text, re.DOTALL)[1]) == MINE
    made = owner.post("/studio/drafts/new", {"text": MINE, "format": "toml"})
    assert text_of(site, made.header("location").rpartition("/")[2]) == MINE


# The form ---------------------------------------------------------------------------------------


def form_of(owner, place):
    page = owner.get(place).text
    return {name: re.search(rf'data-{name}="([^"]*)"', page)[1] for name in ("revision", "format")}


def test_form_that_someone_else_saved_is_not_overwritten(site, owner, draft):
    place = f"/studio/drafts/{draft}"
    sent = {**form_of(owner, place), "document": survey_document(read_survey(MINE, "toml"))}
    publishing.save_draft(site.engine, THEIRS, "toml", draft)
    reply = owner.send("POST", place, sent)
    assert reply.status == 409
    assert text_of(site, draft) == THEIRS
    held = reply.json()
    assert not held["saved"]
    assert read_survey(held["text"], "toml") == read_survey(MINE, "toml")
    page = owner.post(f"{place}/file", {**sent, "text": held["text"], "editor": "form"})  # as the script sends it on
    assert page.status == 409
    assert ("new", 'question = "On which day was I born?"') in differences(page)
    revision = re.search(r'name="revision" value="([^"]*)"', page.text)[1]
    saved = owner.post(
        f"{place}/file", {"text": held["text"], "format": "toml", "revision": revision, "editor": "form"}
    )
    assert (saved.status, saved.header("location")) == (303, place)
    assert read_survey(text_of(site, draft), "toml") == read_survey(MINE, "toml")


def test_form_that_is_sent_twice_is_no_conflict(site, owner, draft):
    place = f"/studio/drafts/{draft}"
    sent = {**form_of(owner, place), "document": survey_document(read_survey(MINE, "toml"))}
    replies = [owner.send("POST", place, sent).json() for _ in range(2)]
    assert replies[0] == replies[1]
    assert replies[0]["revision"] == publishing.read_draft(site.engine, draft).revision


def test_form_of_a_draft_that_was_deleted_gives_its_text_back(site, owner, draft):
    place = f"/studio/drafts/{draft}"
    sent = {**form_of(owner, place), "document": survey_document(read_survey(MINE, "toml"))}
    publishing.delete_draft(site.engine, draft)
    reply = owner.send("POST", place, sent)
    assert reply.status == 404
    assert read_survey(reply.json()["text"], "toml") == read_survey(MINE, "toml")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SMALL, None),
        (SMALL.replace("A few words.", "Number #1"), None),
        ("# who asks\n" + SMALL, "A comment in this file will be lost if you save or publish from here"),
        (SMALL.replace("batch = 10", "batch = 10  # for now") + "# the end\n", "2 comments in this file will be lost"),
    ],
)
def test_form_says_before_that_it_drops_comments(site, owner, text, said):
    held = publishing.save_draft(site.engine, text, "toml")
    page = owner.get(f"/studio/drafts/{held.id}").text
    warning = re.search(r'<p class="caution" id="comments">.*?</p>', page)
    assert (warning is None) == (said is None)
    if said:
        assert said in warning[0]
        assert f'href="/studio/drafts/{held.id}/file"' in warning[0]
        assert page.index(warning[0]) < page.index('id="form"')


# Deleting, closing, the key -----------------------------------------------------------------------


def test_draft_that_was_changed_is_not_deleted_unseen(site, owner, draft):
    place = f"/studio/drafts/{draft}/delete"
    shown = owner.fields(place)
    publishing.save_draft(site.engine, THEIRS.replace("Small survey", "Their survey"), "toml", draft)
    reply = owner.post(place, shown)
    assert reply.status == 409
    assert "it was not deleted" in reply.text
    assert "“Their survey”" in reply.text
    assert publishing.read_draft(site.engine, draft) is not None
    assert owner.post(place, {}).status == 409
    assert owner.submit(place).status == 303
    assert publishing.read_draft(site.engine, draft) is None


def test_close_form_that_is_sent_twice_closes_once(site, owner):
    manifest = site.publish(changed_study("closed-twice"))
    place = f"/studio/surveys/{manifest.id}/close"
    shown = owner.fields(place)
    deeds = len(accounts.activity(site.engine, 1000))
    assert [owner.post(place, shown).status for _ in range(2)] == [303, 303]
    assert len(accounts.activity(site.engine, 1000)) == deeds + 1
    publishing.delete(site.engine, manifest.id)


def test_close_page_of_before_publishes_no_key_that_was_kept(site, owner):
    """One owner closes and keeps the key for further waves; the close page of the other was opened before that."""
    manifest = site.publish(changed_study("kept"))
    place = f"/studio/surveys/{manifest.id}"
    stale = owner.fields(f"{place}/close")
    assert owner.submit(f"{place}/close", {"more_waves": "on"}).status == 303
    reply = owner.post(f"{place}/close", stale)
    assert reply.status == 409
    assert "the key of the study was kept secret. Nothing changed now" in reply.text
    assert site.nobody.get(f"/s/{manifest.id}/key").status == 404
    publishing.delete(site.engine, manifest.id)


def test_close_page_of_before_says_that_the_key_was_published(site, owner):
    """The other way round: a key that is published stays so, and whoever wanted to keep it is told."""
    manifest = site.publish(changed_study("not-kept"))
    place = f"/studio/surveys/{manifest.id}"
    stale = {**owner.fields(f"{place}/close"), "more_waves": "on"}
    assert owner.submit(f"{place}/close", {}).status == 303
    reply = owner.post(f"{place}/close", stale)
    assert reply.status == 409
    assert "the key of the study was published. Nothing changed now" in reply.text
    publishing.delete(site.engine, manifest.id)


def test_key_is_published_as_was_shown(site, owner):
    manifest = site.publish(changed_study("keyed"))
    publishing.close(site.engine, manifest.id, last_wave=False)
    place = f"/studio/surveys/{manifest.id}"
    stale = {**owner.fields(f"{place}/manage", f"{place}/key"), "sure": "on"}
    other = site.publish(changed_study("keyed"))  # a further wave
    publishing.close(site.engine, other.id, last_wave=False)
    reply = owner.post(f"{place}/key", stale)
    assert reply.status == 409
    assert "The key was not published" in reply.text
    assert site.nobody.get(f"/s/{manifest.id}/key").status == 404
    shown = {**owner.fields(f"{place}/manage", f"{place}/key"), "sure": "on"}
    assert [owner.post(f"{place}/key", shown).status for _ in range(2)] == [303, 303]
    assert site.nobody.get(f"/s/{manifest.id}/key").status == 200
    for one in (manifest, other):
        publishing.delete(site.engine, one.id)


def test_survey_is_deleted_as_was_shown(site, owner):
    """The page said that the key stays with another survey of the study, which was deleted since."""
    first, second = site.publish(changed_study("only")), site.publish(changed_study("only"))
    place = f"/studio/surveys/{first.id}/delete"
    stale = {**owner.fields(place), "title": "Coded survey"}
    publishing.delete(site.engine, second.id)
    reply = owner.post(place, stale)
    assert reply.status == 409
    assert "Nothing was deleted" in reply.text
    assert "is deleted with it, unpublished" in unescape(reply.text)
    assert any(line.id == first.id for line in publishing.surveys(site.engine))
    assert owner.submit(place, {"title": "Coded survey"}).status == 303


# Differences --------------------------------------------------------------------------------------


def test_difference_has_its_surroundings_and_leaves_the_rest_out():
    old = [f"line {k}" for k in range(40)]
    new = [*old[:10], "other", *old[11:30], *old[31:]]
    lines = line_diff("\n".join(old), "\n".join(new))
    kinds = [line.kind for line in lines]
    assert kinds == ["same"] * 2 + ["old", "new"] + ["same"] * 2 + ["gap"] + ["same"] * 2 + ["old"] + ["same"] * 2
    assert line_diff("a\r\nb", "a\nb\n") == ()
    assert [line.kind for line in line_diff("", "a")] == ["new"]


def test_difference_of_long_texts_is_whole_and_quick():
    """Every pair of lines is not compared: of 256 kB that could be ten thousand million."""
    old = ["first", *("x" if k % 2 else "y" for k in range(60_000)), "last", "end"]
    new = ["first", *("y" if k % 3 else "x" for k in range(60_000)), "last", "end"]
    assert [(line.kind, line.text) for line in line_diff("\n".join(old), "\n".join(new))] == [
        ("old", "\n".join(old[1:-2])),
        ("new", "\n".join(new[1:-2])),
    ]
    assert [line.text for line in line_diff("\n".join(old), "\n".join([*old, "more"]))] == ["more"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (["a", "b"] * 995, ["b", "b", "a"] * 663),
        pytest.param(
            [line for k in range(995) for line in ("a", f"x{k}")],
            [line for k in range(995) for line in ("a", f"y{k}")],
            marks=pytest.mark.slow,
        ),
        pytest.param(
            [line for k in range(9000) for line in (f"{k}", "x")],
            [line for k in range(9000) for line in (f"{k}", "y")],
            marks=pytest.mark.slow,
        ),
    ],
    ids=["repeated", "repeated and different", "in turn"],
)
def test_difference_takes_a_limited_number_of_steps(old, new):
    """Each pair of equal lines is looked at again for each run that was found: thousands of times, if nothing ends it.

    A step gets one length from a dictionary.
    """
    assert calls(line_diff, "\n".join(old), "\n".join(new)) < 3_000_000


def test_difference_has_a_limited_number_of_lines():
    """Of 256 kB there could be as many lines, and each takes a hundred times as much of a page."""
    old, new = ["first", *"ab" * 4000], ["first", *"c" * 4000]
    assert [(line.kind, line.text) for line in line_diff("\n".join(old), "\n".join(new))] == [
        ("old", "\n".join(old[1:])),
        ("new", "\n".join(new[1:])),
    ]
    assert [line.kind for line in line_diff("\n".join(old[:2001]), "\n".join(new[:2001]))] == [
        "same",
        *["old"] * 2000,
        *["new"] * 2000,
    ]


def test_repeated_lines_of_usual_texts_are_compared_one_by_one():
    """Blank lines and brackets are in every file, hundreds of times."""
    old = [line for k in range(300) for line in ("{", f'"id": "v{k}",', '"options": [', "]", "},", "")]
    new = [*old[:7], '"id": "w1",', *old[8:1500], "more", *old[1500:]]
    lines = line_diff("\n".join(old), "\n".join(new))
    assert [line.text for line in lines if line.kind in ("old", "new")] == ['"id": "v1",', '"id": "w1",', "more"]


def test_only_the_text_of_a_survey_is_compared(site, owner, draft):
    shown = owner.fields(f"/studio/drafts/{draft}/publish")
    reply = owner.post(f"/studio/drafts/{draft}/publish", {**shown, "revision": "", "text": "#" * (256 * 1024 + 1)})
    assert reply.status == 413
    reply = owner.post(f"/studio/drafts/{draft}/publish", {**shown, "revision": "", "text": "#" * 256 * 1024})
    assert reply.status == 409
