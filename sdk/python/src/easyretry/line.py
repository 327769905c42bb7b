"""One connection to the daemon: an address, and one request after the other."""
from __future__ import annotations

import http.client
import io
import ipaddress
import socket
import ssl
import threading
import time
import urllib.parse
from typing import Any, Dict, Mapping, NamedTuple, Optional

MOST_BYTES = 64 << 20  # of an answer; leased tasks come in up to 8 MiB, or one task
CONNECT_SECONDS = 10.0


class Address:
    """Where the daemon is. Raises ValueError for what cannot be one, and for http:// to another machine."""

    def __init__(self, url: str, ca_file: Optional[str] = None) -> None:
        parts = urllib.parse.urlsplit(url)
        if (parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/")
                or parts.query or parts.fragment or parts.username):
            raise ValueError(f"{url!r} is not the address of a daemon; write it as http://127.0.0.1:7077 or "
                             "https://retry.example:7077")
        self.host: str = parts.hostname
        self.port: int = parts.port or (443 if parts.scheme == "https" else 80)
        self.url = url.rstrip("/")
        if parts.scheme == "http" and not is_loopback(self.host):
            raise ValueError(f"{url!r} is on another machine, and the token must not be sent unencrypted; use https://, or "
                             "a tunnel to 127.0.0.1")
        self.tls = trusted(ca_file) if parts.scheme == "https" else None

    def connection(self) -> http.client.HTTPConnection:
        if self.tls is None:
            return http.client.HTTPConnection(self.host, self.port, timeout=CONNECT_SECONDS)
        return http.client.HTTPSConnection(self.host, self.port, timeout=CONNECT_SECONDS, context=self.tls)


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name; one that begins with "127." may belong to any machine
        return host == "localhost"


def trusted(ca_file: Optional[str]) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file or None)
    except (OSError, ssl.SSLError) as error:
        raise ValueError(f"ca_file {ca_file} cannot be read ({error}); it must contain, in PEM, the authority that signed the "
                         "daemon's certificate") from error


class Reply(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


def time_left(until: float) -> float:
    seconds = until - time.monotonic()
    if seconds <= 0:
        raise socket.timeout("timed out")
    return seconds


class TimedSocket:
    """A socket whose whole exchange has one end. With the timeout of a socket alone, an answer that comes byte by byte would
    never end. Has what http.client uses of a socket."""

    def __init__(self, connected: socket.socket) -> None:
        self.socket = connected
        self.until = 0.0

    def sendall(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            self.socket.settimeout(time_left(self.until))
            rest = rest[self.socket.send(rest):]

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(TimedReader(self))

    def close(self) -> None:
        self.socket.close()


class TimedReader(io.RawIOBase):
    def __init__(self, timed: TimedSocket) -> None:
        self.timed = timed
        self.raw = timed.socket.makefile("rb", buffering=0)  # keeps the socket open until this is closed

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> Optional[int]:
        self.timed.socket.settimeout(time_left(self.timed.until))
        return self.raw.readinto(buffer)

    def close(self) -> None:
        self.raw.close()
        super().close()


class Line:
    """A connection that is opened when it is first used, and again after it broke. One request at a time; only `hang_up`
    and `abort` may be called from another thread."""

    def __init__(self, address: Address) -> None:
        self.connection: Any = address.connection()  # not typed: its socket is replaced by a TimedSocket
        self.was_used = False  # it has carried a request, so the daemon may have closed it since
        self.was_sent = False  # the last request has begun to leave this process
        self.lock = threading.Lock()
        self.hung_up = False

    def exchange(self, method: str, path: str, body: Optional[bytes], headers: Dict[str, str], until: float) -> Reply:
        """The whole of it, answer included, ends at `until` (of time.monotonic). Raises OSError or http.client.HTTPException;
        `was_sent` then says whether the daemon may have got it."""
        self.was_sent = False
        if self.connection.sock is None:
            self.connect(until)
        self.connection.sock.until = until
        time_left(until)
        self.was_sent = True
        self.connection.request(method, path, body, headers)
        with self.lock:
            if self.hung_up:
                self.stop_sending()
        response = self.connection.getresponse()
        data = response.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise http.client.HTTPException("the answer is longer than 64 MiB")
        left = response.length
        if left:
            raise http.client.IncompleteRead(data, left)
        if response.will_close:
            self.close()
        self.was_used = True
        return Reply(response.status, {name.lower(): value for name, value in response.getheaders()}, data)

    def connect(self, until: float) -> None:
        self.connection.timeout = min(CONNECT_SECONDS, time_left(until))
        self.connection.connect()
        self.connection.sock = TimedSocket(self.connection.sock)
        self.was_used = False

    def close(self) -> None:
        self.connection.close()

    def hang_up(self) -> None:
        """The daemon answers a waiting request at once. Tasks that were already on their way still arrive, because only our
        side stops sending; if the whole connection were closed, they would wait until their lease has expired."""
        with self.lock:
            self.hung_up = True
            self.stop_sending()

    def abort(self) -> None:
        """Ends a request that is not answered."""
        self.shut(socket.SHUT_RDWR)

    def stop_sending(self) -> None:
        self.shut(socket.SHUT_WR)

    def shut(self, how: int) -> None:
        sock = self.connection.sock
        if sock is None:
            return
        try:
            socket.socket.shutdown(sock.socket, how)  # of the socket below TLS
        except (OSError, ValueError):  # it is already closed
            pass
