"""Functions that are called now, and stored if they fail."""
from __future__ import annotations

import asyncio
import inspect
import logging
import sys
import time
from typing import TYPE_CHECKING, Any, Callable, Coroutine, Dict, Generic, Mapping, Protocol, Tuple, TypeVar, overload

from .calls import Call, only_calls
from .client import Client
from .in_memory import Tries
from .rules import Attempt, R, Rules
from .submission import NewTask, Submitted

if TYPE_CHECKING:
    from typing_extensions import ParamSpec  # a type checker has it for every version
elif sys.version_info >= (3, 10):
    from typing import ParamSpec
else:
    ParamSpec = TypeVar  # annotations are not evaluated

P = ParamSpec("P")


class Named(Generic[P, R]):
    """A function with a name, for direct calls and for submissions."""

    def __init__(self, client: Callable[[], Client], name: str, function: Callable[..., Any], rules: Rules[R],
                 log: logging.Logger) -> None:
        self.client = client
        self.name = name
        self.function = function
        self.rules = rules
        self.log = log
        self.fields: Dict[str, Any] = {}
        if rules.persist == "never":
            Tries(rules)  # a backoff that cannot be read is refused here, not by the first call

    def options(self: N, **fields: Any) -> N:
        """The same function, whose calls and submissions have these fields of NewTask: key, tags, deadline, …"""
        copy = type(self)(self.client, self.name, self.function, self.rules, self.log)
        copy.fields = {**self.fields, **fields}
        return copy

    def task(self, args: Tuple[Any, ...], named: Mapping[str, Any]) -> NewTask:
        """A task has its arguments in order, so those with names get their places."""
        if named:
            bound = inspect.signature(self.function).bind(*args, **named)
            bound.apply_defaults()
            if bound.kwargs:
                raise TypeError(f"{self.name}() has arguments that can only be given by name ({', '.join(bound.kwargs)}), and a task "
                                "has none of these")
            args = bound.args
        return NewTask(self.name, args, **{"policy": self.rules.policy, **self.fields})

    def call(self, args: Tuple[Any, ...], named: Mapping[str, Any]) -> Call[R]:
        return Call(self.client(), self.rules, self.task(args, named), self.log)


N = TypeVar("N", bound="Named[Any, Any]")


class Retryable(Named[P, R]):
    """`pay(order)` runs the first attempt here and now; a failure is stored as `persist` says, and workers that have the handler
    retry it. Inside a task, it only calls the function, so a retry never stores a retry of itself."""

    def __call__(self, *args: P.args, **named: P.kwargs) -> Attempt[R]:
        if only_calls():
            return self.rules.judge(self.function(*args, **named))
        if self.rules.persist == "never":
            return self.call_here(args, named)
        call = self.call(args, named)
        if (instead := call.begin()) is not None:
            return instead
        try:
            with call.calling():
                value = self.function(*args, **named)
        except Exception as error:  # an interrupt is no failure; with `always`, a worker then takes over
            return call.raised(error)
        return call.returned(value)

    def call_here(self, args: Tuple[Any, ...], named: Mapping[str, Any]) -> Attempt[R]:
        tries = Tries(self.rules)
        while True:
            try:
                with tries.calling():
                    attempt = self.rules.judge(self.function(*args, **named))
            except Exception as error:
                pause = tries.pause(error)
                if pause is None:
                    raise
            else:
                pause = None if attempt else tries.pause(None)
                if pause is None:
                    return attempt
            time.sleep(pause)

    def submit(self, *args: P.args, **named: P.kwargs) -> Submitted:
        """Stores the call first; a worker runs it."""
        return self.client().submit_task(self.task(args, named))

    def store(self, *args: Any, why: str) -> str:
        """Stores a call that has already failed once. Returns the id of the task."""
        return self.call(args, {}).store(why)


class AsyncRetryable(Named[P, R]):
    """The same for a coroutine function. Requests to the daemon run in threads of asyncio's pool."""

    async def __call__(self, *args: P.args, **named: P.kwargs) -> Attempt[R]:
        function: Callable[..., Coroutine[Any, Any, R]] = self.function
        if only_calls():
            return self.rules.judge(await function(*args, **named))
        if self.rules.persist == "never":
            return await self.call_here(args, named)
        call = self.call(args, named)
        if (instead := await asyncio.to_thread(call.begin)) is not None:
            return instead
        try:
            with call.calling():
                value = await function(*args, **named)
        except Exception as error:
            return await asyncio.to_thread(call.raised, error)
        return await asyncio.to_thread(call.returned, value)

    async def call_here(self, args: Tuple[Any, ...], named: Mapping[str, Any]) -> Attempt[R]:
        tries = Tries(self.rules)
        while True:
            try:
                with tries.calling():
                    attempt = self.rules.judge(await self.function(*args, **named))
            except Exception as error:
                pause = tries.pause(error)
                if pause is None:
                    raise
            else:
                pause = None if attempt else tries.pause(None)
                if pause is None:
                    return attempt
            await asyncio.sleep(pause)

    async def submit(self, *args: P.args, **named: P.kwargs) -> Submitted:
        return await asyncio.to_thread(self.client().submit_task, self.task(args, named))

    async def store(self, *args: Any, why: str) -> str:
        return await asyncio.to_thread(self.call(args, {}).store, why)


class Decorator(Protocol):
    """What `App.retryable(…)` returns: a coroutine function becomes an AsyncRetryable, another one a Retryable. Arguments and results
    keep their types."""

    @overload
    def __call__(self, function: Callable[P, Coroutine[Any, Any, R]]) -> AsyncRetryable[P, R]: ...  # type: ignore[overload-overlap]

    @overload
    def __call__(self, function: Callable[P, R]) -> Retryable[P, R]: ...
