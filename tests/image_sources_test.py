#!/usr/bin/env python3
"""image_sources_test.py BUILD CMAKE: the image is built of a part of the sources, and nothing that the program is made of is missing there.

The image itself is built only on request (e2e/image_test.py). BUILD says what goes into the program."""
import fnmatch
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BUILD, CMAKE = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
del sys.argv[1:3]
ROOT = pathlib.Path(__file__).resolve().parent.parent
FIRST_STAGE = (ROOT / "packaging/Containerfile").read_text().partition("\nFROM ${BASE}\n")[0]
IGNORED = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]
NOT_IN_THE_IMAGE = ("tests", "examples", "bench")  # their options are off there


def ninja(*words):
    return subprocess.run(["ninja", "-C", BUILD, "-t", *words], capture_output=True, text=True, check=True).stdout.splitlines()


def copied():
    """Files and folders of the COPY lines."""
    return [place for line in re.findall(r"^COPY (.+) \S+$", FIRST_STAGE, re.M) for place in line.split()]


def ours(paths):
    """Those of the sources, relative to their root."""
    for path in paths:
        path = pathlib.Path(path.strip("| "))
        if path.is_absolute() and path.is_relative_to(ROOT) and not path.is_relative_to(BUILD):
            yield path.relative_to(ROOT)


def needed():
    """Sources and embedded files, folders of headers, what CMake reads, what is installed."""
    yield from ours(ninja("inputs", "easyretry_program"))
    commands = " ".join(entry["command"] for entry in json.loads((BUILD / "compile_commands.json").read_text()) if "/easyretry_" in entry["command"])
    yield from ours(set(re.findall(r" -I(\S+)", commands)))
    yield from ours(ninja("query", "build.ninja"))
    for script in (BUILD / "apps").rglob("cmake_install.cmake"):
        yield from ours(re.findall(r'"(/[^"]+)"', script.read_text()))


def without(path, places):
    return not any(path == pathlib.Path(place) or path.is_relative_to(place) for place in places)


class Image(unittest.TestCase):
    def test_is_built_of_everything_that_the_program_is_made_of(self):
        found = sorted({path for path in needed() if path.parts and without(path, NOT_IN_THE_IMAGE)})
        for one in ("src/CMakeLists.txt", "src", "include", "apps/easyretry", "web/dist/index.html", "src/server/openapi/openapi.yaml",
                    "packaging/cpack.cmake"):
            self.assertIn(pathlib.Path(one), found, "this test no longer sees what goes into the program")
        self.assertEqual([str(path) for path in found if without(path, copied())], [])

    def test_leaves_out_nothing_of_that_by_its_list_of_ignored_files(self):
        for place in copied():
            self.assertTrue((ROOT / place).exists(), place)
            self.assertFalse([pattern for pattern in IGNORED if fnmatch.fnmatch(place, pattern)], place)
        files = [str(path) for path in needed()]
        self.assertEqual([file for file in files for pattern in IGNORED if fnmatch.fnmatch(file, f"{pattern}/*")
                          and without(pathlib.Path(file), NOT_IN_THE_IMAGE)], [])

    def test_sends_no_packages_of_npm_to_the_builder(self):
        self.assertIn("web/node_modules", IGNORED)

    def test_can_name_its_commit_though_the_sources_there_have_no_git(self):
        self.assertIn(".git", IGNORED)
        self.assertRegex(FIRST_STAGE, r"\nARG COMMIT=\n(.|\n)*-DEASYRETRY_COMMIT=\$\{COMMIT\}")
        out = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()), "info.cpp")
        subprocess.run([CMAKE, f"-DOUT={out}", f"-DSOURCE={out.parent}", "-DCOMMIT=0123abc", "-P", ROOT / "cmake/build_info.cmake"], check=True)
        self.assertIn('"commit": "0123abc", "modified": false', out.read_text())


class Dashboard(unittest.TestCase):
    def configured(self, folder):
        """Configures a build that embeds the folder, and returns its output."""
        sources = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (sources / "dist").mkdir()
        (sources / "CMakeLists.txt").write_text(f"""cmake_minimum_required(VERSION 3.25)
project(probe LANGUAGES NONE)
include({ROOT}/cmake/embed_folder.cmake)
add_custom_target(probe)
embed_folder(probe "{folder}" server/pages.h kPageFiles "add -DEASYRETRY_DASHBOARD=OFF")
""")
        return subprocess.run([CMAKE, "-S", sources, "-B", sources / "build"], capture_output=True, text=True, check=False)

    def test_is_not_left_out_of_the_program_because_its_files_are_missing(self):
        for folder in ("${CMAKE_SOURCE_DIR}/dist", "${CMAKE_SOURCE_DIR}/nowhere"):
            said = self.configured(folder)
            self.assertNotEqual(said.returncode, 0)
            self.assertRegex(" ".join(said.stderr.split()), r"no files to embed in /\S+\. Copy that folder, too, or add -DEASYRETRY_DASHBOARD=OFF\.")

    def test_can_be_left_out_on_purpose(self):
        self.assertEqual(self.configured("").returncode, 0)


if __name__ == "__main__":
    unittest.main()
