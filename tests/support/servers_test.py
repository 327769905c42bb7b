"""Tests servers.py from the outside. unit/support tests what its servers do with data."""
import contextlib
import io
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import processes
import programs
import servers

# The kinds that this test run has; those from Debian packages are always there.
KINDS = os.environ.get("SERVER_KINDS", "postgres mariadb redis").split()


def eventually(condition):
    with contextlib.suppress(servers.Problem):
        processes.wait_until(condition, "")
    return condition()


class Servers(unittest.TestCase):
    def setUp(self):
        temp = tempfile.TemporaryDirectory()
        self.addCleanup(temp.cleanup)
        self.temp = pathlib.Path(temp.name)  # mode 0700: this also tests that a server can live in a folder that only root may enter
        self.folder = self.temp / "easyretry-server-x"
        self.addCleanup(self.remove_server)

    def remove_server(self):
        if self.folder.exists():
            self.run_tool("remove", "--folder", self.folder)

    def run_tool(self, *words):
        return subprocess.run([sys.executable, servers.__file__, *words], capture_output=True, text=True, timeout=240,
                              env=os.environ | {"TMPDIR": str(self.temp)})

    def tool(self, *words):
        """The output of a command that must succeed."""
        done = self.run_tool(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def here(self, command, *words):
        return self.tool(command, *words, "--folder", self.folder)

    def start(self, kind="postgres", *words):
        return self.here("start", kind, "--no-sync", *words)

    def process(self):
        return servers.Server(self.folder).state["process"]

    def an_owner(self):
        owner = subprocess.Popen(["sleep", "3600"])
        self.addCleanup(owner.wait)
        self.addCleanup(owner.kill)
        return owner

    def assert_goes(self, process):
        self.assertTrue(eventually(lambda: not processes.alive(process)), "the server still runs")
        self.assertTrue(eventually(lambda: not self.folder.exists()), "its folder is still there")

    def test_starts_one_server_however_often_it_is_asked(self):
        url = self.start()
        self.assertRegex(url, r"^postgres://easyretry:secret@127\.0\.0\.1:\d+/easyretry\n$")
        process = self.process()
        self.assertEqual(self.start(), url)
        self.assertEqual(self.process(), process)
        self.assertEqual(self.here("url"), url)
        self.assertEqual(self.here("status"), "running\n")

        other_kind = self.run_tool("start", "mariadb", "--folder", self.folder)
        self.assertIn("holds a postgres server", other_kind.stderr)

        owner = self.an_owner()
        self.start("postgres", "--owner", str(owner.pid))
        self.here("release", "--owner", str(owner.pid))
        self.assertEqual(self.here("status"), "running\n", "made without an owner, it stays")

    def test_kill_leaves_no_process_and_a_start_is_on_the_same_port(self):
        for kind in KINDS:
            url = self.start(kind)
            family = [self.process(), *processes.children_of(self.process()[0])]
            self.here("kill")
            self.assertFalse([process for process in family if processes.alive(process)])
            self.assertEqual(self.run_tool("status", "--folder", self.folder).returncode, 3)
            self.assertEqual(self.start(kind), url)
            self.assertEqual(self.here("restart"), url)
            self.here("remove")

    def test_a_killed_and_removed_server_leaves_no_shared_memory(self):
        self.start()
        creator = self.process()[0]
        self.here("kill")
        self.here("remove")
        left = pathlib.Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
        self.assertFalse([line for line in left if int(line.split()[4]) == creator])

    def test_a_dead_owners_server_goes(self):
        owner = self.an_owner()
        self.start("postgres", "--owner", str(owner.pid))
        process = self.process()
        owner.kill()  # not waited for: a zombie counts as dead
        self.assert_goes(process)

    def test_a_server_stays_for_the_last_of_its_owners(self):
        first, last = self.an_owner(), self.an_owner()
        for owner in (first, last):
            self.start("postgres", "--owner", str(owner.pid))
        process = self.process()
        self.here("release", "--owner", str(first.pid))
        self.assertTrue(processes.alive(process))
        self.here("release", "--owner", str(last.pid))
        self.assertFalse(processes.alive(process))
        self.assertFalse(self.folder.exists())

    def test_clean_removes_what_lost_its_watcher_too_and_nothing_else(self):
        owner = self.an_owner()
        self.start("postgres", "--owner", str(owner.pid))
        process, watcher = self.process(), servers.Server(self.folder).state["watcher"]
        self.tool("clean")
        self.assertTrue(processes.alive(process), "its owner lives")
        os.kill(watcher[0], signal.SIGKILL)
        owner.kill()
        owner.wait()
        self.assertTrue(eventually(lambda: not processes.alive(watcher)))
        self.tool("clean")
        self.assert_goes(process)

    def test_offers_tls_with_a_certificate_that_its_authority_signed(self):
        for kind, protocol in (("postgres", "postgres"), ("mariadb", "mysql")):
            self.start(kind)
            port = servers.Server(self.folder).state["port"]
            check = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-starttls", protocol,
                                    "-CAfile", self.folder / "tls/ca.crt", "-verify_ip", "127.0.0.1",
                                    "-verify_return_error"],
                                   input="", capture_output=True, text=True, timeout=60)
            self.assertIn("Verification: OK", check.stdout, check.stderr)
            self.here("remove")

    def test_says_which_package_a_missing_program_is_in(self):
        for kind, package in (("postgres", "postgresql"), ("mariadb", "mariadb-server-core")):
            with mock.patch.object(programs, "program_folders", lambda: [str(self.temp)]), \
                    contextlib.redirect_stderr(io.StringIO()) as said:
                self.assertEqual(servers.main(["start", kind, "--folder", str(self.temp / kind)]), 1)
            self.assertRegex(said.getvalue(), f"is not installed: .*apt-get install {package}")

    def test_leaves_folders_of_others_alone(self):
        (self.temp / "thesis.txt").touch()
        refused = self.run_tool("start", "postgres", "--folder", self.temp)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("not empty", refused.stderr)
        for command in ("stop", "kill", "restart", "url", "status", "remove"):
            refused = self.run_tool(command, "--folder", self.temp)
            self.assertEqual(refused.returncode, 1)
            self.assertIn("there is no server in", refused.stderr)
        self.assertEqual([path.name for path in self.temp.iterdir()], ["thesis.txt"])


if __name__ == "__main__":
    unittest.main()
