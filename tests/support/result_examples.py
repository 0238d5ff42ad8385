"""An example of every result type, for the tests that walk all of them. A type without an example fails a test."""

from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pyarrow as pa

import subsetprivacy as sp

EXAMPLES: dict[str, Callable[[], Any]] = {}


def example(function: Callable[[], Any]) -> Callable[[], Any]:
    """Take a function named after a result type, `subset_counts`, for an example of that type, `SubsetCounts`."""
    EXAMPLES["".join(word.capitalize() for word in function.__name__.split("_"))] = function
    return function


COLORS = ("black", "red", "green", "blue")
SHARES = (0.1, 0.2, 0.3, 0.4)


def colors(n: int = 2000, w: tuple[float, ...] = SHARES, seed: int = 1) -> sp.SubsetCounts:
    """Return counts of a sample of colors."""
    return sp.simulate(sp.uniform(COLORS), w, n, seed=seed)


def pairs(n: int = 2000, seed: int = 1) -> sp.JointCounts:
    """Return counts of two variables that go together."""
    design = sp.product({"x": sp.uniform(COLORS), "y": sp.uniform(["p", "q", "r", "s"])})
    w = [0.13 if i == j else 0.04 for i in range(4) for j in range(4)]
    return sp.simulate(design, w, n, seed=seed)


@example
def subset_data() -> Any:
    answers = ["red", "blue", None, "black"] * 25
    return sp.privatize(answers, sp.uniform(COLORS), seed=1, missing="full")


@example
def subset_table() -> Any:
    design = sp.product({"x": sp.uniform(COLORS), "y": sp.uniform(["p", "q", "r", "s"])})
    values = {"x": ["red", "blue", None, "black"] * 25, "y": ["p", "q", "q", "s"] * 25}
    return sp.privatize(values, design, seed=1, missing="full")


@example
def subset_counts() -> Any:
    data = subset_data()
    return sp.count(data, weights=[1.0, 0.5] * 50, weights_kind="sampling")


@example
def joint_counts() -> Any:
    return subset_table().counts()


@example
def counts_batch() -> Any:
    return sp.simulate_many(sp.uniform(COLORS), SHARES, 100, 30, seed=1)


@example
def grouped_counts() -> Any:
    import pandas as pd

    said = subset_data()
    table = pd.DataFrame({"color": said.codes, "sex": ["f", "m", "f", "m"] * 25, "year": [2024, 2024, 2025, 2025] * 25})
    return sp.count(table, "color", design=said.design, by=["sex", "year"])


@example
def estimate() -> Any:
    return sp.estimate(colors())


# Multiple imputation


@example
def imputations() -> Any:
    return sp.impute(subset_data(), 5, name="color", seed=1)


@example
def pooled() -> Any:
    return sp.pool([{"intercept": (1.0, 0.2), "age": (0.5 + k / 10, 0.1)} for k in range(5)], df=40)


@example
def pooled_test() -> Any:
    return sp.pool([([1.0, 0.5 + k / 10], [[0.04, 0.0], [0.0, 0.01]]) for k in range(5)], names=["x", "z"]).test()


# Planning


@example
def effect_power() -> Any:
    return sp.predictor_power(sp.uniform(COLORS), SHARES, category="red", difference=0.3, target=0.8)


@example
def plan() -> Any:
    return sp.plan(COLORS, margin=0.05, w=SHARES, groups=2)


@example
def plan_option() -> Any:
    return sp.plan(5, margin=0.05, category=3).best


@example
def power() -> Any:
    return sp.power(sp.uniform(COLORS), SHARES, (0.2, 0.1, 0.3, 0.4), n1=1000, category="red")


@example
def independence_power() -> Any:
    designs = {"x": sp.uniform(COLORS), "y": sp.uniform(["p", "q", "r", "s"])}
    W = [[0.13 if i == j else 0.04 for j in range(4)] for i in range(4)]
    return sp.independence_power(designs, W, target=0.8, compare=True)


@example
def power_of_test() -> Any:
    return independence_power().test


@example
def repeat_risk() -> Any:
    return sp.repeat_risk(sp.uniform(COLORS), SHARES)


@example
def optimum() -> Any:
    return sp.optimal(COLORS, w=SHARES, budget={"mi": 0.9})


@example
def frontier() -> Any:
    return sp.frontier(COLORS, SHARES, points=3, kind="conditional")


@example
def margin() -> Any:
    return sp.estimate(pairs()).margin("x")


@example
def contrast() -> Any:
    return sp.estimate(colors()).contrast({"red": 1, "black": -1}, null=0.05, alternative="greater")


@example
def difference() -> Any:
    # The second sample is small and lacks a color, so that there are notes.
    other = colors(n=100, w=(0.0, 0.02, 0.3, 0.68), seed=2)
    return sp.estimate(colors()).difference(sp.estimate(other), names=("2025", "2024"))


@example
def comparison() -> Any:
    waves = {2023: colors(seed=1), 2024: colors(seed=2), 2025: colors(w=(0.2, 0.2, 0.3, 0.3), seed=3)}
    return sp.compare({year: sp.estimate(counts) for year, counts in waves.items()})


@example
def estimate_batch() -> Any:
    return sp.estimate_many({"f": colors(seed=1), "m": colors(n=60, w=(0.0, 0.0, 0.3, 0.7), seed=2)})


@example
def fit_test() -> Any:
    return sp.fit_test(colors(), [0.25, 0.25, 0.25, 0.25], replications=99, seed=1)


@example
def association() -> Any:
    return sp.association(pairs())


@example
def conditional_shares() -> Any:
    return sp.association(pairs()).conditional(given="y")


@example
def measure() -> Any:
    # Of independent variables: V is near 0, so that the measure has notes.
    design = sp.product({"x": sp.uniform(COLORS), "y": sp.warner(["no", "yes"])})
    return sp.association(sp.simulate(design, [1 / 8] * 8, 500, seed=1)).cramers_v()


@example
def privatize_plan() -> Any:
    table = pa.table({"color": ["red", "blue"] * 50, "year": [2025] * 100})
    return sp.prepare(table, {"color": sp.uniform(COLORS)}, Path(mkdtemp()) / "colors.csv", keep=["year"], seed=1)


@example
def release() -> Any:
    design = sp.uniform(COLORS)
    data = sp.privatize(["red", "blue", "blue"] * 20, design, seed=1)
    table = pa.table({"color": data.codes, "year": [2024] * 60})
    return sp.write_release(table, Path(mkdtemp()) / "colors.csv", {"color": design}, keep=["year"])


@example
def independence_result() -> Any:
    return sp.independence_test(pairs(), permutations=99, seed=1)


@example
def pair_tests() -> Any:
    return sp.independence_test(pairs(), "bonferroni", permutations=99, seed=1).pairs


@example
def trend_result() -> Any:
    waves = {year: colors(400, shares, seed=year) for year, shares in ((2023, SHARES), (2024, SHARES[::-1]))}
    return sp.trend_test(waves, permutations=99, seed=1)


def answers() -> sp.HonestyCheck:
    """Return a check of five categories, where a fifth of the people answer by chance and counts are small."""
    design = sp.uniform(["a", "b", "c", "d", "e"])
    honest = sp.simulate(design, [0.35, 0.05, 0.2, 0.3, 0.1], 80, seed=1)
    random = sp.SubsetCounts(design.support()[0], [1] * len(design.support()[0]), design)
    return sp.check_honesty(honest + random, replications=19, seed=1)


@example
def honesty_check() -> Any:
    return answers()


@example
def goodness_of_fit() -> Any:
    return answers().answers


@example
def random_answers() -> Any:
    return answers().random


@example
def residuals() -> Any:
    return answers().residuals


def asked() -> sp.QuestionCounts:
    """Return questions about colors, some skipped."""
    shown, answers = [3, 3, 12, 12, 5, 5, 9, 3], [0, 1, 0, 1, 0, 1, 0, -1]
    return sp.QuestionCounts(sp.uniform(COLORS), shown, answers=answers, n=[90, 60, 70, 80, 95, 85, 60, 9])


@example
def question_counts() -> Any:
    return asked()


@example
def draws_check() -> Any:
    return sp.check_draws(asked())


@example
def skips_check() -> Any:
    return sp.check_skips(asked())


@example
def leaning_check() -> Any:
    return sp.check_leaning(asked())


@example
def checks() -> Any:
    return sp.check_all({"color": asked().counts(), "other": colors()}, {"color": asked()})


@example
def audit() -> Any:
    return sp.audit(colors())


@example
def covariate_leakage() -> Any:
    data = sp.privatize(["red", "blue", "blue", "black"] * 10, sp.uniform(COLORS), seed=1)
    rows = [[0.05, 0.9, 0.03, 0.02], [0.02, 0.04, 0.04, 0.9], SHARES, [0.4, 0.3, 0.2, 0.1]] * 10
    return sp.audit(data, given=rows).given


@example
def table_audit() -> Any:
    return sp.audit(pairs())


@example
def person_leakage() -> Any:
    data = sp.privatize(["red", "blue", "blue", "black"] * 10, sp.uniform(COLORS), seed=1)
    return sp.person_leakage(data, SHARES)


@example
def findings() -> Any:
    table = sp.privatize(
        {"x": ["red", "blue", "blue", "black"] * 50, "y": ["p", "q", "q", "s"] * 50},
        sp.product({"x": sp.uniform(COLORS), "y": sp.uniform(["p", "q", "r", "s"])}),
        seed=1,
    )
    return sp.findings({"x": table["x"]}, earlier={"x": colors()}, questions={"x": asked()})


# Classifiers


def classified() -> tuple[sp.SubsetData, Any, Any]:
    """Return a test set with a rare color, so that there are notes, and the probabilities of two classifiers."""
    import numpy as np

    rng = np.random.default_rng(1)
    values = rng.choice(4, size=800, p=[0.01, 0.29, 0.3, 0.4])
    one, two = (share * np.eye(4)[values] + (1 - share) * rng.dirichlet(np.ones(4), size=800) for share in (0.5, 0.3))
    return sp.privatize([COLORS[x] for x in values], sp.uniform(COLORS), seed=1), one, two


def incomes(n: int = 3000) -> Any:
    """Return an outcome, subsets of the groups that it differs between, and a known group."""
    rng = np.random.default_rng(1)
    color = rng.choice(4, size=n, p=[0.1, 0.2, 0.3, 0.4])
    data = sp.privatize([COLORS[k] for k in color], sp.uniform(COLORS), seed=1)
    return 10.0 * color + rng.normal(0, 5, size=n), data, rng.choice(["f", "m"], size=n)


@example
def group_means() -> Any:
    y, data, sex = incomes()
    return sp.group_means(y, data, by={"sex": sex}, model="normal")


@example
def mean_differences() -> Any:
    y, data, _ = incomes()
    return sp.group_means(y, data).differences()


@example
def evaluation() -> Any:
    data, proba, _ = classified()
    return sp.evaluate(data, proba=proba)


@example
def evaluation_comparison() -> Any:
    data, proba, other = classified()
    return sp.evaluate(data, proba=proba, compare=other, names=("new", "old"))


@example
def calibration_curve() -> Any:
    return evaluation().calibration


@example
def confusion_matrix() -> Any:
    return evaluation().confusion


# Regressions


@example
def regression() -> Any:
    import numpy as np

    rng = np.random.default_rng(1)
    age, sex = rng.integers(18, 80, 600), rng.choice(["f", "m"], 600)
    values = [COLORS[k] for k in rng.choice(4, 600, p=SHARES)]
    table = {"age": age, "sex": sex, "color": sp.privatize(values, sp.uniform(COLORS), seed=1).codes}
    return sp.regress("color ~ age + sex", table, designs={"color": sp.uniform(COLORS)})


@example
def outcome_regression() -> Any:
    import numpy as np

    rng = np.random.default_rng(2)
    values = rng.choice(4, 600, p=SHARES)
    age = rng.integers(18, 80, 600)
    income = 10 + 0.1 * age + values + rng.normal(size=600)
    codes = sp.privatize([COLORS[k] for k in values], sp.uniform(COLORS), seed=1).codes
    table = {"income": income, "age": age, "color": codes}
    return sp.regress("income ~ age + color", table, designs={"color": sp.uniform(COLORS)})


@example
def model_tests() -> Any:
    return regression().test()


@example
def prediction() -> Any:
    return regression().adjusted("sex")


@example
def marginal_effects() -> Any:
    return regression().effects()


# Tables of many columns


@example
def log_linear() -> Any:
    three = sp.product(
        {"color": sp.uniform(COLORS), "vote": sp.warner(["no", "yes"], 0.7), "sex": sp.nonprivate(["f", "m"])}
    )
    shares = [color * vote * 0.5 for color in SHARES for vote in (0.6, 0.4) for _ in range(2)]
    return sp.loglinear(sp.simulate(three, shares, 3000, seed=1), "[color vote][vote sex]")


@example
def fitted_shares() -> Any:
    return log_linear().shares("color", "vote")


@example
def odds_ratios() -> Any:
    return log_linear().odds_ratios("color", "vote")


# Known margins


@example
def raked() -> Any:
    people = {"sex": ["f", "m", "m", "f", "m"] * 40, "age": ["old", "young", "old", "young"] * 50}
    return sp.rake(people, {"sex": {"f": 520, "m": 480}, "age": {"old": 0.4, "young": 0.6}})
