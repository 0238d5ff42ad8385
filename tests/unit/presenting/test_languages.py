"""The sentences of reports and of the dashboard: the same in every language, and none left in English."""

import json
import re
from collections import Counter
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import pytest
from asking import ask
from every_case import every_case
from report_pages import VOID

import subsetprivacy as sp
from subsetprivacy.design import Design
from subsetprivacy.finding import findings
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.presenting.checks import panels_of
from subsetprivacy.presenting.designs import description, example, name_of
from subsetprivacy.presenting.text import plain_text
from subsetprivacy.presenting.words import LANGUAGES, words_of
from subsetprivacy.report import report_html

FOLDER = files("subsetprivacy.presenting").joinpath("languages")
RAW = {language: FOLDER.joinpath(f"{language}.json").read_text("utf-8") for language in LANGUAGES}
TEXTS = {language: json.loads(text) for language, text in RAW.items()}
OTHERS = [language for language in LANGUAGES if language != "en"]

# Left out: notes of plans, of optimal designs and of printed tables. Findings hold none of them.
PLANNING = {
    NoteKind.RECOMMENDED,
    NoteKind.ALTERNATIVE,
    NoteKind.PRICE,
    NoteKind.PER_GROUP,
    NoteKind.CERTIFIED,
    NoteKind.LEGEND,
}
# Words that two languages share, and forms without any word.
SAME = {
    "de": {
        "direction",
        "list.comma",
        "list.semicolon",
        "row.information",
        "pair.corner",
        "check.state.alarm",
        "report.design",
        "design.name.hadamard",
    },
    "ar": {"number.decimal", "number.thousands", "number.percent", "pair.corner"},
}
# Texts that are put next to others bring the space between them.
SPACED = {"list.comma", "list.semicolon", "shares.lead_interval", "row.at_most"}
QUOTES = {"en": "“”", "de": "„“", "ar": "«»"}
GAP, MARK = "\N{NO-BREAK SPACE}", "\N{LEFT-TO-RIGHT MARK}"


def _kinds():
    """Return the kinds of all designs."""

    def below(cls):
        return [one for part in cls.__subclasses__() for one in (part, *below(part))]

    return sorted(
        {cls.kind for cls in below(Design) if cls.__module__.startswith("subsetprivacy.") and "kind" in vars(cls)}
    )


def _gaps(text):
    return Counter(re.findall(r"\{(\w*)\}", text))


# The files ------------------------------------------------------------------------------------


def test_a_file_for_each_language_and_no_other():
    assert {path.name for path in FOLDER.iterdir()} == {f"{language}.json" for language in LANGUAGES}


@every_case("language", LANGUAGES)
def test_no_key_is_written_twice(language):
    pairs = json.loads(RAW[language], object_pairs_hook=list)
    assert [key for key, times in Counter(key for key, _ in pairs).items() if times > 1] == []


@pytest.mark.parametrize("language", OTHERS)
def test_keys_and_blank_lines_are_in_the_order_of_the_english_file(language):
    def order(text):
        return [re.sub(r'^\s*"([^"]*)":.*', r"\1", line) for line in text.splitlines()]

    english = order(RAW["en"])[:-1]  # without the last bracket
    assert order(RAW[language])[: len(english)] == english


@pytest.mark.parametrize("language", OTHERS)
def test_further_keys_are_the_sentences_that_english_has_in_the_code(language):
    further = TEXTS[language].keys() - TEXTS["en"].keys()
    wanted = {f"note.{kind.value}" for kind in NoteKind if kind not in PLANNING}
    wanted |= {f"design.{what}.{kind}" for what in ("kind", "name") for kind in _kinds()}
    assert further == wanted


def test_one_and_many_come_together():
    ends = {key.rpartition(".")[0]: set() for key in TEXTS["en"] if key.endswith((".one", ".many"))}
    for key in TEXTS["en"]:
        stem, _, end = key.rpartition(".")
        if stem in ends:
            ends[stem].add(end)
    assert all(forms == {"one", "many"} for forms in ends.values())


# The sentences --------------------------------------------------------------------------------


@every_case("language", LANGUAGES)
def test_sentences_have_the_same_gaps(language):
    for key, text in TEXTS[language].items():
        assert _gaps(text).keys() == _gaps(TEXTS["en"].get(key, "")).keys(), key
        assert not re.search(r"[{}]", re.sub(r"\{\w+\}", "", text)), key


@every_case("language", LANGUAGES)
def test_no_text_is_empty_or_has_stray_spaces(language):
    for key, text in TEXTS[language].items():
        assert text.strip(), key
        assert "  " not in text, key
        assert text == text.strip() or key in SPACED, key


@every_case("language", LANGUAGES)
def test_quotes_are_those_of_the_language_and_closed(language):
    start, end = QUOTES[language]
    wrong = set('"“”„«»') - {start, end}
    for key, text in TEXTS[language].items():
        assert not wrong & set(text), key
        assert re.fullmatch(f"([^{start}{end}]*{start}[^{start}{end}]*{end})*[^{start}{end}]*", text), key


@pytest.mark.parametrize("language", OTHERS)
def test_no_english_is_left(language):
    texts = TEXTS[language]
    assert {key for key, text in texts.items() if text == TEXTS["en"].get(key)} <= SAME[language]
    english = re.compile(r"\b(the|of|is|and|are|people|share|with)\b")
    assert [key for key, text in texts.items() if english.search(re.sub(r"\{\w+\}", "", text))] == []


def test_german_numbers_have_a_space_before_the_sign_that_does_not_break():
    assert [key for key, text in TEXTS["de"].items() if re.search(r"[\d}] ?%", text)] == []


def test_arabic_has_its_own_marks_and_is_not_bound_to_a_number():
    for key, text in TEXTS["ar"].items():
        assert not set(",;?") & set(text) or key == "number.thousands", key
        if key.endswith(".one"):  # there are six forms of nouns after numbers, and two keys
            assert _gaps(text) == _gaps(TEXTS["ar"][f"{key[:-4]}.many"]), key


@pytest.mark.parametrize("language", OTHERS)
def test_notes_and_designs_are_spoken_of_without_numbers(language):
    general = {key: text for key, text in TEXTS[language].items() if key not in TEXTS["en"]}
    said = [key for key, text in general.items() if re.search(r"[1-9]", text)]
    assert said == ["design.kind.artificial_bit"]  # the secret number is 0 or 1 in every such design


# Numbers --------------------------------------------------------------------------------------


@every_case(
    ("language", "percent", "whole", "bits", "span"),
    [
        ("en", "85.31%", "32,561", "0.91 bits", "8.1 to 9.3%"),
        ("de", f"85,31{GAP}%", "32.561", f"0,91{GAP}Bit", f"8,1 bis 9,3{GAP}%"),
        ("ar", "85.31%", "32,561", "0.91 بت", "من 8.1 إلى 9.3%"),
    ],
)
def test_numbers_are_written_as_the_language_has_them(language, percent, whole, bits, span):
    words = words_of(language)
    assert words.percent(0.8531, 2) == percent
    assert words.whole(32561) == whole
    assert words.bits(0.91) == bits
    assert words.span(0.081, 0.093, words.percent) == span


@every_case(
    ("language", "exact", "tiny", "level", "rare"),
    [
        ("en", "p = 0.0120", "p < 0.0001", "95%", "below 0.0001%"),
        ("de", "p = 0,0120", "p < 0,0001", f"95{GAP}%", f"unter 0,0001{GAP}%"),
        ("ar", "p = 0.0120", f"p {MARK}< 0.0001", "95%", "أقل من 0.0001%"),
    ],
)
def test_probabilities(language, exact, tiny, level, rare):
    words = words_of(language)
    assert words.pvalue(0.012) == exact.replace(" ", GAP)
    assert words.pvalue(1e-9) == tiny.replace(" ", GAP)
    assert words.level(0.95) == level
    assert words.fine_percent(1e-9) == rare


@every_case(
    ("language", "below", "above"),
    [("en", "-7.9", "+1.2"), ("de", "-7,9", "+1,2"), ("ar", f"{MARK}-7.9", f"{MARK}+1.2")],
)
def test_a_sign_stays_on_the_left_of_its_number_where_lines_run_from_right_to_left(language, below, above):
    words = words_of(language)
    assert words.signed(-7.9, 1) == words.number(-7.9, 1) == below
    assert words.signed(1.2, 1) == above
    assert words.bare_pvalue(1e-9).startswith(MARK) == (words.direction == "rtl")
    assert (words.signed(0.0, 1), words.signed(np.nan, 1)) == (words.number(0.0, 1), "–")


def test_lists_have_the_marks_of_the_language():
    assert words_of("ar").listed(["a", "b"]) == "a، b"
    assert words_of("ar").listed(["a, b", "c"]) == "a, b؛ c"
    assert words_of("de").listed("abcd", 2) == "a, b, … (insgesamt 4)"


# Notes and designs ----------------------------------------------------------------------------


@pytest.mark.parametrize("language", OTHERS)
def test_a_note_is_the_sentence_for_its_kind_and_english_says_that_it_is(language):
    words = words_of(language)
    for kind in NoteKind:
        markup = words.note(Note(kind, "The English text, with 7 numbers."))
        if kind in PLANNING:
            assert markup == '<span lang="en" dir="ltr">The English text, with 7 numbers.</span>'
        else:
            assert plain_text(markup) == TEXTS[language][f"note.{kind.value}"]
            assert "lang=" not in markup


@every_case("language", OTHERS)
@every_case("kind", _kinds())
def test_every_kind_of_design_has_a_name_and_a_description(language, kind):
    words, texts = words_of(language), TEXTS[language]

    class Told:
        name, description = "an English name", "An English sentence."

    Told.kind = kind
    assert plain_text(name_of(words, Told)) == texts[f"design.name.{kind}"]
    assert plain_text(description(words, Told)) == texts[f"design.kind.{kind}"]


@pytest.mark.parametrize("language", OTHERS)
def test_a_kind_that_a_language_does_not_know_is_english_and_says_so(language):
    class Own:
        kind, name, description = "of_someone_else", "my own", "My own sentence."

    assert name_of(words_of(language), Own) == '<span lang="en" dir="ltr">my own</span>'
    assert 'lang="en"' in description(words_of(language), Own)


def test_an_example_of_groups_is_a_question_in_the_language():
    design = sp.partition(["a", "b", "c", "d", "e", "f"], 3)
    english = r"For example: “In which of these groups is your answer: \w, \w / \w, \w / \w, \w\?”"
    assert re.fullmatch(english, example(words_of("en"), design))
    assert example(words_of("de"), design).startswith("Zum Beispiel: „In welcher dieser Gruppen ist Ihre Antwort: ")
    assert example(words_of("ar"), design).startswith("مثال: «أي مجموعة من هذه فيها إجابتك: ")


def test_a_question_with_a_secret_number_is_an_example_in_english_only():
    design = sp.warner(["no", "yes"], q=0.25)
    assert "Secretly draw a number" in example(words_of("en"), design)
    assert example(words_of("de"), design) == example(words_of("ar"), design) == ""


# Why a check is not made ----------------------------------------------------------------------


def _asked_with_a_bit():
    design = sp.warner(["no", "yes"], q=0.25)
    questions = sp.QuestionCounts(design, None, answers=[0, 1, 1, 0, -1, 0])
    return questions.counts(), questions


def _marked_on_the_device():
    design = sp.fixed_size(["a", "b", "c", "d"], 2)
    counts = sp.SubsetCounts([3, 5, 6], [4, 3, 2], design)
    return counts, sp.QuestionCounts(design, None, answers=[0] * 9, kind="local")


def _groups_not_kept():
    questions, counts = ask(sp.partition(["a", "b", "c", "d", "e", "f"], 3), np.full(6, 1 / 6), 40, seed=1)
    return counts, questions


def _panels(made, language):
    counts, questions = made
    result = findings({"v": counts}, questions={"v": questions})
    return [plain_text(panel.body) for panel in panels_of(words_of(language), result["v"])]


@every_case("language", LANGUAGES)
@every_case(
    ("made", "kind", "checks"),
    [
        (_asked_with_a_bit, "bit", ("draws", "leaning")),
        (_marked_on_the_device, "local", ("draws", "leaning")),
        (_groups_not_kept, "groups", ("draws",)),
    ],
)
def test_a_check_says_in_every_language_why_it_is_not_made(language, made, kind, checks):
    said = _panels(made(), language)
    assert [name for name in checks if TEXTS[language][f"check.{name}.none.{kind}"] not in said] == []


@every_case("language", LANGUAGES)
def test_answers_that_anything_explains_are_not_called_too_many(language):
    said = _panels(_asked_with_a_bit(), language)
    assert TEXTS[language]["check.honesty.none.not_identifiable"] in said
    assert TEXTS[language]["check.honesty.none.too_many_cells"] not in said


@every_case("language", LANGUAGES)
def test_groups_shown_to_no_one_are_not_called_not_kept(language):
    design = sp.partition(["a", "b", "c", "d", "e", "f"], 3)
    nothing = np.empty(0, np.int64)
    made = (
        sp.SubsetCounts(nothing, nothing, design),
        sp.QuestionCounts(design, np.empty((0, 3), np.int64), answers=nothing),
    )
    assert TEXTS[language]["check.draws.none.groups"] not in _panels(made, language)


# A page ---------------------------------------------------------------------------------------


SILENT = {"style", "pre", "code"}


class _Page(HTMLParser):
    """What a page says, without code and documents: in its own language, and in marked English."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.own, self.english, self.html, self._open = [], [], {}, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        held = dict(attributes)
        if tag == "html":
            self.html, held = held, {}
        self.own += [held[name] for name in ("aria-label", "data-of") if name in held]
        if tag not in VOID:
            self._open.append((tag, held.get("lang")))

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        assert self._open.pop()[0] == tag

    def handle_data(self, data):
        if any(tag in SILENT for tag, _ in self._open):
            return
        spoken = next((lang for _, lang in reversed(self._open) if lang), None)
        (self.english if spoken == "en" else self.own).append(data)


def _phrases():
    """Return the parts of English sentences that are long enough not to be in another language by chance."""
    parts = {part.strip(" .,:;()“”") for text in TEXTS["en"].values() for part in re.split(r"\{\w+\}", text)}
    return {part for part in parts if part.count(" ") >= 2}


@pytest.fixture(scope="module")
def all_findings():
    """Return findings with a wave before, a zero, missing answers, two columns that go together, and groups."""
    labels = ["Rot", "Blau", "Grün", "Gelb", "Weiß"]
    rng = np.random.default_rng(1)
    color = rng.choice(labels, 1500, p=[0.4, 0.3, 0.2, 0.1, 0])
    other = np.where(rng.random(1500) < 0.7, color, rng.choice(labels[:4], 1500))
    design = sp.product({"eins": sp.uniform(labels), "zwei": sp.partition(labels, 2)})
    data = sp.privatize({"eins": color, "zwei": other}, design, seed=2)
    earlier = {"eins": sp.simulate(sp.uniform(labels), [0.2] * 5, 900, seed=3)}
    return findings(data, earlier=findings(earlier, pairs=False), permutations=19)


@every_case("language", LANGUAGES)
def test_a_small_report_is_in_one_language(language):
    counts = sp.simulate(sp.uniform(["Rot", "Blau", "Grün", "Gelb"]), [0.1, 0.2, 0.3, 0.4], 400, seed=1)
    page = _Page(report_html({"color": counts}, language=language))
    _assert_in(page, language)
    assert page.english == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_report_of_much_is_in_one_language(language, all_findings):
    page = _Page(report_html(all_findings, language=language))
    _assert_in(page, language)
    assert page.english == []
    heading = words_of(language)("report.pairs")
    assert heading in page.own


def _assert_in(page, language):
    assert page.html == {"lang": language, "dir": "rtl" if language == "ar" else "ltr"}
    text = "\n".join(page.own)
    assert not set("{}") & set(text)
    there = {phrase for phrase in _phrases() if phrase in text}
    assert there if language == "en" else not there
