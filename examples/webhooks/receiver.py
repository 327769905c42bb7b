#!/usr/bin/env python3
"""A handler behind a URL, in Python without packages: receiver.py PORT SECRET"""
import base64
import hashlib
import hmac
import http.server
import sys
import time
import urllib.parse


def verified(secret, headers, body):
    """body: the bytes as they came, before they are read as JSON"""
    message, sent = headers["webhook-id"], headers["webhook-timestamp"]
    if abs(time.time() - int(sent)) > 300:
        return False  # too old: it may be a replay
    key = base64.b64decode(secret.removeprefix("whsec_"))
    right = hmac.new(key, f"{message}.{sent}.".encode() + body, hashlib.sha256).digest()
    right = b"v1," + base64.b64encode(right)
    return any(hmac.compare_digest(right, given.encode()) for given in headers["webhook-signature"].split())


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keeps connections open for the next call

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        good = verified(sys.argv[2], self.headers, body)
        if good:
            print(urllib.parse.unquote(self.headers["easyretry-task-key"]), body.decode(), flush=True)
        self.send_response(200 if good else 401)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver)
    print("listening at", server.server_port, flush=True)
    server.serve_forever()
