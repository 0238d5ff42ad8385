"""Every result type, found by introspection; and the page that lists their methods.

`python tests/support/result_types.py` writes `docs/reference/results.md` again.
"""

import inspect
import pkgutil
import re
from importlib import import_module
from pathlib import Path

import subsetprivacy as sp
from subsetprivacy.errors import MissingDependencyError
from subsetprivacy.estimation.shares import Shares
from subsetprivacy.honesty.data_check import DataCheck
from subsetprivacy.regression.prediction import SharesByRow
from subsetprivacy.results import Result

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "results.md"
SHARED = ("notes", "summary", "to_dict", "from_dict", "to_frame")
_SKIPPED = re.compile(r"subsetprivacy\.(collect|cli|reproduce|__main__)")
_HEAD = """# Results

<!-- Written by `python tests/support/result_types.py`; a test compares it with the classes. -->

All results share the methods below. The table lists every result class and its additional methods.

- `notes`: the caveats, each with a `kind` for programs, a `text` for people, and `advice` on what to do.
- `summary()`: a table to print or to show in a notebook. To export it, call its methods `to_latex()`, `to_markdown()`,
  `to_html()` or `to_csv()`.
- `to_frame(engine=)`: a pandas, Polars or PyArrow data frame with fixed column names. Estimates have the columns
  `estimate, se, lower, upper` and `level`.
- `to_dict()`: the same as plain data for JSON. `from_dict()` reads it back if the numbers are sufficient to restore the
  result. If they are not, the error names what to keep instead.
- `plot()`: a plot, for results that have one. It needs the extra `plot`.
- In a notebook a result shows its summary. `repr()` is one line. Every result can be pickled.

If a result has intervals, `summary`, `to_frame` and `to_dict` take the level and the interval method.

| result | description | arguments of `summary` | `from_dict` | `plot` | other methods |
|---|---|---|---|---|---|
"""


def modules():
    for found in pkgutil.walk_packages(sp.__path__, "subsetprivacy."):
        if not _SKIPPED.match(found.name):
            try:
                yield import_module(found.name)
            except (ImportError, MissingDependencyError):
                continue


def result_types() -> dict[str, type]:
    """Return every class with a summary, wherever it is defined, but for those that only others inherit from."""
    return {
        value.__name__: value
        for module in modules()
        for value in vars(module).values()
        if inspect.isclass(value) and value.__module__ == module.__name__
        if (hasattr(value, "summary") or issubclass(value, Result))
        and value not in (Result, Shares, SharesByRow, DataCheck)
    }


def _first_line(kind: type) -> str:
    text = re.sub(r":math:`([^`]*)`", r"$\1$", inspect.getdoc(kind).splitlines()[0])
    return text.replace("|", "\\|")


def _arguments(kind: type) -> str:
    names = [name for name in inspect.signature(kind.summary).parameters if name != "self"]
    return ", ".join(f"`{name}`" for name in names) or "none"


def _more(kind: type) -> str:
    own = [
        name
        for name, _ in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_") and name not in (*SHARED, "plot")
    ]
    return ", ".join(f"`{name}`" for name in own)


def page() -> str:
    """Return the text of the page."""
    rows = [
        f"| `{name}` | {_first_line(kind)} | {_arguments(kind)} "
        f"| {'no' if kind.why_not_restored else 'yes'} | {'yes' if hasattr(kind, 'plot') else ''} | {_more(kind)} |"
        for name, kind in sorted(result_types().items())
    ]
    return _HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
