"""Runs handlers: functions on threads, coroutines on an event loop. What they return or raise becomes an outcome."""
from __future__ import annotations

import asyncio
import collections
import contextlib
import contextvars
import inspect
import threading
from typing import Any, Callable, Deque, Optional

from .outcome import HANDED_BACK, Outcome, of_error, of_result
from .task import Task, _current

Ended = Callable[[Outcome], None]


class Handler:
    """A registered function."""

    def __init__(self, name: str, function: Callable[..., Any], batch: bool = False, timeout: Optional[float] = None) -> None:
        if not name or len(name.encode()) > 200:
            raise ValueError(f"the handler's name {name[:50]!r} must have 1 to 200 bytes")
        self.name = name
        self.function = function
        self.batch = batch  # successes are settled in batches; the daemon's success_when and keep_results do not apply
        self.timeout = timeout  # seconds after which the task is cancelled
        self.is_async = inspect.iscoroutinefunction(function)


def end_of(task: Task, outcome: Outcome) -> Outcome:
    """A failure after the worker has told the handler to stop is no failed attempt: the task goes back."""
    if outcome.verb != "fail" or task.why_cancelled is None:
        return outcome
    if task.why_cancelled == "stopping":
        return HANDED_BACK
    if task.why_cancelled == "timeout":
        outcome.error = f"timed out: {outcome.error}"
    return outcome


def run_here(handler: Handler, task: Task) -> Outcome:
    """Runs a function. Raises nothing: SystemExit and the like are failed attempts, too."""
    token = _current.set(task)
    try:
        outcome = of_result(handler.function(*task.args), handler.batch)
    except BaseException as error:
        outcome = of_error(error)
    finally:
        _current.reset(token)
    return end_of(task, outcome)


async def run_async(handler: Handler, task: Task) -> Outcome:
    """The same for a coroutine. Nothing may leave it: asyncio ends its loop for SystemExit and KeyboardInterrupt."""
    token = _current.set(task)
    try:
        return end_of(task, of_result(await handler.function(*task.args), handler.batch))
    except BaseException as error:
        return end_of(task, of_error(error))
    finally:
        with contextlib.suppress(ValueError):  # a coroutine whose loop was closed ends in the context of another
            _current.reset(token)  # otherwise the context of the asyncio task keeps it


class Threads:
    """As many threads as are needed at once. One that takes a job while others wait starts the next thread; so jobs that end at
    once are done by a few threads, and jobs that block soon have one each. They are daemon threads: a handler that never ends
    does not keep the process from ending."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.ready = threading.Condition(self.lock)
        # Guarded by lock
        self.jobs: Deque[Callable[[], None]] = collections.deque()
        self.count = 0
        self.idle = 0
        self.is_starting = False
        self.is_closed = False

    def run(self, job: Callable[[], None]) -> None:
        """Raises RuntimeError if there is no thread, and none can be started."""
        with self.lock:
            self.jobs.append(job)
            if self.idle > 0:
                self.ready.notify()
                return
            try:
                self.start_one()
            except RuntimeError:  # the system has no more threads; those that there are will do it
                if self.count == 0:
                    self.jobs.remove(job)
                    raise

    def start_one(self) -> None:
        """Called with the lock."""
        if self.is_starting:
            return
        threading.Thread(target=self.loop, name=f"easyretry-{self.count + 1}", daemon=True).start()
        self.count += 1
        self.is_starting = True

    def loop(self) -> None:
        with self.lock:
            self.is_starting = False
        while (job := self.take()) is not None:
            job()
            del job  # its task and arguments are not kept while this thread waits

    def take(self) -> Optional[Callable[[], None]]:
        with self.lock:
            while not self.jobs:
                if self.is_closed:
                    return None
                self.idle += 1
                self.ready.wait()
                self.idle -= 1
            job = self.jobs.popleft()
            if self.jobs and self.idle == 0:
                with contextlib.suppress(RuntimeError):
                    self.start_one()
            return job

    def close(self) -> None:
        with self.lock:
            self.is_closed = True
            self.ready.notify_all()


class Loop:
    """An event loop for coroutines: the application's, or one on a thread of its own, started when it is first needed."""

    def __init__(self, loop: Optional[asyncio.AbstractEventLoop] = None) -> None:
        self.loop = loop
        self.owned = loop is None
        self.lock = threading.Lock()
        self.keep: set[Any] = set()  # asyncio itself refers to its tasks only weakly

    def run(self, handler: Handler, task: Task, ended: Ended) -> None:
        with self.lock:
            if self.loop is None:
                self.loop = asyncio.new_event_loop()
                threading.Thread(target=self.run_own, name="easyretry-loop", daemon=True).start()
        self.loop.call_soon_threadsafe(self.begin, handler, task, ended, context=contextvars.Context())

    def run_own(self) -> None:
        assert self.loop is not None
        self.loop.run_forever()
        self.loop.close()

    def begin(self, handler: Handler, task: Task, ended: Ended) -> None:
        loop = asyncio.get_running_loop()
        future = loop.create_task(run_async(handler, task))
        self.keep.add(future)

        def finish(done: asyncio.Task[Outcome]) -> None:
            self.keep.discard(done)
            # Cancelled before its first step: run_async had no chance to catch it.
            ended(end_of(task, of_error(asyncio.CancelledError())) if done.cancelled() else done.result())

        future.add_done_callback(finish)

        def cancel() -> None:
            with contextlib.suppress(RuntimeError):  # the application has closed its loop, and with it the coroutine
                loop.call_soon_threadsafe(future.cancel)

        task.on_cancel(cancel)

    def close(self) -> None:
        if self.owned and self.loop is not None:
            with contextlib.suppress(RuntimeError):
                self.loop.call_soon_threadsafe(self.loop.stop)


class Executor:
    def __init__(self, loop: Optional[asyncio.AbstractEventLoop] = None) -> None:
        self.threads = Threads()
        self.loop = Loop(loop)

    def run(self, handler: Handler, task: Task, ended: Ended) -> None:
        """Calls `ended` once, from another thread."""
        if handler.is_async:
            self.loop.run(handler, task, ended)
        else:
            self.threads.run(lambda: ended(run_here(handler, task)))

    def close(self) -> None:
        self.threads.close()
        self.loop.close()
