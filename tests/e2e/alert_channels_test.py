"""Alerts in the format of each product: chat rooms over real HTTP, e-mail over real SMTP.
Usage: alert_channels_test.py EASYRETRY_PROGRAM"""
import base64
import email
import email.policy
import hashlib
import hmac
import json
import subprocess
import time
import unittest
import urllib.parse

from alert_case import FAILURES, PATIENCE, PROGRAM, ROBOT_SECRET, TOKEN, AlertCase


class Rooms(AlertCase):
    def test_slack_gets_plain_text(self):
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
        self.assertEqual(mail["Subject"], "[EasyRetry] pay  Bcc: everybody@example.com    Grüße: 1 final failure")
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

    def test_nothing_is_sent_unencrypted_or_to_the_wrong_server(self):
        self.file("easyretry.yaml", self.config({
            "bare": self.channel(f"smtp://localhost:{self.mail_server().port}"),
            "stranger": self.channel(f"smtps://localhost:"
                                     f"{self.mail_server(certificate=self.certificate(), from_the_start=True).port}"),
        }, {}))
        for name in ("bare", "stranger"):
            run = subprocess.run([PROGRAM, "alert", "test", name], cwd=self.folder, capture_output=True, text=True)
            self.assertEqual(run.returncode, 1, run.stdout)
            self.assertIn(f"channel {name} did not accept the message", run.stderr)


if __name__ == "__main__":
    unittest.main()
