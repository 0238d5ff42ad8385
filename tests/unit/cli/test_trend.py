"""`test --trend`: an ordered column over ordered groups, or over another column; results are those of the library."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import subsetprivacy as sp

ANSWERS = ["never", "monthly", "weekly", "daily"]
DESIGN = sp.uniform(ANSWERS)
MOODS = sp.uniform(["bad", "fair", "good", "best"])
SHARES = {2023: [0.5, 0.3, 0.1, 0.1], 2024: [0.3, 0.3, 0.2, 0.2], 2025: [0.1, 0.2, 0.3, 0.4]}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A release in which the answers rise over the years; pay follows the years, in words that are not in order."""
    folder = tmp_path_factory.mktemp("trend")
    drawn = np.random.default_rng(4)
    answers = np.concatenate([drawn.choice(ANSWERS, 300, p=w) for w in SHARES.values()])
    codes = sp.privatize(answers, DESIGN, seed=1).codes
    moods = sp.privatize(drawn.choice(list(MOODS.categories), 900), MOODS, seed=2).codes
    table = pa.table(
        {
            "answer": codes,
            "mood": moods,
            "year": np.repeat(list(SHARES), 300),
            "pay": np.repeat(["low", "middle", "high"], 300),
            "weight": np.tile([1, 2], 450),
        }
    )
    place = folder / "out.parquet"
    sp.write_release(table, place, {"answer": DESIGN, "mood": MOODS}, keep=["year", "pay", "weight"])
    return folder, sp.read_release(place)


@pytest.fixture(autouse=True)
def folder(made, monkeypatch):
    monkeypatch.chdir(made[0])
    return made[0]


def check(found, expected):
    facts = expected.to_dict()
    assert found.keys() == facts.keys()
    for name in ("zscore", "pvalue", "asymptotic_pvalue", "scores", "group_scores", "estimate", "lower"):
        assert found[name] == pytest.approx(facts[name]), name
    for name in ("hypothesis", "alternative", "null", "permutations", "n", "groups", "categories"):
        assert found[name] == facts[name], name


TREND = ["--trend", "--permutations", 99, "--seed", 1]


def test_a_column_over_years(fine, made):
    found = json.loads(fine("test", "out.parquet", "answer", "--by", "year", *TREND, "--json"))
    check(found, sp.trend_test(made[1].count("answer", by="year"), permutations=99, seed=1))
    assert found["zscore"] > 0
    assert found["group_scores"] == list(SHARES)
    assert fine("test", "out.parquet", "answer", "--by", "year", *TREND).startswith("Test of trend: z = ")


def test_groups_that_are_words_have_scores(fine, made):
    words = ["test", "out.parquet", "answer", "--by", "pay", *TREND, "--json", "--group-scores"]
    scores = {"low": 1, "middle": 2, "high": 3}
    expected = sp.trend_test(made[1].count("answer", by="pay"), group_scores=scores, permutations=99, seed=1)
    check(json.loads(fine(*words, "low=1,middle=2,high=3")), expected)
    assert json.loads(fine(*words, "3,1,2")) == json.loads(fine(*words, "low=1,middle=2,high=3"))


def test_years_can_be_named_in_words(fine):
    words = ["test", "out.parquet", "answer", "--by", "year", *TREND, "--json"]
    found = json.loads(fine(*words, "--group-scores", "2023=1,2024=2,2025=10"))
    assert (found["groups"], found["group_scores"]) == ([2023, 2024, 2025], [1, 2, 10])


def test_scores_and_the_alternative(fine, made):
    words = ["test", "out.parquet", "answer", "--by", "year", *TREND, "--scores", "0,1,4,30", "--alternative", "less"]
    counts = made[1].count("answer", by="year")
    expected = sp.trend_test(counts, scores=[0, 1, 4, 30], alternative="less", permutations=99, seed=1)
    check(json.loads(fine(*words, "--json")), expected)
    assert expected.pvalue > 0.9


def test_two_ordered_columns(fine, made):
    words = ["test", "out.parquet", "mood", "answer", *TREND, "--json"]
    scores = {"never": 0, "monthly": 1, "weekly": 4, "daily": 30}
    table = made[1].crosstab("mood", "answer")
    check(json.loads(fine(*words)), sp.trend_test(table, permutations=99, seed=1))
    found = json.loads(fine(*words, "--scores", ",".join(f"{label}={score}" for label, score in scores.items())))
    check(found, sp.trend_test(table, scores=scores, permutations=99, seed=1))
    found = json.loads(fine(*words, "--group-scores", "bad=1,fair=2,good=3,best=7"))
    assert found["group_scores"] == [1, 2, 3, 7]


def test_weights(fine, made):
    settings = {"weights": "weight", "weights_kind": "sampling"}
    words = ["test", "out.parquet", "answer", "--by", "year", "--trend", "--weights", "weight"]
    found = json.loads(fine(*words, "--weights-kind", "sampling", "--json"))
    check(found, sp.trend_test(made[1].count("answer", by="year", **settings)))
    assert found["null"] == "asymptotic"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["answer", "--trend"], "give a second column: mood; or --by COLUMN"),
        (["answer", "--by", "year", "--by", "pay", "--trend"], "give --by once"),
        (["answer", "--by", "mood", "--trend"], "give mood as B"),
        (["answer", "mood", "--given", "year", "--trend"], "--given is not for --trend"),
        (["answer", "--by", "year", "--trend", "--method", "lrt"], "--method is not for --trend"),
        (["answer", "--by", "year", "--scores", "1,2,3,4"], "--scores is for --trend"),
        (["answer", "--by", "year", "--group-scores", "1,2,3"], "--group-scores is for --trend"),
        (["answer", "--by", "year", "--alternative", "less"], "--alternative is for --trend"),
        (["answer", "--by", "year", "--trend", "--scores", "a,b"], "must be numbers joined by commas"),
        (["answer", "--by", "year", "--trend", "--scores", "never=x"], "must be LABEL=NUMBER"),
    ],
)
def test_words_that_make_no_test_of_trend(words, message, misused):
    assert message in " ".join(misused("test", "out.parquet", *words).split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--scores", "1,2"],
            "--scores must be 4 numbers; got 2. Hint: numbers in the order of the labels, 1,2,3, or LABEL=1",
        ),
        (["--scores", "never=1,daily=2"], "--scores must have a number for each of the 4 labels."),
        (["--scores", "1,1,1,1"], "--scores must be finite numbers that are not all the same."),
        (["--group-scores", "1,2"], "--group-scores must be 3 numbers; got 2."),
    ],
)
def test_scores_that_do_not_fit(words, message, refused):
    line = refused("test", "out.parquet", "answer", "--by", "year", "--trend", *words)
    assert message in line
    assert "`" not in line


def test_numbers_of_a_csv_file_are_numbers(fine, tmp_path):
    """A CSV file has only text: as text, 9 would come after 100."""
    codes = sp.privatize(ANSWERS * 90, DESIGN, seed=3).codes
    table = pa.table({"answer": codes, "age": np.tile([9, 10, 100], 120)})
    found = []
    for name in ("ages.csv", "ages.parquet"):
        sp.write_release(table, tmp_path / name, {"answer": DESIGN}, keep=["age"])
        words = ["test", str(tmp_path / name), "answer", "--by", "age", "--trend", "--permutations", "0", "--json"]
        found.append(json.loads(fine(*words)))
    assert found[0]["group_scores"] == found[1]["group_scores"] == [9, 10, 100]
    assert found[0]["zscore"] == pytest.approx(found[1]["zscore"])


def test_words_have_no_order_unless_their_column_declares_one(fine, refused, made, tmp_path):
    line = refused("test", "out.parquet", "answer", "--by", "pay", *TREND)
    assert "--group-scores must be given" in line
    assert "Hint: --group-scores low=1,middle=2,high=3" in line
    table = pq.read_table(made[1].path, columns=["answer", "pay"])
    words = ["low", "middle", "high"]
    places = pa.array([words.index(word) for word in table["pay"].to_pylist()])
    ordered = pa.DictionaryArray.from_arrays(places, words, ordered=True)
    table = table.set_column(1, "pay", ordered)
    sp.write_release(table, tmp_path / "ordered.parquet", {"answer": DESIGN}, keep=["pay"])
    scores = ["--group-scores", "low=1,middle=2,high=3"]
    expected = json.loads(fine("test", "out.parquet", "answer", "--by", "pay", *TREND, "--json", *scores))
    found = json.loads(fine("test", str(tmp_path / "ordered.parquet"), "answer", "--by", "pay", *TREND, "--json"))
    assert (found["groups"], found["zscore"]) == (words, pytest.approx(expected["zscore"]))


def test_a_missing_group_is_left_out_and_numbers_stay_numbers(fine, tmp_path):
    codes = sp.privatize(ANSWERS * 90, DESIGN, seed=3).codes
    ages = np.tile([9, 10, 100], 120).tolist()
    gaps = [None if k % 7 == 0 else age for k, age in enumerate(ages)]
    known = [k for k, age in enumerate(gaps) if age is not None]
    for ending in ("csv", "parquet"):
        path = tmp_path / f"gaps.{ending}"
        sp.write_release(pa.table({"answer": codes, "age": gaps}), path, {"answer": DESIGN}, keep=["age"])
        words = ["test", str(path), "answer", "--by", "age", "--trend", "--permutations", "0", "--json"]
        found = json.loads(fine(*words))
        expected = sp.trend_test(sp.count(codes[known], design=DESIGN, by=[ages[k] for k in known]), permutations=0)
        assert found["group_scores"] == [9, 10, 100]
        assert found["zscore"] == pytest.approx(expected.zscore)
        assert f"{len(codes) - len(known)} rows" in str(found["notes"])
        scored = json.loads(fine(*words, "--group-scores", "9=1,10=2,100=3"))
        assert scored["group_scores"] == [1, 2, 3]
