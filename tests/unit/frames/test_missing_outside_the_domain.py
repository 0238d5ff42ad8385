"""Rows of weight 0 are not used, so their cells may be missing: the result is that of any other cells there.

Against R's package survey: `tests/unit/sampling/test_against_r.py`.
"""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from every_case import every_case
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, CodeError

pytestmark = pytest.mark.filterwarnings("ignore::subsetprivacy.errors.SubsetPrivacyWarning")
RNG = np.random.default_rng(4)
N = 1200
DESIGN = sp.uniform(list("abcd"))
VALUES = RNG.choice(list("abcd"), N)
CODES = sp.privatize(VALUES, DESIGN, seed=1).codes
X, SEX = RNG.normal(size=N), RNG.choice(["f", "m"], N)
Y = X + (VALUES == "a") + RNG.normal(size=N)
KNOWN = RNG.random(N) < 0.6
H, C = np.repeat(np.arange(12), 100), np.tile(np.repeat(np.arange(5), 20), 12)
W = RNG.uniform(1, 3, N)
FULL = pd.DataFrame({"v": CODES, "x": X, "sex": SEX, "y": Y, "w": W, "h": H, "c": C})
GAPS = FULL.assign(
    v=pd.array(np.where(KNOWN, CODES, 0), "Int64"),
    x=np.where(KNOWN, X, np.nan),
    sex=np.where(KNOWN, SEX, None),
    y=np.where(KNOWN, Y, np.nan),
)
GAPS.loc[~KNOWN, "v"] = pd.NA
WITHIN = sp.Sampling(W, strata=H, clusters=C).within(KNOWN)
ENGINES = {
    "pandas": lambda table: table,
    "polars": pl.from_pandas,
    "pyarrow": lambda table: pa.Table.from_pandas(table, preserve_index=False),
    "dict": lambda table: {name: table[name].to_numpy(None if name != "v" else object) for name in table},
}


def numbers(fit):
    return (fit.mean, fit.se) if hasattr(fit, "mean") else (fit.estimates, np.sqrt(np.diag(fit.cov)))


def same(one, other):
    for mine, theirs in zip(numbers(one), numbers(other), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12)


FORMULAS = [
    "v ~ x + sex",
    "v ~ center(x)",
    "v ~ bs(x, df=4)",
    "y ~ v + x + sex",
    "y ~ v + scale(x)",
    "np.exp(y) ~ v + x",
]


@every_case("engine, formula", [(engine, formula) for engine in ENGINES for formula in FORMULAS])
def test_regressions(engine, formula):
    options = {"designs": {"v": DESIGN}, "sampling": WITHIN, "starts": 1}
    with_gaps = sp.regress(formula, ENGINES[engine](GAPS), **options)
    if "(x" not in formula:  # these transforms depend on the rows that they are made of
        same(with_gaps, sp.regress(formula, FULL, **options))
    alone = sp.regress(formula, FULL[KNOWN], designs={"v": DESIGN}, weights="w", weights_kind="sampling", starts=1)
    np.testing.assert_allclose(with_gaps.estimates, alone.estimates, rtol=1e-5, atol=1e-7)
    adjusted = with_gaps.adjusted("x", values=[0.0, 1.0])
    np.testing.assert_allclose(adjusted.estimate, alone.adjusted("x", values=[0.0, 1.0]).estimate, rtol=1e-5)
    assert np.isfinite(adjusted.se).all()


@every_case("engine", ENGINES)
def test_means(engine):
    wanted = sp.group_means("y", FULL, designs={"v": DESIGN}, by="sex", given=["x"], sampling=WITHIN)
    found = sp.group_means("y", ENGINES[engine](GAPS), designs={"v": DESIGN}, by="sex", given=["x"], sampling=WITHIN)
    assert found.groups == wanted.groups == ("f", "m")
    assert found.n == wanted.n == KNOWN.sum()
    alone = sp.group_means(
        "y", FULL[KNOWN], designs={"v": DESIGN}, by="sex", given=["x"], weights="w", weights_kind="sampling"
    )
    # The working distributions are rounded to those of all rows, which changes the estimates a little.
    for other in (wanted, alone):
        assert (np.abs(found.mean - other.mean) < 0.15 * alone.se).all()
    plain = [sp.group_means("y", each, designs={"v": DESIGN}, by="sex", sampling=WITHIN) for each in (GAPS, FULL)]
    same(*plain)


def test_arrays():
    data = sp.SubsetData(CODES, DESIGN)
    y, x = GAPS["y"].to_numpy(), GAPS["x"].to_numpy()
    same(sp.group_means(y, data, sampling=WITHIN), sp.group_means(Y, data, sampling=WITHIN))
    same(sp.regress(data, {"x": x}, sampling=WITHIN), sp.regress(data, {"x": X}, sampling=WITHIN))
    same(
        sp.regress(y, {"v": data, "x": x}, sampling=WITHIN, offset=x),
        sp.regress(Y, {"v": data, "x": X}, sampling=WITHIN, offset=X),
    )


def test_weights_of_0_are_not_used_either():
    zero = np.where(KNOWN, W, 0.0)
    options = {"designs": {"v": DESIGN}, "weights": "w", "weights_kind": "sampling"}
    for formula in FORMULAS[:4:3]:
        same(
            sp.regress(formula, GAPS.assign(w=zero), starts=1, **options),
            sp.regress(formula, FULL.assign(w=zero), starts=1, **options),
        )
    same(
        sp.group_means("y", GAPS.assign(w=zero), **options),
        sp.group_means("y", FULL.assign(w=zero), **options),
    )


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files(tmp_path, kind):
    zero = np.where(KNOWN, W, 0.0)
    kept = ["x", "sex", "y", "w", "h", "c"]
    for name, table in (("gaps", GAPS), ("full", FULL)):
        sp.write_release(table.assign(v=CODES, w=zero), tmp_path / f"{name}.{kind}", {"v": DESIGN}, keep=kept)
    named = sp.Sampling("w", strata="h", clusters="c")
    gaps, full = tmp_path / f"gaps.{kind}", tmp_path / f"full.{kind}"
    for formula in ("v ~ x + sex", "y ~ v + x + sex", "v ~ center(x)"):
        found = sp.regress(formula, gaps, sampling=named, starts=1)
        table = sp.regress(formula, FULL.assign(w=zero), designs={"v": DESIGN}, sampling=named, starts=1)
        if "(x" not in formula:
            np.testing.assert_allclose(found.estimates, table.estimates, rtol=1e-6, atol=1e-9)
        assert found.degrees_of_freedom == 48
    same(sp.group_means("y", gaps, by="sex", sampling=named), sp.group_means("y", full, by="sex", sampling=named))


def test_levels_outside_are_no_terms():
    table = FULL.assign(sex=np.where(KNOWN, SEX, "other"))
    fit = sp.regress("v ~ sex", table, designs={"v": DESIGN}, sampling=WITHIN, starts=1)
    assert list(fit.columns.names) == ["Intercept", "sex[m]"]


@every_case("column", ["x", "sex", "y", "v"])
def test_cells_inside_must_be_known(column):
    """The message counts the rows that are used, and gives the place of the first."""
    table = GAPS.copy()
    rows = np.flatnonzero(KNOWN)[[7, 20]]
    table.loc[rows, column] = pd.NA if column == "v" else None if column == "sex" else np.nan
    options = {"designs": {"v": DESIGN}, "sampling": WITHIN}
    kind = CodeError if column == "v" else ArgumentError
    for formula in ("v ~ x + sex + y", "y ~ v + x + sex"):
        with pytest.raises(kind) as caught:
            sp.regress(formula, table, **options)
        if column != "v":
            assert f"2 missing values, first in row {rows[0]}." in str(caught.value)
            assert "sampling.within(" in str(caught.value)
    if column == "y":
        with refused(ArgumentError, "y") as caught:
            sp.group_means("y", table, **options)
        assert f"2 numbers that are not, first in row {rows[0]}." in str(caught.value)
        assert "sampling.within(" in str(caught.value)
