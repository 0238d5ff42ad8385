"""Good files, broken in every way: a survey or a SurveyError comes out, never anything else."""

import copy
import json
import tomllib
import unicodedata
from random import Random

import pytest
import yaml

from subsetprivacy.collect.survey.bundled_files import example_text
from subsetprivacy.collect.survey.definition import SurveyDefinition
from subsetprivacy.collect.survey.documents import survey_document, survey_from_document
from subsetprivacy.collect.survey.manifest import freeze
from subsetprivacy.collect.survey.reading import FORMATS, SurveyError, read_survey
from subsetprivacy.collect.survey.writing import write_survey

# Every spelling of a design in one survey.
RICH = survey_from_document(
    {
        "title": "Rich ü",
        "introduction": 'Line\n\n"quoted" \\ line',
        "variables": [
            {"id": "a", "question": "?", "options": ["no", "yes"], "design": {"kind": "warner", "q": 0.3}},
            {"id": "b", "question": "?", "options": list("xyz"), "design": "pair", "guess": [0.5, 0.25, 0.25]},
            {
                "id": "c",
                "question": "?",
                "options": list("wxyz"),
                "design": {
                    "kind": "independent",
                    "questions": [[["w", "x"], 0.5], [["w", "y"], 0.25], [["w", "z"], 0.25]],
                },
            },
            {"id": "d", "question": "?", "options": list("uvwxyz"), "design": {"kind": "hadamard", "questions": 15}},
        ],
        "links": [{"variables": ["a", "d"]}],
    }
)
WHOLE = survey_document(RICH)
WHOLE["variables"][3]["design"] = RICH.variables[3].design.document()
WHOLE["variables"][0]["design"] = RICH.variables[0].design.document()
GOOD = {
    form: [example_text(form), write_survey(RICH, form), write_survey(survey_from_document(WHOLE), form)]
    for form in FORMATS
}
SNIPPETS = [
    b'"', b"'", b'"""', b"'''", b"\\", b"\n", b"\r", b"\t", b"\0", b"[", b"]", b"{", b"}", b"[[", b"]]", b",", b":",
    b": ", b"- ", b"=", b" = ", b"#", b"&a ", b"*a", b"!!str ", b"!", b"|\n", b">", b"%", b"?", b"<<: ", b"---\n", b"~",
    b"...\n", b"null", b"true", b"yes", b"NaN", b"1e999", b"-1", b"0", b"012", b"1:30", b"9" * 40, b"9" * 5000,
    b"0x" + b"F" * 50, b"2026-01-01", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xe2\x80\xae", b"\xef\xbb\xbf", b"\\u0000",
    b"\\ud800", b"\\UFFFFFFFF", b"kind", b"partition", b"hadamard", b"uniform", b"conditional", b"format", b"variables",
    b"a.b.c", b"[" * 60, b"{" * 60, b"- " * 60, b"\xc2\x85", b"\xe2\x80\xa8",
]  # fmt: skip
VALUES = [
    None, True, False, 0, 1, -1, 2, 3, 4, 7, 15, 48, 2047, 4_194_303, 1 << 62, 0.5, 1e-300, float("nan"), float("inf"),
    "", "x", "no", "a\0", "\ud800", "\u202e", "x" * 300, [], {}, [[]], [{}], {"a": 1}, ["x", "x"], "recommended",
    "uniform", "warner", {"kind": "partition"}, {"kind": "partition", "partitions": [[["x"]]]}, {"kind": []},
    {"format": 1}, {"kind": "independent", "questions": [[["w"], 1]]}, {"kind": "fixed_size", "size": 2}, b"x",
]  # fmt: skip


def broken_bytes(text, random):
    """Return a good file with a few bytes changed, cut out, doubled or put in."""
    held = bytearray(text.encode())
    for _ in range(random.choice([1, 1, 1, 2, 4])):
        at = random.randrange(len(held) + 1)
        end = min(len(held), at + random.choice([1, 1, 2, 5, 40]))
        change = random.randrange(6)
        if change == 0 and at < len(held):
            held[at] = random.randrange(256)
        elif change == 1:
            del held[at:end]
        elif change == 2:
            held[at:at] = held[at:end]
        elif change == 3:
            held[at:end] = random.choice(SNIPPETS)
        elif change == 4:
            held[at:at] = random.choice(SNIPPETS)
        else:  # lines change places
            lines = held.split(b"\n")
            i, j = random.randrange(len(lines)), random.randrange(len(lines))
            lines[i], lines[j] = lines[j], lines[i]
            held = bytearray(b"\n").join(lines)
    return bytes(held)


def places(held, path=()):
    """Return every place in plain data."""
    inner = held.items() if isinstance(held, dict) else enumerate(held) if isinstance(held, list) else ()
    return [path, *(each for key, value in inner for each in places(value, (*path, key)))]


def broken_document(document, random):
    """Return plain data with a few values, keys and lists that do not belong there."""
    held = copy.deepcopy(document)
    for _ in range(random.choice([1, 1, 2, 3])):
        path = random.choice(places(held)[1:] or [()])
        if not path:
            return random.choice(VALUES)
        place = held
        for step in path[:-1]:
            place = place[step]
        change = random.randrange(5)
        if change == 0:
            del place[path[-1]]
        elif change == 1 and isinstance(place, dict):
            place[random.choice(["kind", "size", "id", "q", "x", ""])] = random.choice(VALUES)
        elif change == 2 and isinstance(place, list):
            place.append(copy.deepcopy(random.choice([*place, *VALUES])))
        else:
            place[path[-1]] = copy.deepcopy(random.choice(VALUES))
    return held


def comes_through(read):
    """Return whether a survey came out; an error must say where and what."""
    try:
        survey = read()
    except SurveyError as error:
        assert error.problems  # noqa: PT017
        assert all(problem.message and problem.place for problem in error.problems)  # noqa: PT017
        str(error).encode("utf-8", "surrogatepass")
        return False
    assert isinstance(survey, SurveyDefinition)
    freeze(survey, nonce="")  # whatever is accepted can be published
    return True


def written_by_others(document, form):
    """Return plain data as other programs write it."""
    if form == "json":
        return json.dumps(document, default=repr)
    return yaml.safe_dump(document, allow_unicode=True, default_flow_style=None)


FEW = [("toml", 400), ("yaml", 120), ("json", 400)]
MANY = [pytest.param(form, 10_000, marks=pytest.mark.slow) for form in FORMATS]


@pytest.mark.parametrize(("form", "tries"), FEW + MANY)
def test_broken_bytes(form, tries):
    random = Random(tries)
    fine = sum(
        comes_through(lambda: read_survey(broken_bytes(random.choice(GOOD[form]), random), form)) for _ in range(tries)
    )
    assert 0.02 < fine / tries < 0.9  # some changes are harmless: a letter of a text


@pytest.mark.parametrize(("tries", "seed"), [(150, 3), pytest.param(6_000, 4, marks=pytest.mark.slow)])
def test_broken_documents(tries, seed):
    random = Random(seed)
    documents = [tomllib.loads(text) for text in GOOD["toml"]]
    fine = sum(
        comes_through(lambda: survey_from_document(broken_document(random.choice(documents), random)))
        for _ in range(tries)
    )
    assert 0.01 < fine / tries < 0.5


@pytest.mark.parametrize("form", ["json", "yaml"])
@pytest.mark.parametrize(("tries", "seed"), [(30, 5), pytest.param(1_500, 6, marks=pytest.mark.slow)])
def test_broken_documents_in_files(form, tries, seed):
    """Wrong data in files that are right."""
    random = Random(seed)
    documents = [tomllib.loads(text) for text in GOOD["toml"]]
    for _ in range(tries):
        text = written_by_others(broken_document(random.choice(documents), random), form)
        comes_through(lambda text=text: read_survey(text.encode("utf-8", "surrogatepass"), form))


def test_pieces_alone():
    for form in FORMATS:
        for piece in SNIPPETS:
            assert not comes_through(lambda piece=piece, form=form: read_survey(piece, form))
    for value in VALUES:
        assert not comes_through(lambda value=value: survey_from_document(value))


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_marks_without_end_are_never_put_in_order(form, monkeypatch):
    """That takes a time which grows with the square of their number: eight seconds for a file that may be sent."""
    normalized, normalize = [], unicodedata.normalize
    monkeypatch.setattr(unicodedata, "normalize", lambda kind, text: normalized.append(text) or normalize(kind, text))
    heap = "a" + "\u0301\u0316" * 2000
    document = {
        "title": heap,
        "introduction": heap,
        "variables": [
            {"id": heap, "question": heap, "options": [heap, "b", "c", "d"], "never_alone": [[heap, "b"]]},
            {"id": "x", "question": "?", "options": list("abcd"), "never_alone": [[heap, "b"]]},
        ],
        "links": [{"variables": [heap, "x"]}],
    }
    assert not comes_through(lambda: read_survey(written_by_others(document, form), form))
    document["title"] = heap[:100]
    with pytest.raises(SurveyError, match="must have at most 30 marks on one letter"):
        read_survey(written_by_others(document, form), form)
    assert max(map(len, normalized), default=0) < 300
