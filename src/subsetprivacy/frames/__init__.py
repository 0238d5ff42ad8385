"""Tables and files of any size: read, counted, privatised and written where they are."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from subsetprivacy.frames.door import privatize_table
    from subsetprivacy.frames.reading import read_release
    from subsetprivacy.frames.release import Release
    from subsetprivacy.frames.writing import write_counts, write_release

# Imported when they are first used: a file is counted without what draws, and drawn without what counts.
_HOME = {
    "Release": "release",
    "privatize_table": "door",
    "read_release": "reading",
    "write_counts": "writing",
    "write_release": "writing",
}

__all__ = ["Release", "privatize_table", "read_release", "write_counts", "write_release"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'subsetprivacy.frames' has no attribute {name!r}")
    value = getattr(import_module(f"subsetprivacy.frames.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
