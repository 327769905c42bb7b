"""Sessions of browsers: log in, log out, expiry with the token, forged requests, lock-out. Usage: session_test.py EASYRETRY_PROGRAM"""
import http.client
import json
import ssl
import subprocess
import unittest

from daemon_case import PROGRAM, DaemonCase


class SessionCase(DaemonCase):
    address = "127.0.0.1"  # of the client
    tls = None

    def send(self, method, path, body=None, **headers):
        """(status, headers, answer) of one request without a token."""
        kind = http.client.HTTPSConnection if self.tls else http.client.HTTPConnection
        more = {"context": self.tls} if self.tls else {}
        connection = kind("127.0.0.1", self.daemon.port, timeout=30, source_address=(self.address, 0), **more)
        try:
            connection.request(method, path, None if body is None else json.dumps(body),
                               {name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            text = answer.read().decode()
            return answer.status, answer, json.loads(text) if text else None
        finally:
            connection.close()

    def log_in(self, token, **headers):
        """(session, cookie)"""
        status, head, session = self.send("POST", "/v1/session", {"token": token}, **headers)
        self.assertEqual(status, 200, session)
        return session, head.getheader("Set-Cookie").split(";")[0]

    def own(self, session, cookie):
        """Headers of a request from a page of the daemon."""
        return {"Cookie": cookie, "X_CSRF_Token": session["csrf"], "Origin": f"http://127.0.0.1:{self.daemon.port}"}

    def code(self, answer):
        status, _, body = answer
        return status, body["error"]["code"]


class Sessions(SessionCase):
    def test_a_person_logs_in_works_and_logs_out(self):
        daemon = self.start(server=", namespaces: [shop]")
        session, cookie = self.log_in(self.token("ann", "operator", "shop"))
        self.assertEqual((session["name"], session["role"], session["namespaces"]), ("ann", "operator", ["shop"]))
        self.assertEqual(session["rights"], ["view", "operate"])
        self.assertEqual(self.send("GET", "/v1/session", Cookie=cookie)[2], session)
        self.assertEqual(self.send("GET", "/v1/tasks", Cookie=cookie)[0], 200)
        _, made = daemon.ask("POST", "/v1/tasks", {"handler": "mail", "delay_ms": 60_000}, headers={"easyretry-namespace": "shop"})
        own = self.own(session, cookie)
        self.assertEqual(self.send("POST", f"/v1/tasks/{made['id']}/cancel", **own)[0], 200)
        self.assertEqual(self.send("POST", "/v1/tasks", {"handler": "mail"}, **own)[0], 403, "an operator may not submit")

        status, head, _ = self.send("DELETE", "/v1/session", **own)
        self.assertEqual(status, 200)
        self.assertIn("easyretry_session=;", head.getheader("Set-Cookie"))
        self.assertIn("Max-Age=0", head.getheader("Set-Cookie"))
        self.assertEqual(self.code(self.send("GET", "/v1/tasks", Cookie=cookie)), (401, "session_ended"))
        self.assertEqual(self.send("GET", "/v1/session", Cookie=cookie)[0], 401)

    def test_the_cookie_is_kept_from_scripts_other_sites_and_caches(self):
        daemon = self.start()
        _, head, session = self.send("POST", "/v1/session", {"token": daemon.token})
        said = head.getheader("Set-Cookie")
        for word in ("HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=28800"):
            self.assertIn(f"; {word}", said)
        self.assertNotIn("Secure", said)
        self.assertNotIn(daemon.token, said + json.dumps(session))
        self.assertEqual(head.getheader("Cache-Control"), "no-store")
        _, head, _ = self.send("POST", "/v1/session", {"token": daemon.token}, X_Forwarded_Proto="https")
        self.assertIn("; Secure", head.getheader("Set-Cookie"), "a proxy speaks TLS")

    def test_a_session_ends_with_its_token_and_with_the_daemon(self):
        daemon = self.start()
        _, cookie = self.log_in(self.token("ann", "viewer"))
        _, of_admin = self.log_in(daemon.token)
        subprocess.run([PROGRAM, "token", "revoke", "ann"], cwd=self.folder.name, capture_output=True, check=True)
        self.assertEqual(self.send("GET", "/v1/tasks", Cookie=cookie)[0], 401)
        self.assertEqual(self.send("GET", "/v1/tasks", Cookie=of_admin)[0], 200)
        daemon.stop()
        self.start()
        self.assertEqual(self.send("GET", "/v1/tasks", Cookie=of_admin)[0], 401)

    def test_who_logs_in_again_has_one_session(self):
        daemon = self.start()
        _, first = self.log_in(daemon.token)
        _, second = self.log_in(daemon.token, Cookie=first)
        self.assertNotEqual(first, second)
        self.assertEqual(self.send("GET", "/v1/tasks", Cookie=first)[0], 401)
        self.assertEqual(self.send("GET", "/v1/tasks", Cookie=second)[0], 200)

    def test_a_change_that_another_page_forges_is_refused(self):
        daemon = self.start()
        session, cookie = self.log_in(daemon.token)
        _, made = daemon.ask("POST", "/v1/tasks", {"handler": "mail", "delay_ms": 60_000})
        own = self.own(session, cookie)
        path = f"/v1/tasks/{made['id']}/cancel"
        other, _ = self.log_in(daemon.token)
        forged = [{"Cookie": cookie}, {**own, "X_CSRF_Token": "x"}, {**own, "X_CSRF_Token": other["csrf"]},
                  {**own, "Origin": "http://evil.example"}, {**own, "Origin": "null"}, {**own, "Sec_Fetch_Site": "cross-site"},
                  {"Cookie": cookie, "X_CSRF_Token": session["csrf"]}]
        for headers in forged:
            for method, at in (("POST", path), ("PATCH", f"/v1/tasks/{made['id']}"), ("DELETE", "/v1/session")):
                self.assertEqual(self.code(self.send(method, at, **headers)), (403, "csrf"), headers)
        self.assertEqual(daemon.ask("GET", f"/v1/tasks/{made['id']}")[1]["state"], "pending")
        self.assertEqual(self.send("POST", path, **own)[0], 200)

    def test_another_page_cannot_log_a_person_in(self):
        daemon = self.start()
        for headers in ({"Origin": "http://evil.example"}, {"Sec_Fetch_Site": "cross-site"}):
            self.assertEqual(self.code(self.send("POST", "/v1/session", {"token": daemon.token}, **headers)), (403, "csrf"))

    def test_a_token_works_as_before_also_beside_a_cookie(self):
        daemon = self.start()
        _, cookie = self.log_in(self.token("ann", "viewer"))
        bearer = {"Authorization": f"Bearer {daemon.token}", "Cookie": cookie}
        self.assertEqual(self.send("POST", "/v1/tasks", {"handler": "mail"}, **bearer)[0], 201, "no browser is involved")
        wrong = {"Authorization": "Bearer er_guess", "Cookie": cookie}
        self.assertEqual(self.send("GET", "/v1/tasks", **wrong)[0], 401)

    def test_an_address_that_tries_many_tokens_is_locked_out(self):
        daemon = self.start()
        _, cookie = self.log_in(daemon.token)
        for number in range(10):
            self.assertEqual(self.code(self.send("POST", "/v1/session", {"token": f"er_{number}"})), (401, "unauthorized"))
        status, head, answer = self.send("POST", "/v1/session", {"token": daemon.token})
        self.assertEqual((status, answer["error"]["code"]), (429, "too_many_wrong_tokens"))
        self.assertTrue(50 <= int(head.getheader("Retry-After")) <= 60)
        self.assertEqual(self.send("GET", "/v1/tasks", Cookie=cookie)[0], 200, "those who are in stay in")
        self.assertEqual(daemon.ask("GET", "/v1/tasks")[0], 200, "tokens go on working")
        self.address = "127.0.0.2"
        self.log_in(daemon.token)

    def test_a_bad_body_is_refused_with_the_reason(self):
        self.start()
        for body, status in (({}, 400), ({"token": 5}, 400), ([], 400), ({"token": "x", "user": "ann"}, 422)):
            self.assertEqual(self.send("POST", "/v1/session", body)[0], status, body)
        self.assertEqual(self.send("POST", "/v1/session", {"token": "x" * 10_000})[0], 413)
        self.assertEqual(self.send("PUT", "/v1/session", {"token": "x"})[0], 405)


class OverTls(SessionCase):
    def test_the_cookie_is_sent_over_tls_only(self):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                        "-subj", "/CN=localhost", "-keyout", "k.pem", "-out", "c.pem"], cwd=self.folder.name, check=True, capture_output=True)
        self.tls = ssl._create_unverified_context()
        daemon = self.start(server=", certificate: c.pem, private_key: k.pem")
        _, head, session = self.send("POST", "/v1/session", {"token": daemon.token})
        self.assertIn("; Secure", head.getheader("Set-Cookie"))
        own = self.own(session, head.getheader("Set-Cookie").split(";")[0])
        self.assertEqual(self.code(self.send("DELETE", "/v1/session", **own)), (403, "csrf"), "a page of http:// is another's")
        own["Origin"] = own["Origin"].replace("http:", "https:")
        self.assertEqual(self.send("DELETE", "/v1/session", **own)[0], 200)


class Whoami(SessionCase):
    def test_a_token_learns_its_rights_and_namespaces(self):
        daemon = self.start(server=", namespaces: [shop], audit: audit.jsonl")
        _, first = daemon.ask("GET", "/v1/whoami")
        self.assertEqual((first["name"], first["role"], first["namespaces"]), ("first", "admin+payloads", "*"))
        self.assertEqual(first["rights"], ["view", "submit", "work", "operate", "payloads", "administer"])
        self.assertTrue(first["store"].startswith("sqlite:") and first["store"].endswith("/retry.db"), first["store"])
        self.assertIn("power cut", first["durability"])
        self.assertIn("audit", first["features"])
        said = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout
        self.assertIn(first["version"], said)
        self.assertEqual(daemon.ask("GET", "/v1/namespaces")[1], {"namespaces": ["default", "shop"]})
        shop = self.token("shop", "worker", "shop")
        _, seen = daemon.ask("GET", "/v1/whoami", token=shop)
        self.assertEqual((seen["namespaces"], seen["rights"]), (["shop"], ["work"]))
        self.assertEqual(daemon.ask("GET", "/v1/namespaces", token=shop)[1], {"namespaces": ["shop"]})


if __name__ == "__main__":
    unittest.main()
