"""Several processes that work for one."""

import os
import pickle
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import current_process, get_context, parent_process
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from multiprocessing.resource_tracker import ensure_running
from queue import Empty, SimpleQueue
from threading import Lock, Thread, current_thread, main_thread
from traceback import format_tb
from typing import Any

from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages.for_files import CALL_UNDER_A_GUARD

_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
_STOPS = (signal.SIGINT, signal.SIGTERM)
_NAME = "subsetprivacy worker"
_PATIENCE = 10.0  # seconds that a killed process and the thread that serves it have to end
_GUARD = (
    "`jobs` must be 1 unless another process can import the script without starting its work again; one that was "
    "started could not."
)


def cores() -> int:
    """Return how many processes can work at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def process_pool(processes: int) -> Iterator[Executor | None]:
    """Open a pool of processes for a whole run; None if there are to be none.

    They are started afresh, not forked from a process that has threads, and use one thread each for linear algebra:
    two processes with two threads each would wait for one another. After an error they are killed, whatever they do.
    """
    if processes == 0:
        yield None
        return
    exit_if_reimported()
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    pool = _Pool(processes)
    try:
        yield pool
        pool.shutdown()
    finally:
        pool.kill()
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def exit_if_reimported() -> None:
    """End this process if it is one of a pool's that imports a script which lacks the guard; the pool says so.

    To be called before a run that starts processes does anything: the script has reached it a second time.
    """
    process = current_process()
    if process.name == _NAME and getattr(process, "_inheriting", False):  # multiprocessing's own mark of this state
        raise SystemExit(1)


class _Pool(Executor):
    """Processes with a pipe each, and a thread for each that hands it tasks.

    Python's own pool shares pipes and locks among its processes. When those are ended, a thread may wait for ever to
    write into a pipe that nobody reads (Python before 3.11.6), and the locks are reported as leaked. Here a process
    that ends closes its pipe, which ends its thread.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._workers: list[_Worker] = []
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._lock = Lock()
        self._broken: Exception | None = None

    def submit(self, task: Callable[..., Any], /, *args: Any, **settings: Any) -> Future[Any]:
        """Hand out a task, and start a process if there may be one more."""
        with _undisturbed(), self._lock:
            if self._broken is not None:
                raise self._broken
            future: Future[Any] = Future()
            self._tasks.put((future, (task, args, settings)))
            if len(self._workers) < self._most:
                self._workers.append(_Worker(self._tasks, self._break))
            return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes once they have done what they were handed."""
        if cancel_futures:
            self._drop(None)
        for _ in self._workers:
            self._tasks.put(None)
        for worker in self._workers if wait else ():
            worker.thread.join()
            worker.process.join()

    def kill(self) -> None:
        """End the processes at once, and their threads with them."""
        with _undisturbed():
            for worker in self._workers:
                worker.process.kill()  # they write to files that only a finished unit makes valid
            self._drop(None)
            for _ in self._workers:
                self._tasks.put(None)
            for worker in self._workers:
                worker.thread.join(_PATIENCE)
                worker.process.join(_PATIENCE)

    def _break(self, error: Exception) -> None:
        """Take no more tasks, as a process was lost."""
        with self._lock:
            self._broken = self._broken or error
            self._drop(error)

    def _drop(self, error: Exception | None) -> None:
        """Cancel the tasks that nobody has begun, or let them fail."""
        kept = 0
        with suppress(Empty):
            while True:
                waiting = self._tasks.get_nowait()
                if waiting is None:
                    kept += 1
                elif error is None:
                    waiting[0].cancel()
                elif waiting[0].set_running_or_notify_cancel():
                    waiting[0].set_exception(error)
        for _ in range(kept):
            self._tasks.put(None)


_Task = tuple[Future[Any], tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]]


class _Worker:
    """A process, the pipe to it, and the thread that serves both."""

    def __init__(self, tasks: "SimpleQueue[_Task | None]", lost: Callable[[Exception], None]) -> None:
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._tasks, self._lost = tasks, lost
        self._began = False
        self.process = context.Process(target=_work, args=(theirs,), name=_NAME, daemon=True)
        with _out_of_reach():
            self.process.start()
        theirs.close()  # so that the pipe ends when the process does
        self.thread = Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self) -> None:
        """Hand tasks to the process, one at a time, until there are no more or it is gone."""
        task: _Task | None = None
        try:
            self._pipe.recv_bytes()  # it has started
            self._began = True
            while (task := self._tasks.get()) is not None:
                if task[0].set_running_or_notify_cancel():
                    self._do(task)
        except (EOFError, OSError):
            error = self._why()
            if task is not None:
                task[0].set_exception(error)
            self._lost(error)
        finally:
            self._pipe.close()

    def _do(self, task: _Task) -> None:
        future, work = task
        try:
            message = ForkingPickler.dumps(work)
        except Exception as error:  # of whatever cannot be sent
            future.set_exception(error)
            return
        self._pipe.send_bytes(message)
        reply = self._pipe.recv_bytes()
        try:
            fine, result = pickle.loads(reply)
        except Exception as error:
            fine, result = False, error
        future.set_result(result) if fine else future.set_exception(result)

    def _why(self) -> Exception:
        """Return the error that says how the process ended."""
        self.process.join(_PATIENCE)
        if not self._began and (self.process.exitcode or 0) > 0:
            return ArgumentError(_GUARD, CALL_UNDER_A_GUARD)
        return BrokenProcessPool("a process ended before its work was done")


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Put off the signals that stop a run until this is done."""
    if current_thread() is not main_thread():  # which alone is stopped by them
        yield
        return
    received: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
    with ExitStack() as handlers:
        for number in _STOPS:
            before = signal.getsignal(number)
            if callable(before):
                signal.signal(number, lambda *what, before=before: received.append((before, what)))
                handlers.callback(signal.signal, number, before)
        yield
    for handler, what in received[:1]:
        handler(*what)


@contextmanager
def _out_of_reach() -> Iterator[None]:
    """Block the signals that stop a run for a process that is started now: it is ended by its parent alone."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    ensure_running()  # it would take the block away
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# In the processes ---------------------------------------------------------------------------------


def _work(pipe: Connection) -> None:
    """Do the tasks that come through a pipe until it is closed."""
    for number in _STOPS:
        signal.signal(number, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
    Thread(target=_end_with_parent, daemon=True).start()
    pipe.send_bytes(b"started")
    with suppress(EOFError, OSError):  # there are no more, or nobody is left to ask
        while True:
            pipe.send_bytes(_done(pipe.recv_bytes()))


def _done(message: bytes) -> bytes:
    """Do a task; return what came of it, or the error that it has raised."""
    try:
        task, args, settings = pickle.loads(message)
        return bytes(ForkingPickler.dumps((True, task(*args, **settings))))
    except Exception as error:
        error.add_note("In another process:\n" + "".join(format_tb(error.__traceback__)))
        try:
            return bytes(ForkingPickler.dumps((False, error)))
        except Exception:  # its message may show a cell, so only its name is sent
            return bytes(ForkingPickler.dumps((False, RuntimeError(f"{type(error).__name__} in another process"))))


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # it was killed: nobody is left to use what is done here
