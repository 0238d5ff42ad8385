"""Folders that Spark can reach and this machine perhaps cannot: looked for, removed, and labelled with their designs.

Everything goes through the session, as a Connect client has nothing else: no
Hadoop file system, no gateway to the JVM.
"""

import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path, PurePath
from typing import Any, TypeVar
from urllib.parse import unquote
from uuid import uuid4

from subsetprivacy.errors import ArgumentError, DataFileError, SubsetPrivacyError, SubsetPrivacyWarning
from subsetprivacy.frames.files import FOLDER_SIDECAR
from subsetprivacy.frames.metadata import TableMetadata, metadata_from_json
from subsetprivacy.frames.worker import error_told
from subsetprivacy.messages.for_files import LOOK_INTO_SPARKS_LOG, REMOVE_BY_HAND

_ELSEWHERE = FOLDER_SIDECAR.removesuffix(".json")
T = TypeVar("T")


def check_output(output: Any) -> str:
    """Return the folder to write as Spark's text for it.

    Raises
    ------
    ArgumentError
        If it has no name of its own, or a sign that Spark takes for a pattern when it reads.
    """
    text = (output.as_posix() if isinstance(output, PurePath) else str(output)).rstrip("/")
    if not text or text.endswith(":") or not text.rpartition("/")[2]:
        raise ArgumentError("`output` must be the path of a folder to make.")
    if any(sign in text for sign in "*?[]{},\\"):
        raise ArgumentError(
            "`output` must have none of the signs * ? [ ] { } , \\ in it: Spark reads them as a pattern."
        )
    return text


def beside(output: str) -> str:
    """Return a folder on the same file system that readers of the parent skip, with a name that nothing else has."""
    parent, slash, name = output.rpartition("/")
    return f"{parent}{slash}_{name}.partial-{uuid4().hex}"


def exists(spark: Any, path: str) -> bool:
    """Tell whether there is a file or folder, as Spark sees it."""
    from pyspark.errors import AnalysisException

    try:
        spark.read.text(path).schema  # noqa: B018  asking for the schema makes Spark look
    except AnalysisException as error:
        if "PATH_NOT_FOUND" in (error.getCondition() or str(error)):
            return False
        raise
    return True


def remove(spark: Any, path: str) -> None:
    """Remove a folder that this run has made.

    Notes
    -----
    The only command of Spark that removes a folder wherever it is: a database
    that is dropped takes its folder along. Where the catalogue does not let us
    make one, the folder is emptied, and a warning says so.
    """
    here = local_path(path)
    if here is not None and here.exists():
        from shutil import rmtree

        rmtree(here, ignore_errors=True)
    if not exists(spark, path):
        return
    name = f"subset_privacy_{uuid4().hex}"
    place = _full_path(spark, path).replace("'", "\\'")
    try:
        spark.sql(f"CREATE DATABASE {name} LOCATION '{place}'")
        spark.sql(f"DROP DATABASE {name} CASCADE")
    except Exception:  # of whichever catalogue: its classes are not ours to know
        spark.range(0).write.mode("overwrite").parquet(path)
    if exists(spark, path):
        warnings.warn(
            SubsetPrivacyWarning(f"the folder {path} could only be emptied, not removed.", REMOVE_BY_HAND),
            stacklevel=2,
        )


def _full_path(spark: Any, path: str) -> str:
    """Return the whole address of a folder, if it has files: databases have another idea of where a path begins."""
    files = spark.read.text(path).inputFiles()
    return unquote(files[0]).rpartition("/")[0] if files else path


def local_path(path: str) -> Path | None:
    """Return where a folder would be on this machine, None if it is elsewhere for sure."""
    if path.startswith("file:"):  # Spark takes a % in a path for itself, so nothing is decoded
        return Path("/" + path.removeprefix("file:").lstrip("/"))
    return None if "://" in path else Path(path)


def write_document(spark: Any, output: str, document: str) -> None:
    """Put the document of the designs in a folder that was written.

    As ``_subset_privacy.json`` where this machine sees the folder; elsewhere
    Spark writes it as text in a folder ``_subset_privacy``. Readers of Parquet
    skip both. (As a file, Spark itself could not read it back: it skips such
    names even when it is given one. And it has no way to put a key into the
    Parquet files.)
    """
    seen = _seen_here(spark.read.parquet(output).inputFiles())
    if seen is not None:
        (seen / FOLDER_SIDECAR).write_text(document + "\n", encoding="utf-8")
    else:
        spark.createDataFrame([(document,)], "value string").coalesce(1).write.text(f"{output}/{_ELSEWHERE}")


def _seen_here(files: list[str]) -> Path | None:
    """Return the folder of Spark's files if this machine sees them; their names are unique, so none is mistaken."""
    path = local_path(unquote(files[0])) if files else None  # unlike paths, these are encoded
    return path.parent if path is not None and path.exists() else None


def read_document(spark: Any, path: Any) -> TableMetadata:
    """Return the designs that travel in a folder, wherever it is, as Spark reads them.

    Raises
    ------
    DataFileError
        If there is no document in the folder.
    DesignDocumentError
        If it is none, or was altered.
    """
    output = check_output(path)
    here = local_path(f"{output}/{FOLDER_SIDECAR}")
    if here is not None and here.is_file():
        return metadata_from_json(here.read_bytes(), str(here))
    place = f"{output}/{_ELSEWHERE}"
    if quietly(partial(exists, spark, place), f"look for {place}"):
        rows = quietly(spark.read.text(place, wholetext=True).collect, f"read {place}")
        return metadata_from_json("".join(row[0] for row in rows), place)
    raise DataFileError(f"the folder {output!r} must come with the designs of its columns; it has none.")


def quietly(work: Callable[[], T], doing: str) -> T:
    """Do something on Spark; what goes wrong is told in our words, because Spark's quote cells.

    Raises
    ------
    SubsetPrivacyError
        What a worker has raised, or a `DataFileError` with Spark's name for the condition.
    """
    try:
        return work()
    except SubsetPrivacyError:
        raise
    except Exception as error:
        told = error_told(str(error)) or _of_spark(error, doing)
    raise told  # outside of the handler: the error has no context that a log could print


def _of_spark(error: Exception, doing: str) -> DataFileError:
    condition = getattr(error, "getCondition", lambda: None)() or type(error).__name__
    return DataFileError(f"Spark must be able to {doing}; it stopped with {condition}.", LOOK_INTO_SPARKS_LOG)
