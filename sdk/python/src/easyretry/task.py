"""The task that a handler runs, as the handler sees it."""
from __future__ import annotations

import contextvars
import threading
from typing import Any, Callable, Dict, List, Optional, Tuple

from .errors import Cancelled

_current: contextvars.ContextVar[Optional["Task"]] = contextvars.ContextVar("easyretry_task", default=None)


def current_task() -> Optional[Task]:
    """The task that this thread or asyncio task runs; None outside of handlers."""
    return _current.get()


class Task:
    """Made by the worker. A handler reads it, from any thread."""

    def __init__(self, fields: Dict[str, Any], report: Callable[[], None] = lambda: None) -> None:
        self.id: str = fields["id"]
        self.version: int = fields["version"]  # the fencing token: pass it to systems that can reject late writers
        self.handler: str = fields["handler"]
        self.key: str = fields.get("key", "")
        self.attempt: int = fields.get("attempts", 1)
        self.args: List[Any] = fields.get("args", [])
        self.traceparent: Optional[str] = fields.get("traceparent")
        self.business_type: Optional[str] = fields.get("business_type")
        self.business_id: Optional[str] = fields.get("business_id")
        self.tags: Tuple[str, ...] = tuple(fields.get("tags", ()))
        self.last_error: Optional[str] = fields.get("last_error")
        self.noted: Optional[str] = None  # a progress that was not sent yet
        self.why_cancelled: Optional[str] = None  # "lease_lost", "timeout", "stopping"
        self._cancelled = threading.Event()
        self._report = report  # called after each progress
        self._on_cancel: Optional[Callable[[], None]] = None
        self._lock = threading.Lock()

    def __repr__(self) -> str:  # without the arguments
        return f"Task({self.id}, {self.handler}, key={self.key!r}, attempt={self.attempt})"

    @property
    def cancelled(self) -> bool:
        """True: end soon. The lease was lost, the handler's timeout has passed, or the worker stops."""
        return self._cancelled.is_set()

    def wait(self, seconds: float) -> bool:
        """Waits, but not longer than until the task is cancelled. Returns `cancelled`."""
        return self._cancelled.wait(seconds)

    def raise_if_cancelled(self) -> None:
        if self.cancelled:
            raise Cancelled(f"{self.why_cancelled}")

    def progress(self, text: str) -> None:
        """A note for operators, sent with a renewal of the lease: at once, but not more often than once a second."""
        self.noted = str(text)
        self._report()

    def cancel(self, why: str) -> None:
        """Tells the handler to end. Coroutines get asyncio.CancelledError; functions have to look at `cancelled`."""
        with self._lock:
            if self.why_cancelled is not None:
                return
            self.why_cancelled = why
            act = self._on_cancel
        self._cancelled.set()
        if act is not None:
            act()

    def on_cancel(self, act: Callable[[], None]) -> None:
        """Calls `act` when the task is cancelled; at once if it already is."""
        with self._lock:
            self._on_cancel = act
            already = self.why_cancelled is not None
        if already:
            act()
