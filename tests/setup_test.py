#!/usr/bin/env python3
"""setup_test.py CMAKE: tools/setup installs every program that CPack runs to make Debian packages.

CMake's own script says which programs these are. What the packages of tools/packages.txt depend on is read from dpkg, so a program that is
only here by chance is noticed."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
CMAKE = sys.argv.pop(1)
ONLY_FOR_DEBUG_PACKAGES = {"objcopy"}


def said(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def groups():
    lines = (ROOT / "tools/packages.txt").read_text().splitlines()[1:]
    return {name: set(packages.split()) for name, _, packages in (line.partition(": ") for line in lines)}


def programs_of_cpack():
    with tempfile.NamedTemporaryFile("w", suffix=".cmake") as script:
        script.write('message(NOTICE "${CMAKE_ROOT}")')
        script.flush()
        root = subprocess.run([CMAKE, "-P", script.name], capture_output=True, text=True, check=True).stderr.strip()
    text = pathlib.Path(root, "Modules/Internal/CPack/CPackDeb.cmake").read_text()
    return set(re.findall(r"find_program\(\w+ (?:NAMES )?([\w-]+)\)", text)) - ONLY_FOR_DEBUG_PACKAGES


def package_of(program):
    """The Debian package that the program is from; None if it is not here."""
    found = shutil.which(program)
    return said("dpkg", "-S", found).split(":")[0] if found else None


class Debian:
    """What is installed here, and what it depends on."""

    def __init__(self):
        form = "${Package}\t${Essential}\t${Provides}\t${Pre-Depends}, ${Depends}\n"
        self.depends, self.providers, self.essential = {}, {}, set()
        for line in said("dpkg-query", "-W", f"-f={form}").splitlines():
            package, essential, provides, depends = line.split("\t")
            self.depends[package] = self.names(depends)
            for name in {package} | self.names(provides):
                self.providers.setdefault(name, set()).add(package)
            if essential == "yes":
                self.essential.add(package)

    @staticmethod
    def names(text):
        return {re.split(r"[ (:]", one.strip())[0] for one in re.split(r"[,|]", text)} - {""}

    def with_what_they_need(self, packages):
        found, wanted = set(), list(packages | self.essential)
        while wanted:
            for package in self.providers.get(wanted.pop(), ()):
                if package not in found:
                    found.add(package)
                    wanted += self.depends[package]
        return found


class Setup(unittest.TestCase):
    def test_installs_the_programs_that_cpack_runs(self):
        programs = programs_of_cpack()
        self.assertLess({"dpkg-shlibdeps", "file"}, programs)
        debian = Debian()
        for group in ("deb", "test"):
            there = debian.with_what_they_need(groups()["build"] | groups()[group])
            missing = {program for program in programs if package_of(program) not in there}
            self.assertEqual(missing, set(), f"after tools/setup {group}")


if __name__ == "__main__":
    unittest.main()
