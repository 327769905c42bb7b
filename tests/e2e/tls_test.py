"""The TLS versions and ciphers that easyretry serve accepts and refuses. Usage: tls_test.py EASYRETRY_PROGRAM"""
import os
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


if __name__ == "__main__":
    unittest.main()
