"""`seed=` means the same in every public function that draws."""

import inspect
import warnings
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from every_case import every_case
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError
from subsetprivacy.examples import draw_urn
from subsetprivacy.report.writing import report_html

ABCD = list("abcd")
U4 = sp.uniform(ABCD)
W = [0.4, 0.3, 0.2, 0.1]
VALUES = ABCD * 10
COUNTS, OTHERS = (sp.simulate(U4, W, 300, seed=seed) for seed in (1, 2))
FIVE = sp.simulate(sp.uniform(range(5)), [0.2] * 5, 300, seed=1)
PAIRS = sp.warner(["no", "yes"])
DEPENDENT = np.array([[0.5, 0.0], [0.1, 0.4]])
LONG = sp.independent(range(18), {tuple(range(j, j + 9)): 1 / 9 for j in range(9)})  # simulated: too long to list
TABLE = sp.simulate(sp.product({"x": U4, "y": U4}), np.outer(W, W).ravel(), 200, seed=1)
STRATA = sp.crosstab(
    sp.privatize(sorted(VALUES), U4, seed=1), sp.privatize(VALUES, U4, seed=2), by=["u", "v"] * 20, names=["x", "y"]
)
ASKED = sp.resolve(sp.draw_questions(U4, 40, seed=1), [True] * 40, U4)
FIT = sp.estimate(COUNTS)
SQUARE = sp.simulate(sp.product({"x": PAIRS, "y": PAIRS}), [0.3, 0.2, 0.2, 0.3], 400, seed=1)
SATURATED, INDEPENDENT = (sp.loglinear(SQUARE, model) for model in ("saturated", "independence"))
CLUSTERED = sp.Sampling(clusters=list(range(20)) * 2)
# So few that p-values are from samples.
ASKED_FEW = sp.QuestionCounts(sp.uniform(range(5)), [3, 5, 24, 17, 7], answers=[0, 1, -1, 0, 1], n=[2, 3, 2, 1, 2])
PLACES = sp.QuestionCounts(sp.partition(range(9), 3), answers=[0, 1, 2], n=[4, 6, 2])


def _privatized_table(seed):
    import pandas as pd

    return sp.privatize_table(pd.DataFrame({"x": VALUES}), {"x": U4}, seed=seed)["x"].tolist()


def _prepared_table(seed):
    import pandas as pd

    return sp.prepare(pd.DataFrame({"x": VALUES}), {"x": U4}, seed=seed).run()["x"].tolist()


def _report(seed):
    release = SimpleNamespace(
        path="r.parquet",
        designs={"x": U4, "y": U4},
        rows=200,
        count=TABLE.margin,
        crosstab=lambda *names: TABLE,
        kept=(),
        unique_rows=lambda: 0,
    )
    return report_html(release, permutations=39, seed=seed)


# What each function draws, as something that can be compared.
DRAWS = {
    "impute": lambda seed: sp.impute(ASKED, 2, seed=seed).values.tolist(),
    "privatize": lambda seed: sp.privatize(VALUES, U4, seed=seed).codes.tolist(),
    "privatize_table": _privatized_table,
    "prepare": _prepared_table,
    "ask": lambda seed: [sp.ask(sp.uniform(range(40)), seed=seed).code],
    "draw_questions": lambda seed: sp.draw_questions(U4, 40, seed=seed).tolist(),
    "cover": lambda seed: sp.cover(ASKED, 0.2, seed=seed).codes.tolist(),
    "simulate": lambda seed: sp.simulate(U4, W, 1000, seed=seed).counts.tolist(),
    "simulate_many": lambda seed: sp.simulate_many(U4, W, 1000, 2, seed=seed).counts.tolist(),
    "independence_test": lambda seed: sp.independence_test(TABLE, "pearson", permutations=39, seed=seed).pvalue,
    "conditional_independence_test": lambda seed: (
        sp.conditional_independence_test(STRATA, permutations=39, seed=seed).pvalue
    ),
    "homogeneity_test": lambda seed: sp.homogeneity_test(COUNTS, OTHERS, permutations=39, seed=seed).pvalue,
    "trend_test": lambda seed: sp.trend_test({1: COUNTS, 2: OTHERS}, permutations=39, seed=seed).pvalue,
    "fit_test": lambda seed: sp.fit_test(COUNTS, W, replications=39, seed=seed).pvalue,
    "independence_power": lambda seed: (
        sp.independence_power([PAIRS, PAIRS], DEPENDENT, 60, replications=10, permutations=19, seed=seed).power
    ),
    "repeat_risk": lambda seed: sp.repeat_risk(LONG, times=6, seed=seed).probability,
    "check_honesty": lambda seed: sp.check_honesty(FIVE, method="bootstrap", replications=39, seed=seed).answers.pvalue,
    "check_draws": lambda seed: sp.check_draws(COUNTS, method="bootstrap", replications=39, seed=seed).pvalue,
    "check_skips": lambda seed: sp.check_skips(ASKED_FEW, replications=39, seed=seed).test.pvalue,
    "check_leaning": lambda seed: sp.check_leaning(PLACES, replications=39, seed=seed).test.pvalue,
    "check_all": lambda seed: sp.check_all(ASKED_FEW, seed=seed).to_dict(),
    "findings": lambda seed: sp.findings(ASKED_FEW, seed=seed).to_json(),
    "write_report": _report,
    "draw_urn": lambda seed: draw_urn(40, seed=seed),
    "LogLinear.test": lambda seed: SATURATED.test(bootstrap=19, seed=seed).pvalue.tolist(),
    "LogLinear.compare": lambda seed: SATURATED.compare(INDEPENDENT, bootstrap=19, seed=seed).pvalue.tolist(),
    "Sampling.with_replicates": lambda seed: CLUSTERED.with_replicates(
        "bootstrap", 4, seed=seed
    ).replicate_weights.tolist(),
}


def _bootstrapped(name, seed):
    shown = getattr(FIT, name)(method="bootstrap", replications=20, seed=seed)
    if name == "plot":
        from matplotlib.pyplot import close

        close(shown.figure)
        return str([np.asarray(line.get_xdata()).tolist() for line in shown.lines[:2]])
    return shown.to_json() if hasattr(shown, "to_json") else str(shown)


# An estimate draws for bootstrap intervals, whatever shows them.
DRAWS |= {
    f"Estimate.{name}": partial(_bootstrapped, name)
    for name, method in inspect.getmembers(sp.Estimate, inspect.isfunction)
    if not name.startswith("_") and "seed" in inspect.signature(method).parameters
}


def _is_foreign(function):
    """Tell whether a method is Python's own, of a dict or a string."""
    return inspect.ismethoddescriptor(function) or inspect.isbuiltin(function)


def public_callables():
    """Every public function, and every public method of a public class, by name."""
    for name in sp.__all__:
        thing = getattr(sp, name)
        yield name, thing
        if inspect.isclass(thing):
            for method, function in inspect.getmembers(thing, callable):
                if not method.startswith("_") and not _is_foreign(function):
                    yield f"{name}.{method}", function
    yield "draw_urn", draw_urn


def with_parameter(wanted):
    result = {}
    for name, function in public_callables():
        if not isinstance(function, type) and wanted in inspect.signature(function).parameters:
            result[name] = inspect.signature(function).parameters[wanted]
    return result


def test_every_function_that_draws_is_tried_here():
    assert with_parameter("seed").keys() == DRAWS.keys()
    assert not with_parameter("rng")  # one name for it


def test_a_seed_is_given_by_name_and_left_out_by_default():
    for name, parameter in with_parameter("seed").items():
        assert parameter.kind is inspect.Parameter.KEYWORD_ONLY, name
        assert parameter.default == (0 if name == "repeat_risk" else None), name
        assert "SeedSequence" in str(parameter.annotation) or "Any" in str(parameter.annotation), name


@pytest.mark.parametrize("name", DRAWS)
def test_every_kind_of_seed_repeats_the_draw(name):
    draw = DRAWS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of small samples
        assert draw(7) == draw(np.int64(7))
        assert draw(np.random.SeedSequence(7)) == draw(np.random.SeedSequence(7))
        generator = np.random.default_rng(7)
        first = draw(generator)
        assert first == draw(np.random.default_rng(7))
        assert any(draw(generator) != first for _ in range(5))  # a generator moves on


@every_case("name", DRAWS)
def test_what_is_no_seed_is_refused_in_the_same_words(name):
    # A text is a seed of findings: the seal of a survey's release.
    for wrong in (-1, 1.5, True, [1, 2], *(() if name == "findings" else ("abc",))):
        with refused(ArgumentError, "seed"):
            DRAWS[name](wrong)
