"""Cancels handlers whose timeout has passed, or whose lease is over, in a thread that waits for no answer."""
from __future__ import annotations

import logging
import threading
import time
from typing import Callable, List, Tuple

from .leases import FOREVER, Lease, Leases
from .loops import forever
from .outcome import Outcome

AFTER_TIMEOUT = 1.0  # how long a handler has to end after its timeout, before its attempt counts as failed all the same
Act = Callable[[Lease], None]


class Watch:
    def __init__(self, leases: Leases, end: Callable[[Lease, Outcome], None], log: logging.Logger) -> None:
        self.leases = leases
        self.end = end
        self.log = log
        self.thread = threading.Thread(target=lambda: forever(self.step, "the watch over handlers", log), name="easyretry-watch",
                                       daemon=True)

    def start(self) -> None:
        self.thread.start()

    def step(self) -> bool:
        if not self.leases.wait_until(self.leases.watching, self.due_at):
            return False
        for act, lease in self.take_due(time.monotonic()):
            act(lease)
        return True

    def due_at(self) -> float:
        return min((lease.watched_at() for lease in self.leases.held), default=FOREVER)

    def take_due(self, now: float) -> List[Tuple[Act, Lease]]:
        """What is to be done, once for each."""
        due: List[Tuple[Act, Lease]] = []
        with self.leases.lock:
            for lease in self.leases.held:
                if lease.watched_at() > now:
                    continue
                if lease.until <= now:
                    lease.expired = True
                    due.append((self.expire, lease))
                elif lease.overdue_at <= now:
                    lease.overdue_at = FOREVER
                    due.append((self.give_up, lease))
                else:
                    lease.timeout_at, lease.overdue_at = FOREVER, now + AFTER_TIMEOUT
                    due.append((self.time_out, lease))
        return due

    def expire(self, lease: Lease) -> None:
        """Another worker may have the task now."""
        self.log.warning("the lease of task %s (%s) could not be renewed in time; its handler is cancelled", lease.task.id,
                         lease.handler.name)
        lease.task.cancel("lease_lost")

    def time_out(self, lease: Lease) -> None:
        self.log.warning("task %s (%s) has not ended within its timeout of %g s; its handler is cancelled", lease.task.id,
                         lease.handler.name, lease.handler.timeout)
        lease.task.cancel("timeout")

    def give_up(self, lease: Lease) -> None:
        """Otherwise it would keep its lease for ever, and nobody would learn of it."""
        self.log.error("task %s (%s) does not end although its timeout has passed; its attempt has failed, and its place stays "
                       "taken until it ends", lease.task.id, lease.handler.name)
        self.end(lease, Outcome("fail", error=f"timed out: the handler did not end within {lease.handler.timeout:g} s"))
