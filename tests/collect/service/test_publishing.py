"""From a draft to a live survey, its codes, and its end."""

import re
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from refusals import refused

from subsetprivacy.collect.service import publishing
from subsetprivacy.collect.service.publishing import (
    AlreadyPublishedError,
    ChangedError,
    NotFoundError,
    PublishingError,
    accept_earlier_codes,
    close,
    delete,
    delete_draft,
    drafts,
    make_codes,
    publish,
    read_draft,
    save_draft,
    surveys,
)
from subsetprivacy.collect.service.respondents import Respondent, answer_all
from subsetprivacy.collect.storage.opening import reading, writing
from subsetprivacy.collect.storage.released import read_key, read_released
from subsetprivacy.collect.storage.surveys import Draft, write_draft
from subsetprivacy.collect.survey import coin
from subsetprivacy.collect.survey.reading import SurveyError, read_survey

TEA = """
title = "Tea"
study = "drinks"
batch = 10

[[variables]]
id = "tea"
question = "Which tea?"
options = ["black", "green", "white", "none"]
"""
OPEN = TEA.replace('study = "drinks"', 'study = "drinks"\nmode = "open"')


def published(engine, text=TEA):
    return publish(engine, save_draft(engine, text, "toml").id)


def take_part(engine, manifest, codes):
    return answer_all(engine, manifest, [Respondent({"tea": 1}, code=code) for code in codes])


# Refusals beforehand ------------------------------------------------------------------------------


def test_what_publishing_would_refuse_is_told_and_nothing_is_written(store):
    def told(text):
        return publishing.objection(store, read_survey(text, "toml"))

    assert told(TEA) is None
    with reading(store) as connection:
        assert read_key(connection, "drinks") is None  # looking makes no study
    first = published(store)
    assert told(TEA) is None
    for text in (TEA.replace('"none"', '"no tea"'), OPEN.replace('"none"', '"no tea"')):
        with refused(PublishingError, "options") as caught:
            published(store, text)
        assert str(told(text)) == str(caught.value)
        assert told(text).advice.name == "ask_alike"
    close(store, first.id)
    assert "whose key is secret" in told(TEA).message
    assert told(OPEN) is None
    assert [line.id for line in surveys(store)] == [first.id]


# Drafts -------------------------------------------------------------------------------------------


def test_a_draft_is_kept_as_it_was_written(store):
    first = save_draft(store, TEA, "toml")
    assert re.fullmatch("[a-z2-7]{16}", first.id)
    assert (first.title, first.format, first.text) == ("Tea", "toml", TEA)
    changed = save_draft(store, TEA.replace('"Tea"', '"Coffee"'), "toml", first.id)
    assert changed.id == first.id
    assert drafts(store) == [changed]
    assert read_draft(store, first.id).title == "Coffee"
    other = save_draft(store, TEA, "toml")
    assert other.id != first.id
    delete_draft(store, first.id)
    assert drafts(store) == [other]


def test_a_draft_that_is_no_survey_is_refused_with_its_problems(engine):
    with pytest.raises(SurveyError) as caught:
        save_draft(engine, TEA.replace("options", "opinions"), "toml")
    assert caught.value.problems
    assert drafts(engine) == []


def test_a_draft_from_before_whose_options_look_alike_is_shown_and_not_published(store):
    draft = Draft("a" * 16, "Tea", "toml", TEA.replace('"white"', '"blaсk"'))
    with writing(store) as connection:
        write_draft(connection, draft)
    assert read_draft(store, draft.id) == draft
    with pytest.raises(SurveyError, match="character 4 is CYRILLIC SMALL LETTER ES here"):
        publish(store, draft.id)
    assert surveys(store) == []


@pytest.mark.parametrize(
    "act",
    [
        lambda engine: save_draft(engine, TEA, "toml", "aaaaaaaaaaaaaaaa"),
        lambda engine: delete_draft(engine, "aaaaaaaaaaaaaaaa"),
        lambda engine: publish(engine, "aaaaaaaaaaaaaaaa"),
        lambda engine: close(engine, "aaaaaaaaaaaaaaaa"),
        lambda engine: delete(engine, "aaaaaaaaaaaaaaaa"),
        lambda engine: make_codes(engine, "aaaaaaaaaaaaaaaa", 1),
    ],
    ids=["save", "delete a draft", "publish", "close", "delete", "codes"],
)
def test_what_is_not_there_is_said_so(engine, act):
    with pytest.raises(NotFoundError):
        act(engine)
    assert read_draft(engine, "aaaaaaaaaaaaaaaa") is None


# Publishing ---------------------------------------------------------------------------------------


def test_publishing_freezes_the_draft(store):
    draft = save_draft(store, TEA, "toml")
    manifest = publish(store, draft.id)
    with reading(store) as connection:
        key, revealed = read_key(connection, "drinks")
        held = read_released(connection, manifest.id)
    assert not revealed
    assert manifest.document["key_commitment"] == coin.commit_key(key).hex()
    assert held.manifest.text == manifest.text
    assert (held.version, held.is_open, held.n) == (1, True, 0)
    save_draft(store, TEA.replace("Which tea?", "Which tea, then?"), "toml", draft.id)
    again = publish(store, draft.id)
    assert again.id != manifest.id
    assert [(line.id, line.version) for line in surveys(store)] == [(again.id, 2), (manifest.id, 1)]
    with reading(store) as connection:
        assert read_released(connection, manifest.id).manifest.text == manifest.text


# What was looked at ---------------------------------------------------------------------------------


COFFEE = TEA.replace('"Tea"', '"Coffee"')


def test_only_the_revision_that_was_seen_is_published_replaced_or_deleted(store):
    seen = save_draft(store, TEA, "toml")
    present = save_draft(store, COFFEE, "toml", seen.id)
    for act in (
        lambda: publish(store, seen.id, revision=seen.revision),
        lambda: save_draft(store, TEA + "# mine", "toml", seen.id, revision=seen.revision),
        lambda: delete_draft(store, seen.id, revision=seen.revision),
        lambda: delete_draft(store, seen.id, revision=""),
    ):
        with pytest.raises(ChangedError) as caught:
            act()
        assert caught.value.draft == present
    assert (surveys(store), drafts(store)) == ([], [present])
    assert publish(store, seen.id, revision=present.revision, version=1).title == "Coffee"
    save_draft(store, TEA, "toml", seen.id, revision=present.revision)
    delete_draft(store, seen.id, revision=seen.revision)  # the same text again has the same revision
    assert drafts(store) == []


def test_revision_is_that_of_text_and_format():
    draft = Draft("a", "Tea", "toml", TEA)
    assert draft.revision == Draft("b", "Another", "toml", TEA).revision
    assert (
        len({draft.revision, Draft("a", "Tea", "yaml", TEA).revision, Draft("a", "Tea", "toml", TEA + " ").revision})
        == 3
    )


def test_a_version_is_published_once(store):
    draft = save_draft(store, TEA, "toml")
    manifest = publish(store, draft.id, version=1)
    with pytest.raises(AlreadyPublishedError) as caught:
        publish(store, draft.id, version=1)
    assert caught.value.survey_id == manifest.id
    save_draft(store, COFFEE, "toml", draft.id)
    for version in (1, 3, 0):
        with pytest.raises(ChangedError):
            publish(store, draft.id, version=version)
    assert [line.version for line in surveys(store)] == [1]
    publish(store, draft.id, version=2)


def test_what_cannot_be_undone_needs_the_study_as_it_was_seen(store):
    first = published(store)
    seen = publishing.state_of_study(store, "drinks")
    second = published(store)
    acts = (
        lambda state: close(store, first.id, state=state),
        lambda state: delete(store, first.id, state=state),
        lambda state: publishing.publish_key(store, first.id, state=state),
    )
    for act in acts:
        for state in (seen, ""):
            with pytest.raises(ChangedError):
                act(state)
    assert all(line.is_open for line in surveys(store))
    states = [seen, publishing.state_of_study(store, "drinks")]
    for step in (
        lambda: close(store, first.id, last_wave=False, state=states[-1]),
        lambda: close(store, second.id, last_wave=False, state=states[-1]),
        lambda: publishing.publish_key(store, first.id, state=states[-1]),
        lambda: delete(store, second.id, state=states[-1]),
    ):
        step()
        states.append(publishing.state_of_study(store, "drinks"))
    assert len(set(states)) == len(states)


def test_draft_that_changes_before_the_transaction_is_not_published(store, monkeypatch):
    """The revision is right when the text is read, and another one when the transaction begins."""
    seen = save_draft(store, TEA, "toml")

    def read(text, format):
        monkeypatch.undo()
        save_draft(store, COFFEE, "toml", seen.id)
        return read_survey(text, format)

    monkeypatch.setattr(publishing, "read_survey", read)
    with pytest.raises(ChangedError):
        publish(store, seen.id, revision=seen.revision)
    assert surveys(store) == []
    assert publish(store, seen.id).title == "Coffee"


def race(*acts):
    """Let acts run at once; return what each returned or raised."""
    start = Barrier(len(acts))

    def run(act):
        start.wait()
        try:
            return act()
        except PublishingError as error:
            return error

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(run, acts))


def test_of_many_who_save_or_publish_at_once_one_does(store):
    draft = save_draft(store, TEA, "toml")
    saves = [lambda k=k: save_draft(store, f"{TEA}# {k}", "toml", draft.id, revision=draft.revision) for k in range(6)]
    (saved,) = (one for one in race(*saves) if not isinstance(one, ChangedError))
    assert read_draft(store, draft.id) == saved
    seen = {"revision": saved.revision, "version": 1}
    done = race(*(lambda: publish(store, draft.id, **seen) for _ in range(6)))
    (manifest,) = (one for one in done if not isinstance(one, PublishingError))
    assert {one.survey_id for one in done if one is not manifest} == {manifest.id}
    assert [line.id for line in surveys(store)] == [manifest.id]


def test_whoever_publishes_while_others_save_publishes_what_was_seen(store):
    for _ in range(5):
        draft = save_draft(store, TEA, "toml")
        outcome, *_ = race(
            lambda draft=draft: publish(store, draft.id, revision=draft.revision),
            lambda draft=draft: save_draft(store, COFFEE, "toml", draft.id, revision=draft.revision),
            lambda draft=draft: delete_draft(store, draft.id, revision=draft.revision),
        )
        assert isinstance(outcome, (ChangedError, NotFoundError)) or outcome.title == "Tea"


def test_open_mode_has_no_key_in_its_manifest(engine):
    assert published(engine, OPEN).document["key_commitment"] is None


def test_a_draft_that_changes_while_it_is_read_is_read_again(engine, monkeypatch):
    draft = save_draft(engine, TEA, "toml")
    read = publishing.read_survey

    def slow(text, format):
        survey = read(text, format)
        monkeypatch.setattr(publishing, "read_survey", read)
        save_draft(engine, TEA.replace('"Tea"', '"Coffee"'), "toml", draft.id)
        return survey

    monkeypatch.setattr(publishing, "read_survey", slow)
    assert publish(engine, draft.id).title == "Coffee"


@pytest.mark.parametrize(
    ("change", "argument"),
    [
        (('"white", ', ""), "options"),
        (('"none"]', '"none"]\ndesign = "hadamard"'), "design"),
        (('"white", "none"', '"none", "white"'), "options"),
    ],
)
def test_another_question_about_the_same_variable_is_refused(engine, change, argument):
    first = published(engine)
    with refused(PublishingError, argument) as caught:
        published(engine, TEA.replace(*change))
    assert "'tea'" in str(caught.value)
    assert first.id in str(caught.value)
    assert caught.value.advice.name == "ask_alike"
    assert [line.id for line in surveys(engine)] == [first.id]
    elsewhere = TEA.replace(*change).replace("drinks", "elsewhere")
    assert published(engine, elsewhere).study == "elsewhere"


def test_the_same_question_in_another_wave_is_fine(engine):
    published(engine)
    wave = published(engine, TEA.replace('"Tea"', '"Tea, a year later"'))
    assert len(surveys(engine)) == 2
    assert wave.document["key_commitment"] == published(engine).document["key_commitment"]


# The end ------------------------------------------------------------------------------------------


def test_closing_publishes_the_key_after_the_last_wave(store):
    manifest = published(store)
    codes = make_codes(store, manifest.id, 12)
    assert take_part(store, manifest, codes) == {"counted": 12}
    close(store, manifest.id, last_wave=False)
    with reading(store) as connection:
        assert read_released(connection, manifest.id).key is None
    wave = published(store)
    close(store, manifest.id)  # the other is open still
    with reading(store) as connection:
        assert read_released(connection, manifest.id).key is None
    close(store, wave.id)
    with reading(store) as connection:
        released = read_released(connection, manifest.id)
    assert coin.commit_key(released.key).hex() == manifest.document["key_commitment"]
    assert released.n == 12
    (late,) = take_part(store, manifest, codes[:1])
    assert late == "closed"


def test_after_the_key_is_published_codes_need_another_study(engine):
    close(engine, published(engine).id)
    with pytest.raises(PublishingError):
        published(engine)
    assert published(engine, OPEN).mode == "open"
    assert published(engine, TEA.replace("drinks", "drinks-2")).study == "drinks-2"


def test_deleting_takes_the_key_with_the_last_survey(store):
    first, second = published(store), published(store)
    with reading(store) as connection:
        key = read_key(connection, "drinks")
    delete(store, first.id)
    with reading(store) as connection:
        assert read_key(connection, "drinks") == key
    delete(store, second.id)
    assert surveys(store) == []
    with reading(store) as connection:
        assert read_key(connection, "drinks") is None


# Codes --------------------------------------------------------------------------------------------


def test_codes_are_for_one_answer_each(store):
    manifest = published(store)
    codes = make_codes(store, manifest.id, 30)
    assert len(set(codes)) == 30
    assert all(re.fullmatch("[a-z2-7]{32}", code) for code in codes)
    assert take_part(store, manifest, codes) == {"counted": 30}
    assert take_part(store, manifest, codes) == {"already counted": 30}
    stranger = coin.code_text(bytes(10), bytes(10))
    assert take_part(store, manifest, [stranger]) == {"unknown code": 1}


def test_codes_come_in_another_order_than_they_lie(engine):
    manifest = published(engine)
    codes = make_codes(engine, manifest.id, 200)
    marks = [coin.ticket_mark(manifest.id, coin.read_code(code)[0]) for code in codes]
    ranks = [sorted(marks).index(mark) for mark in marks]
    spearman = 1 - 6 * sum((k - rank) ** 2 for k, rank in enumerate(ranks)) / (200 * (200**2 - 1))
    assert abs(spearman) < 6.5 / 200**0.5  # so many standard deviations: the codes are random in earnest


def test_codes_of_an_earlier_wave_ask_the_same_again(engine):
    first = published(engine)
    (code,) = make_codes(engine, first.id, 1)
    person = Respondent({"tea": 2}, code=code)
    assert answer_all(engine, first, [person]) == {"counted": 1}
    asked = person.submission(first)["answers"]
    wave = published(engine)
    assert answer_all(engine, wave, [person]) == {"unknown code": 1}
    accept_earlier_codes(engine, wave.id, [f" {code.upper()}\n", code])
    assert answer_all(engine, wave, [person]) == {"counted": 1}
    assert person.submission(wave)["answers"] == asked
    accept_earlier_codes(engine, first.id, [code])
    assert answer_all(engine, first, [person]) == {"already counted": 1}


def test_codes_that_are_none_are_refused_without_showing_them(engine):
    manifest = published(engine)
    good = coin.code_text(bytes(10), bytes(10))
    for bad in ("hello", good[:-1], good + "a", "", "ä" * 32):
        with pytest.raises(PublishingError, match="line 2 is not") as caught:
            accept_earlier_codes(engine, manifest.id, [good, bad])
        assert not bad or bad not in str(caught.value)
        assert caught.value.__suppress_context__


@pytest.mark.parametrize("number", [0, -1, 100_001])
def test_so_many_codes_at_once(engine, number):
    with pytest.raises(PublishingError):
        make_codes(engine, published(engine).id, number)


def test_codes_need_a_survey_that_takes_them(engine):
    manifest = published(engine, OPEN)
    with pytest.raises(PublishingError):
        make_codes(engine, manifest.id, 1)
    manifest = published(engine)
    close(engine, manifest.id)
    with pytest.raises(PublishingError):
        make_codes(engine, manifest.id, 1)
