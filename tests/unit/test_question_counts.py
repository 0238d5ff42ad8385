"""How questions were put and answered, as counts; files and exports of surveys."""

import json
from pathlib import Path

import numpy as np
import pytest
from every_case import every_case
from lopsided import ASKED, GIVEN, UNKNOWN
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.data.questions import question_kind
from subsetprivacy.errors import (
    ArgumentError,
    CodeError,
    DataFileError,
    MismatchError,
    NotIdentifiableError,
    UnknownDesignError,
)

U4 = sp.uniform(list("abcd"))
GROUPS = sp.partition(list("abcdef"), 3)
LISTED = sp.partition(
    list("abcdef"),
    partitions=[[("a", "b"), ("c", "d"), ("e", "f")], [("d", "f"), ("a", "c"), ("b", "e")]],
)
RECORDED = sp.partition(
    list("abcdef"), partitions=[[("a", "b"), ("c", "d"), ("e", "f")], [("d", "f"), ("a", "c"), ("b", "e")]], record=True
)
WARNER = sp.warner(["no", "yes"])


@every_case(
    ("design", "kind"),
    [
        (U4, "yes_no"),
        (sp.hadamard(60), "yes_no"),
        (sp.partition(list("abcdef"), 2), "yes_no"),
        (sp.fixed_size(list("abcdef"), 3), "yes_no"),
        (GROUPS, "groups"),
        (LISTED, "groups"),
        (RECORDED, "groups"),
        (WARNER, "bit"),
        (sp.fixed_size(list("abc"), 2), "local"),
        (GIVEN, "local"),
    ],
)
def test_a_design_says_how_it_asks(design, kind):
    assert question_kind(design) == kind


def test_lines_are_kept_in_order_and_people_are_counted():
    lines = sp.QuestionCounts(U4, [12, 3, 3, 5], answers=[0, 1, -1, 0], n=[4, 3, 2, 0])
    assert lines.shown.tolist() == [[12], [3], [3]]  # without the line of nobody
    assert (lines.asked, lines.skipped, lines.answered) == (9, 2, 7)
    assert lines.questions.tolist() == [3, 3, 3]
    people = sp.QuestionCounts(U4, [12, 3, 12, 3], answers=[0, 1, 0, -1])
    assert people.shown.ravel().tolist() == [3, 3, 12]
    assert people.n.tolist() == [1, 1, 2]
    with pytest.raises(ValueError, match="read-only"):
        lines.n[0] = 5


def test_the_subsets_follow_from_yes_and_no():
    questions = sp.QuestionCounts(U4, [3, 3, 12, 5], answers=[0, 1, 0, -1], n=[30, 20, 25, 5])
    counts = questions.counts()
    assert dict(zip(counts.codes.tolist(), counts.counts.tolist())) == {3: 30, 12: 45, 15: 5}
    assert counts.n_missing == 5


def test_the_subsets_follow_from_groups_where_they_were_kept():
    shown = [[3, 12, 48], [5, 18, 40], [48, 12, 3]]
    questions = sp.QuestionCounts(GROUPS, shown, answers=[2, 0, -1], n=[7, 5, 1])
    assert questions.counts().subset_shares() == {"e|f": 7 / 13, "a|c": 5 / 13, "a|b|c|d|e|f": 1 / 13}
    recorded = sp.QuestionCounts(RECORDED, [[3, 4, 5], [8, 6, 7]], answers=[1, 0], n=[2, 3])
    assert recorded.counts().subset_shares() == {"c|d": 0.4, "b|e": 0.6}
    unknown = sp.QuestionCounts(GROUPS, answers=[2, -1], n=[7, 5])
    assert not unknown.has_counts
    with pytest.raises(NotIdentifiableError):
        unknown.counts()


def test_the_subsets_follow_from_a_secret_bit():
    questions = sp.QuestionCounts(WARNER, answers=[0, 1, -1], n=[60, 30, 10])
    counts = questions.counts()
    assert (counts.n, counts.n_missing) == (90, 10)
    truth = sp.simulate(WARNER, [0.0, 1.0], 4000, seed=1)  # "yes" is 1, and the bit is 1 in a quarter
    same = truth.counts[truth.codes == 0b1001][0] / 4000
    assert same == pytest.approx(0.25, abs=0.03)
    with pytest.raises(NotIdentifiableError):
        sp.QuestionCounts(GIVEN, answers=[0, -1], n=[60, 30]).counts()


def test_waves_are_added():
    one = sp.QuestionCounts(U4, [3, 12], answers=[0, -1], n=[4, 2])
    two = sp.QuestionCounts(U4, [12, 5], answers=[-1, 1], n=[3, 1])
    both = sum([one, two])
    assert list(zip(both.shown.ravel().tolist(), both.answers.tolist(), both.n.tolist())) == [
        (3, 0, 4),
        (5, 1, 1),
        (12, -1, 5),
    ]
    with pytest.raises(MismatchError):
        one + sp.QuestionCounts(ASKED, [3], answers=[0])


@every_case(
    ("make", "error", "words"),
    [
        (lambda: sp.QuestionCounts(U4, [3, 7], answers=[0, 0]), CodeError, "`shown` .*first in line 1"),
        (lambda: sp.QuestionCounts(U4, [3, 99], answers=[0, 0]), CodeError, "`shown` .*first in line 1"),
        (lambda: sp.QuestionCounts(U4, [3, -1], answers=[0, 0]), CodeError, "`shown` .*first in line 1"),
        (lambda: sp.QuestionCounts(U4, [0], answers=[0]), CodeError, "`shown` .*first in line 0"),
        (lambda: sp.QuestionCounts(U4, [3], answers=[2]), CodeError, "`answers`"),
        (lambda: sp.QuestionCounts(U4, [3, 12], answers=[0]), MismatchError, "`shown`"),
        (lambda: sp.QuestionCounts(U4, answers=[0]), MismatchError, "`shown`"),
        (lambda: sp.QuestionCounts(U4, ["a"], answers=[0]), CodeError, "`shown`"),
        (lambda: sp.QuestionCounts(U4, [3], answers=[0], n=[1.5]), CodeError, "`n`"),
        (lambda: sp.QuestionCounts(GROUPS, [[3, 12, 32]], answers=[0]), CodeError, "`shown`"),
        (lambda: sp.QuestionCounts(LISTED, [[3, 20, 40]], answers=[0]), CodeError, "`shown`"),
        (lambda: sp.QuestionCounts(UNKNOWN, [3], answers=[0]), UnknownDesignError, "`design`"),
        (lambda: sp.QuestionCounts(U4, [3], answers=[0], kind="poll"), ArgumentError, "`kind`"),
    ],
)
def test_what_is_no_question_is_refused(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_listed_groups_are_known_in_any_order():
    assert sp.QuestionCounts(LISTED, [[48, 3, 12], [5, 18, 40]], answers=[0, 0]).asked == 2


def test_it_shows_itself():
    questions = sp.QuestionCounts(U4, [3, 3, 12, 5], answers=[0, 1, 0, -1], n=[30, 20, 25, 5])
    text = str(questions.summary())
    assert text.startswith("Questions: 80 people asked, 75 answered, 5 skipped")
    assert "a|b" in text
    assert "Skipped the question: 5 people." in text
    assert questions.to_frame(engine="pandas")["answer"].tolist() == ["yes", "no", "yes", "skipped"]
    groups = sp.QuestionCounts(GROUPS, [[0, 0, 0], [3, 12, 48]], answers=[2, -1], n=[7, 5])
    assert groups.to_frame(engine="pandas")["answer"].tolist() == ["group 3", "skipped"]
    assert groups.to_frame(engine="polars")["shown"].to_list() == [None, "a|b / c|d / e|f"]
    assert "The groups that were shown were not recorded for 7 people." in str(groups.summary())


# Files ------------------------------------------------------------------------------------------

ROWS = {"asked": ["a|b", "c|d", "a|b", "b|d"], "said": ["yes", "no", "skipped", "yes"], "times": [5, 4, 3, 2]}


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "csv.gz"])
def test_files_are_counted_in_a_stream(tmp_path, ending):
    pl = pytest.importorskip("polars")
    frame, path = pl.DataFrame(ROWS), tmp_path / f"rows.{ending}"
    if ending == "csv.gz":
        import gzip

        path.write_bytes(gzip.compress(frame.write_csv().encode()))
    else:
        {"csv": frame.write_csv, "parquet": frame.write_parquet, "arrow": frame.write_ipc}[ending](path)
    result = sp.count_questions(path, shown="asked", answer="said", design=U4)
    assert (result.asked, result.skipped) == (4, 1)
    weighted = sp.count_questions(str(path), shown="asked", answer="said", design=U4, weight="times")
    assert (weighted.asked, weighted.skipped) == (14, 3)


def test_codes_in_a_csv_file_are_codes(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("asked,said\n3,0\n12,1\n3,-1\n10,0\n", encoding="utf-8")
    result = sp.count_questions(path, shown="asked", answer="said", design=U4)
    assert result.shown.ravel().tolist() == [3, 3, 10, 12]
    numbers = sp.uniform([1, 2, 3, 4])  # labels that look like codes, so that "12" is one of them
    with pytest.raises(CodeError, match="first in line 3"):
        sp.count_questions(path, shown="asked", answer="said", design=numbers)


def test_a_line_of_a_file_is_named_and_not_shown(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("asked,said\na|b,yes\nc|d,secret\n", encoding="utf-8")
    with pytest.raises(CodeError, match=r"first in line 3") as caught:
        sp.count_questions(path, shown="asked", answer="said", design=U4)
    assert "secret" not in str(caught.value)


@every_case(
    ("arguments", "argument"),
    [
        ({"shown": None, "design": U4}, "shown"),
        ({"shown": ["asked", "said"], "design": GROUPS}, "shown"),
        ({"shown": "said", "design": U4}, None),
    ],
)
def test_columns_that_do_not_fit_the_design_are_refused(arguments, argument):
    with refused(ArgumentError, argument):
        sp.count_questions("rows.csv", answer="said", **arguments)
    with refused(ArgumentError, "data"):
        sp.count_questions([1, 2], answer="said", shown="asked", design=U4)


def test_answers_of_a_secret_bit_in_words():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"said": ["same", "Different ", None, "same"]})
    result = sp.count_questions(table, answer="said", design=WARNER)
    assert (result.kind, result.answers.tolist(), result.n.tolist()) == ("bit", [-1, 0, 1], [1, 2, 1])


# The export of a survey -------------------------------------------------------------------------

RECORDS = Path(__file__).parent / "honesty" / "service_checks.json"


@pytest.fixture(scope="module")
def exported():
    """Return a survey that the server exported, with its file of questions."""
    return next(survey for survey in json.loads(RECORDS.read_text(encoding="utf-8")) if survey["framings"])


def test_an_export_is_read_as_the_server_has_it(tmp_path, exported):
    path = tmp_path / "framings.csv"
    path.write_text(exported["framings"], encoding="utf-8")
    designs = {one["name"]: sp.design_from_json(json.dumps(one["design"])) for one in exported["variables"]}
    result = sp.read_questions(path, designs)
    assert list(result) == list(designs)
    for one in exported["variables"]:
        questions = result[one["name"]]
        assert questions.kind == one["kind"]
        assert questions.answers.tolist() == one["answers"]
        assert questions.n.tolist() == one["n"]
        if one["shown"]:
            assert questions.shown.tolist() == one["shown"]
        if questions.has_counts:
            counts = questions.counts()
            assert (counts.codes.tolist(), counts.counts.tolist()) == (one["codes"], one["counts"])
    assert list(sp.read_questions(path, {"a": designs["a"]})) == ["a"]


@pytest.mark.parametrize(
    ("text", "argument"),
    [
        ("a,b\n1,2\n", None),
        ("variable,partition,shown,answer,n\nx,3,0\n", None),
        ("variable,partition,shown,answer,n\nx,secret,0,0,1\n", None),
        ("variable,partition,shown,answer,n\nx,7,0,0,1\n", "shown"),
        ("variable,partition,shown,answer,n\nx,3,0,5,1\n", "answers"),
    ],
)
def test_what_is_no_export_is_refused(tmp_path, text, argument):
    path = tmp_path / "framings.csv"
    path.write_text(text, encoding="utf-8")
    with refused(DataFileError, argument) as caught:
        sp.read_questions(path, {"x": U4})
    assert "secret" not in str(caught.value)
    with pytest.raises(DataFileError):
        sp.read_questions(tmp_path / "none.csv", {"x": U4})


def test_an_empty_variable_has_no_lines(tmp_path):
    path = tmp_path / "framings.csv"
    path.write_text("variable,partition,shown,answer,n\n", encoding="utf-8")
    result = sp.read_questions(path, {"x": U4, "y": GROUPS, "z": WARNER})
    assert [one.asked for one in result.values()] == [0, 0, 0]
    assert np.array_equal(result["y"].shown, np.empty((0, 3)))
