"""The Debian package of the program: its files, what dpkg is told about them, and its dependencies.
Usage: package_test.py EASYRETRY_PROGRAM BUILD_DIR CPACK

The program is that of this build, stripped. package_life_test.py installs the packages."""
import gzip
import os
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))

from made_packages import files_of, make_packages, run  # noqa: E402

PROGRAM, BUILD, CPACK = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory(prefix="easyretry-package-", ignore_cleanup_errors=True)
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        made = make_packages(CPACK, BUILD, cls.folder / "made")
        cls.names, cls.package = set(made), made["easyretry"]
        cls.files = cls.folder / "files"
        run("dpkg-deb", "-R", cls.package, cls.files)  # DEBIAN has the control files

    def text(self, file):
        return (self.files / file).read_text()

    def test_is_the_only_one_of_a_static_build(self):
        self.assertEqual(self.names, {"easyretry"})

    def test_has_program_units_manual_completions_and_configuration(self):
        self.assertEqual(files_of(self.package), {
            "/etc/easyretry/easyretry.yaml", "/usr/bin/easyretry", "/usr/lib/systemd/system/easyretry.service",
            "/usr/lib/systemd/system/easyretry.socket", "/usr/share/bash-completion/completions/easyretry",
            "/usr/share/doc/easyretry/changelog.gz", "/usr/share/doc/easyretry/copyright", "/usr/share/easyretry/alert-rules.yaml",
            "/usr/share/easyretry/grafana-dashboard.json", "/usr/share/fish/vendor_completions.d/easyretry.fish",
            "/usr/share/man/man1/easyretry.1.gz", "/usr/share/zsh/site-functions/_easyretry"})

    def test_has_files_that_fit_the_program(self):
        packed = self.files / "usr/bin/easyretry"
        self.assertIn("easyretry health", gzip.decompress((self.files / "usr/share/man/man1/easyretry.1.gz").read_bytes()).decode())
        for shell, file in (("bash", "bash-completion/completions/easyretry"), ("zsh", "zsh/site-functions/_easyretry"),
                            ("fish", "fish/vendor_completions.d/easyretry.fish")):
            self.assertEqual(run(packed, "completion", shell), self.text(f"usr/share/{file}").strip())
        self.assertIn("ExecStart=/usr/bin/easyretry serve --config /etc/easyretry/easyretry.yaml", self.text("usr/lib/systemd/system/easyretry.service"))

    def test_keeps_the_administrators_changes_of_the_configuration(self):
        self.assertEqual(self.text("DEBIAN/conffiles"), "/etc/easyretry/easyretry.yaml\n")

    def test_depends_on_the_libraries_that_the_program_is_linked_with(self):
        depends = re.search(r"^Depends: (.*)$", self.text("DEBIAN/control"), re.M).group(1)
        for library in ("libsqlite3-0", "libpq5", "libmariadb3", "libhiredis0.14", "libcurl4", "libssl3"):
            self.assertIn(library, depends)

    def test_belongs_to_root_and_can_be_changed_by_no_other_user(self):
        for line in run("dpkg-deb", "-c", self.package).splitlines():
            rights, owner = line.split()[:2]
            self.assertEqual(owner, "root/root", line)
            self.assertRegex(rights, "^l|^.{5}-..-.$", line)

    def test_is_of_the_version_of_the_program(self):
        self.assertEqual(run("dpkg-deb", "-f", self.package, "Version"), run(PROGRAM, "--version"))


class Installation(unittest.TestCase):
    def test_without_a_package_writes_nothing_outside_its_prefix(self):
        with tempfile.TemporaryDirectory() as folder:
            said = run(pathlib.Path(CPACK).with_name("cmake"), "--install", BUILD, "--prefix", folder)
            outside = [line for line in said.splitlines() if re.match(r"-- (Installing|Up-to-date):", line) and folder not in line]
            self.assertEqual(outside, [])


if __name__ == "__main__":
    unittest.main()
