"""How near the two methods of a private response come to the fit to the values, on real data and with wrong models.

Each sample draws people of a public data set with replacement, and their subsets. The target is the fit to the values
of all people. Run it to print the tables of `docs/measured-levels.md`. It needs statsmodels, and R with carData and
survey.
"""

import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import statsmodels.api as sm

import subsetprivacy as sp

FROM_R = """
library(carData); suppressMessages(library(survey)); data(nhanes)
for (name in c("Chile", "BEPS", "WVS", "GSSvocab", "nhanes"))
    write.csv(get(name), file.path(commandArgs(TRUE), paste0(name, ".csv")), row.names = FALSE)
"""
HEALTH, PARTY = ("poor", "fair", "good", "excellent"), ("Democrat", "independent", "Republican")


def read_sets():
    """Return the name of each model with its table, formula, and the order of the categories, if they have one."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["Rscript", "-e", FROM_R, folder], check=True, capture_output=True)
        r = {path.stem: pd.read_csv(path).dropna() for path in Path(folder).glob("*.csv")}
    fair, anes, rand = (
        getattr(sm.datasets, name).load_pandas().data.dropna() for name in ("fair", "anes96", "randhie")
    )
    fair = fair.assign(affair=(fair.affairs > 0) * 1.0)
    rand = rand.iloc[::3]
    health = np.select([rand.hlthp > 0, rand.hlthf > 0, rand.hlthg > 0], HEALTH[:3], HEALTH[3])
    beps = r["BEPS"].rename(columns=lambda name: name.replace(".", "_"))
    wvs, gss = r["WVS"], r["GSSvocab"].iloc[::4]
    about = "age + yrs_married + children + educ + affair"
    found = {
        "fair, rating of the marriage": (
            fair, fair.rate_marriage.astype(int).astype(str), f"{about} + religious", list("12345")
        ),
        "fair, religious": (fair, fair.religious.astype(int).astype(str), f"{about} + rate_marriage", list("1234")),
        "Chile, vote": (
            r["Chile"].assign(income=r["Chile"].income / 1e4), r["Chile"].vote,
            "age + C(sex) + C(education) + income + statusquo", None,
        ),
        "BEPS, vote": (
            beps, beps.vote,
            "age + economic_cond_national + Blair + Hague + Kennedy + Europe + political_knowledge", None,
        ),
        "WVS, poverty": (
            wvs, wvs.poverty, "C(religion) + C(degree) + C(country) + age + C(gender)",
            ["Too Little", "About Right", "Too Much"],
        ),
        "randhie, health": (
            rand, pd.Series(health, rand.index), "lncoins + idp + lpi + fmde + physlm + disea + mdvis", list(HEALTH)
        ),
        "anes96, party": (
            anes, pd.Series(np.array(PARTY)[np.digitize(anes.PID, [1.5, 4.5])], anes.index),
            "logpopul + selfLR + age + educ + income", list(PARTY),
        ),
        "nhanes, race": (r["nhanes"], r["nhanes"].race.astype(str), "HI_CHOL + C(agecat) + RIAGENDR", None),
        "GSS, education": (
            gss, gss.educGroup, "age + vocab + C(gender) + C(nativeBorn)",
            ["<12 yrs", "12 yrs", "13-15 yrs", "16 yrs", ">16 yrs"],
        ),
    }  # fmt: skip
    return {
        name: (table.assign(response=response), formula, order)
        for name, (table, response, formula, order) in found.items()
    }


def wrong_models(n, seed=1):
    """Return models that leave something out, with very many people to draw from."""
    rng = np.random.default_rng(seed)
    x, v = rng.standard_normal((2, n))
    z = rng.integers(0, 2, n)
    slopes = np.linspace(0, 1, 4)[:, None]
    truths = {
        "a square is left out": 0.5 * slopes * x + np.array([0, 1, 0, 0.5])[:, None] * (x**2 - 1),
        "an interaction is left out": slopes * x
        + 0.5 * z * np.array([0, 1, 0, 1])[:, None]
        + np.array([0, 1, -1, 0.5])[:, None] * x * z,
        "exp(x) instead of x": 1.5 * slopes[::-1] * np.minimum(np.exp(x), 6),
        "a strong covariate is left out": slopes * x + 2.5 * slopes[[0, 2, 1, 3]] * v,
    }
    for name, U in truths.items():
        P = np.exp(U - U.max(axis=0))
        values = ((P / P.sum(axis=0)).cumsum(axis=0) > rng.random(n)).argmax(axis=0)
        yield name, pd.DataFrame({"x": x, "z": z, "response": np.array(list("abcd"))[values]})


def measured(table, formula, order, *, people=None, samples=200, family="logit"):
    """Return what the samples say of the likelihood and of the default: a dict for each, and how often tests reject."""
    labels = sorted(table.response.unique()) if order is None else order
    design = sp.uniform(labels) if len(labels) > 3 else sp.fixed_size(labels, 2)
    base = {"baseline": table.response.mode()[0]} if family == "logit" else {}
    ask = {"family": family, "starts": 1, **base}

    def fit(values, drawn, **options):
        codes = sp.privatize(values.response.to_numpy(), drawn, seed=rng).codes
        return sp.regress(
            f"response ~ {formula}", values.assign(response=codes), designs={"response": drawn}, **ask, **options
        )

    rng = np.random.default_rng(5)
    target = fit(table, sp.nonprivate(labels)).estimates
    found = {"ml": [], None: []}
    rejected, without = [], 0
    for _ in range(samples):
        chosen = table.iloc[rng.integers(0, len(table), people or len(table))]
        state = rng.bit_generator.state
        for method, fits in found.items():
            rng.bit_generator.state = state  # the same subsets
            made = fit(chosen, design, method=method)
            fits.append((made.estimates, made._se("auto")))
            if method == "ml":
                rejected.append(made.specification.pvalue[0] < 0.05)
            else:
                without += made.has_no_corrected_solution
    result = {}
    for method, fits in found.items():
        estimates, errors = np.moveaxis(np.array(fits), 1, 0)
        estimates = np.where(np.isfinite(estimates) & np.isfinite(errors), estimates, np.nan)
        apart = estimates - target
        covered = np.where(np.isnan(apart), np.nan, np.abs(apart) < 1.96 * errors)
        result[method or "default"] = {
            "bias": np.abs(np.nanmean(apart, axis=0) / np.nanmedian(errors, axis=0)).max(),
            "coverage": np.nanmean(covered, axis=0),
            "se": np.nanmedian(errors, axis=0),
            "rmse": np.sqrt(np.nanmean(apart**2, axis=0)),
        }
    return result, len(target), np.mean(rejected), without / samples


def row(name, n, p, outcome):
    """Return the row of a table."""
    result, size, rejected, without = outcome
    ml, default = result["ml"], result["default"]
    coverage = [f"{100 * each['coverage'].min():.0f}, {100 * each['coverage'].mean():.0f}" for each in (ml, default)]
    ratios = [f"{np.median(default[name] / ml[name]):.2f}" for name in ("se", "rmse")]
    return (
        f"| {name} | {n:,} | {p} | {size} | {ml['bias']:.1f} | {default['bias']:.1f} | {coverage[0]} | {coverage[1]} | "
        f"{ratios[0]} | {ratios[1]} | {100 * without:.0f} | {100 * rejected:.0f} |"
    )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    sets = read_sets()
    for family in ("logit", "ordinal"):
        print(f"\n{family}", flush=True)
        for name, (table, formula, order) in sets.items():
            if family == "logit" or order is not None:
                outcome = measured(table, formula, order, samples=samples, family=family)
                print(row(name, len(table), table.response.nunique(), outcome), flush=True)
    print("\nwrong models", flush=True)
    for name, table in wrong_models(200_000):
        for people in (500, 2000, 8000):
            outcome = measured(table, "x + z", list("abcd"), people=people, samples=samples)
            print(row(name, people, 4, outcome), flush=True)
