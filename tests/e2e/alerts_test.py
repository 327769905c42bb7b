"""Alerts of easyretry serve: which events raise one, and which channels get it.
Usage: alerts_test.py EASYRETRY_PROGRAM"""
import base64
import hashlib
import hmac
import json
import os
import socket
import subprocess
import time
import unittest

from alert_case import FAILURES, NO_RETRY, PATIENCE, PROGRAM, ROBOT_SECRET, SECRET, TOKEN, AlertCase
from daemon import Daemon


class Telling(AlertCase):
    def test_tasks_that_fail_for_good_are_told_once_together_and_signed(self):
        hook = self.receiver()
        # The wait is long enough for all five, even on a busy machine.
        self.start({"hook": self.webhook(hook)}, {"r": "channels: [hook], final_failures: 1, wait: 8s, window: 1h"})
        for i in range(5):
            self.fail_task(key=f"order-{i}", args=[{"card": "payload-canary"}])
        path, headers, body = hook.got.get(timeout=PATIENCE)
        self.assertEqual(path, "/alerts")
        data = json.loads(body)["data"]
        self.assertEqual((data["kind"], data["status"], data["handler"], data["namespace"], data["count"]),
                         ("final_failure", "firing", "pay", "default", 5))
        self.assertEqual([task["key"] for task in data["tasks"]], ["order-0", "order-1", "order-2"])
        self.assertTrue(data["tasks"][0]["error"].startswith("503 from the bank"), data)
        self.assertNotIn("payload-canary", body)
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{body}".encode()
        right = hmac.new(base64.b64decode(SECRET.removeprefix("whsec_")), signed, hashlib.sha256).digest()
        self.assertEqual(headers["webhook-signature"], "v1," + base64.b64encode(right).decode())
        self.nothing_comes(hook)
        self.assertEqual(self.counts("hook"), (1, 0))

    def test_a_rule_is_for_its_own_handlers(self):
        hook = self.receiver()
        self.start({"hook": self.webhook(hook)}, {"r": f"channels: [hook], handlers: [ma*], {FAILURES}"})
        self.fail_task("pay")
        self.fail_task("mail")
        self.assertEqual(self.data(hook)["handler"], "mail")
        self.nothing_comes(hook)

    def test_a_backlog_and_its_end_are_reported(self):
        hook = self.receiver()
        self.start({"hook": self.webhook(hook)}, {"r": "channels: [hook], backlog_age: 1s"})
        self.submit()
        told = self.data(hook)
        self.assertEqual((told["kind"], told["status"], told["handler"]), ("backlog_age", "firing", "pay"))
        self.assertGreaterEqual(told["age_seconds"], 1)
        self.answer("done")
        told = self.data(hook)
        self.assertEqual((told["kind"], told["status"]), ("backlog_age", "resolved"))
        self.nothing_comes(hook)

    def test_a_failure_rate_and_its_end_are_reported(self):
        hook = self.receiver()
        self.start({"hook": self.webhook(hook)}, {"r": "channels: [hook], failure_rate: 50%, min_attempts: 4, window: 3s"})
        for i in range(4):
            self.fail_task(key=str(i))
        told = self.data(hook)
        self.assertEqual((told["kind"], told["status"], told["count"], told["attempts"]), ("failure_rate", "firing", 4, 4))
        told = self.data(hook)
        self.assertEqual((told["kind"], told["status"]), ("failure_rate", "resolved"))

    def test_a_task_that_kills_its_workers_is_reported(self):
        hook = self.receiver()
        # A lease that is not renewed means that its worker died.
        self.start({"hook": self.webhook(hook)}, {"r": "channels: [hook], quarantines: 1, wait: 0s"},
                   "lease: 500ms\nwindow: 200ms\ngrace: 500ms\nmax_crashes: 1\n")
        self.submit(key="poison")
        self.daemon.lease("pay")
        until = time.monotonic() + PATIENCE
        while hook.got.empty() and time.monotonic() < until:
            self.daemon.ask("POST", "/v1/leases", {"handlers": ["pay"], "wait_ms": 500})
        told = self.data(hook)
        self.assertEqual((told["kind"], told["tasks"][0]["key"]), ("quarantine", "poison"))

    def test_a_circuit_that_stays_open_is_reported(self):
        hook = self.receiver()
        self.start({"hook": self.webhook(hook)}, {"r": "channels: [hook], circuit_open: 1s"},
                   "handlers:\n  pay: {circuit: {name: gateway}}\n")
        self.submit(key="first")
        self.daemon.lease("pay")  # from now on the daemon knows its handler
        self.assertEqual(self.daemon.ask("POST", "/v1/circuits/gateway/open", {"why": "it moves"})[0], 200)
        told = self.data(hook)
        self.assertEqual((told["kind"], told["status"], told["handler"]), ("circuit_open", "firing", "gateway"))

    def test_waiting_alerts_are_sent_when_the_daemon_stops(self):
        hook = self.receiver()
        self.start({"hook": self.webhook(hook)}, {"r": "channels: [hook], final_failures: 1, wait: 1h"})
        self.fail_task()
        self.assertEqual(self.daemon.stop(), 0)
        self.assertEqual(self.data(hook)["count"], 1)


class Trouble(AlertCase):
    def test_a_channel_that_never_answers_holds_up_neither_tasks_nor_others_nor_the_end(self):
        dead, alive = self.receiver(), self.receiver()
        dead.hold.clear()
        nobody = socket.create_server(("127.0.0.1", 0))  # accepts connections and never answers
        self.addCleanup(nobody.close)
        self.start({"dead": self.webhook(dead), "alive": self.webhook(alive),
                    "deaf": f"type: email, url: 'smtp+plain://127.0.0.1:{nobody.getsockname()[1]}', "
                            "from: a@example.com, to: a@example.com"},
                   {"r": f"channels: [dead, alive, deaf], {FAILURES}"})
        for i in range(50):
            self.fail_task(key=str(i))
        self.fail_task("mail")
        told = [self.data(alive), self.data(alive)]
        self.assertEqual(sorted(one["handler"] for one in told), ["mail", "pay"])
        began = time.monotonic()
        self.assertEqual(self.daemon.stop(), 0)
        self.assertLess(time.monotonic() - began, 15)

    def test_secrets_are_in_no_log_and_no_error(self):
        room = self.receiver(f'{{"errcode":1,"errmsg":"{TOKEN} {ROBOT_SECRET}"}}')
        robot = self.file("robot", ROBOT_SECRET)
        password = self.file("password", "pass-canary")
        server = self.mail_server(certificate=self.certificate(), from_the_start=True, password="another one")
        with socket.create_server(("127.0.0.1", 0)) as taken:
            closed = taken.getsockname()[1]
        channels = {
            "refused": f"type: dingtalk, url: '{room.url}/robot/send?access_token={TOKEN}', secret_file: {robot}",
            "closed": f"type: slack, url: 'http://127.0.0.1:{closed}/services/{TOKEN}'",
            "private": f"type: feishu, url: 'http://10.0.0.1/open-apis/bot/v2/hook/{TOKEN}', secret_file: {robot}",
            "post": f"type: email, url: 'smtps://localhost:{server.port}', user: retry, password_file: {password}, "
                    f"from: a@example.com, to: a@example.com, ca_file: {os.path.join(self.folder, 'cert.pem')}",
        }
        self.file("easyretry.yaml", self.config(channels, {}) + "server: {may_call: [127.0.0.1]}\n")
        said = ""
        for name in channels:
            run = subprocess.run([PROGRAM, "alert", "test", name], cwd=self.folder, capture_output=True, text=True)
            self.assertEqual(run.returncode, 1)
            why = "10.0.0.1 may not be called" if name == "private" else f"channel {name} did not accept the message: "
            self.assertIn("easyretry: " + why, run.stderr)
            said += run.stdout + run.stderr
        checked = subprocess.run([PROGRAM, "config", "check"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(checked.returncode, 1, "one channel may not be called")
        said += checked.stdout + checked.stderr
        for secret in (TOKEN, ROBOT_SECRET, "pass-canary"):
            self.assertNotIn(secret, said)
        self.assertIn("10.0.0.1", said)  # the address check did print its refusal
        self.assertIn("***", said)

    def test_a_message_that_failed_is_logged_with_its_reason_and_counted(self):
        room = self.receiver(f"no_service {TOKEN}", status=404)
        with open(os.path.join(self.folder, "log"), "w+") as log:
            text = self.config({"room": f"type: slack, url: {room.url}/services/{TOKEN}"},
                               {"r": f"channels: [room], {FAILURES}"}) + NO_RETRY
            kept = os.dup(2)
            os.dup2(log.fileno(), 2)  # the daemon inherits this stderr
            try:
                self.daemon = Daemon(PROGRAM, self.folder, text, server=", may_call: [127.0.0.1]")
            finally:
                os.dup2(kept, 2)
                os.close(kept)
            self.fail_task()
            self.eventually(lambda: self.counts("room") == (0, 1))
            self.daemon.stop()
            log.seek(0)
            said = log.read()
        self.assertIn('alerts: channel room did not accept "[EasyRetry] pay: 1 final failure" after 1 try: HTTP 404: '
                      "no_service ***", said)
        self.assertNotIn(TOKEN, said)

    def test_a_daemon_does_not_start_with_a_channel_that_cannot_work(self):
        self.file("easyretry.yaml", self.config(
            {"hook": "type: webhook, url: 'https://x.example/y', secret_file: /nowhere"}, {"r": f"channels: [hook], {FAILURES}"}))
        run = subprocess.run([PROGRAM, "serve"], cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(run.returncode, 1)
        self.assertIn("alerts.channels.hook: /nowhere contains no secret for signing webhooks", run.stderr)


class Api(AlertCase):
    def test_the_api_lists_sent_alerts_and_tests_a_channel(self):
        room, hook = self.receiver(f"no_service {TOKEN}", status=404), self.receiver()
        self.start({"room": f"type: slack, url: {room.url}/services/{TOKEN}", "hook": self.webhook(hook)},
                   {"r": f"channels: [room, hook], {FAILURES}"})
        self.fail_task(key="order-42")
        self.data(hook)
        self.eventually(lambda: len(self.daemon.ask("GET", "/v1/alerts")[1]["sent"]) == 2)
        told = {one["channel"]: one for one in self.daemon.ask("GET", "/v1/alerts")[1]["sent"]}
        self.assertEqual((told["hook"]["arrived"], told["hook"]["status"], told["hook"]["handler"]), (True, "firing", "pay"))
        self.assertEqual(len(told["hook"]["tasks"]), 1)
        self.assertEqual((told["room"]["arrived"], told["room"]["tries"]), (False, 1))
        status, tested = self.daemon.ask("POST", "/v1/alerts/test", {"channel": "hook"})
        self.assertEqual((status, tested), (200, {"channel": "hook", "arrived": True}))
        self.assertIn("this is a test", self.data(hook)["summary"])
        _, tested = self.daemon.ask("POST", "/v1/alerts/test", {"channel": "room"})
        self.assertFalse(tested["arrived"])
        for answer in (tested, self.daemon.ask("GET", "/v1/alerts")[1]):
            self.assertNotIn(TOKEN, json.dumps(answer))


class Command(AlertCase):
    def test_one_test_message_is_sent(self):
        room = self.receiver("ok")
        self.file("my.yaml", self.config({"room": f"type: slack, url: {room.url}/x"}, {})
                  + "server: {may_call: [127.0.0.1]}\n")
        run = subprocess.run([PROGRAM, "alert", "test", "room", "--config", "my.yaml"], cwd=self.folder, capture_output=True,
                             text=True, check=True)
        self.assertEqual(run.stdout, "channel room accepted the test message\n")
        self.assertIn("this is a test", room.got.get(timeout=PATIENCE)[2])

    def test_a_channel_that_is_not_there_is_named(self):
        self.file("my.yaml", self.config({"room": "type: slack, url: 'https://x/y'"}, {}))
        run = subprocess.run([PROGRAM, "alert", "test", "rum", "--config", "my.yaml"], cwd=self.folder, capture_output=True,
                             text=True)
        self.assertEqual((run.returncode, run.stderr),
                         (1, "easyretry: unknown channel rum; alerts.channels has: room\n"))


if __name__ == "__main__":
    unittest.main()
