#!/usr/bin/env python3
"""hardening_test.py EASYRETRY_PROGRAM CMAKE: the hardening against memory errors is in the program of this build, and in the compile
command of every file of the release preset, which is configured here but not built."""
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

PROGRAM, CMAKE = sys.argv[1:3]
del sys.argv[1:3]
ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


class TheProgram(unittest.TestCase):
    def test_is_loaded_at_an_address_that_nobody_knows(self):
        self.assertRegex(run("readelf", "-hW", PROGRAM), r"Type:\s+DYN")
        self.assertRegex(run("readelf", "-dW", PROGRAM), r"\(FLAGS_1\).*\bPIE\b")

    def test_has_tables_of_functions_that_cannot_be_written_to(self):
        self.assertRegex(run("readelf", "-lW", PROGRAM), r"GNU_RELRO")
        self.assertRegex(run("readelf", "-dW", PROGRAM), r"\(FLAGS_1\).*\bNOW\b|\(BIND_NOW\)")

    def test_has_a_stack_that_is_not_run(self):
        [flags] = re.findall(r"GNU_STACK\s+(?:0x\w+\s+){5}(\w+)", run("readelf", "-lW", PROGRAM))
        self.assertEqual(flags, "RW")

    def test_looks_for_libraries_where_the_system_has_them(self):
        self.assertNotRegex(run("readelf", "-dW", PROGRAM), r"RPATH|RUNPATH")


class TheReleasePreset(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        run(CMAKE, "--preset", "release", "-B", cls.folder.name)
        text = (pathlib.Path(cls.folder.name) / "compile_commands.json").read_text()
        cls.commands = {entry["file"]: shlex.split(entry["command"]) for entry in json.loads(text)}
        cls.ninja = (pathlib.Path(cls.folder.name) / "build.ninja").read_text()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_guards_the_stack_and_the_bounds_of_buffers_in_every_file(self):
        self.assertGreater(len(self.commands), 30)
        for file, words in self.commands.items():
            for wanted in ("-O2", "-fstack-protector-strong", "-D_FORTIFY_SOURCE=2"):
                self.assertIn(wanted, words, file)
            self.assertTrue({"-fPIE", "-fPIC"} & set(words), file)

    def test_links_the_program_as_this_build_does(self):
        [flags] = re.findall(r"^build easyretry: .*?\n  LINK_FLAGS = (.*?)\n", self.ninja, re.M | re.S)
        self.assertIn("-pie", flags.split())
        self.assertIn("-Wl,-z,relro,-z,now", flags.split())


if __name__ == "__main__":
    unittest.main()
