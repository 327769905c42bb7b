"""Every secret here is a canary. The tests search everything that the program prints, serves or writes for them.
Usage: secrets_test.py EASYRETRY_PROGRAM"""
import base64
import http.client
import http.server
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.parse

from daemon import Daemon
from waiting import eventually, until

PROGRAM = os.path.abspath(sys.argv.pop(1))
PASSWORD = "c4n4ry-password"
SIGNING = base64.b64encode(b"c4n4ry-signing-secret-of-32bytes").decode()
ARGUMENT = "c4n4ry-argument"
ROOM = "/c4n4ry-room"
PLACE = "c4n4ry-path/x?code=c4n4ry-query"  # the path of a webhook: a client that knows it can call it, too


class Receiver(http.server.BaseHTTPRequestHandler):
    """Refuses every webhook except alerts, and repeats the path in its answer, as careless receivers do."""

    heard = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        Receiver.heard.append(f"{self.headers}{body.decode()}")
        self.send_response(200 if self.path == ROOM else 500)
        self.end_headers()
        self.wfile.write(f"nobody wants this at {self.path}".encode())

    def log_message(self, *_):
        pass


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Secrets(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(self.folder.cleanup)
        self.seen = {}  # {where: text that was seen there}

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_program(self, *arguments, **environment):
        done = subprocess.run([PROGRAM, *arguments], cwd=self.folder.name, capture_output=True, text=True, timeout=60, check=False,
                              env={**os.environ, **environment})
        self.seen[f"easyretry {' '.join(arguments)[:60]}, {len(self.seen)}"] = done.stdout + done.stderr
        return done

    def file(self, name):
        with open(self.path(name), "rb") as file:
            self.seen[name] = file.read().decode("latin-1")

    def assert_nowhere(self, *secrets):
        self.assertTrue(self.seen)
        for where, text in self.seen.items():
            for secret in secrets:
                self.assertNotIn(secret, text, f"a secret is in {where}")

    def start(self, config="", server=""):
        """A daemon whose output goes to files."""
        log = open(self.path("stderr"), "w")
        self.addCleanup(log.close)
        daemon = Daemon(PROGRAM, self.folder.name, config, server, stderr=log)
        self.addCleanup(lambda: daemon.process.poll() is None and daemon.kill())
        return daemon

    def stop(self, daemon):
        said = []
        reading = threading.Thread(target=lambda: said.append(daemon.process.stdout.read()))
        reading.start()
        daemon.process.terminate()
        self.assertEqual(daemon.process.wait(timeout=60), 0)
        reading.join()
        daemon.process.stdout.close()
        self.seen["stdout"] = daemon.said + said[0]
        self.file("stderr")

    def ask_everything(self, daemon, token):
        for method, path, body in [
                ("GET", "/metrics", None), ("GET", "/v1/tasks", None), ("GET", "/v1/history", None), ("GET", "/v1/handlers", None),
                ("GET", "/v1/cluster", None), ("GET", "/readyz", None), ("GET", "/v1/nothing", None), ("DELETE", "/v1/tasks", None),
                ("POST", "/v1/tasks", "{"), ("POST", "/v1/tasks", {"handler": ""}), ("POST", "/v1/tasks/1/cancel", None),
                ("GET", "/v1/tasks?limit=x", None), ("POST", "/v1/leases/1/done", {"version": 1})]:
            _, _, text = daemon.ask_for_text(method, path, body, token=token)
            self.seen[f"{method} {path} {body}"] = text

    def test_tokens_and_signing_secrets_are_nowhere_to_be_read(self):
        receiver = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
        threading.Thread(target=receiver.serve_forever, daemon=True).start()
        self.addCleanup(receiver.server_close)
        self.addCleanup(receiver.shutdown)
        with open(self.path("hook.secrets"), "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(f"whsec_{SIGNING}\n")
        place = f"http://127.0.0.1:{receiver.server_port}/?token=c4n4ry-query"
        daemon = self.start(f"handlers:\n  hook: {{url: '{place}', secrets_file: hook.secrets, max_attempts: 2, backoff: 'fixed delay=10ms'}}\n",
                            ", audit: audit.jsonl, may_call: [127.0.0.1]")
        made = self.run_program("token", "create", "ops", "--role", "operator")
        operator = made.stdout.strip()
        self.seen.popitem()  # the token is printed this once, for its owner
        daemon.ask("POST", "/v1/tasks", {"handler": "hook", "args": [ARGUMENT]})
        _, task = daemon.ask("POST", "/v1/tasks", {"handler": "fetched", "args": [ARGUMENT]})
        eventually(lambda: daemon.ask("GET", "/v1/history")[1]["tasks"], seconds=30)
        self.assertTrue(Receiver.heard, "the webhook was called")
        daemon.ask("POST", f"/v1/tasks/{task['id']}/cancel", token=operator)
        self.ask_everything(daemon, daemon.token)
        self.ask_everything(daemon, operator)
        self.run_program("config", "check")
        self.run_program("token", "list")
        self.run_program("tasks", "list", "--server", f"http://127.0.0.1:{daemon.port}", EASYRETRY_TOKEN=operator)
        self.run_program("tasks", "list", "--server", f"http://127.0.0.1:{free_port()}", EASYRETRY_TOKEN=operator)
        self.run_program("tasks", "cancel", "1", "--server", f"http://127.0.0.1:{daemon.port}", EASYRETRY_TOKEN=operator + "x")
        self.stop(daemon)
        self.file("audit.jsonl")
        self.assertIn("cancel", self.seen["audit.jsonl"])
        self.assert_nowhere(ARGUMENT)
        self.file("retry.db")
        self.file("easyretry.tokens")
        self.seen["the receiver"] = "".join(Receiver.heard)
        self.assert_nowhere(daemon.token, daemon.token[3:], operator, operator[3:], SIGNING, "c4n4ry-signing")
        for where in ("stdout", "stderr", "audit.jsonl", "retry.db", "GET /metrics None", "GET /v1/history None"):
            self.assertNotIn("c4n4ry-query", self.seen[where], where)

    def receiver(self):
        receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
        threading.Thread(target=receiver.serve_forever, daemon=True).start()
        self.addCleanup(receiver.server_close)
        self.addCleanup(receiver.shutdown)
        return f"http://127.0.0.1:{receiver.server_port}"

    def watch_events(self, daemon):
        """Collects the events from now on, until the daemon ends."""
        def watch():
            try:
                while line := answer.readline():
                    self.seen["events"] += line.decode()
            except OSError:
                pass
        self.seen["events"] = ""
        connection = http.client.HTTPConnection("127.0.0.1", daemon.port)
        connection.request("GET", "/v1/events", headers={"Authorization": f"Bearer {daemon.token}"})
        answer = connection.getresponse()
        threading.Thread(target=watch, daemon=True).start()

    def webhooks_config(self, receiver):
        urls = {"repeats": f"{receiver}/{PLACE}", "refused": f"http://{socket.gethostname()}:1/{PLACE}",
                "closed": f"http://127.0.0.1:{free_port()}/{PLACE}", "unknown": f"http://nowhere.invalid/{PLACE}"}
        handlers = "".join(f"  {name}: {{url: '{url}', secrets_file: hook.secrets, max_attempts: 1}}\n" for name, url in urls.items())
        return urls, (f"handlers:\n{handlers}alerts:\n  channels: {{ops: {{type: slack, url: '{receiver}{ROOM}'}}}}\n"
                      "  rules: {all: {channels: [ops], final_failures: 1, wait: 1s}}\n")

    def test_the_place_of_a_webhook_is_nowhere_to_be_read(self):
        with open(self.path("hook.secrets"), "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(f"whsec_{SIGNING}\n")
        Receiver.heard.clear()
        urls, config = self.webhooks_config(self.receiver())
        allowed = [urllib.parse.urlsplit(urls[name]).netloc for name in ("repeats", "closed")]
        daemon = self.start(config, f", audit: audit.jsonl, may_call: {allowed}")
        self.watch_events(daemon)
        for name in urls:
            daemon.ask("POST", "/v1/tasks", {"handler": name, "args": [name]})
        until(lambda: len(daemon.ask("GET", "/v1/history")[1]["tasks"]) == len(urls))
        until(lambda: sum("final failure" in one for one in Receiver.heard) == len(urls))
        errors = {task["handler"]: task["last_error"] for task in daemon.ask("GET", "/v1/history")[1]["tasks"]}
        self.assertIn("nobody wants", errors["repeats"])
        self.assertIn("may not be called", errors["refused"])
        self.assertIn("could not connect", errors["closed"])
        self.assertIn("nowhere.invalid", errors["unknown"])
        self.ask_everything(daemon, daemon.token)
        self.run_program("config", "check")
        for words in (["history", "list"], ["history", "list", "--json"], ["handlers"], ["doctor"]):
            self.run_program(*words, "--server", f"http://127.0.0.1:{daemon.port}", EASYRETRY_TOKEN=daemon.token)
        self.change_a_url(daemon)
        self.stop(daemon)
        for name in ("audit.jsonl", "retry.db"):
            self.file(name)
        self.seen["alerts"] = "".join(one for one in Receiver.heard if "final failure" in one)
        self.assertIn("gave_up", self.seen["events"])
        self.assertIn("handlers.repeats.url", self.seen["stdout"])
        self.assert_nowhere("c4n4ry-path", "c4n4ry-query", "c4n4ry-room")

    def change_a_url(self, daemon):
        with open(self.path("easyretry.yaml")) as file:
            text = file.read()
        with open(self.path("easyretry.yaml"), "w") as file:
            file.write(text.replace("c4n4ry-query", "c4n4ry-query-2"))
        daemon.process.send_signal(signal.SIGHUP)
        while "was reloaded" not in (line := daemon.process.stdout.readline()):
            self.assertTrue(line, "it ended")
            daemon.said += line

    def test_a_webhook_with_a_password_is_refused_without_it(self):
        for url in (f"https://joe:{PASSWORD}@h.example/x", f"ftp://joe:{PASSWORD}@h.example/x", f"https://joe:{PASSWORD}/x@h.example"):
            with open(self.path("easyretry.yaml"), "w") as file:
                file.write(f"server: {{listen: '127.0.0.1:0'}}\nhandlers: {{pay: {{url: '{url}', secrets_file: none}}}}\n")
            self.assertNotEqual(self.run_program("serve").returncode, 0, url)
            self.assertNotEqual(self.run_program("config", "check").returncode, 0, url)
        self.assert_nowhere(PASSWORD)

    @unittest.skipUnless(shutil.which("redis-server"), "there is no redis-server")
    def test_the_password_of_a_store_is_nowhere_to_be_read(self):
        port = free_port()
        redis = subprocess.Popen(["redis-server", "--port", str(port), "--requirepass", PASSWORD, "--dir", self.folder.name,
                                  "--appendonly", "yes"], stdout=subprocess.DEVNULL)
        self.addCleanup(redis.wait)
        self.addCleanup(redis.kill)

        def listens():
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", port)) == 0
        until(listens)
        url = f"redis://:{PASSWORD}@127.0.0.1:{port}/0"
        with open(self.path("stderr"), "w") as log:
            daemon = Daemon(PROGRAM, self.folder.name, store=url, stderr=log)
        self.addCleanup(lambda: daemon.process.poll() is None and daemon.kill())
        self.assertEqual(daemon.ask("POST", "/v1/tasks", {"handler": "mail"})[0], 201)
        self.ask_everything(daemon, daemon.token)
        self.run_program("config", "check")
        self.run_program("tasks", "list", "--store", url)
        self.run_program("cluster", "--store", url)
        self.stop(daemon)
        redis.kill()
        redis.wait()
        self.run_program("tasks", "list", "--store", url)
        self.run_program("serve", "--store", url)
        self.assert_nowhere(PASSWORD)

    def test_a_store_that_cannot_be_opened_is_named_without_its_password(self):
        with open(self.path("easyretry.yaml"), "w") as file:
            file.write("server: {listen: '127.0.0.1:0'}\n")
        port = free_port()
        for url in (f"postgres://app:{PASSWORD}@127.0.0.1:{port}/retry", f"postgres://app:{PASSWORD}@127.0.0.1:{port}/retry?sslmod=x",
                    f"postgres://app:{PASSWORD}/x@127.0.0.1:{port}/retry", f"mysql://app:{PASSWORD}@127.0.0.1:{port}/retry",
                    f"mysql://app:{PASSWORD}@127.0.0.1:no/retry", f"redis://:{PASSWORD}@127.0.0.1:{port}/0",
                    f"redis+sentinel://:{PASSWORD}@127.0.0.1:{port}/main", f"redis+cluster://:{PASSWORD}@127.0.0.1:{port}",
                    f"mysql://app:{PASSWORD}/x@127.0.0.1:{port}/retry", f"redis://:{PASSWORD}/x@127.0.0.1:{port}/0",
                    f"redis+cluster://:{PASSWORD}/x@127.0.0.1:{port}", f"oracle://app:{PASSWORD}@db/x"):
            self.assertEqual(self.run_program("serve", "--store", url).returncode, 1, url)
            self.assertNotEqual(self.run_program("tasks", "list", "--store", url).returncode, 0, url)
            self.assertNotEqual(self.run_program("serve", EASYRETRY_STORE=url).returncode, 0, url)
        self.run_program("serve", EASYRETRY_MEMBERSHIP=f"nacos://app:{PASSWORD}@127.0.0.1:{port}/x?oops=1")
        self.run_program("config", "check", EASYRETRY_STORE=f"postgres://app:{PASSWORD}@db/retry")
        self.assert_nowhere(PASSWORD)


if __name__ == "__main__":
    unittest.main()
