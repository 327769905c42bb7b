"""Applications of a real daemon, and what is left when either is killed.
Usage: remote_test.py EASYRETRY_PROGRAM EXAMPLE EXAMPLE_SOURCE WORKER"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

from daemon import Daemon
from waiting import until

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from example_test import promised

PROGRAM, EXAMPLE, EXAMPLE_SOURCE, WORKER = (os.path.abspath(argument) for argument in sys.argv[1:5])
del sys.argv[1:]

LEASE_MS = 1500


class Remote(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.journal = os.path.join(self.folder.name, "journal")
        self.daemon = Daemon(PROGRAM, self.folder.name)
        self.processes = []

    def tearDown(self):
        for process in self.processes:
            process.kill()
            process.communicate()
        self.daemon.kill()
        self.folder.cleanup()

    def url(self):
        return f"http://127.0.0.1:{self.daemon.port}"

    def token_file(self):
        return os.path.join(self.folder.name, "easyretry.tokens.first")

    def application(self, *what):
        process = subprocess.Popen([WORKER, self.url(), self.token_file(), self.journal, *map(str, what)],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.processes.append(process)
        return process

    def written(self, word):
        """The rest of each line that begins with the word."""
        if not os.path.exists(self.journal):
            return []
        with open(self.journal) as file:
            return [line.split()[1:] for line in file if line.split()[0] == word]

    def restart_daemon(self):
        port = self.daemon.port
        self.daemon.kill()
        self.daemon = Daemon(PROGRAM, self.folder.name, port=port)

    def outcomes(self):
        tasks, after = {}, ""
        while True:
            page = self.daemon.ask("GET", f"/v1/history?limit=1000{after}")[1]
            tasks.update((task["id"], task["outcome"]) for task in page["tasks"])
            if "next" not in page:
                return tasks
            after = f"&after={page['next']}"

    def test_the_example_prints_what_it_promises(self):
        run = subprocess.run([EXAMPLE, self.url(), self.token_file()], stdout=subprocess.PIPE, text=True, timeout=60,
                             check=True)
        self.assertEqual(run.stdout.splitlines(), promised(pathlib.Path(EXAMPLE_SOURCE)))

    def test_tasks_of_a_killed_worker_are_run_by_another_after_their_lease(self):
        self.application("call", 1, 1).wait(timeout=60)
        killed = self.application("work", LEASE_MS, 600_000)
        until(lambda: self.written("begin"))
        began = time.monotonic()
        killed.kill()
        self.application("work", LEASE_MS, 1)
        until(lambda: self.written("end"))
        self.assertGreater(time.monotonic() - began, LEASE_MS / 1000 * 0.5)
        (first, second), = [[int(version) for _, version in self.written("begin")]]
        self.assertGreater(second, first)
        self.assertEqual([end[0] for end in self.written("end")], ["1"])
        until(lambda: list(self.outcomes().values()) == ["succeeded"])

    def test_a_daemon_that_is_killed_again_and_again_loses_nothing_that_was_stored(self):
        count = 400
        worker = self.application("work", 5000, 1)
        caller = self.application("call", 1, count)
        for _ in range(4):
            seen = len(self.written("stored"))
            until(lambda: len(self.written("stored")) > seen + 20 or caller.poll() is not None)
            self.restart_daemon()
        caller.wait(timeout=60)
        stored = {number for number, in self.written("stored")}
        self.assertEqual(len(stored), count)
        until(lambda: stored <= {number for number, _ in self.written("end")})
        until(lambda: not self.daemon.ask("GET", "/v1/tasks")[1]["tasks"])
        self.assertEqual(set(self.outcomes().values()), {"succeeded"})
        self.assert_no_overlap()
        worker.communicate("\n", timeout=60)
        self.assertEqual(worker.returncode, 0)

    def assert_no_overlap(self):
        """No task runs twice at the same time: the worker is alive, so its leases are renewed."""
        running = set()
        with open(self.journal) as file:
            for line in file:
                word, number, *_ = line.split()
                if word == "begin":
                    self.assertNotIn(number, running)
                    running.add(number)
                elif word == "end":
                    running.remove(number)


if __name__ == "__main__":
    unittest.main()
