"""Where easyretry serve listens: errors quote the wrong setting, and plain HTTP for other machines must be allowed explicitly.
Usage: listen_test.py EASYRETRY_PROGRAM"""
import http.client
import os
import re
import socket
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
UNENCRYPTED = "tokens and arguments are sent unencrypted"


class Listen(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def refused(self, *arguments, code=1, **environment):
        ran = subprocess.run([PROGRAM, "serve", *arguments], cwd=self.folder, capture_output=True, text=True, timeout=30, check=False,
                             env={**os.environ, **environment})
        self.assertEqual((ran.returncode, ran.stdout), (code, ""), ran.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "retry.db")), "nothing was made")
        return ran.stderr

    def start(self, *arguments, **environment):
        """(port, log so far)"""
        with open(os.path.join(self.folder, "stderr"), "w") as log:
            process = subprocess.Popen([PROGRAM, "serve", *arguments], cwd=self.folder, stdout=subprocess.PIPE, stderr=log, text=True,
                                       env={**os.environ, **environment})
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        said = ""
        for line in process.stdout:
            said += line
            if found := re.search(r"serves http://\S+:(\d+)$", line):
                break
        with open(os.path.join(self.folder, "stderr")) as log:
            logged = log.read()
        self.assertTrue(said, logged)
        return int(found.group(1)), logged

    def test_an_error_names_the_option(self):
        for value, said in (("nonsense", '--listen: "nonsense"; write an address and a port'),
                            ("127.0.0.1:99999", '--listen: "127.0.0.1:99999"; write an address and a port'),
                            ("localhost:0", '--listen: "localhost" is not an address to listen on; write an address and a port'),
                            ("0.0.0.0:0", "--listen is 0.0.0.0:0, which other machines can reach")):
            with self.subTest(value=value):
                error = self.refused("--listen", value, code=1 if value == "0.0.0.0:0" else 2)
                self.assertIn(said, error)
                self.assertNotIn("EASYRETRY_", error)
        self.assertIn("--store: ", self.refused("--store", "nonsense"))

    def test_a_port_that_is_taken_is_one_of_the_option(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            ran = subprocess.run([PROGRAM, "serve", "--listen", address], cwd=self.folder, capture_output=True, text=True, timeout=30, check=False)
            self.assertEqual(ran.returncode, 1)
            self.assertIn("easyretry: --listen: cannot listen on 127.0.0.1 port", ran.stderr)
            ran = subprocess.run([PROGRAM, "serve"], cwd=self.folder, capture_output=True, text=True, timeout=30, check=False,
                                 env={**os.environ, "EASYRETRY_SERVER_LISTEN": address})
            self.assertIn("easyretry: server.listen: cannot listen on 127.0.0.1 port", ran.stderr)

    def test_an_error_names_the_variable_or_the_key_if_that_is_where_it_stands(self):
        self.assertIn('EASYRETRY_SERVER_LISTEN: "nonsense"', self.refused(EASYRETRY_SERVER_LISTEN="nonsense"))
        self.assertIn("server.listen is 0.0.0.0:0", self.refused(EASYRETRY_SERVER_LISTEN="0.0.0.0:0"))
        with open(os.path.join(self.folder, "easyretry.yaml"), "w") as file:
            file.write("server: {listen: localhost:0}\n")
        self.assertIn('easyretry.yaml:1:18: server.listen: "localhost" is not an address', self.refused())

    def test_plain_http_for_others_has_to_be_allowed_and_is_warned_of(self):
        error = self.refused("--listen", "0.0.0.0:0")
        self.assertIn("server.allow_plain_http (--allow-plain-http)", error)
        for arguments, environment in ((["--allow-plain-http"], {}), ([], {"EASYRETRY_SERVER_ALLOW_PLAIN_HTTP": "true"})):
            port, log = self.start("--listen", "0.0.0.0:0", *arguments, **environment, EASYRETRY_STORE="memory:")
            self.assertRegex(log, f"(?m)^\\S+ easyretry: warning: --listen is 0.0.0.0:0 without TLS.*{UNENCRYPTED}")
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            connection.request("GET", "/healthz")
            self.assertEqual(connection.getresponse().status, 200)
            connection.close()

    def test_a_warning_names_the_key_if_that_is_where_it_stands(self):
        _, log = self.start("--allow-plain-http", EASYRETRY_STORE="memory:", EASYRETRY_SERVER_LISTEN="0.0.0.0:0")
        self.assertIn("warning: server.listen is 0.0.0.0:0 without TLS", log)

    def test_an_address_of_another_machine_is_no_other_daemon(self):
        ran = subprocess.run([PROGRAM, "serve", "--listen", "192.0.2.7:0", "--allow-plain-http"], cwd=self.folder, capture_output=True, text=True,
                             timeout=30, check=False, env={**os.environ, "EASYRETRY_STORE": "memory:"})
        self.assertEqual(ran.returncode, 1)
        self.assertIn("--listen: cannot listen on 192.0.2.7 port 0: Cannot assign requested address; no network interface of this machine has "
                      "this address", ran.stderr)
        self.assertNotIn("another daemon", ran.stderr)

    def test_nothing_is_warned_of_on_loopback(self):
        _, log = self.start("--listen", "127.0.0.1:0", "--allow-plain-http", EASYRETRY_STORE="memory:")
        self.assertNotIn(UNENCRYPTED, log)


if __name__ == "__main__":
    unittest.main()
