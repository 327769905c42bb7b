"""Names, keys, errors and paths with line ends and terminal control sequences: a line of a log or a table stays one line,
and no control sequence reaches a terminal. Usage: log_forging_test.py EASYRETRY_PROGRAM"""
import json
import os
import subprocess
import unittest
import urllib.parse

from alert_receivers import HttpReceiver
from daemon import Daemon
from daemon_case import PROGRAM, DaemonCase
from waiting import eventually, until

FORGED = "easyretry: error: forged"
# Line ends of every kind, and sequences that clear the screen (with one introducing character or two), set the title, move the cursor
# back or reverse the direction of writing.
EVIL = f"c4n4ry\n{FORGED}\r\n\v\f\x1b[2J\x1b]0;mine\x07\x08\x7f\x9b2J\x85\u2028\u2029\u202e"
OBEYED = {*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0)), *"\u2028\u2029\u202e"} - {"\n"}


class LogForging(DaemonCase):
    def path(self, name):
        return os.path.join(self.folder.name, name)

    def start(self, config="", server=""):
        log = open(self.path("stderr"), "a")
        self.addCleanup(log.close)
        self.daemon = Daemon(PROGRAM, self.folder.name, config, f", audit: audit.jsonl{server}", stderr=log)
        return self.daemon

    def read(self, name):
        with open(self.path(name), newline="") as file:
            return file.read()

    def cli(self, *words):
        """(stdout, stderr) of a command."""
        ran = subprocess.run([PROGRAM, *words, "--server", f"http://127.0.0.1:{self.daemon.port}"], cwd=self.folder.name, capture_output=True,
                             check=False, env=os.environ | {"EASYRETRY_TOKEN": self.daemon.token})
        return ran.stdout.decode(), ran.stderr.decode()

    def assert_harmless(self, text, lines=None):
        self.assertEqual(OBEYED & set(text), set(), repr(text[:2000]))
        self.assertFalse([line for line in text.split("\n") if line.startswith(FORGED)], text)
        if lines is not None:
            self.assertEqual(len(text.split("\n")) - 1, lines, text)

    def submit(self, handler=EVIL, **more):
        status, made = self.daemon.ask("POST", "/v1/tasks", {"handler": handler, "key": EVIL, "business_type": EVIL, "business_id": EVIL,
                                                             "tags": [EVIL.replace(FORGED, "")], **more})
        self.assertEqual(status, 201, made)
        return made["id"]

    def quarantine(self):
        """Quarantines a task. The daemon logs that, with the handler, the key and the error."""
        task = self.submit()
        [leased] = self.daemon.lease(EVIL)
        settled = {"id": task, "version": leased["version"], "kind": "finish", "outcome": "quarantined", "error": EVIL}
        self.assertEqual(self.daemon.ask("POST", "/v1/leases/settle", {"tasks": [settled]})[1], {"applied": [True]})
        return task

    def wait_for(self, name, words):
        until(lambda: words in self.read(name), what=lambda: self.read(name))

    def test_a_line_of_the_daemons_log_stays_one(self):
        self.start()
        self.quarantine()
        self.wait_for("stderr", "ended as quarantined")
        self.submit()
        self.daemon.stop()
        self.start()  # no worker has asked this run for tasks of this handler yet
        self.wait_for("stderr", "wait for a handler named")
        self.assert_harmless(self.read("stderr"))
        for line in self.read("stderr").splitlines():
            self.assertRegex(line, r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z easyretry: (info|warning): ")
        self.assertIn("c4n4ry", self.read("stderr"))

    def test_a_line_of_the_audit_log_stays_one(self):
        daemon = self.start()
        name = urllib.parse.quote(EVIL, safe="")
        for path, body in ((f"/v1/tasks/{name}/cancel", None), (f"/v1/handlers/{name}/pause", {"why": EVIL}), ("/v1/bulk", EVIL.encode()),
                           (f"/v1/handlers/{name}/resume", None)):
            self.assertLess(daemon.ask("POST", path, body)[0], 500)
        self.assertEqual(daemon.ask("POST", "/v1/bulk", EVIL.encode() + b"\xff\xc2")[0], 400)
        self.assert_harmless(self.read("audit.jsonl"), lines=5)
        entries = [json.loads(line) for line in self.read("audit.jsonl").splitlines()]
        self.assertEqual(entries[0]["request"], f"POST /v1/tasks/{EVIL}/cancel", "and it says what was asked for")
        self.assertEqual(entries[2]["said"], EVIL)

    def test_tables_and_sheets_in_a_terminal_stay_as_they_are(self):
        self.start()
        ended = self.quarantine()
        live = self.submit(handler=EVIL + "2")
        self.daemon.ask("POST", f"/v1/handlers/{urllib.parse.quote(EVIL, safe='')}/pause", {"why": EVIL})
        for words in (["tasks", "list"], ["history", "list"], ["handlers"]):
            shown, said = self.cli(*words)
            self.assertIn("c4n4ry", shown)
            self.assert_harmless(shown, lines=3 if words == ["handlers"] else 2)
            self.assert_harmless(said)
        for words in (["tasks", "show", ended], ["tasks", "show", live]):
            shown, said = self.cli(*words)
            self.assertIn("c4n4ry", shown)
            self.assert_harmless(shown + said)
        for words in (["tasks", "list", "--json"], ["history", "list", "--json"], ["tasks", "show", ended, "--json"], ["handlers", "--json"]):
            shown, _ = self.cli(*words)
            self.assert_harmless(shown, lines=1)
            self.assertIn(EVIL, [*self.texts(json.loads(shown))], "and it means what was said")
        for words in (["tasks", "show", EVIL], ["tasks", "cancel", EVIL], ["tasks", "list", "--state", EVIL], ["handlers", "resume", "x" * 201 + EVIL], ["handlers", "pause", EVIL],
                      [EVIL]):
            self.assert_harmless("".join(self.cli(*words)))

    def texts(self, value):
        """All texts in a JSON value."""
        if isinstance(value, str):
            yield value
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
            yield from self.texts(inner)

    def test_events_in_a_terminal_are_a_line_each(self):
        self.start()
        with subprocess.Popen([PROGRAM, "events", "--server", f"http://127.0.0.1:{self.daemon.port}"], stdout=subprocess.PIPE,
                              env=os.environ | {"EASYRETRY_TOKEN": self.daemon.token}) as watching:
            try:
                line = b""
                os.set_blocking(watching.stdout.fileno(), False)

                def told():
                    nonlocal line
                    line += watching.stdout.read() or b""
                    return b"quarantined" in line
                for _ in range(100):  # the command starts to watch at an unknown moment
                    self.quarantine()
                    if eventually(told, seconds=0.3):
                        break
            finally:
                watching.kill()
        text = line.decode()
        self.assertIn("quarantined", text)
        self.assert_harmless(text)
        for one in text.splitlines():
            self.assertRegex(one, r"^(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d  \w+")

    def test_a_label_of_a_metric_is_in_its_line(self):
        self.start()
        self.quarantine()
        _, _, text = self.daemon.ask_for_text("GET", "/metrics")
        self.assertIn("c4n4ry", text)
        self.assert_harmless(text)
        for line in text.split("\n")[:-1]:
            self.assertRegex(line, r"^(# (HELP|TYPE) |easyretry_\w+(\{.*\})? [-+.\deNaInf]+$)")

    def test_an_alert_has_the_lines_that_it_should_have(self):
        receiver = HttpReceiver()
        self.addCleanup(receiver.close)
        self.start(f"alerts:\n  channels: {{ops: {{type: slack, url: '{receiver.url}/x'}}}}\n"
                   "  rules: {all: {channels: [ops], quarantines: 1, wait: 1s}}\n", server=", may_call: [127.0.0.1]")
        self.quarantine()
        text = json.loads(receiver.got.get(timeout=30)[2])["text"]
        self.assertIn("c4n4ry", text)
        self.assert_harmless(text, lines=2)

    def test_a_token_has_a_name_that_can_be_shown(self):
        self.start()
        refused = subprocess.run([PROGRAM, "token", "create", "ann\x1b[2J"], cwd=self.folder.name, capture_output=True, text=True, check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("without spaces and control characters", refused.stderr)
        with open(self.path("easyretry.tokens"), "a") as file:  # a line that the program did not write
            file.write(f"bob\x1b[2J\x9b\u202e operator default {'a' * 64}\n")
        listed = subprocess.run([PROGRAM, "token", "list"], cwd=self.folder.name, capture_output=True, check=True).stdout.decode()
        self.assertIn("bob", listed)
        self.assert_harmless(listed, lines=3)


if __name__ == "__main__":
    unittest.main()
