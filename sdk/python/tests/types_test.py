#!/usr/bin/env python3
"""mypy accepts the package, and refuses what is wrong in an application that uses it. Usage: types_test.py FOLDER

Installs mypy with pip into the virtual environment FOLDER the first time, and fails if that is not possible."""
import pathlib
import re
import subprocess
import sys
import unittest

import here

PACKAGE = "mypy==2.4.1"
FOLDER = pathlib.Path(sys.argv.pop(1)).resolve()
SAMPLE = pathlib.Path(__file__).with_name("typed_sample.py")


def get_mypy():
    ready = FOLDER / PACKAGE
    if ready.exists():
        return
    subprocess.run([sys.executable, "-m", "venv", FOLDER], check=True)
    subprocess.run([FOLDER / "bin/python", "-m", "pip", "install", "--quiet", PACKAGE], check=True)
    ready.touch()


def errors_in(path, *options):
    """The lines of errors and their kinds."""
    ran = subprocess.run([FOLDER / "bin/mypy", "--strict", "--no-error-summary", "--cache-dir", FOLDER / "cache", *options, path],
                         cwd=here.SDK, env={"MYPYPATH": str(here.SDK / "src")}, capture_output=True, text=True, check=False)
    found = re.findall(r"^[^:]+:(\d+): error: .*\[([a-z-]+)\]$", ran.stdout, re.M)
    return sorted((int(line), kind) for line, kind in found), ran.stdout + ran.stderr


class Types(unittest.TestCase):
    def test_the_package_has_no_errors(self):
        found, said = errors_in("src/easyretry")
        self.assertEqual(found, [], said)
        self.assertEqual(said, "")

    def test_an_application_gets_the_types_of_its_own_functions(self):
        marks = [(number, line.rpartition("# error: ")[2]) for number, line in enumerate(SAMPLE.read_text().splitlines(), 1)
                 if "  # error: " in line]
        self.assertGreater(len(marks), 5)
        found, said = errors_in(SAMPLE)
        self.assertEqual(found, marks, said)


if __name__ == "__main__":
    get_mypy()
    unittest.main()
