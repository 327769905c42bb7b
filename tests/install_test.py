#!/usr/bin/env python3
"""install_test.py BUILD_DIR CMAKE COMPILER FLAGS: the library of BUILD_DIR, installed, in projects that find it with CMake or
pkg-config. Nothing is compiled again but the programs of these projects."""
import concurrent.futures
import pathlib
import shutil
import sys
import tempfile
import unittest

from installed_library import Failed, Installed, libraries_of, run, said_by

BUILD, CMAKE, COMPILER, FLAGS = sys.argv[1:5]
del sys.argv[1:5]
SERVERS = {"postgres": "postgres://nobody@127.0.0.1:1/x", "mysql": "mysql://nobody@127.0.0.1:1/x", "redis": "redis://127.0.0.1:1/0"}
EVERYTHING = "sqlite memory alerts config mysql nacos postgres redis mxrmq remote tracing"
MOST_LIBRARIES = 12  # of a program on SQLite


class TheInstalledLibrary(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.installed = Installed(BUILD, CMAKE, COMPILER)

    @classmethod
    def tearDownClass(cls):
        cls.installed.remove()

    def refusal(self, find, **how):
        with self.assertRaises(Failed) as refused:
            self.installed.configure(find, **how)
        return str(refused.exception)

    def check_parts(self, program, there):
        version, *said = run(program, "memory:", *SERVERS.values()).splitlines()
        self.assertEqual(version, "0.1.0")
        self.assertEqual(said[0], "opened memory:")
        for (part, url), line in zip(SERVERS.items(), said[1:], strict=True):
            self.assertTrue(line.startswith("no server" if part in there else "refused"), line)
            if part not in there:
                self.assertIn(f"-DEASYRETRY_{part.upper()}=ON", line)

    def test_is_found_without_components(self):
        program = self.installed.program("find_package(easyretry 0.1 CONFIG REQUIRED)", flags=FLAGS)
        self.assertEqual(said_by(program), "paid 9.5\n")

    def test_gives_a_program_on_sqlite_no_other_libraries_than_its_own(self):
        program = self.installed.program("find_package(easyretry CONFIG REQUIRED COMPONENTS sqlite)", source="parts.cpp", flags=FLAGS)
        self.check_parts(program, there=())
        self.assertLessEqual(len(libraries_of(program)), MOST_LIBRARIES, libraries_of(program))

    def test_gives_a_program_the_urls_of_the_components_that_it_asks_for(self):
        for parts in (["postgres"], ["mysql", "redis"]):
            find = f"find_package(easyretry CONFIG REQUIRED COMPONENTS sqlite {' '.join(parts)})"
            self.check_parts(self.installed.program(find, source="parts.cpp", flags=FLAGS), parts)

    def test_can_be_linked_as_a_whole(self):
        program = self.installed.program(f"find_package(easyretry CONFIG REQUIRED COMPONENTS {EVERYTHING})", source="parts.cpp", flags=FLAGS)
        self.check_parts(program, SERVERS)

    def test_says_which_components_there_are(self):
        said = self.refusal("find_package(easyretry CONFIG REQUIRED COMPONENTS postgresql)")
        self.assertIn("EasyRetry has no component postgresql; there are: memory, sqlite, ", said)

    def test_leaves_out_an_optional_component_that_does_not_exist(self):
        program = self.installed.program("find_package(easyretry CONFIG REQUIRED OPTIONAL_COMPONENTS oracle)", flags=FLAGS)
        self.assertEqual(said_by(program), "paid 9.5\n")

    def test_is_of_no_use_for_another_minor_version(self):
        for version in ("0.2", "0.0.9", "1.0", "0.1.7"):
            said = self.refusal(f"find_package(easyretry {version} CONFIG REQUIRED)")
            self.assertIn(f'compatible with requested version "{version}"', said)
            self.assertIn("version: 0.1.0", said)

    def test_names_the_libraries_that_are_missing_with_debians_packages(self):
        said = self.refusal("find_package(easyretry CONFIG REQUIRED COMPONENTS sqlite postgres config)",
                            options=[f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("fmt", "yaml-cpp")], PKG_CONFIG_LIBDIR="/nowhere")
        for library in ("fmt 9 or newer (Debian: libfmt-dev)", "xxHash 0.8 or newer (Debian: libxxhash-dev)", "yaml-cpp (Debian: libyaml-cpp-dev)",
                        "libpq 12 or newer (Debian: libpq-dev)"):
            self.assertIn(library, said)
        self.assertNotIn("SQLite", said)

    def test_refuses_a_library_that_is_too_old(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "sqlite3.h").write_text('#define SQLITE_VERSION "3.34.1"\n')
            said = self.refusal("find_package(easyretry CONFIG REQUIRED)", options=[f"-DSQLite3_INCLUDE_DIR={folder}"])
        self.assertIn("EasyRetry needs SQLite 3.35 or newer (Debian: libsqlite3-dev), and not 3.34.1", said)

    def test_finds_a_lua_that_pkg_config_does_not_know(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(run("pkg-config", "--variable=pcfiledir", "libxxhash").strip() + "/libxxhash.pc", folder)
            program = self.installed.program("find_package(easyretry CONFIG REQUIRED)", flags=FLAGS, PKG_CONFIG_LIBDIR=folder)
        self.assertEqual(said_by(program), "paid 9.5\n")

    def test_is_found_by_pkg_config(self):
        self.assertEqual(said_by(self.installed.program_by_pkg_config(["easyretry"], flags=FLAGS)), "paid 9.5\n")
        self.check_parts(self.installed.program_by_pkg_config(["easyretry-postgres", "easyretry-redis"], "parts.cpp", FLAGS),
                         ["postgres", "redis"])

    def test_has_headers_that_compile_alone(self):
        include = self.installed.prefix / "include"
        headers = sorted(include.rglob("*.h"))
        self.assertGreater(len(headers), 20)

        def problem(header):
            with tempfile.NamedTemporaryFile("w", suffix=".cpp") as file:
                file.write(f"#include <{header.relative_to(include)}>\n")
                file.flush()
                try:
                    run(COMPILER, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I", include, file.name)
                except Failed as failed:
                    return str(failed)
            return None

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            self.assertEqual([said for said in pool.map(problem, headers) if said], [])


if __name__ == "__main__":
    unittest.main()
