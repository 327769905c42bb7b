"""The dashboard as easyretry serve serves it. Usage: dashboard_test.py EASYRETRY_PROGRAM"""
import gzip
import http.client
import os
import re
import unittest

from daemon_case import DaemonCase

ROOT = os.path.join(os.path.dirname(__file__), "..", "..", "web", "dist")


def files():
    for folder, _, names in os.walk(ROOT):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                yield "/" + os.path.relpath(path, ROOT), file.read()


class Dashboard(DaemonCase):
    def get(self, path, method="GET", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.daemon.port, timeout=30)
        try:
            connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            return answer.status, answer, answer.read()
        finally:
            connection.close()

    def test_every_file_is_served_as_it_was_built(self):
        self.start()
        for path, content in files():
            with self.subTest(path=path):
                status, head, body = self.get(path)
                self.assertEqual((status, body), (200, content))
                self.assertTrue(head.getheader("Content-Security-Policy").startswith("default-src 'none'; script-src 'self';"))
                self.assertEqual(head.getheader("X-Content-Type-Options"), "nosniff")
                self.assertEqual(head.getheader("Referrer-Policy"), "no-referrer")
                cached = "public, max-age=31536000, immutable" if path.startswith("/assets/") else "no-cache"
                self.assertEqual(head.getheader("Cache-Control"), cached)
                _, head, packed = self.get(path, Accept_Encoding="gzip")
                if head.getheader("Content-Encoding"):
                    self.assertEqual(gzip.decompress(packed), content)
                    self.assertLess(len(packed), len(content))

    def test_the_root_and_addresses_of_the_page_are_the_index(self):
        self.start()
        index = dict(files())["/index.html"]
        status, head, body = self.get("/")
        self.assertEqual((status, body, head.getheader("Content-Type")), (200, index, "text/html; charset=utf-8"))
        self.assertEqual(self.get("/tasks/17", Accept="text/html")[2], index)
        self.assertEqual(self.get("/", method="HEAD")[2], b"")
        for path, accept in (("/tasks/17", "application/json"), ("/v1/nothing", "text/html"), ("/assets/gone.js", "text/html")):
            status, head, _ = self.get(path, Accept=accept)
            self.assertEqual((status, head.getheader("Content-Type")), (404, "application/json"), path)
        self.assertEqual(self.get("/", method="POST")[0], 404)

    def test_a_browser_that_has_the_index_is_not_sent_it_again(self):
        self.start()
        connection = http.client.HTTPConnection("127.0.0.1", self.daemon.port, timeout=30)
        connection.request("GET", "/")
        answer = connection.getresponse()
        answer.read()
        for _ in range(2):  # the connection stays usable
            connection.request("GET", "/", headers={"If-None-Match": answer.getheader("ETag")})
            again = connection.getresponse()
            self.assertEqual((again.status, again.getheader("Content-Length"), again.read()), (304, None, b""))
        connection.close()

    def test_the_page_loads_nothing_from_elsewhere(self):
        for path, content in files():
            if path.endswith(".html"):
                self.assertEqual(re.findall(rb"(?:src|href)=[\"'](?:https?:)?//", content), [], path)
                self.assertEqual(re.findall(rb"<script(?![^>]*src=)(?![^>]*application/json)[^>]*>", content), [], "the policy forbids it")

    def test_the_host_is_checked_for_pages_too(self):
        self.start()
        self.assertEqual(self.get("/", Host="evil.example")[0], 421)

    def test_it_can_be_turned_off(self):
        self.start(server=", dashboard: off")
        self.assertEqual(self.get("/", Accept="text/html")[0], 404)
        self.assertNotIn("dashboard", self.daemon.ask("GET", "/v1/whoami")[1]["features"])
        self.daemon.stop()
        self.start()
        self.assertIn("dashboard", self.daemon.ask("GET", "/v1/whoami")[1]["features"])


if __name__ == "__main__":
    unittest.main()
