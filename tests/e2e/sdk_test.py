"""The SDK of a language against a real daemon: its own tests with the tag e2e, and the first program of its README.
Usage: sdk_test.py EASYRETRY_PROGRAM SDK_FOLDER go|node"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import unittest

from daemon_case import DaemonCase
from waiting import until

SDK = pathlib.Path(sys.argv.pop(1)).resolve()
LANGUAGE = sys.argv.pop(1)
MOST_LINES = 15
CONFIG = "handlers:\n  kept: {keep_results: 1h}\n  judged: {success_when: result.ok == true}\n"
TESTS = {"go": ["go", "test", "-tags", "e2e", "-count=1", "-run", "WithADaemon", "."], "node": ["node", "--test", "test/daemon.e2e.mjs"]}


def first_program():
    """The first block of code of the README in the language itself."""
    return re.search(r"^```(?:go|js)\n(.*?)^```$", (SDK / "README.md").read_text(), re.M | re.S).group(1)


class Project:
    """A program of a user, in a folder of its own."""

    def __init__(self, folder, code):
        self.folder = pathlib.Path(folder) / "project"
        self.folder.mkdir()
        getattr(self, LANGUAGE)(code)

    def go(self, code):
        (self.folder / "main.go").write_text(code)
        (self.folder / "go.mod").write_text(f"module user\n\ngo 1.21\n\nrequire easyretry v0.1.0\n\nreplace easyretry => {SDK}\n")
        self.run("go", "vet", ".")
        self.run("go", "build", "-o", "program", ".")
        self.command = ["./program"]

    def node(self, code):
        (self.folder / "main.mjs").write_text(code)
        (self.folder / "node_modules").mkdir()
        (self.folder / "node_modules/easyretry").symlink_to(SDK)
        self.command = ["node", "main.mjs"]

    def run(self, *command):
        subprocess.run(command, cwd=self.folder, env={**os.environ, "GOTOOLCHAIN": "local", "GOPROXY": "off"}, check=True)


class Sdk(DaemonCase):
    def environment(self):
        return {**os.environ, "GOTOOLCHAIN": "local", "GOPROXY": "off", "EASYRETRY_URL": f"http://127.0.0.1:{self.daemon.port}",
                "EASYRETRY_TOKEN": self.daemon.token, "SUBMITTER_TOKEN": self.token("submitter", "submitter")}

    def test_its_tests_with_a_daemon_pass(self):
        self.start(CONFIG)
        ran = subprocess.run(TESTS[LANGUAGE], cwd=SDK, env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, timeout=300)
        self.assertEqual(ran.returncode, 0, ran.stdout)

    def test_the_first_program_of_the_readme_runs_a_task_and_stops_at_sigterm(self):
        code = first_program()
        self.assertLessEqual(len(code.splitlines()), MOST_LINES)
        project = Project(self.folder.name, code)
        self.start()
        program = subprocess.Popen(project.command, cwd=project.folder, env=self.environment(), stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        try:
            until(lambda: [task["outcome"] for task in self.daemon.ask("GET", "/v1/history")[1]["tasks"]] == ["succeeded"])
        finally:
            program.send_signal(signal.SIGTERM)
            said, _ = program.communicate(timeout=60)
        self.assertEqual(program.returncode, 0, said)
        self.assertIn("mail to ann", said)


if __name__ == "__main__":
    unittest.main()
