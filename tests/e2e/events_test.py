"""easyretry events: the events of a real daemon, in a terminal and for scripts. Usage: events_test.py EASYRETRY_PROGRAM"""
import json
import os
import pty
import queue
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

from daemon import Daemon

PROGRAM = os.path.abspath(sys.argv.pop(1))
PATIENCE = 30


class Gate:
    """A proxy to a server. It can refuse new connections and cut open ones."""

    def __init__(self, port):
        self.behind = port
        self.open = True
        self.sockets = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            if not self.open:
                client.close()
                continue
            server = socket.create_connection(("127.0.0.1", self.behind))
            self.sockets += [client, server]
            for source, target in ((client, server), (server, client)):
                threading.Thread(target=self.carry, args=(source, target), daemon=True).start()

    @staticmethod
    def carry(source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
        except OSError:
            pass

    def cut(self):
        self.open = False
        for one in self.sockets:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.cut()
        self.listener.close()


class Watching:
    """A running `easyretry events`."""

    def __init__(self, folder, token, port, *arguments, stdout=subprocess.PIPE):
        self.process = subprocess.Popen([PROGRAM, "events", "--server", f"http://127.0.0.1:{port}", *arguments], cwd=folder,
                                        stdout=stdout, stderr=subprocess.PIPE, text=True,
                                        env={**os.environ, "EASYRETRY_TOKEN": token, "TERM": "xterm", "TZ": "UTC"})
        self.lines, self.warnings = queue.Queue(), queue.Queue()
        for source, target in ((self.process.stdout, self.lines), (self.process.stderr, self.warnings)):
            if source:
                threading.Thread(target=self.read, args=(source, target), daemon=True).start()

    @staticmethod
    def read(source, target):
        for line in source:
            target.put(line.rstrip("\n"))

    def line(self):
        return self.lines.get(timeout=PATIENCE)

    def event(self):
        return json.loads(self.line())

    def warning(self):
        return self.warnings.get(timeout=PATIENCE)

    def end(self, how=signal.SIGINT):
        self.process.send_signal(how)
        return self.process.wait(timeout=PATIENCE)


class Events(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.daemon = Daemon(PROGRAM, self.folder.name)
        self.watching = []

    def tearDown(self):
        for one in self.watching:
            one.process.kill()
            one.process.wait()
            for pipe in (one.process.stdout, one.process.stderr):
                if pipe:
                    pipe.close()
        if self.daemon.process.poll() is None:
            self.daemon.kill()
        self.folder.cleanup()

    def watch(self, *arguments, port=None, **more):
        """Starts a watcher. When this returns, the watcher gets all events."""
        before = self.watchers()
        one = Watching(self.folder.name, self.daemon.token, port or self.daemon.port, *arguments, **more)
        self.watching.append(one)
        while self.watchers() == before:
            self.assertIsNone(one.process.poll())
        return one

    def watchers(self):
        """The number of open connections over which the daemon has sent something. Those of single requests are closed."""
        text = subprocess.run(["ss", "-Htni", "state", "established", f"( sport = :{self.daemon.port} )"],
                              capture_output=True, text=True, check=True).stdout
        return len(re.findall(r"\bbytes_sent:[1-9]", text))

    def submit(self, handler, **more):
        status, answer = self.daemon.ask("POST", "/v1/tasks", {"handler": handler, **more})
        self.assertEqual(status, 201, answer)
        return answer["id"]

    def test_one_line_an_event_with_its_time_task_and_reason(self):
        watching = self.watch()
        task = self.submit("mail", key="k")
        self.assertRegex(watching.line(), rf"^\d\d:\d\d:\d\d  stored           mail  {task}  k$")
        lease = self.daemon.lease()[0]
        self.assertIn("claimed", watching.line())
        self.daemon.ask("POST", f"/v1/leases/{task}/fail", {"version": lease["version"], "error": "no \x1b[31mroute"})
        failed = watching.line()
        self.assertRegex(failed, r"attempt_failed .* attempt 1  no  ?\[31mroute$")
        self.assertNotIn("\x1b", failed, "no colours in a pipe, and no terminal escapes from an error")
        self.assertRegex(watching.line(), r"retry_scheduled .* next \d\d:\d\d:\d\d")

    def test_tells_only_of_the_handlers_and_kinds_asked_for(self):
        watching = self.watch("--handler", "mail", "--kind", "stored", "--kind", "cancelled", "--json")
        self.submit("other")
        task = self.submit("mail", delay_ms=60_000)
        self.daemon.ask("POST", f"/v1/tasks/{task}/cancel?untold=true")
        first, second = watching.event(), watching.event()
        self.assertEqual([(event["kind"], event["task"]["id"]) for event in (first, second)],
                         [("stored", task), ("cancelled", task)])

    def test_goes_on_after_a_lost_connection_and_misses_nothing(self):
        gate = Gate(self.daemon.port)
        self.addCleanup(gate.close)
        watching = self.watch("--json", port=gate.port)
        before = self.submit("mail", key="before")
        self.assertEqual(watching.event()["task"]["id"], before)
        gate.cut()
        self.assertRegex(watching.warning(), r"easyretry: lost the connection to http://127.0.0.1:\d+")
        meanwhile = self.submit("mail", key="meanwhile")
        gate.open = True
        self.assertIn("reconnected", watching.warning())
        afterwards = self.submit("mail", key="afterwards")
        self.assertEqual([watching.event()["task"]["id"] for _ in range(2)], [meanwhile, afterwards])

    def test_says_when_something_was_missed(self):
        watching = self.watch()
        port = self.daemon.port
        self.daemon.stop()
        self.assertIn("lost the connection", watching.warning())
        self.daemon = Daemon(PROGRAM, self.folder.name, port=port)
        self.assertIn("reconnected", watching.warning())
        self.assertRegex(watching.line(), r"gap +the events since that id are no longer kept")
        task = self.submit("mail")
        self.assertIn(task, watching.line())

    def test_ctrl_c_ends_it_with_130_and_without_a_word(self):
        watching = self.watch()
        self.assertEqual(watching.end(), 130)
        self.assertTrue(watching.warnings.empty())
        lost = self.watch()
        self.daemon.stop()
        self.assertIn("lost the connection", lost.warning())
        self.assertEqual(lost.end(), 130, "also while it tries to go on")

    def test_colours_are_for_terminals(self):
        here, there = pty.openpty()
        self.addCleanup(os.close, here)
        self.watch("--kind", "cancelled", stdout=there)
        os.close(there)
        task = self.submit("mail", delay_ms=60_000)
        self.daemon.ask("POST", f"/v1/tasks/{task}/cancel?untold=true")
        self.assertIn(b"\x1b[33mcancelled", os.read(here, 4096))

    def test_refuses_invalid_requests_at_once(self):
        def refused(*arguments, token=None):
            ran = subprocess.run([PROGRAM, "events", *arguments], capture_output=True, text=True, timeout=PATIENCE,
                                 env={**os.environ, "EASYRETRY_TOKEN": token or self.daemon.token})
            self.assertEqual(ran.returncode, 1, ran.stderr)
            return ran.stderr

        here = ("--server", f"http://127.0.0.1:{self.daemon.port}")
        self.assertIn('unknown kind "gone_up"; known: stored', refused(*here, "--kind", "gone_up"))
        self.assertIn("token is unknown", refused(*here, token="er_wrong"))
        self.assertIn("no daemon answers at http://127.0.0.1:1 ", refused("--server", "http://127.0.0.1:1"))


if __name__ == "__main__":
    unittest.main()
