"""Tells the daemon how attempts ended. Keeps trying while the daemon is away."""
from __future__ import annotations

import logging
import queue
import threading
from typing import Callable, List, NamedTuple, Optional

from .daemon import Daemon, Pauses
from .errors import Conflict, EasyRetryError, InDoubt, Refused, Unauthorized, Unavailable
from .leases import Lease
from .loops import forever, place_of
from .outcome import Outcome

PARALLEL = 8  # requests for single tasks at a time; the daemon commits them together


class Settlement(NamedTuple):
    lease: Lease
    outcome: Outcome


class Settler:
    """Successes of handlers with `batch` and tasks that are handed back go many in a request. The others go one by one, because
    the daemon judges them: by success_when, and by the policy. `settled` is called with leases that need no more care."""

    def __init__(self, daemon: Daemon, batch: int, pauses: Callable[[], Pauses], settled: Callable[[List[Lease]], None],
                 log: logging.Logger) -> None:
        self.daemon = daemon
        self.batch = batch
        self.pauses = pauses
        self.settled = settled
        self.log = log
        self.many: queue.SimpleQueue[Optional[Settlement]] = queue.SimpleQueue()
        self.single: queue.SimpleQueue[Optional[Settlement]] = queue.SimpleQueue()
        self.given_up = threading.Event()
        self.threads = [self.thread(self.settle_batch, "easyretry-settle")]
        self.threads += [self.thread(self.settle_next, f"easyretry-settle-{number}") for number in range(PARALLEL)]

    def thread(self, step: Callable[[], bool], name: str) -> threading.Thread:
        return threading.Thread(target=lambda: forever(step, "the settling of tasks", self.log), name=name, daemon=True)

    def start(self) -> None:
        for thread in self.threads:
            thread.start()

    def put(self, lease: Lease, outcome: Outcome) -> None:
        if outcome.warning:
            self.log.warning("task %s (%s): %s", lease.task.id, lease.handler.name, outcome.warning)
        (self.many if outcome.in_batches else self.single).put(Settlement(lease, outcome))

    def close(self) -> None:
        """Ends all tries. Tasks that are not settled run again when their leases have expired."""
        self.given_up.set()
        self.many.put(None)
        for _ in range(PARALLEL):
            self.single.put(None)

    # Each step is a call of its own, so that no task is kept while a thread waits for the next.

    def settle_next(self) -> bool:
        one = self.single.get()
        if one is not None:
            self.deliver([one.lease], lambda: self.send(one))
        return one is not None

    def settle_batch(self) -> bool:
        first = self.many.get()
        if first is None:
            return False
        waiting = [first]
        while len(waiting) < self.batch:
            try:
                more = self.many.get_nowait()
            except queue.Empty:
                break
            if more is None:
                self.many.put(None)
                break
            waiting.append(more)
        self.deliver([one.lease for one in waiting], lambda: self.send_all(waiting))
        return True

    def send(self, one: Settlement) -> None:
        task = one.lease.task
        try:
            self.daemon.ask("POST", f"/v1/leases/{task.id}/{one.outcome.verb}", one.outcome.body(task.version))
        except Conflict:  # lost; or settled by an earlier try whose answer was lost
            self.log.info("task %s (%s) was no longer leased when it was settled", task.id, one.lease.handler.name)
        except Refused as error:
            if isinstance(error, Unauthorized) or one.outcome.result is None:
                raise
            one.outcome.result = None  # it may be the result that the daemon does not take
            self.log.warning("task %s (%s): its result was refused, and is left out: %s", task.id, one.lease.handler.name, error)
            self.send(one)

    def send_all(self, waiting: List[Settlement]) -> None:
        wanted = [{"id": one.lease.task.id, "version": one.lease.task.version, "kind": one.outcome.verb} for one in waiting]
        self.daemon.post("/v1/leases/settle", {"tasks": wanted})

    def deliver(self, leases: List[Lease], send: Callable[[], None]) -> None:
        """Until it has arrived. A refusal is final, apart from that of a token, which can be replaced."""
        pauses = self.pauses()
        while not self.given_up.is_set():
            try:
                send()
                break
            except (Unavailable, InDoubt, Unauthorized) as error:
                pause = pauses.next(error)
                self.log.warning("%d outcomes could not be sent, trying again in %.1f s: %s", len(leases), pause, error)
                self.given_up.wait(pause)
            except EasyRetryError as error:
                self.log.error("%d outcomes were refused; the tasks run again when their leases have expired: %s",
                               len(leases), error)
                break
            except Exception as error:
                self.log.error("%d outcomes cannot be sent (%s); the tasks run again when their leases have expired", len(leases),
                               place_of(error))
                break
        self.settled(leases)
