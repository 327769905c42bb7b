"""Operators pause handlers: over HTTP, from the command line, and with two processes on one store, one of which is killed.
Usage: pause_test.py EASYRETRY_PROGRAM SERVERS_PY"""
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

from daemon import Daemon
from prometheus_text import parse
from receiver import Receiver, write_secrets
from waiting import eventually

PROGRAM = os.path.abspath(sys.argv.pop(1))
SERVERS = os.path.abspath(sys.argv.pop(1))


def servers(*args):
    return subprocess.run([sys.executable, SERVERS, *args], check=True, capture_output=True, text=True).stdout.strip()


class OfOneDaemon(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.daemon = Daemon(PROGRAM, self.folder.name, server=", audit: audit.jsonl, namespaces: [shop]")

    def tearDown(self):
        if self.daemon.process.poll() is None:
            self.daemon.kill()
        self.folder.cleanup()

    def ask(self, *request, **more):
        return self.daemon.ask(*request, **more)

    def pause(self, name="mail", why="gateway down", **more):
        return self.ask("POST", f"/v1/handlers/{name}/pause", {"why": why}, **more)

    def handlers(self, **more):
        return {one["name"]: one for one in self.ask("GET", "/v1/handlers", **more)[1]["handlers"]}

    def program(self, *arguments, store=False):
        where = ["--store", "sqlite:retry.db"] if store else ["--server", f"http://127.0.0.1:{self.daemon.port}"]
        ran = subprocess.run([PROGRAM, *arguments, *where], cwd=self.folder.name, capture_output=True, text=True, timeout=60,
                             env={**os.environ, "EASYRETRY_TOKEN": self.daemon.token})
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran

    def test_a_worker_gets_nothing_of_a_paused_handler_until_it_is_resumed(self):
        self.ask("POST", "/v1/tasks", {"handler": "mail", "key": "k"})
        status, answer = self.pause()
        self.assertEqual((status, answer["changed"], answer["paused"]["why"], answer["served"]), (200, True, "gateway down", False))
        self.assertEqual(self.ask("POST", "/v1/leases", {"handlers": ["mail"], "wait_ms": 1500})[1]["tasks"], [])
        self.assertEqual(self.handlers()["mail"]["paused"], answer["paused"])
        self.assertEqual(self.pause(why="still")[1], {**answer, "changed": False, "served": True})
        self.assertEqual(self.ask("POST", "/v1/handlers/mail/resume")[1], {"name": "mail", "served": True, "changed": True})
        [task] = self.daemon.lease()
        self.assertEqual((task["key"], task["attempts"]), ("k", 1))
        self.assertNotIn("paused", self.handlers()["mail"])
        self.assertFalse(self.ask("POST", "/v1/handlers/mail/resume")[1]["changed"])

    def test_an_unknown_handler_can_be_paused_and_the_answer_says_so(self):
        status, answer = self.pause("else%2Fwhere%20%C3%A4")
        self.assertEqual((status, answer["name"], answer["served"]), (200, "else/where ä", False))
        self.assertIn("else/where ä", self.handlers())
        self.assertEqual(self.pause("x" * 201)[0], 422)
        self.assertEqual(self.pause("mail", "ä" * 201)[0], 422)
        self.assertEqual(self.ask("POST", "/v1/handlers/mail/pause", {})[0], 400)
        self.assertEqual(self.ask("POST", "/v1/handlers/mail/pause", {"why": "", "till": "noon"})[0], 422)

    def test_only_operators_pause_in_their_namespace_and_it_is_written_down(self):
        self.assertEqual(self.pause(token=self.token("worker", "default"))[0], 403)
        self.assertEqual(self.pause(token=self.token("operator", "shop"))[0], 200)
        self.assertNotIn("mail", self.handlers())
        self.assertIn("paused", self.handlers(headers={"easyretry-namespace": "shop"})["mail"])
        with open(os.path.join(self.folder.name, "audit.jsonl")) as file:
            [line] = [json.loads(text) for text in file]
        self.assertEqual((line["by"], line["namespace"], line["request"], line["status"], json.loads(line["said"])),
                         ("operator-shop", "shop", "POST /v1/handlers/mail/pause", "200", {"why": "gateway down"}))

    def token(self, role, space):
        made = subprocess.run([PROGRAM, "token", "create", f"{role}-{space}", "--role", role, "--namespace", space],
                              cwd=self.folder.name, capture_output=True, text=True, timeout=60, check=True)
        return made.stdout.strip()

    def test_the_command_line_pauses_shows_and_resumes_on_a_daemon_and_on_its_store(self):
        self.ask("POST", "/v1/tasks", {"handler": "mail"})
        for store in (False, True):
            if store:
                self.daemon.stop()
            said = self.program("handlers", "pause", "mail", "--why", "gateway down", store=store)
            self.assertRegex(said.stdout, "mail is paused.* `easyretry handlers resume mail`")
            self.assertEqual(said.stderr, "")
            self.assertRegex(self.program("handlers", store=store).stdout, r"mail +1 +1 .*\d+ s: gateway down")
            self.assertIn("was already paused", self.program("handlers", "pause", "mail", store=store).stdout)
            [doctor] = [check for check in json.loads(self.program("doctor", "--json", store=store).stdout)["checks"]
                        if check["check"] == "paused"]
            self.assertEqual(doctor["result"], "warn")
            self.assertRegex(doctor["what"], r"mail \(since \d+ s, 1 tasks: gateway down\)")
            self.assertIn("easyretry handlers resume mail", doctor["todo"])
            self.assertEqual(self.program("handlers", "resume", "mail", store=store).stdout,
                             "mail is resumed: its tasks run again\n")
            self.assertEqual(self.program("handlers", "resume", "mail", store=store).stdout, "mail was not paused\n")
            told = json.loads(self.program("handlers", "pause", "other", "--json", store=store).stdout)
            self.assertEqual((told["changed"], told["paused"]["why"]), (True, ""))
            self.assertIn("is the name right?", self.program("handlers", "pause", "other", store=store).stderr)
            self.program("handlers", "resume", "other", store=store)

    def test_the_metrics_show_paused_handlers(self):
        self.ask("POST", "/v1/tasks", {"handler": "mail"})
        self.daemon.lease()
        self.pause("pay")
        metrics = parse(self.daemon.ask_for_text("GET", "/metrics")[2])["easyretry_handler_paused"]
        self.assertEqual(metrics.value(namespace="default", handler="mail"), 0)
        self.assertEqual(metrics.value(namespace="default", handler="pay"), 1)


class OfTwoProcesses(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.url = servers("start", "postgres", "--folder", os.path.join(self.folder.name, "postgres"), "--no-sync")
        self.receiver = Receiver()
        self.daemons = {}

    def tearDown(self):
        for daemon in self.daemons.values():
            if daemon.process.poll() is None:
                daemon.kill()
        self.receiver.close()
        servers("remove", "--folder", os.path.join(self.folder.name, "postgres"))
        self.folder.cleanup()

    def start(self, name):
        folder = os.path.join(self.folder.name, name)
        os.makedirs(folder, exist_ok=True)
        write_secrets(folder)
        # A short grace: the surviving daemon takes over the shards of the killed one soon.
        self.daemons[name] = Daemon(PROGRAM, folder, f"grace: 3s\nhandlers:\n  hook: {{url: '{self.receiver.url}', secrets_file: hook.secrets}}\n",
                                    ", may_call: [127.0.0.1]", store=self.url)

    def handlers(self, *arguments):
        ran = subprocess.run([PROGRAM, "handlers", *arguments, "--store", self.url], cwd=self.folder.name, capture_output=True,
                             text=True, timeout=60)
        self.assertEqual(ran.returncode, 0, ran.stderr)

    def submit(self, name, count, handler="hook"):
        tasks = [{"handler": handler, "key": str(uuid.uuid4())} for _ in range(count)]
        status, answer = self.daemons[name].ask("POST", "/v1/tasks", {"tasks": tasks})
        self.assertEqual(status, 201, answer)

    def test_both_stop_and_stay_stopped_after_a_kill_and_all_is_done_after_the_resume(self):
        for name in ("one", "two"):
            self.start(name)
            self.submit(name, 20)
        self.assertTrue(eventually(lambda: self.receiver.calls == 40), self.receiver.calls)

        self.handlers("pause", "hook", "--why", "gateway down")
        time.sleep(2)  # the longest time until both have noticed the pause
        for name in ("one", "two"):
            self.submit(name, 50)
        self.daemons["two"].kill()
        self.start("two")
        self.submit("two", 50)
        for name in ("one", "two"):
            self.submit(name, 1, handler="pull")
            self.daemons[name].lease("pull")
        time.sleep(4)  # longer than the interval of scans
        self.assertEqual(self.receiver.calls, 40)
        [paused] = [one for one in self.daemons["one"].ask("GET", "/v1/handlers")[1]["handlers"] if one["name"] == "hook"]
        self.assertEqual((paused["live"], paused["paused"]["why"]), (150, "gateway down"))

        self.handlers("resume", "hook")
        self.assertTrue(eventually(lambda: self.receiver.calls >= 190, seconds=60), self.receiver.calls)
        self.assertTrue(eventually(lambda: self.daemons["one"].ask("GET", "/v1/tasks?handler=hook")[1]["tasks"] == []))


if __name__ == "__main__":
    unittest.main()
