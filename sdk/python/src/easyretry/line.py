"""One connection to the daemon: an address, and one request after the other."""
from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import threading
import urllib.parse
from typing import Dict, Mapping, NamedTuple, Optional

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


class Line:
    """A connection that is opened when it is first used, and again after it broke. One request at a time; only `hang_up`
    and `abort` may be called from another thread."""

    def __init__(self, address: Address) -> None:
        self.connection = address.connection()
        self.was_used = False  # it has carried a request, so the daemon may have closed it since
        self.was_sent = False  # the last request has begun to leave this process
        self.lock = threading.Lock()
        self.hung_up = False

    def exchange(self, method: str, path: str, body: Optional[bytes], headers: Dict[str, str], seconds: float) -> Reply:
        """Raises OSError or http.client.HTTPException; `was_sent` then says whether the daemon may have got it."""
        self.was_sent = False
        if self.connection.sock is None:
            self.connection.timeout = min(CONNECT_SECONDS, seconds)
            self.connection.connect()
            self.was_used = False
        sock: socket.socket = self.connection.sock
        sock.settimeout(seconds)
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
            socket.socket.shutdown(sock, how)  # of the socket below TLS
        except (OSError, ValueError):  # it is already closed
            pass
