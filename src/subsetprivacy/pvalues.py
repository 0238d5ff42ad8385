"""One rule for all p-values: as a number they are never 0, and as text small ones are `< 0.0001`."""

from sys import float_info

SMALLEST = float_info.min  # 2.2e-308, the smallest number with all its digits
_SHOWN = 1e-4


def positive(pvalue: float) -> float:
    """Return a p-value that is never 0: if it underflows, the smallest positive number. NaN stays NaN."""
    return float(pvalue) if pvalue != pvalue else max(float(pvalue), SMALLEST)


def pvalue_text(pvalue: float) -> str:
    """Return a p-value as text: four digits, a bound if they are all 0, a dash if it is NaN."""
    if pvalue != pvalue:
        return "-"
    return f"< {_SHOWN:.4f}" if pvalue < _SHOWN else f"{pvalue:.4f}"


def p_equals(pvalue: float) -> str:
    """Return a p-value with its name: `p = 0.0312` or `p < 0.0001`."""
    text = pvalue_text(pvalue)
    return f"p {text}" if text.startswith("<") else f"p = {text}"
