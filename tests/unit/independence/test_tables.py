"""Tables with given margins: all of them, random ones, and those of shuffled rows."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from every_case import every_case
from scipy.stats import chisquare, random_table

import subsetprivacy as sp
from subsetprivacy.errors import BudgetWarning, TooLargeError
from subsetprivacy.independence import crossing, tables
from subsetprivacy.independence.crossing import cross
from subsetprivacy.independence.tables import all_tables, random_tables, shuffled

ROWS, COLUMNS = np.array([3, 4, 1]), np.array([5, 2, 1])
PLAIN = sp.product({"x": sp.nonprivate(list("abc")), "y": sp.nonprivate(list("rst"))})


def by_shuffling(rows, columns):
    """How many of all n! orders of the rows give each table."""
    first, second = np.repeat(range(len(rows)), rows), np.repeat(range(len(columns)), columns)
    result = Counter()
    for order in permutations(second.tolist()):
        table = np.zeros((len(rows), len(columns)), int)
        np.add.at(table, (first, list(order)), 1)
        result[tuple(table.ravel().tolist())] += 1
    return result


def keys(found):
    return [tuple(table.ravel().tolist()) for table in found]


def agrees_with(law, drawn):
    """The p-value of Pearson's test that the draws follow the law, rare tables together."""
    times = Counter(keys(drawn))
    assert set(times) <= set(law)
    observed, expected = np.array([(times[key], len(drawn) * mass) for key, mass in law.items()]).T
    rare = expected < 10
    observed = np.append(observed[~rare], observed[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    kept = expected > 0
    return chisquare(observed[kept], expected[kept]).pvalue


def probabilities_of(rows, columns):
    result, mass = all_tables(rows, columns, 10_000)
    return dict(zip(keys(result), mass.tolist()))


def test_all_tables_are_those_of_all_orders_of_the_rows():
    brute = by_shuffling(ROWS, COLUMNS)
    orders = sum(brute.values())
    law = probabilities_of(ROWS, COLUMNS)
    assert set(law) == set(brute)
    assert [law[key] for key in brute] == pytest.approx([times / orders for times in brute.values()], rel=1e-12)


@every_case(
    ("rows", "columns"), [([7, 2, 3], [1, 4, 2, 5]), ([30, 12], [5, 37]), ([6, 6, 1, 2], [4, 11]), ([9], [2, 3, 4])]
)
def test_all_tables_have_the_margins_and_the_known_probabilities(rows, columns):
    result, law = all_tables(np.array(rows), np.array(columns), 10_000)
    assert (result.sum(axis=2) == rows).all()
    assert (result.sum(axis=1) == columns).all()
    assert len(set(keys(result))) == len(result)
    assert law == pytest.approx(random_table(rows, columns).pmf(result), rel=1e-9)
    assert law.sum() == pytest.approx(1, abs=1e-12)  # so none is left out


def test_a_margin_with_a_zero_has_an_empty_row():
    result, _ = all_tables(np.array([2, 0, 1]), np.array([1, 2]), 100)
    assert sorted(keys(result)) == [(0, 2, 0, 0, 1, 0), (1, 1, 0, 0, 0, 1)]


def test_too_many_tables_are_none():
    number = len(probabilities_of(ROWS, COLUMNS))
    assert len(all_tables(ROWS, COLUMNS, number)[0]) == number
    assert all_tables(ROWS, COLUMNS, number - 1) is None
    assert all_tables(np.full(40, 1000), np.full(40, 1000), 10_000) is None


def test_random_tables_follow_the_law():
    drawn = random_tables(ROWS, COLUMNS, 20_000, np.random.default_rng(1))
    assert drawn.shape == (20_000, 3, 3)
    assert agrees_with(probabilities_of(ROWS, COLUMNS), drawn) > 1e-4


def test_random_tables_follow_the_law_with_a_zero_and_single_rows():
    rows, columns = np.array([0, 5, 1]), np.array([3, 0, 2, 1])
    drawn = random_tables(rows, columns, 5000, np.random.default_rng(2))
    assert agrees_with(probabilities_of(rows, columns), drawn) > 1e-4
    assert random_tables(np.array([6]), columns, 2, np.random.default_rng(1)).tolist() == [[[3, 0, 2, 1]]] * 2


@every_case("rows", [[400, 20, 3, 77], [10**8, 3, 10**7], [999_999_998, 1]])
def test_random_tables_always_have_the_margins(rows):
    columns = np.array([sum(rows) - 17, 12, 5])
    drawn = random_tables(np.array(rows), columns, 50, np.random.default_rng(3))
    assert drawn.min() >= 0
    assert (drawn.sum(axis=2) == rows).all()
    assert (drawn.sum(axis=1) == columns).all()


def test_tables_of_a_thousand_million_people_are_not_drawn():
    plain = sp.product({"x": sp.nonprivate(["a", "b"]), "y": sp.nonprivate(["r", "s"])})
    world = sp.JointCounts.of_table([[4 * 10**9, 3 * 10**9], [2 * 10**9, 10**9]], plain)
    with pytest.warns(BudgetWarning, match="tables of 1,000,000,000 people or more cannot be drawn"):
        result = sp.independence_test(world, "pearson", seed=1)
    assert result.null == "asymptotic"
    assert result.pvalue == result.asymptotic_pvalue < 1e-10
    with pytest.raises(TooLargeError):
        sp.independence_test(world, "lrt-mom", seed=1)


def crossed():
    # Lopsided, and with an empty cell.
    return cross(sp.JointCounts.of_table([[2, 1, 0], [2, 1, 1], [1, 0, 0]], PLAIN))


def test_shuffled_rows_follow_the_law(monkeypatch):
    monkeypatch.setattr(tables, "_PER_ROW", 0.0)  # shuffling rows costs nothing: always done
    monkeypatch.setattr(tables, "random_tables", None)
    drawn = np.concatenate([n for _, n in shuffled(crossed(), 10_000, np.random.default_rng(5))])
    assert drawn.shape == (10_000, 9)
    assert agrees_with(probabilities_of(ROWS, COLUMNS), drawn.astype(int)) > 1e-4


def test_drawn_cells_follow_the_law(monkeypatch):
    monkeypatch.setattr(tables, "_PER_ROW", 1.0)
    monkeypatch.setattr(tables, "_by_shuffling", None)
    monkeypatch.setattr(tables, "_BLOCK", 1 << 10)  # many blocks, the last one smaller
    blocks = [n for _, n in shuffled(crossed(), 10_001, np.random.default_rng(6))]
    assert len({len(n) for n in blocks}) > 1
    drawn = np.concatenate(blocks)
    assert drawn.shape == (10_001, 9)
    assert agrees_with(probabilities_of(ROWS, COLUMNS), drawn.astype(int)) > 1e-4


def test_tables_without_a_grid_follow_the_law(monkeypatch):
    monkeypatch.setattr(crossing, "_GRID", 0)
    drawn = []
    for layout, n in shuffled(crossed(), 5000, np.random.default_rng(7)):
        assert n.shape[0] == 1
        assert n.min() > 0  # only cells that occur
        table = np.zeros((3, 3), int)
        table[layout.at_a, layout.at_b] = n[0]
        drawn.append(table)
    assert len(drawn) == 5000
    assert agrees_with(probabilities_of(ROWS, COLUMNS), drawn) > 1e-4
