"""Measures of association of two variables: conditional shares, differences, odds ratios, Cramér's V."""

from subsetprivacy.data import SubsetCounts, SubsetData, SubsetTable
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.measures.arguments import read_pair
from subsetprivacy.measures.conditional import ConditionalShares
from subsetprivacy.measures.measure import Measure
from subsetprivacy.measures.result import Association

__all__ = ["Association", "ConditionalShares", "Measure", "association"]


def association(fit: Estimate | SubsetTable | SubsetData | SubsetCounts, *names: str) -> Association:
    """Describe the association of two variables.

    Parameters
    ----------
    fit
        A joint estimate of several variables by any method, or their data or counts, from which maximum likelihood
        estimates are computed.
    *names
        The two variables, rows first; required if there are more than two. For an estimate or counts of more variables,
        their two-way margin is used; for a table of columns, only the two columns.

    Raises
    ------
    ArgumentError
        If there is only one variable, or `names` are not two different variables.
    CategoryError
        If there is no variable with such a name.

    Examples
    --------
    >>> from subsetprivacy.design import product, warner
    >>> from subsetprivacy.mechanism.simulate import simulate
    >>> both = product({"sex": warner(["f", "m"]), "smokes": warner(["yes", "no"])})
    >>> both_ways = association(simulate(both, [0.10, 0.42, 0.16, 0.32], 20_000, seed=1))
    >>> both_ways.conditional(given="sex").table.round(2)
    array([[0.2 , 0.8 ],
           [0.32, 0.68]])
    >>> both_ways.difference("yes").name
    'difference of P(smokes = yes) between sex = f and sex = m'
    >>> print(both_ways.odds_ratio())
    odds ratio of sex = f against m and smokes = yes against no: 0.5068 (std. error 0.0754, 95% profile interval
    0.3761 to 0.6756, p-value against one < 0.0001)
    """
    return Association(read_pair(fit, names))
