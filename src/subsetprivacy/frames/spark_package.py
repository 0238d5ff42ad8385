"""Send this package as one archive to Spark workers on which it is not installed."""

import tempfile
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any
from weakref import WeakSet
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

_EPOCH = (1980, 1, 1, 0, 0, 0)  # so that equal files give equal archives
_reached: "WeakSet[Any]" = WeakSet()


def send_package(spark: Any) -> None:
    """Send this package and attrs to the workers of a Spark session, once.

    Workers need only Python, NumPy and PyArrow. Drawing subsets does not use SciPy.
    """
    if spark not in _reached:
        spark.addArtifacts(str(archive()), pyfile=True)
        _reached.add(spark)


@cache
def archive() -> Path:
    """Return the archive, made once and removed when Python exits.

    Its name is a digest of its content, so that two versions in one session do not collide.
    """
    contents = {name: path.read_bytes() for name, path in _modules()}
    digest = blake2b(digest_size=8)
    for name, content in contents.items():
        digest.update(name.encode() + b"\0" + content)
    path = Path(_folder().name) / f"subsetprivacy-{digest.hexdigest()}.zip"
    with ZipFile(path, "w", ZIP_DEFLATED) as made:
        for name, content in contents.items():
            made.writestr(ZipInfo(name, _EPOCH), content, ZIP_DEFLATED)
    return path


@cache
def _folder() -> "tempfile.TemporaryDirectory[str]":
    # Spark's workers fetch the archive from here when they join, so it must stay as long as this process.
    return tempfile.TemporaryDirectory(prefix="subsetprivacy-", ignore_cleanup_errors=True)


def _modules() -> Iterator[tuple[str, Path]]:
    """Yield the modules of this package and of attrs, in a fixed order."""
    import attr
    import attrs

    ours = Path(__file__).parent.parent
    for root in (ours, Path(attr.__file__).parent, Path(attrs.__file__).parent):
        for path in sorted(root.rglob("*.py")):
            yield path.relative_to(root.parent).as_posix(), path
