"""Erase traces of deleted data from the database files: at once, or in the background if another reader blocks it."""

import threading
import time

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from subsetprivacy.collect.storage import secure_delete as storage
from subsetprivacy.collect.storage.opening import reading

PATIENCE_SECONDS = 5.0
_SHORTEST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
_at_work: dict[Engine, threading.Thread] = {}
_lock = threading.Lock()


def erase(engine: Engine) -> bool:
    """Erase traces of deleted data from the files and return whether it worked. If not, a thread keeps trying."""
    if storage.erase(engine, seconds=PATIENCE_SECONDS):
        return True
    _begin(engine)
    return False


def resume_erasing(engine: Engine) -> None:
    """Continue in the background what a stopped server left undone."""
    if engine.dialect.name == "postgresql" and _is_pending(engine):
        _begin(engine)


def is_erasing(engine: Engine) -> bool:
    """Tell whether the files may still contain deleted data."""
    with reading(engine) as connection:
        return engine in _at_work or storage.is_erasing_requested(connection)


def _begin(engine: Engine) -> None:
    with _lock:
        if engine not in _at_work:
            _at_work[engine] = threading.Thread(target=_keep_erasing, args=(engine,), name="eraser", daemon=True)
            _at_work[engine].start()


def _keep_erasing(engine: Engine) -> None:
    pause = _SHORTEST_PAUSE
    try:
        time.sleep(pause)
        while not storage.erase(engine, seconds=PATIENCE_SECONDS):  # short readers have finished by then
            pause = min(2 * pause, _LONGEST_PAUSE)
            time.sleep(pause)
    finally:
        with _lock:
            del _at_work[engine]


def _is_pending(engine: Engine) -> bool:
    try:
        with reading(engine) as connection:
            return storage.is_erasing_requested(connection)
    except SQLAlchemyError:  # the database is unavailable: checked again later
        return True
