"""A fleet is upgraded one instance after the other, while clients work. Usage: upgrade_test.py EASYRETRY_PROGRAM SERVERS_PY

The environment variable UPGRADE_FROM is the path of an earlier release's program; `./test --with upgrade` builds one. Without it, the
fleet is replaced by instances of the same program: this shows that a replacement loses nothing, and nothing about two releases."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

from daemon import Daemon
from load import Load, live, succeeded
from sql_client import run_sql
from waiting import until

PROGRAM = os.path.abspath(sys.argv.pop(1))
SERVERS = os.path.abspath(sys.argv.pop(1))
OLD_PROGRAM = os.environ.get("UPGRADE_FROM", PROGRAM)
FLEET = 3
PROGRESS = 50  # tasks that must be stored and run between two steps
TABLES = "SELECT table_name FROM information_schema.tables"
CONFIG = "lease: 10s\nwindow: 1s\n"


def servers(*args):
    return subprocess.run([sys.executable, SERVERS, *args], check=True, capture_output=True, text=True).stdout.strip()


class Upgrade(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(self.folder.cleanup)

    def server(self, kind):
        place = os.path.join(self.folder.name, kind)
        self.url = servers("start", kind, "--folder", place, "--no-sync")
        self.addCleanup(servers, "remove", "--folder", place)

    def start(self, name, program=PROGRAM):
        folder = os.path.join(self.folder.name, name)
        os.mkdir(folder)
        daemon = Daemon(program, folder, config=CONFIG, store=f"'{self.url}'", stderr=subprocess.DEVNULL)
        self.addCleanup(daemon.process.stdout.close)
        self.addCleanup(lambda: daemon.process.poll() is None and daemon.kill())
        return daemon

    def progress(self, load):
        stored, ended = load.journal()
        until(lambda: len(load.stored - stored) > PROGRESS and len(load.ended - ended) > PROGRESS,
              what=lambda: f"the load does not go on: {load.trouble[-1:]}")

    def check(self, load, daemon):
        """Everything that was acknowledged has ended, by one success each, and no execution was repeated but those that failed."""
        with Load([daemon], submitters=0) as rest:
            until(lambda: not live(daemon))
        self.assertEqual(load.trouble + rest.trouble, [])
        self.assertEqual(load.stored - succeeded(daemon), set())
        self.assertEqual(load.ended & rest.ended, set())
        ran = load.ran + rest.ran
        expected = {task: 2 if int(task) % 4 == 0 else 1 for task in set(ran)}
        repeated = {task for task in set(ran) if ran.count(task) > expected[task]}
        self.assertEqual(repeated, set(), "no instance died, so no task was to run again")


class Rolling:
    """Tests that are the same on each kind of server."""

    def test_a_fleet_is_replaced_one_by_one_and_nothing_is_lost_or_repeated(self):
        self.server(self.kind)
        fleet = [self.start(f"old{number}", OLD_PROGRAM) for number in range(FLEET)]
        with Load(fleet) as load:
            self.progress(load)
            migrated = subprocess.run([PROGRAM, "migrate", "--store", self.url], capture_output=True, text=True, check=False)
            self.assertEqual(migrated.returncode, 0, migrated.stderr)
            self.progress(load)
            for number in range(FLEET):
                fleet.append(self.start(f"new{number}"))
                load.daemons = list(fleet)
                self.progress(load)
                self.assertEqual(fleet.pop(0).stop(), 0)  # the clients find out by themselves
                load.daemons = list(fleet)
                self.progress(load)
        self.check(load, fleet[0])


class OnPostgres(Rolling, Upgrade):
    kind = "postgres"


class OnMariadb(Rolling, Upgrade):
    kind = "mariadb"


class OnRedis(Rolling, Upgrade):
    kind = "redis"


class NextSchema:
    """A later release may add nullable columns, tables and indexes. Tests that are the same on PostgreSQL and MariaDB."""

    def test_instances_work_on_after_the_migration_of_a_later_release_and_new_ones_name_the_remedy(self):
        self.server(self.kind)
        fleet = [self.start("a"), self.start("b")]
        with Load(fleet) as load:
            self.progress(load)
            tables = [table for table in run_sql(self.url, TABLES).split() if re.fullmatch(r"retry_task(_history_\d+)?", table)]
            self.assertGreaterEqual(len(tables), 2, tables)
            for table in tables:
                run_sql(self.url, f"ALTER TABLE {table} ADD COLUMN of_a_later_release bigint NULL")
            run_sql(self.url, "CREATE TABLE retry_of_a_later_release (id bigint PRIMARY KEY)")
            run_sql(self.url, "UPDATE retry_meta SET value = CAST(value AS decimal) + 1 WHERE name = 'schema_version'")
            self.progress(load)
        self.check(load, fleet[0])
        refused = subprocess.run([PROGRAM, "serve", "--store", self.url, "--listen", "127.0.0.1:0"], cwd=self.folder.name,
                                 capture_output=True, text=True, timeout=60, check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("a newer release has migrated it; install that release here, too", refused.stderr)


class NextSchemaOnPostgres(NextSchema, Upgrade):
    kind = "postgres"


class NextSchemaOnMariadb(NextSchema, Upgrade):
    kind = "mariadb"


if __name__ == "__main__":
    print("from the same program" if OLD_PROGRAM == PROGRAM else f"from {OLD_PROGRAM}", flush=True)
    unittest.main()
