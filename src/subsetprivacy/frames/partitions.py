"""Partition columns in folder names: ``people/sex=F/part-0.parquet``, as Hive, Spark and Dask write them."""

import re
from collections.abc import Sequence
from functools import reduce
from operator import and_
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from attrs import frozen

_NULL = "__HIVE_DEFAULT_PARTITION__"
_WHOLE = re.compile(r"-?[0-9]{1,18}")


@frozen
class Partitions:
    """The partition columns of a folder, and their values for each file.

    Attributes
    ----------
    schema
        The columns: integers if every value is one, otherwise text.
    folder
        The top folder.
    """

    schema: Any
    folder: Path

    @property
    def names(self) -> list[str]:
        """The columns, in the order of the folders."""
        return list(self.schema.names)

    def values(self, file: Path) -> dict[str, Any]:
        """Return the value of each column in a file, None if missing."""
        import pyarrow as pa

        texts = _values_in_path(file, self.folder)
        return {
            each.name: None
            if (text := texts.get(each.name)) is None
            else int(text)
            if each.type == pa.int64()
            else text
            for each in self.schema
        }

    def expression(self, file: Path) -> Any:
        """Return the values as a PyArrow partition expression."""
        from pyarrow import dataset

        rules = [
            dataset.field(name).is_null() if value is None else dataset.field(name) == value
            for name, value in self.values(file).items()
        ]
        return reduce(and_, rules) if rules else None


def partitions_of(path: Path, files: Sequence[Path]) -> Partitions:
    """Read the partition columns from folder names; a single file has none."""
    import pyarrow as pa

    by_name: dict[str, list[str]] = {}
    for file in files if path.is_dir() else ():
        for name, text in _values_in_path(file, path).items():
            by_name.setdefault(name, []).extend([] if text is None else [text])
    kinds = {
        name: pa.int64() if texts and all(_WHOLE.fullmatch(text) for text in texts) else pa.string()
        for name, texts in by_name.items()
    }
    return Partitions(pa.schema(list(kinds.items())), path)


def _values_in_path(file: Path, folder: Path) -> dict[str, str | None]:
    parts = (part.partition("=") for part in file.relative_to(folder).parts[:-1])
    return {unquote(name): None if text == _NULL else unquote(text) for name, equals, text in parts if name and equals}
