"""`JointCounts`: shape, parts, 2 x 2 tables, sums and printing."""

import numpy as np
import pytest
from every_case import every_case
from lopsided import ASKED, GIVEN3, RECORDED, WARNER
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.data import joint
from subsetprivacy.errors import ArgumentError, CategoryError, CodeError, MismatchError, TooLargeError

V4 = sp.uniform(list("rstu"))
BOTH = sp.product({"x": ASKED, "y": V4})
PLAIN = sp.product({"x": sp.nonprivate(["a", "b"]), "y": sp.nonprivate(["r", "s", "t"])})
THREE = sp.product({"x": ASKED, "y": V4, "z": GIVEN3})
X, Y, Z = [3, 12, 5, 15, 3, 15, 3, 10], [3, 3, 15, 12, 3, 15, 5, 6], [3, 5, 6, 6, 7, 3, 3, 3]


def three():
    return sp.crosstab(X, Y, Z, designs=[ASKED, V4, GIVEN3])


# From a matrix and back ---------------------------------------------------------------------------------------------


def test_from_a_matrix_and_back():
    n = [[10, 0, 3], [4, 7, 2]]
    table = sp.JointCounts.of_table(n, PLAIN)
    assert table.table().tolist() == n
    assert table.n == 26
    assert len(table.codes) == 5  # what does not occur is not stored
    assert table.subsets("x") == ["a", "b"]
    assert table.subsets("y") == ["r", "s", "t"]


def test_rows_and_columns_by_their_codes():
    table = sp.JointCounts.of_table([[5, 1], [0, 2]], BOTH, rows=[12, 3], columns=[5, 10])
    assert table.subsets("x") == ["a|b", "c|d"]
    assert table.subsets("y") == ["r|t", "s|u"]
    assert table.table().tolist() == [[0, 2], [5, 1]]


def test_a_matrix_that_does_not_fit():
    with refused(CodeError, "table"):
        sp.JointCounts.of_table([[1, 2, 3], [3, -1, 4]], PLAIN)
    with refused(CodeError, "table"):
        sp.JointCounts.of_table([[1, 2, 3], [3, np.nan, 4]], PLAIN)
    with refused(CodeError, "table"):
        sp.JointCounts.of_table([[1, 2, 3], [3, 0.5, 4]], PLAIN)
    with pytest.raises(MismatchError, match=r"a row and a column for each subset, \(2, 3\); got \(3, 2\)"):
        sp.JointCounts.of_table([[1, 2], [3, 1], [1, 1]], PLAIN)
    with refused(ArgumentError, "design"):
        sp.JointCounts.of_table([[1, 2]], ASKED)
    with refused(ArgumentError, "design"):
        sp.JointCounts.of_table([[1, 2]], THREE)
    with refused(ArgumentError, "design"):
        sp.JointCounts([3], [4], ASKED)
    with refused(CodeError, "codes"):
        sp.JointCounts.of_table([[5, 1], [0, 2]], BOTH, rows=[3, 3], columns=[5, 10])


def test_arrays_are_read_only():
    table = three()
    for array in (table.codes, table.counts):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_a_table_too_large_to_be_filled(monkeypatch):
    monkeypatch.setattr(joint, "MAX_TABLE", 11)
    assert sp.crosstab(X, Y, designs=[ASKED, V4]).table().size <= 11
    with pytest.raises(TooLargeError):
        three().table()


def test_an_axis_for_each_variable():
    table = three().table()
    # Complete rows only: 0, 1, 6 and 7; row 4 has the full set of z.
    assert table.shape == (3, 3, 2)
    assert table.sum() == 4
    x, y, z = [3, 10, 12], [3, 5, 6], [3, 5]
    for row in (0, 1, 6, 7):
        assert table[x.index(X[row]), y.index(Y[row]), z.index(Z[row])] == 1


# Parts --------------------------------------------------------------------------------------------------------------


def by_code(counts):
    return {code: n for code, n in zip(counts.codes.tolist(), counts.counts.tolist()) if n}


def test_margins_of_all_answers_and_of_complete_rows():
    table = three()
    assert by_code(table.margin("x")) == {3: 3, 5: 1, 10: 1, 12: 1, 15: 2}
    assert by_code(table.margin("x", complete=True)) == {3: 2, 10: 1, 12: 1}
    assert by_code(table.margin("z")) == {3: 4, 5: 1, 6: 2, 7: 1}
    assert table.margin("x").design is ASKED
    assert not isinstance(table.margin("x"), sp.JointCounts)
    assert (table.margin("x").n, table.margin("x").n_missing) == (6, 2)


def test_margins_of_two_variables_are_tables():
    pair = three().margin("x", "y")
    assert isinstance(pair, sp.JointCounts)
    assert by_code(pair) == by_code(sp.crosstab(X, Y, designs=[ASKED, V4]))
    assert (pair.n, pair.n_missing) == (5, 3)
    assert three().margin("x", "y", complete=True).n == 4
    swapped = three().margin("y", "x")
    assert swapped.names == ("y", "x")  # in the order that is asked for
    assert (swapped.table() == pair.table().T).all()
    assert by_code(three().margin("x", "y", "z")) == by_code(three())


def test_a_margin_of_nothing():
    with refused(ArgumentError, "name"):
        three().margin("x", "income")
    for names in ((), ("x", "y", "x")):
        with pytest.raises(ArgumentError):
            three().margin(*names)
    with refused(ArgumentError, "name"):
        three().subsets("income")


# 2 x 2 tables -------------------------------------------------------------------------------------------------------


def looped(codes, designs, i, j):
    """Count people one by one: both, the first only, the second only, neither."""
    out = np.zeros((2, 2))
    for a, b in zip(*codes):
        if any(design.missing_code == code for design, code in zip(designs, (a, b))):
            continue
        one, two = (
            bool(getattr(design, "inner", design).contains(np.array([code]), k)[0])
            for design, code, k in zip(designs, (a, b), (i, j))
        )
        out[1 - one, 1 - two] += 1
    return out


@every_case("designs", [(ASKED, V4), (RECORDED, GIVEN3), (WARNER, ASKED)])
def test_aggregated_tables_are_a_loop_over_people(designs):
    rng = np.random.default_rng(3)
    codes = [rng.choice([*design.support()[0].tolist(), design.missing_code], 60).tolist() for design in designs]
    table = sp.crosstab(*codes, designs=designs)
    result = table.aggregated()
    p, q = (getattr(design, "inner", design).p for design in designs)
    assert result.shape == (p, q, 2, 2)
    for i in range(p):
        for j in range(q):
            assert result[i, j].tolist() == looped(codes, designs, i, j).tolist()


def test_one_aggregated_table_by_its_labels():
    table = sp.crosstab(X, Y, designs=[ASKED, V4])
    assert table.aggregated("a", "r").tolist() == looped((X, Y), (ASKED, V4), 0, 0).tolist()
    assert table.aggregated("d", "s").tolist() == looped((X, Y), (ASKED, V4), 3, 1).tolist()
    with refused(ArgumentError, "x"):
        table.aggregated("a")
    with refused(ArgumentError, "x"):
        table.aggregated(y="r")
    with pytest.raises(CategoryError):
        table.aggregated("a", "nobody")
    with pytest.raises(ArgumentError):
        three().aggregated()


def test_told_values_aggregate_to_the_collapsed_table():
    n = np.array([[10, 2, 3], [4, 7, 2]])
    table = sp.JointCounts.of_table(n, PLAIN)
    two = table.aggregated("b", "s")
    assert two.tolist() == [[7, 6], [2, 13]]


# Sums ---------------------------------------------------------------------------------------------------------------


def test_waves_add_up():
    one = sp.crosstab(X[:5], Y[:5], designs=[ASKED, V4])
    two = sp.crosstab(X[5:], Y[5:], designs=[ASKED, V4])
    whole = one + two
    assert isinstance(whole, sp.JointCounts)
    assert by_code(whole) == by_code(sp.crosstab(X, Y, designs=[ASKED, V4]))
    assert isinstance(sum([one, two]), sp.JointCounts)
    plain = sp.SubsetCounts(two.codes, two.counts, two.design)
    assert by_code(one + plain) == by_code(whole)
    with pytest.raises(TypeError, match="unsupported operand"):
        one + 3


# Output -------------------------------------------------------------------------------------------------------------


def test_printing():
    table = sp.crosstab(X, Y, designs=[ASKED, V4], names=["race", "income"])
    assert str(table) == "\n".join([
        "Reported subsets, race by income, n = 5",
        "---------------------------------",
        "race \\ income  r|s  r|t  s|t  all",
        "---------------------------------",
        "a|b              2    1    0    3",
        "b|d              0    0    1    1",
        "c|d              1    0    0    1",
        "all              3    1    1    5",
        "---------------------------------",
        "Left out because an answer is missing: 3 rows.",
    ])  # fmt: skip


def test_printing_more_than_two_variables_and_many_subsets():
    text = str(three())
    assert text.splitlines()[0] == "Reported subsets, x by y by z, n = 4"
    assert "subsets" in text.splitlines()[2]
    assert "an answer is missing: 4 rows" in text
    large = sp.product({"x": sp.uniform(range(8)), "y": V4})
    table = sp.simulate(large, np.full(32, 1 / 32), 3000, seed=1)
    assert f"The 24 most frequent of {len(table.n_a)} combinations." in str(table)
    rows = [int(line.split()[-1]) for line in str(table).splitlines()[4:28]]
    assert rows == sorted(table.n_a.astype(int).tolist(), reverse=True)[:24]


@pytest.mark.parametrize("engine", ["pandas", "polars"])
def test_data_frames(engine):
    pytest.importorskip(engine)
    frame = sp.crosstab(X, Y, designs=[ASKED, V4], names=["race", "income"]).to_frame(engine=engine)
    assert list(frame.columns) == ["race", "income", "code", "count", "share"]
    rows = set(zip(*(frame[name].to_list() for name in ("race", "income", "count"))))
    complete = {("a|b", "r|s", 2), ("a|b", "r|t", 1), ("b|d", "s|t", 1), ("c|d", "r|s", 1)}
    incomplete = {("a|c", "r|s|t|u", 1), ("a|b|c|d", "t|u", 1), ("a|b|c|d", "r|s|t|u", 1)}
    assert rows == complete | incomplete


def test_joint_counts_are_counts():
    table = sp.simulate(BOTH, np.outer([0.1, 0.2, 0.3, 0.4], [0.4, 0.1, 0.2, 0.3]).ravel(), 5000, seed=1)
    assert isinstance(table, sp.JointCounts)
    fit = sp.estimate(table)
    assert fit.n == 5000
    plain = sp.SubsetCounts(table.codes, table.counts, table.design)
    assert fit.w == pytest.approx(sp.estimate(plain).w)


def test_samples_of_several_variables_are_joint_counts_however_they_come():
    both = sp.product({"x": sp.uniform(range(4)), "y": sp.uniform(range(4))})
    batch = sp.simulate_many(both, np.full(16, 1 / 16), 50, 3, seed=1)
    assert isinstance(batch[0], sp.JointCounts)
    plain = sp.SubsetCounts(batch[1].codes, batch[1].counts, both)
    assert isinstance(plain + batch[0], sp.JointCounts)
    assert isinstance(batch[0] + plain, sp.JointCounts)
    assert (plain + batch[0]).n == 100


def test_a_data_frame_is_read_by_its_labels():
    pandas = pytest.importorskip("pandas")
    plain = sp.product({"income": sp.nonprivate(["low", "high"]), "sex": sp.nonprivate(["m", "f"])})
    sorted_ = pandas.DataFrame([[10, 20], [40, 30]], index=["high", "low"], columns=["f", "m"])
    table = sp.JointCounts.of_table(sorted_, plain)
    assert table.table().tolist() == [[30, 40], [20, 10]]
    assert table.subsets("income") == ["low", "high"]
    numbered = sp.JointCounts.of_table(pandas.DataFrame([[1, 2], [3, 4]]), plain)
    assert numbered.table().tolist() == [[1, 2], [3, 4]]
    pairs = sp.product({"x": sp.uniform(list("abcd")), "y": sp.warner(["no", "yes"])})
    shown = pandas.DataFrame(np.arange(4).reshape(2, 2), index=["c|d", "a|b"], columns=[0, 1])
    assert sp.JointCounts.of_table(shown, pairs).margin("x").subset_shares() == {"a|b": 5 / 6, "c|d": 1 / 6}
    numbers = sp.product({"x": sp.nonprivate([1, 0]), "y": sp.nonprivate([True, False])})
    result = sp.JointCounts.of_table(pandas.DataFrame([[1, 2], [3, 4]], index=[0, 1], columns=[False, True]), numbers)
    assert result.table().tolist() == [[4, 3], [2, 1]]  # by the names 0 and 1, which are no row numbers
    with pytest.raises(MismatchError):
        sp.JointCounts.of_table(sorted_.rename(index={"low": "high"}), plain)
    with pytest.raises(MismatchError):
        sp.JointCounts.of_table(sorted_.rename(index={"low": "none"}), plain)


def test_names_that_are_columns_are_not_printed():
    both = sp.product({"x": sp.uniform(list("abcd")), "y": sp.uniform(list("rstu"))})
    table = sp.simulate(both, np.full(16, 1 / 16), 50, seed=1)
    for call in (table.margin, table.subsets):
        with refused(ArgumentError, "name") as caught:
            call(["secret"] * 9)
        assert "secret" not in str(caught.value)
    with pytest.raises(CategoryError) as caught:
        table.aggregated(["secret"], "r")
    assert "secret" not in str(caught.value)


def test_weighted_tables_say_that_they_are():
    four = sp.uniform(list("abcd"))
    table = sp.crosstab([3, 12, 15], [3, 5, 3], designs=[four, four], weights=[2.0, 2, 2], weights_kind="sampling")
    assert "Weighted: the entries are sums of weights." in str(table)
    assert "an answer is missing: 2 of the weight." in str(table)
