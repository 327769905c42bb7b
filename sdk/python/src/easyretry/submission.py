"""A task to be stored, and the answer of the daemon."""
from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Sequence, Union

from .daemon import json_bytes
from .errors import InvalidArguments, NotADaemon
from .task import current_task

Seconds = Union[int, float, datetime.timedelta]


def seconds_of(time: Seconds) -> float:
    return time.total_seconds() if isinstance(time, datetime.timedelta) else float(time)


def millis(time: Seconds) -> int:
    return round(seconds_of(time) * 1000)


def moment(time: datetime.datetime) -> str:
    if time.tzinfo is None:
        raise ValueError(f"{time.isoformat()} has no time zone; use datetime.now(timezone.utc), for example")
    return time.astimezone(datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True)
class Policy:
    """Replaces what the daemon is configured with for the handler. A field that is None stays as configured; 0 is no limit."""

    max_attempts: Optional[int] = None
    max_duration: Optional[Seconds] = None
    backoff: Optional[str] = None  # as in the configuration: "exponential first=1s cap=15m jitter=1s"

    def fields(self) -> Dict[str, Any]:
        named = {"max_attempts": self.max_attempts, "backoff": self.backoff,
                 "max_duration_ms": None if self.max_duration is None else millis(self.max_duration)}
        return {name: value for name, value in named.items() if value is not None}


@dataclass
class NewTask:
    """A task for `submit_many`. `args` are the arguments of the handler, in order."""

    handler: str
    args: Sequence[Any] = ()
    key: Optional[str] = None  # one live task per key; None: made from the handler and the arguments
    on_duplicate: Optional[str] = None  # "keep" (default), "update_policy", "reject"
    delay: Optional[Seconds] = None
    due_at: Optional[datetime.datetime] = None
    deadline: Optional[datetime.datetime] = None  # no attempt starts after it
    policy: Optional[Policy] = None
    business_type: Optional[str] = None
    business_id: Optional[str] = None
    tags: Sequence[str] = ()
    traceparent: Optional[str] = None  # None: that of the task that is running here; "": none
    attempts: Optional[int] = None  # already made by the caller
    error: Optional[str] = None  # of the last of them
    owner: Optional[str] = None  # with `lease`: the caller runs the next attempt itself
    lease: Optional[Seconds] = field(default=None, repr=False)

    def __repr__(self) -> str:  # without the arguments
        return f"NewTask({self.handler!r}, key={self.key!r})"

    def fields(self) -> Dict[str, Any]:
        running = current_task()
        trace = running.traceparent if self.traceparent is None and running is not None else self.traceparent
        named = {
            "handler": self.handler, "args": list(self.args), "key": self.key, "on_duplicate": self.on_duplicate,
            "delay_ms": None if self.delay is None else millis(self.delay),
            "due_at": None if self.due_at is None else moment(self.due_at),
            "deadline": None if self.deadline is None else moment(self.deadline),
            "policy": None if self.policy is None else self.policy.fields(),
            "business_type": self.business_type, "business_id": self.business_id, "tags": list(self.tags) or None,
            "traceparent": trace or None, "attempts": self.attempts, "error": self.error, "owner": self.owner,
            "lease_ms": None if self.lease is None else millis(self.lease),
        }
        return {name: value for name, value in named.items() if value is not None}

    def text(self) -> bytes:
        """Raises InvalidArguments. The message names the handler, never an argument."""
        try:
            return json_bytes(self.fields())
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidArguments(f"the arguments for {self.handler} cannot be written as JSON: {reason_of(error)}") from None


def reason_of(error: BaseException) -> str:
    """Why JSON cannot represent a value, without the value itself."""
    if isinstance(error, UnicodeError):
        return "a text is not valid Unicode"
    if isinstance(error, RecursionError) or "Circular" in str(error):
        return "a value contains itself"
    return "a number is NaN, infinite or too long" if isinstance(error, ValueError) else str(error)


@dataclass(frozen=True)
class Submitted:
    id: str
    key: str
    created: bool  # False: a task with this key was live, and `id` is its id
    version: int

    @staticmethod
    def of(answer: Dict[str, Any]) -> Submitted:
        try:
            return Submitted(str(answer["id"]), str(answer["key"]), bool(answer["created"]), int(answer["version"]))
        except (KeyError, TypeError, ValueError) as error:
            raise NotADaemon(f"the answer to a submission is not one of this version ({type(error).__name__}: {error})") from error

    @staticmethod
    def all_of(answer: Dict[str, Any]) -> List[Submitted]:
        tasks = answer.get("tasks")
        if not isinstance(tasks, list):
            raise NotADaemon("the answer to a batch of submissions has no list of tasks")
        return [Submitted.of(one) for one in tasks]
