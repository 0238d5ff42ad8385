"""Test files are prepared once in a fresh clone, and not by every process of pytest-xdist.

Pytest rewrites the assertions of every test file and keeps the result beside it. Of the processes that collect the
same tests at the same time each would rewrite them all, which takes longer than all imports. So each does its share
first, and then mostly finds what it needs.
"""

import sys
from contextlib import suppress
from pathlib import Path

import pytest


def rewrite_share(config: pytest.Config) -> None:
    """Rewrite the share of this process of the test files that are not kept yet; without xdist do nothing.

    It calls what pytest does not promise to keep. Where that has changed nothing is done, and pytest rewrites all.
    """
    told = getattr(config, "workerinput", None)
    if told is None or sys.dont_write_bytecode:
        return
    folders = [Path(name) for name in config.args if Path(name).is_dir()]
    files = sorted({path.resolve() for folder in folders for path in folder.rglob("test_*.py")})
    with suppress(ImportError, AttributeError, KeyError, TypeError, ValueError, OSError):
        for path in files[int(told["workerid"].removeprefix("gw")) :: told["workercount"]]:
            with suppress(SyntaxError):  # pytest tells of it
                _rewrite(path, config)


def _rewrite(path: Path, config: pytest.Config) -> None:
    from _pytest.assertion import rewrite

    kept = rewrite.get_cache_dir(path) / f"{path.stem}{rewrite.PYC_TAIL}"
    if rewrite._read_pyc(path, kept) is None:
        kept.parent.mkdir(exist_ok=True)
        source, code = rewrite._rewrite_test(path, config)
        rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, source, kept)
