"""Stores tasks, and asks about them."""
from __future__ import annotations

import asyncio
import time
import urllib.parse
import uuid
from dataclasses import replace
from typing import Any, Dict, Iterable, Iterator, List

from .daemon import Daemon, Pauses
from .errors import Conflict, InDoubt, Refused, Unauthorized, Unavailable
from .outcome import Outcome
from .submission import NewTask, Submitted

MOST_IN_A_REQUEST = 10_000
MOST_BYTES = 8_000_000  # the daemon takes 8 MiB
LONGEST_WAIT = 60.0


class Client:
    """Thread-safe. A request whose answer is lost is repeated with the same Idempotency-Key, so it stores nothing twice."""

    def __init__(self, daemon: Daemon, patience: float = 30.0, most_pause: float = 15.0) -> None:
        self.daemon = daemon
        self.patience = patience  # how long a submission is repeated before its error is raised, in seconds
        self.most_pause = most_pause

    def submit(self, handler: str, *args: Any, **options: Any) -> Submitted:
        """Stores one task. The options are the fields of NewTask: key, delay, due_at, policy, tags, …"""
        return self.submit_task(NewTask(handler, args, **options))

    def submit_task(self, task: NewTask) -> Submitted:
        return Submitted.of(self.store(task.text()))

    def submit_many(self, tasks: Iterable[NewTask]) -> List[Submitted]:
        """Stores many tasks: up to 10,000, and 8 MB, atomically. More are several requests; if a later one fails, the earlier
        ones are stored, and the same keys can be submitted again."""
        stored: List[Submitted] = []
        for texts in batches(task.text() for task in tasks):
            stored += Submitted.all_of(self.store(b'{"tasks":[' + b",".join(texts) + b"]}"))
        return stored

    def find(self, id: str, wait: float = 0.0) -> Dict[str, Any]:
        """The task as the daemon shows it. With `wait`, answers when it has ended, or after so many seconds."""
        query = f"?wait_ms={round(min(wait, LONGEST_WAIT) * 1000)}" if wait > 0 else ""
        return self.daemon.get(f"/v1/tasks/{urllib.parse.quote(str(id), safe='')}{query}", wait=wait)

    def whoami(self) -> Dict[str, Any]:
        return self.daemon.get("/v1/whoami")

    def store(self, text: bytes) -> Dict[str, Any]:
        return self.repeat("/v1/tasks", text, {"Idempotency-Key": str(uuid.uuid4())})

    def settle(self, leased: Submitted, outcome: Outcome) -> None:
        """For a task that was submitted with `owner` and `lease`: its attempt has ended."""
        try:
            self.repeat(f"/v1/leases/{leased.id}/{outcome.verb}", outcome.body(leased.version), {})
        except Settled:
            pass
        except Refused as error:
            if isinstance(error, (Conflict, Unauthorized)) or outcome.result is None:
                raise
            self.settle(leased, replace(outcome, result=None))  # it may be the result that the daemon does not take

    def repeat(self, path: str, text: bytes, headers: Dict[str, str]) -> Dict[str, Any]:
        """Repeats while the daemon cannot be reached. Once a try was in doubt, so is every failure except a refusal."""
        begun, doubt = time.monotonic(), False
        pauses = Pauses(most=self.most_pause)
        while True:
            try:
                return self.daemon.ask("POST", path, text, headers=headers)
            except Conflict as error:
                if not doubt:
                    raise
                raise Settled(f"{error}; this may be due to an earlier try, whose answer was lost") from error
            except (Unavailable, InDoubt) as error:
                doubt = doubt or isinstance(error, InDoubt)
                if isinstance(error, InDoubt) and error.remembered and headers:
                    headers = {"Idempotency-Key": str(uuid.uuid4())}
                pause = pauses.next(error)
                if time.monotonic() - begun + pause > self.patience:
                    raise InDoubt(str(error)) if doubt and not isinstance(error, InDoubt) else error
            time.sleep(pause)


class Settled(InDoubt):
    """A conflict after a try in doubt: another request was first, and it may have been our own."""


def batches(texts: Iterable[bytes]) -> Iterator[List[bytes]]:
    batch: List[bytes] = []
    size = 0
    for text in texts:
        if batch and (len(batch) == MOST_IN_A_REQUEST or size + len(text) > MOST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text) + 1
    if batch:
        yield batch


class AsyncClient:
    """The same for coroutines. Each call runs in a thread of asyncio's pool, with the context of its caller."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def submit(self, handler: str, *args: Any, **options: Any) -> Submitted:
        return await asyncio.to_thread(self.client.submit, handler, *args, **options)

    async def submit_many(self, tasks: Iterable[NewTask]) -> List[Submitted]:
        return await asyncio.to_thread(self.client.submit_many, list(tasks))

    async def find(self, id: str, wait: float = 0.0) -> Dict[str, Any]:
        return await asyncio.to_thread(self.client.find, id, wait)

    async def whoami(self) -> Dict[str, Any]:
        return await asyncio.to_thread(self.client.whoami)
