"""Find, remove and describe folders that Spark can reach and this machine perhaps cannot.

Everything goes through the session, because a Connect client has neither a Hadoop file system nor a gateway to the JVM.
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
from subsetprivacy.frames.worker import decoded_error
from subsetprivacy.messages.for_files import LOOK_INTO_SPARKS_LOG, REMOVE_BY_HAND

_ELSEWHERE = FOLDER_SIDECAR.removesuffix(".json")
T = TypeVar("T")


def check_output(output: Any) -> str:
    """Return the output folder as text for Spark.

    Raises
    ------
    ArgumentError
        If it has no name, or a character that Spark reads as a pattern.
    """
    text = (output.as_posix() if isinstance(output, PurePath) else str(output)).rstrip("/")
    if not text or text.endswith(":") or not text.rpartition("/")[2]:
        raise ArgumentError("`output` must be the path of a folder to make.")
    if any(sign in text for sign in "*?[]{},\\"):
        raise ArgumentError(
            "`output` must contain none of the characters * ? [ ] { } , \\ because Spark reads them as a pattern."
        )
    return text


def sibling_folder(output: str) -> str:
    """Return a unique folder on the same file system that readers of the parent skip."""
    parent, slash, name = output.rpartition("/")
    return f"{parent}{slash}_{name}.partial-{uuid4().hex}"


def exists(spark: Any, path: str) -> bool:
    """Return whether a file or folder exists for Spark."""
    from pyspark.errors import AnalysisException

    try:
        spark.read.text(path).schema  # noqa: B018  asking for the schema makes Spark look
    except AnalysisException as error:
        if "PATH_NOT_FOUND" in (error.getCondition() or str(error)):
            return False
        raise
    return True


def remove(spark: Any, path: str) -> None:
    """Remove a folder made by this run.

    Notes
    -----
    Dropping a database is Spark's only command that removes a folder anywhere. If the catalog does not allow creating
    one, the folder is only emptied, with a warning.
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
    except Exception:  # the error classes depend on the catalog
        spark.range(0).write.mode("overwrite").parquet(path)
    if exists(spark, path):
        warnings.warn(
            SubsetPrivacyWarning(f"the folder {path} could only be emptied, not removed.", REMOVE_BY_HAND),
            stacklevel=2,
        )


def _full_path(spark: Any, path: str) -> str:
    """Return the full address of a folder with files, because databases resolve paths differently."""
    files = spark.read.text(path).inputFiles()
    return unquote(files[0]).rpartition("/")[0] if files else path


def local_path(path: str) -> Path | None:
    """Return the path of a folder on this machine, None if it is certainly elsewhere."""
    if path.startswith("file:"):  # Spark reads % in a path literally, so nothing is decoded
        return Path("/" + path.removeprefix("file:").lstrip("/"))
    return None if "://" in path else Path(path)


def write_document(spark: Any, output: str, document: str) -> None:
    """Write the document of the designs to an output folder.

    It is ``_subset_privacy.json`` if this machine can access the folder. Otherwise Spark writes it as text in a folder
    ``_subset_privacy``. Readers of Parquet skip both. (Spark could not read the file back, because it skips such names
    even if they are given, and it cannot add a key to Parquet files.)
    """
    seen = _seen_here(spark.read.parquet(output).inputFiles())
    if seen is not None:
        (seen / FOLDER_SIDECAR).write_text(document + "\n", encoding="utf-8")
    else:
        spark.createDataFrame([(document,)], "value string").coalesce(1).write.text(f"{output}/{_ELSEWHERE}")


def _seen_here(files: list[str]) -> Path | None:
    """Return the folder of Spark's files if this machine can access them; their names are unique."""
    path = local_path(unquote(files[0])) if files else None  # unlike paths, these are encoded
    return path.parent if path is not None and path.exists() else None


def read_document(spark: Any, path: Any) -> TableMetadata:
    """Read the designs stored in a folder, through Spark if necessary.

    Raises
    ------
    DataFileError
        If there is no document in the folder.
    DesignDocumentError
        If it is not a document, or was altered.
    """
    output = check_output(path)
    here = local_path(f"{output}/{FOLDER_SIDECAR}")
    if here is not None and here.is_file():
        return metadata_from_json(here.read_bytes(), str(here))
    place = f"{output}/{_ELSEWHERE}"
    if with_safe_errors(partial(exists, spark, place), f"look for {place}"):
        rows = with_safe_errors(spark.read.text(place, wholetext=True).collect, f"read {place}")
        return metadata_from_json("".join(row[0] for row in rows), place)
    raise DataFileError(f"the folder {output!r} must come with the designs of its columns; it has none.")


def with_safe_errors(work: Callable[[], T], doing: str) -> T:
    """Run a function on Spark, and replace its errors, which may quote cells.

    Raises
    ------
    SubsetPrivacyError
        The error of a worker, or a `DataFileError` with Spark's name of the condition.
    """
    try:
        return work()
    except SubsetPrivacyError:
        raise
    except Exception as error:
        failure = decoded_error(str(error)) or _of_spark(error, doing)
    raise failure  # outside the handler, so that no log prints the original error


def _of_spark(error: Exception, doing: str) -> DataFileError:
    condition = getattr(error, "getCondition", lambda: None)() or type(error).__name__
    return DataFileError(f"Spark must be able to {doing}; it stopped with {condition}.", LOOK_INTO_SPARKS_LOG)
