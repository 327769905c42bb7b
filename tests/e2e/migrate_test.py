"""easyretry migrate on real stores. Usage: migrate_test.py EASYRETRY_PROGRAM SERVERS_PY"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop(1)
SERVERS = sys.argv.pop(1)
DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
STORE_KEY = "{easyretry}:store"


def easyretry(*args):
    return subprocess.run([PROGRAM, *args], capture_output=True, text=True, timeout=120)


def servers(*args):
    return subprocess.run([sys.executable, SERVERS, *args], check=True, capture_output=True, text=True).stdout.strip()


def redis_cli(url, *command):
    client = ["redis-cli", "--no-auth-warning", "-u", url, *command]
    return subprocess.run(client, check=True, capture_output=True, text=True).stdout.strip()


def restore(kind, url):
    """Loads a database that an earlier release made."""
    dump = DATA / f"schema_1_{kind}.sql"
    if kind == "postgres":
        client = ["psql", "--quiet", "--set", "ON_ERROR_STOP=1", "--output", "/dev/null", "--file", str(dump), url]
        subprocess.run(client, check=True)
        return
    user, password, host, port, database = re.match(r"mysql://(.*?):(.*?)@(.*?):(\d+)/(\w+)", url).groups()
    client = ["mariadb", f"--user={user}", f"--password={password}", f"--host={host}", f"--port={port}", database]
    subprocess.run(client, check=True, text=True, input=dump.read_text())


class Migrate(unittest.TestCase):
    def succeeds(self, *args):
        run = easyretry(*args)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def on_server(self, kind):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            url = servers("start", kind, "--folder", folder)
            try:
                restore(kind, url)
                self.check_old_database(url)
            finally:
                servers("remove", "--folder", folder)

    def check_old_database(self, url):
        refused = easyretry("tasks", "list", "--store", url)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("easyretry migrate --store", refused.stderr)
        self.assertNotIn("secret", refused.stderr)
        planned = self.succeeds("migrate", "--store", url, "--dry-run")
        self.assertTrue(planned.startswith("-- from schema version 1 to 7; nothing was changed\n"), planned)
        self.assertIn("ALTER TABLE retry_task_history_202611 ADD COLUMN", planned)
        self.assertIn("from schema version 1 to 7", self.succeeds("migrate", "--store", url))
        self.assertIn("has schema version 7 already", self.succeeds("migrate", "--store", url))
        self.assertEqual(self.succeeds("tasks", "list", "--store", url).count("pay:"), 20)
        back = easyretry("migrate", "--store", url, "--to", "1")
        self.assertNotEqual(back.returncode, 0)
        self.assertIn("cannot go back to 1", back.stderr)

    def test_postgres(self):
        self.on_server("postgres")

    def test_mariadb(self):
        self.on_server("mariadb")

    def redis(self):
        folder = self.enterContext(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        self.addCleanup(servers, "remove", "--folder", folder)
        return servers("start", "redis", "--folder", folder)

    def test_redis_has_one_layout(self):
        url = self.redis()
        planned = self.succeeds("migrate", "--store", url, "--dry-run")
        self.assertEqual(planned, "-- from schema version 0 to 1; nothing was changed\n")
        self.assertIn("nothing was changed", self.succeeds("migrate", "--store", url, "--to", "0"))
        self.assertEqual(redis_cli(url, "DBSIZE"), "0")
        self.assertIn("from schema version 0 to 1", self.succeeds("migrate", "--store", url))
        self.assertIn("has schema version 1 already", self.succeeds("migrate", "--store", url))
        self.assertIn("has schema version 1 already", self.succeeds("migrate", "--store", url, "--dry-run"))

    def test_another_layout_in_redis_is_refused(self):
        url = self.redis()
        refusals = {"2": "made by a newer release", "1-cluster": "created for a cluster", "0": "no release makes"}
        for more_fields in (), ("shards", "64", "incarnation", "1"):
            for layout, why in refusals.items():
                redis_cli(url, "DEL", STORE_KEY)
                redis_cli(url, "HSET", STORE_KEY, "layout", layout, *more_fields)
                before = redis_cli(url, "HGETALL", STORE_KEY)
                for arguments in (), ("--dry-run",), ("--to", "1", "--dry-run"):
                    with self.subTest(layout=layout, more_fields=more_fields, arguments=arguments):
                        run = easyretry("migrate", "--store", url, *arguments)
                        self.assertNotEqual(run.returncode, 0, run.stdout)
                        self.assertIn(why, run.stderr)
                        self.assertEqual(redis_cli(url, "HGETALL", STORE_KEY), before)

    def test_a_dry_run_does_not_repair_a_store_in_redis(self):
        url = self.redis()
        redis_cli(url, "HSET", STORE_KEY, "layout", "1")
        before = redis_cli(url, "HGETALL", STORE_KEY)
        self.assertIn("has schema version 1 already", self.succeeds("migrate", "--store", url, "--dry-run"))
        self.assertEqual(redis_cli(url, "HGETALL", STORE_KEY), before)

    def test_sqlite_shows_what_opening_does(self):
        with tempfile.TemporaryDirectory() as folder:
            url = f"sqlite:{folder}/retry.db"
            self.succeeds("migrate", "--store", url)
            self.assertIn("already; nothing was changed", self.succeeds("migrate", "--store", url))
            refused = easyretry("migrate", "--store", url, "--to", "1")
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn("cannot go back", refused.stderr)

    def test_a_memory_store_needs_no_migration(self):
        refused = easyretry("migrate", "--store", "memory:")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("needs no migration", refused.stderr)


if __name__ == "__main__":
    unittest.main()
