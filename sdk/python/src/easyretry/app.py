"""An application: its handlers, its client and its worker."""
from __future__ import annotations

import asyncio
import functools
import inspect
import logging
import os
import signal
import threading
from typing import Any, Callable, Dict, Optional, TypeVar, Union, cast

from .client import AsyncClient, Client
from .daemon import Daemon
from .execution import Handler
from .retryable import AsyncRetryable, Decorator, Retryable
from .rules import Errors, Persist, Rules, judged
from .submission import Policy, Seconds, seconds_of
from .worker import Worker, WorkerOptions

F = TypeVar("F", bound=Callable[..., Any])
DEFAULT_URL = "http://127.0.0.1:7077"


class App:
    """Handlers are registered first; then `run()`, or `start()` and `stop()`, work on their tasks."""

    def __init__(self, url: Optional[str] = None, token: Optional[str] = None, *, token_file: str = "",
                 ca_file: Optional[str] = None, namespace: str = "", timeout: Seconds = 30.0, patience: Seconds = 30.0,
                 concurrency: int = 10, lease: Seconds = 30.0, wait: Seconds = 20.0, drain: Seconds = 20.0, batch: int = 100,
                 most_pause: Seconds = 15.0, log: Optional[logging.Logger] = None) -> None:
        """Arguments that are left out come from EASYRETRY_URL, EASYRETRY_TOKEN, EASYRETRY_TOKEN_FILE and
        EASYRETRY_CA_FILE. WorkerOptions says what the settings of the worker mean."""
        variables = os.environ.get
        if token is None and not token_file:
            token, token_file = variables("EASYRETRY_TOKEN", ""), variables("EASYRETRY_TOKEN_FILE", "")
        self.log = log or logging.getLogger("easyretry")
        self.worker_options = WorkerOptions(concurrency, seconds_of(lease), seconds_of(wait), seconds_of(drain), batch,
                                            seconds_of(most_pause))
        self.worker_options.check()
        self.daemon = Daemon(url or variables("EASYRETRY_URL", DEFAULT_URL), token or "", token_file,
                             ca_file or variables("EASYRETRY_CA_FILE"), namespace, seconds_of(timeout))
        self.client = Client(self.daemon, seconds_of(patience), self.worker_options.most_pause)
        self.handlers: Dict[str, Handler] = {}
        self.worker: Optional[Worker] = None

    @property
    def async_client(self) -> AsyncClient:
        return AsyncClient(self.client)

    def handler(self, name: str, *, batch: bool = False, timeout: Optional[Seconds] = None) -> Callable[[F], F]:
        """Registers a function or a coroutine function. With `batch`, every return is a success: it is settled together with
        others, and the daemon's `success_when` and `keep_results` do not apply."""
        def register(function: F) -> F:
            self.add(Handler(name, function, batch, None if timeout is None else seconds_of(timeout)))
            return function
        return register

    def retryable(self, name: str, *, persist: Persist = "retry_only", retry_on: Errors = (Exception,), never_retry: Errors = (),
                  success_when: Optional[Callable[[Any], bool]] = None, policy: Optional[Policy] = None, lease: Seconds = 30.0,
                  rethrow: bool = False) -> Decorator:
        """Registers a handler, and returns a function that calls it now and stores it if it fails. Rules says what the arguments
        mean."""
        rules: Rules[Any] = Rules(persist, retry_on, never_retry, success_when, policy, lease, rethrow)

        def register(function: Callable[..., Any]) -> Union[Retryable[..., Any], AsyncRetryable[..., Any]]:
            kind = AsyncRetryable if inspect.iscoroutinefunction(function) else Retryable
            named: Union[Retryable[..., Any], AsyncRetryable[..., Any]] = kind(lambda: self.client, name, function, rules, self.log)
            self.add(Handler(name, judged(function, rules)))
            functools.update_wrapper(named, function)
            return named
        return cast(Decorator, register)

    def add(self, handler: Handler) -> None:
        if handler.name in self.handlers:
            raise ValueError(f"the handler {handler.name} is registered twice")
        self.handlers[handler.name] = handler

    def start(self, loop: Optional[asyncio.AbstractEventLoop] = None) -> None:
        """Works in the background. Coroutines run on `loop`, or on a loop of their own."""
        if self.worker is not None:
            raise RuntimeError("the worker is already running")
        self.worker = Worker(self.daemon, dict(self.handlers), self.worker_options, self.log, loop)
        self.worker.start()

    def stop(self) -> None:
        """Leases no more tasks, lets handlers finish for `drain`, and hands back the rest."""
        worker, self.worker = self.worker, None
        if worker is not None:
            worker.stop()

    def run(self) -> None:
        """Works until SIGTERM or SIGINT, then stops. Call it in the main thread."""
        stop = threading.Event()
        before = {number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            self.start()
            while not stop.wait(3600.0):
                pass
        finally:
            self.stop()
            for number, action in before.items():
                signal.signal(number, action)

    async def run_async(self) -> None:
        """Works until the asyncio task that runs this is cancelled, then stops. Coroutines run on the caller's loop."""
        self.start(asyncio.get_running_loop())
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            await asyncio.shield(asyncio.to_thread(self.stop))
