"""Every `easyretry …` command in docs/operations.md works as it stands there. Usage: operations_page_test.py EASYRETRY_PROGRAM SERVERS_PY

Commands of the page that need a database get a real one; ID is a task that the command can be applied to, NAME a handler."""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

from daemon import Daemon

PROGRAM = os.path.abspath(sys.argv.pop(1))
SERVERS = os.path.abspath(sys.argv.pop(1))
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/operations.md"
NAMED = {"migrate", "split"}  # mentioned without their options
WITHOUT_SERVER = {"config", "migrate", "token"}  # commands that have no --server


def servers(*args):
    return subprocess.run([sys.executable, SERVERS, *args], check=True, capture_output=True, text=True).stdout.strip()


def commands():
    prose = re.sub(r"^```.*?^```$", "", PAGE.read_text(), flags=re.M | re.S)
    return sorted(set(re.findall(r"`easyretry ([^`]*)`", prose)) - NAMED)


class OperationsPage(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.count = 0
        self.folder, place = folder.name, os.path.join(folder.name, "postgres")
        self.url = servers("start", "postgres", "--folder", place, "--no-sync")
        self.addCleanup(servers, "remove", "--folder", place)
        self.daemon = Daemon(PROGRAM, self.folder, store=self.url, stderr=subprocess.DEVNULL)
        self.addCleanup(self.daemon.process.stdout.close)
        self.addCleanup(lambda: self.daemon.process.poll() is None and self.daemon.kill())

    def new_task(self, handler="mail.send"):
        self.count += 1  # without a key, tasks are told apart by their arguments
        status, made = self.daemon.ask("POST", "/v1/tasks", {"handler": handler, "args": [self.count], "delay_ms": 3_600_000})
        self.assertEqual(status, 201, made)
        return made["id"]

    def finished_task(self):
        task = self.new_task("ended")
        self.assertEqual(self.daemon.ask("POST", f"/v1/tasks/{task}/fail?untold=true", {"why": "x"})[0], 200)
        return task

    def arguments(self, command):
        words = shlex.split(command.replace("postgres://…", self.url))
        task = self.finished_task() if "requeue" in words else self.new_task()
        words = [{"ID": task, "NAME": "mail.send"}.get(word, word) for word in words]
        if "--store" not in words and words[0] not in WITHOUT_SERVER:
            words += ["--server", f"http://127.0.0.1:{self.daemon.port}"]
        if "--created-until" in words:
            words.append("--yes")  # there is no terminal to ask
        return words

    def test_has_commands_that_work(self):
        found = commands()
        self.assertGreater(len(found), 15, found)
        for command in found:
            with self.subTest(command):
                ran = subprocess.run([PROGRAM, *self.arguments(command)], cwd=self.folder, capture_output=True, text=True, timeout=60,
                                     env={**os.environ, "EASYRETRY_TOKEN": self.daemon.token}, check=False)
                self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)


if __name__ == "__main__":
    unittest.main()
