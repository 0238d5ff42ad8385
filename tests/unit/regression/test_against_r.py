"""Two categories against R: the likelihood of a randomized answer, maximized by `optim` and by EM around `glm`.

The packages rr and RRreg fit these models, by EM and by EM followed by `optim`. Where they are installed the same
script runs them too; the two algorithms in base R are run everywhere.
"""

import csv
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import subsetprivacy as sp

SCRIPT = Path(__file__).with_name("randomized_answers.R")
SAYS_YES, SAYS_NO = 0b0110, 0b1001  # of Warner's design: the answer differs from the secret bit, or equals it
TRUE = np.array([-0.5, 0.8, -0.6, 0.4])

# How people answer, and the probability that "yes" is said by those who would say it truthfully.
ANSWERS = {
    "warner": 0.8,  # asked the question with probability 0.8, else its opposite
    "unrelated": 2 / 3 + 1 / 3 / 2,  # asked it with probability 2/3, else another that half of all people affirm
}


def sample(kind, n=1500, seed=0):
    """Draw covariates, and randomized answers to a question that depends on them."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.standard_normal(n), rng.integers(0, 2, n), rng.uniform(-1, 1, n)])
    holds = rng.random(n) < 1 / (1 + np.exp(-TRUE[0] - X @ TRUE[1:]))
    honest = ANSWERS[kind]
    return X, (rng.random(n) < np.where(holds, honest, 1 - honest)).astype(int)


def loglik(beta, X, y, honest):
    """Return the log-likelihood, written out as a textbook does."""
    share = 1 / (1 + np.exp(-beta[0] - X @ beta[1:]))
    yes = honest * share + (1 - honest) * (1 - share)
    return float(np.log(np.where(y == 1, yes, 1 - yes)).sum())


@pytest.fixture(scope="module")
def by_r(tmp_path_factory):
    """Return, for each way to answer, what R found: coefficients by the name of the algorithm."""
    if shutil.which("Rscript") is None:
        return None
    folder = tmp_path_factory.mktemp("r")
    result = {}
    for kind in ANSWERS:
        X, y = sample(kind)
        np.savetxt(folder / f"{kind}.csv", np.column_stack([y, X]), fmt="%.17g", delimiter=",")
        command = ["Rscript", "--vanilla", SCRIPT, folder / f"{kind}.csv", folder / "out.csv", kind]
        subprocess.run(command, capture_output=True, check=True, timeout=300)
        with (folder / "out.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))[1:]
        result[kind] = {name: np.array(numbers, float) for name, *numbers in rows}
    return result


@pytest.mark.parametrize("kind", ANSWERS)
def test_r_finds_the_same_maximum_and_nothing_better(kind, by_r, need):
    need("R", by_r is not None, "apt-get install r-base-core, or https://www.r-project.org")
    honest = ANSWERS[kind]
    X, y = sample(kind)
    fit = sp.regress(
        np.where(y == 1, SAYS_YES, SAYS_NO), X, design=sp.warner(["no", "yes"], 1 - honest), baseline="no", method="ml"
    )
    ours = fit.coef[0]
    assert fit.loglik == pytest.approx(loglik(ours, X, y, honest), abs=1e-8)
    assert {"optim", "em"} <= set(by_r[kind])
    for name, beta in by_r[kind].items():
        if name == "optim se":
            continue
        theirs = loglik(beta, X, y, honest)
        print(f"{kind}, {name}: our log-likelihood is {fit.loglik - theirs:.1e} above theirs")  # with `pytest -rP`
        assert fit.loglik >= theirs - 1e-6, name
        assert np.allclose(ours, beta, atol=1e-3), name
    assert fit.loglik == pytest.approx(loglik(by_r[kind]["optim"], X, y, honest), abs=1e-6)


def test_standard_errors_are_those_of_the_second_derivatives(by_r, need):
    need("R", by_r is not None, "apt-get install r-base-core, or https://www.r-project.org")
    X, y = sample("warner")
    design = sp.warner(["no", "yes"], 1 - ANSWERS["warner"])
    fit = sp.regress(np.where(y == 1, SAYS_YES, SAYS_NO), X, design=design, baseline="no", method="ml")
    assert np.allclose(np.sqrt(fit.cov.diagonal()), by_r["warner"]["optim se"], rtol=1e-3)
