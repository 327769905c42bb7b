"""easyretry serve with encryption keys: the database contains no part of the arguments. Usage: encryption_test.py EASYRETRY_PROGRAM"""
import os
import subprocess
import unittest

from daemon_case import PROGRAM, DaemonCase

CANARY = "c4n4ry-argument"
SETTINGS = "encryption: {folder: keys, require: true}\n"


class Encryption(DaemonCase):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("keys"))

    def path(self, *names):
        return os.path.join(self.folder.name, *names)

    def make_key(self, key_id):
        with open(self.path("keys", f"{key_id}.key"), "w", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(os.urandom(32).hex() + "\n")

    def program(self, *arguments):
        return subprocess.run([PROGRAM, *arguments], cwd=self.folder.name, capture_output=True, text=True, timeout=60, check=False)

    def stored(self):
        text = b""
        for name in os.listdir(self.folder.name):
            if name.startswith("retry.db"):
                with open(self.path(name), "rb") as file:
                    text += file.read()
        return text

    def test_the_database_hides_arguments_and_workers_get_them(self):
        self.make_key("2026-11")
        daemon = self.start(SETTINGS)
        _, made = daemon.ask("POST", "/v1/tasks", {"handler": "mail", "args": [CANARY]})
        self.assertIn(b"2026-11", self.stored())
        self.assertNotIn(CANARY.encode(), self.stored())
        _, shown = daemon.ask("GET", f"/v1/tasks/{made['id']}?args")
        self.assertEqual(shown["args"], [CANARY])
        self.assertEqual(daemon.lease()[0]["args"], [CANARY])

    def test_arguments_sealed_with_an_older_key_are_readable_after_the_change(self):
        self.make_key("2026-11")
        daemon = self.start(SETTINGS)
        daemon.ask("POST", "/v1/tasks", {"handler": "mail", "args": [CANARY]})
        daemon.stop()
        self.make_key("2026-05")
        refused = self.program("serve")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("current", refused.stderr)
        daemon = self.start("encryption: {folder: keys, current: 2026-05, identity_key: 2026-11}\n")
        _, again = daemon.ask("POST", "/v1/tasks", {"handler": "mail", "args": [CANARY]})
        self.assertFalse(again["created"], "its key is derived as before")
        self.assertEqual(daemon.lease()[0]["args"], [CANARY])

    def test_config_check_says_what_serve_would(self):
        with open(self.path("easyretry.yaml"), "w") as file:
            file.write("store: sqlite:retry.db\n" + SETTINGS)
        checked = self.program("config", "check")
        self.assertNotEqual(checked.returncode, 0)
        self.assertIn("openssl rand", checked.stdout + checked.stderr)
        self.make_key("2026-11")
        self.assertEqual(self.program("config", "check").returncode, 0)

    def test_the_command_line_decrypts_with_the_keys_that_it_has(self):
        self.make_key("2026-11")
        daemon = self.start(SETTINGS)
        _, made = daemon.ask("POST", "/v1/tasks", {"handler": "mail", "args": [CANARY]})
        daemon.stop()
        self.assertIn(CANARY, self.program("tasks", "show", made["id"], "--store", "sqlite:retry.db", "--args").stdout)


if __name__ == "__main__":
    unittest.main()
