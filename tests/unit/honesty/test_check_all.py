"""All checks of a data set share one chance to err."""

from types import SimpleNamespace

import numpy as np
import pytest
from asking import HONEST, Manners, ask, options, prefer_last, sensitive
from every_case import every_case
from lopsided import UNKNOWN
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, MismatchError, NotIdentifiableError
from subsetprivacy.honesty import stated_distribution
from subsetprivacy.honesty.alarms import Alarm
from subsetprivacy.honesty.check import run_honesty_check
from subsetprivacy.messages import NoteKind
from subsetprivacy.messages.for_tests import CHECK_WITH_BUDGET, CHECK_WITH_DESIGNS, COUNT_PEOPLE

SOME = Manners(skips=lambda shown, truth: 0.1)
DESIGNS = {"a": sp.uniform(options(5)), "c": sp.partition(options(9), 3), "d": sp.uniform(options(4))}
FIVE, EIGHT = DESIGNS["a"], sp.uniform(options(8))


@pytest.fixture(scope="module")
def survey():
    """Return counts and questions of several variables, and one whose answers need no question."""
    made = {
        name: ask(design, np.arange(1, design.p + 1), 400, k, SOME) for k, (name, design) in enumerate(DESIGNS.items())
    }
    counts = {name: one[1] for name, one in made.items()}
    questions = {name: one[0] for name, one in made.items()}
    bit = sp.QuestionCounts(sp.warner(["no", "yes"]), answers=[0, 1, -1], n=[200, 190, 10])
    return {**counts, "b": bit.counts()}, {**questions, "b": bit}


def test_all_tests_are_counted_and_share_the_chance(survey):
    checks = sp.check_all(*survey)
    # Questions, sides, leaning, skips, answers, chance; positions, skips, answers; questions, sides, leaning, skips.
    assert checks.alarm.tests == len(checks.tests) == 6 + 3 + 4
    assert {test.alpha for test in checks.tests} == {checks.alarm.alpha}
    assert checks.alarm.alpha == pytest.approx(0.01 / 13)
    assert not checks.is_alarm
    assert checks.alarms == ()
    assert all(test.sampler is None for test in checks.tests)
    assert sp.check_all(*survey, chance=0.13).alarm.alpha == pytest.approx(0.01)


def test_a_mapping_of_variables(survey):
    checks = sp.check_all(*survey)
    assert list(checks) == ["a", "c", "d", "b"]
    assert len(checks) == 4
    assert checks["a"].skips.test is not None
    assert [name for name, _ in checks["b"].items()] == ["draws", "leaning", "skips", "honesty"]
    assert checks["b"].draws.problem.kind is NoteKind.NOT_TESTED
    frame = checks.to_frame(engine="polars")
    assert frame["variable"].to_list() == ["a"] * 6 + ["c"] * 3 + ["d"] * 4
    assert frame["check"].to_list()[:6] == ["draws", "draws", "leaning", "skips", "honesty", "honesty"]


def test_each_wrong_is_found_where_it_is():
    def of(design, manners):
        return ask(design, np.ones(design.p), 3000, 1, manners)

    made = {
        "steered": of(FIVE, Manners(steers=prefer_last)),
        "leaning": of(EIGHT, Manners(always_yes=0.3)),
        "skipping": of(FIVE, Manners(skips=sensitive)),
        "random": of(EIGHT, Manners(at_random=0.6)),
        "honest": of(EIGHT, HONEST),
    }
    checks = sp.check_all({name: one[1] for name, one in made.items()}, {name: one[0] for name, one in made.items()})
    result = {(variable, check) for variable, check, _ in checks.alarms}
    assert result >= {("steered", "draws"), ("leaning", "leaning"), ("skipping", "skips"), ("random", "honesty")}
    assert not {variable for variable, _ in result} & {"honest"}
    assert checks.is_alarm
    assert not checks["honest"].is_alarm
    assert "alarms in" in str(checks.summary())


def test_without_questions_draws_and_answers_are_checked(survey):
    counts, _ = survey
    checks = sp.check_all(counts)
    assert checks["a"].leaning is None
    assert checks["a"].draws.test.by == "questions"
    assert checks["a"].draws.sides is None
    assert "not known how the questions were asked" in str(checks.summary())
    (name,) = sp.check_all(counts["a"])
    assert name == "data"


def test_the_sources_are_equal(survey):
    counts, questions = survey
    pl = pytest.importorskip("polars")
    alone = sp.check_all({"a": counts["a"]}).to_dict()
    release = SimpleNamespace(designs={"a": FIVE}, count=lambda name: counts[name])
    assert sp.check_all(release).to_dict() == alone
    table = pl.DataFrame({"a": np.repeat(counts["a"].codes, counts["a"].counts)})
    assert sp.check_all(table, designs={"a": FIVE}).to_dict() == alone
    whole = sp.check_all(questions["a"])
    assert whole.to_dict()["variables"] == sp.check_all(counts["a"], questions["a"]).to_dict()["variables"]


def test_several_variables_of_one_table():
    design = sp.product({"x": FIVE, "y": sp.uniform(list("pqrs"))})
    w = np.full(20, 0.05)
    joint = sp.simulate(design, w, 500, seed=1)
    table = sp.privatize({"x": options(5) * 100, "y": list("pqrs") * 125}, design, seed=1)
    for data in (joint, table):
        checks = sp.check_all(data)
        assert list(checks) == ["x", "y"]
        assert checks["x"].honesty.share is not None
        assert checks["y"].honesty.problem.kind is NoteKind.NOT_IDENTIFIABLE


def test_the_same_counts_give_the_same_numbers_and_a_seed_others():
    asked, counts = ask(EIGHT, np.ones(8), 150, 1, SOME)
    one, two = (sp.check_all({"a": counts}, {"a": asked}).to_dict() for _ in range(2))
    assert one == two
    seeded = [sp.check_all({"a": counts}, {"a": asked}, seed=seed).to_dict() for seed in (1, 1, 2)]
    assert seeded[0] == seeded[1] != seeded[2]


@every_case(
    ("data", "named", "error", "argument"),
    [
        ([1, 2], {}, ArgumentError, "data"),
        (sp.SubsetCounts([3, 28], [1, 1], FIVE), {"designs": {"a": FIVE}}, ArgumentError, "designs"),
        (sp.SubsetCounts([3, 28], [1, 1], FIVE), {"chance": 0}, ArgumentError, "chance"),
        (sp.SubsetCounts([3, 28], [1, 1], FIVE), {"budget": -1}, ArgumentError, "budget"),
        (sp.SubsetCounts([3, 28], [1, 1], FIVE), {"seed": "x"}, ArgumentError, "seed"),
        (sp.SubsetCounts([3, 28], [1, 1], FIVE), {"questions": {"data": 3}}, ArgumentError, "questions"),
        (
            {"a": sp.SubsetCounts([3, 28], [1, 1], FIVE)},
            {"questions": {"b": sp.QuestionCounts(FIVE, [3], answers=[0])}},
            MismatchError,
            "questions",
        ),
        (
            {"a": sp.SubsetCounts([3, 28], [1, 1], FIVE)},
            {"questions": {"a": sp.QuestionCounts(EIGHT, [3], answers=[0])}},
            MismatchError,
            "questions",
        ),
        (
            {name: sp.SubsetCounts([3, 28], [1, 1], FIVE) for name in "ab"},
            {"questions": sp.QuestionCounts(FIVE, [3], answers=[0])},
            ArgumentError,
            "questions",
        ),
    ],
)
def test_what_cannot_be_checked_is_refused(data, named, error, argument):
    with refused(error, argument):
        sp.check_all(data, **named)


def test_sampling_weights_are_refused_in_words():
    weighted = sp.SubsetCounts([3, 28], [1.5, 1.0], FIVE, squares=[1.0, 1.0])
    for check in (sp.check_all, sp.check_draws, sp.check_honesty):
        with refused(ArgumentError, "data") as caught:
            check(weighted)
        assert caught.value.advice.advice is COUNT_PEOPLE


def test_a_table_needs_designs():
    pl = pytest.importorskip("polars")
    with refused(ArgumentError, "designs") as caught:
        sp.check_all(pl.DataFrame({"a": [3]}))
    assert caught.value.advice.advice is CHECK_WITH_DESIGNS


def test_an_unknown_design_has_nothing_to_check():
    checks = sp.check_all(sp.SubsetCounts([3, 12], [1, 2], UNKNOWN))
    assert checks.alarm.tests == 0
    assert checks["data"].draws.problem is not None
    assert checks["data"].honesty.problem is not None
    with pytest.raises(NotIdentifiableError):
        _ = checks["data"].honesty.answers
    assert checks.summary()
    assert "not tested" in repr(checks["data"].honesty)


def test_nothing_at_all_is_no_alarm():
    nothing = sp.check_all({"a": sp.SubsetCounts([], [], FIVE)}, {"a": sp.QuestionCounts(FIVE, [], answers=[])})
    assert (nothing.alarm.tests, nothing.is_alarm) == (0, False)
    everyone = sp.check_all(sp.QuestionCounts(FIVE, [3, 28], answers=[-1, -1], n=[4, 5]))
    assert everyone.alarm.tests == 2  # questions and sides
    assert everyone["data"].skips.problem.text == "Everyone skipped."
    assert sp.check_all({}).summary()


def test_ten_billion_people_are_checked_in_counts():
    asked, counts = ask(FIVE, np.arange(1, 6), 1000, 3, SOME)
    times = 10**7
    many = sp.SubsetCounts(counts.codes, counts.counts * times, FIVE)
    checks = sp.check_all(many, sp.QuestionCounts(FIVE, asked.shown, answers=asked.answers, n=asked.n * times))
    assert checks["data"].skips.asked == 10**10
    assert all(0 < test.pvalue <= 1 for test in checks.tests)
    assert checks["data"].draws.test.is_alarm  # what is a little off among a thousand is far off here


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_a_million_rows_of_parquet(engine, tmp_path):
    pl, rng = pytest.importorskip("polars"), np.random.default_rng(1)
    module = pytest.importorskip(engine)
    n = 1_000_000
    codes = FIVE.support()[0][rng.integers(20, size=n)]
    truth = rng.integers(5, size=n)
    said = np.where(rng.random(n) < 0.05, "skipped", np.where(codes >> truth & 1 == 1, "yes", "no"))
    path = tmp_path / "rows.parquet"
    pl.DataFrame({"asked": codes, "said": said}).write_parquet(path)
    table = module.read_parquet(str(path)) if engine == "duckdb" else module.scan_parquet(path)
    asked = sp.count_questions(table, shown="asked", answer="said", design=FIVE)
    checks = sp.check_all(asked)
    assert (asked.asked, len(checks.tests)) == (n, 6)
    assert not checks.is_alarm
    assert sp.count_questions(path, shown="asked", answer="said", design=FIVE).to_dict() == asked.to_dict()


# Samples, where counts are small ------------------------------------------------------------------


def test_samples_that_take_too_long_are_said_to(monkeypatch):
    def prefer(shown, truth, rng):
        fixed = rng.permuted(np.tile([3, 252], (len(shown), 1)), axis=1)
        return np.where((rng.random(len(shown)) < 0.4)[:, None], fixed, shown)

    asked, _ = ask(EIGHT, np.ones(8), 300, 1, Manners(steers=prefer))
    monkeypatch.setattr(stated_distribution, "_CELL", 1e-3)
    short = sp.check_all(asked)["data"].draws
    assert short.test.law == "simulated (199)"
    assert not short.test.is_alarm
    assert CHECK_WITH_BUDGET in {note.advice.advice for note in short.notes if note.advice}
    monkeypatch.undo()
    enough = sp.check_all(asked)["data"].draws
    assert enough.test.law == "simulated (2000)"
    assert enough.test.is_alarm
    assert "2,000 samples" in enough.notes[0].text


def test_a_rough_formula_stays_where_there_is_no_time_and_it_is_said():
    counts = sp.simulate(EIGHT, np.r_[0.6, np.full(7, 0.4 / 7)], 300, seed=3)
    rng = np.random.default_rng(1)
    mixed = sp.SubsetCounts(counts.codes, counts.counts + rng.integers(0, 3, len(counts.codes)), counts.design)
    look = run_honesty_check(mixed, 1)
    assert look.random_test.pvalue < 0.05
    hurried, slow = look.settled(Alarm(24, seconds=0.01)), look.settled(Alarm(24))
    assert (hurried.random_test.law, hurried.random_test.pvalue) == ("half chi-square", look.random_test.pvalue)
    assert hurried.notes[-1].kind is NoteKind.BUDGET
    assert slow.random_test.law.startswith("simulated")
    assert slow.notes[-1].kind is NoteKind.NULL_LAW


def test_too_many_different_answers_are_left_to_the_check_alone(monkeypatch):
    from subsetprivacy.honesty import check

    monkeypatch.setattr(check, "LARGE", 100)
    result = sp.check_all(sp.simulate(FIVE, np.full(5, 0.2), 100, seed=1))["data"].honesty
    assert result.problem.kind is NoteKind.TOO_MANY_CELLS
    assert result.tests == ()
