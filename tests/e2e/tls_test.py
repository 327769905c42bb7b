"""The TLS versions and ciphers that easyretry serve accepts and refuses, and workers that leave. Usage: tls_test.py EASYRETRY_PROGRAM"""
import json
import os
import socket
import ssl
import subprocess
import unittest

from daemon_case import DaemonCase


class Tls(DaemonCase):
    def setUp(self):
        super().setUp()
        for name, kind in (("rsa", "rsa:2048"), ("ec", "ec")):
            more = ["-pkeyopt", "ec_paramgen_curve:prime256v1"] if kind == "ec" else []
            subprocess.run(["openssl", "req", "-x509", "-newkey", kind, *more, "-nodes", "-days", "2", "-subj", "/CN=localhost",
                            "-keyout", f"{name}.key", "-out", f"{name}.pem"], cwd=self.folder.name, check=True,
                           capture_output=True)

    def serve(self, kind):
        self.start(server=f", certificate: {kind}.pem, private_key: {kind}.key")

    def spoken(self, *options):
        """"TLSv1.3 TLS_AES_256_GCM_SHA384", or nothing if the handshake failed."""
        said = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{self.daemon.port}", "-brief", *options],
                              input="", capture_output=True, text=True, timeout=30)
        lines = dict(line.split(": ", 1) for line in said.stderr.splitlines() if ": " in line)
        return f"{lines['Protocol version']} {lines['Ciphersuite']}" if "Ciphersuite" in lines else ""

    def test_old_versions_are_not_spoken(self):
        self.serve("rsa")
        self.assertTrue(self.spoken().startswith("TLSv1.3 "))
        self.assertTrue(self.spoken("-tls1_2").startswith("TLSv1.2 ECDHE-"))
        for old in ("-tls1", "-tls1_1"):
            self.assertEqual(self.spoken(old, "-cipher", "ALL:@SECLEVEL=0"), "", old)

    def test_only_suites_with_forward_secrecy_and_authenticated_encryption_are_spoken(self):
        for kind, name in (("rsa", "RSA"), ("ec", "ECDSA")):
            self.serve(kind)
            for good in (f"ECDHE-{name}-AES128-GCM-SHA256", f"ECDHE-{name}-CHACHA20-POLY1305"):
                self.assertEqual(self.spoken("-tls1_2", "-cipher", good), f"TLSv1.2 {good}")
            listed = subprocess.run(["openssl", "ciphers", "ALL:COMPLEMENTOFALL:@SECLEVEL=0"], capture_output=True, text=True,
                                    check=True).stdout.strip().split(":")
            weak = [each for each in listed if not each.startswith("TLS_")
                    and not (each.startswith("ECDHE-") and ("GCM" in each or "CHACHA20" in each))]
            self.assertIn("AES128-SHA", weak)
            self.assertEqual(self.spoken("-tls1_2", "-cipher", ":".join(weak) + ":@SECLEVEL=0"), "")
            self.daemon.kill()

    def send(self, path, body):
        """The connection, on which the answer will come."""
        context = ssl.create_default_context(cafile=os.path.join(self.folder.name, "rsa.pem"))
        context.check_hostname = False
        connection = context.wrap_socket(socket.create_connection(("127.0.0.1", self.daemon.port), timeout=20))
        self.addCleanup(connection.close)
        text = json.dumps(body)
        connection.sendall(f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {self.daemon.token}\r\n"
                           f"Content-Length: {len(text)}\r\n\r\n{text}".encode())
        return connection

    def answer_on(self, connection):
        said = b""
        while not said.endswith(b"}"):
            piece = connection.recv(65536)
            self.assertTrue(piece, said)
            said += piece
        return json.loads(said.split(b"\r\n\r\n", 1)[1])

    def test_a_worker_that_says_goodbye_gets_its_answer_and_no_task_any_more(self):
        self.serve("rsa")
        ask_for_tasks = {"handlers": ["mail"], "wait_ms": 60_000}
        leaving = self.send("/v1/leases", ask_for_tasks)
        leaving.setblocking(False)
        with self.assertRaises(ssl.SSLWantReadError):
            leaving.unwrap()  # the goodbye is sent; that of the daemon has not come
        leaving.settimeout(20)
        self.assertEqual(self.answer_on(leaving), {"tasks": []})
        made = self.answer_on(self.send("/v1/tasks", {"handler": "mail"}))
        [task] = self.answer_on(self.send("/v1/leases", ask_for_tasks))["tasks"]
        self.assertEqual((task["id"], task["attempts"], task["crashes"]), (made["id"], 1, 0))


if __name__ == "__main__":
    unittest.main()
