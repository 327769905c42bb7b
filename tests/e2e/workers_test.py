"""The example workers against a real daemon. Usage: workers_test.py EASYRETRY_PROGRAM WORKERS_FOLDER python|node|go…"""
import os
import signal
import subprocess
import sys
import tempfile
import unittest

from daemon import Daemon
from waiting import until

PROGRAM = os.path.abspath(sys.argv.pop(1))
WORKERS = os.path.abspath(sys.argv.pop(1))
LANGUAGES = sys.argv[1:]
del sys.argv[1:]

COMMANDS = {
    "python": [sys.executable, "worker.py"],
    "node": ["node", "worker.mjs"],
    "go": ["go", "run", "worker.go"],
}


class Workers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.daemon = Daemon(PROGRAM, self.folder.name)

    def tearDown(self):
        self.daemon.kill()
        self.folder.cleanup()

    def outcomes(self):
        return {task["key"]: task["outcome"] for task in self.daemon.ask("GET", "/v1/history")[1]["tasks"]}

    def test_each_worker_fetches_and_runs_tasks_and_rejects_impossible_ones(self):
        for language in LANGUAGES:
            with self.subTest(language):
                for to in ("ann", "nobody"):
                    wanted = {"handler": "mail.send", "key": f"{language}-{to}", "args": [{"to": to}]}
                    self.assertEqual(self.daemon.ask("POST", "/v1/tasks", wanted)[0], 201)
                worker = subprocess.Popen([*COMMANDS[language], f"http://127.0.0.1:{self.daemon.port}"], cwd=WORKERS,
                                          env={**os.environ, "EASYRETRY_TOKEN": self.daemon.token},
                                          stdout=subprocess.PIPE, text=True, start_new_session=True)
                try:
                    until(lambda: f"{language}-nobody" in self.outcomes() and f"{language}-ann" in self.outcomes())
                finally:
                    os.killpg(worker.pid, signal.SIGTERM)
                    said, _ = worker.communicate(timeout=30)
                self.assertEqual(said.count("mail to ann"), 1)
                self.assertEqual(self.outcomes()[f"{language}-ann"], "succeeded")
                self.assertEqual(self.outcomes()[f"{language}-nobody"], "rejected")


if __name__ == "__main__":
    unittest.main()
