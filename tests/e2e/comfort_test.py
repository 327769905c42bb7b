"""doctor, completion and the manual, as an engineer on call uses them. Usage: comfort_test.py EASYRETRY_PROGRAM"""
import json
import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
import unittest

from doctor_case import DoctorCase
from program import PROGRAM, bash_completions, run_program


class Doctor(DoctorCase):
    def results(self, checks):
        return {name: check["result"] for name, check in checks.items()}

    def of_daemon(self, daemon, **more):
        return self.examine("--server", f"http://127.0.0.1:{daemon.port}", EASYRETRY_TOKEN=daemon.token, **more)

    def test_a_healthy_daemon_is_found_healthy(self):
        daemon = self.start()
        daemon.ask("POST", "/v1/tasks", {"handler": "mail"})
        daemon.lease()
        checks = self.of_daemon(daemon)
        self.assertEqual(self.results(checks), {"daemon": "ok", "tokens": "ok", "first token": "warn", "instances": "ok", "late tasks": "ok",
                                                "quarantined": "ok", "handlers": "ok", "paused": "ok"})

    def test_a_daemon_that_is_not_there_or_does_not_know_the_token_is_a_failure(self):
        checks = self.examine("--server", "http://127.0.0.1:1", code=1)
        self.assertIn("no daemon answers", checks["daemon"]["what"])
        daemon = self.start()
        checks = self.examine("--server", f"http://127.0.0.1:{daemon.port}", EASYRETRY_TOKEN="er_wrong", code=1)
        self.assertIn("token", checks["daemon"]["what"])

    def test_a_handler_that_no_worker_serves_is_reported(self):
        daemon = self.start()
        daemon.ask("POST", "/v1/tasks", {"handler": "mial"})
        found = self.of_daemon(daemon)["handlers"]
        self.assertEqual(found["result"], "warn")
        self.assertIn("mial (1 tasks)", found["what"])

    def test_a_task_that_killed_its_workers_is_reported(self):
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

    def test_the_report_has_a_line_and_a_remedy_for_each_check(self):
        self.start().stop()
        ran = run_program("doctor", "--store", "sqlite:retry.db", cwd=self.folder.name)
        self.assertRegex(ran.stdout, r"(?m)^ok    clock            within a second of the store's$")
        self.assertRegex(ran.stdout, r"(?m)^warn  first token .*\n      to do:           move it")


def commands_by_help(*path):
    """Every command that --help lists, with the options that its own help names."""
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

    def test_bash_offers_every_command_and_option_there_is(self):
        self.assertGreater(len(self.commands), 15)
        for path, options in self.commands.items():
            below = {other[-1] for other in self.commands if other[:-1] == path and other}
            offered = bash_completions(" ".join(["easyretry", *path, ""]))
            self.assertLessEqual(options | below, offered, path)

    def test_bash_completes_words_and_offers_files_for_values(self):
        self.assertEqual(bash_completions("easyretry ta"), {"tables", "tasks"})
        self.assertEqual(bash_completions("easyretry tasks li"), {"list"})
        self.assertEqual(bash_completions("easyretry tasks list --handler pay --sta"), {"--state"})
        self.assertEqual(bash_completions("easyretry tasks list --token-file "), set())

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


class Version(unittest.TestCase):
    def test_the_build_is_described_for_people_and_programs(self):
        info = json.loads(run_program("version", "--json").stdout)
        self.assertEqual(info["version"], run_program("--version").stdout.strip())
        self.assertLessEqual({"memory", "sqlite", "postgres", "mysql", "redis", "nacos", "config", "alerts", "remote", "mxrmq", "server"},
                             set(info["components"]))
        self.assertEqual(info["left_out"], [])
        for library in ("SQLite", "OpenSSL", "Lua", "fmt", "libpq", "libmariadb", "hiredis", "gRPC", "libcurl", "yaml-cpp"):
            self.assertRegex(info["libraries"][library], r"^\d+\.\d+", library)
        said = run_program("version").stdout
        self.assertIn(f"easyretry {info['version']}, commit {info['commit'] or 'unknown'}", said)
        self.assertIn(f"built with SQLite {info['libraries']['SQLite']}\n", said)

    def test_the_commit_is_that_of_the_sources(self):
        source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        commit = json.loads(run_program("version", "--json").stdout)["commit"]
        if not os.path.exists(os.path.join(source, ".git")):
            self.assertIsNone(commit)
            return
        asked = subprocess.run(["git", "-C", source, "cat-file", "-t", commit],
                               capture_output=True, text=True, check=False)
        self.assertEqual(asked.stdout, "commit\n", asked.stderr)


class FirstSteps(unittest.TestCase):
    def test_suggested_commands_work(self):
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
