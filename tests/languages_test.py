#!/usr/bin/env python3
"""If something that `./test --with languages` needs is missing, the test run ends: no requested test is left out silently."""
import os
import pathlib
import subprocess
import tempfile
import unittest

root = pathlib.Path(__file__).resolve().parent.parent
GOOD = {"python3": "Python 3.11.2", "node": "v18.13.0", "npm": "9.2.0", "javac": "javac 17.0.15", "mvn": "Apache Maven 3.8.7",
        "go": "go version go1.21.0 linux/amd64"}


class Languages(unittest.TestCase):
    def said(self, programs):
        """(exit code, error text) where there are only these programs, which say these versions."""
        with tempfile.TemporaryDirectory() as folder:
            for name, version in programs.items():
                program = pathlib.Path(folder) / name
                program.write_text(f"#!/bin/sh\necho '{version}'\n")
                program.chmod(0o755)
            for name in ("bash", "env", "grep", "sort", "head"):
                os.symlink(f"/usr/bin/{name}", f"{folder}/{name}")
            ran = subprocess.run(["/usr/bin/bash", root / "tools/languages"], env={"PATH": folder}, capture_output=True, text=True, check=False)
            return ran.returncode, ran.stderr

    def test_all_of_them_are_enough(self):
        self.assertEqual(self.said(GOOD), (0, ""))

    def test_each_that_is_missing_is_named(self):
        for name, what in (("go", "Go"), ("javac", "a JDK"), ("mvn", "Maven"), ("node", "Node"), ("npm", "npm"), ("python3", "Python")):
            code, text = self.said({one: version for one, version in GOOD.items() if one != name})
            self.assertEqual((code, text.count("\n")), (1, 1), text)
            self.assertIn(f"{what} is missing: ", text)

    def test_one_that_is_too_old_is_named_with_what_to_do(self):
        code, text = self.said({**GOOD, "go": "go version go1.19.8 linux/amd64"})
        self.assertEqual(code, 1)
        self.assertIn("Go 1.19.8 is too old, 1.21 is needed: ", text)
        self.assertIn("bookworm-backports", text)
        self.assertIn("a JDK 11.0.2 is too old", self.said({**GOOD, "javac": "javac 11.0.2"})[1])

    def test_it_asks_for_the_go_that_the_sdk_needs(self):
        asked = [line for line in (root / "sdk/go/go.mod").read_text().splitlines() if line.startswith("go ")]
        self.assertEqual(asked, ["go 1.21"])
        self.assertIn("needs Go 1.21 ", (root / "tools/languages").read_text())


if __name__ == "__main__":
    unittest.main()
