"""The log of easyretry serve: levels, formats, times and the ids of requests. Usage: log_test.py EASYRETRY_PROGRAM"""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

from waiting import eventually

PROGRAM = os.path.abspath(sys.argv.pop(1))
LINE = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z easyretry: (debug|info|warning|error): (.+)$")
EVIL = "c4n4ry\n2026-01-01T00:00:00.000Z easyretry: error: forged\r\x1b[2J\x7f\x85\u2028\u202e\"}"


class Log(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def read(self, name):
        with open(os.path.join(self.folder, name), newline="") as file:
            return file.read()

    def configure(self, config):
        with open(os.path.join(self.folder, "easyretry.yaml"), "w") as file:
            file.write("server: {listen: '127.0.0.1:0'}\n" + config)

    def start(self, *arguments, config="", **environment):
        self.configure(config)
        for name in ("stdout", "stderr"):
            file = open(os.path.join(self.folder, name), "w")
            self.addCleanup(file.close)
            setattr(self, name, file)
        self.process = subprocess.Popen([PROGRAM, "serve", *arguments], cwd=self.folder, stdout=self.stdout, stderr=self.stderr,
                                        env={**os.environ, **environment})
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)
        self.assertTrue(eventually(lambda: "serves http" in self.read("stdout") + self.read("stderr")), self.read("stderr"))
        self.port = int(re.search(r"serves http://127\.0\.0\.1:(\d+)", self.read("stdout") + self.read("stderr")).group(1))
        self.token = self.read("easyretry.tokens.first").strip()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(timeout=60), 0)

    def ask(self, path, headers=None, method="GET"):
        """(status, id in the header, answer)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, headers={"Authorization": f"Bearer {self.token}", **(headers or {})})
            answer = connection.getresponse()
            return answer.status, answer.getheader("X-Request-Id"), json.loads(answer.read() or "null")
        finally:
            connection.close()

    def lines(self):
        """(level, text) of each log line so far."""
        found = []
        for line in self.read("stderr").split("\n")[:-1]:
            self.assertRegex(line, LINE)
            found.append(LINE.match(line).groups())
        return found

    def events(self):
        """The JSON objects of the log so far, for a log in JSON."""
        return [json.loads(line) for line in self.read("stderr").split("\n")[:-1]]

    def test_a_line_has_a_time_a_level_and_the_documented_fields(self):
        self.start()
        [store] = [line for line in self.lines() if "an acknowledged task survives" in line[1]]
        self.assertEqual(store[0], "info")

    def test_a_request_that_is_refused_is_in_the_log_with_the_id_of_its_answer(self):
        self.start()
        status, header, answer = self.ask("/v1/tasks/17", {"X-Request-Id": "mine-1.a_B"})
        self.assertEqual((status, header, answer["error"]["request_id"]), (404, "mine-1.a_B", "mine-1.a_B"))
        self.assertIn(("info", "request mine-1.a_B: GET /v1/tasks/17 from 127.0.0.1: 404 not_found: there is no task 17 in this namespace"), self.lines())
        for given in ("with space", "x" * 65, "semi;colon", None):
            status, header, answer = self.ask("/v1/nothing", {"X-Request-Id": given} if given else {})
            self.assertEqual((status, answer["error"]["request_id"]), (404, header))
            self.assertRegex(header, "^[0-9a-f]{16}$")
            self.assertIn(f"request {header}: GET /v1/nothing", self.read("stderr"))

    def test_so_is_one_that_is_not_even_http(self):
        self.start()
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as connection:
            connection.sendall(b"GET /v1/tasks HTTP/1.1\r\n\r\n")
            answer = connection.recv(65536).decode()
        given = re.search("X-Request-Id: ([0-9a-f]{16})", answer).group(1)
        self.assertIn(f"info: request {given}: a request from 127.0.0.1: 400 bad_request: there is no Host", self.read("stderr"))

    def test_a_request_that_is_served_is_in_the_log_only_at_debug(self):
        self.start()
        self.assertEqual(self.ask("/v1/tasks")[0], 200)
        self.assertNotIn("/v1/tasks", self.read("stderr"))
        self.stop()
        self.start("--log-level", "debug")
        _, header, _ = self.ask("/v1/tasks")
        self.assertIn(("debug", f"request {header}: GET /v1/tasks from 127.0.0.1: 200"), self.lines())

    def test_a_level_leaves_out_lower_ones(self):
        for arguments, more in ((["--log-level", "warning"], {}), ([], {"config": "log: {level: warning}\n"}),
                                ([], {"EASYRETRY_LOG_LEVEL": "warning"}), (["--log-level", "warning"], {"EASYRETRY_LOG_LEVEL": "debug"})):
            with self.subTest(arguments=arguments, more=more):
                self.start(*arguments, **more)
                self.ask("/v1/nothing")
                self.stop()
                self.assertEqual(self.read("stderr"), "")

    def test_a_line_of_json_is_an_object_whatever_it_says(self):
        self.start(config="log: {format: json}\n")
        status, header, _ = self.ask("/v1/" + urllib.parse.quote(EVIL, safe=""))
        self.assertEqual(status, 404)
        [event] = [event for event in self.events() if event.get("request_id") == header]
        self.assertEqual((event["level"], sorted(event)), ("info", ["level", "message", "request_id", "time"]))
        self.assertIn(EVIL, event["message"])
        self.assertRegex(event["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        self.stop()
        text = self.read("stderr")
        self.assertEqual([c for c in text if (ord(c) < 0x20 and c != "\n") or 0x7F <= ord(c) < 0xA0 or c in "\u2028\u202e"], [])
        self.assertEqual(self.read("stdout"), "", "there is one stream of events")
        said = " ".join(event["message"] for event in self.events())
        self.assertIn("easyretry serves http://127.0.0.1", said)
        self.assertIn("stopping", said)

    def test_a_line_of_text_is_one_whatever_it_says(self):
        self.start()
        self.ask("/v1/" + urllib.parse.quote(EVIL, safe=""))
        self.assertIn("c4n4ry", self.lines()[-1][1])
        self.assertEqual(self.lines()[-1][0], "info")

    def test_a_flood_of_refusals_does_not_fill_the_disk(self):
        self.start()
        for _ in range(300):
            self.assertEqual(self.ask("/v1/tasks", {"Authorization": ""})[0], 401)
        refused = [text for _, text in self.lines() if "unauthorized" in text]
        self.assertLess(len(refused), 250)
        self.assertTrue(eventually(lambda: self.ask("/v1/nothing")[0] == 404 and "similar requests before this one" in self.read("stderr")))

    def test_a_reload_is_in_the_log(self):
        self.start("--log-format", "json")
        self.configure("defaults: {max_attempts: 3}\n")
        self.process.send_signal(signal.SIGHUP)
        self.assertTrue(eventually(lambda: "the configuration was reloaded" in self.read("stderr")))
        self.assertIn("configuration, defaults.max_attempts:", self.read("stderr"))
        self.configure("workerz: 3\nlease: soon\n")
        self.process.send_signal(signal.SIGHUP)
        self.assertTrue(eventually(lambda: "not changed" in self.read("stderr")))
        self.assertEqual(self.events()[-1]["level"], "error")
        self.assertIn("workerz: unknown key", self.events()[-1]["message"])

    def test_an_unknown_level_or_format_is_refused(self):
        for arguments, code, said in ((["serve", "--log-level", "warn"], 2, 'unknown value "warn"; known: debug, info, warning, error'),
                                      (["config", "check"], 1, 'log.level: "loud" is unknown')):
            self.configure("log: {level: loud}\n")
            ran = subprocess.run([PROGRAM, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual((ran.returncode, ran.stdout), (code, ""), ran.stderr)
            self.assertIn(said, ran.stderr)


if __name__ == "__main__":
    unittest.main()
