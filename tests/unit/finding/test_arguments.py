"""What may be asked of findings, what is refused by name, and what is computed when."""

import warnings
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from every_case import every_case
from finding_cases import ABCD, SHARES, UNIFORM, asked, letters, missing, table
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, CodeError, MismatchError, NotPrivateWarning, SubsetPrivacyWarning
from subsetprivacy.finding import findings as same
from subsetprivacy.honesty.all_checks import ONE
from subsetprivacy.messages import NoteKind
from subsetprivacy.presenting.text import findings_text
from subsetprivacy.presenting.words import words_of
from subsetprivacy.report import report_html


@pytest.fixture
def release(tmp_path):
    """Return a release of two columns with groups that are kept."""
    rng = np.random.default_rng(1)
    town = rng.choice(["north", "south"], 600, p=[0.4, 0.6])
    values = np.where((town == "north") & (rng.random(600) < 0.5), "a", rng.choice(ABCD, 600))
    people = pa.table({"x": values, "y": rng.choice(ABCD, 600, p=SHARES), "town": town, "year": [1, 2] * 300})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        sp.privatize_table(
            people, {"x": UNIFORM, "y": UNIFORM}, tmp_path / "made.parquet", keep=["town", "year"], seed=1
        )
    return sp.read_release(tmp_path / "made.parquet")


# Arguments --------------------------------------------------------------------------------------


@every_case(
    ("options", "argument"),
    [
        ({"columns": ["x", "w"]}, "columns"),
        ({"columns": ["x", "x"]}, "columns"),
        ({"columns": []}, "columns"),
        ({"level": 95}, "level"),
        ({"level": "high"}, "level"),
        ({"chance": 0}, "chance"),
        ({"permutations": -1}, "permutations"),
        ({"permutations": 1.5}, "permutations"),
        ({"budget": -1}, "budget"),
        ({"budget": "short"}, "budget"),
        ({"seed": -1}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"pairs": [("x", "w")]}, "pairs"),
        ({"pairs": [("x", "x")]}, "pairs"),
        ({"pairs": [("x", "y", "z")]}, "pairs"),
        ({"pairs": ["w"]}, "pairs"),
        ({"by": "town"}, "by"),
        ({"questions": asked()}, "questions"),
        ({"questions": {"w": asked()}}, "questions"),
        ({"earlier": 3}, "what"),
    ],
)
def test_wrong_arguments_are_named(options, argument):
    with refused(ArgumentError, argument):
        sp.findings(table(), **options)


@every_case("what", [3, "file.csv", None, {}, [], {"x": 3}, [letters(), letters()]])
def test_what_is_no_data_is_refused(what):
    with refused(ArgumentError, "what"):
        sp.findings(what)


def test_a_column_that_is_not_there_is_named():
    with refused(ArgumentError, "name"):
        sp.findings(table())["w"]
    with refused(ArgumentError, "name"):
        sp.findings(table()).plot()


def test_whatever_holds_the_people_says_the_same():
    data = missing()
    wanted = sp.findings(data).to_dict()
    assert sp.findings(data.counts()).to_dict() == wanted
    assert sp.findings({ONE: data}).to_dict() == wanted
    assert same is sp.findings


def test_columns_are_chosen_by_name_and_in_order():
    made = sp.findings(table(), columns=["z", "x"])
    assert made.names == ("z", "x")
    assert [one.name for one in made] == ["z", "x"]
    assert len(made) == 2
    # Pairs and rows keep the order of the file, which the seeds of sealed tests rest on.
    assert [pair.names for pair in made.pairs] == [("x", "z")]
    assert [row.names for row in made.rows] == [("x", "z")]
    assert sp.findings(table(), columns="y").names == ("y",)


def test_questions_bring_their_checks():
    made = sp.findings(asked())
    (one,) = made
    assert [name for name, _ in one.checks.items()] == ["draws", "leaning", "skips", "honesty"]
    direct = sp.check_skips(asked(), chance=0.01)
    assert one.checks.skips.rate == pytest.approx(direct.rate)
    assert one.checks.skips.test.statistic == pytest.approx(direct.test.statistic)
    assert one.questions.asked == 500
    without = sp.findings(asked().counts())
    assert [name for name, _ in without[ONE].checks.items()] == ["draws", "honesty"]
    assert sp.findings(asked().counts(), questions=asked()).to_dict()["variables"] == made.to_dict()["variables"]


# Waves and groups -------------------------------------------------------------------------------


def test_differences_are_those_of_two_estimates():
    now, then = letters(), letters(300, SHARES[::-1], 2, ABCD[::-1])  # the same categories in another order
    made = sp.findings({"x": now, "y": now}, earlier={"x": then})
    result = made["x"].difference
    facts = sp.estimate(now).difference(sp.estimate(then)).to_dict()
    for name in ("estimate", "se", "lower", "upper", "pvalue"):
        np.testing.assert_allclose(getattr(result, name), facts[name], rtol=1e-12)
    assert (result.n, result.n_earlier) == (500, 300)
    assert result.test.pvalue == pytest.approx(facts["test"]["pvalue"])
    assert result.test.rejects == (facts["test"]["pvalue"] < 0.05)
    # Both waves have the same shares by label.
    by_label = dict(zip(ABCD, result.estimate))
    wanted = dict(zip(ABCD, sp.estimate(now).w - sp.estimate(then).w[::-1]))
    assert by_label == pytest.approx(wanted)
    assert made["y"].difference is None  # it was not asked then


def test_other_categories_are_a_note():
    result = sp.findings({"x": letters()}, earlier={"x": letters(labels=["a", "b", "c", "z"])})["x"].difference
    assert result.estimate is None
    assert result.problem.kind is NoteKind.NO_ESTIMATE
    assert "categories" in result.problem.text


def test_an_earlier_wave_may_be_findings_already_and_has_a_name(release):
    before = sp.findings(release, columns="x")
    made = sp.findings({"x": letters()}, earlier=before)
    assert made["x"].difference.earlier == "made.parquet"
    assert made.earlier is before
    assert sp.findings({"x": letters()}, earlier={"x": letters(seed=2)})["x"].difference.earlier == "earlier"


def test_an_earlier_wave_without_people_leaves_no_difference_and_says_so():
    made = sp.findings({"x": letters()}, earlier={"x": sp.SubsetCounts([], [], UNIFORM)})
    assert made["x"].difference.estimate is None
    assert made["x"].difference.problem.kind is NoteKind.NO_ESTIMATE


def test_an_earlier_wave_of_other_columns_is_refused():
    with refused(ArgumentError, "earlier"):
        sp.findings({"x": letters()}, earlier={"y": letters()})


def test_questions_of_another_design_are_refused():
    asked = sp.QuestionCounts(sp.uniform(list("vwxyz")), shown=[3, 28], answers=[0, 1], n=[50, 50])
    with pytest.raises(MismatchError):
        sp.findings({"x": letters()}, questions={"x": asked})


def test_questions_of_fewer_people_are_noted():
    asked = sp.QuestionCounts(UNIFORM, shown=[3, 12], answers=[0, 1], n=[5, 7])
    made = sp.findings({"x": letters()}, questions={"x": asked})
    assert NoteKind.LEFT_OUT in [note.kind for note in made["x"].notes]


def test_groups_are_those_of_compare(release):
    made = sp.findings(release, by="town", tests=False)
    result = made["x"].groups
    assert result.by == ("town",)
    assert [group.group for group in result.groups] == [("north",), ("south",)]
    fits = {name: sp.estimate(counts) for name, counts in release.count("x", by=["town"]).items()}
    for group, fit in zip(result.groups, fits.values(), strict=True):
        np.testing.assert_allclose(group.shares.estimate, fit.w)
        np.testing.assert_allclose(group.shares.lower, fit.to_dict()["lower"])
        assert group.n == fit.n
    test = sp.compare(fits).test
    assert result.test.pvalue == pytest.approx(test.pvalue)
    assert result.test.statistic == pytest.approx(test.statistic)
    assert result.test.rejects  # the north has more of one letter
    assert not made["y"].groups.test.rejects


def test_groups_by_two_columns(release):
    result = sp.findings(release, by=["town", "year"], tests=False)["y"].groups
    assert result.by == ("town", "year")
    assert {group.group for group in result.groups} == {(a, b) for a in ("north", "south") for b in ("1", "2")}
    assert sum(group.n for group in result.groups) == 600
    assert result.left_out == 0


def test_groups_that_are_not_there_are_named(release):
    with refused(ArgumentError, "by"):
        sp.findings(release, by="village")


def test_of_very_many_groups_the_largest_are_kept(tmp_path):
    rng = np.random.default_rng(1)
    group = np.concatenate([np.arange(70), np.repeat(np.arange(60), 4)])
    people = pa.table({"x": rng.choice(ABCD, len(group)), "group": group})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        sp.privatize_table(people, {"x": UNIFORM}, tmp_path / "made.csv", keep=["group"], seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SubsetPrivacyWarning)
        result = sp.findings(sp.read_release(tmp_path / "made.csv"), by="group")["x"].groups
    assert len(result.groups) == 60
    assert result.left_out == 10
    assert {group.group for group in result.groups} == {(str(k),) for k in range(60)}


# What is computed when --------------------------------------------------------------------------


@pytest.fixture
def calls(monkeypatch):
    """Count what is worked out."""
    counted = SimpleNamespace(pairs=0, checks=0, audits=0, groups=0, fits=0)

    def counting(module, name, what):
        work = getattr(module, name)

        def wrapped(*arguments, **options):
            setattr(counted, what, getattr(counted, what) + 1)
            return work(*arguments, **options)

        monkeypatch.setattr(module, name, wrapped)

    module, variable = (import_module(f"subsetprivacy.finding.{name}") for name in ("result", "variable"))
    counting(module, "pair_findings", "pairs")
    counting(module, "run_checks", "checks")
    counting(variable, "audited", "audits")
    counting(variable, "group_findings", "groups")
    counting(variable, "fitted", "fits")
    return counted


def test_nothing_is_computed_before_it_is_asked_for(calls):
    made = sp.findings(table(), permutations=49)
    assert vars(calls) == {"pairs": 0, "checks": 0, "audits": 0, "groups": 0, "fits": 0}
    made["x"].shares.estimate.sum()
    assert vars(calls) == {"pairs": 0, "checks": 0, "audits": 0, "groups": 0, "fits": 1}
    assert repr(made) == "<Findings of 3 columns: 'x', 'y', 'z'>"
    assert calls.fits == 1


def test_nothing_is_computed_twice(calls):
    made = sp.findings(table(), permutations=49).compute()
    first = dict(vars(calls))
    assert first == {"pairs": 3, "checks": 1, "audits": 3, "groups": 0, "fits": 3}
    made.to_json(), made.summary(), made.to_frame()
    made.compute()
    assert vars(calls) == first


def test_checks_need_estimates_and_no_pairs(calls):
    made = sp.findings(table(), permutations=49)
    assert made.alarm.tests > 0
    assert (calls.checks, calls.fits, calls.pairs, calls.audits) == (1, 3, 0, 0)


def test_untested_pairs_are_not_tested(monkeypatch):
    from subsetprivacy.finding import pairs

    monkeypatch.setattr(pairs, "independence_test", lambda *_, **__: pytest.fail("tested"))
    assert len(sp.findings(table(), tests=False).compute().pairs) == 3


@every_case(
    ("what", "options", "total"),
    [
        (table(), {"tests": False}, 3 + 1 + 3 + 1),
        (table(), {"pairs": False}, 3 + 1 + 1 + 1),
        (letters(), {}, 1 + 1 + 1 + 1),
    ],
)
def test_progress_ends_where_it_said(what, options, total):
    steps = []
    made = sp.findings(what, **options)
    assert made.compute(lambda done, every: steps.append((done, every))) is made
    assert steps[0] == (0, total)
    assert steps[-1] == (total, total)
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)
    assert {every for _, every in steps} == {total}


def test_a_broken_file_is_an_error_and_no_note(monkeypatch, release):
    def broken(*columns):
        raise CodeError("column y, row 7: no subset")

    monkeypatch.setattr(type(release), "crosstab", lambda self, *columns: broken())
    made = sp.findings(release)
    with pytest.raises(CodeError, match="row 7"):
        made.pairs  # noqa: B018
    with pytest.raises(CodeError, match="row 7"):
        made.rows  # noqa: B018


def test_what_a_release_says_of_itself(release):
    facts = sp.findings(release).source_facts
    assert (facts.name, facts.rows, facts.kept, facts.linked) == (
        "made.parquet",
        600,
        ("town", "year"),
        (("x", "y"),),
    )
    assert facts.alone == 0
    assert sp.findings(letters()).source_facts.name == ""


def test_a_table_to_print_and_a_frame():
    made = sp.findings(table(), permutations=49)
    text = str(made.summary())
    assert [line.split()[0] for line in text.splitlines() if line.startswith(("x", "y", "z"))] == ["x", "y", "z"]
    frame = made.to_frame(engine="polars")
    assert frame["variable"].to_list() == ["x"] * 4 + ["y"] * 4 + ["z"] * 2
    np.testing.assert_allclose(frame["estimate"].to_numpy()[:4], made["x"].shares.estimate)
    empty = sp.findings(sp.SubsetCounts([], [], UNIFORM))
    assert empty.to_frame(engine="polars")["estimate"].is_nan().all()
    assert "–" in str(empty.summary())


class _Counting:
    """A source that remembers which columns were counted."""

    rows, kept = 500, ()

    def __init__(self):
        self.designs, self.asked = {"x": UNIFORM, "y": UNIFORM}, []

    def unique_rows(self):
        return 0

    def count(self, column):
        self.asked.append(column)
        return letters()

    def crosstab(self, *columns):
        raise AssertionError("no pair was asked for")


def test_a_column_is_counted_when_it_is_asked_for_and_once():
    source = _Counting()
    made = sp.findings(source)
    assert source.asked == []
    assert made["x"].shares is made["x"].shares
    assert source.asked == ["x"]


def test_without_a_limit_of_time_an_alarm_gets_all_the_samples_that_it_needs():
    steered = sp.SubsetCounts([3, 60], [25, 15], sp.uniform(list("abcdef")))
    made = sp.findings({"x": steered}, budget=None)
    test = made["x"].checks.draws.test
    assert test.is_alarm
    assert test.samples > 1 / test.alpha
    assert sp.check_all({"x": steered}, budget=1e9)["x"].draws.test.samples == test.samples


def test_no_share_is_called_the_largest_where_others_fit_as_well():
    made = sp.findings({"x": sp.SubsetCounts([3], [1], UNIFORM)})
    assert not made["x"].is_unique
    assert [row[2] for row in made.summary().rows] == ["–"]
    assert "has the largest estimated share" not in report_html(made)


def test_a_missing_group_is_shown_but_not_tested(tmp_path):
    rng = np.random.default_rng(1)
    codes = sp.privatize(rng.choice(ABCD, 600), UNIFORM, seed=1).codes
    towns = np.resize(["north", "south", "west", None], 600)
    sp.write_release(pa.table({"x": codes, "town": towns}), tmp_path / "made.parquet", {"x": UNIFORM}, keep=["town"])
    release = sp.read_release(tmp_path / "made.parquet")
    made = sp.findings(release, by="town", tests=False)
    result = made["x"].groups
    assert [group.group for group in result.groups] == [("north",), ("south",), ("west",), ("(missing)",)]
    fits = {town: sp.estimate(sp.SubsetData(codes[towns == town], UNIFORM)) for town in ("north", "south", "west")}
    assert result.test.df == 6
    assert result.test.pvalue == pytest.approx(sp.compare(fits).test.pvalue)
    (note,) = result.notes
    assert (note.kind, note.text) == (NoteKind.LEFT_OUT, "Left out, because their group is missing: 150 rows.")
    assert note.text in " ".join(findings_text(words_of(), made, 80).split())
