#!/usr/bin/env python3
"""vcpkg_test.py CMAKE: the overlay port in packaging/vcpkg. vcpkg itself is not run: it would download and compile every dependency.

The manifest is held against the rules of vcpkg's manifests, and the portfile is run with functions in place of vcpkg's that
say what they were called with."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

CMAKE = sys.argv.pop(1)
ROOT = pathlib.Path(__file__).resolve().parent.parent
PORT = ROOT / "packaging/vcpkg/easyretry"
MANIFEST = json.loads((PORT / "vcpkg.json").read_text())
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")

# vcpkg's own functions, as far as a portfile can see them.
VCPKG = """cmake_minimum_required(VERSION 3.25)
set(PORT easyretry)
set(CURRENT_PACKAGES_DIR {folder}/packages)
set(CURRENT_HOST_INSTALLED_DIR {folder}/host)
function(vcpkg_check_features)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUT_FEATURE_OPTIONS" "FEATURES")
  while(arg_FEATURES)
    list(POP_FRONT arg_FEATURES feature variable)
    message(NOTICE "feature ${{feature}} ${{variable}}")
    if(feature IN_LIST FEATURES)
      list(APPEND options -D${{variable}}=ON)
    else()
      list(APPEND options -D${{variable}}=OFF)
    endif()
  endwhile()
  set(${{arg_OUT_FEATURE_OPTIONS}} ${{options}} PARENT_SCOPE)
endfunction()
foreach(name vcpkg_cmake_configure vcpkg_cmake_install vcpkg_cmake_config_fixup vcpkg_fixup_pkgconfig vcpkg_install_copyright)
  function(${{name}})
    list(JOIN ARGN " " arguments)
    message(NOTICE "${{CMAKE_CURRENT_FUNCTION}} ${{arguments}}")
  endfunction()
endforeach()
set(FEATURES core {features})
include({port}/portfile.cmake)
"""


def parts():
    """The optional parts of the build that are for applications."""
    found = re.findall(r"^optional_part\((\w+)", (ROOT / "src/CMakeLists.txt").read_text(), re.M)
    return set(found) - {"server"}


def dependencies():
    yield from MANIFEST["dependencies"]
    for feature in MANIFEST["features"].values():
        yield from feature["dependencies"]


class Manifest(unittest.TestCase):
    def test_has_fields_and_names_that_vcpkg_knows(self):
        self.assertLessEqual(set(MANIFEST), {"name", "version", "description", "license", "supports", "dependencies", "features"})
        for feature in MANIFEST["features"].values():
            self.assertLessEqual(set(feature), {"description", "dependencies"})
        for one in dependencies():
            if isinstance(one, dict):
                self.assertLessEqual(set(one), {"name", "host", "default-features", "features"})
        names = [MANIFEST["name"], *MANIFEST["features"], *(one if isinstance(one, str) else one["name"] for one in dependencies())]
        self.assertEqual([name for name in names if not NAME.fullmatch(name)], [])

    def test_is_of_the_version_of_the_project(self):
        self.assertIn(f"VERSION {MANIFEST['version']} ", (ROOT / "CMakeLists.txt").read_text())

    def test_has_a_feature_for_each_part(self):
        self.assertEqual(set(MANIFEST["features"]), parts())

    def test_depends_on_itself_only_with_features_that_exist(self):
        for one in dependencies():
            if isinstance(one, dict) and one["name"] == "easyretry":
                self.assertLessEqual(set(one["features"]), set(MANIFEST["features"]))


class Portfile(unittest.TestCase):
    def said(self, *features):
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder, "run.cmake")
            script.write_text(VCPKG.format(folder=folder, features=" ".join(features), port=PORT))
            ran = subprocess.run([CMAKE, "-P", script], capture_output=True, text=True, check=False)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertTrue(pathlib.Path(folder, "packages/share/easyretry/usage").exists())
            return ran.stderr

    def options(self, *features):
        line = re.search(r"^vcpkg_cmake_configure (.*)$", self.said(*features), re.M).group(1)
        return dict(re.findall(r"-D(\w+)=(\w+)", line))

    def test_builds_the_sources_that_it_is_in(self):
        self.assertIn(f"vcpkg_cmake_configure SOURCE_PATH {ROOT} ", self.said())
        self.assertIn(f"vcpkg_install_copyright FILE_LIST {ROOT}/LICENSE", self.said())

    def test_uses_the_pkg_config_that_it_depends_on(self):
        self.assertIn({"name": "pkgconf", "host": True}, MANIFEST["dependencies"])
        self.assertRegex(self.said(), r"-DPKG_CONFIG_EXECUTABLE=\S+/host/tools/pkgconf/pkgconf\s")

    def test_has_an_option_for_each_feature(self):
        pairs = dict(re.findall(r"^feature (\w+) (\w+)$", self.said(), re.M))
        self.assertEqual(pairs, {name: f"EASYRETRY_{name.upper()}" for name in MANIFEST["features"]})
        self.assertEqual(self.options("postgres")["EASYRETRY_POSTGRES"], "ON")
        self.assertEqual(self.options("postgres")["EASYRETRY_REDIS"], "OFF")

    def test_names_only_options_of_the_build(self):
        ours = set(re.findall(r"option\((EASYRETRY_\w+)", "".join(file.read_text() for file in [ROOT / "CMakeLists.txt", *ROOT.glob("cmake/*.cmake")])))
        ours |= {f"EASYRETRY_{part.upper()}" for part in parts() | {"server"}}
        self.assertEqual({name for name in self.options() if name.startswith("EASYRETRY_")} - ours, set())


if __name__ == "__main__":
    unittest.main()
