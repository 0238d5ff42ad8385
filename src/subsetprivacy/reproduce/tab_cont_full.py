"""Gender and income in the Adult data, without privacy (`tab:cont_full`)."""

from typing import Any

import numpy as np
from scipy.special import log_ndtr

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.data import JointCounts
from subsetprivacy.design import nonprivate, product
from subsetprivacy.draw import heatmap
from subsetprivacy.independence import independence_test
from subsetprivacy.reproduce.checks import number, says, stated
from subsetprivacy.reproduce.experiment import Experiment, ExperimentResult, Run

ABOUT = """Does income depend on gender? In the Adult data it does: 31 of a hundred men have a high income, and 11 of a
hundred women. Pearson's test of the table is decisive. The paper takes this dependence as the truth that tests of
subsets should find (fig:adult_power).

Each cell of the figure is a pair of categories with its number of people. The color shows how far it is from
independence, in standard errors."""

SEXES, INCOMES = ("Female", "Male"), ("low", "high")
PRINTED = (("9592", "1179"), ("15128", "6662"))


def perform(run: Run) -> ExperimentResult:
    """Compare the four counts and test them."""
    counts = run.adult.sex_income
    plain = product({"gender": nonprivate(SEXES), "income": nonprivate(INCOMES)})
    test = independence_test(JointCounts.of_table(counts, plain), "pearson", null="asymptotic", permutations=0)
    rich = counts[:, 1] / counts.sum(axis=1)
    cells = [(i, j) for i in range(2) for j in range(2)]
    checks = [
        *(number(f"{SEXES[i]}, {INCOMES[j]}", PRINTED[i][j], float(counts[i, j]), digits=0) for i, j in cells),
        says(
            "p-value of Pearson's test",
            "close to zero",
            f"10^{_log10_pvalue(test.statistic):.0f} (chi-squared {test.statistic:.1f}, df {test.df:g})",
            test.pvalue < 1e-9,
            "below 10^-9",
        ),
        stated("share with a high income", f"{rich[0]:.4f} of the women, {rich[1]:.4f} of the men"),
    ]
    table: dict[str, list[Any]] = {
        "gender": [SEXES[i] for i, _ in cells],
        "income": [INCOMES[j] for _, j in cells],
        "printed": [int(PRINTED[i][j]) for i, j in cells],
        "obtained": counts.ravel().tolist(),
        "adjusted_residual": residuals(counts).ravel().tolist(),
    }
    return ExperimentResult(checks, table, _draw(counts))


def _draw(counts: IntArray) -> Any:
    axes = heatmap(
        SEXES,
        INCOMES,
        residuals(counts),
        row_name="gender",
        column_name="income",
        label="away from independence, in standard errors",
        diverging=True,
    )
    for text, people in zip(axes.texts, counts.ravel(), strict=False):
        text.set_text(f"{people} people\n{text.get_text()}")
    return axes.figure


def residuals(counts: IntArray) -> FloatArray:
    """Return the adjusted residuals of a table: observed minus expected, over the standard error of that."""
    n, rows, columns = counts.sum(), counts.sum(axis=1), counts.sum(axis=0)
    expected = np.outer(rows, columns) / n
    variance = expected * np.outer(1 - rows / n, 1 - columns / n)
    return np.asarray((counts - expected) / np.sqrt(variance))


def _log10_pvalue(statistic: float) -> float:
    """Return the decimal logarithm of a p-value at one degree of freedom, which itself is too small for a float."""
    return float((log_ndtr(-np.sqrt(statistic)) + np.log(2)) / np.log(10))


EXPERIMENT = Experiment(
    "tab:cont_full", "Gender and income in the Adult data, and Pearson's test", ABOUT, perform, adult=True
)
