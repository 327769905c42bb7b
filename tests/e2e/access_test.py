"""Roles, tokens and rate limits of easyretry serve. Usage: access_test.py EASYRETRY_PROGRAM"""
import http.client
import json
import os
import socket
import stat
import subprocess
import unittest

from daemon_case import PROGRAM, DaemonCase


class Access(DaemonCase):
    def test_the_first_token_is_private_and_kept_as_a_hash(self):
        daemon = self.start()
        folder = self.folder.name
        self.assertRegex(daemon.token, r"^er_[0-9a-f]{64}$")
        for name in ("easyretry.tokens", "easyretry.tokens.first"):
            self.assertEqual(stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode), 0o600)
        with open(os.path.join(folder, "easyretry.tokens")) as file:
            self.assertNotIn(daemon.token[3:], file.read())

    def test_a_role_has_its_rights_and_no_others(self):
        daemon = self.start()
        _, made = daemon.ask("POST", "/v1/tasks", {"handler": "mail"})
        attempts = {
            "view": ("GET", f"/v1/tasks/{made['id']}", None),
            "submit": ("POST", "/v1/tasks", {"handler": "mail"}),
            "work": ("POST", "/v1/leases", {"handlers": ["none"]}),
            "operate": ("POST", "/v1/tasks/1/cancel", None),
            "payloads": ("GET", f"/v1/tasks/{made['id']}?args", None),
        }
        allowed = {
            "viewer": {"view"},
            "viewer+payloads": {"view", "payloads"},
            "submitter": {"view", "submit"},
            "worker": {"work"},
            "application": {"view", "submit", "work"},
            "operator": {"view", "operate"},
            "admin": {"view", "submit", "work", "operate"},
        }
        for role, may in allowed.items():
            token = self.token(role.replace("+", "-"), role)
            seen = {what for what, request in attempts.items() if daemon.ask(*request, token=token)[0] != 403}
            self.assertEqual(seen, may, role)
        self.assertEqual(daemon.ask("GET", "/v1/tasks", token="er_" + "0" * 64)[0], 401)

    def test_changes_by_operators_are_logged_with_their_names(self):
        daemon = self.start(server=", audit: audit.jsonl")
        _, made = daemon.ask("POST", "/v1/tasks", {"handler": "mail"})
        token = self.token("ann", "operator")
        daemon.ask("POST", f"/v1/tasks/{made['id']}/cancel", token=token)
        daemon.ask("POST", "/v1/tasks/5/cancel", token=token)
        daemon.ask("GET", "/v1/tasks", token=token)
        with open(os.path.join(self.folder.name, "audit.jsonl")) as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual([(line["by"], line["request"], line["status"]) for line in lines],
                         [("ann", f"POST /v1/tasks/{made['id']}/cancel", "200"), ("ann", "POST /v1/tasks/5/cancel", "404")])

    def test_namespaces_do_not_see_each_other(self):
        daemon = self.start(server=", namespaces: [shop]")
        shop = self.token("shop", "admin+payloads", "shop")
        mine = self.token("mine", "admin+payloads", "default")
        _, made = daemon.ask("POST", "/v1/tasks", {"handler": "mail"}, token=mine)
        self.assertEqual(daemon.ask("GET", f"/v1/tasks/{made['id']}", token=shop)[0], 404)
        self.assertEqual(daemon.ask("GET", "/v1/tasks", token=shop)[1], {"tasks": []})
        self.assertEqual(daemon.ask("POST", f"/v1/tasks/{made['id']}/cancel", token=shop)[0], 404)
        self.assertEqual(daemon.ask("GET", "/v1/tasks", token=shop, headers={"easyretry-namespace": "default"})[0], 403)
        status, leased = daemon.ask("POST", "/v1/leases", {"handlers": ["mail"]}, token=shop)
        self.assertEqual((status, leased), (200, {"tasks": []}))
        [task] = daemon.ask("POST", "/v1/leases", {"handlers": ["mail"], "wait_ms": 5000}, token=mine)[1]["tasks"]
        status, _ = daemon.ask("POST", f"/v1/leases/{task['id']}/done", {"version": task["version"]}, token=shop)
        self.assertEqual(status, 409)
        theirs = {"tasks": [{"id": task["id"], "version": task["version"], "kind": "finish"}]}
        self.assertEqual(daemon.ask("POST", "/v1/leases/settle", theirs, token=shop)[1], {"applied": [False]})
        theirs = {"tasks": [{"id": task["id"], "version": task["version"]}]}
        self.assertEqual(daemon.ask("POST", "/v1/leases/renew", theirs, token=shop)[1], {"applied": [False]})
        self.assertEqual(daemon.ask("POST", "/v1/leases/renew", theirs, token=mine)[1], {"applied": [True]})

    def test_too_many_requests_are_refused_with_a_time_and_others_are_served(self):
        daemon = self.start(server=", requests_per_second: 5")
        often = self.token("often", "viewer")
        answers = [daemon.ask("GET", "/v1/tasks", token=often) for _ in range(30)]
        refused = [answer for status, answer in answers if status == 429]
        self.assertEqual(answers[0][0], 200)
        self.assertTrue(refused)
        self.assertEqual(refused[0]["error"]["code"], "too_many_requests")
        connection = http.client.HTTPConnection("127.0.0.1", daemon.port)
        seen = set()
        for _ in range(30):  # wrong tokens count against the address of the client
            connection.request("GET", "/v1/tasks", headers={"Authorization": "Bearer er_guess"})
            answer = connection.getresponse()
            answer.read()
            seen.add((answer.status, answer.getheader("Retry-After")))
        connection.close()
        self.assertEqual(seen, {(401, None), (429, "1")})
        self.assertEqual(daemon.ask("GET", "/v1/tasks")[0], 200, "another token")

    def refused(self, request, token=None, length=8_000_000):
        """(status, Retry-After, Connection) of a request. Only its head is sent."""
        shown = f"Authorization: Bearer {token}\r\n" if token else ""
        with socket.create_connection(("127.0.0.1", self.daemon.port), timeout=4) as asking:
            asking.sendall(f"{request} HTTP/1.1\r\nHost: localhost\r\n{shown}Content-Length: {length}\r\n\r\n".encode())
            answer = http.client.HTTPResponse(asking)
            answer.begin()
            self.assertTrue(json.loads(answer.read())["error"]["message"])
            return answer.status, answer.getheader("Retry-After"), answer.getheader("Connection")

    def test_whoever_is_refused_is_so_before_a_body_is_read(self):
        daemon = self.start(server=", namespaces: [shop]")
        viewer = self.token("v", "viewer")
        for status, request, token in ((401, "POST /v1/tasks", None),
                                       (401, "POST /v1/tasks", "er_guess"),
                                       (404, "POST /v1/nothing", None),
                                       (404, "POST /v1/nothing", daemon.token),
                                       (405, "PUT /v1/tasks", daemon.token),
                                       (403, "POST /v1/tasks", viewer),
                                       (413, "GET /healthz", None),
                                       (413, "GET /v1/tasks", daemon.token),
                                       (413, "POST /v1/tasks/5/cancel", daemon.token),
                                       (413, "POST /v1/handlers/mail/pause", daemon.token),
                                       (413, "POST /v1/leases", daemon.token)):
            with self.subTest(request=request, status=status):
                self.assertEqual(self.refused(request, token), (status, None, "close"))
        self.assertEqual(self.refused("POST /v1/tasks", daemon.token, 8 * 1024 * 1024 + 1)[0], 413)
        elsewhere = {"easyretry-namespace": "shop", "Content-Length": "8000000"}
        mine = self.token("mine", "admin", "default")
        self.assertEqual(daemon.ask("POST", "/v1/tasks", token=mine, headers=elsewhere)[0], 403)

    def test_a_client_that_tries_many_tokens_has_to_wait_and_a_valid_one_is_admitted_meanwhile(self):
        daemon = self.start()
        answers = [self.refused("GET /v1/tasks", f"er_{i}", 0) for i in range(12)]
        self.assertEqual(answers[:10], [(401, None, "close")] * 10)
        self.assertEqual(answers[10:], [(429, "1", "close")] * 2)
        self.assertEqual(daemon.ask("GET", "/v1/tasks")[0], 200)
        self.assertEqual(self.refused("GET /v1/tasks", None, 0)[0], 401, "no token is not a wrong one")

    def test_an_address_that_others_can_reach_needs_a_certificate(self):
        refused = subprocess.run([PROGRAM, "serve", "--listen", "0.0.0.0:0"], cwd=self.folder.name, capture_output=True,
                                 text=True, timeout=30)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("server.certificate", refused.stderr)


if __name__ == "__main__":
    unittest.main()
