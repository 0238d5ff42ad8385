"""Write readable TOML."""

import json
import re
from typing import Any

_WIDTH = 100
_QUOTES = '"""'
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_text(document: dict[str, Any]) -> str:
    """Return the document of a survey as TOML: settings first, then a block for each variable and link."""
    blocks = ["\n".join(f"{key} = {_value(value)}" for key, value in document.items() if not _is_blocks(value))]
    for key, value in document.items():
        if _is_blocks(value):
            blocks += [_block(key, item) for item in value]
    return "\n\n".join(blocks) + "\n"


def _is_blocks(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def _block(name: str, table: dict[str, Any]) -> str:
    """Return a table of a list. A long inner table follows it under its own header."""
    lines, below = [f"[[{name}]]"], []
    for key, value in table.items():
        text = f"{_key(key)} = {_value(value)}"
        if isinstance(value, dict) and len(text) > _WIDTH:
            below += [
                "",
                f"[{name}.{_key(key)}]",
                *(f"{_key(inner)} = {_value(part)}" for inner, part in value.items()),
            ]
        else:
            lines.append(text)
    return "\n".join(lines + below)


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _quoted(key)


def _value(value: Any) -> str:
    if isinstance(value, str):
        return _lines(value) if "\n" in value else _quoted(value)
    if isinstance(value, list):
        return _listed([_value(item) for item in value])
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_inline(inner)}" for key, inner in value.items()) + " }"
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _inline(value: Any) -> str:
    """Return a value on one line, as an inline table requires."""
    return f"[{', '.join(map(_inline, value))}]" if isinstance(value, list) else _value(value)


def _listed(items: list[str]) -> str:
    """Return a list on one line if it fits, else an item a line."""
    line = f"[{', '.join(items)}]"
    if len(line) <= _WIDTH:
        return line
    inner = ",\n".join(items).replace("\n", "\n  ")
    return f"[\n  {inner},\n]"


def _quoted(text: str) -> str:
    """Return text in quotes. TOML has the escapes of JSON, and requires one for the delete character too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _lines(text: str) -> str:
    """Return text over several lines as it is, between three quotes."""
    inner = text.replace("\\", "\\\\")
    if _QUOTES in inner or inner.endswith('"'):
        inner = inner.replace('"', '\\"')
    return f"{_QUOTES}\n{inner}{_QUOTES}"
