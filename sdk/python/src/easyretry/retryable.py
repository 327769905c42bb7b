"""Functions that are called now, and stored if they fail."""
from __future__ import annotations

import asyncio
import contextlib
import inspect
import os
import socket
from dataclasses import replace
from typing import Any, Awaitable, Callable, Dict, Generic, Iterator, Optional, Tuple, Type, TypeVar

from .client import Client
from .errors import EasyRetryError, GiveUp, NoValueYet, RetryAfter, StoreError
from .outcome import Outcome, error_text, of_error, of_result, sendable
from .submission import NewTask, Policy, Seconds, Submitted
from .task import current_task

R = TypeVar("R")
PERSIST = ("retry_only", "on_failure", "always", "manual")
Errors = Tuple[Type[BaseException], ...]


class Attempt(Generic[R]):
    """The result of a direct call. `state` is "succeeded", "stored" or "failed"."""

    def __init__(self, state: str, value: Optional[R] = None, task: Optional[str] = None,
                 error: Optional[BaseException] = None) -> None:
        self.state = state
        self.task = task  # the id of the stored task
        self.error = error  # what the function raised, if it did
        self._value = value

    def __bool__(self) -> bool:
        return self.state == "succeeded"

    @property
    def value(self) -> R:
        """Raises NoValueYet if the call has failed and is stored."""
        if self.state == "stored":
            raise NoValueYet(f"the call is stored as task {self.task}, and has no value yet")
        return self._value  # type: ignore[return-value]


class Rules(Generic[R]):
    """When a direct call is a success, when it is worth retrying, and when it is stored."""

    def __init__(self, persist: str = "retry_only", retry_on: Errors = (Exception,), never_retry: Errors = (),
                 success_when: Optional[Callable[[R], bool]] = None, policy: Optional[Policy] = None, lease: Seconds = 30.0,
                 rethrow: bool = False) -> None:
        if persist not in PERSIST:
            raise ValueError(f"persist = {persist!r}: there is {', '.join(PERSIST)}")
        self.persist = persist
        self.retry_on = retry_on
        self.never_retry = never_retry
        self.success_when = success_when
        self.policy = policy
        self.lease = lease  # how long this process holds a row that it stores, until it has reported the outcome
        self.rethrow = rethrow  # also raise the function's error when the call was stored

    def worth_retrying(self, error: Optional[BaseException]) -> bool:
        if self.policy is not None and self.policy.max_attempts == 1:
            return False
        if error is None or isinstance(error, RetryAfter):
            return True
        return isinstance(error, self.retry_on) and not isinstance(error, (GiveUp, *self.never_retry))

    def judge(self, value: R) -> Attempt[R]:
        succeeded = self.success_when is None or self.success_when(value)
        return Attempt("succeeded" if succeeded else "failed", value)


class Call(Generic[R]):
    """One direct call. `begin`, then the function, then `returned` or `raised`."""

    def __init__(self, client: Client, rules: Rules[R], task: NewTask) -> None:
        self.client = client
        self.rules = rules
        self.task = task
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

    def returned(self, value: R) -> Attempt[R]:
        attempt = self.rules.judge(value)
        leased = self.leased
        if attempt and leased is not None:
            self.keep(lambda: self.client.settle(leased, of_result(value, batch=False)), None)
        if attempt or self.rules.persist == "manual":
            return attempt
        outcome = Outcome("fail", error="the result is not a success")
        if not self.rules.worth_retrying(None):
            outcome.give_up = True
            self.keep(lambda: self.store_final(outcome), None)
            return attempt
        return Attempt("stored", task=self.keep(lambda: self.store_retry(outcome), None))

    def raised(self, error: Exception) -> Attempt[R]:
        """Raises `error` again if it will not be retried."""
        outcome = of_error(error)
        if not self.rules.worth_retrying(error):
            outcome.give_up, outcome.retry_after_ms = True, None
            self.keep(lambda: self.store_final(outcome), error)
            raise error
        if self.rules.persist == "manual":
            raise error
        stored = self.keep(lambda: self.store_retry(outcome), error)
        if self.rules.rethrow:
            raise error
        return Attempt("stored", task=stored, error=error)

    def store_final(self, outcome: Outcome) -> None:
        """A failure that is not retried goes to history, or nowhere."""
        leased = self.leased
        if self.rules.persist == "on_failure":
            leased = self.store_leased()
        if leased is not None and leased.created:
            self.client.settle(leased, outcome)

    def store_retry(self, outcome: Outcome) -> str:
        """The daemon's policy decides when the next attempt is due, so the failure is reported as that of a leased task."""
        leased = self.leased or self.store_leased()
        if leased.created:
            with contextlib.suppress(EasyRetryError):  # it is stored, and runs when its lease has expired
                self.client.settle(leased, outcome)
        return leased.id

    def keep(self, store: Callable[[], Any], failure: Optional[BaseException]) -> Any:
        try:
            return store()
        except EasyRetryError as trouble:
            raise StoreError(f"the outcome of a call of {self.task.handler} could not be stored: {trouble}", failure) from trouble


class Named(Generic[R]):
    """A function with a name, for direct calls and for submissions."""

    def __init__(self, client: Callable[[], Client], name: str, function: Callable[..., Any], rules: Rules[R]) -> None:
        self.client = client
        self.name = name
        self.function = function
        self.rules = rules
        self.fields: Dict[str, Any] = {}

    def options(self: N, **fields: Any) -> N:
        """The same function, whose calls and submissions have these fields of NewTask: key, tags, deadline, …"""
        copy = type(self)(self.client, self.name, self.function, self.rules)
        copy.fields = {**self.fields, **fields}
        return copy

    def task(self, args: Tuple[Any, ...]) -> NewTask:
        return NewTask(self.name, args, **{"policy": self.rules.policy, **self.fields})

    def call(self, args: Tuple[Any, ...]) -> Call[R]:
        return Call(self.client(), self.rules, self.task(args))


N = TypeVar("N", bound="Named[Any]")


class Retryable(Named[R]):
    """`pay(order)` runs the first attempt here and now; a failure is stored as `persist` says, and workers that have the handler
    retry it. Inside a task, it only calls the function, so a retry never stores a retry of itself."""

    def __call__(self, *args: Any) -> Attempt[R]:
        if current_task() is not None:
            return self.rules.judge(self.function(*args))
        call = self.call(args)
        if (instead := call.begin()) is not None:
            return instead
        try:
            value = self.function(*args)
        except Exception as error:  # an interrupt is no failure; with `always`, a worker then takes over
            return call.raised(error)
        return call.returned(value)

    def submit(self, *args: Any) -> Submitted:
        """Stores the call first; a worker runs it."""
        return self.client().submit_task(self.task(args))

    def store(self, *args: Any, why: str) -> str:
        """Stores a call that has already failed once. Returns the id of the task."""
        return self.call(args).store_retry(Outcome("fail", error=sendable(why)))


class AsyncRetryable(Named[R]):
    """The same for a coroutine function. Requests to the daemon run in threads of asyncio's pool."""

    async def __call__(self, *args: Any) -> Attempt[R]:
        function: Callable[..., Awaitable[R]] = self.function
        if current_task() is not None:
            return self.rules.judge(await function(*args))
        call = self.call(args)
        if (instead := await asyncio.to_thread(call.begin)) is not None:
            return instead
        try:
            value = await function(*args)
        except Exception as error:
            return await asyncio.to_thread(call.raised, error)
        return await asyncio.to_thread(call.returned, value)

    async def submit(self, *args: Any) -> Submitted:
        return await asyncio.to_thread(self.client().submit_task, self.task(args))

    async def store(self, *args: Any, why: str) -> str:
        return await asyncio.to_thread(self.call(args).store_retry, Outcome("fail", error=sendable(why)))


class NotASuccess(Exception):
    """The result of a retryable function that its `success_when` does not accept."""


def judged(function: Callable[..., Any], rules: Rules[Any]) -> Callable[..., Any]:
    """The function as a handler: its result has to be a success, and a failure that is not worth retrying is final."""
    def accepted(value: Any) -> Any:
        if not rules.judge(value):
            raise NotASuccess("the result is not a success")
        return value

    @contextlib.contextmanager
    def final_failures() -> Iterator[None]:
        try:
            yield
        except (NotASuccess, RetryAfter, GiveUp):
            raise
        except Exception as error:
            if isinstance(error, rules.never_retry) or not isinstance(error, rules.retry_on):
                raise GiveUp(error_text(error)) from error
            raise

    def run(*args: Any) -> Any:
        with final_failures():
            return accepted(function(*args))

    async def run_async(*args: Any) -> Any:
        with final_failures():
            return accepted(await function(*args))

    return run_async if inspect.iscoroutinefunction(function) else run


def owner_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"[:200]
