"""Alerts of easyretry serve: what happens to tasks, and what arrives at a real HTTP server and a real mail server.
Usage: alerts_test.py EASYRETRY_PROGRAM"""
import base64
import email
import email.policy
import hashlib
import hmac
import json
import os
import queue
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

import prometheus_text
from alert_receivers import HttpReceiver, MailServer
from daemon import Daemon

PROGRAM = os.path.abspath(sys.argv.pop(1))
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
ROBOT_SECRET = "SECgeheim-canary"
TOKEN = "token-canary-1234567"
PATIENCE = 30  # seconds, for what should take few
QUIET = 3  # seconds in which nothing may come
NO_RETRY = "handlers:\n  pay: {max_attempts: 1}\n  mail: {max_attempts: 1}\n"
FAILURES = "final_failures: 1, wait: 2s, window: 1h"


class AlertCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.daemon = None
        self.addCleanup(lambda: self.daemon and self.daemon.process.poll() is None and self.daemon.kill())

    def file(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def receiver(self, *answer, **more):
        made = HttpReceiver(*answer, **more)
        self.addCleanup(made.close)
        return made

    def mail_server(self, **more):
        made = MailServer(**more)
        self.addCleanup(made.close)
        return made

    def config(self, channels, rules):
        lines = ["alerts:", "  channels:", *(f"    {name}: {{{fields}}}" for name, fields in channels.items())]
        lines += ["  rules:", *(f"    {name}: {{{fields}}}" for name, fields in rules.items())] if rules else []
        return "\n".join(lines) + "\n"

    def start(self, channels, rules, more=NO_RETRY):
        text = self.config(channels, rules) + more
        self.daemon = Daemon(PROGRAM, self.folder, text, server=", may_call: [127.0.0.1]")
        return self.daemon

    def webhook(self, receiver):
        return f"type: webhook, url: {receiver.url}/alerts, secret_file: {self.file('hook.secrets', SECRET)}"

    def submit(self, handler="pay", **more):
        status, made = self.daemon.ask("POST", "/v1/tasks", {"handler": handler, **more})
        self.assertEqual(status, 201, made)

    def answer(self, verb, handler="pay", **more):
        [task] = self.daemon.lease(handler)
        status, said = self.daemon.ask("POST", f"/v1/leases/{task['id']}/{verb}", {"version": task["version"], **more})
        self.assertEqual(status, 200, said)

    def fail_task(self, handler="pay", error="503 from the bank", **more):
        self.submit(handler, **more)
        self.answer("fail", handler, error=error)

    def data(self, receiver):
        return json.loads(receiver.got.get(timeout=PATIENCE)[2])["data"]

    def nothing_comes(self, receiver):
        with self.assertRaises(queue.Empty):
            print("unexpected:", receiver.got.get(timeout=QUIET))

    def counts(self, channel):
        _, _, text = self.daemon.ask_for_text("GET", "/metrics")
        family = prometheus_text.parse(text)["easyretry_alerts_total"]
        return family.value(channel=channel, result="delivered"), family.value(channel=channel, result="failed")

    def eventually(self, holds):
        until = time.monotonic() + PATIENCE
        while not holds():
            self.assertLess(time.monotonic(), until, "it did not come about")
            time.sleep(0.05)


class Telling(AlertCase):
    def test_tasks_that_fail_for_good_are_told_once_together_and_signed(self):
        hook = self.receiver()
        self.start({"hook": self.webhook(hook)}, {"r": f"channels: [hook], {FAILURES}"})
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

    def test_a_backlog_is_told_and_so_is_its_end(self):
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

    def test_a_failure_rate_is_told_and_so_is_its_end(self):
        hook = self.receiver()
        self.start({"hook": self.webhook(hook)}, {"r": "channels: [hook], failure_rate: 50%, min_attempts: 4, window: 3s"})
        for i in range(4):
            self.fail_task(key=str(i))
        told = self.data(hook)
        self.assertEqual((told["kind"], told["status"], told["count"], told["attempts"]), ("failure_rate", "firing", 4, 4))
        told = self.data(hook)
        self.assertEqual((told["kind"], told["status"]), ("failure_rate", "resolved"))

    def test_a_task_that_kills_its_workers_is_told(self):
        hook = self.receiver()
        # A lease that nobody renews is a worker that died.
        self.start({"hook": self.webhook(hook)}, {"r": "channels: [hook], quarantines: 1, wait: 0s"},
                   "lease: 500ms\nwindow: 200ms\ngrace: 500ms\nmax_crashes: 1\n")
        self.submit(key="poison")
        self.daemon.lease("pay")
        until = time.monotonic() + PATIENCE
        while hook.got.empty() and time.monotonic() < until:
            self.daemon.ask("POST", "/v1/leases", {"handlers": ["pay"], "wait_ms": 500})
        told = self.data(hook)
        self.assertEqual((told["kind"], told["tasks"][0]["key"]), ("quarantine", "poison"))

    def test_what_is_not_yet_told_is_told_when_the_daemon_stops(self):
        hook = self.receiver()
        self.start({"hook": self.webhook(hook)}, {"r": "channels: [hook], final_failures: 1, wait: 1h"})
        self.fail_task()
        self.assertEqual(self.daemon.stop(), 0)
        self.assertEqual(self.data(hook)["count"], 1)


class Rooms(AlertCase):
    def test_slack_is_told_in_plain_text(self):
        room = self.receiver("ok")
        self.start({"room": f"type: slack, url: {room.url}/services/{TOKEN}"}, {"r": f"channels: [room], {FAILURES}"})
        self.fail_task(key="<!channel>")
        path, headers, body = room.got.get(timeout=PATIENCE)
        self.assertEqual((path, headers["content-type"]), (f"/services/{TOKEN}", "application/json"))
        self.assertIn("key &lt;!channel&gt;", json.loads(body)["text"])
        self.eventually(lambda: self.counts("room") == (1, 0))

    def test_dingtalk_is_signed_in_the_query(self):
        room = self.receiver('{"errcode":0,"errmsg":"ok"}')
        self.start({"room": f"type: dingtalk, url: '{room.url}/robot/send?access_token={TOKEN}', "
                            f"secret_file: {self.file('robot', ROBOT_SECRET)}"}, {"r": f"channels: [room], {FAILURES}"})
        self.fail_task()
        path, _, body = room.got.get(timeout=PATIENCE)
        query = urllib.parse.parse_qs(urllib.parse.urlparse(path).query)
        [sent] = query["timestamp"]
        self.assertLess(abs(time.time() * 1000 - int(sent)), 60_000)
        right = hmac.new(ROBOT_SECRET.encode(), f"{sent}\n{ROBOT_SECRET}".encode(), hashlib.sha256).digest()
        self.assertEqual(query["sign"], [base64.b64encode(right).decode()])
        self.assertEqual(query["access_token"], [TOKEN])
        self.assertEqual(json.loads(body)["msgtype"], "text")
        self.eventually(lambda: self.counts("room") == (1, 0))

    def test_feishu_is_signed_in_the_body(self):
        room = self.receiver('{"code":0,"msg":"success"}')
        self.start({"room": f"type: feishu, url: {room.url}/open-apis/bot/v2/hook/{TOKEN}, "
                            f"secret_file: {self.file('robot', ROBOT_SECRET)}"}, {"r": f"channels: [room], {FAILURES}"})
        self.fail_task()
        body = json.loads(room.got.get(timeout=PATIENCE)[2])
        right = hmac.new(f"{body['timestamp']}\n{ROBOT_SECRET}".encode(), b"", hashlib.sha256).digest()
        self.assertEqual(body["sign"], base64.b64encode(right).decode())
        self.assertEqual(body["msg_type"], "post")
        self.eventually(lambda: self.counts("room") == (1, 0))

    def test_a_robot_that_refuses_in_a_200_is_counted_as_failed(self):
        room = self.receiver('{"errcode":93000,"errmsg":"invalid webhook url"}')
        self.start({"room": f"type: wecom, url: '{room.url}/cgi-bin/webhook/send?key={TOKEN}'"},
                   {"r": f"channels: [room], {FAILURES}"})
        self.fail_task()
        self.eventually(lambda: self.counts("room") == (0, 1))


class Mail(AlertCase):
    def certificate(self):
        files = [os.path.join(self.folder, name) for name in ("cert.pem", "key.pem")]
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=DNS:localhost", "-out", files[0], "-keyout", files[1]],
                       check=True, capture_output=True)
        return files

    def channel(self, url, more=""):
        return f"type: email, url: '{url}', from: retry@example.com, to: [ann@example.com, bob@example.com]{more}"

    def test_a_mail_arrives_whole_whatever_tasks_are_called(self):
        server = self.mail_server()
        handler = "pay\r\nBcc: everybody@example.com\r\n\r\nGrüße"
        self.start({"post": self.channel(f"smtp+plain://127.0.0.1:{server.port}")}, {"r": f"channels: [post], {FAILURES}"},
                   "defaults: {max_attempts: 1}\n")
        self.fail_task(handler, key=".dot\r\n.", error="ein Fehler: größer")
        sender, to, text, _, _ = server.got.get(timeout=PATIENCE)
        self.assertEqual((sender, to), ("retry@example.com", ["ann@example.com", "bob@example.com"]))
        mail = email.message_from_bytes(text, policy=email.policy.default)
        self.assertEqual(mail["Subject"], "[EasyRetry] pay  Bcc: everybody@example.com    Grüße: 1 task failed for good")
        self.assertIsNone(mail["Bcc"])
        self.assertEqual(mail["To"], "ann@example.com, bob@example.com")
        self.assertEqual(mail.defects, [])
        self.assertIn("(key .dot  .): ein Fehler: größer", mail.get_content())

    def test_starttls_and_tls_from_the_start_with_a_password(self):
        certificate = self.certificate()
        password = self.file("password", "pass-canary\n")
        more = f", user: retry, password_file: {password}, ca_file: {certificate[0]}"
        started = self.mail_server(certificate=certificate, password="pass-canary")
        all_along = self.mail_server(certificate=certificate, password="pass-canary", from_the_start=True)
        self.start({"a": self.channel(f"smtp://localhost:{started.port}", more),
                    "b": self.channel(f"smtps://localhost:{all_along.port}", more)}, {"r": f"channels: [a, b], {FAILURES}"})
        self.fail_task()
        for server in (started, all_along):
            _, _, _, user, encrypted = server.got.get(timeout=PATIENCE)
            self.assertEqual((user, encrypted), ("retry", True))

    def test_nothing_is_sent_in_the_open_or_to_somebody_else(self):
        self.file("easyretry.yaml", self.config({
            "bare": self.channel(f"smtp://localhost:{self.mail_server().port}"),
            "stranger": self.channel(f"smtps://localhost:"
                                     f"{self.mail_server(certificate=self.certificate(), from_the_start=True).port}"),
        }, {}))
        for name in ("bare", "stranger"):
            run = subprocess.run([PROGRAM, "alert", "test", name], cwd=self.folder, capture_output=True, text=True)
            self.assertEqual(run.returncode, 1, run.stdout)
            self.assertIn(f"channel {name} has not taken it", run.stderr)


class Trouble(AlertCase):
    def test_a_channel_that_never_answers_holds_up_neither_tasks_nor_others_nor_the_end(self):
        dead, alive = self.receiver(), self.receiver()
        dead.hold.clear()
        nobody = socket.create_server(("127.0.0.1", 0))  # takes connections, and says nothing
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
        server = self.mail_server(certificate=Mail.certificate(self), from_the_start=True, password="another one")
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
            self.assertIn(f"easyretry: channel {name} has not taken it: ", run.stderr)
            said += run.stdout + run.stderr
        checked = subprocess.run([PROGRAM, "config", "check"], cwd=self.folder, capture_output=True, text=True, check=True)
        said += checked.stdout + checked.stderr
        for secret in (TOKEN, ROBOT_SECRET, "pass-canary"):
            self.assertNotIn(secret, said)
        self.assertIn("10.0.0.1", said)  # the guard has something to say
        self.assertIn("***", said)

    def test_a_message_that_failed_is_logged_with_its_reason_and_counted(self):
        room = self.receiver("no_service", status=404)
        with open(os.path.join(self.folder, "log"), "w+") as log:
            text = self.config({"room": f"type: slack, url: {room.url}/services/{TOKEN}"},
                               {"r": f"channels: [room], {FAILURES}"}) + NO_RETRY
            kept = os.dup(2)
            os.dup2(log.fileno(), 2)  # the daemon inherits it
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
        self.assertIn('alerts: channel room has not taken "[EasyRetry] pay: 1 task failed for good" in 1 try: HTTP 404: '
                      "no_service", said)
        self.assertNotIn(TOKEN, said)

    def test_a_daemon_does_not_start_with_a_channel_that_cannot_work(self):
        self.file("easyretry.yaml", self.config(
            {"hook": "type: webhook, url: 'https://x.example/y', secret_file: /nowhere"}, {"r": f"channels: [hook], {FAILURES}"}))
        run = subprocess.run([PROGRAM, "serve"], cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(run.returncode, 1)
        self.assertIn("alerts.channels.hook: /nowhere has no secret to sign webhooks with", run.stderr)


class Command(AlertCase):
    def test_one_test_message_is_sent(self):
        room = self.receiver("ok")
        self.file("my.yaml", self.config({"room": f"type: slack, url: {room.url}/x"}, {})
                  + "server: {may_call: [127.0.0.1]}\n")
        run = subprocess.run([PROGRAM, "alert", "test", "room", "--config", "my.yaml"], cwd=self.folder, capture_output=True,
                             text=True, check=True)
        self.assertEqual(run.stdout, "channel room has taken a test message\n")
        self.assertIn("this is a test", room.got.get(timeout=PATIENCE)[2])

    def test_a_channel_that_is_not_there_is_named(self):
        self.file("my.yaml", self.config({"room": "type: slack, url: 'https://x/y'"}, {}))
        run = subprocess.run([PROGRAM, "alert", "test", "rum", "--config", "my.yaml"], cwd=self.folder, capture_output=True,
                             text=True)
        self.assertEqual((run.returncode, run.stderr),
                         (1, "easyretry: there is no channel rum under alerts.channels; there is: room\n"))


if __name__ == "__main__":
    unittest.main()
