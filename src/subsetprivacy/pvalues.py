"""One rule for all p-values: as a number they are never 0, and as text small ones are `< 0.0001`."""

from sys import float_info

SMALLEST = float_info.min  # 2.2e-308, the smallest number with all its digits
_SHOWN = 1e-4


def positive(pvalue: float) -> float:
    """Return a p-value that is never 0: if it underflows, the smallest positive number. NaN stays NaN."""
    return float(pvalue) if pvalue != pvalue else max(float(pvalue), SMALLEST)


def chi_square_or_f(form: float, df: int, degrees: float) -> tuple[float, float, float]:
    r"""Return the test of a quadratic form in estimates: its statistic, denominator degrees of freedom, and p-value.

    Parameters
    ----------
    form
        :math:`T^2 = d^\top V^{-1} d`.
    df
        The number of its directions.
    degrees
        The degrees of freedom :math:`\nu` of the covariance V; infinite if it is known.

    Notes
    -----
    If V is known, the form itself has the chi-square distribution, and the denominator is infinite. Otherwise
    :math:`F = \frac{\nu-q+1}{\nu}\,\frac{T^2}{q}` has the F distribution with q and :math:`\nu-q+1` degrees of freedom
    (Hotelling's test, the adjusted Wald test of surveys). Everything is NaN without a direction or degrees.
    """
    from scipy.special import chdtrc, fdtrc  # here, so that `--help` does not wait for SciPy

    left = degrees - df + 1
    if form != form or df < 1 or not left > 0:
        return float("nan"), left if df else degrees, float("nan")
    size = max(form, 0.0)
    if left == float("inf"):
        return form, left, positive(chdtrc(df, size))
    statistic = form * left / (degrees * df)
    return statistic, left, positive(fdtrc(df, left, max(statistic, 0.0)))


def df_text(df: float, denominator: float) -> str:
    """Return degrees of freedom as text: `df 3`, or `df 3 and 58` of an F test."""
    if denominator == float("inf"):
        return f"df {df:g}"
    return f"df {df:g} and {f'{denominator:,.1f}'.removesuffix('.0')}"


def pvalue_text(pvalue: float) -> str:
    """Return a p-value as text: four digits, a bound if they are all 0, a dash if it is NaN."""
    if pvalue != pvalue:
        return "-"
    return f"< {_SHOWN:.4f}" if pvalue < _SHOWN else f"{pvalue:.4f}"


def p_equals(pvalue: float) -> str:
    """Return a p-value with its name: `p = 0.0312` or `p < 0.0001`."""
    text = pvalue_text(pvalue)
    return f"p {text}" if text.startswith("<") else f"p = {text}"
