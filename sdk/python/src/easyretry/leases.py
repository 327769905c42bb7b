"""The tasks that this worker has leased and not yet settled, and the places that they take."""
from __future__ import annotations

import threading
import time
from typing import Callable, List, Set

from .execution import Handler
from .task import Task

FOREVER = float("inf")
PROGRESS_SECONDS = 1.0  # the shortest time between two reports of progress of a task


class Lease:
    """One leased task. Its fields change only under the lock of `Leases`."""

    def __init__(self, task: Task, handler: Handler, seconds: float) -> None:
        now = time.monotonic()
        self.task = task
        self.handler = handler
        self.until = now + seconds  # by the clock of this machine
        self.renew_at = now + seconds / 3
        self.told_at = now - PROGRESS_SECONDS
        self.timeout_at = FOREVER if handler.timeout is None else now + handler.timeout
        self.overdue_at = FOREVER  # when a handler whose timeout has passed is no longer waited for
        self.lost = False  # the daemon said so
        self.expired = False  # not renewed in time: another worker may have the task, but the daemon decides
        self.running = False  # the handler has begun, and not yet returned
        self.ended = False  # the handler has ended, or is no longer waited for; its outcome is on its way

    def renewal_at(self) -> float:
        """An outcome that waits to be sent still needs its lease."""
        if self.lost or (self.expired and not self.ended):
            return FOREVER
        return self.renew_at if self.task.noted is None else min(self.renew_at, self.told_at + PROGRESS_SECONDS)

    def watched_at(self) -> float:
        if self.ended or self.lost or self.expired:
            return FOREVER
        return min(self.until, self.timeout_at, self.overdue_at)


class Alarm:
    """When a thread looks at the leases again. Guarded by the lock of `Leases`."""

    def __init__(self, lock: threading.Lock) -> None:
        self.changed = threading.Condition(lock)
        self.looks_at = 0.0

    def ring_for(self, time: float) -> None:
        if time < self.looks_at:  # most leases are due later than those before them, and wake nothing
            self.changed.notify_all()


class Leases:
    """Bounded: a task has its place until it is settled, so a worker whose daemon is away does not pile up outcomes; and until
    its handler has returned, so handlers that never end do not pile up. Thread-safe. Time is measured on this machine only, so
    its clock need not agree with the daemon's."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.lock = threading.Lock()
        self.freed = threading.Condition(self.lock)
        self.renewing = Alarm(self.lock)
        self.watching = Alarm(self.lock)
        # Guarded by lock
        self.held: Set[Lease] = set()
        self.stuck: Set[Lease] = set()  # settled, but the handler still runs
        self.closed = False

    def add(self, lease: Lease) -> None:
        with self.lock:
            self.held.add(lease)
            self.renewing.ring_for(lease.renewal_at())
            self.watching.ring_for(lease.watched_at())

    def remove(self, leases: List[Lease]) -> None:
        with self.lock:
            self.held.difference_update(leases)
            self.stuck.update(lease for lease in leases if lease.running)
            self.freed.notify_all()

    def returned(self, lease: Lease) -> None:
        """The handler has, if late."""
        with self.lock:
            lease.running = False
            if lease in self.stuck:
                self.stuck.remove(lease)
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

    def room(self) -> int:
        """Called with the lock."""
        return self.most - len(self.held) - len(self.stuck)

    def wait_for_room(self, enough: int, seconds: float) -> int:
        """The number of free places: at once if there are enough, otherwise what there is after this time."""
        with self.lock:
            self.freed.wait_for(lambda: self.room() >= enough, seconds)
            return self.room()

    def wait_until_empty(self, seconds: float) -> bool:
        with self.lock:
            return self.freed.wait_for(lambda: not self.held, max(0.0, seconds))

    def wait_until(self, alarm: Alarm, due_at: Callable[[], float]) -> bool:
        """Until this time, which is asked for with the lock, and again when the alarm rings. False: the worker stops."""
        with self.lock:
            while not self.closed:
                now = time.monotonic()
                alarm.looks_at = due_at()
                if alarm.looks_at <= now:
                    return True
                alarm.changed.wait(min(alarm.looks_at - now, 3600.0))
            return False

    def noted(self) -> None:
        """A task has noted its progress."""
        with self.lock:
            self.renewing.changed.notify_all()

    def close(self) -> None:
        with self.lock:
            self.closed = True
            self.renewing.changed.notify_all()
            self.watching.changed.notify_all()
