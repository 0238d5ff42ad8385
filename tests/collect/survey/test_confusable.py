"""Options that look alike are refused with the pair and the letter; lists in any alphabet pass."""

import json
import unicodedata

import pytest

from subsetprivacy.collect.survey.confusable import _LETTERS, _SIGNS, can_be_confused, difference, looks, skeleton
from subsetprivacy.collect.survey.definition import SurveyDefinition, VariableDefinition
from subsetprivacy.collect.survey.documents import survey_from_document
from subsetprivacy.collect.survey.manifest import freeze, read_manifest
from subsetprivacy.collect.survey.problems import SurveyError
from subsetprivacy.collect.survey.reading import read_survey
from subsetprivacy.collect.survey.rules import recommended
from subsetprivacy.collect.survey.submission import read_submission

ALIKE = {
    "a Cyrillic letter": ("Рaris", "Paris"),
    "all Cyrillic": ("НЕТ", "HET"),
    "Cyrillic with a mark": ("ёж", "ëж"),
    "two mixtures": ("Pаrіs", "Раris"),
    "another case as well": ("Рaris", "paris"),
    "a Cyrillic letter and a digit": ("З", "3"),
    "a Greek letter": ("Εlena", "Elena"),
    "Greek and Cyrillic": ("ΓΟΑ", "ГОА"),
    "full width": ("ｐaris", "paris"),
    "a ligature": ("ﬁne", "fine"),
    "zero width": ("Pa\u200dris", "Paris"),
    "a filler": ("Paris\u3164", "Paris"),
    "a blank of Braille": ("Paris\u2800", "Paris"),
    "another selector": ("Paris\U000e0101", "Paris"),
    "another blank": ("New\u00a0York", "New York"),
    "two blanks": ("New  York", "New York"),
    "another normal form": ("Zu\u0308rich", "Z\u00fcrich"),
    "case": ("PARIS", "Paris"),
    "dashes": ("1–2", "1-2"),
    "apostrophes": ("don’t", "don't"),
    "an accent for an apostrophe": ("don´t", "don't"),
    "an accent and a curly apostrophe": ("don´t", "don’t"),
    "a low quotation mark for a comma": ("Yes‚ often", "Yes, often"),
    "double primes": ("5″", '5"'),
    "two apostrophes": ("5''", '5"'),
    "two primes": ("5′′", "5″"),
    "a triangle": ("∆", "Δ"),
    "a triangle and a small letter": ("∆", "δ"),
    "a sum": ("∑", "Σ"),
    "a product, Greek": ("∏", "Π"),
    "a product, Cyrillic": ("∏", "П"),
    "a squared unit": ("㎡", "m²"),
    "a capital sharp s": ("GROẞ", "groß"),
    "a sharp s and a beta": ("Groß", "Groβ"),
    "a palochka for I": ("Type Ӏ", "Type I"),
    "a palochka for l": ("Ӏist", "list"),
    "a small palochka for I": ("Type ӏ", "Type I"),
    "a small palochka for l": ("ӏist", "list"),
    "a Cyrillic capital for l": ("Іist", "list"),
    "a Greek capital for l": ("Ιist", "list"),
    "a palochka in two cases": ("гӀан", "гӏан"),
    "a Komi letter": ("Ԍood", "Good"),
    "Greek in two cases": ("ΟΔΌΣ", "οδός"),
    "an Arabic keyboard": ("کتاب", "كتاب"),
    "a Persian keyboard": ("علی", "علي"),
    "a last letter without dots": ("علی", "على"),
    "a last letter without dots, within": ("علی بابا", "على بابا"),
    "a joined emoji": ("👨\u200d👩\u200d👧", "👨👩👧"),
    "an emoji with a selector": ("❤\ufe0f", "❤"),
    "Arabic digits": ("۱۲", "١٢"),
    "a stretched word": ("كتـاب", "كتاب"),
}
APART = {
    "Russian": ["да", "нет", "не знаю", "Нет ответа", "с", "в", "к", "у"],
    "Russian letters": list("абвгдежзиклмнопрстуфхцчшщ"),
    "Greek letters": list("αβγδεζηθικλμνξοπρστυφχψω"),
    "Greek in both cases": ["Υ", "γ", "Ν", "η"],
    "Greek vowels": ["ᾳ", "αι", "α"],
    "Arabic last letters": ["علي", "على"],
    "Persian first letters": ["یک", "ىک"],
    "Arabic": ["نعم", "لا", "لا أعرف", "ربما"],
    "Chinese": ["是", "否", "不知道", "也许"],
    "Hindi": ["हाँ", "नहीं", "पता नहीं", "शायद"],
    "Korean": ["예", "아니오", "모름", "글쎄"],
    "Turkish": ["sık", "sik", "ısı", "isi"],
    "letters and digits": [*"0123456789", *"ABCDEFGHIJKLMNOPQRSTUVWXYZ"],
    "two alphabets": ["Москва", "Moscow", "Αθήνα", "Athens"],
    "Cyrillic alone": ["А", "B", "C", "D"],
    "one mixture": ["Рaris", "London", "Rome", "Berlin"],
    "numbers": ["1-2", "1,2", "1.2", "1/2", "12", "½ l"],
    "raised and lowered": ["10²", "102", "10₂", "m²", "m2", "H₂O", "H2O", "1º", "1o"],
    "fractions": ["1½", "11/2", "½", "1/2"],
    "measures": ["5'", '5"', "5,"],
    "sharp s": ["In Maßen", "In Massen", "MASSE", "Maße"],
    "strokes": ["I", "l", "1", "|"],
    "dotted strokes": ["і", "l"],
    "Cyrillic strokes": ["Ӏ", "І"],
    "emoji": [
        "👍",
        "👍🏽",
        "👨\u200d👩\u200d👧",
        "👨\u200d👩\u200d👦",
        "❤\ufe0f",
        "🏳\ufe0f\u200d🌈",
        "🇩🇪",
        "🇪🇩",
        "1\ufe0f\u20e3",
    ],
    "an emoji made of tags": ["🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "🇬🇧"],
    "marks": ["e", "é", "è", "ê"],
}


def read(options):
    return survey_from_document({"title": "T", "variables": [{"id": "v", "question": "?", "options": options}]})


@pytest.mark.parametrize("pair", ALIKE.values(), ids=ALIKE)
def test_options_that_look_alike_are_refused(pair):
    for one, other in (pair, pair[::-1]):
        assert can_be_confused(one, other)
        with pytest.raises(SurveyError, match="number 2") as caught:
            read(["Rome", one, "Berlin", other])
        (problem,) = caught.value.problems
        assert problem.place == "variable 1 (v), option 4"


@pytest.mark.parametrize("options", APART.values(), ids=APART)
def test_lists_in_any_alphabet_pass(options):
    assert read(options).variables[0].options == tuple(unicodedata.normalize("NFC", option) for option in options)


def test_the_pair_and_the_letter_are_named():
    text = 'title = "T"\n[[variables]]\nid = "town"\nquestion = "?"\noptions = ["Paris", "Rome", "Рaris", "Oslo"]\n'
    with pytest.raises(SurveyError) as caught:
        read_survey(text, "toml")
    assert str(caught.value.problems[0]) == (
        'line 5, variable 1 (town), option 3: must differ from the others; number 1, "Paris", looks the same: '
        "character 1 is CYRILLIC CAPITAL LETTER ER here and LATIN CAPITAL LETTER P there."
    )


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        ("paris", "Paris", "only capital letters differ"),
        ("Pa\u200dris", "Paris", "character 3 here is ZERO WIDTH JOINER, which cannot be seen"),
        ("Paris", "Pa\u200dris", "character 3 there is ZERO WIDTH JOINER, which cannot be seen"),
        ("New York", "New\u00a0York", "character 4 is SPACE here and NO-BREAK SPACE there"),
        ("fine…", "fine...", "character 5 is HORIZONTAL ELLIPSIS here and FULL STOP there"),
        ("كتابـ", "كتاب", "character 5 here is ARABIC TATWEEL"),
        ("GROẞ", "groß", "only capital letters differ"),
        ("Polish", "polish", "only capital letters differ"),
        ("гӀан", "гӏан", "only capital letters differ"),
        ("don´t", "don't", "character 4 is ACUTE ACCENT here and APOSTROPHE there"),
        ("Yes‚ no", "Yes, no", "character 4 is SINGLE LOW-9 QUOTATION MARK here and COMMA there"),
        ('5"', "5″", "character 2 is QUOTATION MARK here and DOUBLE PRIME there"),
        ("5''", '5"', "character 2 is APOSTROPHE here and QUOTATION MARK there"),
        ("∆", "Δ", "character 1 is INCREMENT here and GREEK CAPITAL LETTER DELTA there"),
        ("㎡", "m²", "character 1 is SQUARE M SQUARED here and LATIN SMALL LETTER M there"),
        ("Ӏist", "list", "character 1 is CYRILLIC LETTER PALOCHKA here and LATIN SMALL LETTER L there"),
        ("Type I", "Type Ӏ", "character 6 is LATIN CAPITAL LETTER I here and CYRILLIC LETTER PALOCHKA there"),
        ("Ԍood", "Good", "character 1 is CYRILLIC CAPITAL LETTER KOMI SJE here and LATIN CAPITAL LETTER G there"),
        ("علی", "على", "character 3 is ARABIC LETTER FARSI YEH here and ARABIC LETTER ALEF MAKSURA there"),
    ],
)
def test_differences_in_words(one, other, words):
    assert can_be_confused(one, other)
    assert difference(one, other) == words


def test_invisible_texts_are_refused():
    for text in ("\u3164", "\u2800", "\u115f\u1160", "\U000e0101"):
        assert looks(text) == ""
        with pytest.raises(SurveyError):
            read(["Rome", text, "Oslo"])


def test_the_table_names_each_letter_once_and_leads_to_no_other():
    for table in (_SIGNS, _LETTERS):
        for code, like in table.items():
            assert unicodedata.normalize("NFKC", chr(code)) != like  # what Unicode knows needs no entry
            assert all(ord(sign) not in table for sign in like)
    for letter, like in _LETTERS.items():
        assert skeleton(chr(letter)) == skeleton(like)
        assert unicodedata.name(chr(letter)).split()[0] != unicodedata.name(like).split()[0]


def test_a_survey_that_was_published_before_goes_on():
    """Only files are checked: a manifest with such options is read, and takes answers, as ever."""
    options = ("Paris", "Рaris", "Rome", "Oslo")
    variable = VariableDefinition("town", "Town", "?", options, recommended(options))
    manifest = freeze(SurveyDefinition("T", (variable,), "t", mode="open"))
    again = read_manifest(manifest.text)
    assert again.designs["town"] == variable.design
    answers = {"town": {"asked": [0b0011, 0b1100], "answer": 0}}
    body = {"fingerprint": again.fingerprint, "ticket": "0" * 64, "answers": answers}
    assert read_submission(json.dumps(body).encode(), again).rows == ((0b0011).to_bytes(6, "big"),)
