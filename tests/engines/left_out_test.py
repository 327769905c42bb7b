"""An engine that cannot be had is left out with a line that says why: left_out_test.py. Nothing is downloaded."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent


class LeftOut(unittest.TestCase):
    def setUp(self):
        self.build = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_without_tools(self, test, *arguments):
        """With an empty PATH: no Maven, no apt."""
        return subprocess.run([sys.executable, HERE / test, *arguments], capture_output=True, text=True, check=False,
                              env={**os.environ, "PATH": str(self.build)})

    def expect_line(self, done, engine, why):
        self.assertEqual(done.returncode, 77, done.stdout + done.stderr)
        self.assertRegex((self.build / "engines/left-out" / engine).read_text(), f"{engine}: {why}")

    def test_a_server_that_maven_cannot_get(self):
        self.expect_line(self.run_without_tools("matrix_test.py", "postgres-17.11.0", "conformance", "fault_test", self.build / "engines"),
                         "postgres-17.11.0", "Maven cannot get .*mvn")

    @unittest.skipIf(os.path.exists("/usr/lib/galera/libgalera_smm.so"), "the provider of Galera is installed here")
    def test_a_provider_of_galera_that_cannot_be_downloaded(self):
        self.expect_line(self.run_without_tools("galera_test.py", "kill_worker", self.build / "galera"), "galera", "galera-4 is not installed")

    def test_all_engines_are_skipped_in_the_same_way(self):
        text = (HERE.parent / "CMakeLists.txt").read_text()
        for engine in ("galera", "${engine}"):
            self.assertRegex(text, rf"set_tests_properties\(engines_{re.escape(engine)} PROPERTIES [^)]*SKIP_RETURN_CODE 77\)")

    def test_what_the_downloads_need_is_installed(self):
        """Maven runs only with a JDK."""
        [engines] = re.findall(r"^engines: (.*)$", (HERE.parents[1] / "tools/packages.txt").read_text(), re.M)
        self.assertLessEqual({"pgbouncer", "maven", "default-jdk-headless"}, set(engines.split()))


if __name__ == "__main__":
    unittest.main()
