"""Errors, by what the caller can do about them."""
from __future__ import annotations

from typing import Optional


class EasyRetryError(Exception):
    """The base class of all errors of this package."""

    retry_after: Optional[float] = None  # seconds to wait before the next try, if the daemon has said so


class Unavailable(EasyRetryError):
    """Nothing was done. The same request may succeed later."""


class InDoubt(EasyRetryError):
    """No usable answer came, so the request may or may not have been done. It is safe to repeat it."""

    remembered = False  # the daemon repeats this answer to the same Idempotency-Key, so the next try needs another one


class NotADaemon(InDoubt):
    """Something else than an EasyRetry daemon has answered: a proxy, a login page, another service."""


class Refused(EasyRetryError):
    """The daemon refuses this request, and says why. The same request is refused again."""

    def __init__(self, status: int, code: str, message: str, hint: str = "", request_id: str = "") -> None:
        super().__init__(f"{message}; {hint}" if hint else message)
        self.status = status
        self.code = code
        self.request_id = request_id


class Unauthorized(Refused):
    """401 or 403: the token is unknown, expired, or may not do this. Works again with another token."""


class Conflict(Refused):
    """409: another request was first. `code` says which: `lease_lost`, `duplicate_key`, `ended`, …"""


class InvalidArguments(EasyRetryError, ValueError):
    """JSON cannot represent the arguments. Nothing was sent."""


class StoreError(EasyRetryError):
    """A call has failed, and the failure could not be stored. `failure` is what the function raised; `__cause__` is why
    it could not be stored."""

    def __init__(self, message: str, failure: Optional[BaseException]) -> None:
        super().__init__(message)
        self.failure = failure


class NoValueYet(EasyRetryError):
    """The value of an attempt that has none: it failed, and was stored to be retried."""


class Cancelled(EasyRetryError):
    """Raised in a handler by `Task.raise_if_cancelled`. The handler should end; its outcome no longer matters."""


class RetryAfter(EasyRetryError):
    """Raised by a handler: a failed attempt, and the next one follows after `seconds`."""

    def __init__(self, seconds: float, why: str = "asked for a retry") -> None:
        super().__init__(why)
        if not 0 <= seconds < 315_569_520:  # what the daemon accepts: ten years
            raise ValueError(f"retry after {seconds} seconds: use a number from 0 to 315569519")
        self.seconds = seconds


class GiveUp(EasyRetryError):
    """Raised by a handler: a final failure, whatever the policy would still allow."""
