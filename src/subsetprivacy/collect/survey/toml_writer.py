"""TOML as a person would write it."""

import json
import re
from typing import Any

_WIDTH = 100
_QUOTES = '"""'
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_text(document: dict[str, Any]) -> str:
    """Return the document of a survey as TOML: settings first, then a block for each variable and link."""
    blocks = ["\n".join(f"{key} = {_value(held)}" for key, held in document.items() if not _is_blocks(held))]
    for key, held in document.items():
        if _is_blocks(held):
            blocks += [_block(key, item) for item in held]
    return "\n\n".join(blocks) + "\n"


def _is_blocks(held: Any) -> bool:
    return isinstance(held, list) and bool(held) and all(isinstance(item, dict) for item in held)


def _block(name: str, table: dict[str, Any]) -> str:
    """Return a table of a list; one inside it that is long stands below, under a header of its own."""
    lines, below = [f"[[{name}]]"], []
    for key, held in table.items():
        text = f"{_key(key)} = {_value(held)}"
        if isinstance(held, dict) and len(text) > _WIDTH:
            below += ["", f"[{name}.{_key(key)}]", *(f"{_key(inner)} = {_value(part)}" for inner, part in held.items())]
        else:
            lines.append(text)
    return "\n".join(lines + below)


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _quoted(key)


def _value(held: Any) -> str:
    if isinstance(held, str):
        return _lines(held) if "\n" in held else _quoted(held)
    if isinstance(held, list):
        return _listed([_value(item) for item in held])
    if isinstance(held, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_inline(inner)}" for key, inner in held.items()) + " }"
    return str(held).lower() if isinstance(held, bool) else repr(held)


def _inline(held: Any) -> str:
    """Return a value on one line, as it must stand in a table in braces."""
    return f"[{', '.join(map(_inline, held))}]" if isinstance(held, list) else _value(held)


def _listed(items: list[str]) -> str:
    """Return a list on one line if it fits, else an item a line."""
    line = f"[{', '.join(items)}]"
    if len(line) <= _WIDTH:
        return line
    inner = ",\n".join(items).replace("\n", "\n  ")
    return f"[\n  {inner},\n]"


def _quoted(text: str) -> str:
    """Return text in quotes; the escapes of JSON are those of TOML, which wants one for the delete character too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _lines(text: str) -> str:
    """Return text over several lines as it is, between three quotes."""
    inner = text.replace("\\", "\\\\")
    if _QUOTES in inner or inner.endswith('"'):
        inner = inner.replace('"', '\\"')
    return f"{_QUOTES}\n{inner}{_QUOTES}"
