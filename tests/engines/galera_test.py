"""A Galera cluster of three nodes: galera_test.py KILL_WORKER FOLDER

Writes go to all nodes, or to one, and a node is killed and comes back. No task runs more often than its handler asks for, and every
acknowledged task ends. Where the cluster cannot be had, this exits with 77, and the folder engines/left-out beside FOLDER says why."""
import contextlib
import itertools
import math
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import left_out
from galera_cluster import Cluster, provider, wait_until
from journals import Journals, attempts_wanted, number_of

KILL_WORKER, FOLDER = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
del sys.argv[1:3]
TASKS = 600  # of each process
NUMBERS_PER_LIFE = 1_000_000  # as in tests/fault/work.h


class Spread:
    """A port behind which each new connection reaches the next node, as with many load balancers."""

    def __init__(self, nodes):
        self.ports = itertools.cycle([node.port for node in nodes])
        self.listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self.accept, daemon=True).start()

    @property
    def port(self):
        return self.listener.getsockname()[1]

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", next(self.ports)))
            except OSError:
                return
            for source, target in ((client, server), (server, client)):
                source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self.pass_on, args=(source, target), daemon=True).start()

    @staticmethod
    def pass_on(source, target):
        with contextlib.suppress(OSError):
            while some := source.recv(65536):
                target.sendall(some)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


class Galera(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.enterClassContext(Cluster(FOLDER))

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.journals = Journals(self.folder.name)
        self.log = self.enterContext(open(f"{self.folder.name}.log", "w+"))
        self.addCleanup(os.unlink, self.log.name)
        self.workers = []
        self.addCleanup(lambda: [worker.kill() or worker.wait() for worker in self.workers])

    def work_at(self, url, tasks=TASKS):
        life = len(self.workers)
        self.workers.append(subprocess.Popen([KILL_WORKER, url, self.folder.name, str(life), str(tasks)], stderr=self.log))

    def wait_for_the_end(self, tasks):
        """And that it is stored: the next test uses the same tables."""
        wait_until(lambda: len(self.journals.told()) >= tasks, f"not all of {tasks} tasks have ended", nap=0.1)
        wait_until(lambda: self.cluster.nodes[0].ask("SELECT COUNT(*) FROM retry_task") == "0", "tasks are left", nap=0.1)

    def expect_no_attempt_too_many(self):
        self.wait_for_the_end(TASKS * len(self.workers))
        wanted = sum(attempts_wanted(number_of(key)) for key in self.journals.told())
        starts = self.journals.starts()
        more = sum(starts.values()) - wanted
        print(f"{len(self.journals.acknowledged())} acknowledged, {len(starts)} run, {more} attempts too many")
        self.assertEqual(more, 0)
        self.assertLessEqual(self.journals.acknowledged(), set(self.journals.told()))

    def test_no_attempt_too_many_if_all_write_to_one_node(self):
        for _ in range(3):
            self.work_at(self.cluster.nodes[0].url)
        self.expect_no_attempt_too_many()

    def test_nothing_acknowledged_is_lost_if_a_node_is_killed_and_comes_back(self):
        """Processes begin with different nodes, and go on with the others."""
        for first in range(3):
            self.work_at(self.cluster.url(first))
        self.wait_for_acknowledged(TASKS // 2)
        victim = self.cluster.nodes[1]
        killed = time.time()
        victim.end(kill=True)
        self.work_at(self.cluster.url())
        self.wait_for_acknowledged(1, of=3)
        began = time.time()
        victim.rejoin(self.cluster.address)
        back = time.time()
        self.work_at(self.cluster.url(1))  # begins with the node that is back
        self.wait_for_acknowledged(1, of=4)
        wait_until(lambda: self.all_have_ended(), "not all tasks have ended", nap=0.5)
        for what, start, end in (("was killed", killed, began), ("came back", began, back), ("was there again", back, math.inf)):
            print(f"a node {what}: longest time without a start {self.longest_pause(start, end):.1f} s")
        self.assertEqual(self.cluster.size(), 3)
        lost = self.journals.acknowledged() - set(self.journals.told())
        print(f"{len(self.journals.acknowledged())} acknowledged, {len(self.journals.in_doubt())} in doubt, {len(lost)} lost")
        self.assertEqual(lost, set())

    def wait_for_acknowledged(self, number, of=None):
        """Of this process, or of all."""
        wait_until(lambda: sum(of in (None, number_of(key) // NUMBERS_PER_LIFE) for key in self.journals.acknowledged()) >= number,
                   f"not {number} tasks are acknowledged", nap=0.1)

    def all_have_ended(self):
        submitted = self.journals.acknowledged() | self.journals.in_doubt()
        return len(submitted) == TASKS * len(self.workers) and self.cluster.nodes[0].ask("SELECT COUNT(*) FROM retry_task") == "0"

    def longest_pause(self, start, end):
        """Without the beginning of an execution."""
        times = [start, *(at for at in self.journals.start_times() if start < at < end)]
        return max((later - earlier for earlier, later in itertools.pairwise(times)), default=0)

    def test_a_node_that_is_behind_is_not_taken_for_a_locked_row(self):
        """A wait for other nodes that fails has the number of a lock wait."""
        behind = self.cluster.nodes[2]
        behind.set("wsrep_provider_options = 'repl.causal_read_timeout=PT1S'")
        self.addCleanup(behind.set, "wsrep_provider_options = 'repl.causal_read_timeout=PT30S'")
        self.work_at(behind.url)
        self.wait_for_acknowledged(20)
        with behind.that_applies_nothing():
            self.work_at(self.cluster.nodes[0].url)
            wait_until(lambda: "wsrep_sync_wait" in self.said(), "no process has said that the node is behind", nap=0.1)
        wait_until(lambda: self.all_have_ended(), "not all tasks have ended", nap=0.5)
        self.assertLessEqual(self.journals.acknowledged(), set(self.journals.told()))

    def said(self):
        return pathlib.Path(self.log.name).read_text()

    def test_no_attempt_too_many_if_each_process_has_a_node(self):
        self.assertEqual(self.cluster.size(), 3)
        for node in self.cluster.nodes:
            self.work_at(node.url)
        self.expect_no_attempt_too_many()

    def test_no_attempt_too_many_if_each_connection_has_a_node(self):
        spread = Spread(self.cluster.nodes)
        first = self.cluster.nodes[0]
        for _ in range(3):
            self.work_at(first.url.replace(f":{first.port}/", f":{spread.port}/"))
        self.expect_no_attempt_too_many()


if __name__ == "__main__":
    left_out.exit_without("galera", FOLDER.parent / "engines", lambda: provider(FOLDER / "packages"))
    unittest.main()
