"""Text that no spreadsheet reads as a formula."""

SIGNS = "=+-@\uff1d\uff0b\uff0d\uff20"  # that begin a formula, in normal and in full width
_FORMULA = (*SIGNS, "\t", "\r", "\n", "'")


def safe_header(name: str) -> str:
    """Return a column name that no spreadsheet reads as a formula.

    Examples
    --------
    >>> safe_header("=race"), plain_header("'=race"), safe_header("race")
    ("'=race", '=race', 'race')
    """
    return f"'{name}" if name.startswith(_FORMULA) else name


def plain_header(text: str) -> str:
    """Return the column name that `safe_header` wrote."""
    return text[1:] if text[:1] == "'" and text[1:].startswith(_FORMULA) else text
