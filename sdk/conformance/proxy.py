"""A proxy between a subject and the daemon. It notes all requests, and breaks those that a fault is meant for."""
import contextlib
import http.client
import json
import re
import select
import socket
import socketserver
import threading
import time

ANY = re.compile("")
LEASE = re.compile(r"^/v1/leases$")
RENEW = re.compile(r"/renew$")
SETTLE = re.compile(r"^/v1/leases/(settle|\d+/(done|fail))$")
SUBMIT = re.compile(r"^/v1/tasks$")


class Request:
    def __init__(self, method, path, headers, body):
        self.method, self.path, self.headers, self.body = method, path, headers, body
        self.at = time.monotonic()
        self.status = None  # of the answer that the subject got; None: it got none

    def json(self):
        return json.loads(self.body)


class Reply:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def bytes(self):
        head = [f"HTTP/1.1 {self.status} {http.client.responses.get(self.status, 'Unknown')}"]
        kept = {name: value for name, value in self.headers.items() if name.lower() not in ("content-length", "connection")}
        head += [f"{name}: {value}" for name, value in kept.items()] + [f"Content-Length: {len(self.body)}", "", ""]
        return "\r\n".join(head).encode("latin-1") + self.body


class Cut(Exception):
    """The connection ends, after these bytes."""

    def __init__(self, data=b""):
        super().__init__("cut")
        self.data = data


class Fault:
    """Breaks the next `times` requests whose path matches. `play(request, forward)` returns a Reply or raises Cut."""

    def __init__(self, path, play, times):
        self.path, self.play, self.left = path, play, times


def answer(status, body=b"", **headers):
    """Instead of the daemon's answer. The daemon does not see the request."""
    named = {name.replace("_", "-"): str(value) for name, value in headers.items()}
    return lambda request, forward: Reply(status, named, body)


def html(status=200):
    return answer(status, b"<!doctype html><html><title>Sign in</title></html>", Content_Type="text/html")


def problem(status, code, message, **headers):
    body = json.dumps({"error": {"code": code, "message": message, "request_id": "conform"}}).encode()
    return answer(status, body, Content_Type="application/json", easyretry_time="2026-03-01T12:00:00.000Z", **headers)


def done_but(play):
    """The daemon has done it, and the subject gets another answer."""
    def both(request, forward):
        forward(request)
        return play(request, forward)
    return both


def cut_reply(request, forward):
    """The daemon has done it, but its answer does not arrive."""
    forward(request)
    raise Cut


def cut_middle(request, forward):
    data = forward(request).bytes()
    raise Cut(data[: len(data) - 10])


def slow(seconds, gate):
    """The answer comes late. `gate` ends the wait when the proxy closes."""
    def play(request, forward):
        reply = forward(request)
        gate.wait(seconds)
        return reply
    return play


def hung(seconds, gate):
    """No answer comes, and the daemon does not see the request."""
    def play(request, forward):
        gate.wait(seconds)
        raise Cut
    return play


def changed(change):
    """The daemon's answer, as `change` has made it: it gets the headers and the JSON."""
    def play(request, forward):
        reply = forward(request)
        with contextlib.suppress(ValueError):
            content = json.loads(reply.body)
            change(reply.headers, content)
            reply.body = json.dumps(content).encode()
        return reply
    return play


class Proxy:
    """`target` is the port of the daemon, which may change. With `tls`, a server context, it speaks TLS to the subject."""

    def __init__(self, target, tls=None):
        self.target, self.tls = target, tls
        self.requests, self.faults, self.lock = [], [], threading.Lock()
        self.closing = threading.Event()
        proxy = self

        class Connection(socketserver.BaseRequestHandler):
            def handle(self):
                with contextlib.suppress(OSError, ValueError):  # the subject went away, or does not trust the certificate
                    proxy.serve(self.request)

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            request_queue_size = 100

        self.server = Server(("127.0.0.1", 0), Connection)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()

    def play(self, path, play, times=1):
        with self.lock:
            self.faults.append(Fault(path, play, times))

    def calm(self):
        """No more faults."""
        with self.lock:
            self.faults.clear()

    def seen(self, path=ANY, status=ANY):
        """The requests so far whose path matches, and whose status does, if it is given."""
        with self.lock:
            return [one for one in self.requests if path.search(one.path) and (status is ANY or one.status == status)]

    def fault_for(self, request):
        with self.lock:
            self.requests.append(request)
            for fault in self.faults:
                if fault.left > 0 and fault.path.search(request.path):
                    fault.left -= 1
                    return fault.play
        return lambda request, forward: forward(request)

    def serve(self, client):
        if self.tls:
            client = self.tls.wrap_socket(client, server_side=True)
        reader = client.makefile("rb")
        while request := read_request(reader):
            try:
                reply = self.fault_for(request)(request, lambda asked: self.forward(asked, client))
            except Cut as cut:
                client.sendall(cut.data)
                break
            except (OSError, http.client.HTTPException):  # the daemon is down
                break
            request.status = reply.status
            client.sendall(reply.bytes())
        with contextlib.suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)

    def forward(self, request, client):
        upstream = http.client.HTTPConnection("127.0.0.1", self.target, timeout=120)
        try:
            headers = {name: value for name, value in request.headers.items() if name.lower() not in ("host", "connection")}
            upstream.request(request.method, request.path, request.body or None, headers)
            self.pass_hang_up(client, upstream.sock)
            got = upstream.getresponse()
            return Reply(got.status, dict(got.getheaders()), got.read())
        finally:
            upstream.close()

    def pass_hang_up(self, client, daemon):
        """A subject that stops sending while it waits is one that stops: the daemon is to know it."""
        watched = [daemon] if self.tls else [daemon, client]
        while daemon not in (ready := select.select(watched, [], [], 120)[0]) and ready:
            if client.recv(1, socket.MSG_PEEK):
                raise ValueError("a second request before the answer to the first")
            daemon.shutdown(socket.SHUT_WR)
            watched = [daemon]


def read_request(reader):
    line = reader.readline(65536).decode("latin-1").split()
    if len(line) != 3:
        return None
    headers = {}
    while (text := reader.readline(65536).decode("latin-1").strip()):
        name, _, value = text.partition(":")
        headers[name] = value.strip()
    named = {name.lower(): value for name, value in headers.items()}
    if "chunked" in named.get("transfer-encoding", ""):
        headers = {name: value for name, value in headers.items() if name.lower() != "transfer-encoding"}
        return Request(line[0], line[1], headers, read_chunks(reader))
    return Request(line[0], line[1], headers, reader.read(int(named.get("content-length", 0))))


def read_chunks(reader):
    body = b""
    while size := int(reader.readline(100).split(b";")[0], 16):
        body += reader.read(size)
        reader.readline(100)
    reader.readline(100)
    return body
