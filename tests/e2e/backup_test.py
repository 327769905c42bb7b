"""The commands of docs/operations.md that back up and restore a store, run while a daemon is busy on it.
Usage: backup_test.py EASYRETRY_PROGRAM SERVERS_PY"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from daemon import Daemon
from load import Load, live, succeeded
from waiting import until

PROGRAM = os.path.abspath(sys.argv.pop(1))
SERVERS = os.path.abspath(sys.argv.pop(1))
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/operations.md"
WAITING = 10_000  # tasks that are not due, so that a backup takes long enough for others to come and go meanwhile
# Tasks that are leased when the backup is taken run again once their lease has expired.
CONFIG = "lease: 5s\nwindow: 1s\n"


def servers(*args):
    return subprocess.run([sys.executable, SERVERS, *args], check=True, capture_output=True, text=True).stdout.strip()


def commands(heading):
    """The two blocks of a section of the page: how to back up, and how to restore."""
    section = re.search(rf"^### {re.escape(heading)}$(.*?)(?=^##)", PAGE.read_text(), re.M | re.S).group(1)
    back_up, restore = re.findall(r"^```sh\n(.*?)^```$", section, re.M | re.S)
    return back_up, restore


class Backup:
    """Tests that are the same on each kind of store."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(self.folder.cleanup)
        self.back_up, self.restore = commands(self.heading)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def shell(self, block, folder=None, **environment):
        ran = subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=folder or self.folder.name, text=True, capture_output=True,
                             env={**os.environ, **environment}, timeout=120, check=False)
        self.assertEqual(ran.returncode, 0, f"{block}\n{ran.stdout}{ran.stderr}")

    def start(self, store):
        daemon = Daemon(PROGRAM, self.folder.name, config=CONFIG, store=f"'{store}'", stderr=subprocess.DEVNULL)
        self.addCleanup(daemon.process.stdout.close)
        self.addCleanup(lambda: daemon.process.poll() is None and daemon.kill())
        return daemon

    def submit(self, daemon, handler, count, **more):
        tasks = [{"handler": handler, "key": f"{handler}{number}", "args": ["x" * 200], **more} for number in range(count)]
        status, answer = daemon.ask("POST", "/v1/tasks", {"tasks": tasks})
        self.assertEqual(status, 201, answer)
        return {task["id"] for task in answer["tasks"]}

    def run_all(self, daemon, handler):
        tasks = daemon.lease(handler, max=1000)
        for task in tasks:
            self.assertEqual(daemon.ask("POST", f"/v1/leases/{task['id']}/done", {"version": task["version"]})[0], 200)
        return {task["id"] for task in tasks}

    def test_nothing_stored_before_the_backup_is_lost_and_nothing_that_had_ended_before_it_runs_again(self):
        daemon = self.start(self.create_store())
        waiting = self.submit(daemon, "later", WAITING, delay_ms=3_600_000)
        ended_later = self.submit(daemon, "again", 10)
        with Load([daemon]) as load:
            until(lambda: len(load.ended) > 300)
            stored, ended = load.journal()
            self.take_backup()
            stored_meanwhile = len(load.stored) - len(stored)
            until(lambda: len(load.stored - stored) > 100 and len(load.ended - ended) > 100)
            self.assertEqual(self.run_all(daemon, "again"), ended_later)
            stored_later = self.submit(daemon, "too late", 10)
            daemon.kill()
        self.assertEqual(load.trouble, [])
        self.assertGreater(stored_meanwhile, 0, "the store was idle while the backup was taken")

        restored = self.start(self.restore_store())
        with Load([restored], submitters=0, handlers=["mail", "again"]) as after:
            until(lambda: not live(restored, "mail") and not live(restored, "again"))
        self.assertEqual(after.trouble, [])
        self.assertEqual(stored - succeeded(restored), set(), "stored before the backup, and lost")
        self.assertEqual(ended & set(after.ran), set(), "ended before the backup, and run again")
        self.assertLessEqual(ended_later, set(after.ran), "the page says that these run again")
        counts = {handler["name"]: handler["live"] for handler in restored.ask("GET", "/v1/handlers")[1]["handlers"]}
        self.assertEqual(counts["later"], len(waiting))
        for task in stored_later:
            self.assertEqual(restored.ask("GET", f"/v1/tasks/{task}")[0], 404, "the page says that these are gone")


class OfSqlite(Backup, unittest.TestCase):
    heading = "SQLite"

    def create_store(self):
        return "sqlite:retry.db"

    def take_backup(self):
        self.shell(self.back_up)

    def restore_store(self):
        """In the place of the lost store, whose killed daemon has left a log."""
        self.assertGreater(os.path.getsize(self.path("retry.db-wal")), 0)
        self.shell(self.restore)
        return "sqlite:retry.db"


class OnServer(Backup):
    """The backup is restored on another server of the kind."""

    def server(self, name):
        place = self.path(name)
        url = servers("start", self.kind, "--folder", place, "--no-sync")
        self.addCleanup(servers, "remove", "--folder", place)
        return url

    def create_store(self):
        self.url = self.server("first")
        return self.url

    def take_backup(self):
        self.shell(self.back_up, **self.variables(self.url))

    def restore_store(self):
        url = self.server("second")
        self.shell(self.restore, **self.variables(url))
        return url

    def variables(self, url):
        return {"STORE": url}


class OfPostgres(OnServer, unittest.TestCase):
    heading, kind = "PostgreSQL", "postgres"


class OfMariadb(OnServer, unittest.TestCase):
    heading, kind = "MariaDB and MySQL", "mariadb"

    def variables(self, url):
        names = ("DBUSER", "MYSQL_PWD", "DBHOST", "DBPORT", "DATABASE")
        return dict(zip(names, re.match(r"mysql://(.*?):(.*?)@(.*?):(\d+)/(\w+)", url).groups()))


class OfRedis(OnServer, unittest.TestCase):
    heading, kind = "Redis", "redis"

    def restore_store(self):
        """Into the data folder of a server that is stopped."""
        url, place = self.server("second"), self.path("second")
        servers("stop", "--folder", place)
        data = os.path.join(place, "data")
        shutil.rmtree(os.path.join(data, "appendonlydir"))
        shutil.copy(self.path("backup.rdb"), data)
        self.shell(self.restore, folder=data)
        if os.geteuid() == 0:  # the server's user
            self.shell("chown --recursive nobody .", folder=data)
        self.assertEqual(servers("start", "redis", "--folder", place, "--no-sync"), url)
        return url


if __name__ == "__main__":
    unittest.main()
