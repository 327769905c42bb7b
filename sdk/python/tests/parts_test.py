#!/usr/bin/env python3
"""The parts of the SDK, without a daemon."""
import ast
import asyncio
import concurrent.futures
import datetime
import http.server
import json
import logging
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import here
from easyretry import App, GiveUp, InDoubt, InvalidArguments, NewTask, Policy, RetryAfter
from easyretry.client import MOST_BYTES, Client, batches
from easyretry.daemon import Daemon, Pauses, retry_after
from easyretry.errors import Unavailable
from easyretry.execution import Handler, Threads, run_async, run_here
from easyretry.leases import Lease, Leases
from easyretry.outcome import LONGEST_TEXT, error_text, of_error, of_result
from easyretry.renewals import Renewals as Renewing
from easyretry.task import Task, current_task
from waiting import eventually, until


def a_task(**more):
    return Task({"id": "1", "version": 2, "handler": "h", "attempts": 1, "args": [], **more})


class Package(unittest.TestCase):
    def test_every_file_is_python_3_9(self):
        files = list((here.SDK / "src/easyretry").glob("*.py"))
        self.assertGreater(len(files), 10)
        for file in files:
            ast.parse(file.read_text(), str(file), feature_version=(3, 9))
            self.assertLess(len(file.read_text().splitlines()), 400, file)

    def test_it_needs_the_standard_library_only(self):
        code = f"import sys; sys.path.insert(0, {str(here.SDK / 'src')!r}); import easyretry, easyretry.testing"
        subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True)  # without site-packages

    def test_it_is_marked_as_typed(self):
        self.assertTrue((here.SDK / "src/easyretry/py.typed").is_file())


class Addresses(unittest.TestCase):
    def test_a_token_is_not_sent_unencrypted_to_another_machine(self):
        for url in ("http://retry.example:7077", "http://10.0.0.1", "http://127.0.0.1.example"):
            with self.assertRaisesRegex(ValueError, "another machine"):
                App(url, "t")
        for url in ("http://127.0.0.1:1", "http://localhost:1", "http://[::1]:1", "https://127.0.0.1"):
            App(url, "t")

    def test_what_is_no_address_is_refused(self):
        for url in ("127.0.0.1:7077", "ftp://127.0.0.1", "http://127.0.0.1/path", "http://me@127.0.0.1", "https://"):
            with self.assertRaisesRegex(ValueError, "not the address of a daemon"):
                App(url, "t")

    def test_settings_that_cannot_be_are_refused(self):
        for bad in ({"concurrency": 0}, {"lease": 0}, {"wait": 61}, {"batch": 1001}, {"lease": datetime.timedelta(days=2)}):
            with self.assertRaisesRegex(ValueError, next(iter(bad))):
                App(token="t", **bad)
        with self.assertRaisesRegex(ValueError, "line breaks"):
            App(token="er_\r\nX: y")
        with self.assertRaisesRegex(ValueError, "/nowhere/token"):
            App(token_file="/nowhere/token")
        with self.assertRaisesRegex(ValueError, "ca_file"):
            App("https://retry.example", "t", ca_file="/nowhere/ca.pem")


class Patience(unittest.TestCase):
    def test_pauses_double_with_a_random_part_up_to_the_longest(self):
        pauses = Pauses(first=0.1, most=3.0)
        for usual in (0.1, 0.2, 0.4, 0.8, 1.6, 3.0, 3.0):
            self.assertTrue(usual / 2 <= pauses.next() <= usual)
        pauses.reset()
        self.assertLessEqual(pauses.next(), 0.1)
        self.assertGreater(len({Pauses().next() for _ in range(10)}), 5)

    def test_retry_after_is_the_least_time(self):
        error = Unavailable("")
        error.retry_after = 7.0
        self.assertGreaterEqual(Pauses(most=1.0).next(error), 7.0)

    def test_retry_after_is_a_number_or_a_date(self):
        self.assertEqual(retry_after("3"), 3.0)
        self.assertEqual(retry_after("Thu, 01 Jan 1970 00:00:00 GMT"), 0.0)
        self.assertEqual(retry_after("999999999"), 300.0)
        for bad in (None, "", "soon", "nan"):
            self.assertIsNone(retry_after(bad))


class Outcomes(unittest.TestCase):
    def test_an_error_text_has_its_type_and_fits(self):
        self.assertEqual(error_text(ValueError("bad")), "ValueError: bad")
        self.assertEqual(error_text(ValueError()), "ValueError")
        self.assertEqual(error_text(GiveUp("no mailbox")), "no mailbox")
        self.assertNotIn("\0", error_text(Exception("a\0b")))
        error_text(Exception("a\ud800b")).encode()
        for text in ("x" * 5000, "é" * 4000, "漢" * 3_000_000):
            shown = error_text(Exception(f"start{text}end"))
            self.assertLessEqual(len(shown.encode()), LONGEST_TEXT)
            self.assertTrue(shown.startswith("Exception: start") and shown.endswith("end"))

    def test_a_handler_decides_how_an_attempt_ends(self):
        self.assertEqual(of_error(RetryAfter(1.5, "busy")).retry_after_ms, 1500)
        self.assertTrue(of_error(GiveUp("no")).give_up)
        self.assertFalse(of_error(ValueError("no")).give_up)
        with self.assertRaises(ValueError):
            RetryAfter(-1)

    def test_results_that_are_not_json_are_left_out_with_a_warning_that_does_not_show_them(self):
        cycle = ["word-in-the-result"]
        cycle.append(cycle)

        class Hostile:
            def __iter__(self):
                raise RuntimeError("no")

        for value in (float("nan"), cycle, object(), "\ud800", Hostile(), {(1, 2): 3}):
            outcome = of_result(value, batch=False)
            self.assertEqual((outcome.verb, outcome.result), ("done", None))
            self.assertIn("left out", outcome.warning)
            self.assertNotIn("word-in-the-result", outcome.warning)
        self.assertEqual(of_result({"n": 9007199254740993}, batch=False).body(3), b'{"version":3,"result":{"n":9007199254740993}}')

    def test_a_failure_after_a_stop_is_handed_back_and_a_success_is_a_success(self):
        def fail():
            current_task().cancel("stopping")
            raise ValueError("interrupted")

        def succeed():
            current_task().cancel("stopping")

        self.assertEqual(run_here(Handler("h", fail), a_task()).verb, "hand_back")
        self.assertEqual(run_here(Handler("h", succeed), a_task()).verb, "done")

    def test_a_failure_after_a_timeout_says_so(self):
        def fail():
            current_task().cancel("timeout")
            current_task().raise_if_cancelled()

        self.assertIn("timed out", run_here(Handler("h", fail), a_task()).error)

    def test_nothing_that_a_handler_raises_leaves_it(self):
        def leave():
            raise SystemExit(3)

        async def leave_async():
            raise KeyboardInterrupt

        self.assertIn("SystemExit", run_here(Handler("h", leave), a_task()).error)
        self.assertIn("KeyboardInterrupt", asyncio.run(run_async(Handler("h", leave_async), a_task())).error)
        self.assertIsNone(current_task())

    def test_wrong_arguments_are_a_failed_attempt(self):
        self.assertIn("TypeError", run_here(Handler("h", lambda: None), a_task(args=[1, 2])).error)


class Submissions(unittest.TestCase):
    def test_fields_are_those_of_the_api(self):
        task = NewTask("h", ({"a": 1},), key="k", delay=datetime.timedelta(seconds=1.5), policy=Policy(max_attempts=0, max_duration=60),
                       tags=("x",), deadline=datetime.datetime(2026, 3, 1, 13, tzinfo=datetime.timezone(datetime.timedelta(hours=1))))
        self.assertEqual(json.loads(task.text()), {
            "handler": "h", "args": [{"a": 1}], "key": "k", "delay_ms": 1500, "policy": {"max_attempts": 0, "max_duration_ms": 60000},
            "tags": ["x"], "deadline": "2026-03-01T12:00:00.000Z"})

    def test_a_time_without_a_zone_is_refused(self):
        with self.assertRaisesRegex(ValueError, "time zone"):
            NewTask("h", due_at=datetime.datetime(2026, 3, 1)).fields()

    def test_arguments_that_are_not_json_are_refused_and_not_shown(self):
        for bad in (float("inf"), {"word-in-it"}, ["word-in-it", "\ud800"]):
            with self.assertRaises(InvalidArguments) as caught:
                NewTask("mail.send", [bad]).text()
            self.assertIn("mail.send", str(caught.exception))
            self.assertNotIn("word-in-it", str(caught.exception))

    def test_arguments_are_in_no_repr(self):
        self.assertNotIn("word-in-it", repr(NewTask("h", ["word-in-it"])) + repr(a_task(args=["word-in-it"])))

    def test_batches_are_bounded_by_number_and_size(self):
        self.assertEqual([len(batch) for batch in batches([b"x"] * 25_000)], [10_000, 10_000, 5_000])
        self.assertEqual([len(batch) for batch in batches([b"x" * (MOST_BYTES // 2)] * 5)], [1, 1, 1, 1, 1])
        self.assertEqual(list(batches([])), [])


class Registrations(unittest.TestCase):
    def test_a_name_is_registered_once(self):
        app = App(token="t")
        app.handler("a")(lambda: None)
        with self.assertRaisesRegex(ValueError, "twice"):
            app.handler("a")(lambda: None)
        with self.assertRaisesRegex(ValueError, "1 to 200"):
            app.handler("x" * 201)(lambda: None)

    def test_a_worker_needs_a_handler(self):
        with self.assertRaisesRegex(ValueError, "no handler"):
            App(token="t").start()


class Pool(unittest.TestCase):
    def setUp(self):
        self.threads = Threads()
        self.addCleanup(self.threads.close)

    def test_threads_are_reused(self):
        names = set()
        for _ in range(50):
            done = threading.Event()
            self.threads.run(lambda: (names.add(threading.current_thread().name), done.set()))
            self.assertTrue(done.wait(30))
            self.assertTrue(eventually(lambda: self.threads.idle))
        self.assertEqual(len(names), 1)

    def test_jobs_that_block_run_at_once(self):
        together = threading.Barrier(40)
        for _ in range(39):
            self.threads.run(lambda: together.wait(30))
        together.wait(30)

    def test_jobs_that_end_at_once_need_few_threads(self):
        done = threading.Semaphore(0)
        for _ in range(5000):
            self.threads.run(done.release)
        for _ in range(5000):
            self.assertTrue(done.acquire(timeout=30))
        self.assertLess(self.threads.count, 1000)

    def test_a_system_without_more_threads_does_not_lose_jobs(self):
        start, done = threading.Thread.start, threading.Semaphore(0)
        try:
            threading.Thread.start = lambda self: (_ for _ in ()).throw(RuntimeError("can't start new thread"))
            with self.assertRaises(RuntimeError):
                self.threads.run(done.release)
            threading.Thread.start = start
            gate = threading.Event()
            self.threads.run(gate.wait)
            self.assertTrue(eventually(lambda: not self.threads.jobs))
            threading.Thread.start = lambda self: (_ for _ in ()).throw(RuntimeError("can't start new thread"))
            self.threads.run(done.release)  # waits for the only thread
            gate.set()
            self.assertTrue(done.acquire(timeout=30))
        finally:
            threading.Thread.start = start
        self.assertFalse(done.acquire(blocking=False))  # the one that was refused did not run


class Server:
    """Answers each request with the next of these (status, headers, body)."""

    def __init__(self, *answers):
        seen = self.seen = []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                seen.append(dict(self.headers))
                status, headers, body = answers[min(len(seen), len(answers)) - 1]
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


REAL = {"easyretry-time": "2026-03-01T12:00:00.000Z", "Content-Type": "application/json"}
STORED = (201, REAL, b'{"id":"1","key":"k","created":true,"version":1}')


def refusal(status, code):
    return status, REAL, json.dumps({"error": {"code": code, "message": code, "request_id": "r"}}).encode()


class Renewals(unittest.TestCase):
    """One request of `Renewals.renew`, whose answer is given."""

    def renew(self, *answers):
        with Server(*answers) as server:
            daemon = Daemon(server.url, "t")
            self.addCleanup(daemon.close)
            renewals = Renewing(daemon, Leases(10), 30.0, Pauses(), logging.getLogger("easyretry"))
            tasks = [a_task(id=str(number)) for number in range(2)]
            held = [Lease(task, Handler("h", lambda: None), 30.0) for task in tasks]
            tasks[0].progress("half")
            return renewals.renew(held), tasks

    def test_the_handler_whose_lease_is_lost_is_cancelled_and_no_other(self):
        pause, tasks = self.renew((200, REAL, b'{"applied":[true,false]}'))
        self.assertEqual((pause, [task.why_cancelled for task in tasks], tasks[0].noted), (0.0, [None, "lease_lost"], None))

    def test_an_answer_of_another_shape_cancels_nothing_and_is_not_asked_for_at_once(self):
        for body in (b"{}", b'{"applied":[]}', b'{"applied":[false]}', b'{"applied":"all"}'):
            pause, tasks = self.renew((200, REAL, body))
            self.assertGreater(pause, time.monotonic())
            self.assertEqual([task.why_cancelled for task in tasks], [None, None])
            self.assertEqual(tasks[0].noted, "half")

    def test_a_daemon_that_asks_for_patience_does_not_cost_the_leases(self):
        status, headers, body = refusal(429, "too_many_requests")
        again, _ = self.renew((status, {**headers, "Retry-After": "300"}, body))
        self.assertLess(again - time.monotonic(), 30.0 / 6 + 0.1)

    def test_a_note_that_is_refused_does_not_cost_the_leases(self):
        _, tasks = self.renew(refusal(422, "invalid"))
        self.assertIsNone(tasks[0].noted)


class Repetitions(unittest.TestCase):
    def submit(self, server, patience=30.0):
        daemon = Daemon(server.url, "t")
        self.addCleanup(daemon.close)
        return Client(daemon, patience, most_pause=0.05).submit("h", {})

    def test_a_store_in_doubt_is_asked_with_another_idempotency_key(self):
        with Server(refusal(503, "in_doubt"), STORED) as server:
            self.submit(server)
            self.assertEqual(len({one["Idempotency-Key"] for one in server.seen}), 2)

    def test_a_server_that_is_unavailable_is_asked_with_the_same_idempotency_key(self):
        with Server(refusal(503, "unavailable"), refusal(500, "internal"), STORED) as server:
            self.submit(server)
            self.assertEqual(len(server.seen), 3)
            self.assertEqual(len({one["Idempotency-Key"] for one in server.seen}), 1)

    def test_a_duplicate_after_a_try_in_doubt_is_in_doubt(self):
        with Server(refusal(503, "in_doubt"), refusal(409, "duplicate_key")) as server, self.assertRaises(InDoubt):
            self.submit(server)

    def test_an_answer_that_lacks_fields_is_not_taken_for_one(self):
        for body in (b"{}", b"[]", b'"text"', b"{", b"\xff"):
            with Server((200, REAL, body)) as server, self.assertRaises(InDoubt):
                self.submit(server, patience=0.2)

    def test_a_token_file_is_read_again_when_the_token_is_unknown(self):
        with tempfile.TemporaryDirectory() as folder, Server(refusal(401, "unknown_token"), STORED) as server:
            file = pathlib.Path(folder, "token")
            file.write_text("er_old\n")
            daemon = Daemon(server.url, token_file=str(file))
            file.write_text("er_new\n")
            Client(daemon).submit("h", {})
            daemon.close()
            self.assertEqual([one["Authorization"] for one in server.seen], ["Bearer er_old", "Bearer er_new"])

    def test_threads_that_are_refused_together_all_use_the_new_token(self):
        old = refusal(401, "unknown_token")
        with tempfile.TemporaryDirectory() as folder, Server(old, old, STORED) as server:
            file = pathlib.Path(folder, "token")
            file.write_text("er_old\n")
            daemon = Daemon(server.url, token_file=str(file))
            self.addCleanup(daemon.close)
            file.write_text("er_new\n")
            read, refused = daemon.read, []

            def one_after_the_other(reply):
                if reply.status == 401:
                    refused.append(reply)
                    until((lambda: len(server.seen) == 2) if len(refused) == 1 else (lambda: daemon.token == "er_new"))
                return read(reply)

            daemon.read = one_after_the_other
            with concurrent.futures.ThreadPoolExecutor(2) as threads:
                for stored in [threads.submit(Client(daemon).submit, "h", {}) for _ in range(2)]:
                    self.assertTrue(stored.result(60).created)
            self.assertEqual([one["Authorization"] for one in server.seen[2:]], ["Bearer er_new"] * 2)


def setUpModule():
    logging.disable(logging.CRITICAL)


if __name__ == "__main__":
    unittest.main()
