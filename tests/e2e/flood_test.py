"""Clients that try to exhaust easyretry serve: memory, connections, descriptors. Usage: flood_test.py EASYRETRY_PROGRAM"""
import contextlib
import http.client
import re
import selectors
import socket
import time
import unittest

from daemon_case import DaemonCase
from waiting import until

MIB = 1 << 20
LONGEST = 8 * MIB
ROOM = 256 // 4  # MiB, for all bodies of one token: a quarter of the limit for all tokens
PATIENCE = 60


class Sender:
    """A connection that sends the head of a request and as much of its body as the server takes, and reads the answer."""

    def __init__(self, port, head, body):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setblocking(False)
        self.unsent = memoryview(head.encode() + body)
        self.heard = b""
        self.over = False

    def go_on(self):
        with contextlib.suppress(BlockingIOError):
            self.hear()
        with contextlib.suppress(BlockingIOError, BrokenPipeError, ConnectionResetError):
            if not self.over and self.unsent:
                self.unsent = self.unsent[self.socket.send(self.unsent):]

    def hear(self):
        try:
            more = self.socket.recv(65536)
        except ConnectionResetError:
            more = b""
        self.heard += more
        self.over = not more

    def status(self):
        found = re.match(rb"HTTP/1.1 (\d+)", self.heard)
        return int(found.group(1)) if found else None


class Flood(DaemonCase):
    def resident(self):
        """The memory of the daemon, in MiB."""
        with open(f"/proc/{self.daemon.process.pid}/status") as file:
            return int(re.search(r"VmRSS:\s+(\d+) kB", file.read()).group(1)) / 1024

    def flood(self, count, head, body, settled):
        """Sends until settled(connections) is true. Returns the connections and the most memory that the daemon used."""
        senders = [Sender(self.daemon.port, head, body) for _ in range(count)]
        for sender in senders:
            self.addCleanup(sender.socket.close)
        most = self.resident()
        end = time.monotonic() + PATIENCE
        with selectors.DefaultSelector() as ready:
            for sender in senders:
                ready.register(sender.socket, selectors.EVENT_READ | selectors.EVENT_WRITE, sender)
            while not settled(senders) and time.monotonic() < end:
                for key, _ in ready.select(0.1):
                    sender = key.data
                    sender.go_on()
                    if sender.over:
                        ready.unregister(sender.socket)
                    elif not sender.unsent:
                        ready.modify(sender.socket, selectors.EVENT_READ, sender)
                most = max(most, self.resident())
        self.assertLess(time.monotonic(), end, [(len(s.unsent), s.status()) for s in senders])
        return senders, max(most, self.resident())

    def head(self, token=None):
        shown = f"Authorization: Bearer {token}\r\n" if token else ""
        return f"POST /v1/tasks HTTP/1.1\r\nHost: localhost\r\n{shown}Content-Length: {LONGEST}\r\n\r\n"

    def test_requests_without_a_token_get_no_memory(self):
        self.start()
        self.daemon.ask("GET", "/v1/tasks")
        before = self.resident()
        senders, most = self.flood(200, self.head(), b"x" * LONGEST, all_over)
        self.assertLess(most - before, 30)
        self.assertEqual({sender.status() for sender in senders}, {401})
        self.assertEqual(self.daemon.ask("POST", "/v1/tasks", {"handler": "mail"})[0], 201)

    def test_all_bodies_of_a_token_get_a_quarter_of_the_budget_and_other_tokens_continue(self):
        daemon = self.start()
        other = self.token("other", "submitter")
        daemon.ask("GET", "/v1/tasks")
        before = self.resident()
        fit = ROOM * MIB // LONGEST

        def settled(senders):
            waiting = [sender for sender in senders if sender.status() is None]
            return len(waiting) == fit and not any(sender.unsent for sender in waiting)

        senders, most = self.flood(200, self.head(daemon.token), b"x" * (LONGEST - 10), settled)
        self.eventually(lambda: self.resident() - before > ROOM - 5, "what was sent is here")
        self.assertLess(max(most, self.resident()) - before, ROOM + 40)
        refused = [sender for sender in senders if sender.status() is not None]
        self.assertEqual(len(refused), 200 - fit)
        for sender in refused:
            self.assertEqual(sender.status(), 503)
            self.assertIn(b"Retry-After: 1\r\n", sender.heard)
        self.assertEqual(daemon.ask("GET", "/healthz")[0], 200)
        self.assertEqual(daemon.ask("GET", "/v1/tasks")[0], 200, "what has no body goes on")
        self.assertEqual(daemon.ask("POST", "/v1/tasks", {"handler": "mail"})[0], 503)
        self.assertEqual(daemon.ask("POST", "/v1/tasks", {"handler": "mail", "key": "other"}, token=other)[0], 201)

        for sender in senders:
            sender.socket.close()
        self.eventually(lambda: daemon.ask("POST", "/v1/tasks", {"handler": "mail"})[0] == 201)
        large = {"tasks": [{"handler": "mail", "args": ["x" * 1_000_000]} for _ in range(8)]}
        self.assertEqual(daemon.ask("POST", "/v1/tasks", large)[0], 201)
        self.eventually(lambda: self.resident() - before < 100)

    def eventually(self, holds, what=None):
        until(holds, PATIENCE, what)

    def test_with_few_descriptors_who_is_known_is_served_and_the_store_works(self):
        daemon = self.start(descriptors=64)
        known = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=PATIENCE)
        self.addCleanup(known.close)

        def submit(key):
            known.request("POST", "/v1/tasks", f'{{"handler": "mail", "key": "{key}"}}',
                          {"Authorization": f"Bearer {daemon.token}"})
            answer = known.getresponse()
            answer.read()
            return answer.status

        self.assertEqual(submit("before"), 201)
        same = known.sock
        crowd = []
        for i in range(300):
            one = socket.create_connection(("127.0.0.1", daemon.port))
            self.addCleanup(one.close)
            one.sendall(b"GET / HTTP/1.1\r\nHo")
            crowd.append(one)
            if i % 50 == 0:
                self.assertEqual(submit(i), 201)
        self.assertIs(known.sock, same, "it was not cut off")
        self.assertEqual(daemon.ask("POST", "/v1/tasks", {"handler": "mail"})[0], 201, "a new one with a token")
        for one in crowd:
            one.close()
        self.eventually(lambda: daemon.ask("GET", "/readyz")[0] == 200)
        self.assertEqual(submit("afterwards"), 201)


def all_over(senders):
    return all(sender.over for sender in senders)


if __name__ == "__main__":
    unittest.main()
