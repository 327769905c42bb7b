"""doctor, completion and the manual, as whoever is on call meets them. Usage: comfort_test.py EASYRETRY_PROGRAM"""
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

from daemon import Daemon

PROGRAM = os.path.abspath(sys.argv.pop(1))


def run_program(*arguments, folder=None, **environment):
    return subprocess.run([PROGRAM, *arguments], cwd=folder, capture_output=True, text=True, timeout=60, check=False,
                          env={**os.environ, **environment})


class Doctor(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def start(self, **more):
        daemon = Daemon(PROGRAM, self.folder.name, **more)
        self.addCleanup(lambda: daemon.process.poll() is None and daemon.kill())
        self.addCleanup(daemon.process.stdout.close)
        return daemon

    def examine(self, *arguments, code=0, **environment):
        """What it says of each check."""
        ran = run_program("doctor", "--json", *arguments, folder=self.folder.name, **environment)
        self.assertEqual(ran.returncode, code, ran.stdout + ran.stderr)
        answer = json.loads(ran.stdout)
        self.assertEqual(answer["healthy"], code == 0)
        for check in answer["checks"]:
            self.assertEqual(check["todo"] == "", check["result"] == "ok", check)
        return {check["check"]: check for check in answer["checks"]}

    def results(self, checks):
        return {name: check["result"] for name, check in checks.items()}

    def of_daemon(self, daemon, **more):
        return self.examine("--server", f"http://127.0.0.1:{daemon.port}", EASYRETRY_TOKEN=daemon.token, **more)

    def test_a_healthy_daemon_is_found_healthy(self):
        daemon = self.start()
        daemon.ask("POST", "/v1/tasks", {"handler": "mail"})
        checks = self.of_daemon(daemon)
        self.assertEqual(self.results(checks), {"daemon": "ok", "tokens": "ok", "first token": "warn", "instances": "ok", "late tasks": "ok",
                                                "quarantined": "ok", "handlers": "ok", "paused": "ok"})

    def test_a_daemon_that_is_not_there_or_does_not_know_the_token_is_a_failure(self):
        checks = self.examine("--server", "http://127.0.0.1:1", code=1)
        self.assertIn("no daemon answers", checks["daemon"]["what"])
        daemon = self.start()
        checks = self.examine("--server", f"http://127.0.0.1:{daemon.port}", EASYRETRY_TOKEN="er_wrong", code=1)
        self.assertIn("token", checks["daemon"]["what"])

    def test_a_task_that_killed_its_workers_is_told_of(self):
        daemon = self.start(config="max_crashes: 1\n")
        daemon.ask("POST", "/v1/tasks", {"handler": "mail"})
        daemon.lease(lease_ms=100)
        while not daemon.ask("GET", "/v1/history?outcome=quarantined")[1]["tasks"]:
            daemon.ask("POST", "/v1/leases", {"handlers": ["mail"]})
        found = self.of_daemon(daemon)["quarantined"]
        self.assertEqual((found["result"], found["what"][:9]), ("warn", "1 in 24 h"))

    def test_files_that_others_may_change_are_a_failure(self):
        self.start().stop()
        os.chmod(self.path("easyretry.tokens"), 0o666)
        self.assertEqual(self.results(self.examine("--store", "sqlite:retry.db", code=1))["tokens"], "fail")
        os.chmod(self.path("easyretry.tokens"), 0o644)
        self.assertEqual(self.results(self.examine("--store", "sqlite:retry.db"))["tokens"], "warn")
        os.chmod(self.path("easyretry.tokens"), 0o600)
        self.assertEqual(self.results(self.examine("--store", "sqlite:retry.db"))["tokens"], "ok")
        with open(self.path("easyretry.tokens"), "a") as file:
            file.write("ops emperor * 00\n")
        self.assertIn(":3:", self.examine("--store", "sqlite:retry.db", code=1)["tokens"]["what"])

    def test_a_store_is_looked_at_from_within(self):
        daemon = self.start()
        daemon.ask("POST", "/v1/tasks", {"handler": "mail"})
        daemon.stop()
        checks = self.examine("--store", "sqlite:retry.db")
        self.assertEqual(self.results(checks), {"tokens": "ok", "first token": "warn", "store": "ok", "schema": "ok", "clock": "ok",
                                                "durability": "ok", "instances": "ok", "late tasks": "ok", "quarantined": "ok",
                                                "handlers": "ok", "paused": "ok"})
        with sqlite3.connect(self.path("retry.db")) as database:
            database.execute("UPDATE retry_state SET next_retry_time = next_retry_time - 60000")
        database.close()
        late = self.examine("--store", "sqlite:retry.db")["late tasks"]
        self.assertEqual(late["result"], "warn")
        self.assertIn("mail", late["what"])
        with sqlite3.connect(self.path("retry.db")) as database:
            database.execute("UPDATE retry_state SET next_retry_time = next_retry_time - 3600000")
        database.close()
        self.assertEqual(self.examine("--store", "sqlite:retry.db", code=1)["late tasks"]["result"], "fail")

    def test_a_store_that_is_empty_held_or_unreachable_is_a_failure_with_advice(self):
        self.assertIn("no EasyRetry store", self.examine("--store", "sqlite:none.db", code=1)["store"]["what"])
        self.assertFalse(os.path.exists(self.path("none.db")))
        self.start()
        self.assertIn("leave out --store", self.examine("--store", "sqlite:retry.db", code=1)["store"]["todo"])
        checks = self.examine("--store", "postgres://app:geheim@127.0.0.1:1/retry", code=1)
        self.assertEqual(checks["store"]["result"], "fail")
        self.assertNotIn("geheim", json.dumps(checks))

    def test_a_configuration_that_is_wrong_is_a_failure(self):
        with open(self.path("easyretry.yaml"), "w") as file:
            file.write("workerz: 4\n")
        self.assertIn("workers", self.examine("--store", "sqlite:retry.db", code=1)["configuration"]["what"])

    def test_people_get_a_line_for_each_check_and_what_to_do(self):
        self.start().stop()
        ran = run_program("doctor", "--store", "sqlite:retry.db", folder=self.folder.name)
        self.assertRegex(ran.stdout, r"(?m)^ok    clock            within a second of the store's$")
        self.assertRegex(ran.stdout, r"(?m)^warn  first token .*\n      to do:           move it")


def commands_by_help(*path):
    """Every command, found by asking for help, with the options it names."""
    text = run_program(*path, "--help").stdout
    options = set(re.findall(r"(?:^ +|,)(--[a-z-]+)", text, re.M))
    found = {path: options}
    if "Subcommands:" in text:
        for name in re.findall(r"^  ([a-z]+) ", text.split("Subcommands:")[1], re.M):
            found.update(commands_by_help(*path, name))
    return found


class Completion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.commands = commands_by_help()

    def complete(self, line):
        """What bash offers for a line that ends at the cursor."""
        script = run_program("completion", "bash").stdout
        words = line.split(" ")
        ask = (f"COMP_WORDS=({' '.join(repr(word) for word in words)}); COMP_CWORD={len(words) - 1}; _easyretry; "
               'printf "%s\\n" "${COMPREPLY[@]}"')
        ran = subprocess.run(["bash", "-c", script + ask], capture_output=True, text=True, check=True)
        self.assertEqual(ran.stderr, "")
        return set(ran.stdout.split())

    def test_bash_offers_every_command_and_option_there_is(self):
        self.assertGreater(len(self.commands), 15)
        for path, options in self.commands.items():
            below = {other[-1] for other in self.commands if other[:-1] == path and other}
            offered = self.complete(" ".join(["easyretry", *path, ""]))
            self.assertLessEqual(options | below, offered, path)

    def test_bash_offers_what_begins_so_and_files_for_values(self):
        self.assertEqual(self.complete("easyretry ta"), {"tables", "tasks"})
        self.assertEqual(self.complete("easyretry tasks li"), {"list"})
        self.assertEqual(self.complete("easyretry tasks list --handler pay --sta"), {"--state"})
        self.assertEqual(self.complete("easyretry tasks list --token-file "), set())

    def test_other_shells_get_every_command_and_option_too(self):
        for shell in ("zsh", "fish"):
            script = run_program("completion", shell).stdout
            for path, options in self.commands.items():
                self.assertIn(" ".join(["easyretry", *path]), script)
                for option in options:
                    self.assertIn(option if shell == "zsh" else f"-l {option[2:]}", script)
            if shutil.which(shell):
                checked = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True, check=False)
                self.assertEqual((checked.returncode, checked.stderr), (0, ""), shell)
        self.assertNotEqual(run_program("completion", "cmd").returncode, 0)

    def test_the_manual_has_every_command_and_option(self):
        page = run_program("manual").stdout
        plain = page.replace("\\-", "-")
        for path, options in self.commands.items():
            if path:
                self.assertIn(f".SS easyretry {' '.join(path)}\n", plain)
            for option in options - {"--help", "--version"}:
                self.assertIn(f"\\fB{option}\\fR", plain)
        if shutil.which("groff"):
            shown = subprocess.run(["groff", "-k", "-Kutf8", "-man", "-Tutf8", "-ww", "-z"], input=page, capture_output=True, text=True, check=True)
            self.assertEqual(shown.stderr, "")


class FirstSteps(unittest.TestCase):
    def test_what_is_printed_to_be_tried_can_be_done(self):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            daemon = subprocess.Popen([PROGRAM, "serve", "--listen", "127.0.0.1:0", "--first-steps"], cwd=folder, stdout=subprocess.PIPE,
                                      text=True)
            try:
                said = ""
                for line in daemon.stdout:
                    said += line
                    if "nothing is lost" in line:
                        break
                self.assertRegex(said, r"easyretry serves http://127\.0\.0\.1:\d+")
                self.assertIn(os.path.join(os.path.realpath(folder), "easyretry.tokens.first"), said)
                commands = "\n".join(line for line in said.splitlines() if line.startswith("  "))
                ran = subprocess.run(["bash", "-euc", commands], capture_output=True, text=True, timeout=60, check=False)
                self.assertEqual(ran.returncode, 0, ran.stderr)
                self.assertIn('"created":true', ran.stdout)
                self.assertRegex(ran.stdout, r"mail\.send .* pending")
            finally:
                daemon.kill()
                daemon.wait()
                daemon.stdout.close()


if __name__ == "__main__":
    unittest.main()
