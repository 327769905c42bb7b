#!/usr/bin/env python3
"""The Python SDK with a real daemon: the examples of its README, and what the conformance suite does not ask of every language.
Usage: daemon_test.py EASYRETRY_PROGRAM"""
import asyncio
import gc
import logging
import os
import re
import signal
import subprocess
import sys
import threading
import unittest
import weakref
from datetime import datetime

import here
from daemon_case import DaemonCase
from easyretry import App, Policy, current_task
from waiting import until

sys.path.insert(0, str(here.ROOT / "sdk/conformance"))
from proxy import LEASE, Proxy  # noqa: E402

CONFIG = "defaults: {backoff: fixed delay=100ms, max_attempts: 3}\nwindow: 1s\n"


class Case(DaemonCase):
    def setUp(self):
        super().setUp()
        self.start(CONFIG, stderr=subprocess.DEVNULL)
        self.secret = self.token("python", "application")

    def app(self, port=None, **options):
        app = App(f"http://127.0.0.1:{port or self.daemon.port}", self.secret, **{"wait": 2, "drain": 1, **options})
        self.addCleanup(app.daemon.close)
        return app

    def run_while(self, app, holds):
        app.start()
        try:
            until(holds)
        finally:
            app.stop()

    def task(self, id):
        return self.daemon.ask("GET", f"/v1/tasks/{id}")[1]

    def ended(self, id, outcome):
        return self.task(id).get("outcome") == outcome


class Examples(Case):
    def run_example(self, text):
        address = {"EASYRETRY_URL": f"http://127.0.0.1:{self.daemon.port}", "EASYRETRY_TOKEN": self.secret}
        return subprocess.Popen([sys.executable, "-c", text.replace(":7077", f":{self.daemon.port}")], stdout=subprocess.PIPE, text=True,
                                env={**os.environ, "PYTHONPATH": str(here.SDK / "src"), **address})

    def test_the_quickstart_of_the_readme_runs_and_is_short(self):
        code = re.search(r"```python\n(.*?)```", (here.SDK / "README.md").read_text(), re.S).group(1)
        self.assertLessEqual(len([line for line in code.splitlines() if line.strip()]), 15)
        process = self.run_example(code)
        self.assertEqual(process.stdout.readline(), "mail to ann\n")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(60), 0)
        process.stdout.close()
        self.assertEqual([one["outcome"] for one in self.daemon.ask("GET", "/v1/history")[1]["tasks"]], ["succeeded"])

    def test_the_other_example_of_the_readme_runs(self):
        process = self.run_example((here.SDK / "examples/submitting.py").read_text())
        said, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        self.assertRegex(said, r"^paid: \{'code': 200\}\nstored as task \d+\n$")
        live = {task["key"]: task for task in self.daemon.ask("GET", "/v1/tasks")[1]["tasks"]}
        self.assertEqual(len(live), 4)
        self.assertIn("welcome ann", live)


class Coroutines(Case):
    def test_many_run_at_once_in_one_thread(self):
        app, threads, running, most = self.app(concurrency=50), set(), [], []

        @app.handler("h")
        async def handle(_):
            threads.add(threading.current_thread().name)
            running.append(1)
            most.append(len(running))
            while max(most) < 20:
                await asyncio.sleep(0.01)
            running.pop()

        ids = [app.client.submit("h", {"n": number}).id for number in range(20)]
        self.run_while(app, lambda: all(self.ended(id, "succeeded") for id in ids))
        self.assertEqual((len(threads), max(most)), (1, 20))

    def test_one_whose_lease_is_lost_is_cancelled(self):
        app, cancelled, begun = self.app(lease=1.5), threading.Event(), threading.Event()

        @app.handler("h")
        async def handle():
            begun.set()
            try:
                await asyncio.sleep(600)
            except asyncio.CancelledError:
                cancelled.set()
                raise

        id = app.client.submit("h").id
        app.start()
        self.assertTrue(begun.wait(60))
        self.assertEqual(self.daemon.ask("POST", f"/v1/tasks/{id}/cancel")[0], 200)
        self.assertTrue(cancelled.wait(60))
        app.stop()

    def test_a_stop_cancels_and_hands_back(self):
        app, begun = self.app(drain=0.1, lease=60), threading.Event()

        @app.handler("h")
        async def handle():
            begun.set()
            await asyncio.sleep(600)

        id = app.client.submit("h").id
        self.run_while(app, begun.is_set)
        self.assertEqual((self.task(id)["state"], self.task(id)["attempts"]), ("pending", 0))

    def test_they_run_on_the_loop_of_the_application(self):
        app, loops = self.app(), []

        @app.handler("h")
        async def handle():
            loops.append(asyncio.get_running_loop())

        async def main():
            work = asyncio.create_task(app.run_async())
            id = (await app.async_client.submit("h")).id
            found = await app.async_client.find(id, wait=30)
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
            return found["outcome"], loops == [asyncio.get_running_loop()]

        self.assertEqual(asyncio.run(main()), ("succeeded", True))
        self.assertIsNone(app.worker)


class Work(Case):
    def test_a_timeout_cancels_and_is_a_failed_attempt(self):
        app = self.app()

        @app.handler("h", timeout=0.2)
        def handle():
            current_task().wait(600)
            current_task().raise_if_cancelled()

        id = app.client.submit("h").id
        self.run_while(app, lambda: self.ended(id, "exhausted"))
        self.assertIn("timed out", self.task(id)["last_error"])

    def test_a_worker_can_be_started_again(self):
        app = self.app()
        app.handler("h")(lambda number: number)
        for number in range(3):
            id = app.client.submit("h", number).id
            self.run_while(app, lambda: self.ended(id, "succeeded"))

    def test_a_finished_task_is_freed_at_once(self):
        """Without the garbage collector, so the memory of a busy worker stays flat."""
        app, tasks = self.app(), []

        @app.handler("function")
        def function():
            tasks.append(weakref.ref(current_task()))

        @app.handler("coroutine")
        async def coroutine():
            tasks.append(weakref.ref(current_task()))

        gc.disable()
        self.addCleanup(gc.enable)
        for name in ("function", "coroutine"):
            app.client.submit(name)
        self.run_while(app, lambda: len(tasks) == 2 and not [task() for task in tasks if task()])

    def test_a_stop_ends_a_poll_without_breaking_its_connection(self):
        app, aborted = self.app(wait=60), []
        app.handler("h")(lambda: None)
        id = app.client.submit("h").id
        app.start()
        until(lambda: self.ended(id, "succeeded"))
        app.worker.line.abort = lambda: aborted.append(1)
        app.stop()
        self.assertEqual(aborted, [])

    def test_tasks_that_are_on_their_way_at_a_stop_are_handed_back(self):
        proxy = Proxy(self.daemon.port)
        self.addCleanup(proxy.close)
        held, stopped = threading.Event(), threading.Event()

        def hold(request, forward):
            """Keeps the leased tasks until the worker has been told to stop."""
            reply = forward(request)
            if b'"id"' in reply.body:
                held.set()
                stopped.wait(60)
            return reply

        proxy.play(LEASE, hold, times=100)
        app = self.app(proxy.port, lease=60)
        ran = []
        app.handler("h")(ran.append)
        id = app.client.submit("h", 1).id
        app.start()
        until(held.is_set)
        hang_up = app.worker.line.hang_up
        app.worker.line.hang_up = lambda: (hang_up(), stopped.set())
        app.stop()
        self.assertEqual((self.task(id)["state"], self.task(id)["attempts"], ran), ("pending", 0, []))

    def test_a_call_that_failed_is_due_when_the_policy_says(self):
        app = self.app()

        @app.retryable("pay", policy=Policy(backoff="fixed delay=1h"))
        def pay(order):
            raise ConnectionError("busy")

        for id in (pay({"id": 1}).task, pay.store({"id": 2}, why="busy")):
            task = self.task(id)
            self.assertEqual((task["state"], task["attempts"], task["last_error"][-4:]), ("pending", 1, "busy"))
            later = datetime.fromisoformat(task["next_at"].rstrip("Z")) - datetime.fromisoformat(task["created_at"].rstrip("Z"))
            self.assertGreater(later.total_seconds(), 3000)

    def test_always_leases_its_row_and_settles_it(self):
        app = self.app()

        @app.retryable("pay", persist="always")
        def pay(order):
            live = self.daemon.ask("GET", "/v1/tasks?handler=pay")[1]["tasks"]
            self.assertEqual([task["state"] for task in live], ["running"])
            if order["id"] == 2 and current_task() is None:
                raise ConnectionError("busy")
            return order

        self.assertEqual(pay({"id": 1}).value, {"id": 1})
        stored = pay({"id": 2})
        self.assertEqual((stored.state, self.task(stored.task)["last_error"]), ("stored", "ConnectionError: busy"))
        self.run_while(app, lambda: self.ended(stored.task, "succeeded"))
        self.assertEqual(len(self.daemon.ask("GET", "/v1/history")[1]["tasks"]), 2)


if __name__ == "__main__":
    logging.getLogger("easyretry").addHandler(logging.NullHandler())
    unittest.main()
