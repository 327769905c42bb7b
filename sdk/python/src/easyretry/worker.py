"""Leases tasks, runs their handlers and settles them."""
from __future__ import annotations

import asyncio
import logging
import threading
import time
from dataclasses import dataclass
from typing import Any, Dict, List, Optional

from .daemon import Daemon, Pauses
from .errors import EasyRetryError, NotADaemon
from .execution import Executor, Handler
from .leases import Lease, Leases
from .line import Line
from .loops import forever, place_of
from .outcome import HANDED_BACK, Outcome
from .renewals import Renewals
from .settling import Settler
from .task import Task
from .watch import Watch

MOST_A_LEASE = 1000
SOONEST = 0.1  # seconds; a daemon does not answer earlier that there is nothing, unless it stops
LAST_ANSWER = 2.0  # how long a stop waits for the answer to a poll, which may have tasks
AFTER_CANCEL = 1.0  # how long handlers have to end after they were told to, when the worker stops


@dataclass
class WorkerOptions:
    concurrency: int  # handlers that run at once
    lease: float  # seconds; renewed when a third has passed
    wait: float  # the longest poll, in seconds
    drain: float  # how long a stop lets handlers finish, in seconds
    batch: int  # tasks per request
    most_pause: float  # between two tries to reach the daemon, unless it asks for more

    def check(self) -> None:
        for name, low, high in (("concurrency", 1, 100_000), ("lease", 0.1, 86_400), ("wait", 0, 60), ("drain", 0, 86_400),
                                ("batch", 1, MOST_A_LEASE), ("most_pause", 0.01, 3_600)):
            value = getattr(self, name)
            if not low <= value <= high:
                raise ValueError(f"{name} = {value}: use {low} to {high}")


class Worker:
    """Started once. A thread polls, one renews leases, one watches handlers, a few settle; handlers have their own."""

    def __init__(self, daemon: Daemon, handlers: Dict[str, Handler], options: WorkerOptions, log: logging.Logger,
                 loop: Optional[asyncio.AbstractEventLoop] = None) -> None:
        options.check()
        if not handlers:
            raise ValueError("there is no handler; register one with @app.handler(\"name\")")
        self.daemon = daemon
        self.handlers = handlers
        self.options = options
        self.log = log
        self.executor = Executor(loop)
        self.leases = Leases(options.concurrency)
        self.renewals = Renewals(daemon, self.leases, options.lease, self.pauses(), log)
        self.watch = Watch(self.leases, self.end, log)
        self.settler = Settler(daemon, options.batch, self.pauses, self.leases.remove, log)
        self.line = Line(daemon.address)  # of the poll, so that a stop can end it
        self.stopping = threading.Event()
        self.poll_pauses = self.pauses()
        self.poller = threading.Thread(target=lambda: forever(self.step, "the poll for tasks", log), name="easyretry-poll",
                                       daemon=True)

    def pauses(self) -> Pauses:
        return Pauses(most=self.options.most_pause)

    def start(self) -> None:
        self.renewals.start()
        self.watch.start()
        self.settler.start()
        self.poller.start()

    def stop(self) -> None:
        """Leases no more tasks, lets handlers finish for `drain`, cancels the rest and hands them back."""
        self.stopping.set()
        self.line.hang_up()
        self.poller.join(LAST_ANSWER)
        if self.poller.is_alive():
            self.line.abort()
            self.poller.join(LAST_ANSWER)
        if not self.leases.wait_until_empty(self.options.drain):
            self.cancel_rest()
        self.settler.close()
        self.leases.close()
        self.executor.close()
        self.line.close()
        self.daemon.close()

    def cancel_rest(self) -> None:
        for lease in self.leases.all():
            lease.task.cancel("stopping")
        if self.leases.wait_until_empty(AFTER_CANCEL):
            return
        rest = [lease for lease in self.leases.all() if not lease.ended]
        for lease in rest:
            self.log.warning("task %s (%s) does not end although it is cancelled; it is handed back, and may run twice at a time",
                             lease.task.id, lease.handler.name)
            self.end(lease, HANDED_BACK)
        if not self.leases.wait_until_empty(max(AFTER_CANCEL, self.daemon.timeout / 2)):
            self.log.error("%d tasks could not be handed back; they run again when their leases have expired",
                           len(self.leases.all()))

    def step(self) -> bool:
        """Leases once, when there is room. False: the worker stops."""
        if self.stopping.is_set():
            return False
        room = self.room()
        if room > 0:
            try:
                if self.lease_and_begin(room):
                    self.poll_pauses.reset()
                else:
                    self.stopping.wait(self.poll_pauses.next())
            except EasyRetryError as error:
                if not self.stopping.is_set():
                    pause = self.poll_pauses.next(error)
                    self.log.warning("no tasks could be leased, trying again in %.1f s: %s", pause, error)
                    self.stopping.wait(pause)
        return True

    def lease_and_begin(self, room: int) -> bool:
        """False: the daemon has answered at once that there is nothing, and would do so again."""
        asked = time.monotonic()
        tasks = self.poll(room)
        for fields in tasks:
            self.begin(fields)
        return bool(tasks) or time.monotonic() - asked >= max(self.options.wait / 2, SOONEST)

    def room(self) -> int:
        """Places for new tasks. If there are only a few, more may be free in a moment, and then one request fills them all."""
        room = self.leases.wait_for_room(max(1, min(self.options.batch, self.options.concurrency) // 2), 0.005)
        return room or self.leases.wait_for_room(1, 1.0)

    def poll(self, room: int) -> List[Dict[str, Any]]:
        wanted = {"handlers": list(self.handlers), "max": min(room, self.options.batch),
                  "wait_ms": round(self.options.wait * 1000), "lease_ms": round(self.options.lease * 1000)}
        tasks = self.daemon.post("/v1/leases", wanted, wait=self.options.wait, line=self.line).get("tasks")
        if not isinstance(tasks, list):
            raise NotADaemon("the answer to a lease request has no list of tasks")
        return tasks

    def begin(self, fields: Dict[str, Any]) -> None:
        try:
            task = Task(fields, self.leases.noted)
            handler = self.handlers[task.handler]
        except (KeyError, TypeError) as error:
            self.log.error("a leased task cannot be run here (%s: %s)", type(error).__name__, error)
            return
        lease = Lease(task, handler, self.options.lease)
        self.leases.add(lease)
        if self.stopping.is_set():
            return self.end(lease, HANDED_BACK)
        try:
            lease.running = True
            self.executor.run(handler, task, lambda outcome: self.returned(lease, outcome))
        except RuntimeError as error:  # no more threads, or the application has closed its event loop
            lease.running = False
            self.log.error("task %s (%s) cannot be started, and is handed back: %s", task.id, handler.name, error)
            self.end(lease, HANDED_BACK)
            self.stopping.wait(1.0)

    def returned(self, lease: Lease, outcome: Outcome) -> None:
        """Called by the thread of the handler, which must not end."""
        try:
            self.leases.returned(lease)
            self.end(lease, outcome)
        except Exception as error:
            self.log.error("the end of task %s (%s): unexpected %s", lease.task.id, lease.handler.name, place_of(error))
            self.leases.remove([lease])

    def end(self, lease: Lease, outcome: Outcome) -> None:
        """The first call counts: that of the handler, or that of a watch or a stop that no longer waits for it."""
        if not self.leases.end(lease):
            return
        if outcome.verb == "fail":  # its text may have arguments, and is for the daemon only
            self.log.info("attempt %d of task %s (%s) failed", lease.task.attempt, lease.task.id, lease.handler.name)
        # After an expiry, only a success is worth telling: an error is probably due to the cancellation.
        if lease.lost or (lease.expired and outcome.verb in ("fail", "hand_back")):
            self.leases.remove([lease])
        else:
            self.settler.put(lease, outcome)
