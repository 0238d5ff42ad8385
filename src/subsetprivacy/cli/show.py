"""How results reach the terminal."""

import json
from typing import Any

import click


def echo_json(value: Any) -> None:
    """Print plain data as JSON; numbers that JSON has no word for become null."""
    click.echo(json.dumps(_plain(value), ensure_ascii=False, indent=1, allow_nan=False))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    return value
