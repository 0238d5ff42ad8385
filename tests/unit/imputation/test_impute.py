"""`impute`: draws that follow the posterior, within each person's subset."""

import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from every_case import every_case
from lopsided import ASKED as LOPSIDED
from refusals import refused
from scipy.special import gammaln

import subsetprivacy as sp
from subsetprivacy.data import count_codes
from subsetprivacy.errors import ArgumentError, DistributionError, MismatchError, NoDataError, SubsetPrivacyError
from subsetprivacy.estimation.indicator import rows_of
from subsetprivacy.imputation.augmentation import Augmentation, posterior_shares
from subsetprivacy.imputation.imputing import _categorical

ABCD = list("abcd")
U4 = sp.uniform(ABCD)


def people(n=600, seed=1, design=LOPSIDED, p=(0.4, 0.3, 0.2, 0.1)):
    rng = np.random.default_rng(seed)
    values = rng.choice(design.categories.labels, n, p=p)
    return sp.privatize(values, design, seed=seed), rng.normal(size=n) + (values == design.categories.labels[1])


def allowed(imputed, data):
    """Return whether every drawn value is one that its subset allows."""
    rows = rows_of(data.codes, data.design)
    return all((rows[values, np.arange(len(data))] > 0).all() for values in imputed.values)


@every_case("given", ["nothing", "regression", "ordinal", "corrected", "probabilities", "sets"])
def test_values_lie_within_the_subsets(given):
    data, y = people()
    models = {
        "nothing": lambda: None,
        "regression": lambda: sp.regress(data, {"y": y}),
        "ordinal": lambda: sp.regress(data, {"y": y}, family="ordinal"),
        "corrected": lambda: sp.regress(data, {"y": y}, method="corrected"),
        "probabilities": lambda: np.tile([0.1, 0.2, 0.3, 0.4], (600, 1)),
        "sets": lambda: np.random.default_rng(1).dirichlet(np.ones(4), (3, 600)),
    }
    imputed = sp.impute(data, 3, models[given](), seed=1)
    assert imputed.values.shape == (3, 600)
    assert allowed(imputed, data)
    assert not np.array_equal(imputed.values[0], imputed.values[1])


def test_what_has_no_weight_is_never_drawn():
    class Edge:
        """Uniform numbers at the ends of their range."""

        def __init__(self, u):
            self.u = u

        def random(self, n):
            return np.full(n, self.u)

    q = np.array([[0.0, 0.3, 0.0, 0.7, 0.0], [0.0, 0.0, 1e-300, 0.0, 0.0], [0.1, 0.2, 0.7, 0.0, 0.0]])
    assert _categorical(q, Edge(0.0)).tolist() == [1, 2, 0]
    assert _categorical(q, Edge(np.nextafter(1.0, 0))).tolist() == [3, 2, 2]


def test_draws_follow_bayes_rule():
    data = sp.SubsetData([0b0011, 0b0101, 0b1001] * 4000, sp.uniform(ABCD))
    P = np.tile([0.1, 0.2, 0.3, 0.4], (12000, 1))
    result = sp.impute(data, 2, P, seed=1).values
    for at, pair in enumerate(((0, 1), (0, 2), (0, 3))):
        share = np.mean(result[:, at::3] == pair[1])
        truth = P[0, pair[1]] / P[0, list(pair)].sum()
        assert share == pytest.approx(truth, abs=4 * np.sqrt(truth * (1 - truth) / 8000))


def test_augmentation_has_the_exact_posterior():
    """Against the posterior by enumeration: all values of eight people, each with its Dirichlet."""
    design = sp.fixed_size(range(3), 2)
    codes = np.array([0b011] * 4 + [0b101] * 3 + [0b110])
    weight, mean, square = 0.0, np.zeros(3), np.zeros(3)
    for values in product(*[[j for j in range(3) if code >> j & 1] for code in codes.tolist()]):
        a = np.bincount(values, minlength=3) + 0.5
        each = np.exp(gammaln(a).sum() - gammaln(a.sum()))
        weight, mean = weight + each, mean + each * a / a.sum()
        square = square + each * a * (a + 1) / (a.sum() * (a.sum() + 1))
    mean, square = mean / weight, square / weight
    W = posterior_shares(count_codes(codes, design), 40_000, 0.5, np.random.default_rng(1))
    sd = np.sqrt(square - mean**2)
    assert W.mean(axis=0) == pytest.approx(mean, abs=5 * sd.max() / 200)
    assert W.std(axis=0) == pytest.approx(sd, rel=0.03)


def test_a_step_keeps_the_posterior_of_a_nonprivate_design():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = sp.privatize(["a"] * 30 + ["b"] * 10, sp.nonprivate(["a", "b"]), seed=1)
    chain = Augmentation.of(data.counts(), 0.5)
    W = chain.step(np.full((20_000, 2), 0.5), np.random.default_rng(1))
    assert W[:, 0].mean() == pytest.approx(30.5 / 41, abs=0.002)
    assert W[:, 0].std() == pytest.approx(np.sqrt(30.5 * 10.5 / (41**2 * 42)), rel=0.03)


def test_nonprivate_data_are_imputed_as_they_are():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = sp.privatize(ABCD * 20, sp.nonprivate(ABCD), seed=1)
    imputed = sp.impute(data, 2, seed=1)
    assert (imputed.values == np.tile(np.arange(4), 20)).all()
    assert imputed.shares.between == pytest.approx(0)
    assert imputed.shares.missing == pytest.approx(0)


def test_shares_agree_with_the_estimate():
    data, _ = people(4000, design=U4)
    fit, pooled = sp.estimate(data), sp.impute(data, 200, seed=1).shares
    assert pooled.estimates == pytest.approx(fit.w, abs=0.15 * fit.se.max())
    assert pooled.se == pytest.approx(fit.se, rel=0.15)


def test_people_who_said_nothing_are_imputed_from_their_covariates():
    data, y = people(3000, design=U4)
    codes = data.codes.copy()
    codes[::3] = U4.missing_code
    silent = sp.SubsetData(codes, U4)
    fit = sp.regress(silent, {"y": y})
    imputed = sp.impute(silent, 60, fit, seed=1)
    expected = fit.predict({"y": y[::3]}).estimate.mean(axis=0)
    shares = [np.bincount(values[::3], minlength=4) / 1000 for values in imputed.values]
    assert np.mean(shares, axis=0) == pytest.approx(expected, abs=0.02)


def test_several_variables_are_drawn_together():
    rng = np.random.default_rng(1)
    x = rng.integers(0, 3, 3000)
    y = np.where(rng.random(3000) < 0.9, x, rng.integers(0, 3, 3000))
    design = sp.product({"x": sp.fixed_size(range(3), 2), "y": sp.fixed_size(range(3), 2)})
    table = sp.privatize({"x": x, "y": y}, design, seed=1)
    imputed = sp.impute(table, 5, seed=1)
    assert imputed.columns == ("x_imputed", "y_imputed")
    frame = next(imputed.frames())
    same = np.mean(
        [np.mean(each["x_imputed"].astype(int) == each["y_imputed"].astype(int)) for each in imputed.frames()]
    )
    assert same == pytest.approx(0.9 + 0.1 / 3, abs=0.05)
    for name, column in (("x", frame["x_imputed"]), ("y", frame["y_imputed"])):
        assert (rows_of(table[name].codes, design.by_name()[name])[column.astype(int), np.arange(3000)] > 0).all()


def test_codes_take_the_design_of_the_fit():
    data, y = people()
    fit = sp.regress(data, {"y": y})
    same = [sp.impute(each, 2, fit, seed=3).values for each in (data, data.codes, data.codes.tolist())]
    assert np.array_equal(same[0], same[1])
    assert np.array_equal(same[0], same[2])


def test_fresh_seeds_differ_and_seeds_repeat():
    data, _ = people()
    one, two = (sp.impute(data, 2).values for _ in range(2))
    assert not np.array_equal(one, two)
    one, two = (sp.impute(data, 2, seed=5).values for _ in range(2))
    assert np.array_equal(one, two)


def test_the_formula_names_the_variable():
    data, y = people()
    fit = sp.regress("race ~ y", pd.DataFrame({"race": data.codes, "y": y}), designs={"race": LOPSIDED})
    imputed = sp.impute(data, 2, fit, seed=1)
    assert imputed.columns == ("race_imputed",)
    assert "regression of race on y" in imputed.model
    assert sp.impute(data, 2, fit, name="group", seed=1).columns == ("group_imputed",)


def test_given_probabilities_are_said_to_be_improper():
    data, _ = people()
    P = np.full((600, 4), 0.25)
    assert sp.messages.NoteKind.IMPROPER in [note.kind for note in sp.impute(data, 2, P, seed=1).notes]
    assert [note.kind for note in sp.impute(data, 2, np.stack([P, P]), seed=1).notes] == [sp.NoteKind.IMPUTED]


DATA, Y = people()


@every_case(
    ("arguments", "error", "argument"),
    [
        ({"m": 1}, ArgumentError, "m"),
        ({"prior": 0}, ArgumentError, "prior"),
        ({"prior": "jeffreys"}, ArgumentError, "prior"),
        ({"given": "race"}, ArgumentError, "given"),
        ({"given": np.full((5, 4), 0.25)}, MismatchError, "given"),
        ({"given": np.full((600, 4), 0.3)}, DistributionError, "given"),
        ({"given": np.full((3, 600, 4), 0.25)}, MismatchError, "given"),
        ({"given": np.tile([1.0, 0, 0, 0], (600, 1))}, DistributionError, "given"),
        ({"seed": -1}, ArgumentError, "seed"),
    ],
)
def test_bad_arguments(arguments, error, argument):
    with refused(error, argument):
        sp.impute(DATA, **{"m": 2, **arguments})


def test_fits_must_be_of_these_people():
    fit = sp.regress(DATA, {"y": Y})
    with pytest.raises(MismatchError):
        sp.impute(sp.SubsetData(DATA.codes[::-1], LOPSIDED), 2, fit)
    with pytest.raises(MismatchError):
        sp.impute(sp.SubsetData(DATA.codes[:10], LOPSIDED), 2, fit)
    other, _ = people(design=U4)
    with pytest.raises(MismatchError):
        sp.impute(other, 2, fit)


def test_rows_must_be_people():
    fit = sp.regress(DATA, {"y": Y}, weights=np.full(600, 2), weights_kind="frequency")
    with pytest.raises(ArgumentError, match=r"a row for each person; got rows that represent several people"):
        sp.impute(DATA, 2, fit)


def test_fits_must_be_finite():
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(50):
            data = sp.privatize(rng.choice(ABCD, 60, p=[0.7, 0.28, 0.01, 0.01]), U4, seed=seed)
            fit = sp.regress(data, {"y": rng.normal(size=60)}, starts=1)
            if fit.separated:
                break
    with refused(ArgumentError, "given"):
        sp.impute(data, 2, fit)
    ridge = sp.regress(DATA, {"y": Y}, lasso=1.0)
    with refused(ArgumentError, "given"):
        sp.impute(DATA, 2, ridge)


def test_data_must_say_something_and_be_of_people():
    with pytest.raises(NoDataError):
        sp.impute(sp.SubsetData([15] * 5, U4), 2)
    covered = sp.covered(U4, 0.2)
    with pytest.raises(ArgumentError, match=r"dummy rows have no value"):
        sp.impute(sp.privatize(ABCD * 20, covered, seed=1), 2)
    both = sp.privatize({"x": ABCD, "y": ABCD}, sp.product({"x": U4, "y": U4}), seed=1)
    with refused(ArgumentError, "name"):
        sp.impute(both, 2, name="z")


def test_errors_show_no_person():
    secret = sp.SubsetData([3, 5, 9], sp.uniform(["a", "b", "c", "secret"]))
    P = np.array([[0.25] * 4, [0.0, 1.0, 0.0, 0.0], [0.25] * 4])
    with pytest.raises(SubsetPrivacyError) as caught:
        sp.impute(secret, 2, P)
    assert "secret" not in str(caught.value)
    assert "first in row 1" in str(caught.value)


def test_a_rejected_model_is_told():
    """A line where the value depends on the distance from 0; with its square the model is right."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=6000)
    odds = np.exp(np.c_[2 * x**2 - 2, np.zeros((6000, 3))])
    values = np.array(ABCD)[(odds.cumsum(axis=1) / odds.sum(axis=1, keepdims=True) < rng.random((6000, 1))).sum(axis=1)]
    data = sp.privatize(values, U4, seed=1)
    wrong, right = sp.regress(data, {"x": x}), sp.regress(data, {"x": x, "square": x**2})
    assert wrong.specification.pvalue[0] < 0.01 < right.specification.pvalue[0]
    imputed = sp.impute(data, 2, wrong, seed=1)
    (note,) = [note for note in imputed.notes if note.kind == "specification"]
    assert "rejected (specification test: p" in note.text
    assert "is rejected" in str(imputed.summary())
    assert "specification" not in [note.kind for note in sp.impute(data, 2, right, seed=1).notes]
