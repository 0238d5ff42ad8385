"""How often files are opened, and which functions of the package are called: counted, not timed."""

import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet

import subsetprivacy

PACKAGE = str(Path(subsetprivacy.__file__).parent) + os.sep

# Python tells of every file that it opens. PyArrow opens files without Python: these take a path, or several.
_OF_ARROW = (
    (pa, "OSFile"),
    (pa, "memory_map"),
    (pa, "input_stream"),
    (pa.ipc, "open_file"),
    (pa.ipc, "open_stream"),
    (pyarrow.csv, "open_csv"),
    (pyarrow.csv, "read_csv"),
    (pyarrow.dataset, "dataset"),
    (pyarrow.feather, "read_table"),
    (pyarrow.parquet, "ParquetFile"),
    (pyarrow.parquet, "ParquetDataset"),
    (pyarrow.parquet, "read_metadata"),
    (pyarrow.parquet, "read_schema"),
    (pyarrow.parquet, "read_table"),
)
_counters: list[Counter[str]] = []


def _note(place: Any) -> None:
    if _counters and isinstance(place, (str, bytes, os.PathLike)):
        _counters[-1][os.path.realpath(os.fsdecode(place))] += 1


def _heard(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and _counters:
        _note(arguments[0])


sys.addaudithook(_heard)  # for good: a hook cannot be taken away


def _noting(function: Callable[..., Any]) -> Callable[..., Any]:
    def noted(source: Any, *arguments: Any, **settings: Any) -> Any:
        for place in source if isinstance(source, (list, tuple)) else [source]:
            _note(place)
        return function(source, *arguments, **settings)

    return noted


@contextmanager
def opens_of(*files: Path) -> Iterator[dict[str, int]]:
    """Count how often each of some files is opened by this process; what is counted is known at the end."""
    counter: Counter[str] = Counter()
    found: dict[str, int] = {}
    patches = [mock.patch.object(module, name, _noting(getattr(module, name))) for module, name in _OF_ARROW]
    for patch in patches:
        patch.start()
    _counters.append(counter)
    try:
        yield found
    finally:
        _counters.remove(counter)
        for patch in patches:
            patch.stop()
        found.update({file.name: counter[os.path.realpath(file)] for file in files})


@contextmanager
def calls_of_package() -> Iterator[set[tuple[str, str]]]:
    """Gather the functions of the package that are called, as (file, name); no comprehensions and the like."""
    called: set[tuple[str, str]] = set()

    def heard(frame: Any, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE) and not code.co_name.startswith("<"):
            called.add((code.co_filename.removeprefix(PACKAGE), code.co_qualname))

    threading.setprofile(heard)
    sys.setprofile(heard)
    try:
        yield called
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
