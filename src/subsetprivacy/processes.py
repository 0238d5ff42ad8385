"""A pool of worker processes."""

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

ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""What gives the linear algebra one thread, if it is in the environment before NumPy is imported."""

_STOPS = (signal.SIGINT, signal.SIGTERM)
_NAME = "subsetprivacy worker"
_PATIENCE = 10.0  # seconds that a killed process and the thread that serves it have to end
_GUARD = (
    "`jobs` must be 1 unless another process can import the script without starting its work again; a process that "
    "was started could not."
)


def cores() -> int:
    """Return how many processes can run at the same time."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def process_pool(processes: int) -> Iterator[Executor | None]:
    """Open a pool of processes for a whole run, or yield None if `processes` is 0.

    The processes are spawned, not forked from a process with threads. Each uses one thread for linear algebra, because
    two processes with two threads each would wait for one another. After an error the pool kills its processes.
    """
    if processes == 0:
        yield None
        return
    exit_if_reimported()
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    pool = _Pool(processes)
    try:
        yield pool
        pool.shutdown()
    finally:
        pool.kill()
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def exit_if_reimported() -> None:
    """Exit if this is a worker process that imports a script without the guard. The pool then reports it.

    Call this at the beginning of a run that starts processes: the script has reached it a second time.
    """
    process = current_process()
    if process.name == _NAME and getattr(process, "_inheriting", False):  # multiprocessing's own mark of this state
        raise SystemExit(1)


class _Pool(Executor):
    """Processes, each with a pipe and a thread that sends it tasks.

    Python's own pool shares pipes and locks among its processes. When the processes end, a thread may wait forever to
    write into a pipe that no process reads (Python before 3.11.6), and the locks are reported as leaked. In this pool
    a process that ends closes its pipe, which ends its thread.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._workers: list[_Worker] = []
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._lock = Lock()
        self._broken: Exception | None = None

    def submit(self, task: Callable[..., Any], /, *args: Any, **settings: Any) -> Future[Any]:
        """Submit a task, and start another process unless the pool is full."""
        with _signals_delayed(), self._lock:
            if self._broken is not None:
                raise self._broken
            future: Future[Any] = Future()
            self._tasks.put((future, (task, args, settings)))
            if len(self._workers) < self._most:
                self._workers.append(_Worker(self._tasks, self._break))
            return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes after they have finished their tasks."""
        if cancel_futures:
            self._drop(None)
        for _ in self._workers:
            self._tasks.put(None)
        for worker in self._workers if wait else ():
            worker.thread.join()
            worker.process.join()

    def kill(self) -> None:
        """End the processes and their threads immediately."""
        with _signals_delayed():
            for worker in self._workers:
                worker.process.kill()  # safe: their files become valid only when a unit is finished
            self._drop(None)
            for _ in self._workers:
                self._tasks.put(None)
            for worker in self._workers:
                worker.thread.join(_PATIENCE)
                worker.process.join(_PATIENCE)

    def _break(self, error: Exception) -> None:
        """Accept no more tasks, because a process was lost."""
        with self._lock:
            self._broken = self._broken or error
            self._drop(error)

    def _drop(self, error: Exception | None) -> None:
        """Cancel the tasks that have not been started, or let them fail."""
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
        """Send tasks to the process, one at a time, until there are no more or the process has ended."""
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
        except Exception as error:  # the task cannot be pickled
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
        """Return the error that describes how the process ended."""
        self.process.join(_PATIENCE)
        if not self._began and (self.process.exitcode or 0) > 0:
            return ArgumentError(_GUARD, CALL_UNDER_A_GUARD)
        return BrokenProcessPool("a process ended before its work was done")


@contextmanager
def _signals_delayed() -> Iterator[None]:
    """Delay the signals that stop a run until the block is done."""
    if current_thread() is not main_thread():  # only the main thread receives signals
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
    """Block the signals that stop a run for a process that is started now: only its parent may end it."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    ensure_running()  # starting it later would remove the block
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# In the processes ---------------------------------------------------------------------------------


def _work(pipe: Connection) -> None:
    """Run the tasks that arrive through a pipe until it is closed."""
    for number in _STOPS:
        signal.signal(number, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
    Thread(target=_end_with_parent, daemon=True).start()
    pipe.send_bytes(b"started")
    with suppress(EOFError, OSError):  # there are no more tasks, or the parent has ended
        while True:
            pipe.send_bytes(_done(pipe.recv_bytes()))


def _done(message: bytes) -> bytes:
    """Run a task and return its result, or the error that it raised."""
    try:
        task, args, settings = pickle.loads(message)
        return bytes(ForkingPickler.dumps((True, task(*args, **settings))))
    except Exception as error:
        error.add_note("In another process:\n" + "".join(format_tb(error.__traceback__)))
        try:
            return bytes(ForkingPickler.dumps((False, error)))
        except Exception:  # its message may contain a cell, so only its name is sent
            return bytes(ForkingPickler.dumps((False, RuntimeError(f"{type(error).__name__} in another process"))))


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # the parent was killed: no one can use the result
