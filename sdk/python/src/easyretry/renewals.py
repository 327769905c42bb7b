"""Renews leases, in a thread of its own, so that a request that hangs holds up nothing else."""
from __future__ import annotations

import logging
import threading
import time
from typing import Dict, List, Optional

from .daemon import Daemon, Pauses
from .errors import EasyRetryError, NotADaemon, Refused, Unauthorized
from .leases import FOREVER, Lease, Leases
from .loops import forever
from .outcome import sendable

MOST_IN_A_REQUEST = 1000


class Renewals:
    def __init__(self, daemon: Daemon, leases: Leases, seconds: float, pauses: Pauses, log: logging.Logger) -> None:
        self.daemon = daemon
        self.leases = leases
        self.seconds = seconds  # of a lease
        self.pauses = pauses
        self.log = log
        self.not_before = 0.0  # after a failure
        self.thread = threading.Thread(target=lambda: forever(self.step, "the renewal of leases", log), name="easyretry-renew",
                                       daemon=True)

    def start(self) -> None:
        self.thread.start()

    def step(self) -> bool:
        if not self.leases.wait_until(self.leases.renewing, self.due_at):
            return False
        self.not_before = time.monotonic() + self.seconds / 12  # if something unexpected happens
        self.not_before = self.renew(self.take_due())
        return True

    def due_at(self) -> float:
        return max(self.not_before, min((lease.renewal_at() for lease in self.leases.held), default=FOREVER))

    def take_due(self) -> List[Lease]:
        """Those that are due, or will be soon: one request serves them all."""
        soon = time.monotonic() + self.seconds / 12
        with self.leases.lock:
            return [lease for lease in self.leases.held if lease.renewal_at() <= soon][:MOST_IN_A_REQUEST]

    def renew(self, leases: List[Lease]) -> float:
        """Returns the earliest time of the next request."""
        sent_at = time.monotonic()
        notes = [lease.task.noted for lease in leases]
        try:
            held = self.ask([self.renewal(lease, note) for lease, note in zip(leases, notes)])
        except EasyRetryError as error:
            if isinstance(error, Refused) and not isinstance(error, Unauthorized):
                self.forget(leases, notes)  # leases matter more than notes, which may be what is refused
            # Also if the daemon asks for more: the leases would be over by then.
            pause = min(self.pauses.next(error), self.seconds / 6)
            self.log.warning("%d leases could not be renewed, trying again in %.1f s: %s", len(leases), pause, error)
            return time.monotonic() + pause
        self.pauses.reset()
        self.forget(leases, notes)
        with self.leases.lock:
            for lease, holds in zip(leases, held):
                lease.renew_at = sent_at + self.seconds / 3
                lease.told_at = sent_at
                lease.lost = not holds
                lease.until = sent_at + self.seconds if holds else lease.until
        for lease in leases:
            if lease.lost:
                self.tell(lease)
        return 0.0

    def ask(self, renewals: List[Dict[str, object]]) -> List[bool]:
        """If no answer comes within a third of the lease, there is still time for another try."""
        applied = self.daemon.post("/v1/leases/renew", {"tasks": renewals}, limit=self.seconds / 3).get("applied")
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
