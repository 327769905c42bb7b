"""A test of a running `easyretry serve`. The program is the first argument of the script that imports this."""
import subprocess
import tempfile
import unittest

from daemon import Daemon
from program import PROGRAM


class DaemonCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.daemon = None

    def tearDown(self):
        if self.daemon and self.daemon.process.poll() is None:
            self.daemon.kill()
        self.folder.cleanup()

    def start(self, config="", server="", **more):
        self.daemon = Daemon(PROGRAM, self.folder.name, config, server, **more)
        return self.daemon

    def token(self, name, role, space="default"):
        made = subprocess.run([PROGRAM, "token", "create", name, "--role", role, "--namespace", space], cwd=self.folder.name,
                              capture_output=True, text=True, check=True)
        return made.stdout.strip()
