"""easyretry mxrmq on a real Redis, killed for real. Usage: mxrmq_test.py EASYRETRY_PROGRAM SERVERS_PY"""
import json
import re
import socket
import sqlite3
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop(1)
SERVERS = sys.argv.pop(1)
WAITING = 20_000


def easyretry(*args):
    return subprocess.run([PROGRAM, *args], capture_output=True, text=True, timeout=120)


def servers(*args):
    return subprocess.run([sys.executable, SERVERS, *args], check=True, capture_output=True, text=True).stdout.strip()


class Redis:
    """A client that sends commands unchanged. It understands integer and text replies."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.replies = self.socket.makefile("rb")

    def send(self, *commands):
        for words in commands:
            parts = [str(word).encode() for word in words]
            self.socket.sendall(b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts))
        return [self.answer() for _ in commands]

    def answer(self):
        line = self.replies.readline().decode().rstrip("\r\n")
        if line.startswith("-"):
            raise RuntimeError(line)
        if line.startswith("$") and line != "$-1":
            return self.replies.read(int(line[1:]) + 2)[:-2].decode()
        return int(line[1:]) if line.startswith(":") else line[1:]

    def close(self):
        self.replies.close()
        self.socket.close()


def message(id):
    return json.dumps({"id": id, "topic": "orders", "payload": {"n": 1}})


class Mxrmq(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        url = servers("start", "redis", "--folder", cls.folder.name, "--no-sync")
        cls.port = int(url.rsplit(":", 1)[1].split("/")[0])
        cls.queue = f"mxrmq://127.0.0.1:{cls.port}/0?prefix=shop"

    @classmethod
    def tearDownClass(cls):
        servers("remove", "--folder", cls.folder.name)
        cls.folder.cleanup()

    def setUp(self):
        self.redis = Redis(self.port)
        self.redis.send(["FLUSHALL"])

    def tearDown(self):
        self.redis.close()

    def wait(self, count):
        for first in range(0, count, 500):
            commands = []
            for n in range(first, min(first + 500, count)):
                commands.append(["HSET", "shop:payloads", f"m{n}", message(f"m{n}"), f"m{n}:queue", "shop:orders"])
                commands.append(["LPUSH", "shop:orders:pending", f"m{n}"] if n % 2 else ["ZADD", "shop:delays", 4e12, f"m{n}"])
            self.redis.send(*commands)

    def fsck(self, *args):
        run = easyretry("mxrmq", "fsck", "--queue", self.queue, "--grace", "0", *args)
        return run.returncode, run.stdout

    def tasks(self, store):
        run = easyretry("reshard", "--store", store, "--shards", "128", "--dry-run")
        return int(re.search(r"of (\d+) tasks", run.stdout).group(1))

    def test_fsck_reports_problems_and_repairs_them_on_request(self):
        self.assertEqual(self.fsck(), (0, "0 messages, 0 findings\n"))
        self.redis.send(["HSET", "shop:payloads", "m1", message("m1"), "m1:queue", "shop:orders"])
        self.assertEqual(self.fsck(), (3, "orphan: m1\n1 messages, 1 findings; --repair fixes them\n"))
        self.assertEqual(self.fsck("--repair"), (0, "orphan: m1 of orders\n1 messages, 1 findings, repaired\n"))
        self.assertEqual(self.fsck(), (0, "1 messages, 0 findings\n"))

    def test_an_invalid_url_is_refused(self):
        run = easyretry("mxrmq", "fsck", "--queue", "redis://127.0.0.1")
        self.assertEqual(run.returncode, 1)
        self.assertIn("write mxrmq://", run.stderr)
        self.redis.send(["HSET", "shop:payload:map", "a", "b"], ["HSET", "shop:payloads", "a", "b"])
        run = easyretry("mxrmq", "fsck", "--queue", self.queue)
        self.assertEqual(run.returncode, 1)
        self.assertIn("profile=gen1", run.stderr)

    def test_a_dry_run_lists_the_moves_and_makes_none(self):
        self.wait(5)
        self.redis.send(["LPUSH", "shop:dlq", "x"])
        run = easyretry("mxrmq", "import", "--queue", self.queue, "--store", "sqlite:/nonexistent/x.db", "--dry-run")
        self.assertEqual(run.stdout, "orders: 2 pending\n3 delayed, in all topics\n"
                                     "1 dead letters, which stay; --dead-letters moves them too\nnothing was changed\n", run.stderr)
        self.assertEqual(self.redis.send(["LLEN", "shop:orders:pending"], ["ZCARD", "shop:delays"]), [2, 3])

    def import_with_kills(self, *args):
        kills = 0
        for tries in range(200):
            process = subprocess.Popen([PROGRAM, "mxrmq", "import", "--queue", self.queue, *args],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            try:
                _, err = process.communicate(timeout=0.05 + tries * 0.02)
                self.assertEqual(process.returncode, 0, err)
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                kills += 1
        self.assertGreater(kills, 0)

    def test_an_import_that_is_killed_anywhere_goes_on(self):
        self.wait(WAITING)
        store = f"sqlite:{self.folder.name}/import.db"
        self.import_with_kills("--store", store)
        self.assertEqual(self.tasks(store), WAITING)
        self.assertEqual(self.redis.send(["DBSIZE"]), [0])

    def test_dead_letters_are_each_in_history_once_however_often_the_import_is_killed(self):
        for first in range(0, WAITING, 500):
            self.redis.send(*(command for n in range(first, first + 500) for command in (
                ["HSET", "shop:dlq:data", f"m{n}", message(f"m{n}"), f"m{n}:queue", "shop:orders"],
                ["LPUSH", "shop:dlq", f"m{n}"])))
        file = f"{self.folder.name}/letters.db"
        self.import_with_kills("--store", f"sqlite:{file}", "--dead-letters")
        self.assertEqual(self.redis.send(["DBSIZE"]), [0])
        self.assertEqual(self.tasks(f"sqlite:{file}"), 0)
        with sqlite3.connect(file) as db:
            months = db.execute("SELECT name FROM sqlite_master WHERE name LIKE 'retry_task_history_%'").fetchall()
            keys = [key for [month] in months for [key] in db.execute(f"SELECT task_key FROM {month}")]
        self.assertEqual((len(keys), len(set(keys))), (WAITING, WAITING))


if __name__ == "__main__":
    unittest.main()
