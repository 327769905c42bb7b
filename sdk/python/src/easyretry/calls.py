"""Calls that are made now: what is stored of them, and when."""
from __future__ import annotations

import contextlib
import contextvars
import logging
import os
import socket
from dataclasses import replace
from typing import ContextManager, Generic, Iterator, Optional

from .client import Client
from .errors import EasyRetryError, StoreError
from .outcome import Outcome, of_error, of_result, sendable
from .rules import Attempt, R, Rules
from .submission import NewTask, Submitted
from .task import current_task

_only_calls: contextvars.ContextVar[bool] = contextvars.ContextVar("easyretry_only_calls", default=False)


def only_calls() -> bool:
    """Whether a call here is part of a task or of a retry, which will be repeated as a whole."""
    return current_task() is not None or _only_calls.get()


@contextlib.contextmanager
def only_calling() -> Iterator[None]:
    token = _only_calls.set(True)
    try:
        yield
    finally:
        _only_calls.reset(token)


def nothing_special() -> ContextManager[None]:
    return contextlib.nullcontext()


class Call(Generic[R]):
    """One direct call. `begin`, then the function, then `returned` or `raised`."""

    def __init__(self, client: Client, rules: Rules[R], task: NewTask, log: logging.Logger) -> None:
        self.client = client
        self.rules = rules
        self.task = task
        self.log = log
        self.leased: Optional[Submitted] = None

    def begin(self) -> Optional[Attempt[R]]:
        """The attempt, if the function is not to be called: another task with this key is live."""
        self.task.text()  # arguments that cannot be stored are refused before the function runs
        if self.rules.persist != "always":
            return None
        self.leased = self.store_leased()
        return None if self.leased.created else Attempt("stored", task=self.leased.id)

    def store_leased(self) -> Submitted:
        """If this process dies, a worker takes the task over when the lease has expired."""
        return self.client.submit_task(replace(self.task, owner=owner_name(), lease=self.rules.lease))

    def calling(self) -> ContextManager[None]:
        """Around the call of the function. If it is stored, it is a task, and calls that it makes are part of it."""
        return only_calling() if self.leased is not None else nothing_special()

    def returned(self, value: R) -> Attempt[R]:
        attempt = self.rules.judge(value)
        if attempt and self.leased is not None:
            self.tell(self.leased, of_result(value, batch=False))
        if attempt or self.rules.persist == "manual":
            return attempt
        outcome = Outcome("fail", error="the result is not a success")
        if not self.rules.worth_retrying(None):
            outcome.give_up = True
            self.store_final(outcome, None)
            return attempt
        return Attempt("stored", task=self.store_retry(outcome, None))

    def raised(self, error: Exception) -> Attempt[R]:
        """Raises `error` again if it will not be retried."""
        outcome = of_error(error)
        if not self.rules.worth_retrying(error):
            outcome.give_up, outcome.retry_after_ms = True, None
            self.store_final(outcome, error)
            raise error
        if self.rules.persist == "manual":
            raise error
        stored = self.store_retry(outcome, error)
        if self.rules.rethrow:
            raise error
        return Attempt("stored", task=stored, error=error)

    def store_final(self, outcome: Outcome, failure: Optional[BaseException]) -> None:
        """A failure that is not retried goes to history, or nowhere."""
        leased = self.leased
        if self.rules.persist == "on_failure":
            leased = self.keep(failure)
        if leased is not None:
            self.report(leased, outcome)

    def store_retry(self, outcome: Outcome, failure: Optional[BaseException]) -> str:
        """The daemon's policy decides when the next attempt is due, so the failure is reported as that of a leased task."""
        return self.report(self.leased or self.keep(failure), outcome)

    def store(self, why: str) -> str:
        """Stores a call that the caller has made itself, and that has failed."""
        return self.report(self.store_leased(), Outcome("fail", error=sendable(why)))

    def report(self, leased: Submitted, outcome: Outcome) -> str:
        if leased.created:  # otherwise a task with this key is live, and has another owner
            self.tell(leased, outcome)
        return leased.id

    def keep(self, failure: Optional[BaseException]) -> Submitted:
        try:
            return self.store_leased()
        except EasyRetryError as trouble:
            raise StoreError(f"a failed call of {self.task.handler} could not be stored: {trouble}", failure) from trouble

    def tell(self, leased: Submitted, outcome: Outcome) -> None:
        """The call is decided, and its caller gets the value or the error in any case. What is not told here, a worker finds out
        when the lease has expired: it runs the task once more."""
        if outcome.warning:
            self.log.warning("task %s (%s): %s", leased.id, self.task.handler, outcome.warning)
        try:
            self.client.settle(leased, outcome)
        except EasyRetryError as trouble:
            self.log.warning("the outcome of a call of %s could not be reported, and its task %s may run again when its lease has "
                             "expired: %s", self.task.handler, leased.id, trouble)


def owner_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"[:200]
