"""doctor finds late tasks behind any number of others, on every kind of store, and reports files that it cannot read.
Usage: doctor_test.py EASYRETRY_PROGRAM SERVERS_PY"""
import json
import os
import subprocess
import sys
import time
import unittest

from doctor_case import DoctorCase
from program import run_program
from waiting import until

SERVERS = os.path.abspath(sys.argv.pop(1))
OTHER_USER = 65534
# Over 64 shards, this is more than the first read of each shard returns, and more than one page of the API.
WALL = 1500


def servers(*args):
    return subprocess.run([sys.executable, SERVERS, *args], check=True, capture_output=True, text=True).stdout.strip()


class LateTasks:
    """Tests that are the same on each kind of store."""

    def wall(self, daemon):
        """Stores tasks that are not due, due tasks of a paused handler, and then one late task."""
        for handler, more in (("later", {"delay_ms": 3_600_000}), ("held", {})):
            status, _ = daemon.ask("POST", f"/v1/handlers/{handler}/pause" if not more else "/v1/handlers/none/resume", {"why": "x"} if not more else None)
            self.assertEqual(status, 200)
            tasks = [{"handler": handler, "key": f"{handler}{number}", **more} for number in range(WALL)]
            self.assertEqual(daemon.ask("POST", "/v1/tasks", {"tasks": tasks})[0], 201)
        self.assertEqual(daemon.ask("POST", "/v1/tasks", {"handler": "pay", "key": "late"})[0], 201)

    def test_a_late_task_is_seen_behind_tasks_that_are_not_due_and_tasks_of_paused_handlers(self):
        daemon = self.start(store=self.url)
        self.wall(daemon)
        time.sleep(1.5)  # so that the task is late by more than a second
        where = ["--server", f"http://127.0.0.1:{daemon.port}"]
        late = self.examine(*where, "--max-late", "1s", code=1, EASYRETRY_TOKEN=daemon.token)["late tasks"]
        self.assertEqual(late["result"], "fail")
        self.assertRegex(late["what"], r"^due for more than 1 s and not running: pay \(\d+ s\)$")
        self.assertIn(f"easyretry handlers --server http://127.0.0.1:{daemon.port}", late["todo"])
        self.assertEqual(self.examine(*where, code=0, EASYRETRY_TOKEN=daemon.token)["late tasks"]["what"], "none",
                         "the usual bounds are 30 s and 5 min")

        daemon.stop()
        late = self.examine("--store", self.url, "--max-late", "1s", code=1)["late tasks"]
        self.assertRegex(late["what"], r"^due for more than 1 s and not running: pay \(\d+ s\)$")
        self.assertIn(self.advice, late["todo"])

    def test_a_failure_hides_nothing_that_comes_after_it(self):
        daemon = self.start(store=self.url)
        daemon.ask("POST", "/v1/tasks", {"handler": "pay"})
        daemon.ask("POST", "/v1/handlers/mail/pause", {"why": "gateway down"})
        daemon.ask("POST", "/v1/tasks", {"handler": "mail"})
        until(lambda: not daemon.ask("GET", "/v1/doctor?max_late_ms=1")[1]["healthy"])
        daemon.stop()
        checks = self.examine("--store", self.url, "--max-late", "1ms", code=1)
        self.assertEqual([checks[name]["result"] for name in ("late tasks", "quarantined", "handlers", "paused")], ["fail", "ok", "ok", "warn"])

    def test_advice_is_for_this_store(self):
        self.start(store=self.url).stop()
        checks = self.examine("--store", self.url, "--max-late", "1h", code=0)
        advice = " ".join(check["todo"] for check in checks.values())
        for word in {"PostgreSQL", "Redis", "MySQL", "MariaDB", "the disk"} - set(self.words):
            self.assertNotIn(word, advice)


class OnSqlite(LateTasks, DoctorCase):
    url, words, advice = "sqlite:retry.db", ["the disk"], "start the program that runs its tasks"


class OnServer(LateTasks):
    def setUp(self):
        super().setUp()
        self.url = servers("start", self.kind, "--folder", self.path("server"), "--no-sync")
        self.addCleanup(servers, "remove", "--folder", self.path("server"))


class OnPostgres(OnServer, DoctorCase):
    kind, words, advice = "postgres", ["PostgreSQL"], "easyretry cluster --store 'postgres://"


class OnRedis(OnServer, DoctorCase):
    kind, words, advice = "redis", ["Redis"], "easyretry cluster --store 'redis://"


class OverHttp(DoctorCase):
    def test_a_daemon_answers_over_http_like_the_command(self):
        daemon = self.start()
        daemon.ask("POST", "/v1/handlers/mail/pause", {"why": "gateway down"})
        daemon.ask("POST", "/v1/tasks", {"handler": "mail"})
        status, answer = daemon.ask("GET", "/v1/doctor")
        self.assertEqual((status, answer["healthy"]), (200, True))
        checks = {check["check"]: check for check in answer["checks"]}
        self.assertEqual(list(checks), ["instances", "late tasks", "quarantined", "handlers", "paused"])
        self.assertEqual(checks["paused"]["result"], "warn")
        self.assertRegex(checks["paused"]["what"], r"^mail \(since \d+ s, 1 tasks: gateway down\)$")
        self.assertEqual(checks["paused"]["todo"], "to run them again: `easyretry handlers resume mail`")
        self.assertEqual([check["code"] for check in answer["checks"]],
                         ["instances", "late_none", "quarantined_none", "handlers_unserved", "paused"])
        self.assertEqual(checks["paused"]["values"], {"first": "mail"})
        item = checks["paused"]["items"][0]
        self.assertEqual((item["name"], item["tasks"], item["why"]), ("mail", "1", "gateway down"))
        self.assertRegex(item["for_ms"], r"^\d+$")
        self.assertEqual(checks["handlers"]["items"], [{"name": "mail", "tasks": "1"}])
        self.assertEqual(checks["handlers"]["values"], {})
        where = ["--server", f"http://127.0.0.1:{daemon.port}"]
        said = self.examine(*where, code=0, EASYRETRY_TOKEN=daemon.token)
        self.assertEqual(said["paused"]["todo"], f"to run them again: `easyretry handlers resume mail {' '.join(where)}`")
        self.assertEqual({name: check["result"] for name, check in said.items() if name in checks},
                         {name: check["result"] for name, check in checks.items()})

    def test_a_late_task_is_a_failure_beyond_the_bound_that_is_asked_for(self):
        daemon = self.start()
        daemon.ask("POST", "/v1/tasks", {"handler": "pay"})
        late = until(lambda: [check for check in daemon.ask("GET", "/v1/doctor?max_late_ms=1")[1]["checks"]
                                   if check["check"] == "late tasks" and check["result"] == "fail"])
        self.assertIn("pay", late[0]["what"])
        self.assertTrue(daemon.ask("GET", "/v1/doctor")[1]["healthy"])
        for wrong in ("x", "-1", "1s", ""):
            self.assertEqual(daemon.ask("GET", f"/v1/doctor?max_late_ms={wrong}")[0], 422, wrong)


    def test_only_tasks_beyond_a_bound_are_listed_as_beyond_it(self):
        daemon = self.start(config="grace: 100ms\n")

        def late(bound):
            [check] = [check for check in daemon.ask("GET", f"/v1/doctor?max_late_ms={bound}")[1]["checks"] if check["check"] == "late tasks"]
            return check

        daemon.ask("POST", "/v1/tasks", {"handler": "old.one"})
        until(lambda: late(2000)["result"] == "fail")
        daemon.ask("POST", "/v1/tasks", {"handler": "young.one"})
        found = until(lambda: "young.one" in late(2000)["what"] and late(2000))
        # A slow machine may take so long that young.one is beyond the bound, too.
        self.assertRegex(found["what"], r"^due for more than 2 s and not running: old.one \(\d+ s\), (and, less late, young.one \([0-2] s\)|young.one \(([2-9]|\d\d+) s\))$")

    def test_a_handler_that_is_misspelt_is_named_with_the_one_that_was_meant(self):
        daemon = self.start()
        daemon.ask("POST", "/v1/leases", {"handlers": ["mail.send"], "wait_ms": 1})
        for handler in ("mail.snd", "another"):
            daemon.ask("POST", "/v1/tasks", {"handler": handler})
        [found] = [check for check in daemon.ask("GET", "/v1/doctor")[1]["checks"] if check["check"] == "handlers"]
        self.assertEqual((found["result"], found["what"]),
                         ("warn", "served by no instance or worker: another (1 tasks), mail.snd (1 tasks; did you mean mail.send?)"))

    def test_a_token_file_that_others_may_write_hides_no_daemon(self):
        daemon = self.start()
        os.chmod(self.path("easyretry.tokens"), 0o666)
        checks = self.examine("--server", f"http://127.0.0.1:{daemon.port}", code=1, EASYRETRY_TOKEN=daemon.token)
        self.assertEqual((checks["tokens"]["result"], checks["daemon"]["result"], checks["late tasks"]["result"]), ("fail", "ok", "ok"))


class Bounds(DoctorCase):
    def test_an_invalid_bound_is_refused(self):
        ran = run_program("doctor", "--max-late", "soon", cwd=self.folder.name)
        self.assertEqual((ran.returncode, ran.stdout), (2, ""))
        self.assertIn('--max-late: duration "soon"', ran.stderr)


class Files(DoctorCase):
    def setUp(self):
        super().setUp()
        self.start().stop()
        os.remove(self.path("easyretry.tokens.first"))

    def tokens(self, code, **more):
        return self.examine("--store", "sqlite:retry.db", code=code, **more)["tokens"]

    def test_a_token_file_that_is_no_file_is_a_failure(self):
        os.remove(self.path("easyretry.tokens"))
        os.mkdir(self.path("easyretry.tokens"), 0o700)
        found = self.tokens(code=1)
        self.assertEqual((found["result"], found["what"]), ("fail", "easyretry.tokens is a folder"))

    def test_files_of_the_configuration_that_cannot_be_read_are_failures(self):
        with open(self.path("config.yaml"), "w", encoding="utf-8") as config:
            config.write("""
encryption: {folder: keys}
server: {certificate: server.pem, private_key: server.key}
alerts:
  channels:
    ops: {type: dingtalk, url: "https://example.com/robot", secret_file: robot.secret}
    mail: {type: email, url: "smtps://example.com", from: a@example.com, to: [b@example.com], user: a, password_file: mail.password}
""")
        files = ("keys", "server.pem", "robot.secret", "mail.password")
        for file in files:
            os.mkdir(self.path(file))
        ran = run_program("doctor", "--json", "--config", "config.yaml", "--store", "sqlite:retry.db", cwd=self.folder.name)
        self.assertEqual(ran.returncode, 1, ran.stderr)
        failed = [check["what"] for check in json.loads(ran.stdout)["checks"] if check["result"] == "fail"]
        for file in files:
            self.assertTrue(any(file in what for what in failed), (file, failed))

    def test_a_link_that_leads_nowhere_is_a_failure(self):
        os.remove(self.path("easyretry.tokens"))
        os.symlink("gone", self.path("easyretry.tokens"))
        self.assertIn("easyretry.tokens cannot be read: No such file", self.tokens(code=1)["what"])

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_a_token_file_that_its_owner_may_not_read_is_a_failure(self):
        for name in [".", *os.listdir(self.folder.name)]:
            os.chown(self.path(name), OTHER_USER, OTHER_USER)
        os.chmod(self.path("easyretry.tokens"), 0o000)
        found = self.tokens(code=1, user=OTHER_USER)
        self.assertEqual((found["result"], found["what"]), ("fail", "easyretry.tokens cannot be read: Permission denied"))

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_a_token_file_of_another_user_is_a_warning(self):
        for name in [".", *os.listdir(self.folder.name)]:
            os.chown(self.path(name), OTHER_USER, OTHER_USER)
        os.chown(self.path("easyretry.tokens"), 0, 0)
        found = self.tokens(code=0, user=OTHER_USER)
        self.assertEqual((found["result"], found["todo"]), ("warn", "run this command as the user that owns the file"))


if __name__ == "__main__":
    unittest.main()
