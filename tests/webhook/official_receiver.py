#!/usr/bin/env python3
"""A receiver that leaves all verification to the official package: official_receiver.py SECRET"""
import http.server
import sys
import urllib.parse

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

WEBHOOK = Webhook(sys.argv[1])


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        try:
            WEBHOOK.verify(body, {name.lower(): value for name, value in self.headers.items()})
        except WebhookVerificationError:
            status = 401
        else:
            status = 200
            print(urllib.parse.unquote(self.headers["easyretry-task-key"]), body.decode(), flush=True)
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
print("listening at", server.server_port, flush=True)
server.serve_forever()
