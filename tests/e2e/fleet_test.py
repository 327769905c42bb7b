"""Daemons and an embedded engine in one namespace of a real server: an instance that can run a task gets it in time.
Usage: fleet_test.py EASYRETRY_PROGRAM SERVERS_PY KILL_WORKER"""
import os
import subprocess
import sys
import tempfile
import threading
import unittest

from daemon import Daemon
from waiting import eventually

PROGRAM = os.path.abspath(sys.argv.pop(1))
SERVERS = os.path.abspath(sys.argv.pop(1))
WORKER = os.path.abspath(sys.argv.pop(1))

TASKS = 96
# `grace`, after which every instance looks in all shards, is a minute and a half here.
CONFIG = "grace: 90s\nlease: 6s\nwindow: 1s\n"


def servers(*args):
    return subprocess.run([sys.executable, SERVERS, *args], check=True, capture_output=True, text=True).stdout.strip()


class Fleet(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.place = os.path.join(self.folder.name, "postgres")
        self.url = servers("start", "postgres", "--folder", self.place)
        self.running = []

    def tearDown(self):
        for one in self.running:
            if one.poll() is None:
                one.kill()
            one.wait()
            if one.stdout:
                one.stdout.close()
        servers("remove", "--folder", self.place)
        self.folder.cleanup()

    def daemon(self, name, config=""):
        folder = os.path.join(self.folder.name, name)
        os.mkdir(folder)
        daemon = Daemon(PROGRAM, folder, config=CONFIG + config, store=self.url)
        self.running.append(daemon.process)
        return daemon

    def embedded(self, handler):
        """Starts an engine that has the handler's function."""
        self.journals = os.path.join(self.folder.name, "journals")
        os.mkdir(self.journals)
        self.running.append(subprocess.Popen(
            [WORKER, self.url, self.journals, "1", "1"],
            env={**os.environ, "HANDLER": handler, "EASYRETRY_GRACE": "90s", "EASYRETRY_LEASE": "6s"}))

    def members(self, daemon):
        return daemon.ask("GET", "/v1/cluster")[1]["members"]

    def submit(self, daemon, handler):
        tasks = [{"handler": handler, "key": f"task-{7_000_003 + 100 * i}", "args": [7_000_003 + 100 * i]} for i in range(TASKS)]
        status, answer = daemon.ask("POST", "/v1/tasks", {"tasks": tasks})
        self.assertLess(status, 300, answer)

    def handler(self, daemon, name):
        [one] = [one for one in daemon.ask("GET", "/v1/handlers")[1]["handlers"] if one["name"] == name]
        return one

    def left(self, daemon, handler):
        return self.handler(daemon, handler)["live"]

    def test_a_daemon_that_merely_knows_a_handler_leaves_it_to_the_engine_that_has_it(self):
        daemon = self.daemon("a", "handlers: {work: {timeout: 10s}}\n")
        self.embedded("work")
        self.assertTrue(eventually(lambda: [m.get("handlers") for m in self.members(daemon)] in ([[], ["work"]], [["work"], []])),
                        self.members(daemon))
        [engine] = [m["node"] for m in self.members(daemon) if m["handlers"]]
        found = self.handler(daemon, "work")
        self.assertEqual((found["served"], found["instances"], found["waiting_workers"]), (True, [engine], 0))
        self.submit(daemon, "work")
        self.assertTrue(eventually(lambda: self.left(daemon, "work") == 0), f"{self.left(daemon, 'work')} tasks wait for workers of the daemon")
        run = subprocess.run([PROGRAM, "cluster", "--store", self.url], capture_output=True, text=True, timeout=60)
        self.assertRegex(run.stdout, "handlers")
        self.assertRegex(run.stdout, "none")

    def test_workers_of_one_daemon_get_the_tasks_that_came_to_another(self):
        with_workers, without = self.daemon("a"), self.daemon("b")
        self.assertTrue(eventually(lambda: len(self.members(without)) == 2))
        got, end = [], threading.Event()

        def work():
            while not end.is_set():
                for task in with_workers.lease(max=10, wait_ms=2000):
                    with_workers.ask("POST", f"/v1/leases/{task['id']}/done", {"version": task["version"]})
                    got.append(task["id"])

        worker = threading.Thread(target=work)
        worker.start()
        try:
            self.assertTrue(eventually(lambda: ["mail"] in [m.get("handlers") for m in self.members(without)]))
            found = self.handler(without, "mail")
            self.assertEqual((found["served"], found["instances"]), (True, [with_workers.ask("GET", "/v1/cluster")[1]["self"]]))
            self.assertNotIn("last_asked_at", found, "workers ask the other daemon")
            self.submit(without, "mail")
            self.assertTrue(eventually(lambda: len(got) == TASKS), f"{len(got)} of {TASKS}")
        finally:
            end.set()
            worker.join()


if __name__ == "__main__":
    unittest.main()
