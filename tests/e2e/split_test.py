"""easyretry split of a running daemon, on real servers, killed for real. Usage: split_test.py EASYRETRY_PROGRAM SERVERS_PY"""
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import unittest

from daemon import Daemon
from waiting import until

PROGRAM = os.path.abspath(sys.argv.pop(1))
SERVERS = os.path.abspath(sys.argv.pop(1))
MANY = 20_000  # takes a few hundred transactions to move


def servers(*args):
    return subprocess.run([sys.executable, SERVERS, *args], check=True, capture_output=True, text=True).stdout.strip()


def program(*args, **more):
    return subprocess.run([PROGRAM, *args], capture_output=True, text=True, timeout=120, **more)


class Submitting:
    """Submits tasks one by one while the `with` block runs."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.ids = set()
        self.trouble = []
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.submit)

    def submit(self):
        while not self.over.is_set():
            status, answer = self.daemon.ask("POST", "/v1/tasks", {"handler": "mail", "key": f"meanwhile {len(self.ids)}"})
            if status == 201:
                self.ids.add(answer["id"])
            else:
                self.trouble.append(answer)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


class Split(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(self.folder.cleanup)
        self.daemon = None
        self.addCleanup(self.end_daemon)

    def end_daemon(self):
        if self.daemon and self.daemon.process.poll() is None:
            self.daemon.kill()

    def server(self, kind):
        place = os.path.join(self.folder.name, kind)
        url = servers("start", kind, "--folder", place, "--no-sync")
        self.addCleanup(servers, "remove", "--folder", place)
        return url

    def start(self, store, server=", audit: audit.jsonl"):
        """Starts a daemon. A later one uses the same folder, after the one before has ended."""
        self.end_daemon()
        self.daemon = Daemon(PROGRAM, self.folder.name, store=f"'{store}'", server=server, stderr=subprocess.DEVNULL)
        return self.daemon

    def ask(self, tables, **more):
        return self.daemon.ask("POST", "/v1/split", {"tables": tables, **more})

    def split(self, *args, to=8):
        return program("split", "--server", f"http://127.0.0.1:{self.daemon.port}", "--to", str(to), *args,
                       env={**os.environ, "EASYRETRY_TOKEN": self.daemon.token})

    def submit_many(self):
        ids = set()
        for first in range(0, MANY, 5000):
            tasks = [{"handler": "mail", "key": f"before {first + i}"} for i in range(5000)]
            status, answer = self.daemon.ask("POST", "/v1/tasks", {"tasks": tasks})
            self.assertEqual(status, 201, answer)
            ids.update(task["id"] for task in answer["tasks"])
        return ids

    def all_ids(self):
        ids, page = [], {"next": ""}
        while "next" in page:
            _, page = self.daemon.ask("GET", f"/v1/tasks?limit=1000&after={page['next']}")
            ids += [task["id"] for task in page["tasks"]]
        self.assertEqual(len(ids), len(set(ids)), "one is there twice")
        return set(ids)

    def wait_until_it_moves(self):
        status, split = self.daemon.ask("GET", "/v1/split")
        while split["state"] == "running" and split["moved"] == 0:
            status, split = self.daemon.ask("GET", "/v1/split")
        self.assertEqual((status, split["state"]), (200, "running"), "too few tasks to be met in the middle")
        return split

    def wait_for_the_end(self):
        def ended():
            split = self.daemon.ask("GET", "/v1/split")[1]
            return split if "ended_at" in split else None
        return until(ended, seconds=300)

    def every_task_is_run(self, ids):
        """Runs all tasks with a daemon that knows only the tables of the new layout."""
        left = set(ids)
        while left:
            tasks = self.daemon.lease(max=1000)
            done = {"tasks": [{"id": task["id"], "version": task["version"], "kind": "finish"} for task in tasks]}
            self.assertEqual(set(self.daemon.ask("POST", "/v1/leases/settle", done)[1]["applied"]), {True})
            self.assertLessEqual({task["id"] for task in tasks}, left, "run twice, or nobody's")
            left -= {task["id"] for task in tasks}

    def while_tasks_come(self, kind):
        url = self.server(kind)
        self.start(url + "?layout=hash(2)")
        ids = self.submit_many()
        foreseen = self.split("--dry-run")
        self.assertEqual(foreseen.returncode, 0, foreseen.stderr)
        self.assertRegex(foreseen.stdout, r"^retry_task_0 -> retry_task_2, about \d+ tasks\n")
        self.assertRegex(foreseen.stdout, r"nothing was changed\n$")
        asked = self.split()
        self.assertEqual(asked.returncode, 1)
        self.assertIn("tasks to 6 new tables? there is no terminal to ask; use --yes", asked.stderr)
        with Submitting(self.daemon) as meanwhile:
            done = self.split("--yes")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("done; set layout=hash(8) in the urls of the instances", done.stdout)
        self.assertEqual(meanwhile.trouble, [])
        self.assertGreater(len(meanwhile.ids), 0)
        self.assertEqual(self.all_ids(), ids | meanwhile.ids)
        self.assertEqual(self.split("--yes").stdout, "the layout is already hash(8); nothing was changed\n")

        self.assertEqual(self.daemon.stop(), 0)
        refused = program("serve", "--listen", "127.0.0.1:0", cwd=self.folder.name)
        self.assertIn("set layout=hash(8)", refused.stderr)
        self.start(url + "?layout=hash(8)")
        self.every_task_is_run(ids | meanwhile.ids)

    def test_nothing_is_lost_while_tasks_come_on_postgresql(self):
        self.while_tasks_come("postgres")

    def test_nothing_is_lost_while_tasks_come_on_mariadb(self):
        self.while_tasks_come("mariadb")

    def broken_off(self, kind, end):
        url = self.server(kind)
        self.start(url + "?layout=hash(2)")
        ids = self.submit_many()
        self.assertEqual(self.ask(4)[0], 202)
        self.wait_until_it_moves()
        end()
        self.start(url + "?layout=hash(2)")  # until the split is done, both layouts work
        status, answer = self.daemon.ask("GET", "/v1/split")
        self.assertEqual((status, answer["error"]["code"]), (404, "not_found"))
        self.assertEqual(self.all_ids(), ids)
        status, answer = self.ask(8, dry_run=True)
        self.assertEqual(status, 422)
        self.assertIn("a split into hash(4) has begun; finish that one first", answer["error"]["message"])

        rest = json.loads(self.split("--yes", "--json", to=4).stdout)
        self.assertEqual(rest["state"], "done")
        self.assertGreater(rest["moved"], 0, "nothing was left to be moved")
        self.assertEqual(self.all_ids(), ids)
        self.daemon.stop()
        self.start(url + "?layout=hash(4)")
        self.every_task_is_run(ids)

    def test_killed_in_the_middle_it_goes_on_on_postgresql(self):
        self.broken_off("postgres", lambda: self.daemon.kill())

    def test_killed_in_the_middle_it_goes_on_on_mariadb(self):
        self.broken_off("mariadb", lambda: self.daemon.kill())

    def test_a_daemon_that_is_stopped_breaks_it_off_and_it_goes_on(self):
        self.broken_off("postgres", lambda: self.assertEqual(self.daemon.stop(), 0))

    def test_there_is_one_at_a_time_and_a_command_that_comes_later_waits_for_it(self):
        self.start(self.server("postgres") + "?layout=hash(2)")
        self.submit_many()
        self.assertEqual(self.ask(8)[0], 202)
        self.wait_until_it_moves()
        for tables in (8, 16):
            status, answer = self.ask(tables)
            self.assertEqual((status, answer["error"]["code"]), (409, "split_running"))
            self.assertIn("a split into hash(8) has been running here since", answer["error"]["message"])
        followed = self.split("--yes")
        self.assertEqual(followed.returncode, 0, followed.stderr)
        self.assertIn("done; set layout=hash(8)", followed.stdout)
        self.assertEqual(self.wait_for_the_end()["state"], "done")
        with open(os.path.join(self.folder.name, "audit.jsonl")) as file:
            noted = [json.loads(line) for line in file]
        self.assertEqual([(line["request"], json.loads(line["said"])["tables"], line["status"]) for line in noted[:3]],
                         [("POST /v1/split", 8, "202"), ("POST /v1/split", 8, "409"), ("POST /v1/split", 16, "409")])
        self.assertNotIn("GET /v1/split", {line["request"] for line in noted})

    def test_a_lost_store_is_reported_and_the_split_continues(self):
        self.start(self.server("postgres") + "?layout=hash(2)")
        ids = self.submit_many()
        self.assertEqual(self.ask(8)[0], 202)
        self.wait_until_it_moves()
        place = os.path.join(self.folder.name, "postgres")
        servers("kill", "--folder", place)
        failed = self.wait_for_the_end()
        self.assertEqual(failed["state"], "failed")
        self.assertIn("unavailable", failed["error"])
        servers("restart", "--folder", place)
        done = self.split("--yes")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.all_ids(), ids)

    def refusal(self, tables=8, **more):
        status, answer = self.ask(tables, **more)
        self.assertEqual(status, 422, answer)
        return answer["error"]["message"]

    def test_an_unsplittable_layout_is_refused_with_the_reason_and_a_remedy(self):
        for store in ("sqlite:retry.db", "memory:", self.server("redis")):
            self.start(store)
            for dry_run in (True, False):
                self.assertIn("has no tables to split; use a store on PostgreSQL, MariaDB or MySQL with layout=hash(n)",
                              self.refusal(dry_run=dry_run))
            self.assertEqual(self.daemon.ask("GET", "/v1/split")[0], 404, "nothing was begun")
            ran = self.split("--yes")
            self.assertEqual(ran.returncode, 1)
            self.assertIn("has no tables to split; use a store on PostgreSQL", ran.stderr)
        self.start(self.server("mariadb") + "?layout=period(month,2)")
        self.assertIn("only hash layouts can be split", self.refusal())
        self.assertIn("start on an empty one with layout=hash(8)", self.refusal())

    def test_numbers_that_cannot_be_are_refused_with_those_that_can(self):
        self.start(self.server("postgres") + "?layout=hash(4)")
        self.assertIn("does not divide 64 shards; use 4 or 8", self.refusal(6))
        self.assertIn("the new number must be a multiple of 4, such as 8", self.refusal(2))
        self.assertIn("$.tables: is 5000; use 1 to 4096", self.refusal(5000))
        self.assertIn("did you mean tables", self.refusal(8, table=8))
        self.assertEqual(self.daemon.ask("POST", "/v1/split", {})[0], 400)

    def test_it_is_for_admins_of_all_namespaces(self):
        self.start("sqlite:retry.db")

        def answered(name, role, space):
            made = program("token", "create", name, "--role", role, "--namespace", space, cwd=self.folder.name)
            token = made.stdout.strip()
            return [self.daemon.ask("POST", "/v1/split", {"tables": 8}, token=token), self.daemon.ask("GET", "/v1/split", token=token)]

        self.assertEqual([status for status, _ in answered("op", "operator", "*")], [403, 403])
        of_one = answered("one", "admin", "default")
        self.assertEqual([status for status, _ in of_one], [403, 403])
        self.assertIn("--role admin --namespace '*'", of_one[0][1]["error"]["hint"])
        self.assertEqual([status for status, _ in answered("all", "admin", "*")], [422, 404])


class Reshard(unittest.TestCase):
    def test_with_a_daemon_the_command_to_run_instead_is_named(self):
        ran = program("reshard", "--server", "http://127.0.0.1:7077", "--shards", "32")
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertIn("while no instance runs, and the daemon at http://127.0.0.1:7077 is one: stop all instances, then run "
                      "`easyretry reshard --store URL --shards 32`", ran.stderr)
        ran = program("reshard", "--shards", "32")
        self.assertNotEqual(ran.returncode, 0)
        self.assertTrue(re.search("--store is required", ran.stderr + ran.stdout))


if __name__ == "__main__":
    unittest.main()
