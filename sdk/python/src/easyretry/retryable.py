"""Functions that are called now, and stored if they fail."""
from __future__ import annotations

import asyncio
import logging
from typing import Any, Awaitable, Callable, Dict, Generic, Tuple, TypeVar

from .calls import Call, only_calls
from .client import Client
from .outcome import Outcome, sendable
from .rules import Attempt, R, Rules
from .submission import NewTask, Submitted


class Named(Generic[R]):
    """A function with a name, for direct calls and for submissions."""

    def __init__(self, client: Callable[[], Client], name: str, function: Callable[..., Any], rules: Rules[R],
                 log: logging.Logger) -> None:
        self.client = client
        self.name = name
        self.function = function
        self.rules = rules
        self.log = log
        self.fields: Dict[str, Any] = {}

    def options(self: N, **fields: Any) -> N:
        """The same function, whose calls and submissions have these fields of NewTask: key, tags, deadline, …"""
        copy = type(self)(self.client, self.name, self.function, self.rules, self.log)
        copy.fields = {**self.fields, **fields}
        return copy

    def task(self, args: Tuple[Any, ...]) -> NewTask:
        return NewTask(self.name, args, **{"policy": self.rules.policy, **self.fields})

    def call(self, args: Tuple[Any, ...]) -> Call[R]:
        return Call(self.client(), self.rules, self.task(args), self.log)


N = TypeVar("N", bound="Named[Any]")


class Retryable(Named[R]):
    """`pay(order)` runs the first attempt here and now; a failure is stored as `persist` says, and workers that have the handler
    retry it. Inside a task, it only calls the function, so a retry never stores a retry of itself."""

    def __call__(self, *args: Any) -> Attempt[R]:
        if only_calls():
            return self.rules.judge(self.function(*args))
        call = self.call(args)
        if (instead := call.begin()) is not None:
            return instead
        try:
            with call.calling():
                value = self.function(*args)
        except Exception as error:  # an interrupt is no failure; with `always`, a worker then takes over
            return call.raised(error)
        return call.returned(value)

    def submit(self, *args: Any) -> Submitted:
        """Stores the call first; a worker runs it."""
        return self.client().submit_task(self.task(args))

    def store(self, *args: Any, why: str) -> str:
        """Stores a call that has already failed once. Returns the id of the task."""
        return self.call(args).store_retry(Outcome("fail", error=sendable(why)), None)


class AsyncRetryable(Named[R]):
    """The same for a coroutine function. Requests to the daemon run in threads of asyncio's pool."""

    async def __call__(self, *args: Any) -> Attempt[R]:
        function: Callable[..., Awaitable[R]] = self.function
        if only_calls():
            return self.rules.judge(await function(*args))
        call = self.call(args)
        if (instead := await asyncio.to_thread(call.begin)) is not None:
            return instead
        try:
            with call.calling():
                value = await function(*args)
        except Exception as error:
            return await asyncio.to_thread(call.raised, error)
        return await asyncio.to_thread(call.returned, value)

    async def submit(self, *args: Any) -> Submitted:
        return await asyncio.to_thread(self.client().submit_task, self.task(args))

    async def store(self, *args: Any, why: str) -> str:
        return await asyncio.to_thread(self.call(args).store_retry, Outcome("fail", error=sendable(why)), None)
