#!/usr/bin/env python3
"""core_build_test.py FOLDER CMAKE COMPILER: the core alone, optimised and shared, is built in FOLDER, installed, and used.

FOLDER stays, so that a second run compiles only the changes."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from installed_library import ROOT, Failed, Installed, libraries_of, run, said_by

FOLDER, CMAKE, COMPILER = sys.argv[1:4]
del sys.argv[1:4]
OPTIONS = ("-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG", "-DBUILD_SHARED_LIBS=ON", "-DEASYRETRY_PARTS=OFF",
           "-DEASYRETRY_TESTS=OFF", "-DEASYRETRY_EXAMPLES=OFF", "-DEASYRETRY_WERROR=ON")
MOST_LIBRARIES = 12
MOST_BYTES = 8 << 20


class TheCore(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        run(CMAKE, "-G", "Ninja", "-S", ROOT, "-B", FOLDER, f"-DCMAKE_CXX_COMPILER={COMPILER}", *OPTIONS)
        subprocess.run([CMAKE, "--build", FOLDER, "--target", "easyretry_library_core"], check=True, timeout=1500)
        cls.installed = Installed(FOLDER, CMAKE, COMPILER)
        cls.app = cls.installed.program("find_package(easyretry 0.1 CONFIG REQUIRED COMPONENTS sqlite)", flags="-O2")
        [cls.library] = cls.installed.prefix.rglob("libeasyretry.so.0.1.0")

    @classmethod
    def tearDownClass(cls):
        cls.installed.remove()

    def test_runs_a_program(self):
        self.assertEqual(said_by(self.app), "paid 9.5\n")
        by_pkg_config = self.installed.program_by_pkg_config(["easyretry"])
        self.assertEqual(said_by(by_pkg_config, env={**os.environ, "LD_LIBRARY_PATH": str(self.library.parent)}), "paid 9.5\n")

    def test_opens_its_stores_and_refuses_those_of_parts_that_were_left_out(self):
        program = self.installed.program("find_package(easyretry CONFIG REQUIRED)", source="parts.cpp")
        version, sqlite, postgres = run(program, "sqlite:retry.db", "postgres://app:secret@db/x", cwd=self.installed.folder.name).splitlines()
        self.assertEqual((version, sqlite), ("0.1.0", "opened sqlite:retry.db"))
        self.assertIn("refused postgres://app@db/x: this program was built without PostgreSQL; build EasyRetry with -DEASYRETRY_POSTGRES=ON",
                      postgres)

    def test_refuses_everything_that_needs_a_part_by_the_option_that_builds_it(self):
        said = run(self.installed.program("find_package(easyretry CONFIG REQUIRED)", source="missing.cpp")).splitlines()
        for line, what, option in zip(said, ("Redis", "Nacos", "Nacos", "configuration files", "alerts"),
                                      ("REDIS", "NACOS", "NACOS", "CONFIG", "ALERTS"), strict=True):
            self.assertIn(f"built without {what}; build EasyRetry with -DEASYRETRY_{option}=ON", line)
            self.assertNotIn("secret", line)

    def test_brings_few_libraries(self):
        self.assertLessEqual(len(libraries_of(self.app)), MOST_LIBRARIES, libraries_of(self.app))

    def test_is_small(self):
        stripped = pathlib.Path(self.installed.folder.name) / "stripped"
        bytes_of = 0
        for file in (self.app, self.library):
            shutil.copy(file, stripped)
            run("strip", stripped)
            bytes_of += stripped.stat().st_size
        self.assertLessEqual(bytes_of, MOST_BYTES)
        print(f"program and library, stripped: {bytes_of / 1024:.0f} KiB; {len(libraries_of(self.app))} shared libraries")

    def test_has_the_name_of_its_minor_version(self):
        self.assertRegex(run("readelf", "-dW", self.library), r"\(SONAME\).*\[libeasyretry\.so\.0\.1\]")

    def test_shows_only_what_the_public_headers_declare(self):
        names = run("sh", "-c", f"nm -DC --defined-only {self.library} | cut -d' ' -f3-").splitlines()
        self.assertTrue(any(name.startswith("easyretry::Engine::start(") for name in names))
        inside = [name for name in names if re.match(r"easyretry::(?!detail::|testing::)[a-z_]+::|boost::|fmt::|nlohmann::", name)]
        self.assertEqual(inside, [])

    def test_says_how_to_get_a_component_that_was_left_out(self):
        with self.assertRaises(Failed) as refused:
            self.installed.configure("find_package(easyretry CONFIG REQUIRED COMPONENTS sqlite postgres)")
        self.assertIn("was built without postgres; build it with -DEASYRETRY_POSTGRES=ON", str(refused.exception))

    def test_leaves_out_the_headers_of_parts_that_are_not_there(self):
        here = {header.name for header in (self.installed.prefix / "include/easyretry").glob("*.h")}
        self.assertIn("engine.h", here)
        self.assertEqual(here & {"mxrmq.h", "remote_engine.h"}, set())


class Options(unittest.TestCase):
    """Configures only."""

    def configure(self, *options, **environment):
        shutil.rmtree(f"{FOLDER}-options", ignore_errors=True)
        return run(CMAKE, "-G", "Ninja", "-S", ROOT, "-B", f"{FOLDER}-options", f"-DCMAKE_CXX_COMPILER={COMPILER}", *options,
                   env={**os.environ, **environment})

    def refusal(self, *options, **environment):
        with self.assertRaises(Failed) as refused:
            self.configure(*options, **environment)
        return str(refused.exception)

    def test_a_part_whose_libraries_are_missing_is_refused(self):
        said = self.refusal(*OPTIONS, "-DEASYRETRY_MXRMQ=ON")
        self.assertIn("EASYRETRY_MXRMQ is ON, but the part mxrmq needs the part redis", said)

    def test_a_library_of_the_core_that_is_too_old_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "sqlite3.h").write_text('#define SQLITE_VERSION "3.34.1"\n')
            said = self.refusal(*OPTIONS, f"-DSQLite3_INCLUDE_DIR={folder}")
        self.assertIn("EasyRetry needs libraries that are not found here: SQLite 3.35 or newer (Debian: libsqlite3-dev), and not 3.34.1 Install", said)

    def test_all_libraries_of_the_core_that_are_missing_are_named_with_debians_packages(self):
        packages = ("fmt", "Boost", "nlohmann_json", "OpenSSL", "SQLite3", "Lua", "tl-expected")
        said = self.refusal(*OPTIONS, *(f"-DCMAKE_DISABLE_FIND_PACKAGE_{package}=ON" for package in packages),
                            "-DPKG_CONFIG_EXECUTABLE=/nowhere/pkg-config", "-DCMAKE_IGNORE_PATH=/usr/include")
        [listed] = re.findall(r"^build: (.*)$", (ROOT / "tools/packages.txt").read_text(), re.M)
        named = re.findall(r"\(Debian: ([^)]*)\)", said)
        self.assertEqual(named, ["libfmt-dev", "libboost1.81-dev", "nlohmann-json3-dev", "libssl-dev", "libsqlite3-dev", "pkg-config", "libxxhash-dev",
                                 "liblua5.4-dev", "libexpected-dev"])
        self.assertLessEqual(set(named), set(listed.split()))

    def test_libraries_are_named_with_packages_that_debian_has(self):
        named = re.findall(r"\(Debian: ([^)]*)\)", (ROOT / "cmake/libraries.cmake").read_text())
        [listed] = re.findall(r"^build: (.*)$", (ROOT / "tools/packages.txt").read_text(), re.M)
        self.assertLessEqual(set(" ".join(named).split()), set(listed.split()))

    def modules(self, **versions):
        """pkg-config knows xxHash, as it is here, and libraries of these versions."""
        folder = self.old_libraries(**versions)
        shutil.copy(run("pkg-config", "--variable=pcfiledir", "libxxhash").strip() + "/libxxhash.pc", folder)
        return folder

    def test_a_lua_that_pkg_config_does_not_know_is_found(self):
        self.configure(*OPTIONS, "-DBUILD_SHARED_LIBS=OFF", PKG_CONFIG_LIBDIR=self.modules())
        self.assertRegex(pathlib.Path(f"{FOLDER}-options", "easyretry.pc").read_text(), r"(?m)^Libs: .* -llua5.4 ")

    def test_a_lua_that_was_never_tried_is_refused(self):
        without_file = "-DCMAKE_DISABLE_FIND_PACKAGE_Lua=ON"
        said = self.refusal(*OPTIONS, without_file, PKG_CONFIG_LIBDIR=self.modules(lua="5.6.0"))
        self.assertIn("Lua 5.4 or 5.5 (Debian: liblua5.4-dev), and not 5.6.0 Install", said)
        self.configure(*OPTIONS, without_file, PKG_CONFIG_LIBDIR=self.modules(lua="5.5.0"))

    def test_rpm_packages_have_the_library_where_their_distributions_look_for_it(self):
        shutil.rmtree(f"{FOLDER}-options", ignore_errors=True)
        run(CMAKE, "--preset", "package-rpm", "-B", f"{FOLDER}-options", f"-DCMAKE_CXX_COMPILER={COMPILER}", "-DEASYRETRY_PARTS=OFF", cwd=ROOT)
        made = pathlib.Path(f"{FOLDER}-options")
        self.assertIn("${CMAKE_INSTALL_PREFIX}/lib64/libeasyretry.so.0.1.0", (made / "src/cmake_install.cmake").read_text())
        self.assertIn("libdir=${prefix}/lib64\n", (made / "easyretry.pc").read_text())
        self.assertIn("/usr/lib64/pkgconfig", (made / "CPackConfig.cmake").read_text())

    def old_libraries(self, **versions):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        for library, version in versions.items():
            pathlib.Path(folder, f"{library}.pc").write_text(f"Name: {library}\nDescription: an old one\nVersion: {version}\nLibs: -lold\n")
        return folder

    def test_a_library_of_a_part_that_is_too_old_is_refused(self):
        said = self.refusal(*OPTIONS, "-DEASYRETRY_ALERTS=ON", PKG_CONFIG_PATH=self.old_libraries(libcurl="7.84.0"))
        self.assertIn("EASYRETRY_ALERTS is ON, but the part alerts needs libcurl 7.85 or newer (Debian: libcurl4-openssl-dev)", said)

    def test_parts_whose_libraries_are_too_old_are_left_out_by_themselves(self):
        old = self.old_libraries(**{"libpq": "11.22", "libmariadb": "3.0.10", "hiredis": "0.13.3", "grpc++": "1.29.1"})
        said = self.configure("-DEASYRETRY_PARTS=AUTO", "-DEASYRETRY_TESTS=OFF", "-DEASYRETRY_EXAMPLES=OFF", PKG_CONFIG_PATH=old)
        self.assertIn("EasyRetry parts: alerts, config, remote, tracing; left out: mysql, nacos, postgres, redis, mxrmq, server", said)

    def test_a_value_other_than_auto_on_or_off_is_refused(self):
        self.assertIn("EASYRETRY_REDIS is MAYBE; write AUTO, ON or OFF", self.refusal(*OPTIONS, "-DEASYRETRY_REDIS=maybe"))

    def test_tests_without_a_part_are_refused(self):
        said = self.refusal("-DEASYRETRY_REDIS=OFF")
        self.assertIn("this build leaves out redis, mxrmq, server. Add -DEASYRETRY_TESTS=OFF", said)


if __name__ == "__main__":
    unittest.main()
