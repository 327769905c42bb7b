#!/usr/bin/env python3
"""The official Standard Webhooks packages accept our webhooks, and so do the examples: interop_test.py PEER EXAMPLES FOLDER

Installs the packages with pip and npm into FOLDER the first time. Fails if they, Node or Go are not available."""
import pathlib
import subprocess
import sys
import unittest

from receiving import Receiver, Receiving

PIP_PACKAGE = "standardwebhooks==1.1.0"
NPM_PACKAGE = "standardwebhooks@1.1.1"
PEER, EXAMPLES, FOLDER = sys.argv[1:4]
del sys.argv[1:4]
HERE = pathlib.Path(__file__).parent
PYTHON = pathlib.Path(FOLDER, "venv/bin/python")
GO_RECEIVER = pathlib.Path(FOLDER, "receiver-go")


def run(*command):
    if subprocess.run(command, stdout=subprocess.DEVNULL).returncode != 0:
        sys.exit(f"{command[0]} failed: these tests need python3-venv, npm, Go, and a way to PyPI and npm's registry")


def get_packages():
    ready = pathlib.Path(FOLDER, f"{PIP_PACKAGE} {NPM_PACKAGE}")
    if ready.exists():
        return
    run(sys.executable, "-m", "venv", f"{FOLDER}/venv")
    run(PYTHON, "-m", "pip", "install", "--quiet", PIP_PACKAGE)
    run("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", FOLDER, NPM_PACKAGE)
    ready.touch()


class OfficialPython(Receiving, unittest.TestCase):
    peer = PEER

    def receiver(self, secret):
        return Receiver(PYTHON, HERE / "official_receiver.py", secret)


class OfficialNode(Receiving, unittest.TestCase):
    peer = PEER

    def receiver(self, secret):
        return Receiver("node", HERE / "official_receiver.js", f"{FOLDER}/node_modules/standardwebhooks", secret)


class NodeExample(Receiving, unittest.TestCase):
    peer = PEER

    def receiver(self, secret):
        return Receiver("node", f"{EXAMPLES}/receiver.js", "0", secret)


class GoExample(Receiving, unittest.TestCase):
    peer = PEER

    @classmethod
    def setUpClass(cls):
        run("go", "build", "-o", GO_RECEIVER, f"{EXAMPLES}/receiver.go")

    def receiver(self, secret):
        return Receiver(GO_RECEIVER, "0", secret)


if __name__ == "__main__":
    get_packages()
    unittest.main()
