"""Several processes that work for one."""

import os
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context

_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


@contextmanager
def crew(jobs: int) -> Iterator[Executor | None]:
    """Open a pool of processes for a whole run; none for a single job.

    They are started afresh, not forked from a process that has threads, and use one thread each for linear algebra:
    two processes with two threads each would wait for one another.
    """
    if jobs == 1:
        yield None
        return
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    if sys.platform == "win32":
        jobs = min(jobs, 61)  # Windows waits for no more processes at once
    # A key that stops the run reaches every process; the pool is told by the one that started it.
    deaf = (signal.SIGINT, signal.SIG_IGN)
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=signal.signal, initargs=deaf)
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
