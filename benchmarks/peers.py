"""The others: what a careful user would do without this library, and the limits a machine sets."""

import os
import subprocess
import tempfile
import warnings
from pathlib import Path
from shutil import which
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

EM_CHANGE = 1e-9
CONIC_TOLERANCE = 1e-13  # what Clarabel must be asked for so that the certificate of its w falls below 1e-9


class Skip(Exception):
    """A peer that is not installed; the message says how to get it."""


def rows_of(codes: Ints, p: int) -> Floats:
    return ((codes[:, None] >> np.arange(p)) & 1).astype(np.float64)


def em(codes: Ints, counts: Ints, p: int) -> Floats:
    """EM on a dense row matrix, two products a step, to an L1 change of 1e-9."""
    rows = rows_of(codes, p)
    columns = np.ascontiguousarray(rows.T)
    shares = counts / counts.sum()
    w = np.full(p, 1 / p)
    while True:
        following = w * (columns @ (shares / (rows @ w)))
        if np.abs(following - w).sum() <= EM_CHANGE:
            return following
        w = following


def em_by_person(codes: Ints, counts: Ints, p: int) -> Floats:
    """EM as in textbooks: the probability of every category for every person, then their mean."""
    rows = rows_of(np.repeat(codes, counts), p)
    w = np.full(p, 1 / p)
    while True:
        given = rows * w
        given /= given.sum(axis=1, keepdims=True)
        following = given.mean(axis=0)
        if np.abs(following - w).sum() <= EM_CHANGE:
            return following
        w = following


def cvxpy_problem(rows: Floats, shares: Any) -> tuple[Any, Any]:
    """Return the paper's problem and its variable."""
    cp = _cvxpy()
    w = cp.Variable(rows.shape[1], nonneg=True)
    return cp.Problem(cp.Maximize(shares @ cp.log(rows @ w)), [cp.sum(w) == 1]), w


def cvxpy_solve(problem: Any, w: Any, tolerance: float | None = CONIC_TOLERANCE) -> Floats:
    """Solve with Clarabel, its own tolerances where None; what it calls inaccurate is accepted."""
    options: dict[str, Any] = {}
    if tolerance is not None:
        options = {"tol_gap_abs": tolerance, "tol_gap_rel": tolerance, "tol_feas": tolerance, "accept_unknown": True}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem.solve(solver="CLARABEL", **options)
    found = np.maximum(w.value, 0.0)
    return found / found.sum()


def cvxpy_fit(codes: Ints, counts: Ints, p: int, tolerance: float | None = CONIC_TOLERANCE) -> Floats:
    return cvxpy_solve(*cvxpy_problem(rows_of(codes, p), counts / counts.sum()), tolerance)


def cvxpy_compiled(codes: Ints, p: int) -> Any:
    """Return a function of counts over the whole support, compiled once for all samples of a design."""
    shares = _cvxpy().Parameter(len(codes), nonneg=True)
    problem, w = cvxpy_problem(rows_of(codes, p), shares)

    def fit(counts: Ints) -> Floats:
        shares.value = counts / counts.sum()
        return cvxpy_solve(problem, w)

    fit(np.ones(len(codes), np.int64))
    return fit


def _cvxpy() -> Any:
    try:
        import cvxpy
    except ImportError:
        raise Skip("CVXPY is not installed. Hint: in the clone, make bench") from None
    return cvxpy


def mixsqp(codes: Ints, counts: Ints, p: int, seconds: float) -> tuple[float, Floats, str]:
    """Return R's mean processor time of a fit (no start-up, no reading), its solution and the versions."""
    rscript = which("Rscript")
    if rscript is None:
        raise Skip("R is not installed. Hint: apt-get install r-cran-mixsqp")
    script = Path(__file__).with_name("mixsqp.R")
    with tempfile.TemporaryDirectory() as folder:
        table, fit = Path(folder, "counts.csv"), Path(folder, "fit.csv")
        np.savetxt(table, np.column_stack([counts, rows_of(codes, p)]), fmt="%d", delimiter=",")
        run = subprocess.run([rscript, script, table, fit, str(seconds)], capture_output=True, text=True, check=False)
        if run.returncode:
            reason = run.stderr.strip().splitlines()[0] if run.stderr else "no message"
            raise Skip(f"Rscript failed ({reason}). Hint: apt-get install r-cran-mixsqp")
        time, *w = np.loadtxt(fit)
    return float(time), np.array(w) / np.sum(w), run.stdout


def keystream(n: int) -> NDArray[np.uint64]:
    """Return n words of an AES-128-CTR keystream under a fresh key, drawn in blocks that stay in the cache."""
    cipher = _aes_ctr()
    out = np.empty(8 * n, np.uint8)
    zeros = bytes(1 << 18)
    for start in range(0, len(out), len(zeros)):
        block = out[start : start + len(zeros)]
        cipher.update_into(zeros[: len(block)], block)
    return out.view(np.uint64)


def keystream_at_once(n: int) -> NDArray[np.uint64]:
    """Return the same in the two lines that most would write."""
    return np.frombuffer(_aes_ctr().update(bytes(8 * n)), np.uint64)


def _aes_ctr() -> Any:
    try:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    except ImportError:
        raise Skip("cryptography is not installed. Hint: in the clone, make bench") from None
    return Cipher(algorithms.AES(os.urandom(16)), modes.CTR(bytes(16))).encryptor()


def system_bytes(n: int) -> NDArray[np.uint64]:
    """Return n words of the operating system's generator."""
    return np.frombuffer(os.urandom(8 * n), np.uint64)
