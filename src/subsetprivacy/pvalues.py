"""One rule for all p-values: never 0 as a number, and `< 0.0001` in text where it is less."""

from sys import float_info

SMALLEST = float_info.min  # 2.2e-308, the smallest number with all its digits
_SHOWN = 1e-4


def positive(pvalue: float) -> float:
    """Return a p-value that is never 0: what a tail is too small for is the smallest number; NaN stays NaN."""
    return float(pvalue) if pvalue != pvalue else max(float(pvalue), SMALLEST)


def pvalue_text(pvalue: float) -> str:
    """Return a p-value for people: four digits, a bound where they are all 0, a dash where there is none."""
    if pvalue != pvalue:
        return "-"
    return f"< {_SHOWN:.4f}" if pvalue < _SHOWN else f"{pvalue:.4f}"


def p_equals(pvalue: float) -> str:
    """Return a p-value with its name: `p = 0.0312` or `p < 0.0001`."""
    text = pvalue_text(pvalue)
    return f"p {text}" if text.startswith("<") else f"p = {text}"
