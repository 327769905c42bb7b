"""A test of commands that ask a daemon, or open a store, as `self.where` says."""
import json
import os

from daemon_case import DaemonCase
from program import run_program


class CliCase(DaemonCase):
    def setUp(self):
        super().setUp()
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("EASYRETRY_")}

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_program(self, *arguments, environment=None, stdin=""):
        return run_program(*arguments, cwd=self.folder.name, input=stdin, env={**self.environment, **(environment or {})})

    def good(self, *arguments, **more):
        ran = self.run_program(*arguments, *self.where, **more)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran.stdout

    def answer(self, *arguments, **more):
        return json.loads(self.good(*arguments, "--json", **more))

    def refused(self, *arguments, code=1, **more):
        """The stderr of a command that fails."""
        ran = self.run_program(*arguments, **more)
        self.assertEqual(ran.returncode, code, ran.stdout + ran.stderr)
        return ran.stderr

    def submit(self, *arguments):
        return self.good("tasks", "submit", *arguments).strip()
