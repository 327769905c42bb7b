"""The tasks that this worker has leased and not yet settled. Renews their leases."""
from __future__ import annotations

import logging
import threading
import time
from typing import Dict, List, Optional, Set

from .daemon import Daemon, Pauses
from .errors import EasyRetryError, NotADaemon, Refused, Unauthorized
from .execution import Handler
from .outcome import sendable
from .task import Task

MOST_IN_A_REQUEST = 1000
FOREVER = float("inf")
PROGRESS_SECONDS = 1.0  # the shortest time between two reports of progress of a task


class Lease:
    """One leased task. Its fields change only under the lock of `Leases`."""

    def __init__(self, task: Task, handler: Handler, seconds: float) -> None:
        now = time.monotonic()
        self.task = task
        self.handler = handler
        self.renew_at = now + seconds / 3
        self.told_at = now - PROGRESS_SECONDS
        self.timeout_at = now + handler.timeout if handler.timeout is not None else None
        self.lost = False
        self.ended = False  # the handler has ended, and its outcome is on its way

    def due_at(self) -> float:
        due = self.renew_at
        if self.task.noted is not None:
            due = min(due, self.told_at + PROGRESS_SECONDS)
        if self.timeout_at is not None:
            due = min(due, self.timeout_at)
        return due


class Leases:
    """Bounded: a task has its place until it is settled, so a worker whose daemon is away does not pile up outcomes.
    Thread-safe. Time is measured on this machine only, so its clock need not agree with the daemon's."""

    def __init__(self, daemon: Daemon, seconds: float, most: int, pauses: Pauses, log: logging.Logger) -> None:
        self.daemon = daemon
        self.seconds = seconds
        self.most = most
        self.pauses = pauses
        self.log = log
        self.lock = threading.Lock()
        self.freed = threading.Condition(self.lock)
        self.sooner = threading.Condition(self.lock)  # a lease is due before `looks_at`, or the worker stops
        self.held: Set[Lease] = set()
        self.looks_at = 0.0  # when the thread that renews looks again
        self.closed = False
        self.thread = threading.Thread(target=self.renew_forever, name="easyretry-renew", daemon=True)

    def start(self) -> None:
        self.thread.start()

    def add(self, lease: Lease) -> None:
        with self.lock:
            self.held.add(lease)
            if lease.due_at() < self.looks_at:  # most are due later than those before them, and wake nothing
                self.sooner.notify_all()

    def remove(self, leases: List[Lease]) -> None:
        with self.lock:
            self.held.difference_update(leases)
            self.freed.notify_all()

    def end(self, lease: Lease) -> bool:
        """The handler has ended, or is no longer waited for. False: that was known already."""
        with self.lock:
            first = not lease.ended
            lease.ended = True
            return first

    def all(self) -> List[Lease]:
        with self.lock:
            return list(self.held)

    def wait_for_room(self, enough: int, seconds: float) -> int:
        """The number of free places: at once if there are enough, otherwise what there is after this time."""
        with self.lock:
            self.freed.wait_for(lambda: self.most - len(self.held) >= enough, seconds)
            return self.most - len(self.held)

    def wait_until_empty(self, seconds: float) -> bool:
        with self.lock:
            return self.freed.wait_for(lambda: not self.held, max(0.0, seconds))

    def look_again(self) -> None:
        """A task has noted its progress."""
        with self.lock:
            self.sooner.notify_all()

    def close(self) -> None:
        with self.lock:
            self.closed = True
            self.sooner.notify_all()

    def renew_forever(self) -> None:
        not_before = 0.0  # after a failure
        while (due := self.wait_for_due(not_before)) is not None:
            not_before = self.renew(due) if due else 0.0

    def wait_for_due(self, not_before: float) -> Optional[List[Lease]]:
        """None: the worker stops."""
        with self.lock:
            while not self.closed:
                now = time.monotonic()
                self.looks_at = max(not_before, min((lease.due_at() for lease in self.held if not lease.lost), default=FOREVER))
                if self.looks_at <= now:
                    return self.take_due(now)
                self.sooner.wait(min(self.looks_at - now, 3600.0))
            return None

    def take_due(self, now: float) -> List[Lease]:
        """Those that are due, or will be soon: one request serves them all. Called with the lock."""
        for lease in self.held:
            if lease.timeout_at is not None and lease.timeout_at <= now:
                lease.timeout_at = None
                lease.task.cancel("timeout")
        soon = now + self.seconds / 12
        return [lease for lease in self.held if not lease.lost and lease.due_at() <= soon][:MOST_IN_A_REQUEST]

    def renew(self, leases: List[Lease]) -> float:
        """Returns the earliest time of the next request."""
        sent_at = time.monotonic()
        notes = [lease.task.noted for lease in leases]
        try:
            held = self.ask([self.renewal(lease, note) for lease, note in zip(leases, notes)])
        except EasyRetryError as error:
            if isinstance(error, Refused) and not isinstance(error, Unauthorized):
                self.forget(leases, notes)  # leases matter more than notes, which may be what is refused
            pause = min(self.pauses.next(error), max(self.seconds / 6, error.retry_after or 0.0))
            self.log.warning("%d leases could not be renewed, trying again in %.1f s: %s", len(leases), pause, error)
            return time.monotonic() + pause
        self.pauses.reset()
        self.forget(leases, notes)
        with self.lock:
            for lease, holds in zip(leases, held):
                lease.renew_at = sent_at + self.seconds / 3
                lease.told_at = sent_at
                lease.lost = not holds
        for lease in leases:
            if lease.lost:
                self.tell(lease)
        return 0.0

    def ask(self, renewals: List[Dict[str, object]]) -> List[bool]:
        applied = self.daemon.post("/v1/leases/renew", {"tasks": renewals}).get("applied")
        if not isinstance(applied, list) or len(applied) != len(renewals):
            raise NotADaemon("the answer to a renewal does not say which leases hold")
        return applied

    def renewal(self, lease: Lease, note: Optional[str]) -> Dict[str, object]:
        fields: Dict[str, object] = {"id": lease.task.id, "version": lease.task.version, "lease_ms": round(self.seconds * 1000)}
        if note is not None:
            fields["progress"] = sendable(note)
        return fields

    def forget(self, leases: List[Lease], notes: List[Optional[str]]) -> None:
        """Notes that were sent. A handler may have made a new one since."""
        for lease, note in zip(leases, notes):
            if lease.task.noted == note:
                lease.task.noted = None

    def tell(self, lease: Lease) -> None:
        if not lease.ended:  # otherwise its own settlement came first
            self.log.warning("the lease of task %s (%s) was lost; its handler is cancelled", lease.task.id, lease.handler.name)
        lease.task.cancel("lease_lost")
