"""The sentences of the respondent's page: the same in every language, all used, none outside of the files."""

import re
from collections import Counter
from pathlib import Path

import pytest
from visitor import WORDS

import subsetprivacy.collect.web.respond as respond

STATIC = Path(respond.__file__).parent / "static" / "respond"
SCRIPTS = {path.name: path.read_text("utf-8") for path in STATIC.glob("*.js")}
# Keys that a script puts together from parts.
MADE = {
    "how": ("yes_no", "groups", "bit", "local"),
    "color": ("red", "blue", "green", "yellow", "white", "black"),
    "key": ("yes", "no", "same", "different", "skip", "back"),
    "ask": ("yes", "yes_list", "no", "no_list", "same", "different"),
    "part": (
        *("fingerprint", "ticket", "opening", "answers", "asked", "kept"),
        *("answer_yes_no", "answer_groups", "answer_bit"),
    ),
    "done": ("counted", "already_counted", "preview"),
    "meaning": tuple(f"{kind}{end}" for kind in ("same", "could") for end in ("", ".most", ".rare")),
}
PROBLEMS = (
    *("unknown_survey", "unreachable", "mismatch", "unsafe", "no_code", "broken_code", "unknown_code"),
    *("already_counted", "bad_lock", "stale", "closed", "refused", "broken"),
)


def test_a_file_for_each_language_and_no_other():
    files = {path.stem for path in (STATIC.parents[1] / "languages").glob("*.json")}
    assert files == set(respond.LANGUAGES)


@pytest.mark.parametrize("language", respond.LANGUAGES)
def test_every_key_is_in_every_language_with_the_same_gaps(language):
    words = WORDS[language]
    assert words.keys() == WORDS["en"].keys()
    assert words["language"] == language
    for key, text in words.items():
        assert text.strip() == text
        assert text
        assert Counter(re.findall(r"\{(\w+)\}", text)) == Counter(re.findall(r"\{(\w+)\}", WORDS["en"][key])), key


@pytest.mark.parametrize("language", ["de", "ar"])
def test_sentences_are_translated(language):
    same = {key for key, text in WORDS[language].items() if text == WORDS["en"][key]}
    assert same <= {"direction", "key.no"}


@pytest.mark.parametrize("language", respond.LANGUAGES)
def test_each_key_to_press_means_one_thing(language):
    keys = {deed: WORDS[language][f"key.{deed}"].lower() for deed in MADE["key"]}
    english = {"yes": "y", "no": "n", "same": "s", "different": "d", "skip": "r", "back": "b"}
    for deed, key in keys.items():
        assert len(key) == 1
        assert not [other for other in keys if other != deed and key in (keys[other], english[other])]


def test_every_key_is_used_and_every_key_used_is_there():
    text = "\n".join(SCRIPTS.values())
    said = set(re.findall(r'"([a-z]+\.[a-z_.]+)"', text)) - set(SCRIPTS)
    said |= {f"{first}.{rest}" for first, ends in MADE.items() for rest in ends}
    said |= {f"problem.{name}.{end}" for name in PROBLEMS for end in ("title", "text")}
    said |= {"page.noscript", "page.unreachable", "language", "direction"}
    assert said == WORDS["en"].keys()


def test_problems_are_those_that_scripts_and_replies_name():
    thrown = set(re.findall(r'new Error\((?:fragment \? )?"(\w+)"(?: : "(\w+)")?', "\n".join(SCRIPTS.values())))
    thrown = {name for pair in thrown for name in pair if name}
    replies = {"already_counted", "stale", "closed", "unknown_code", "unknown_survey", "refused"}
    assert thrown | replies | {"broken", "unreachable"} == set(PROBLEMS)


def test_scripts_hold_no_sentence_of_their_own():
    for name, text in SCRIPTS.items():
        code = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
        for quoted in re.findall(r'"[^"\n]*"|`[^`]*`', code):
            assert not re.search(r"[A-Za-z]{2,} [a-z]{2,} [a-z]{2,}", quoted), (name, quoted)


def test_sentences_are_short_and_plain():
    for key, text in WORDS["en"].items():
        for sentence in re.split(r"(?<=[.:?!]) ", text):
            assert len(sentence.split()) <= 27, (key, sentence)
        for word in ("anonymi", "cryptograph", "commitment", "hash", "protocol", "metadata", "randomi", "subset"):
            assert word not in text.lower(), key


def syllables(word):
    """Count the syllables of an English word, roughly: groups of vowels, without a silent e."""
    groups = re.findall(r"[aeiouy]+", re.sub(r"(?<=[^aeiouy])e$", "", word)) if len(word) > 3 else [word]
    return max(1, len(groups))


def test_instructions_can_be_read_by_a_child_of_twelve():
    """The grade of Flesch and Kincaid, for all instructions together and for each that is long enough to tell."""
    instructions = [text for key, text in WORDS["en"].items() if re.match(r"(how|practice|ask|bit|all|local)\.", key)]
    long = [text for text in instructions if len(text.split()) >= 15]
    assert len(long) > 5
    for text in (" ".join(f"{text.rstrip('.:?')}." for text in instructions), *long):
        words = re.findall(r"[a-z’]+", re.sub(r"\{\w+\}", "red", text).lower())
        sentences = len(re.findall(r"[.:?](?= |$)", text)) or 1
        grade = 0.39 * len(words) / sentences + 11.8 * sum(map(syllables, words)) / len(words) - 15.59
        assert grade <= 7, (grade, text)
