"""Makes `subsetprivacy/__init__.pyi`, the public names as type checkers and editors read them.

`python tests/support/facade.py` (`make stub`) writes it again from the list in `subsetprivacy/__init__.py`.
"""

from pathlib import Path

import subsetprivacy

STUB = Path(subsetprivacy.__file__).with_suffix(".pyi")
WIDTH = 120


def stub() -> str:
    """Return the text of the stub, formatted as `ruff format` would."""
    lines = ["# Written by `make stub` from the list in __init__.py: change that list, not this file.", ""]
    lines += ["from subsetprivacy import errors as errors"]
    for module, names in sorted(subsetprivacy._PUBLIC.items()):
        lines += wrapped(f"from subsetprivacy.{module} import ", "(", classes_first(names), ")", bare=True)
    lines += ["", *wrapped("__all__ = ", "[", [f'"{name}"' for name in subsetprivacy.__all__], "]")]
    lines += ["", "__version__: str"]
    return "\n".join(lines) + "\n"


def classes_first(names: tuple[str, ...]) -> list[str]:
    return sorted(names, key=lambda name: (name[0].islower(), name))


def wrapped(start: str, opening: str, entries: list[str], closing: str, *, bare: bool = False) -> list[str]:
    """Return entries on one line, without brackets if they may be bare, or each on its own line."""
    line = ", ".join(entries)
    line = start + line if bare else start + opening + line + closing
    return [line] if len(line) <= WIDTH else [start + opening, *(f"    {entry}," for entry in entries), closing]


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
