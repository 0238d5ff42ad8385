"""Several processes that work for one."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from threading import Thread, current_thread, main_thread
from typing import Any

_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


@contextmanager
def crew(processes: int) -> Iterator[Executor | None]:
    """Open a pool of processes for a whole run; None if there are to be none.

    They are started afresh, not forked from a process that has threads, and use one thread each for linear algebra:
    two processes with two threads each would wait for one another.
    """
    if processes == 0:
        yield None
        return
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    if sys.platform == "win32":
        processes = min(processes, 61)  # Windows waits for no more processes at once
    pool = _Pool(processes, mp_context=get_context("spawn"), initializer=_follow)
    try:
        yield pool
    except BaseException:
        for process in list((getattr(pool, "_processes", None) or {}).values()):
            process.terminate()  # nobody waits for the rest of their work
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


class _Pool(ProcessPoolExecutor):
    """A pool whose processes are started whole: one that is cut off before it knows its work ends in a traceback."""

    def submit(self, task: Callable[..., Any], /, *args: Any, **settings: Any) -> Future[Any]:
        """Hand out a task, and start a process for it if need be."""
        with _undisturbed():
            return super().submit(task, *args, **settings)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Put off the key that stops a run until this is done."""
    if current_thread() is not main_thread():  # which alone is stopped by it
        yield
        return
    came: list[Any] = []
    before = signal.signal(signal.SIGINT, lambda *what: came.append(what))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came and callable(before):
            before(*came[0])


def _follow() -> None:
    """Leave the key that stops a run to the process that started this one, and end when that one has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # it was killed: nobody is left to use what is done here
