"""A daemon that is stopped in its first milliseconds: early_stop_test.py EASYRETRY_PROGRAM EARLY_STOP_PRELOAD"""
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

PROGRAM, PRELOAD = (os.path.abspath(path) for path in sys.argv[1:3])
del sys.argv[1:3]
PATIENCE = 120


class EarlyStop(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def start(self, **environment):
        return subprocess.Popen([PROGRAM, "serve", "--store", "sqlite:retry.db", "--listen", "127.0.0.1:0"], cwd=self.folder.name,
                                env=os.environ | environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def expect_complete_store(self):
        """No log and no journal is left behind, and the next daemon opens the store."""
        self.assertEqual([name for name in os.listdir(self.folder.name) if name.endswith(("-wal", "-journal"))], [])
        daemon = self.start()
        for line in daemon.stdout:
            if "serves" in line:
                break
        daemon.terminate()
        said, _ = daemon.communicate(timeout=PATIENCE)
        self.assertEqual(daemon.returncode, 0, said)

    def test_a_signal_before_main_stops_it_gracefully(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            daemon = self.start(LD_PRELOAD=PRELOAD, EARLY_STOP=str(int(number)))
            said, _ = daemon.communicate(timeout=PATIENCE)
            self.assertEqual(daemon.returncode, 0, said)
            self.assertIn("stopping", said)
        self.expect_complete_store()

    def test_at_any_moment_it_stops_gracefully_or_has_not_begun(self):
        for tenths in range(0, 400, 10):  # of a millisecond
            daemon = self.start()
            threading.Timer(tenths / 10_000, daemon.terminate).start()
            said, _ = daemon.communicate(timeout=PATIENCE)
            if daemon.returncode == -signal.SIGTERM:  # the dynamic linker was at work
                self.assertEqual(said, "")
            else:
                self.assertEqual(daemon.returncode, 0, said)
        self.expect_complete_store()

    def test_other_commands_end_at_once(self):
        command = subprocess.run([PROGRAM, "version"], env=os.environ | {"LD_PRELOAD": PRELOAD, "EARLY_STOP": str(int(signal.SIGTERM))},
                                 capture_output=True, check=False)
        self.assertEqual(command.returncode, -signal.SIGTERM)


if __name__ == "__main__":
    unittest.main()
