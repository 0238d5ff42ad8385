"""One contract for every engine: the same table gives the same counts and the same refusals, whoever holds it.

On Spark it is run by `tests/unit/frames/test_on_spark.py`, in a process of its own.
"""

import random
from collections import Counter

import pytest
from engines import CONSTRUCTORS, LIBRARY, engines_under_test, spark_table
from every_case import every_case
from lopsided import ABCD, ASKED

import subsetprivacy as sp
from subsetprivacy import engines
from subsetprivacy.errors import ArgumentError, CodeError

UNIFORM = sp.uniform(list("rstu"))
DESIGNS = {"race": ASKED, "income": UNIFORM}
RACES, INCOMES = [3, 12, 5, 10, 9, 6, 15], [3, 12, 5, 10, 9, 6, 15]


def people(n=60):
    """Lopsided rows: no two columns, groups or codes are alike."""
    draw = random.Random(7)
    return {
        "race": draw.choices(RACES, [9, 7, 5, 3, 2, 1, 1], k=n),
        "income": draw.choices(INCOMES, [1, 2, 3, 5, 7, 9, 2], k=n),
        "region": draw.choices(["north", "south", None], [6, 3, 1], k=n),
        "year": draw.choices([2024, 2026], [2, 1], k=n),
        "times": draw.choices([0, 1, 2, 5], k=n),
        "weight": [draw.randrange(1, 40) / 8 for _ in range(n)],
        "n": draw.choices([1, 2], k=n),
    }


PEOPLE = people()


@pytest.fixture(params=engines_under_test())
def make(request, tmp_path, spark_of_the_process):
    """Return the constructor of one engine's tables."""
    if request.param == "pyspark":
        return lambda columns: spark_table(columns, spark_of_the_process)
    pytest.importorskip(LIBRARY.get(request.param, request.param.split()[0]))
    build, _ = CONSTRUCTORS[request.param]
    return lambda columns: build(columns, tmp_path)


def cells(counts):
    codes = counts.codes.tolist()
    if isinstance(counts, sp.JointCounts):
        codes = list(zip(*(part.tolist() for part in counts.design.split(counts.codes))))
    return dict(zip(codes, counts.counts.tolist()))


def summed(keys, amounts):
    total = Counter()
    for key, amount in zip(keys, amounts):
        total[key] += amount
    return {key: amount for key, amount in total.items() if amount}


def test_what_a_table_says_of_itself(make):
    table = make(PEOPLE)
    assert engines.is_table(table)
    assert engines.column_names(table) == list(PEOPLE)
    known = {"pyspark", *(name for _, name in CONSTRUCTORS.values())}
    assert engines.engine_of(table) in known
    assert engines.is_lazy(table) == (engines.engine_of(table) not in {"pandas", "polars", "pyarrow"})


def test_count(make):
    counts = sp.count(make(PEOPLE), "race", design=ASKED)
    assert cells(counts) == Counter(PEOPLE["race"])
    assert counts.counts.dtype == "int64"
    assert counts.design is ASKED


def test_crosstab(make):
    table = sp.crosstab(make(PEOPLE), "race", "income", designs=DESIGNS)
    assert cells(table) == Counter(zip(PEOPLE["race"], PEOPLE["income"]))
    assert table.names == ("race", "income")
    turned = sp.crosstab(make(PEOPLE), "income", "race", designs=[UNIFORM, ASKED])
    assert cells(turned) == Counter(zip(PEOPLE["income"], PEOPLE["race"]))


def test_groups(make):
    result = sp.count(make(PEOPLE), "race", design=ASKED, by="region")
    assert list(result) == ["north", "south", None]  # ascending, and those without a group last
    for region, counts in result.items():
        assert cells(counts) == Counter(r for r, g in zip(PEOPLE["race"], PEOPLE["region"]) if g == region)


def test_groups_of_two_columns(make):
    result = sp.crosstab(make(PEOPLE), "race", "income", designs=DESIGNS, by=["year", "region"])
    expected = {}
    for year, region, *pair in zip(*(PEOPLE[name] for name in ("year", "region", "race", "income"))):
        expected.setdefault((year, region), Counter())[tuple(pair)] += 1
    assert {group: cells(table) for group, table in result.items()} == expected
    assert [type(year) for year, _ in result] == [int] * len(expected)
    assert list(result)[:2] == [(2024, "north"), (2024, "south")]
    (only,) = list(sp.count(make({"race": [3], "year": [2024]}), "race", design=ASKED, by=["year"]))
    assert only == (2024,)  # a list of names gives tuples, however short


def test_frequency_weights(make):
    counts = sp.count(make(PEOPLE), "race", design=ASKED, weights="times", weights_kind="frequency")
    assert cells(counts) == summed(PEOPLE["race"], PEOPLE["times"])
    assert counts.squares is None
    assert counts.counts.dtype == "int64"


def test_sampling_weights_in_groups(make):
    result = sp.count(make(PEOPLE), "race", design=ASKED, weights="weight", weights_kind="sampling", by="year")
    for year, counts in result.items():
        rows = [(r, w) for r, w, y in zip(PEOPLE["race"], PEOPLE["weight"], PEOPLE["year"]) if y == year]
        assert cells(counts) == pytest.approx(summed(*zip(*rows)))  # eighths: exact, but for the order of sums
        squares = summed((r for r, _ in rows), (w * w for _, w in rows))
        assert dict(zip(counts.codes.tolist(), counts.squares.tolist())) == pytest.approx(squares)


def test_a_column_called_like_a_result_of_ours(make):
    table = make({"rows": PEOPLE["race"], "key_0": PEOPLE["income"], "sums": PEOPLE["times"], "fit": PEOPLE["year"]})
    counts = sp.count(table, "rows", design=ASKED, weights="sums", weights_kind="frequency", by="fit")
    assert sum(sum(cells(part).values()) for part in counts.values()) == sum(PEOPLE["times"])
    assert cells(sp.count(table, "key_0", design=UNIFORM)) == Counter(PEOPLE["income"])


def test_names_with_blanks_points_and_quotes(make):
    names = ["the race", "race.code", 'say "race"', "it's", "`r`"]
    table = make(dict.fromkeys(names, PEOPLE["race"]) | {"the region.of": PEOPLE["region"]})
    for name in names:
        result = sp.count(table, name, design=ASKED, by="the region.of")
        assert sum(cells(part)[3] for part in result.values()) == PEOPLE["race"].count(3)


def test_missing_codes(make):
    codes = [3, None, 12, 3, None, 15]
    table = make({"race": codes})
    with pytest.raises(CodeError, match=r"column race must hold a subset in every row; got none in 2 rows") as caught:
        sp.count(table, "race", design=ASKED)
    assert ("first in row 1" in str(caught.value)) == engines.is_ordered(table)
    counts = sp.count(table, "race", design=ASKED, missing="full")
    assert cells(counts) == {3: 2, 12: 1, 15: 3}
    assert (counts.n, counts.n_missing) == (3, 3)


def test_text(make):
    table = make({"race": ["a|b", "c|d", None, "b|a", "a|b|c|d"]})
    assert cells(sp.count(table, "race", design=ASKED, missing="full")) == {3: 2, 12: 1, 15: 2}
    told = r"column race must hold subsets as text.*got others in 2 rows"
    with pytest.raises(CodeError, match=told) as caught:
        sp.count(make({"race": ["a|b", "secret", "a|b", "secret"]}), "race", design=ASKED)
    assert "secret" not in repr(caught.value)
    assert caught.value.__context__ is None


def test_an_unknown_column(make):
    with pytest.raises(ArgumentError, match=r"got no column Race among its 7 columns\. Hint: did you mean 'race'\?"):
        sp.count(make(PEOPLE), "Race", design=ASKED)
    with pytest.raises(ArgumentError, match="got no column wieght"):
        sp.count(make(PEOPLE), "race", design=ASKED, weights="wieght", weights_kind="sampling")


@every_case(
    ("codes", "message"),
    [
        ([3, 12, 17, 3, 17], r"codes in 1…15; got others in 2 rows.*\(outside the categories\)"),
        ([3, 12, 2**40, 3], r"codes in 1…15; got others in 1 row.*\(outside the categories\)"),
        ([3, 12, -1, -5], r"codes in 1…15; got others in 2 rows.*\(outside the categories\)"),
        ([3, 12, 0, 3], r"codes in 1…15; got others in 1 row.*\(0, the empty set\)"),
        ([3, 12, 11, 11], r"subsets that the independent design can produce; got others in 2 rows"),
    ],
)
def test_codes_that_are_none(make, codes, message):
    table = make({"race": codes})
    with pytest.raises(CodeError, match=message) as caught:
        sp.count(table, "race", design=ASKED)
    assert ("first in row 2" in str(caught.value)) == engines.is_ordered(table)
    assert "17" not in str(caught.value)


@every_case(
    ("weights", "kind", "message"),
    [
        ([1, 2, None, 3], "frequency", "whole numbers of at least 0; column w has 1 weights? that (is|are) not"),
        ([1, 2, -1, -3], "frequency", "whole numbers of at least 0; column w has 2 weights? that (is|are) not"),
        ([1.0, 2.0, 0.5, 3.0], "frequency", "whole numbers of at least 0; column w has 1 weights? that (is|are) not"),
        (
            [0.5, 2.0, float("nan"), 3.0],
            "sampling",
            "finite and not negative; column w has 1 weights? that (is|are) not",
        ),
        (
            [0.5, 2.0, float("inf"), 3.0],
            "sampling",
            "finite and not negative; column w has 1 weights? that (is|are) not",
        ),
    ],
)
def test_weights_that_are_none(make, weights, kind, message):
    table = make({"race": [3, 12, 3, 5], "w": weights})
    with pytest.raises(ArgumentError, match=message) as caught:
        sp.count(table, "race", design=ASKED, weights="w", weights_kind=kind)
    assert ("first in row 2" in str(caught.value)) == engines.is_ordered(table)


def test_types_that_are_none(make):
    table = make({"f": [3.5, 5.0], "whole": [3.0, 5.0], "b": [True, False], "race": [3, 5], "t": ["1", "2"]})
    with pytest.raises(CodeError):
        sp.count(table, "f", design=ASKED)
    with pytest.raises(CodeError):
        sp.count(make({"whole": [3.25, 5.25]}), "whole", design=ASKED, missing="full")
    with pytest.raises(CodeError):
        sp.count(table, "b", design=ASKED)
    with pytest.raises(ArgumentError, match="weights must be numbers; got column t of type"):
        sp.count(table, "race", design=ASKED, weights="t", weights_kind="frequency")


def test_nobody(make):
    table = make(PEOPLE)
    empty = make({"race": [1], "w": [1]})
    native = engines.plain_table(empty)
    nobody = {
        "pandas": lambda: native.iloc[:0],
        "polars": lambda: native.head(0),
        "polars-lazy": lambda: native.head(0),
        "pyarrow": lambda: native.slice(0, 0),
        "pyarrow-dataset": lambda: native.filter(_never()),
        "duckdb": lambda: native.limit(0),
        "ibis": lambda: native.limit(0),
        "dask": lambda: native[native["w"] > 1],
        "pyspark": lambda: native.limit(0),
    }[engines.engine_of(table)]()
    counts = sp.count(nobody, "race", design=ASKED, weights="w", weights_kind="frequency")
    assert (counts.n, len(counts.codes)) == (0, 0)
    assert sp.count(nobody, "race", design=ASKED, by="w") == {}
    with pytest.raises(ValueError, match="at least one informative subset; got none"):
        sp.estimate(counts)


def _never():
    import pyarrow.dataset as ds

    return ds.field("w") > 1


def test_codes_of_many_bits(make):
    design = sp.uniform(range(40))
    codes = [(1 << 39) + 5, (1 << 40) - 7, (1 << 39) + 5, (1 << 20) + 1]
    assert cells(sp.count(make({"x": codes}), "x", design=design)) == Counter(codes)
    with pytest.raises(ValueError, match="a joint code must fit in 48 bits; these 2 variables need 80"):
        sp.crosstab(make({"x": codes, "y": codes}), "x", "y", designs=[design, sp.uniform(range(40))])


def test_a_design_that_is_not_known(make):
    counts = sp.count(make({"said": [1, 3, 3, 14]}), "said", categories=ABCD)
    assert cells(counts) == {1: 1, 3: 2, 14: 1}


# How questions were put and answered ----------------------------------------------------------------------------------

SHOWN, ANSWERED = [3, 12, 5, 10, 9, 6], ["yes", "no", "skipped"]


def asked(n=60):
    """Yes/no questions in words, numbers and truth values, with gaps for skips."""
    draw = random.Random(11)
    codes, said = draw.choices(SHOWN, [9, 7, 5, 3, 2, 1], k=n), draw.choices(ANSWERED, [5, 4, 2], k=n)
    return {
        "code": codes,
        "set": [ASKED.format(code) for code in codes],
        "word": said,
        "number": [{"yes": 0, "no": 1, "skipped": -1}[word] for word in said],
        "truth": [{"yes": True, "no": False, "skipped": None}[word] for word in said],
        "times": draw.choices([0, 1, 2, 5], k=n),
    }


def lines(questions):
    return {
        (int(code), int(answer)): int(n)
        for (code,), answer, n in zip(questions.shown, questions.answers, questions.n, strict=True)
    }


@every_case(("shown", "answer"), [("code", "word"), ("set", "number"), ("set", "truth")])
def test_questions_are_counted_whatever_they_are_written_in(make, shown, answer):
    columns = asked()
    expected = summed(zip(columns["code"], columns["number"]), [1] * 60)
    table = make({name: columns[name] for name in (shown, answer)})
    result = sp.count_questions(table, shown=shown, answer=answer, design=ASKED)
    assert lines(result) == expected
    assert result.counts().n == 60 - columns["word"].count("skipped")


def test_questions_of_a_table_of_counts(make):
    columns = asked()
    result = sp.count_questions(make(columns), shown="set", answer="word", design=ASKED, weight="times")
    assert lines(result) == summed(zip(columns["code"], columns["number"]), columns["times"])


def test_groups_that_were_shown_may_be_absent(make):
    design = sp.partition(list("abcdef"), 3)
    columns = {
        "one": [None, "a|b", None, "a|c", "e|f"],
        "two": [None, "c|d", None, "b|e", "c|d"],
        "three": [None, "e|f", None, "d|f", "a|b"],
        "place": [2, -1, 0, -1, -1],
    }
    result = sp.count_questions(make(columns), shown=["one", "two", "three"], answer="place", design=design)
    assert (result.kind, result.asked, result.skipped) == ("groups", 5, 3)
    assert sorted(result.shown[result.is_skipped].tolist()) == [[3, 12, 48], [5, 18, 40], [48, 12, 3]]


@every_case(
    ("columns", "words"),
    [
        ({"set": ["a|b", "secret"], "word": ["yes", "no"]}, "column set must hold subsets as text"),
        ({"set": ["a|b", "c|d"], "word": ["yes", "secret"]}, "column word must hold answers: yes (0) or no (1)"),
        ({"set": ["a|b", None], "word": ["yes", "no"]}, "column set must hold a subset in every row"),
    ],
)
def test_what_is_no_question_is_refused_without_its_content(make, columns, words):
    with pytest.raises(CodeError) as caught:
        sp.count_questions(make(columns), shown="set", answer="word", design=ASKED)
    assert words in caught.value.message
    assert "in 1 row" in caught.value.message
    assert "secret" not in str(caught.value)
