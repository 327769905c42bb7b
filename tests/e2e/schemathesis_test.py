"""schemathesis against a real daemon, with the document that it serves: schemathesis_test.py EASYRETRY_PROGRAM FOLDER

Tests all operations except the stream of events, which has no end. Installs schemathesis with pip into FOLDER the first time, and fails
if that is not possible."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from daemon import Daemon

PACKAGE = "schemathesis==4.32.5"
PROGRAM = os.path.abspath(sys.argv[1])
FOLDER = pathlib.Path(sys.argv[2])
del sys.argv[1:3]
HOOKS = pathlib.Path(__file__).with_name("schemathesis_hooks.py")
CONFIG = pathlib.Path(__file__).with_name("schemathesis.toml")


def get_schemathesis():
    ready = FOLDER / PACKAGE
    if ready.exists():
        return
    for command in ([sys.executable, "-m", "venv", FOLDER], [FOLDER / "bin/python", "-m", "pip", "install", "--quiet", PACKAGE]):
        if subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode != 0:
            sys.exit(f"{command[0]} failed: this test needs python3-venv and a way to PyPI")
    ready.touch()


class Schemathesis(unittest.TestCase):
    def test_finds_nothing_that_the_document_does_not_say(self):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            daemon = Daemon(PROGRAM, folder)
            try:
                ran = subprocess.run([FOLDER / "bin/schemathesis", "--config-file", CONFIG, "run",
                                      f"http://127.0.0.1:{daemon.port}/v1/openapi.yaml", "--header", f"Authorization: Bearer {daemon.token}",
                                      "--seed", "1", "--max-examples", "30", "--request-timeout", "70", "--no-color",
                                      "--exclude-operation-id", "events"], cwd=folder, env=os.environ | {"SCHEMATHESIS_HOOKS": str(HOOKS)},
                                     capture_output=True, text=True, check=False)
                self.assertEqual(ran.returncode, 0, ran.stdout[-8000:] + ran.stderr[-2000:])
            finally:
                self.assertEqual(daemon.stop(), 0)


if __name__ == "__main__":
    get_schemathesis()
    unittest.main()
