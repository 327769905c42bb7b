"""A backup of another release is restored: an older schema is migrated, a newer one is refused, and nothing is changed unasked.
Usage: restored_schema_test.py EASYRETRY_PROGRAM SERVERS_PY"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from daemon import Daemon
from sql_client import run_sql

PROGRAM = os.path.abspath(sys.argv.pop(1))
SERVERS = os.path.abspath(sys.argv.pop(1))
DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
VERSION = "SELECT value FROM retry_meta WHERE name = 'schema_version'"
NEWER = "UPDATE retry_meta SET value = CAST(value AS decimal) + 1 WHERE name = 'schema_version'"


def servers(*args):
    return subprocess.run([sys.executable, SERVERS, *args], check=True, capture_output=True, text=True).stdout.strip()


def easyretry(*args, folder=None):
    return subprocess.run([PROGRAM, *args], cwd=folder, capture_output=True, text=True, timeout=60, check=False)


def step(number):
    """The statements of a migration of SQLite, which are never edited after a release."""
    [file] = (DATA.parent.parent / "src/storage/sqlite/migrations").glob(f"{number:03}_*.sql")
    return re.search(rf"^-- name: migration_{number:03}$(.*?)(?=^-- name:|\Z)", file.read_text(), re.M | re.S).group(1)


class RestoredSchema(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(self.folder.cleanup)

    def start(self, store):
        daemon = Daemon(PROGRAM, self.folder.name, store=f"'{store}'", stderr=subprocess.DEVNULL)
        self.addCleanup(daemon.process.stdout.close)
        self.addCleanup(lambda: daemon.process.poll() is None and daemon.kill())
        return daemon

    def refused(self, *args):
        """Expects the program to refuse, and returns its error message."""
        ran = easyretry(*args, folder=self.folder.name)
        self.assertNotEqual(ran.returncode, 0, ran.stdout)
        self.assertNotIn("secret", ran.stderr)
        return ran.stderr

    def not_served(self, store):
        return self.refused("serve", "--store", store, "--listen", "127.0.0.1:0")

    def server(self, kind):
        place = os.path.join(self.folder.name, kind)
        url = servers("start", kind, "--folder", place, "--no-sync")
        self.addCleanup(servers, "remove", "--folder", place)
        return url


class OnSqlServers:
    """Tests that are the same on PostgreSQL and MariaDB."""

    def setUp(self):
        super().setUp()
        self.url = self.server(self.kind)

    def test_an_older_one_waits_for_migrate_and_then_serves_its_tasks(self):
        run_sql(self.url, (DATA / f"schema_1_{self.kind}.sql").read_text())
        self.assertRegex(self.not_served(self.url), r"has schema version 1, .* run `easyretry migrate --store")
        self.assertEqual(run_sql(self.url, VERSION), "", "a daemon that refuses the database has changed it")
        migrated = easyretry("migrate", "--store", self.url)
        self.assertEqual(migrated.returncode, 0, migrated.stderr)
        tasks = self.start(self.url).ask("GET", "/v1/tasks?handler=pay")[1]["tasks"]
        self.assertEqual(len(tasks), 20)

    def test_a_newer_one_is_refused_by_daemon_commands_and_migrate(self):
        self.start(self.url).stop()
        run_sql(self.url, NEWER)
        newer = run_sql(self.url, VERSION)
        for said in (self.not_served(self.url), self.refused("tasks", "list", "--store", self.url),
                     self.refused("migrate", "--store", self.url)):
            self.assertRegex(said, rf"has schema version {newer}, .* install that release here")
        self.assertEqual(run_sql(self.url, VERSION), newer)


class OnPostgres(OnSqlServers, RestoredSchema):
    kind = "postgres"


class OnMariadb(OnSqlServers, RestoredSchema):
    kind = "mariadb"


class OnSqlite(RestoredSchema):
    STORE = "sqlite:retry.db"

    def sql(self, text):
        ran = subprocess.run(["sqlite3", "retry.db", text], cwd=self.folder.name, check=True, capture_output=True, text=True)
        return ran.stdout.strip()

    def test_an_older_one_is_migrated_when_it_is_opened(self):
        self.start(self.STORE).stop()
        ours, newest = self.sql("PRAGMA application_id"), self.sql(VERSION)
        os.remove(os.path.join(self.folder.name, "retry.db"))
        for number in (1, 2, 3):
            self.sql(step(number))
        self.sql(f"PRAGMA application_id = {ours}; INSERT INTO retry_meta VALUES ('schema_version', '3')")
        self.sql("INSERT INTO retry_pause VALUES ('default', 'mail', 1, 'paused in version 3')")
        daemon = self.start(self.STORE)
        self.assertEqual(daemon.ask("POST", "/v1/tasks", {"handler": "mail"})[0], 201)
        [handler] = daemon.ask("GET", "/v1/handlers")[1]["handlers"]
        self.assertEqual(handler["paused"]["why"], "paused in version 3")
        daemon.stop()
        self.assertEqual(self.sql(VERSION), newest)

    def test_a_newer_one_is_refused(self):
        self.start(self.STORE).stop()
        self.sql(NEWER)
        for said in (self.not_served(self.STORE), self.refused("tasks", "list", "--store", self.STORE),
                     self.refused("migrate", "--store", self.STORE)):
            self.assertRegex(said, r"made by a newer release; .* Use the newer release, or another file")


class OnRedis(RestoredSchema):
    def layout(self, *value):
        """Reads the version of the store, or sets it."""
        client = ["redis-cli", "--no-auth-warning", "-u", self.url, "HSET" if value else "HGET", "{easyretry}:store", "layout", *value]
        return subprocess.run(client, check=True, capture_output=True, text=True).stdout.strip()

    def test_a_newer_one_is_refused(self):
        self.url = self.server("redis")
        self.start(self.url).stop()
        self.layout(str(int(self.layout()) + 1))
        self.assertRegex(self.not_served(self.url), r"made by a newer release; .* install that release here")

    def test_one_that_no_release_makes_is_refused(self):
        self.url = self.server("redis")
        self.start(self.url).stop()
        self.layout("0")
        self.assertRegex(self.not_served(self.url), r"which no release makes; .* Restore it from a backup")


if __name__ == "__main__":
    unittest.main()
