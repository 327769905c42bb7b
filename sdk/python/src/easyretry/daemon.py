"""Requests to the daemon. Each failure becomes the error that says what the caller can do about it."""
from __future__ import annotations

import email.utils
import http.client
import json
import os
import random
import ssl
import threading
import time
import weakref
from typing import Any, Dict, List, Optional

from .errors import Conflict, EasyRetryError, InDoubt, NotADaemon, Refused, Unauthorized, Unavailable
from .line import Address, Line, Reply

LONGEST_RETRY_AFTER = 300.0  # a daemon that says more is asked again after this, in case it has changed its mind
MOST_IDLE_LINES = 16
FOREVER = float("inf")
ENCODER = json.JSONEncoder(allow_nan=False, ensure_ascii=False, separators=(",", ":"))  # json.dumps would make one per call


def json_bytes(value: Any) -> bytes:
    """Raises ValueError, TypeError or RecursionError for what JSON cannot represent: NaN, cycles, texts that are not Unicode."""
    return ENCODER.encode(value).encode()


class Pauses:
    """The time until the next try: doubled each time, and half of it at random, so that many workers do not return at once."""

    def __init__(self, first: float = 0.1, most: float = 15.0) -> None:
        self.first = first
        self.most = most
        self.tries = 0

    def next(self, error: Optional[EasyRetryError] = None) -> float:
        usual = min(self.most, self.first * (1 << min(self.tries, 30)))
        self.tries += 1
        pause = usual * random.uniform(0.5, 1.0)
        if error is not None and error.retry_after is not None:
            return max(pause, error.retry_after * random.uniform(1.0, 1.1))
        return pause

    def reset(self) -> None:
        self.tries = 0


daemons: "weakref.WeakSet[Daemon]" = weakref.WeakSet()


def forget_connections() -> None:
    """In a process that was forked: two processes on one connection would read each other's answers."""
    for daemon in list(daemons):
        daemon.lock = threading.Lock()  # another thread, which this process does not have, may hold the old one
        daemon.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=forget_connections)


class Daemon:
    """A pool of connections to one daemon. Thread-safe."""

    def __init__(self, url: str, token: str = "", token_file: str = "", ca_file: Optional[str] = None,
                 namespace: str = "", timeout: float = 30.0) -> None:
        self.address = Address(url, ca_file)
        self.token_file = token_file
        self.token = token or self.read_token()
        self.namespace = namespace
        self.timeout = timeout  # of one request, beyond the time it is told to wait
        if any(letter in self.token + namespace for letter in "\r\n"):  # both are sent as headers
            raise ValueError("a token and a namespace must not contain line breaks")
        self.lock = threading.Lock()
        self.idle: List[Line] = []
        daemons.add(self)

    def read_token(self) -> str:
        if not self.token_file:
            return ""
        try:
            with open(self.token_file, encoding="utf-8") as file:
                words = file.read().split()
        except OSError as error:
            raise ValueError(f"the token file {self.token_file} cannot be read: {error}") from error
        if not words:
            raise ValueError(f'there is no token in {self.token_file}; it must begin with the token, "er_…"')
        return words[0]

    def post(self, path: str, body: Any, wait: float = 0.0, headers: Optional[Dict[str, str]] = None,
             line: Optional[Line] = None, limit: float = FOREVER) -> Dict[str, Any]:
        return self.ask("POST", path, json_bytes(body), wait, headers, line, limit)

    def get(self, path: str, wait: float = 0.0) -> Dict[str, Any]:
        return self.ask("GET", path, None, wait)

    def ask(self, method: str, path: str, body: Optional[bytes], wait: float = 0.0,
            headers: Optional[Dict[str, str]] = None, line: Optional[Line] = None, limit: float = FOREVER) -> Dict[str, Any]:
        """The answer, a JSON object. `line` is a connection of the caller, which can then hang up. `limit` is the longest time
        for a request that is not worth the whole `timeout`."""
        until = time.monotonic() + min(wait + self.timeout, limit)
        sent = self.token
        try:
            return self.read(self.send(method, path, body, until, sent, headers or {}, line))
        except Unauthorized:
            if not self.has_token_after(sent):
                raise
            return self.read(self.send(method, path, body, until, self.token, headers or {}, line))

    def has_token_after(self, sent: str) -> bool:
        """Whether there is another token than the one that was sent, as after a rotation: in its file by now, or because
        another thread that was refused, too, has read the file before."""
        try:
            self.token = self.read_token() or self.token
        except ValueError:
            pass
        return self.token != sent

    def send(self, method: str, path: str, body: Optional[bytes], until: float, token: str, more: Dict[str, str],
             own: Optional[Line]) -> Reply:
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json", **more}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if self.namespace:
            headers["easyretry-namespace"] = self.namespace
        line = own or self.take_line()
        try:
            reply = self.exchange(line, method, path, body, headers, until)
        except (OSError, http.client.HTTPException, ValueError) as error:
            line.close()
            raise self.no_answer(error, line.was_sent) from error
        except BaseException:  # an interrupt: the answer to this request must not be read as that to the next
            line.close()
            raise
        if own is None:
            self.put_back(line)
        return reply

    def exchange(self, line: Line, method: str, path: str, body: Optional[bytes], headers: Dict[str, str],
                 until: float) -> Reply:
        try:
            return line.exchange(method, path, body, headers, until)
        except (ConnectionError, http.client.BadStatusLine):  # includes RemoteDisconnected
            # The daemon closes connections that were idle. Every request may be repeated: it is fenced by a version, has
            # an Idempotency-Key, or only asks.
            if not line.was_used or line.hung_up:
                raise
            line.close()
            return line.exchange(method, path, body, headers, until)

    def take_line(self) -> Line:
        with self.lock:
            if self.idle:
                return self.idle.pop()
        return Line(self.address)

    def put_back(self, line: Line) -> None:
        with self.lock:
            if len(self.idle) < MOST_IDLE_LINES:
                self.idle.append(line)
                return
        line.close()

    def close(self) -> None:
        with self.lock:
            lines, self.idle = self.idle, []
        for line in lines:
            line.close()

    def no_answer(self, error: Exception, was_sent: bool) -> EasyRetryError:
        url = self.address.url
        if isinstance(error, ssl.SSLCertVerificationError):
            return Unavailable(f"the certificate of {url} is not trusted ({error.verify_message}); set ca_file to the "
                               "authority that signed it, and use the name that it was issued for")
        if isinstance(error, ssl.SSLError) and not was_sent:
            return Unavailable(f"the server at {url} does not speak TLS ({error.reason or error}); use http:// for a daemon "
                               "without a certificate")
        if not was_sent:
            return Unavailable(f"no daemon answers at {url} ({error}); start it with `easyretry serve`, or correct the address")
        if isinstance(error, http.client.BadStatusLine) and not isinstance(error, ConnectionError):
            return NotADaemon(f"the server at {url} does not speak HTTP; correct the address")
        return InDoubt(f"no complete answer came from {url} ({type(error).__name__}: {error})")

    def read(self, reply: Reply) -> Dict[str, Any]:
        try:
            found = json.loads(reply.body)
        except (ValueError, RecursionError):
            found = None
        if 200 <= reply.status < 300 and isinstance(found, dict) and "easyretry-time" in reply.headers:
            return found
        error = self.refusal(reply, found)
        error.retry_after = retry_after(reply.headers.get("retry-after"))
        raise error

    def refusal(self, reply: Reply, found: Any) -> EasyRetryError:
        problem = found.get("error") if isinstance(found, dict) else None
        if not isinstance(problem, dict) or not isinstance(problem.get("message"), str):
            return self.not_a_daemon(reply)
        code, message, hint = str(problem.get("code", "")), problem["message"], str(problem.get("hint", ""))
        if code == "in_doubt":
            doubt = InDoubt(message)
            doubt.remembered = True
            return doubt
        if reply.status in (429, 503) or code == "https_needed":
            return Unavailable(f"{message}; {hint}" if hint else message)
        if reply.status >= 500:
            return InDoubt(message)
        kind = {401: Unauthorized, 403: Unauthorized, 409: Conflict}.get(reply.status, Refused)
        return kind(reply.status, code, message, hint, str(problem.get("request_id", "")))

    def not_a_daemon(self, reply: Reply) -> EasyRetryError:
        url = self.address.url
        if 300 <= reply.status < 400:
            return NotADaemon(f"{url} redirects to {reply.headers.get('location', 'another address')}. Redirects are not "
                              "followed, because the token is for this address only; correct the address")
        kind = reply.headers.get("content-type", "no content type")
        text = f"the server at {url} is not an EasyRetry daemon of this version (HTTP {reply.status}, {kind}); something else " \
               "answers there, such as a proxy"
        return Unavailable(text) if reply.status == 429 else NotADaemon(text)


def retry_after(text: Optional[str]) -> Optional[float]:
    """Seconds, or the time of a date. A header that cannot be read is ignored."""
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(text).timestamp() - time.time()
        except (TypeError, ValueError, OverflowError):
            return None
    return min(max(seconds, 0.0), LONGEST_RETRY_AFTER) if seconds == seconds else None
