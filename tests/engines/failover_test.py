"""Failovers under load: failover_test.py KILL_WORKER

Two processes store and run tasks. The primary dies or becomes read-only, another server takes over, or the password changes. The
processes are not restarted: they go on within 5 s, and every acknowledged task that was replicated ends."""
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

from journals import Journals, number_of
from pairs import MariadbPair, PostgresPair, wait_until
from programs import PASSWORD, USER

KILL_WORKER = pathlib.Path(sys.argv.pop(1)).resolve()
TASKS = 3000  # of each process
NUMBERS_PER_LIFE = 1_000_000  # as in tests/fault/work.h
PROMISE = 5  # seconds


class Failover(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="easyretry-failover-")))
        self.folder.chmod(0o755)
        (self.folder / "journals").mkdir()
        self.journals = Journals(self.folder / "journals")
        self.log = self.enterContext((self.folder / "log").open("w+"))
        self.workers = []
        self.addCleanup(lambda: [worker.kill() or worker.wait() for worker in self.workers])

    def pair(self, kind):
        (self.folder / "servers").mkdir()
        return self.enterContext(kind(self.folder / "servers"))

    def work_at(self, url):
        for life in range(2):
            self.workers.append(subprocess.Popen([KILL_WORKER, url, self.journals.folder, str(life), str(TASKS)],
                                                 env={**os.environ, "EACH_MILLIS": "2"}, stderr=self.log))
        self.wait_for_acknowledged(TASKS // 4)

    def wait_for_acknowledged(self, number):
        wait_until(lambda: len(self.journals.acknowledged()) >= number, f"not {number} tasks are acknowledged", nap=0.05)

    def expect_work(self, what):
        """From now on, the server can be used."""
        back, acknowledged = time.time(), len(self.journals.acknowledged())
        self.assertLess(acknowledged, len(self.workers) * TASKS, "the processes have nothing left to store")
        wait_until(lambda: len(self.journals.acknowledged()) > acknowledged and self.journals.last_start() > back, "no work is done",
                   nap=0.02)
        seconds = time.time() - back
        print(f"{what}: work after {seconds:.2f} s")
        self.assertLess(seconds, PROMISE)

    def expect_ends(self, server, lost=frozenset(), workers=2):
        """Of all acknowledged tasks, but those that were lost with the old primary."""
        wait_until(lambda: self.submitted_by_the_last(workers) == workers * TASKS, "submissions hang", nap=0.1)
        wait_until(lambda: server.run("SELECT count(*) FROM retry_task") == "0", "tasks are left", nap=0.1)
        missing = self.journals.acknowledged() - set(self.journals.told())
        print(f"{len(self.journals.acknowledged())} acknowledged, {len(self.journals.in_doubt())} in doubt, "
              f"{len(lost)} not replicated, {len(missing)} did not end")
        self.assertLessEqual(missing, lost)
        self.assertEqual(sum(worker.poll() is None for worker in self.workers), workers, "a process has ended")

    def submitted_by_the_last(self, workers):
        keys = self.journals.acknowledged() | self.journals.in_doubt()
        return sum(number_of(key) // NUMBERS_PER_LIFE >= len(self.workers) - workers for key in keys)

    def lose_primary(self, pair):
        """Returns the acknowledged tasks that the replica does not have."""
        pair.primary.kill()
        acknowledged = self.journals.acknowledged()
        lost = acknowledged - pair.replicated_keys()
        pair.promote()
        return lost

    def test_postgres_with_synchronous_replication_loses_nothing(self):
        pair = self.pair(PostgresPair)
        pair.wait_for_replica()
        self.work_at(pair.url())
        lost = self.lose_primary(pair)
        self.expect_work("PostgreSQL, synchronous")
        self.assertEqual(lost, set())
        self.expect_ends(pair.replica)

    def test_postgres_with_asynchronous_replication_loses_what_was_not_replicated(self):
        pair = self.pair(PostgresPair)
        self.work_at(pair.url("?target_session_attrs=read-write"))
        pair.cut_off_replica()
        self.wait_for_acknowledged(len(self.journals.acknowledged()) + 50)
        lost = self.lose_primary(pair)
        self.expect_work("PostgreSQL, asynchronous")
        self.assertGreaterEqual(len(lost), 40, "the replica was cut off")
        self.expect_ends(pair.replica, lost)

    def test_postgres_is_read_only_for_a_while(self):
        pair = self.pair(PostgresPair)
        self.work_at(pair.url())
        pair.make_read_only()
        self.wait_for_log("read-only")
        pair.make_writable()
        self.expect_work("PostgreSQL, read-only")
        self.expect_ends(pair.primary)

    def test_the_password_of_postgres_changes(self):
        self.rotate_postgres("password_file=")

    def test_the_password_of_postgres_that_a_command_prints_changes(self):
        self.rotate_postgres("password_command=/bin/cat%20")

    def test_the_password_of_mariadb_changes(self):
        self.rotate_mariadb("password_file=")

    def test_the_password_of_mariadb_that_a_command_prints_changes(self):
        self.rotate_mariadb("password_command=/bin/cat%20")

    def rotate_postgres(self, option):
        self.rotate(self.pair(PostgresPair), option, "password authentication failed", f"ALTER ROLE {USER} PASSWORD 'another'",
                    f"SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = '{USER}'")

    def rotate_mariadb(self, option):
        self.rotate(self.pair(MariadbPair), option, "Access denied", f"ALTER USER {USER}@'%' IDENTIFIED BY 'another'", f"KILL USER {USER}")

    def rotate(self, pair, option, refusal, change, end_sessions):
        """`option` is that of the URL, without the file that has the password."""
        password = self.folder / "password"
        password.write_text(PASSWORD + "\n")
        self.work_at(pair.url(f"?{option}{password}").replace(f":{PASSWORD}@", "@"))
        pair.primary.run(change)
        pair.primary.run(end_sessions)
        self.wait_for_log(refusal)
        password.write_text("another\n")
        self.expect_work(f"{pair.server.scheme}, new password, {option}")
        self.expect_ends(pair.primary)

    def wait_for_log(self, words):
        log = self.folder / "log"
        wait_until(lambda: words in log.read_text(), f"no process has said: {words}", nap=0.1)

    def test_mariadb_switches_from_a_primary_that_stays_alive(self):
        self.switch(MariadbPair)

    def test_postgres_switches_from_a_primary_that_stays_alive(self):
        self.switch(PostgresPair)

    def switch(self, kind):
        """A process that reads from the old primary would not find the tasks of the one that dies."""
        pair = self.pair(kind)
        self.work_at(pair.url())
        pair.demote()
        pair.promote()
        self.expect_work(f"{kind.__name__}, switched")
        self.workers[0].kill()
        self.workers[0].wait()
        self.expect_ends(pair.replica, workers=1)

    def test_mariadb_whose_primary_dies_loses_what_was_not_replicated(self):
        pair = self.pair(MariadbPair)
        self.work_at(pair.url())
        lost = self.lose_primary(pair)
        self.expect_work("MariaDB, killed")
        self.expect_ends(pair.replica, lost)


if __name__ == "__main__":
    unittest.main()
