"""How an attempt ends, and what the daemon is told about it."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Optional

from .daemon import json_bytes
from .errors import GiveUp, RetryAfter
from .submission import reason_of

LONGEST_TEXT = 4096  # the daemon keeps as much
LONGEST_RESULT = 8_000_000  # a request may have 8 MiB


@dataclass
class Outcome:
    """`verb` is `done`, `fail`, or a kind of `POST /v1/leases/settle`: `finish` or `hand_back`."""

    verb: str
    result: Optional[bytes] = None  # JSON; None: there is none
    error: str = ""
    retry_after_ms: Optional[int] = None
    give_up: bool = False
    warning: str = ""  # for the log: something about the result was lost

    @property
    def in_batches(self) -> bool:
        return self.verb in ("finish", "hand_back")

    def body(self, version: int) -> bytes:
        if self.verb == "done" and self.result is not None:
            return b'{"version":%d,"result":%s}' % (version, self.result)
        fields: Dict[str, Any] = {"version": version}
        if self.verb == "fail":
            fields["error"] = self.error
            if self.give_up:
                fields["give_up"] = True
            elif self.retry_after_ms is not None:
                fields["retry_after_ms"] = self.retry_after_ms
        return json_bytes(fields)


HANDED_BACK = Outcome("hand_back")


def of_result(value: Any, batch: bool) -> Outcome:
    """A result that cannot be written or sent is left out: the handler has succeeded all the same."""
    if batch:
        return Outcome("finish")
    if value is None:
        return Outcome("done")
    try:
        text = json_bytes(value)
    except Exception as error:  # also what a value's own methods raise
        return Outcome("done", warning=f"its result cannot be written as JSON ({reason_of(error)}), and is left out")
    if len(text) > LONGEST_RESULT:
        return Outcome("done", warning=f"its result has {len(text)} bytes, more than a request may have, and is left out")
    return Outcome("done", result=text)


def of_error(error: BaseException) -> Outcome:
    if isinstance(error, RetryAfter):
        return Outcome("fail", error=error_text(error), retry_after_ms=round(error.seconds * 1000))
    return Outcome("fail", error=error_text(error), give_up=isinstance(error, GiveUp))


def error_text(error: BaseException) -> str:
    """The type and the text, as far as the daemon takes them."""
    kind = type(error).__name__
    try:
        text = str(error)
    except BaseException as another:
        text = f"its text cannot be made ({type(another).__name__})"
    if not isinstance(error, (RetryAfter, GiveUp)):
        text = f"{kind}: {text}" if text else kind
    return sendable(text)


def sendable(text: str) -> str:
    """As much of a text as the daemon takes and keeps: Unicode without NUL, the start and the end of 4 KiB."""
    whole = text[:LONGEST_TEXT] + text[-LONGEST_TEXT:] if len(text) > 2 * LONGEST_TEXT else text
    data = whole.replace("\0", "\ufffd").encode("utf-8", "replace")
    if len(data) <= LONGEST_TEXT:
        return data.decode()
    half = (LONGEST_TEXT - 60) // 2
    start, end = data[:half].decode("utf-8", "ignore"), data[-half:].decode("utf-8", "ignore")
    return f"{start} … ({len(text)} characters) … {end}"
