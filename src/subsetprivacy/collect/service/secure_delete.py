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
    if engine.dialect.name == "postgresql" and _is_owed(engine):
        _begin(engine)


def is_erasing(engine: Engine) -> bool:
    """Tell whether the files may still contain deleted data."""
    with reading(engine) as connection:
        return engine in _at_work or storage.owes_erasing(connection)


def _begin(engine: Engine) -> None:
    with _lock:
        if engine not in _at_work:
            _at_work[engine] = threading.Thread(target=_go_on, args=(engine,), name="eraser", daemon=True)
            _at_work[engine].start()


def _go_on(engine: Engine) -> None:
    pause = _SHORTEST_PAUSE
    try:
        time.sleep(pause)
        while not storage.erase(engine, seconds=PATIENCE_SECONDS):  # short readers have finished by then
            pause = min(2 * pause, _LONGEST_PAUSE)
            time.sleep(pause)
    finally:
        with _lock:
            del _at_work[engine]


def _is_owed(engine: Engine) -> bool:
    try:
        with reading(engine) as connection:
            return storage.owes_erasing(connection)
    except SQLAlchemyError:  # the database is unavailable: checked again later
        return True
