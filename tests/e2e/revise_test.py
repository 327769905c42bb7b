"""Operators change a waiting task, over HTTP and from the command line. Usage: revise_test.py EASYRETRY_PROGRAM"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

from daemon import Daemon

PROGRAM = os.path.abspath(sys.argv.pop(1))
# The daemon scans every five minutes. A task that starts sooner was announced by a wakeup.
SLOW = "window: 10m\nhandlers:\n  mail: {max_attempts: 2, backoff: 'fixed delay=1h'}\n"


class Revise(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.daemon = Daemon(PROGRAM, self.folder.name, SLOW, ", audit: audit.jsonl")

    def tearDown(self):
        if self.daemon.process.poll() is None:
            self.daemon.kill()
        self.folder.cleanup()

    def ask(self, *request, **more):
        return self.daemon.ask(*request, **more)

    def submitted(self, **more):
        return self.ask("POST", "/v1/tasks", {"handler": "mail", **more})[1]["id"]

    def fail_once(self):
        """A task that has failed once and waits for an hour."""
        task_id = self.submitted()
        [task] = self.daemon.lease()
        self.ask("POST", f"/v1/leases/{task_id}/fail", {"version": task["version"], "error": "503"})
        return task_id

    def edit(self, task_id, policy):
        return self.ask("PATCH", f"/v1/tasks/{task_id}", {"policy": policy})

    def shown(self, task_id):
        return self.ask("GET", f"/v1/tasks/{task_id}")[1]

    def program(self, *arguments, store=False):
        where = ["--store", "sqlite:retry.db"] if store else ["--server", f"http://127.0.0.1:{self.daemon.port}"]
        return subprocess.run([PROGRAM, *arguments, *where], cwd=self.folder.name, capture_output=True, text=True, timeout=60,
                              env={**os.environ, "EASYRETRY_TOKEN": self.daemon.token})

    def good(self, *arguments, **more):
        ran = self.program(*arguments, **more)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran.stdout

    def test_a_task_that_waits_is_retried_now(self):
        task_id = self.fail_once()
        self.assertEqual(self.ask("POST", f"/v1/tasks/{task_id}/retry"), (200, {"retried": True}))
        [task] = self.daemon.lease()
        self.assertEqual((task["id"], task["attempts"], task["last_error"]), (task_id, 2, "503"))

    def test_a_policy_is_edited_and_omitted_fields_stay(self):
        task_id = self.fail_once()
        before = self.shown(task_id)
        status, edited = self.edit(task_id, {"max_attempts": 3, "deadline": "2030-01-01T00:00:00Z"})
        self.assertEqual(status, 200)
        self.assertEqual(edited["policy"], {"max_attempts": 3, "max_duration_ms": 0, "deadline": "2030-01-01T00:00:00.000Z",
                                            "backoff": before["policy"]["backoff"]})
        self.assertEqual((edited["next_at"], edited["attempts"], edited["version"]),
                         (before["next_at"], 1, before["version"] + 1))
        _, edited = self.edit(task_id, {"deadline": None, "backoff": "fixed delay=20ms"})
        self.assertEqual(edited["policy"], {"max_attempts": 3, "max_duration_ms": 0, "backoff": "fixed delay=20ms jitter=none"})

        self.ask("POST", f"/v1/tasks/{task_id}/retry")
        [task] = self.daemon.lease()
        _, answer = self.ask("POST", f"/v1/leases/{task_id}/fail", {"version": task["version"], "error": "504"})
        self.assertEqual(answer["retry_in_ms"], 20, "the third attempt, by the new wait")

    def test_a_task_that_does_not_wait_is_refused_with_a_remedy(self):
        task_id = self.submitted()
        [task] = self.daemon.lease()
        requests = [("POST", f"/v1/tasks/{task_id}/retry", None), ("PATCH", f"/v1/tasks/{task_id}", {"policy": {"max_attempts": 3}})]
        for request in requests:
            status, answer = self.ask(*request)
            self.assertEqual((status, answer["error"]["code"]), (409, "running"))
        status, _ = self.ask("POST", f"/v1/leases/{task_id}/done", {"version": task["version"]})
        self.assertEqual(status, 200, "its worker has lost nothing")
        for request in requests:
            status, answer = self.ask(*request)
            self.assertEqual((status, answer["error"]["code"]), (409, "ended"))
            self.assertIn("requeue", answer["error"]["hint"])
        self.assertEqual(self.ask("POST", "/v1/tasks/17/retry")[0], 404)
        self.assertEqual(self.edit("17", {"max_attempts": 3})[0], 404)

    def test_a_bad_policy_is_refused_and_changes_nothing(self):
        task_id = self.submitted(delay_ms=3_600_000)
        before = self.shown(task_id)
        for body, status, said in (
            ("{", 400, ""),
            ([], 400, ""),
            ({}, 400, "policy"),
            ({"policy": 7}, 400, ""),
            ({"policy": {}}, 422, "nothing to change"),
            ({"policy": {"max_attempts": None}}, 422, "nothing to change"),
            ({"policy": {"max_attempt": 3}}, 422, "did you mean max_attempts?"),
            ({"policy": {"max_attempts": 3}, "due": 1}, 422, "unknown field"),
            ({"policy": {"max_attempts": -1}}, 422, "max_attempts"),
            ({"policy": {"max_attempts": 1_000_001}}, 422, "use 1 to 1000000"),
            ({"policy": {"max_attempts": "3"}}, 400, "max_attempts"),
            ({"policy": {"max_duration_ms": 10 ** 13}}, 422, "max_duration_ms"),
            ({"policy": {"deadline": "tomorrow"}}, 422, "deadline"),
            ({"policy": {"backoff": "fixed 10m"}}, 422, "backoff"),
            ({"policy": {"backoff": ""}}, 422, "exponential fixed linear ladder classic"),
        ):
            with self.subTest(body=body):
                answered, answer = self.ask("PATCH", f"/v1/tasks/{task_id}", body)
                self.assertEqual(answered, status, answer)
                self.assertIn(said, answer["error"]["message"])
        self.assertEqual(self.shown(task_id), before)

    def test_only_operators_may_and_it_is_written_down(self):
        task_id = self.submitted(delay_ms=3_600_000)
        for role, allowed in (("viewer", False), ("submitter", False), ("worker", False), ("operator", True)):
            made = subprocess.run([PROGRAM, "token", "create", role, "--role", role], cwd=self.folder.name,
                                  capture_output=True, text=True, check=True)
            token = made.stdout.strip()
            for request in (("PATCH", f"/v1/tasks/{task_id}", {"policy": {"max_attempts": 3}}),
                            ("POST", f"/v1/tasks/{task_id}/retry")):
                self.assertEqual(self.ask(*request, token=token)[0], 200 if allowed else 403, (role, request))
        with open(os.path.join(self.folder.name, "audit.jsonl")) as file:
            noted = [json.loads(line) for line in file]
        self.assertEqual([(entry["by"], entry["request"], entry["status"]) for entry in noted],
                         [("operator", f"PATCH /v1/tasks/{task_id}", "200"),
                          ("operator", f"POST /v1/tasks/{task_id}/retry", "200")])

    def test_the_command_line_retries_and_edits(self):
        task_id = self.fail_once()
        sent = json.loads(self.good("tasks", "edit", task_id, "--max-attempts", "5", "--max-duration", "2h", "--dry-run"))
        self.assertEqual(sent, {"policy": {"max_attempts": 5, "max_duration_ms": 7_200_000}})
        self.assertEqual(self.good("tasks", "edit", task_id, "--max-attempts", "5", "--deadline", "2030-01-01"), f"{task_id} edited\n")
        self.assertEqual(self.good("tasks", "edit", task_id, "--deadline", "none"), f"{task_id} edited\n")
        edited = json.loads(self.good("tasks", "edit", task_id, "--policy", '{"backoff": "classic"}', "--json"))
        self.assertEqual(edited["policy"], {"max_attempts": 5, "max_duration_ms": 0, "backoff": "classic"})

        self.assertEqual(self.good("tasks", "retry", task_id, "--dry-run"), f"{task_id} would be retried\n")
        self.assertEqual(json.loads(self.good("tasks", "retry", task_id, "--json")), {"tasks": [{"id": task_id, "retried": True}]})
        [task] = self.daemon.lease()
        self.assertEqual(task["id"], task_id)
        for arguments, said in (
            (["retry", task_id], "is running; wait until"),
            (["retry", task_id, "--dry-run"], "it is running"),
            (["edit", task_id, "--max-attempts", "3"], "is running; wait until"),
            (["edit", task_id], "nothing to change; give --max-attempts"),
            (["edit", task_id, "--policy", "[]"], "--policy is not a JSON object"),
            (["edit", task_id, "--max-duration", "soon"], 'duration "soon": not a number'),
        ):
            with self.subTest(arguments=arguments):
                ran = self.program("tasks", *arguments)
                self.assertEqual(ran.returncode, 2 if "soon" in arguments else 1)
                self.assertIn(said, ran.stderr)

    def test_the_daemon_follows_changes_made_directly_in_the_store(self):
        task_id = self.fail_once()
        self.assertEqual(self.daemon.stop(), 0)
        self.good("tasks", "edit", task_id, "--max-attempts", "9", store=True)
        self.good("tasks", "retry", task_id, store=True)
        self.daemon = Daemon(PROGRAM, self.folder.name, SLOW)
        [task] = self.daemon.lease()
        self.assertEqual((task["id"], task["policy"]["max_attempts"]), (task_id, 9))


if __name__ == "__main__":
    unittest.main()
