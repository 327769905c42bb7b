"""Base class for tests of alerts: a daemon with channels and rules, tasks that fail, and receivers of the alerts."""
import json
import os
import queue
import subprocess
import sys
import tempfile
import unittest

import prometheus_text
from alert_receivers import HttpReceiver, MailServer
from daemon import Daemon
from waiting import until

PROGRAM = os.path.abspath(sys.argv.pop(1))
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
ROBOT_SECRET = "SECgeheim-canary"
TOKEN = "token-canary-1234567"
PATIENCE = 30  # seconds; a test normally needs only a few
QUIET = 3  # seconds in which no alert may arrive
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

    def certificate(self):
        files = [os.path.join(self.folder, name) for name in ("cert.pem", "key.pem")]
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=DNS:localhost", "-out", files[0], "-keyout", files[1]],
                       check=True, capture_output=True)
        return files

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
        until(holds, PATIENCE)
