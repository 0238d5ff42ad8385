"""Classifiers that learn from subsets, against the losses of partial-label learning and against raw labels."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from attrs import frozen
from peers import Floats, Ints
from work import Timing, clock

import subsetprivacy as sp
from subsetprivacy.learning import SubsetLogisticRegression, subset_rows

REPLICATIONS = {"digits": 10, "wine": 40, "breast cancer": 20, "simulated": 3}
PENALTIES = (0.1, 1.0, 10.0, 100.0)
STEPS = (0.003, 0.01, 0.03)


# Partial-label learning ---------------------------------------------------------------------------


@frozen(eq=False)
class Adam:
    """A linear model that is trained by minibatches.

    With "CC", the classifier-consistent loss, a person's loss is -ln sum_j r_j p_j. With "RC", the risk-consistent one,
    it is the cross-entropy with confidences in the categories, which are renewed by the model's own probabilities
    whenever the person is seen.
    """

    loss: str
    batch: int
    patience: int = 10  # epochs without a better log-likelihood of people who were set aside
    longest: int = 500

    def train(
        self,
        X: Floats,
        R: Floats,
        penalty: float,
        step: float,
        epochs: int | None,
        aside: tuple[Floats, Floats] | None = None,
    ) -> tuple[Floats, int, float]:
        """Return coefficients, the intercept last, and the number of epochs that was best for those set aside.

        The third is their log-likelihood then.

        Parameters
        ----------
        epochs
            How many; None: as many as those set aside call for.
        aside
            Their covariates and rows.
        """
        rng = np.random.default_rng(1)
        n, d = X.shape
        X = np.column_stack([X, np.ones(n)])
        B, mean, square = (np.zeros((d + 1, R.shape[1])) for _ in range(3))
        decay = np.full((d + 1, 1), penalty / n)
        decay[-1] = 0.0
        Q = R / R.sum(axis=1, keepdims=True)
        steps, best, at = 0, -np.inf, 0
        for epoch in range(1, (epochs or self.longest) + 1):
            order = rng.permutation(n)
            for start in range(0, n, self.batch):
                rows = order[start : start + self.batch]
                x = X[rows]
                P = softmax(x @ B)
                q = posterior(P, R[rows])
                target = q
                if self.loss == "RC":
                    target, Q[rows] = Q[rows], q
                gradient = x.T @ (P - target) / len(rows) + decay * B
                steps += 1
                mean += 0.1 * (gradient - mean)
                square += 0.001 * (gradient**2 - square)
                B -= step * (mean / (1 - 0.9**steps)) / (np.sqrt(square / (1 - 0.999**steps)) + 1e-8)
            if aside is not None:
                value = loglik(softmax(aside[0] @ B[:-1] + B[-1]), aside[1])
                if value > best:
                    best, at = value, epoch
                elif epoch - at >= self.patience:
                    break
        return B, at, best


def softmax(U: Floats) -> Floats:
    E = np.exp(U - U.max(axis=1, keepdims=True))
    return E / E.sum(axis=1, keepdims=True)


def loglik(P: Floats, R: Floats) -> float:
    return float(np.log(np.maximum((P * R).sum(axis=1), 1e-12)).mean())


def posterior(P: Floats, R: Floats) -> Floats:
    Q = P * R + 1e-300
    return Q / Q.sum(axis=1, keepdims=True)


# Data sets ----------------------------------------------------------------------------------------


@frozen(eq=False)
class Problem:
    """Covariates and values, the design of the subsets, and how many people a minibatch has."""

    X: Floats
    y: Ints
    design: sp.Design
    batch: int


def problem(name: str) -> Problem:
    from sklearn import datasets

    if name == "simulated":
        X, y = simulated(100_000, 20, 8)
        return Problem(X, y, sp.uniform(range(8)), 512)
    load = {"digits": datasets.load_digits, "wine": datasets.load_wine, "breast cancer": datasets.load_breast_cancer}
    X, y = load[name](return_X_y=True)
    design = {"digits": sp.uniform(range(10)), "wine": sp.fixed_size(range(3), 2), "breast cancer": sp.warner(range(2))}
    return Problem(X, y, design[name], 64 if len(y) > 500 else 32)


def simulated(n: int, d: int, p: int) -> tuple[Floats, Ints]:
    """Return normal covariates, and values of a logit model."""
    rng = np.random.default_rng(p)
    X = rng.normal(size=(n, d))
    U = X @ (rng.normal(size=(d, p)) * 1.4 / np.sqrt(d))
    U += rng.gumbel(size=U.shape)
    return X, U.argmax(axis=1)


# Accuracy and time --------------------------------------------------------------------------------


@frozen(eq=False)
class Split:
    """People to learn from, a quarter of them to choose the penalty by, and people to test on."""

    X: Floats
    y: Ints
    codes: Ints
    R: Floats
    fit: Ints
    choose: Ints
    test_X: Floats
    test_y: Ints


def split(data: Problem, seed: int) -> Split:
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(data.y))
    test, own = np.split(order, [len(order) // 4])
    X = data.X[own]
    spread = np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    codes = sp.privatize(data.y[own], data.design, seed=rng).codes
    choose, fit = np.split(rng.permutation(len(own)), [len(own) // 4])
    center = X.mean(axis=0)
    R = subset_rows(codes, design=data.design)
    return Split(
        (X - center) / spread, data.y[own], codes, R, fit, choose, (data.X[test] - center) / spread, data.y[test]
    )


def ours(part: Split, design: sp.Design | None, y: Ints) -> Any:
    """Return the probabilities of our classifier: it learns from subsets, or without a design from labels."""

    def fitted(rows: Any, penalty: float) -> Any:
        return SubsetLogisticRegression(design, ridge=penalty).fit(part.X[rows], y[rows]).predict_proba

    def judged(penalty: float) -> float:
        P = fitted(part.fit, penalty)(part.X[part.choose])
        if design is None:
            return float(np.log(P[np.arange(len(P)), y[part.choose]]).mean())
        return loglik(P, part.R[part.choose])

    return fitted(slice(None), max(PENALTIES, key=judged))


def partial_labels(adam: Adam, part: Split) -> Any:
    """Return the probabilities of a linear model that is trained by a loss of partial-label learning."""

    def tried(setting: tuple[float, float]) -> tuple[float, int, float, float]:
        aside = part.X[part.choose], part.R[part.choose]
        _, epochs, value = adam.train(part.X[part.fit], part.R[part.fit], *setting, None, aside)
        return value, epochs, *setting

    _, epochs, penalty, step = max(map(tried, product(PENALTIES, STEPS)))
    B = adam.train(part.X, part.R, penalty, step, epochs)[0]
    return lambda X: softmax(X @ B[:-1] + B[-1])


def against_partial_labels(name: str, rounds: int) -> Timing:
    """Compare accuracy and time with CC and RC.

    All choose their penalty from the same ones by the log-likelihood of the same people, who were set aside, and then
    learn from everyone. Adam chooses its step size and its number of epochs in the same way.
    """
    data = problem(name)
    methods: dict[str, Callable[[Split], Any]] = {
        "ours": lambda part: ours(part, data.design, part.codes),
        "CC": partial(partial_labels, Adam("CC", data.batch)),
        "RC": partial(partial_labels, Adam("RC", data.batch)),
        "labels": lambda part: ours(part, None, part.y),
    }
    replications = REPLICATIONS[name] if rounds > 1 else min(REPLICATIONS[name], 5)
    accuracy: dict[str, list[float]] = {method: [] for method in methods}
    seconds: dict[str, list[float]] = {method: [] for method in methods}
    for seed in range(replications):
        part = split(data, seed)
        for method, run in methods.items():
            fitted: list[Any] = []
            seconds[method].append(clock(lambda run=run, fitted=fitted, part=part: fitted.append(run(part))))
            accuracy[method].append(float(np.mean(fitted[0](part.test_X).argmax(axis=1) == part.test_y)))
    peer = max(("CC", "RC"), key=lambda method: np.mean(accuracy[method]))
    return Timing(
        float(np.mean(seconds["ours"])),
        float(np.mean(seconds[peer])),
        _accuracies(accuracy, peer),
        (
            f"{peer} is the better of CC and RC, linear models trained by Adam; RC takes {_times(seconds)} times as "
            "long as CC; with a step size that is known beforehand both would take about 0.4 times as long",
        ),
    )


def _accuracies(accuracy: dict[str, list[float]], peer: str) -> str:
    """Say how accurate all are, and whether we are within two standard errors of the better peer."""
    means = ", ".join(f"{method} {np.mean(values):.4f}" for method, values in accuracy.items())
    gain = np.subtract(accuracy["ours"], accuracy[peer])
    gap = np.subtract(accuracy["labels"], accuracy["ours"])
    within = "yes" if gain.mean() >= -2 * _se(gain) else "no"
    return (
        f"accuracy over {len(gain)} splits and draws: {means}; ours less {peer}: {gain.mean():+.4f} "
        f"(standard error {_se(gain):.4f}), not more than two standard errors below: {within}; gap to raw labels "
        f"{gap.mean():+.4f} ({_se(gap):.4f})"
    )


def _times(seconds: dict[str, list[float]]) -> str:
    return f"{np.mean(seconds['RC']) / np.mean(seconds['CC']):.1f}"


def _se(values: Sequence[float] | Floats) -> float:
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))
