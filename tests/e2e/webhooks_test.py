"""Handlers behind a URL, called by easyretry serve. Usage: webhooks_test.py EASYRETRY_PROGRAM"""
import base64
import hmac
import http.server
import json
import os
import socket
import threading
import unittest

from daemon_case import DaemonCase
from waiting import until


class Webhooks(DaemonCase):
    def test_a_handler_behind_a_url_is_called_signed_and_judged_by_its_answer(self):
        secret = base64.b64encode(os.urandom(32)).decode()
        with open(os.path.join(self.folder.name, "pay.secrets"), "w") as file:
            file.write(f"whsec_{secret}\n")
        answers = {"ann": [(503, b"later"), (200, b'{"code": 200}')], "bob": [(410, b"gone")]}
        calls = []

        class Shop(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                calls.append((dict(self.headers), body))
                status, text = answers[json.loads(body)].pop(0)
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        shop = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Shop)
        threading.Thread(target=shop.serve_forever, daemon=True).start()
        try:
            url = f"http://127.0.0.1:{shop.server_port}/pay"
            daemon = self.start(
                f"handlers:\n  pay: {{url: '{url}', secrets_file: pay.secrets, success_when: result.code == 200, "
                "backoff: 'fixed delay=10ms'}\n", server=", may_call: [127.0.0.1]")
            for name in ("ann", "bob"):
                daemon.ask("POST", "/v1/tasks", {"handler": "pay", "key": name, "args": [name]})
            ended = self.ended(daemon, 2)
        finally:
            shop.shutdown()
            shop.server_close()
        self.assertEqual({task["key"]: (task["outcome"], task["attempts"]) for task in ended},
                         {"ann": ("succeeded", 2), "bob": ("rejected", 1)})
        for headers, body in calls:
            text = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
            expected = base64.b64encode(hmac.digest(base64.b64decode(secret), text, "sha256")).decode()
            self.assertEqual(headers["webhook-signature"], f"v1,{expected}")

    def test_a_url_that_leads_into_our_own_network_is_not_called_and_not_retried(self):
        with open(os.path.join(self.folder.name, "pay.secrets"), "w") as file:
            file.write(f"whsec_{base64.b64encode(os.urandom(32)).decode()}\n")
        # A host name, because the daemon would refuse an address at the start. This machine's name leads to no public address.
        daemon = self.start(f"handlers:\n  pay: {{url: 'http://{socket.gethostname()}:1/pay', secrets_file: pay.secrets, max_attempts: 5}}\n")
        daemon.ask("POST", "/v1/tasks", {"handler": "pay"})
        [task] = self.ended(daemon, 1)
        self.assertEqual((task["outcome"], task["attempts"]), ("rejected", 1))
        self.assertRegex(task["last_error"], "may not be called.* to server.may_call")

    def ended(self, daemon, number):
        def all_of_them():
            tasks = daemon.ask("GET", "/v1/history")[1]["tasks"]
            return tasks if len(tasks) == number else None
        return until(all_of_them, what="they did not end")


if __name__ == "__main__":
    unittest.main()
