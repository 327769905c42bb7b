"""Tests of handlers without a daemon: tasks are kept in memory, and run by hand.

    with Manual(app) as manual:
        sign_up("ann")                          # your code, which calls app.client.submit("mail.send", {"to": "ann"})
        manual.run_all()
    assert manual.ended[0].outcome == "succeeded"

Time does not pass by itself: `run_next` moves it to the due time of the next task. The daemon's configuration is not known
here: an attempt that failed is due after `retry_delay`, and `max_attempts` is that of the task, or 16.
"""
from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, List, Optional

from .app import App
from .client import Client
from .errors import Conflict, Refused
from .execution import run_async, run_here
from .outcome import Outcome
from .submission import NewTask, Submitted
from .task import Task


@dataclass
class ManualTask:
    """A task as the test sees it."""

    id: str
    handler: str
    key: str
    args: List[Any] = field(repr=False)
    due: float  # seconds since the test began
    max_attempts: int
    attempts: int = 0
    last_error: str = ""
    outcome: Optional[str] = None  # None: it is live. "succeeded", "exhausted", "rejected"
    result: Any = None
    progress: Optional[str] = None
    fields: Dict[str, Any] = field(default_factory=dict, repr=False)


class Manual(Client):
    """Takes the place of the client of an App, while the `with` block runs. For one thread."""

    def __init__(self, app: App, retry_delay: float = 1.0) -> None:
        super().__init__(app.daemon)
        self.app = app
        self.retry_delay = retry_delay
        self.now = 0.0
        self.live: List[ManualTask] = []
        self.ended: List[ManualTask] = []
        self.stored = 0

    def __enter__(self) -> Manual:
        self.replaced, self.app.client = self.app.client, self
        return self

    def __exit__(self, *_: object) -> None:
        self.app.client = self.replaced

    def submit_task(self, task: NewTask) -> Submitted:
        fields = json.loads(task.text())
        if not fields["handler"]:
            raise Refused(422, "invalid", "the handler's name is empty")
        key = fields.get("key") or f"{task.handler}:{json.dumps(fields['args'], sort_keys=True)}"
        for other in self.live:
            if (other.handler, other.key) == (task.handler, key):
                if task.on_duplicate == "reject":
                    raise Conflict(409, "duplicate_key", f"a task of {task.handler} with this key is live")
                return Submitted(other.id, key, False, 1)
        self.stored += 1
        most = fields.get("policy", {}).get("max_attempts", 16)
        new = ManualTask(str(self.stored), task.handler, key, fields["args"], self.now + fields.get("delay_ms", 0) / 1000, most,
                         fields.get("attempts", 0), fields.get("error", ""), fields=fields)
        self.live.append(new)
        return Submitted(new.id, key, True, 1)

    def submit_many(self, tasks: Iterable[NewTask]) -> List[Submitted]:
        return [self.submit_task(task) for task in tasks]

    def settle(self, leased: Submitted, outcome: Outcome) -> None:
        task = next(task for task in self.live if task.id == leased.id)
        task.attempts += 1
        self.apply(task, outcome)

    def find(self, id: str, wait: float = 0.0) -> Dict[str, Any]:
        for task in self.live + self.ended:
            if task.id == id:
                return {"id": id, "handler": task.handler, "key": task.key, "attempts": task.attempts,
                        "state": "finished" if task.outcome else "pending", "outcome": task.outcome, "last_error": task.last_error}
        raise Refused(404, "not_found", f"there is no task {id}")

    def run_next(self) -> Optional[ManualTask]:
        """Runs one attempt of the task that is due first, in this thread. None: there is no task that has a handler here."""
        known = [task for task in self.live if task.handler in self.app.handlers]
        if not known:
            return None
        task = min(known, key=lambda one: one.due)
        self.now = max(self.now, task.due)
        task.attempts += 1
        self.apply(task, self.attempt(task))
        return task

    def run_all(self, most: int = 10_000) -> int:
        """Runs attempts until no task is left, and returns how many. Raises AssertionError after `most` of them."""
        for count in range(most):
            if self.run_next() is None:
                return count
        raise AssertionError(f"tasks are still live after {most} attempts: {self.live[:3]}")

    def attempt(self, manual: ManualTask) -> Outcome:
        handler = self.app.handlers[manual.handler]
        task = Task({**manual.fields, "id": manual.id, "version": manual.attempts, "attempts": manual.attempts,
                     "key": manual.key, "args": json.loads(json.dumps(manual.args))})
        outcome = asyncio.run(run_async(handler, task)) if handler.is_async else run_here(handler, task)
        manual.progress = task.noted or manual.progress
        return outcome

    def apply(self, task: ManualTask, outcome: Outcome) -> None:
        task.last_error = outcome.error or task.last_error
        if outcome.verb != "fail":
            task.result = json.loads(outcome.result) if outcome.result else None
            return self.end(task, "succeeded")
        if outcome.give_up:
            return self.end(task, "rejected")
        if task.attempts >= task.max_attempts > 0:
            return self.end(task, "exhausted")
        task.due = self.now + (self.retry_delay if outcome.retry_after_ms is None else outcome.retry_after_ms / 1000)

    def end(self, task: ManualTask, outcome: str) -> None:
        task.outcome = outcome
        self.live.remove(task)
        self.ended.append(task)
