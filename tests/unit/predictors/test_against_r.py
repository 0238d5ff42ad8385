"""A logit with a predictor answered by Warner's design: the likelihood of rr's `rrreg.predictor`, by base R."""

import csv
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

import subsetprivacy as sp
from subsetprivacy.predictors.layout import ModelTerm, arrange
from subsetprivacy.predictors.outcome import fit_outcome

SCRIPT = Path(__file__).with_name("private_predictor.R")
SAYS_YES, SAYS_NO = 0b0110, 0b1001  # of Warner's design: the answer differs from the secret bit, or equals it
HONEST = 0.8


def sample(n=1500):
    rng = np.random.default_rng(11)
    X = np.column_stack([np.ones(n), rng.standard_normal(n), rng.integers(0, 2, n)])
    holds = rng.random(n) < expit(X @ [-0.3, 0.6, 0.4])
    y = rng.random(n) < expit(X @ [-0.5, 0.4, -0.6] + 1.2 * holds)
    says = rng.random(n) < np.where(holds, HONEST, 1 - HONEST)
    return y.astype(float), X, says


def test_r_finds_the_same_maximum_and_nothing_better(tmp_path, need):
    need("R", shutil.which("Rscript") is not None, "apt-get install r-base-core, or https://www.r-project.org")
    y, X, says = sample()
    np.savetxt(tmp_path / "in.csv", np.column_stack([y, says, X[:, 1:]]), fmt="%.17g", delimiter=",")
    command = ["Rscript", "--vanilla", SCRIPT, tmp_path / "in.csv", tmp_path / "out.csv"]
    subprocess.run(command, capture_output=True, check=True, timeout=300)
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        found = {name: np.array(numbers, float) for name, *numbers in list(csv.reader(file))[1:]}
    design = sp.warner(["no", "yes"], 1 - HONEST)
    names = ["Intercept", "v", "u"]
    terms = [*(ModelTerm(name, (k,)) for k, name in enumerate(names)), ModelTerm("x", (0,), ("x",))]
    arranged = arrange(names, 0, {"x": design.categories}, {"x": "no"}, terms)
    codes = np.where(says, SAYS_YES, SAYS_NO)
    fit = fit_outcome("y", y, X, codes, design, arranged, family="logit", method="ml")
    # The rows of an answer are its probabilities: 0.8 and 0.2, as in R.
    assert fit.loglik >= found["value"][0] - 1e-6
    assert fit.loglik == pytest.approx(found["value"][0], abs=1e-4)
    assert np.allclose(fit.coef, found["optim"][:4], atol=2e-3)
    assert np.allclose(fit.se, found["se"][:4], rtol=1e-2)
    print(f"our log-likelihood is {fit.loglik - found['value'][0]:.1e} above theirs")  # with `pytest -rP`
