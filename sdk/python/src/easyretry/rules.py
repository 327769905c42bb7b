"""The rules of a function that is called now and stored if it fails, and what a call of it comes to."""
from __future__ import annotations

import contextlib
import inspect
from typing import Any, Callable, Generic, Iterator, Literal, Optional, Tuple, Type, TypeVar

from .errors import GiveUp, NoValueYet, RetryAfter
from .outcome import error_text
from .submission import Policy, Seconds

R = TypeVar("R")
Persist = Literal["retry_only", "on_failure", "always", "manual", "never"]
PERSIST = ("retry_only", "on_failure", "always", "manual", "never")
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

    def __init__(self, persist: Persist = "retry_only", retry_on: Errors = (Exception,), never_retry: Errors = (),
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
