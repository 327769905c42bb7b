"""A limit of a handler, seen from outside: API, command line, doctor, metrics, and the server that is called.
Usage: limits_test.py EASYRETRY_PROGRAM"""
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

from daemon import Daemon
from receiver import Receiver, write_secrets
from waiting import until

PROGRAM = os.path.abspath(sys.argv.pop(1))


class Limits(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(self.folder.cleanup)
        self.receiver = Receiver()
        self.addCleanup(self.receiver.close)
        write_secrets(self.folder.name)

    def start(self, limit):
        config = f"handlers:\n  hook: {{url: '{self.receiver.url}', secrets_file: hook.secrets, limit: {limit}}}\n"
        self.daemon = Daemon(PROGRAM, self.folder.name, config, ", may_call: [127.0.0.1]")
        self.addCleanup(lambda: self.daemon.process.poll() is None and self.daemon.kill())

    def submit(self, count):
        tasks = [{"handler": "hook", "key": str(uuid.uuid4())} for _ in range(count)]
        status, answer = self.daemon.ask("POST", "/v1/tasks", {"tasks": tasks})
        self.assertEqual(status, 201, answer)
        return [task["id"] for task in answer["tasks"]]

    def limit(self):
        status, answer = self.daemon.ask("GET", "/v1/limits")
        self.assertEqual(status, 200, answer)
        [limit] = answer["limits"]
        return limit

    def run_command(self, *words):
        return subprocess.run([PROGRAM, "limits", *words, "--server", f"http://127.0.0.1:{self.daemon.port}", "--token-file",
                               os.path.join(self.folder.name, "easyretry.tokens.first")], capture_output=True, text=True, timeout=60)

    def command(self, *words):
        run = self.run_command(*words)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def refused(self, *words):
        run = self.run_command(*words)
        self.assertNotEqual(run.returncode, 0)
        return run.stderr

    def test_a_rate_is_kept_and_a_held_task_says_so(self):
        self.start("{per_second: 2}")
        began = time.monotonic()
        ids = self.submit(20)
        until(lambda: self.limit().get("held_tasks", 0) > 0, what="nothing is held back")
        limit = self.limit()
        self.assertEqual((limit["subject"], limit["handlers"], limit["per_second"]), ("handler hook", ["hook"], 2))
        waits = [self.daemon.ask("GET", f"/v1/tasks/{task}")[1].get("waits_for", {}) for task in ids]
        held = [one for one in waits if one.get("kind") == "limit"]
        self.assertTrue(held, waits)
        self.assertIn("handler hook allows 2 starts a second", held[0]["text"])
        self.assertIn("since", held[0])
        checks = {check["check"]: check for check in self.daemon.ask("GET", "/v1/doctor")[1]["checks"]}
        self.assertEqual(checks["limits"]["result"], "ok")
        until(lambda: self.receiver.calls == 20, seconds=60, what="not all tasks ended")
        self.assertGreaterEqual(time.monotonic() - began, 9, "20 starts take nine seconds and a half")

    def test_a_limit_of_zero_starts_nothing_and_doctor_warns(self):
        self.start("{running: 0}")
        self.submit(3)
        until(lambda: self.limit().get("holds_since"), what="nothing is held back")
        checks = {check["check"]: check for check in self.daemon.ask("GET", "/v1/doctor")[1]["checks"]}
        self.assertEqual(checks["limits"]["result"], "warn")
        self.assertEqual(self.receiver.calls, 0)
        self.assertEqual(json.loads(self.command("--json"))["limits"][0]["running"], 0)

    def test_a_limit_that_is_set_at_run_time_holds_across_a_restart_until_it_is_reset(self):
        self.start("off")
        self.assertIn("handler hook is limited", self.command("set", "handler", "hook", "--running", "0", "--why", "it moves"))
        ids = self.submit(3)
        until(lambda: self.limit().get("held_tasks", 0) == 3, what="nothing is held back")
        self.assertIn("ago: it moves", self.command())
        waits = self.daemon.ask("GET", f"/v1/tasks/{ids[0]}")[1]["waits_for"]
        self.assertEqual((waits["kind"], waits["why"]), ("limit", "it moves"))
        self.daemon.kill()
        self.start("off")
        until(lambda: self.limit().get("held_tasks", 0) == 3, what="nothing is held back after the restart")
        self.assertEqual(self.receiver.calls, 0)
        self.assertIn("only the limit that is configured", self.command("reset", "handler", "hook"))
        until(lambda: self.receiver.calls == 3, what="the tasks are still held back")
        self.assertIn("had no limit that was set", self.command("reset", "handler", "hook"))
        self.assertEqual(self.daemon.ask("GET", "/v1/limits")[1]["limits"], [])

    def test_a_senseless_limit_is_refused_with_a_remedy(self):
        self.start("off")
        self.assertIn("say running, per_second or both", self.refused("set", "handler", "hook"))
        self.assertIn("limit.burst = 5", self.refused("set", "handler", "hook", "--running", "2", "--burst", "5"))
        self.assertIn("handler", self.refused("set", "tenant", "hook", "--running", "2"))


if __name__ == "__main__":
    unittest.main()
