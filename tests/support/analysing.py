"""The program of an export, run here: a process of its own takes longer to begin than the program takes."""

import contextlib
import io
import json
import runpy
from pathlib import Path
from typing import Any
from unittest import mock


def analysed(folder: Path, *files: Path | str) -> tuple[dict[str, Any], str]:
    """Run `analyse.py` in its folder; return what it writes, and what it prints."""
    arguments = mock.patch("sys.argv", ["analyse.py", *map(str, files)])
    with arguments, contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()) as printed:
        runpy.run_path("analyse.py", run_name="__main__")
    return json.loads((folder / "findings.json").read_text("utf-8")), printed.getvalue()


def by_name(findings: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what is found of each variable, by its id: files know no titles."""
    return {one["name"]: {key: held for key, held in one.items() if key != "title"} for one in findings["variables"]}
