#!/usr/bin/env python3
"""What a worker does when the daemon or a handler does not answer. The daemon is played by this test."""
import asyncio
import http.server
import json
import logging
import os
import socket
import threading
import time
import unittest

import here  # noqa: F401
from easyretry import App, InDoubt, Unavailable, current_task
from easyretry.daemon import Daemon
from waiting import until


class Played:
    """A daemon with these tasks to lease. `renew` is how it answers a renewal, once per call; it may wait for `over`."""

    def __init__(self, *tasks, renew=lambda: True):
        self.tasks = [{"id": str(number), "version": 1, "attempts": 1, **task} for number, task in enumerate(tasks)]
        self.settled, self.renewed, self.over = [], [], threading.Event()
        played = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                answer = json.dumps(played.answer(self.path, body)).encode()
                self.send_response(200)
                self.send_header("easyretry-time", "2026-03-01T12:00:00.000Z")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        self.renew = renew
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.handle_error = lambda *_: None  # a client that does not wait any longer
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def answer(self, path, body):
        if path == "/v1/leases":
            given, self.tasks = self.tasks[:body["max"]], self.tasks[body["max"]:]
            if not given:
                self.over.wait(0.02)
            return {"tasks": given}
        if path == "/v1/leases/renew":
            self.renewed.append(time.monotonic())
            return {"applied": [self.renew()] * len(body["tasks"])}
        self.settled.append((path.rpartition("/")[2], body))
        return {"applied": [True] * len(body.get("tasks", ()))}

    def close(self):
        self.over.set()
        self.server.shutdown()
        self.server.server_close()


class Case(unittest.TestCase):
    def setUp(self):
        self.said = []
        spoken = logging.Handler(logging.WARNING)
        spoken.emit = lambda record: self.said.append(record.getMessage())
        self.log = logging.Logger("worker_test")
        self.log.addHandler(spoken)

    def play(self, *tasks, **how):
        played = Played(*tasks, **how)
        self.addCleanup(played.close)
        return played

    def app(self, played, **options):
        app = App(played.url, "t", **{"wait": 0, "drain": 0.1, "log": self.log, **options})
        self.addCleanup(app.daemon.close)
        self.addCleanup(app.stop)
        return app

    def heard(self, words):
        return any(words in line for line in self.said)


class Leases(Case):
    def test_a_renewal_that_hangs_is_given_up_while_the_lease_still_holds(self):
        hangs = [True]
        played = self.play({"handler": "h"}, renew=lambda: bool(not hangs or hangs.pop() and played.over.wait(60)) or True)
        app, ended = self.app(played, lease=1.5), []

        @app.handler("h")
        def handle():
            ended.append(current_task().wait(2.5))

        app.start()
        until(lambda: ended, 20)
        self.assertEqual(ended, [False])
        self.assertLess(played.renewed[1] - played.renewed[0], 1.0)

    def test_a_handler_is_cancelled_when_its_lease_is_over_by_our_own_clock(self):
        played = self.play({"handler": "h"}, renew=lambda: played.over.wait(60))
        app, ended = self.app(played, lease=0.9), []

        @app.handler("h")
        def handle():
            begun = time.monotonic()
            current_task().wait(20)
            ended.append((current_task().why_cancelled, time.monotonic() - begun))
            current_task().raise_if_cancelled()

        app.start()
        until(lambda: ended, 30)
        (why, after), = ended
        self.assertEqual(why, "lease_lost")
        self.assertTrue(0.8 < after < 2.0, after)
        app.stop()
        self.assertEqual(played.settled, [], "the failure is due to the cancellation, and no attempt")
        self.assertTrue(self.heard("could not be renewed in time"))

    def test_a_success_after_the_lease_was_over_is_told_and_the_daemon_decides(self):
        played = self.play({"handler": "h"}, renew=lambda: played.over.wait(60))
        app = self.app(played, lease=0.3)
        app.handler("h")(lambda: current_task().wait(20) and None)
        app.start()
        until(lambda: played.settled)
        self.assertEqual(played.settled[0][0], "done")


class Polls(Case):
    def test_a_daemon_that_answers_a_poll_at_once_is_not_asked_without_pauses(self):
        for options in ({"wait": 0}, {"wait": 20}):  # what the worker asks for; or the daemon closes its queue, because it stops
            with self.subTest(options):
                self.check_pauses(**options)

    def check_pauses(self, **options):
        played, at = self.play(), []
        answer = played.answer
        played.answer = lambda path, body: at.append(time.monotonic()) or ({"tasks": []} if not played.tasks else answer(path, body))
        app, ran = self.app(played, most_pause=0.4, **options), threading.Event()
        app.handler("h")(ran.set)
        app.start()
        until(lambda: len(at) >= 6, 30)
        self.assertGreater(at[5] - at[0], 0.5, "100, 200, 400, 400 and 400 ms, of which half may be missing")
        played.tasks = [{"id": "1", "version": 1, "attempts": 1, "handler": "h", "args": []}]
        self.assertTrue(ran.wait(20))


class Timeouts(Case):
    def test_a_handler_that_does_not_end_after_its_timeout_has_failed_and_keeps_its_place(self):
        played = self.play({"handler": "stuck"}, {"handler": "other"})
        app, gate = self.app(played, concurrency=1), threading.Event()
        self.addCleanup(gate.set)
        others = []
        app.handler("stuck", timeout=0.2)(lambda: gate.wait(60) and None)
        app.handler("other")(lambda: others.append(1))
        app.start()
        until(lambda: played.settled, 20)
        verb, body = played.settled[0]
        self.assertEqual(verb, "fail")
        self.assertIn("did not end within 0.2 s", body["error"])
        self.assertTrue(self.heard("not ended within its timeout") and self.heard("its place stays taken"), self.said)
        self.assertEqual((others, len(played.tasks)), ([], 1))
        gate.set()
        until(lambda: others)

    def test_a_timeout_is_noticed_while_a_renewal_hangs(self):
        played = self.play({"handler": "h"}, renew=lambda: played.over.wait(60))
        app, ended = self.app(played, lease=3.0), []

        @app.handler("h", timeout=1.2)
        def handle():
            begun = time.monotonic()
            current_task().wait(30)
            ended.append((current_task().why_cancelled, time.monotonic() - begun))

        app.start()
        until(lambda: ended, 30)
        self.assertEqual(ended[0][0], "timeout")
        self.assertLess(ended[0][1], 1.8)

    def test_a_task_that_a_stop_hands_back_although_it_runs_is_named(self):
        played = self.play({"handler": "stuck"})
        app, gate, begun = self.app(played), threading.Event(), threading.Event()
        self.addCleanup(gate.set)
        app.handler("stuck")(lambda: (begun.set(), gate.wait(60)) and None)
        app.start()
        self.assertTrue(begun.wait(20))
        app.stop()
        self.assertEqual([(verb, body["tasks"][0]["kind"]) for verb, body in played.settled], [("settle", "hand_back")])
        self.assertTrue(self.heard("handed back"), self.said)


class Surprises(Case):
    def test_an_unexpected_error_ends_no_thread_of_the_worker(self):
        played = self.play({"handler": "h"}, {"handler": "h"})
        app, ran = self.app(played, lease=0.6), []

        @app.handler("h")
        def handle():
            current_task().wait(1.5)
            ran.append(1)

        def failing(of, name):
            usual, left = getattr(of, name), [1]

            def once(*args, **more):
                if left:
                    left.pop()
                    raise ZeroDivisionError("word-that-is-not-to-be-printed")
                return usual(*args, **more)
            setattr(of, name, once)

        app.start()
        failing(app.worker, "poll")
        failing(app.worker.renewals, "ask")
        failing(app.worker.watch, "take_due")
        failing(app.worker.settler, "send")
        until(lambda: len(played.settled) == 1 and len(ran) == 2, 30)
        self.assertGreaterEqual(len(played.renewed), 2)
        threads = [app.worker.poller, app.worker.renewals.thread, *app.worker.settler.threads]
        self.assertTrue(all(thread.is_alive() for thread in threads))
        self.assertTrue(self.heard("ZeroDivisionError"))
        self.assertFalse(self.heard("word-that-is"))

    def test_a_loop_that_the_application_has_closed_does_not_end_renewals(self):
        played = self.play({"handler": "on_loop"}, {"handler": "on_thread"}, renew=lambda: False)
        app, begun, cancelled = self.app(played, lease=0.9), threading.Event(), threading.Event()
        loop = asyncio.new_event_loop()

        @app.handler("on_loop")
        async def on_loop():
            begun.set()
            await asyncio.sleep(60)

        @app.handler("on_thread")
        def on_thread():
            if current_task().wait(20):
                cancelled.set()

        running = threading.Thread(target=loop.run_forever, daemon=True)
        running.start()
        app.start(loop)
        self.assertTrue(begun.wait(20))
        logging.getLogger("asyncio").disabled = True  # it reports the coroutine that the loop leaves behind
        loop.call_soon_threadsafe(loop.stop)
        running.join()
        loop.close()
        self.assertTrue(cancelled.wait(20))
        self.assertTrue(app.worker.renewals.thread.is_alive())


class Dripping:
    """A server whose answer comes a byte at a time, each well within a timeout."""

    def __init__(self):
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        try:
            connection, _ = self.listening.accept()
            with connection:
                connection.recv(65536)
                for letter in b"HTTP/1.1 200 OK\r\nContent-Length: 600\r\n\r\n" + b" " * 600:
                    connection.sendall(bytes([letter]))
                    time.sleep(0.05)
        except OSError:
            pass


class Network(Case):
    def test_an_answer_that_drips_ends_with_the_request(self):
        server = Dripping()
        self.addCleanup(server.listening.close)
        daemon = Daemon(f"http://127.0.0.1:{server.port}", "t", timeout=0.5)
        self.addCleanup(daemon.close)
        begun = time.monotonic()
        with self.assertRaises(InDoubt):
            daemon.get("/v1/whoami")
        self.assertLess(time.monotonic() - begun, 2.0)

    def test_a_forked_process_does_not_share_connections(self):
        played = self.play()
        daemon = Daemon(played.url, "t")
        self.addCleanup(daemon.close)
        daemon.post("/v1/leases", {"max": 1})
        self.assertEqual(len(daemon.idle), 1)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.write(write, b"%d" % len(daemon.idle))
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        self.assertEqual(os.read(read, 10), b"0")
        os.close(read)
        os.close(write)
        used = daemon.idle[0]
        daemon.post("/v1/leases", {"max": 1})  # the parent's connection is as it was
        self.assertIs(daemon.idle[0], used)

    def test_a_daemon_that_is_away_is_still_unavailable(self):
        with self.assertRaises(Unavailable):
            Daemon("http://127.0.0.1:1", "t", timeout=0.5).get("/v1/whoami")


if __name__ == "__main__":
    unittest.main()
