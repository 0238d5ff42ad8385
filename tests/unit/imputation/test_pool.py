"""`pool`: Rubin's rules against hand formulas and statsmodels."""

import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from every_case import every_case
from refusals import refused
from scipy import stats
from statsmodels.imputation.mice import MICE, MICEData

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, MismatchError

rng = np.random.default_rng(3)
M, K = 6, 3
ESTIMATES = rng.normal(size=(M, K)) * 0.2 + [1.0, 0.0, -0.5]
COVS = np.array([np.diag([0.04, 0.05, 0.06]) + 0.01 * (1 + k / 10) for k in range(M)])
NAMES = ["a", "b", "c"]


def pooled(**options):
    return sp.pool(list(zip(ESTIMATES, COVS)), names=NAMES, **options)


def test_rubins_rules_by_hand():
    one = pooled()
    for k in range(K):
        q, u = ESTIMATES[:, k], COVS[:, k, k]
        W, B = u.mean(), q.var(ddof=1)
        T = W + (1 + 1 / M) * B
        r = (1 + 1 / M) * B / W
        df = (M - 1) * (1 + 1 / r) ** 2
        assert one.estimates[k] == pytest.approx(q.mean())
        assert one.se[k] == pytest.approx(np.sqrt(T))
        assert one.relative_increase[k] == pytest.approx(r)
        assert one.df[k] == pytest.approx(df)
        assert one.missing[k] == pytest.approx((r + 2 / (df + 3)) / (r + 1))
        assert one.pvalues[k] == pytest.approx(2 * stats.t.sf(abs(q.mean()) / np.sqrt(T), df))
        assert one.interval(0.9)[k] == pytest.approx(stats.t(df, q.mean(), np.sqrt(T)).interval(0.9))
        assert one.interval(method="normal")[k] == pytest.approx(stats.norm(q.mean(), np.sqrt(T)).interval(0.95))


def test_barnard_and_rubin_by_hand():
    one = pooled(df=40)
    for k in range(K):
        W, B = COVS[:, k, k].mean(), ESTIMATES[:, k].var(ddof=1)
        share = (1 + 1 / M) * B / (W + (1 + 1 / M) * B)
        old, seen = (M - 1) / share**2, 41 / 43 * 40 * (1 - share)
        assert one.df[k] == pytest.approx(old * seen / (old + seen))
    assert (one.df < pooled().df).all()
    assert (one.df < 40).all()
    assert pooled(df=1e12).df == pytest.approx(pooled().df)


def test_d1_by_hand():
    one = pooled()
    for names in (["a", "c"], ["a", "b", "c"], ["b"]):
        at = [NAMES.index(name) for name in names]
        k, U, B = len(at), COVS.mean(axis=0)[np.ix_(at, at)], np.cov(ESTIMATES[:, at].T).reshape(len(at), -1)
        Q = ESTIMATES[:, at].mean(axis=0)
        r = (1 + 1 / M) * np.trace(B @ np.linalg.inv(U)) / k
        D = Q @ np.linalg.inv(U) @ Q / (k * (1 + r))
        t = k * (M - 1)
        nu = 4 + (t - 4) * (1 + (1 - 2 / t) / r) ** 2
        test = one.test(names)
        assert (test.statistic, test.df, test.denominator_df) == pytest.approx((D, k, nu))
        assert test.pvalue == pytest.approx(stats.f.sf(D, k, nu))
        assert test.relative_increase == pytest.approx(r)


def test_d1_of_few_sets():
    one = sp.pool(list(zip(ESTIMATES[:2], COVS[:2])), names=NAMES)
    U, Q = COVS[:2].mean(axis=0)[:2, :2], ESTIMATES[:2, :2].mean(axis=0)
    r = 1.5 * np.trace(np.cov(ESTIMATES[:2, :2].T) @ np.linalg.inv(U)) / 2
    assert one.test(["a", "b"]).denominator_df == pytest.approx(2 * 1.5 * (1 + 1 / r) ** 2 / 2)
    assert one.test(["a", "b"]).statistic == pytest.approx(Q @ np.linalg.inv(U) @ Q / (2 * (1 + r)))


def test_one_parameter_is_tested_as_by_t_where_sets_are_many():
    wide = sp.pool([(q, 0.04) for q in rng.normal(0.3, 0.1, 4000)])
    assert wide.test().pvalue == pytest.approx(wide.pvalues[0], rel=0.01)


def test_mice_of_statsmodels_agrees():
    """Its MI results have the same pooled estimates and covariance."""
    frame = pd.DataFrame(rng.normal(size=(200, 2)), columns=["x", "z"])
    frame["y"] = frame["x"] + rng.normal(size=200)
    frame.loc[:40, "x"] = np.nan
    np.random.seed(0)  # noqa: NPY002  # statsmodels draws from it
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mice = MICE("y ~ x + z", sm.OLS, MICEData(frame))
        theirs = mice.fit(2, 8)
    ours = sp.pool(mice.results_list)
    assert ours.estimates == pytest.approx(theirs.params)
    assert ours.cov == pytest.approx(theirs.cov_params())
    assert ours.names == ("Intercept", "x", "z")
    assert ours.complete_df == 197


def test_sets_that_agree_add_nothing():
    fit = smf.ols("y ~ x", pd.DataFrame({"x": rng.normal(size=30), "y": rng.normal(size=30)})).fit()
    one = sp.pool([fit, fit, fit])
    assert one.se == pytest.approx(fit.bse.to_numpy())
    assert one.missing == pytest.approx(2 / (one.df + 3))
    assert one.df == pytest.approx(29 / 31 * 28)
    assert one.test().pvalue == pytest.approx(stats.chi2.sf(fit.tvalues.iloc[1] ** 2, 1), rel=1e-6)
    assert sp.pool([(1.0, 0.0), (1.0, 0.0)]).interval().tolist() == [[1.0, 1.0]]


# Fits of any library ------------------------------------------------------------------------------


def test_a_table_of_parameters_is_read_as_its_covariance_is():
    X = sm.add_constant(pd.DataFrame({"x": rng.normal(size=400)}))
    y = rng.integers(0, 3, 400)
    fit = sm.MNLogit(y, X).fit(disp=0)
    one = sp.pool([fit, fit])
    assert one.estimates == pytest.approx(np.asarray(fit.params).ravel(order="F"))
    assert one.se == pytest.approx(np.asarray(fit.bse).ravel(order="F"))
    assert one.names == ("1: const", "1: x", "2: const", "2: x")


def test_arrays_of_statsmodels_have_the_names_of_their_model():
    fit = sm.OLS(rng.normal(size=20), sm.add_constant(rng.normal(size=(20, 2)))).fit()
    assert sp.pool([fit, fit]).names == ("const", "x1", "x2")
    assert sp.pool([fit, fit]).test().names == ("x1", "x2")


def test_other_libraries_by_their_attributes():
    names = pd.Index(["x", "z"])
    params, cov = pd.Series([1.0, 2.0], names), pd.DataFrame([[0.5, 0.1], [0.1, 0.4]], names, names)
    linearmodels = SimpleNamespace(params=params, cov=cov, df_resid=12)
    lifelines = SimpleNamespace(params_=params, variance_matrix_=cov)
    errors = SimpleNamespace(params=params, bse=pd.Series([0.5, 0.4], names))
    assert sp.pool([linearmodels] * 2).complete_df == 12
    assert sp.pool([lifelines] * 2).cov == pytest.approx(cov.to_numpy())
    assert sp.pool([lifelines] * 2).names == ("x", "z")
    assert sp.pool([errors] * 2).se == pytest.approx([0.5, 0.4])


def test_our_own_results():
    data = sp.privatize(rng.choice(list("abcd"), 500), sp.uniform(list("abcd")), seed=1)
    estimate, fit = sp.estimate(data), sp.regress(data, {"x": rng.normal(size=500)})
    assert sp.pool([estimate] * 2).names == ("a", "b", "c", "d")
    assert sp.pool([estimate] * 2).se == pytest.approx(estimate.se)
    one = sp.pool([fit] * 2)
    assert one.se == pytest.approx(fit.se.ravel())
    assert one.names[1].endswith(": x")
    assert sp.pool([one, one]).estimates == pytest.approx(one.estimates)


def test_pairs_and_mappings():
    assert sp.pool([(1, 4), (3, 4)]).cov == pytest.approx(4 + 1.5 * 2)
    assert sp.pool([([1, 2], [4, 9]), ([1, 2], [4, 9])]).se == pytest.approx([2, 3])
    one = sp.pool([{"x": (1, 2), "z": (2, 3)}] * 2)
    assert one.names == ("x", "z")
    assert one.se == pytest.approx([2, 3])
    assert sp.pool([{"x": (1, 2)}] * 2).test().statistic == pytest.approx(0.25)
    assert sp.pool(iter([(1, 4), (3, 4)])).m == 2


def test_few_sets_are_noted():
    few, many = sp.pool([(0, 1), (3, 1)]), sp.pool([(k % 2, 1) for k in range(60)])
    assert [note.kind for note in few.notes] == [sp.NoteKind.MORE_SETS]
    assert not many.notes


@every_case(
    ("fits", "error", "argument"),
    [
        ([(1, 1)], ArgumentError, "fits"),
        ([], ArgumentError, "fits"),
        ("fits", ArgumentError, "fits"),
        (7, ArgumentError, "fits"),
        ([(1, 1), (1, 1, 1)], ArgumentError, None),
        ([(1, 1), object()], ArgumentError, None),
        ([SimpleNamespace(params=[1.0])] * 2, ArgumentError, None),
        ([{"x": (1, 1)}, {"x": (1, 1), "y": (1, 1)}], MismatchError, None),
        ([{"x": (1, 1)}, {"x": 1}], ArgumentError, None),
        ([([1, 2], np.eye(2)), ([1], [1])], MismatchError, None),
        ([([1, 2], [1, 1, 1])] * 2, MismatchError, None),
        ([(np.eye(2), 1)] * 2, MismatchError, None),
        ([(1, 1), (np.nan, 1)], ArgumentError, None),
        ([(1, 1), (1, -1)], ArgumentError, None),
        ([("a", 1)] * 2, ArgumentError, None),
        ([SimpleNamespace(params=[1.0, 2.0], cov=np.eye(3))] * 2, MismatchError, None),
    ],
)
def test_bad_fits(fits, error, argument):
    with refused(error, argument):
        sp.pool(fits)


def test_bad_arguments():
    with refused(MismatchError, "names"):
        sp.pool(list(zip(ESTIMATES, COVS)), names=["a", "a", "b"])
    with refused(ArgumentError, "df"):
        pooled(df=0)
    with refused(ArgumentError, "names"):
        pooled().test("d")
    with pytest.raises(ArgumentError):
        sp.pool([([1, 2], [1, 1])] * 2).test()
    with pytest.raises(ArgumentError):
        sp.pool([([1, 2], np.ones((2, 2)))] * 2).test()
    with refused(ArgumentError, "names"):
        sp.pool([{"Intercept": (1, 1)}] * 2).test()
    with refused(ArgumentError, "method"):
        pooled().interval(method="profile")
