"""A case of the suite: a daemon, a proxy and a subject, each of its own."""
import contextlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from proxy import Proxy
from subject import Subject

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/e2e"))
from daemon import Daemon  # noqa: E402
from waiting import until  # noqa: E402

SECRET = "word-that-is-not-to-be-printed"
CONFIG = """
lease: 3s
window: 1s
max_crashes: 10
defaults: {backoff: fixed delay=200ms, max_attempts: 5, keep_results: 1h}
handlers: {conform.judged: {success_when: result.ok == true}}
"""


class Setup:
    """Set by conform.py."""

    program = ""
    command = ()


def quick(test):
    """One of the cases of --quick."""
    test.is_quick = True
    return test


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.folder = self.stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        self.subject_folder = self.stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        self.log = self.stack.enter_context(open(os.path.join(self.folder, "daemon.log"), "a"))
        self.daemon = None
        self.subjects = []
        self.start_daemon()
        self.stack.callback(self.kill_daemon)
        self.token = self.new_token("conform")
        self.proxy = Proxy(self.daemon.port)
        self.stack.callback(self.proxy.close)

    def tearDown(self):
        try:
            self.check_subjects()
        finally:
            for subject in self.subjects:
                subject.kill()
                if self.failed():
                    print(f"--- the subject said\n{subject.said()[-6000:]}\n---", file=sys.stderr)
            self.stack.close()

    def failed(self):
        outcome = self._outcome.result
        return any(test is self for test, _ in outcome.errors + outcome.failures)

    def start_daemon(self):
        self.daemon = Daemon(Setup.program, self.folder, CONFIG, stderr=self.log)

    def kill_daemon(self):
        if self.daemon.process.poll() is None:
            self.daemon.kill()

    def restart_daemon(self):
        self.start_daemon()
        self.proxy.target = self.daemon.port

    def new_token(self, name):
        made = subprocess.run([Setup.program, "token", "create", name, "--role", "application", "--namespace", "default"],
                              cwd=self.folder, capture_output=True, text=True, check=True)
        return made.stdout.strip()

    def start(self, url=None, **settings):
        """A subject that has said it is ready."""
        subject = Subject(Setup.command, url or f"http://127.0.0.1:{self.proxy.port}", self.token, self.subject_folder, **settings)
        self.subjects.append(subject)
        until(lambda: subject.seen("ready") or subject.process.poll() is not None, what=lambda: f"not ready: {subject.said()}")
        return subject

    def stop(self, subject, seconds=30):
        """Asks it to stop, and waits for its end."""
        with contextlib.suppress(OSError):
            subject.say(do="stop")
        self.assertEqual(subject.ended(seconds), 0, f"its exit code after a stop, within {seconds} s")
        self.assertEqual(len(subject.seen("stopped")), 1)

    def store(self, handler, key, policy=None, **argument):
        """Submits a task directly to the daemon."""
        wanted = {"handler": f"conform.{handler}", "key": key, "args": [{**argument, "secret": SECRET}]}
        status, answer = self.daemon.ask("POST", "/v1/tasks", {**wanted, **({"policy": policy} if policy else {})})
        self.assertEqual(status, 201, answer)
        return answer["id"]

    def task(self, id, query=""):
        status, answer = self.daemon.ask("GET", f"/v1/tasks/{id}{query}")
        self.assertEqual(status, 200, answer)
        return answer

    def until_ended(self, id, outcome="succeeded", seconds=60):
        """The task, when it has ended with this outcome."""
        until(lambda: self.task(id)["state"] == "finished", seconds, lambda: f"not ended: {self.task(id)}")
        self.assertEqual(self.task(id)["outcome"], outcome, self.task(id))
        return self.task(id)

    def until_begun(self, subject, key, times=1):
        until(lambda: len(subject.seen("begin", key=key)) >= times, what=f"{key} has not begun {times} times")

    def begun(self, subject, least):
        """All that have begun, when there are so many. The daemon may know of an end before the subject's lines are read."""
        until(lambda: len(subject.seen("begin")) >= least, what=f"{least} have not begun")
        return subject.seen("begin")

    def until_error(self, subject, words, seconds=60):
        """The subject has reported an error with these words, a regular expression."""
        def found():
            return [event for event in subject.seen("error") if re.search(words, event["text"], re.I)]
        return until(found, seconds, lambda: f"no error says {words!r}: {subject.seen('error')}")

    def check_subjects(self):
        for subject in self.subjects:
            if subject.process.poll() is None:
                self.stop(subject)
            self.assertEqual(subject.strays, [], "lines that the contract does not have")
            self.assertNotIn(SECRET, subject.said(), "an argument was printed")
            self.check_overlaps(subject)

    def check_overlaps(self, subject):
        running = {}
        for event in subject.events:
            if event["event"] == "begin":
                self.assertNotIn(event["key"], running, f"{event['key']} began twice at a time")
                running[event["key"]] = event
            elif event["event"] == "end":
                self.assertIn(event["key"], running, f"{event['key']} ended without having begun")
                del running[event["key"]]
