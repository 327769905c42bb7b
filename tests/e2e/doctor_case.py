"""A test of `easyretry doctor`."""
import json
import os
import tempfile
import unittest

from daemon import Daemon
from program import PROGRAM, run_program


class DoctorCase(unittest.TestCase):
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

    def examine(self, *arguments, code=0, user=None, **environment):
        """The result of each check, by name."""
        ran = run_program("doctor", "--json", *arguments, cwd=self.folder.name, env={**os.environ, **environment}, user=user)
        self.assertEqual(ran.returncode, code, ran.stdout + ran.stderr)
        answer = json.loads(ran.stdout)
        self.assertEqual(answer["healthy"], code == 0)
        for check in answer["checks"]:
            self.assertEqual(check["todo"] == "", check["result"] == "ok", check)
        return {check["check"]: check for check in answer["checks"]}
