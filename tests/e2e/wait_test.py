"""Waiting for a task and its result through a daemon. Usage: wait_test.py EASYRETRY_PROGRAM"""
import json
import os
import subprocess
import threading
import time
import unittest

from daemon import Daemon
from daemon_case import PROGRAM, DaemonCase
from waiting import until

CONFIG = "handlers:\n  mail: {keep_results: 1h, max_attempts: 1}\n"


class Wait(DaemonCase):
    def ask_as(self, token, method, path):
        return Daemon.ask(self.daemon, method, path, token=token)

    def submit(self, **more):
        status, made = self.daemon.ask("POST", "/v1/tasks", {"handler": "mail", **more})
        self.assertEqual(status, 201, made)
        return made["id"]

    def end(self, how="done", **said):
        [task] = self.daemon.lease()
        status, answer = self.daemon.ask("POST", f"/v1/leases/{task['id']}/{how}", {"version": task["version"], **said})
        self.assertEqual(status, 200, answer)

    def program(self, *arguments):
        environment = {**os.environ, "EASYRETRY_TOKEN": self.daemon.token}
        return subprocess.run([PROGRAM, *arguments, "--server", f"http://127.0.0.1:{self.daemon.port}"], cwd=self.folder.name,
                              env=environment, capture_output=True, text=True, timeout=60)

    def test_a_request_is_answered_when_the_task_ends(self):
        self.start(CONFIG)
        id = self.submit()
        answers = []
        waiting = [threading.Thread(target=lambda: answers.append(self.daemon.ask("GET", f"/v1/tasks/{id}?wait_ms=60000&result")))
                   for _ in range(20)]  # more than the API has threads
        for one in waiting:
            one.start()
        waiting[-1].join(0.5)
        self.assertEqual(answers, [])
        self.assertEqual(self.daemon.ask("GET", f"/v1/tasks/{id}")[0], 200, "no thread is held")
        began = time.monotonic()
        self.end(result={"receipt": "r-17"})
        for one in waiting:
            one.join()
        self.assertLess(time.monotonic() - began, 5)
        for status, task in answers:
            self.assertEqual((status, task["state"], task["outcome"], task["result"]),
                             (200, "finished", "succeeded", {"receipt": "r-17"}))

    def test_after_its_time_the_task_is_answered_as_it_is(self):
        self.start(CONFIG)
        id = self.submit()
        began = time.monotonic()
        status, task = self.daemon.ask("GET", f"/v1/tasks/{id}?wait_ms=400")
        self.assertEqual((status, task["state"]), (200, "pending"))
        self.assertGreaterEqual(time.monotonic() - began, 0.4)
        self.end("fail", error="down")
        status, task = self.daemon.ask("GET", f"/v1/tasks/{id}?wait_ms=60000")
        self.assertEqual((task["outcome"], task["last_error"][:4]), ("exhausted", "down"))

    def test_invalid_waits_are_refused(self):
        self.start(CONFIG)
        id = self.submit()
        for wait in ("soon", "-1", "60001", "", "1.5"):
            status, answer = self.daemon.ask("GET", f"/v1/tasks/{id}?wait_ms={wait}")
            self.assertEqual(status, 422, wait)
            self.assertIn("wait_ms", answer["error"]["message"])
            self.assertIn("0 to 60000", answer["error"]["message"])
        self.assertEqual(self.daemon.ask("GET", "/v1/tasks/4711?wait_ms=60000")[0], 404)
        self.assertIn("did you mean wait_ms", self.daemon.ask("GET", f"/v1/tasks/{id}?wait_m=1")[1]["error"]["message"])

    def test_a_result_is_shown_to_those_who_may_see_it(self):
        self.start(CONFIG)
        id = self.submit()
        self.end(result=[1, 2])
        self.assertNotIn("result", self.daemon.ask("GET", f"/v1/tasks/{id}")[1])
        for role, status in (("viewer", 403), ("operator", 403), ("viewer+payloads", 200), ("application", 200)):
            token = self.token(role.replace("+", "-"), role)
            self.assertEqual(self.ask_as(token, "GET", f"/v1/tasks/{id}?result")[0], status, role)

    def test_results_are_not_kept_by_default(self):
        self.start("")
        id = self.submit()
        self.end(result=[1, 2])
        status, task = self.daemon.ask("GET", f"/v1/tasks/{id}?result&wait_ms=1000")
        self.assertEqual((status, task["outcome"]), (200, "succeeded"))
        self.assertNotIn("result", task)

    def test_a_task_that_nothing_keeps_says_which_options_decide_that(self):
        self.start("handlers: {mail: {keep: none}}\n")

        def answered():
            """None if the task ended before the wait for it began."""
            id = self.submit()
            answers = []
            waiting = threading.Thread(target=lambda: answers.append(self.daemon.ask("GET", f"/v1/tasks/{id}?wait_ms=30000")))
            waiting.start()
            waiting.join(0.2)
            self.end()
            waiting.join()
            [(status, answer)] = answers
            self.assertEqual((status, answer["error"]["code"]), (404, "not_found"))
            return answer["error"] if "has ended" in answer["error"]["message"] else None

        self.assertEqual(until(answered)["hint"], "keep of its handler, and history of the store, decide which tasks are kept")

    def test_a_daemon_that_stops_answers_all_who_wait(self):
        self.start(CONFIG)
        id = self.submit()
        answers = []
        waiting = threading.Thread(target=lambda: answers.append(self.daemon.ask("GET", f"/v1/tasks/{id}?wait_ms=60000")))
        waiting.start()
        waiting.join(0.5)
        self.assertTrue(waiting.is_alive())
        self.daemon.process.terminate()
        waiting.join(20)
        self.assertEqual([(status, task["state"]) for status, task in answers], [(200, "pending")])
        self.assertEqual(self.daemon.process.wait(20), 0)

    def test_the_program_waits_and_shows_the_result(self):
        self.start(CONFIG)
        id = self.submit(key="order 42")
        late = self.program("tasks", "show", id, "--wait", "300ms")
        self.assertEqual(late.returncode, 1, late.stderr)
        self.assertIn("has not ended within 300ms", late.stderr)
        self.assertIn("pending", late.stdout)
        ends = threading.Timer(1, lambda: self.end(result={"receipt": "r-17"}))
        ends.start()
        shown = self.program("tasks", "show", "--handler", "mail", "--key", "order 42", "--wait", "30s", "--result", "--json")
        ends.join()
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertEqual(json.loads(shown.stdout)["result"], {"receipt": "r-17"})
        self.assertIn('{"receipt":"r-17"}', self.program("tasks", "show", id, "--result").stdout)

    def test_the_program_finds_cancels_and_requeues_by_key(self):
        self.start(CONFIG)
        by_key = ["--handler", "mail", "--key", "order 42"]
        self.assertIn("there is no task of mail with the key order 42", self.program("tasks", "show", *by_key).stderr)
        first = self.submit(key="order 42")
        self.assertEqual(self.program("tasks", "cancel", *by_key, "--untold", "--yes").stdout, "1 cancelled, 0 skipped\n")
        self.assertEqual(json.loads(self.program("tasks", "show", *by_key, "--json").stdout)["id"], first)
        self.assertEqual(self.program("tasks", "requeue", *by_key, "--yes").stdout, "1 requeued, 0 skipped\n")
        self.assertNotEqual(json.loads(self.program("tasks", "show", *by_key, "--json").stdout)["id"], first)
        self.assertIn("--key", self.program("tasks", "show", "--handler", "mail").stderr)
        self.assertIn("--wait: ", self.program("tasks", "show", first, "--wait", "soon").stderr)


if __name__ == "__main__":
    unittest.main()
