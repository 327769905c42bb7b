"""easyretry tables, split and cluster on real servers. Usage: tables_test.py EASYRETRY_PROGRAM SERVERS_PY"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

from daemon import Daemon

PROGRAM = os.path.abspath(sys.argv.pop(1))
SERVERS = sys.argv.pop(1)


def easyretry(*args):
    return subprocess.run([PROGRAM, *args], capture_output=True, text=True, timeout=60)


def make(url):
    """Creates the tables of a store: its first user does."""
    run = easyretry("bench", "--store", url, "--tasks", "10")
    assert run.returncode == 0, run.stderr


def servers(*args):
    return subprocess.run([sys.executable, SERVERS, *args], check=True, capture_output=True, text=True).stdout.strip()


class Tables(unittest.TestCase):
    def on(self, kind, check):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            url = servers("start", kind, "--folder", folder)
            try:
                check(url)
            finally:
                servers("remove", "--folder", folder)

    def split(self, url):
        two = url + "?layout=hash(2)"
        make(two)
        run = easyretry("split", "--store", two, "--to", "4", "--dry-run")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stdout, "retry_task_0 -> retry_task_2, about [0-9]+ tasks")  # an estimate of the server
        self.assertIn("nothing was changed", run.stdout)

        run = easyretry("split", "--store", two, "--to", "3")
        self.assertEqual(run.returncode, 1)
        self.assertIn("does not divide 64 shards", run.stderr)

        run = easyretry("split", "--store", two, "--to", "4")
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stderr, "move about [0-9]+ tasks to 2 new tables\\? there is no terminal to ask; use --yes")

        run = easyretry("split", "--store", two, "--to", "4", "--yes")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("set layout=hash(4)", run.stdout)
        self.assertIn("set layout=hash(4)", easyretry("tables", "--store", two).stderr)

        for layout in ("hash(2)", "hash(4)"):
            run = easyretry("split", "--store", f"{url}?layout={layout}", "--to", "4")
            self.assertEqual((run.returncode, run.stdout), (0, "the layout is already hash(4); nothing was changed\n"))

    def show(self, url):
        by_month = url + "?layout=period(month,2)"
        for _ in range(2):  # the second time shows that the first one created nothing
            run = easyretry("tables", "--store", by_month)
            self.assertEqual(run.returncode, 1, run.stdout)
            self.assertIn("this database has no EasyRetry store", run.stderr)
        make(by_month)
        run = easyretry("tables", "--store", by_month, "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        tables = {table["name"]: table for table in json.loads(run.stdout)["tables"]}
        live = [table for table in tables.values() if table["state"] == "in_use"]
        self.assertGreaterEqual(len(live), 4)  # this month and the last one, two tables each
        self.assertTrue(all(table["begins"].endswith("-01T00:00:00.000Z") for table in live))
        self.assertIn("retry_task_key", tables)

        run = easyretry("tables", "--store", by_month)
        self.assertIn("in use", run.stdout)
        self.assertIn("rows about", run.stdout)

        run = easyretry("tables", "--store", url)
        self.assertEqual(run.returncode, 1)
        self.assertIn("set layout=period(month,2)", run.stderr)
        self.assertNotIn("secret", run.stderr)

    def cluster(self, url):
        run = easyretry("cluster", "--store", url)
        self.assertEqual(run.returncode, 1)
        self.assertIn("this database has no EasyRetry store yet", run.stderr)
        make(url)
        run = easyretry("cluster", "--store", url)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("(no members)", run.stdout)
        self.assertIn("nothing is due", run.stdout)
        run = easyretry("cluster", "--store", url, "--json")
        seen = json.loads(run.stdout)
        self.assertEqual((seen["source"], seen["members"], seen["refused"], seen["late_ms"]), ("store", [], [], {}))
        run = easyretry("cluster", "--store", url, "--membership", "static:1/3")
        self.assertIn("members according to static, 0 s ago", run.stdout)
        self.assertIn("#0002", run.stdout)

    def no_registry(self, url):
        make(url)
        run = easyretry("cluster", "--store", url, "--membership", "nacos://app:secret@127.0.0.1:1/orders")
        self.assertEqual(run.returncode, 1)
        self.assertIn("127.0.0.1:1", run.stderr)
        self.assertNotIn("secret", run.stderr)

    def test_a_daemon_shows_who_is_there_while_its_store_is_away(self):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            place = os.path.join(folder, "postgres")
            daemon = Daemon(PROGRAM, folder, store=servers("start", "postgres", "--folder", place))
            try:
                self.assertIn("late_ms", daemon.ask("GET", "/v1/cluster")[1])
                servers("kill", "--folder", place)
                status, seen = daemon.ask("GET", "/v1/cluster")
                self.assertEqual((status, len(seen["members"]), "late_ms" in seen), (200, 1, False))
                self.assertIn("unavailable", seen["trouble"])
                run = easyretry("cluster", "--server", f"http://127.0.0.1:{daemon.port}", "--token-file",
                                os.path.join(folder, "easyretry.tokens.first"))
                self.assertIn("it is unknown how late tasks are", run.stdout, run.stderr)
            finally:
                daemon.kill()
                servers("remove", "--folder", place)

    def test_says_where_no_registry_is(self):
        self.on("postgres", self.no_registry)

    def test_shows_who_is_on_postgresql(self):
        self.on("postgres", self.cluster)

    def test_shows_who_is_on_mariadb(self):
        self.on("mariadb", self.cluster)

    def test_shows_what_postgresql_has(self):
        self.on("postgres", self.show)

    def test_shows_what_mariadb_has(self):
        self.on("mariadb", self.show)

    def test_splits_on_postgresql(self):
        self.on("postgres", self.split)

    def test_splits_on_mariadb(self):
        self.on("mariadb", self.split)

    def test_says_why_a_memory_store_cannot_be_looked_at(self):
        run = easyretry("tables", "--store", "memory:")
        self.assertEqual(run.returncode, 1)
        self.assertIn("exists only inside its process", run.stderr)


if __name__ == "__main__":
    unittest.main()
