"""`power`: the two-sided z test for a difference, by hand, by inversion and by simulation."""

import numpy as np
import pytest
from every_case import every_case
from lopsided import ABCD, ASKED, ASKED5
from problems import quietly
from refusals import refused
from scipy.stats import norm

import subsetprivacy as sp
from subsetprivacy.design import hadamard, partition, warner
from subsetprivacy.errors import ArgumentError, CategoryError, DistributionError, NotIdentifiableError
from subsetprivacy.planning import power
from subsetprivacy.planning.variance import limit_covariance

ONE = np.array([0.4, 0.3, 0.2, 0.1])
TWO = np.array([0.3, 0.3, 0.2, 0.2])


def test_warner_by_hand():
    design = warner(["no", "yes"], q=0.2)
    same = [share * 0.8 + (1 - share) * 0.2 for share in (0.5, 0.4)]
    se = np.sqrt(sum(s * (1 - s) / 0.36 / n for s, n in zip(same, (400, 900))))
    z = norm.ppf(0.975)
    result = power(design, [0.5, 0.5], [0.4, 0.6], 400, 900, category="no")
    assert result.se == pytest.approx(se)
    assert result.difference == pytest.approx(0.1)
    assert result.power == pytest.approx(norm.sf(z - 0.1 / se) + norm.cdf(-z - 0.1 / se))


def test_without_a_difference_the_power_is_the_level():
    assert power(ASKED, ONE, ONE, 500, category="a", alpha=0.1).power == pytest.approx(0.1)


def test_the_sign_does_not_matter():
    there, back = power(ASKED, ONE, TWO, 500, category="a"), power(ASKED, TWO, ONE, 500, category="a")
    assert there.difference == pytest.approx(-back.difference)
    assert there.power == pytest.approx(back.power)


def test_a_second_group_is_as_large_as_the_first_unless_said():
    assert power(ASKED, ONE, TWO, 500, category="a") == power(ASKED, ONE, TWO, 500, 500, category="a")
    assert power(ASKED, ONE, TWO, 500, 5000, category="a").power > power(ASKED, ONE, TWO, 500, category="a").power


def test_a_known_value_has_no_error():
    result = power(ASKED, ONE, 0.3, 500, category="a")
    assert result.se == pytest.approx(np.sqrt(limit_covariance(ASKED, ONE)[0, 0] / 500))
    assert result.n2 == 0
    assert "known value" in str(result.summary())


@pytest.mark.parametrize("weights", [{"a": 1, "d": -1}, [1.0, 0, 0, -1.0]], ids=["by label", "in order"])
def test_contrasts(weights):
    c = np.array([1.0, 0, 0, -1.0])
    result = power(ASKED, ONE, TWO, 700, 300, contrast=weights)
    V1, V2 = (limit_covariance(ASKED, w) for w in (ONE, TWO))
    assert result.difference == pytest.approx(c @ (ONE - TWO))
    assert result.se == pytest.approx(np.sqrt(c @ V1 @ c / 700 + c @ V2 @ c / 300))


@every_case("target", [0.5, 0.8, 0.95])
@every_case("second", [TWO, 0.35], ids=["group", "known"])
def test_the_fewest_people_for_a_power(target, second):
    n = power(ASKED, ONE, second, category="a", target=target).n1
    assert power(ASKED, ONE, second, n, category="a").power >= target
    assert power(ASKED, ONE, second, n - 1, category="a").power < target


def test_groups_take_fewer_people_than_yes_or_no():
    one, two = np.arange(1, 10) / 45, np.full(9, 1 / 9)
    people = [power(partition(range(9), groups=m), one, two, category=8, target=0.8).n1 for m in (2, 3)]
    assert people[1] < 0.7 * people[0]


def test_a_thousand_categories_and_more():
    design = hadamard(range(1100))
    one = np.full(1100, 1 / 1100)
    two = one.copy()
    two[[0, 1]] += 0.1, 0
    two[2:] -= 0.1 / 1098
    result = power(design, one, two, 2000, category=0)
    # Every share has a variance of about 1 - w^2 by a yes/no question about half of the categories.
    assert result.se == pytest.approx(np.sqrt(2 / 2000), rel=0.02)


@every_case(
    ("arguments", "error", "argument"),
    [
        ({"n1": 100}, ArgumentError, "category"),
        ({"n1": 100, "category": "a", "contrast": {"a": 1}}, ArgumentError, "category"),
        ({"n1": 100, "category": "x"}, CategoryError, "label"),
        ({"n1": 100, "contrast": [1, 1, 1, 1]}, ArgumentError, "contrast"),
        ({"n1": 100, "contrast": [1, 2]}, ArgumentError, "contrast"),
        ({"n1": 100, "contrast": {"a": "x"}}, ArgumentError, "contrast"),
        ({"n1": 100, "contrast": {"a": None}}, ArgumentError, "contrast"),
        ({"n1": 100, "contrast": {"a": np.nan}}, ArgumentError, "contrast"),
        ({"n1": 100, "contrast": {"x": 1}}, CategoryError, "label"),
        ({"n1": 100, "contrast": "a"}, ArgumentError, "contrast"),
        ({"n1": 100, "contrast": [[1], [1, 2]]}, ArgumentError, "contrast"),
        ({"n1": 100, "contrast": [1j, 0, 0, 1]}, ArgumentError, "contrast"),
        ({"n1": -5, "category": "a"}, ArgumentError, "n1"),
        ({"n1": 10**400, "category": "a"}, ArgumentError, "n1"),
        ({"n1": 100, "n2": "100", "category": "a"}, ArgumentError, "n2"),
        ({"n1": 0, "category": "a"}, ArgumentError, "n1"),
        ({"category": "a"}, ArgumentError, "n1"),
        ({"n1": 100, "category": "a", "target": 0.8}, ArgumentError, "n1"),
        ({"n2": 100, "category": "a", "target": 0.8}, ArgumentError, "n2"),
        ({"category": "a", "target": 80}, ArgumentError, "target"),
        ({"category": "a", "target": 0.04}, ArgumentError, "target"),
        ({"category": "b", "target": 0.8}, ArgumentError, "target"),
        ({"n1": 100, "category": "a", "alpha": 5}, ArgumentError, "alpha"),
    ],
)
def test_bad_arguments_are_named(arguments, error, argument):
    with refused(error, argument):
        power(ASKED, ONE, TWO, **arguments)


@every_case("value", [np.nan, np.inf, -0.1, 30, True])
def test_a_known_value_is_one_that_a_share_can_have(value):
    with refused(ArgumentError, "w2"):
        power(ASKED, ONE, value, 100, category="a")
    with refused(ArgumentError, "w2"):
        power(ASKED, ONE, -3, 100, contrast={"a": 1, "b": -2})


def test_distributions_are_checked():
    with refused(DistributionError, "w2"):
        power(ASKED, ONE, TWO / 2, 100, category="a")
    with pytest.raises(NotIdentifiableError):
        power(ASKED5, np.full(5, 0.2), np.full(5, 0.2), 100, category="a")


def test_the_test_rejects_as_often():
    design, n1, n2 = sp.uniform(ABCD), 900, 500
    promised = power(design, ONE, TWO, n1, n2, category="a")
    reject = 0
    with quietly():
        for k in range(300):
            fits = [
                sp.estimate(sp.simulate(design, w, n, seed=2 * k + g))
                for g, (w, n) in enumerate([(ONE, n1), (TWO, n2)])
            ]
            z = (fits[0].w[0] - fits[1].w[0]) / np.hypot(fits[0].se[0], fits[1].se[0])
            reject += abs(z) > norm.ppf(0.975)
    assert reject / 300 == pytest.approx(promised.power, abs=0.085)  # three standard errors


def test_looks():
    result = power(ASKED, ONE, TWO, 500, category="a")
    assert str(result.summary()).startswith("Two-sided z test at 5%")
    known = power(ASKED, ONE, 0.2, 500, category="a")
    assert repr(known).startswith(f"<Power {known.power:.4f} with 500 people: difference")


def test_the_picture_goes_through_the_power_that_was_worked_out():
    result = power(ASKED, ONE, TWO, 500, 1000, category="a")
    (line,) = (line for line in result.plot().get_lines() if line.get_label().startswith("two-sided z test: power "))
    n, height = line.get_data()
    more = [power(ASKED, ONE, TWO, round(size), round(2 * size), category="a").power for size in n[[60, 140, 199]]]
    assert height[[60, 140, 199]] == pytest.approx(more, abs=2e-3)
    assert np.interp(500, n, height) == pytest.approx(result.power, abs=1e-3)


@pytest.mark.parametrize("w2", [[0, 1, 0, 0], 0.5], ids=["another one", "known value"])
def test_groups_without_any_spread_have_no_power_to_work_out(w2):
    with refused(ArgumentError, "w1"):
        power(sp.uniform(list("abcd")), [1, 0, 0, 0], w2, n1=100, category="a")


def test_one_group_without_spread_is_compared_with_one_that_has_some():
    result = power(sp.uniform(list("abcd")), [1, 0, 0, 0], [0.7, 0.1, 0.1, 0.1], n1=100, category="a")
    assert 0 < result.se < 1
