"""How to install this package, as every hint says it.

With the first release it becomes ``pip install "subsetprivacy[plot]"`` (see RELEASING.md). Double quotes are understood
by every shell, also on Windows.
"""

UPGRADE_SERVER = 'in the clone, git pull, then pip install ".[serve]"'


def how_to_install(extra: str = "") -> str:
    """Return what to type to install the package, with an extra if one is named.

    Examples
    --------
    >>> print(how_to_install())
    in the clone, pip install .
    >>> print(how_to_install("plot"))
    in the clone, pip install ".[plot]"
    """
    return "in the clone, pip install " + (f'".[{extra}]"' if extra else ".")
