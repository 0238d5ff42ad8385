"""Laws of the tests of independence: what must not matter does not, whatever the table."""

import numpy as np
import pytest
from every_case import every_case
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lopsided import ASKED, GIVEN, GIVEN3, RECORDED, WARNER
from problems import quietly

import subsetprivacy as sp
from subsetprivacy.independence.crossing import cross
from subsetprivacy.independence.statistics import STATISTICS
from subsetprivacy.independence.testing import METHODS

DESIGNS = {"asked": ASKED, "given": GIVEN3, "told": sp.nonprivate(["u", "v", "w"]), "warner": WARNER, "group": RECORDED}
COMMON = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)


def statistic(table, method):
    part = cross(table)
    return float(STATISTICS[method](part.layout, part.counts[None, :])[0])


def asymptotic(table, method):
    return sp.independence_test(table, method, null="asymptotic").asymptotic_pvalue


@st.composite
def people(draw):
    """Codes of two variables, person by person, with at least two subsets of each."""
    pair = [DESIGNS[draw(st.sampled_from(sorted(DESIGNS)))] for _ in range(2)]
    codes = []
    size = draw(st.integers(4, 60))
    for design in pair:
        every = design.support()[0].tolist()
        told = [code for code in every if code != design.missing_code]
        column = draw(st.lists(st.sampled_from(every), min_size=size, max_size=size))
        codes.append([*told[:2], *told[:2], *column])
    return pair, np.array(codes[0]), np.array(codes[1])[np.argsort(np.arange(len(codes[1])) % 2, kind="stable")]


def table_of(pair, x, y):
    return sp.crosstab(x, y, designs=pair)


def enough(table):
    return all(len(table.margin(name, complete=True).observed_codes) > 1 for name in table.names)


def near(value):
    return pytest.approx(value, rel=1e-5, abs=1e-5)


@given(people())
@COMMON
@every_case("method", METHODS)
def test_statistics_are_finite_and_maxima_not_negative(method, drawn):
    table = table_of(*drawn)
    if not enough(table):
        return
    value = statistic(table, method)
    assert np.isfinite(value)
    if method != "lrt-mom":
        assert value >= -1e-9


@given(people())
@COMMON
@every_case("method", METHODS)
def test_either_variable_may_come_first(method, drawn):
    pair, x, y = drawn
    table = table_of(pair, x, y)
    if enough(table):
        assert statistic(table_of(pair[::-1], y, x), method) == near(statistic(table, method))


@given(people(), st.randoms(use_true_random=False))
@COMMON
@every_case("method", METHODS)
def test_the_order_of_people_does_not_matter(method, drawn, random):
    pair, x, y = drawn
    order = list(range(len(x)))
    random.shuffle(order)
    if enough(table_of(pair, x, y)):
        assert statistic(table_of(pair, x[order], y[order]), method) == statistic(table_of(pair, x, y), method)


@given(people(), st.integers(2, 5))
@COMMON
@every_case("method", ["lrt", "pearson", "pearson-conditional", "bonferroni"])
def test_k_times_the_people_give_k_times_the_statistic(method, drawn, k):
    pair, x, y = drawn
    if enough(table_of(pair, x, y)):
        once, often = table_of(pair, x, y), table_of(pair, np.tile(x, k), np.tile(y, k))
        assert statistic(often, method) == pytest.approx(k * statistic(once, method), rel=1e-5, abs=1e-4)


@given(people(), st.integers(1, 3))
@COMMON
@every_case("method", METHODS)
def test_waves_add_up_to_the_whole(method, drawn, cut):
    pair, x, y = drawn
    whole, parts = table_of(pair, x, y), table_of(pair, x[:cut], y[:cut]) + table_of(pair, x[cut:], y[cut:])
    assert parts.codes.tolist() == whole.codes.tolist()
    assert parts.counts.tolist() == whole.counts.tolist()
    if enough(whole):
        assert statistic(parts, method) == statistic(whole, method)


@given(people(), st.integers(0, 2**32))
@COMMON
def test_no_joint_distribution_fits_better_than_the_likelihood_ratio_says(drawn, seed):
    pair, x, y = drawn
    table = table_of(pair, x, y)
    if not enough(table):
        return
    rows = table.incidence.inner(np.eye(table.design.p)).T
    with quietly():  # few people leave several estimates equally likely
        margins = [sp.estimate(table.margin(name, complete=True)).loglik for name in table.names]
    W = np.random.default_rng(seed).dirichlet(np.full(table.design.p, 0.3), size=20)
    fitted = 2 * (table.n_a @ np.log(np.maximum(rows @ W.T, 1e-300)) - sum(margins))
    assert statistic(table, "lrt") >= fitted.max() - 1e-5


RELABELLED = [3, 0, 2, 1]  # the position of each category among the new labels


def moved(codes):
    """The masks of the same subsets, with the categories in another order."""
    return sum(((codes >> j) & 1) << RELABELLED[j] for j in range(4))


@every_case("method", METHODS)
@every_case("design", [ASKED, GIVEN], ids=["asked", "given"])
def test_the_order_of_categories_does_not_matter(method, design):
    codes, mu = design.support()
    labels = [None] * 4
    for j, label in enumerate(design.categories):
        labels[RELABELLED[j]] = label
    renamed = sp.conditional(labels, dict(zip(moved(codes).tolist(), mu.tolist())))
    plain = sp.conditional(list(design.categories), dict(zip(codes.tolist(), mu.tolist())))
    table = sp.simulate(sp.product({"x": plain, "y": GIVEN3}), np.arange(1, 13) / 78, 400, seed=1)
    x, y = table.design.split(table.observed_codes)
    other = sp.product({"x": renamed, "y": GIVEN3})
    same = sp.JointCounts(other.join([moved(x), y]), table.n_a.astype(int), other)
    assert statistic(same, method) == near(statistic(table, method))
    if method != "lrt-mom":
        assert asymptotic(same, method) == near(asymptotic(table, method))


@every_case("method", METHODS)
def test_exact_pvalues_do_not_depend_on_order_or_names(method):
    x, y = [3, 12, 3, 5, 3, 12], [5, 6, 5, 5, 3, 6]
    one = sp.independence_test(sp.crosstab(x, y, designs=[ASKED, GIVEN3]), method)
    two = sp.independence_test(sp.crosstab(y[::-1], x[::-1], designs=[GIVEN3, ASKED], names=["u", "v"]), method)
    assert one.null == two.null == "exact"
    assert one.pvalue == pytest.approx(two.pvalue)


@every_case("method", ["lrt", "pearson", "pearson-conditional", "bonferroni"])
def test_a_table_that_is_the_product_of_its_margins_has_a_statistic_of_zero(method):
    one, two = np.array([6, 2, 4]), np.array([5, 10, 3])
    design = sp.product({"x": sp.nonprivate(["a", "b", "c"]), "y": sp.nonprivate(["r", "s", "t"])})
    table = sp.JointCounts.of_table(np.outer(one, two), design)
    assert statistic(table, method) == pytest.approx(0, abs=1e-6)
