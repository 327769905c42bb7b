#!/usr/bin/env python3
"""conan_test.py FOLDER COMPILER: `conan create` of the recipe, with the core as a shared library, and the program in test_package.
conan_test.py --install FOLDER: installs Conan from PyPI there, or says why it cannot be had.

The libraries that the package requires are Debian's: the profile says that the platform provides them. So no other package is
downloaded, and only a shared library can be linked: Conan does not know where Debian's libraries are. FOLDER stays, Conan's cache in
it does not."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEBIAN_12 = """boost/1.81.0 fmt/9.1.0 grpc/1.51.1 hiredis/0.14.1 libcurl/7.88.1 libpq/15.8 lua/5.4.4 mariadb-connector-c/3.3.14
nlohmann_json/3.11.2 openssl/3.0.15 protobuf/3.21.12 sqlite3/3.40.1 tl-expected/1.0.0 xxhash/0.8.1 yaml-cpp/0.7.0""".split()


def run(*command, **more):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **more)


def install(folder):
    """None, or why Conan cannot be had."""
    for command in ([sys.executable, "-m", "venv", folder / "venv"], [folder / "venv/bin/pip", "install", "--quiet", "conan>=2,<3"]):
        ran = run(*command)
        if ran.returncode:
            return " ".join((ran.stdout + ran.stderr).split())[-300:]
    return None


class Recipe(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = FOLDER / "home"
        shutil.rmtree(cls.home, ignore_errors=True)
        cls.home.mkdir(parents=True)
        cls.addClassCleanup(shutil.rmtree, cls.home, ignore_errors=True)
        detected = cls.conan("profile", "detect")
        if detected.returncode:
            raise AssertionError(detected.stderr)
        profile = cls.home / "profiles/default"
        profile.write_text(re.sub(r"cppstd=\w+", "cppstd=20", profile.read_text()) + "\n".join(
            ["[platform_requires]", *DEBIAN_12, "[platform_tool_requires]", "protobuf/3.21.12", "[conf]", "tools.build:jobs=2",
             f"tools.cmake.cmake_layout:test_folder={cls.home / 'test_package'}", "tools.cmake.cmaketoolchain:user_presets=",
             "tools.build:compiler_executables=" + json.dumps({"cpp": COMPILER}), ""]))

    @classmethod
    def conan(cls, *words):
        return run(FOLDER / "venv/bin/conan", *words, cwd=ROOT, env={**os.environ, "CONAN_HOME": str(cls.home)})

    def package(self, *options):
        """Returns Conan's description of the package with these options."""
        ran = self.conan("graph", "info", ".", "--no-remote", "--format=json", *options)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return json.loads(ran.stdout)["graph"]["nodes"]["0"]

    def test_has_an_option_for_each_part(self):
        parts = set(re.findall(r"^optional_part\((\w+)", (ROOT / "src/CMakeLists.txt").read_text(), re.M)) - {"server"}
        options = set(self.package()["options_definitions"])
        self.assertEqual(options - {"shared", "fPIC"}, parts)

    def test_links_the_entry_functions_of_a_part(self):
        rooms = re.findall(r"PART (\w+) ENTRY (\w+)", (ROOT / "src/CMakeLists.txt").read_text())
        recipe = (ROOT / "conanfile.py").read_text()
        self.assertGreater(len(rooms), 5)
        for part, entry in rooms:
            self.assertRegex(recipe, rf'"{part}": Part\([^=)]*"{entry}"')

    def test_is_of_the_version_of_the_project(self):
        self.assertIn(f"VERSION {self.package()['version']} ", (ROOT / "CMakeLists.txt").read_text())

    def test_requires_the_libraries_of_its_parts_alone(self):
        def required(*options):
            return {one["ref"].split("/")[0] for one in self.package(*options)["dependencies"].values()}
        core = required()
        self.assertEqual(core, {"boost", "fmt", "lua", "nlohmann_json", "openssl", "sqlite3", "tl-expected", "xxhash"})
        self.assertEqual(required("-o", "&:postgres=True") - core, {"libpq"})

    def test_refuses_a_part_without_the_one_that_it_needs(self):
        said = self.conan("create", ".", "--no-remote", "-o", "easyretry/*:mxrmq=True").stderr
        self.assertIn("the part mxrmq needs the part redis: add -o easyretry/*:redis=True", said)

    def test_makes_a_package_that_a_program_uses(self):
        ran = self.conan("create", ".", "--no-remote", "-o", "easyretry/*:shared=True")
        self.assertEqual(ran.returncode, 0, ran.stdout[-3000:] + ran.stderr[-5000:])
        self.assertIn("hello ann", ran.stdout + ran.stderr)


if __name__ == "__main__":
    if sys.argv[1] == "--install":
        sys.exit(install(pathlib.Path(sys.argv[2])))
    FOLDER, COMPILER = pathlib.Path(sys.argv.pop(1)).resolve(), sys.argv.pop(1)
    unittest.main()
