#!/usr/bin/env python3
"""How discover.py turns a gtest program into ctest tests."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import discover

LISTED = """Running main() from gtest_main.cc
Wheel.
  TurnsOnce
  TurnsTwice
Postgres/Store.
  Claims/v15  # GetParam() = v15
  Claims/v15_day  # GetParam() = v15_day
  Settles/v15  # GetParam() = v15
Redis/Store.
  Claims/v7  # GetParam() = v7
"""
PROGRAM = """#!/bin/sh
[ "$1" = --gtest_list_tests ] && exec cat <<'END'
{listed}END
echo "$1"; {runs}
"""


class Discover(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.program = pathlib.Path(self.folder.name, "unit_x")
        self.write("exit 0")

    def write(self, runs):
        self.program.write_text(PROGRAM.format(listed=LISTED, runs=runs))
        self.program.chmod(0o755)

    def groups(self, by, pattern="*"):
        return discover.groups(list(discover.cases_of(self.program)), by, pattern)

    def ctest(self, by, pattern="*"):
        output = pathlib.Path(self.folder.name, "CTestTestfile.cmake")
        subprocess.run([sys.executable, discover.__file__, self.program, "--by", by, f"--filter={pattern}", "--output", output], check=True)
        return subprocess.run(["ctest", "--output-on-failure"], cwd=self.folder.name, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)

    def test_a_group_is_a_case_a_suite_or_a_suite_with_a_parameter(self):
        self.assertEqual(len(self.groups("case")), 6)
        self.assertEqual(self.groups("suite"),
                         {"Wheel": "Wheel.*", "Postgres/Store": "Postgres/Store.*", "Redis/Store": "Redis/Store.*"})
        self.assertEqual(self.groups("parameter"),
                         {"Wheel": "Wheel.*", "Postgres/Store/v15": "Postgres/Store.*/v15",
                          "Postgres/Store/v15_day": "Postgres/Store.*/v15_day", "Redis/Store/v7": "Redis/Store.*/v7"})

    def test_a_filter_chooses_and_leaves_out(self):
        self.assertEqual(self.groups("suite", "-Postgres/*:Redis/*"), {"Wheel": "Wheel.*-Postgres/*:Redis/*"})
        self.assertEqual(list(self.groups("parameter", "Postgres/*-*_day")), ["Postgres/Store/v15"])

    def test_a_filter_that_splits_a_group_or_finds_nothing_is_refused(self):
        for by, pattern in [("suite", "*TurnsOnce"), ("suite", "Nothing*")]:
            with self.assertRaises(SystemExit):
                self.groups(by, pattern)
        self.assertEqual(list(self.groups("case", "*TurnsOnce")), ["Wheel.TurnsOnce"])

    def test_each_group_is_run_with_its_filter(self):
        run = self.ctest("parameter", "Postgres/*")
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertIn("unit_x.Postgres/Store/v15_day", run.stdout)
        self.assertIn("0 tests failed out of 2", run.stdout)

    def test_a_failure_a_crash_and_a_skip_fail_and_show_the_output(self):
        for runs in ("exit 1", "kill -SEGV $$", "echo '[  SKIPPED ] Wheel.TurnsOnce'"):
            self.write(runs)
            run = self.ctest("suite", "Wheel*")
            self.assertNotEqual(run.returncode, 0, runs)
            self.assertIn("--gtest_filter=Wheel.*", run.stdout)


if __name__ == "__main__":
    unittest.main()
