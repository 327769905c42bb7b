"""Workers and callers for EasyRetry: tasks that are retried until they succeed or their policy gives up.

    app = App()

    @app.handler("mail.send")
    def send(order): ...

    app.client.submit("mail.send", {"to": "ann"})
    app.run()
"""
from .app import App
from .client import AsyncClient, Client
from .errors import (Cancelled, Conflict, EasyRetryError, GiveUp, InDoubt, InvalidArguments, NotADaemon, NoValueYet, Refused,
                     RetryAfter, StoreError, Unauthorized, Unavailable)
from .retryable import AsyncRetryable, Retryable
from .rules import Attempt
from .submission import NewTask, Policy, Submitted
from .task import Task, current_task

__version__ = "0.1.0"
__all__ = [
    "App", "AsyncClient", "AsyncRetryable", "Attempt", "Cancelled", "Client", "Conflict", "EasyRetryError", "GiveUp", "InDoubt",
    "InvalidArguments", "NewTask", "NoValueYet", "NotADaemon", "Policy", "Refused", "Retryable", "RetryAfter", "StoreError",
    "Submitted", "Task", "Unauthorized", "Unavailable", "current_task",
]
