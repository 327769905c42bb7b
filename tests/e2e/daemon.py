"""A running `easyretry serve` for tests, by default on SQLite in its own folder."""
import http.client
import json
import os
import re
import resource
import signal
import subprocess


class Daemon:
    """One run of the program. Several runs can use one folder, one after the other."""

    def __init__(self, program, folder, config="", server="", store="sqlite:retry.db", stderr=None, port=0, descriptors=None):
        with open(os.path.join(folder, "easyretry.yaml"), "w") as file:
            file.write(f"store: {store}\nserver: {{listen: '127.0.0.1:{port}'{server}}}\n{config}")
        limit = descriptors and (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors)))
        self.process = subprocess.Popen([program, "serve"], cwd=folder, stdout=subprocess.PIPE, stderr=stderr, text=True,
                                        preexec_fn=limit)
        self.said = ""  # its output before it was ready
        self.port = self.port_said()
        with open(os.path.join(folder, "easyretry.tokens.first")) as file:
            self.token = file.read().strip()

    def port_said(self):
        for line in self.process.stdout:
            self.said += line
            if found := re.search(r"serves https?://127\.0\.0\.1:(\d+)", line):
                return int(found.group(1))
        raise RuntimeError(f"it did not start: {self.process.wait()}")

    def ask(self, *request, **more):
        """(status, answer) of one request."""
        status, _, body = self.ask_for_text(*request, **more)
        return status, json.loads(body or "null")

    def ask_for_text(self, method, path, body=None, token=None, headers=None):
        """(status, content type, text) of one request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            text = body if isinstance(body, (str, bytes, type(None))) else json.dumps(body)
            sent = {"Authorization": f"Bearer {token or self.token}", **(headers or {})}
            connection.request(method, path, text, {name: value for name, value in sent.items() if value is not None})
            answer = connection.getresponse()
            return answer.status, answer.getheader("Content-Type"), answer.read().decode()
        finally:
            connection.close()

    def lease(self, handler="mail", **more):
        status, answer = self.ask("POST", "/v1/leases", {"handlers": [handler], "wait_ms": 10_000, **more})
        assert status == 200, answer
        return answer["tasks"]

    def kill(self):
        self.process.kill()
        self.end()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.end()

    def end(self):
        code = self.process.wait(timeout=60)
        self.process.stdout.close()
        return code
