"""easyretry serve over HTTP, as curl would use it, on SQLite; killed for real. Usage: serve_test.py EASYRETRY_PROGRAM"""
import base64
import concurrent.futures
import hmac
import http.client
import http.server
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from daemon import Daemon

PROGRAM = os.path.abspath(sys.argv.pop(1))


class Serve(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.daemon = None

    def tearDown(self):
        if self.daemon and self.daemon.process.poll() is None:
            self.daemon.kill()
        self.folder.cleanup()

    def start(self, config="", server=""):
        self.daemon = Daemon(PROGRAM, self.folder.name, config, server)
        return self.daemon

    def token(self, name, role, space="default"):
        made = subprocess.run([PROGRAM, "token", "create", name, "--role", role, "--space", space], cwd=self.folder.name,
                              capture_output=True, text=True, check=True)
        return made.stdout.strip()

    def test_a_task_is_submitted_fetched_and_done(self):
        daemon = self.start()
        status, made = daemon.ask("POST", "/v1/tasks", {"handler": "mail", "args": [{"to": "ann"}], "business_id": "7"})
        self.assertEqual((status, made["created"]), (201, True))
        status, again = daemon.ask("POST", "/v1/tasks", {"handler": "mail", "args": [{"to": "ann"}], "business_id": "7"})
        self.assertEqual((status, again["created"], again["id"]), (200, False, made["id"]))

        [task] = daemon.lease()
        self.assertEqual((task["id"], task["args"], task["attempts"], task["state"]),
                         (made["id"], [{"to": "ann"}], 1, "running"))
        status, answer = daemon.ask("POST", f"/v1/leases/{task['id']}/done", {"version": task["version"], "result": {"ok": 1}})
        self.assertEqual((status, answer["outcome"]), (200, "succeeded"))

        _, shown = daemon.ask("GET", f"/v1/tasks/{made['id']}")
        self.assertEqual((shown["state"], shown["outcome"]), ("finished", "succeeded"))
        _, history = daemon.ask("GET", "/v1/history?business_id=7")
        self.assertEqual([task["id"] for task in history["tasks"]], [made["id"]])
        _, live = daemon.ask("GET", "/v1/tasks")
        self.assertEqual(live, {"tasks": []})

    def test_what_fails_is_retried_by_its_policy_and_ends_by_it(self):
        daemon = self.start("handlers:\n  mail: {max_attempts: 2, backoff: 'fixed delay=10ms'}\n")
        daemon.ask("POST", "/v1/tasks", {"handler": "mail", "key": "k"})
        [task] = daemon.lease()
        _, answer = daemon.ask("POST", f"/v1/leases/{task['id']}/fail", {"version": task["version"], "error": "503"})
        self.assertEqual(answer["retry_in_ms"], 10)
        [task] = daemon.lease()
        self.assertEqual((task["attempts"], task["last_error"]), (2, "503"))
        _, answer = daemon.ask("POST", f"/v1/leases/{task['id']}/fail", {"version": task["version"], "error": "504"})
        self.assertEqual(answer["outcome"], "exhausted")
        status, again = daemon.ask("POST", f"/v1/tasks/{task['id']}/requeue")
        self.assertEqual(status, 201)
        self.assertEqual(daemon.lease()[0]["id"], again["id"])

    def test_success_when_judges_what_a_worker_says(self):
        daemon = self.start("handlers:\n  mail: {success_when: result.code == 200, backoff: 'fixed delay=1h'}\n")
        daemon.ask("POST", "/v1/tasks", {"handler": "mail"})
        [task] = daemon.lease()
        _, answer = daemon.ask("POST", f"/v1/leases/{task['id']}/done", {"version": task["version"], "result": {"code": 500}})
        self.assertEqual(answer["retry_in_ms"], 3_600_000)

    def test_a_late_answer_gets_409_and_changes_nothing(self):
        daemon = self.start()
        _, made = daemon.ask("POST", "/v1/tasks", {"handler": "mail"})
        [late] = daemon.lease(lease_ms=200)
        [task] = daemon.lease()
        self.assertEqual((task["id"], task["crashes"]), (late["id"], 1), "its lease had run out")
        for verb, more in (("done", {}), ("fail", {"error": "x"}), ("renew", {})):
            status, answer = daemon.ask("POST", f"/v1/leases/{late['id']}/{verb}", {"version": late["version"], **more})
            self.assertEqual((verb, status, answer["error"]["code"]), (verb, 409, "lease_lost"))
        _, shown = daemon.ask("GET", f"/v1/tasks/{made['id']}")
        self.assertEqual((shown["state"], shown["version"]), ("running", task["version"]))

    def test_a_lease_is_renewed_with_a_note_of_progress_and_lost_by_a_cancel(self):
        daemon = self.start()
        daemon.ask("POST", "/v1/tasks", {"handler": "mail"})
        [task] = daemon.lease()
        path = f"/v1/leases/{task['id']}/renew"
        status, _ = daemon.ask("POST", path, {"version": task["version"], "lease_ms": 60_000, "progress": "half"})
        self.assertEqual(status, 200)
        _, shown = daemon.ask("GET", f"/v1/tasks/{task['id']}")
        self.assertEqual(shown["progress"], "half")
        self.assertEqual(daemon.ask("POST", f"/v1/tasks/{task['id']}/cancel")[0], 200)
        self.assertEqual(daemon.ask("POST", path, {"version": task["version"]})[0], 409)

    def test_a_worker_that_waits_gets_a_task_the_moment_it_comes(self):
        daemon = self.start()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(daemon.lease)
            time.sleep(0.3)
            daemon.ask("POST", "/v1/tasks", {"handler": "mail", "delay_ms": 200})
            self.assertEqual(len(waiting.result(timeout=10)), 1)

    def test_a_worker_that_went_away_while_it_waited_takes_no_task_along(self):
        daemon = self.start()
        body = json.dumps({"handlers": ["mail"], "wait_ms": 30_000})
        for _ in range(5):
            gone = socket.create_connection(("127.0.0.1", daemon.port))
            gone.sendall((f"POST /v1/leases HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {daemon.token}\r\n"
                          f"Content-Length: {len(body)}\r\n\r\n{body}").encode())
            time.sleep(0.1)
            gone.close()
        time.sleep(0.2)
        daemon.ask("POST", "/v1/tasks", {"handler": "mail"})
        [task] = daemon.lease()
        self.assertEqual((task["attempts"], task["deliveries"]), (1, 1))

    def test_what_was_acknowledged_survives_a_kill(self):
        daemon = self.start()
        keys = []

        def submit(number):
            try:
                for i in range(10_000):
                    status, made = daemon.ask("POST", "/v1/tasks", {"handler": "mail", "key": f"{number}-{i}"})
                    if status == 201:
                        keys.append(made["key"])
            except (OSError, http.client.HTTPException):
                pass

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for number in range(4):
                pool.submit(submit, number)
            while len(keys) < 200:
                time.sleep(0.01)
            daemon.kill()
        again = self.start()
        found = set()
        after = ""
        while True:
            _, page = again.ask("GET", f"/v1/tasks?limit=1000{after}")
            found.update(task["key"] for task in page["tasks"])
            if "next" not in page:
                break
            after = f"&after={page['next']}"
        self.assertLessEqual(set(keys), found)
        self.assertEqual(len(again.lease(max=50)), 50)

    def bulk(self, status=202, **body):
        answered, answer = self.daemon.ask("POST", "/v1/bulk", body)
        self.assertEqual(answered, status, answer)
        while status == 202 and "ended_at" not in answer:
            time.sleep(0.02)
            answer = self.daemon.ask("GET", f"/v1/bulk/{answer['id']}")[1]
        return answer

    def test_what_a_filter_finds_is_changed_at_once(self):
        daemon = self.start(server=", audit: audit.jsonl")
        for handler in ("mail", "ship"):
            daemon.ask("POST", "/v1/tasks", {"tasks": [{"handler": handler, "args": [i]} for i in range(1200)]})
        foreseen = self.bulk(200, action="cancel", filter={"handler": "mail"}, dry_run=True)
        self.assertEqual((foreseen["matched"], len(foreseen["sample"])), (1200, 10))
        self.assertEqual(daemon.ask("GET", "/v1/handlers")[1]["handlers"][0]["live"], 1200)

        self.assertIn("finds 1200", self.bulk(422, action="cancel", filter={"handler": "mail"}, most=1199)["error"]["message"])
        self.assertIn("every task", self.bulk(422, action="cancel")["error"]["message"])
        self.assertIn("did you mean handler", self.bulk(422, action="cancel", filter={"handlr": "x"})["error"]["message"])
        self.bulk(422, action="cancel", filter={"handler": "mail", "limit": "5"})
        self.assertIn("handler is empty", self.bulk(422, action="cancel", filter={"handler": ""})["error"]["message"])
        self.bulk(422, action="explode", filter={"handler": "mail"})
        self.bulk(400, action="cancel", filter=["mail"])

        job = self.bulk(action="cancel", filter={"handler": "mail"})
        self.assertEqual((job["state"], job["matched"], job["changed"], job["skipped"]), ("done", 1200, 1200, 0))
        job = self.bulk(action="requeue", filter={"outcome": "cancelled", "handler": "mail"})
        self.assertEqual((job["state"], job["changed"]), ("done", 1200))
        counts = {each["name"]: each["live"] for each in daemon.ask("GET", "/v1/handlers")[1]["handlers"]}
        self.assertEqual(counts, {"mail": 1200, "ship": 1200})
        self.assertEqual(len(daemon.ask("GET", "/v1/bulk")[1]["jobs"]), 2)
        self.assertEqual(daemon.ask("POST", "/v1/bulk/17/stop")[0], 404)
        with open(os.path.join(self.folder.name, "audit.jsonl")) as file:
            self.assertIn("cancelled", [json.loads(line)["said"] for line in file][-2])

    def watch(self, path="/v1/events", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.daemon.port, timeout=30)
        self.addCleanup(connection.close)
        connection.request("GET", path, headers={"Authorization": f"Bearer {self.daemon.token}", **headers})
        answer = connection.getresponse()
        self.assertEqual((answer.status, answer.getheader("Content-Type")), (200, "text/event-stream"))
        return connection, answer

    @staticmethod
    def events(answer, until):
        """(id, kind, data) of what is told, up to the first one of this kind."""
        told, fields = [], {}
        while not told or told[-1][1] != until:
            line = answer.readline().decode()
            assert line, f"the stream ended after {told}"
            if line == "\n":
                if "data" in fields:
                    told.append((fields["id"], fields["event"], json.loads(fields["data"])))
            elif not line.startswith(":"):
                name, _, value = line.rstrip("\n").partition(": ")
                fields[name] = value
        return told

    def test_what_happens_is_told_as_it_happens_and_after_a_break(self):
        daemon = self.start("defaults: {max_attempts: 1}\n")
        connection, stream = self.watch("/v1/events?handler=mail")
        daemon.ask("POST", "/v1/tasks", {"handler": "other", "args": []})
        daemon.ask("POST", "/v1/tasks", {"handler": "mail", "key": "mail:1", "args": ["secret"]})
        [task] = daemon.lease()
        told = self.events(stream, "claimed")
        self.assertEqual([(kind, data["task"]["key"]) for _, kind, data in told], [("stored", "mail:1"), ("claimed", "mail:1")])
        self.assertNotIn("secret", json.dumps(told))
        connection.close()

        daemon.ask("POST", f"/v1/leases/{task['id']}/fail", {"version": task["version"], "error": "no route"})
        _, stream = self.watch("/v1/events?kind=attempt_failed,gave_up", **{"Last-Event-ID": told[-1][0]})
        self.assertEqual([(kind, data.get("message")) for _, kind, data in self.events(stream, "gave_up")][0],
                         ("attempt_failed", "no route"))
        self.assertEqual(daemon.ask("GET", "/v1/events?kind=gave-up")[0], 422)
        self.assertEqual(daemon.stop(), 0)
        self.assertNotIn("data:", stream.read().decode())

    def test_sigterm_lets_waiting_workers_go_and_ends_well(self):
        daemon = self.start()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(daemon.lease, wait_ms=60_000)
            time.sleep(0.3)
            self.assertEqual(daemon.stop(), 0)
            self.assertEqual(waiting.result(timeout=10), [])

    def test_sighup_takes_over_what_may_change_and_says_what_needs_a_restart(self):
        daemon = self.start("defaults: {max_attempts: 7}\nworkers: 3\n")
        policy = lambda key: daemon.ask("POST", "/v1/tasks", {"handler": "mail", "key": key})[1]["id"]
        attempts = lambda key: daemon.ask("GET", f"/v1/tasks/{policy(key)}")[1]["policy"]["max_attempts"]
        self.assertEqual(attempts("1"), 7)
        said = []
        for config in ("defaults: {max_attempts: nonsense}\n", "defaults: {max_attempts: 9}\nworkers: 5\n"):
            with open(os.path.join(self.folder.name, "easyretry.yaml"), "w") as file:
                file.write(f"store: sqlite:retry.db\nserver: {{listen: '127.0.0.1:0'}}\n{config}")
            daemon.process.send_signal(signal.SIGHUP)
            if "nonsense" in config:
                time.sleep(0.5)
                self.assertEqual(attempts("2"), 7)
        while not said or "was read again" not in said[-1]:
            said.append(daemon.process.stdout.readline())
        self.assertEqual(attempts("3"), 9)
        self.assertIn("configuration, defaults.max_attempts: 7 -> 9\n", said)
        self.assertIn("configuration, workers: 3 -> 5 (needs a restart)\n", said)

    def test_tables_are_those_of_a_database_server_and_of_all_namespaces(self):
        daemon = self.start()
        status, said = daemon.ask("GET", "/v1/tables")
        self.assertEqual(status, 422)
        self.assertIn("PostgreSQL", said["error"]["message"])
        self.assertEqual(daemon.ask("GET", "/v1/tables", token=self.token("v", "viewer"))[0], 403)

    def test_the_first_token_is_private_and_kept_as_a_hash(self):
        daemon = self.start()
        folder = self.folder.name
        self.assertRegex(daemon.token, r"^er_[0-9a-f]{64}$")
        for name in ("easyretry.tokens", "easyretry.tokens.first"):
            self.assertEqual(stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode), 0o600)
        with open(os.path.join(folder, "easyretry.tokens")) as file:
            self.assertNotIn(daemon.token[3:], file.read())

    def test_a_role_may_do_what_is_its_own_and_nothing_else(self):
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

    def test_what_operators_change_is_written_down_with_who_did_it(self):
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
        daemon = self.start(server=", spaces: [shop]")
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

    def test_who_asks_too_often_is_told_when_to_come_again_and_others_are_served(self):
        daemon = self.start(server=", requests_per_second: 5")
        often = self.token("often", "viewer")
        answers = [daemon.ask("GET", "/v1/tasks", token=often) for _ in range(30)]
        refused = [answer for status, answer in answers if status == 429]
        self.assertEqual(answers[0][0], 200)
        self.assertTrue(refused)
        self.assertEqual(refused[0]["error"]["code"], "too_many_requests")
        connection = http.client.HTTPConnection("127.0.0.1", daemon.port)
        seen = set()
        for _ in range(30):  # tokens that are guessed count for their address
            connection.request("GET", "/v1/tasks", headers={"Authorization": "Bearer er_guess"})
            answer = connection.getresponse()
            answer.read()
            seen.add((answer.status, answer.getheader("Retry-After")))
        connection.close()
        self.assertEqual(seen, {(401, None), (429, "1")})
        self.assertEqual(daemon.ask("GET", "/v1/tasks")[0], 200, "another token")

    def test_bad_input_gets_a_precise_answer_and_changes_nothing(self):
        daemon = self.start()
        cases = [
            ("POST", "/v1/tasks", "{", 400, "not JSON"),
            ("POST", "/v1/tasks", "[]", 400, "expected an object"),
            ("POST", "/v1/tasks", b'{"handler": "\xff"}', 400, "not JSON"),
            ("POST", "/v1/tasks", "[" * 100, 400, "deeper than 64"),
            ("POST", "/v1/tasks", {}, 400, "handler"),
            ("POST", "/v1/tasks", {"handler": 7}, 400, "$.handler: expected a string"),
            ("POST", "/v1/tasks", {"handler": ""}, 422, "1 to 200 characters"),
            ("POST", "/v1/tasks", {"handler": "mail", "arg": []}, 422, "did you mean args?"),
            ("POST", "/v1/tasks", {"handler": "mail", "delay_ms": -1}, 422, "$.delay_ms: is -1"),
            ("POST", "/v1/tasks", {"handler": "mail", "delay_ms": 10**30}, 400, "$.delay_ms"),
            ("POST", "/v1/tasks", {"handler": "mail", "due_at": "tomorrow"}, 422, "$.due_at"),
            ("POST", "/v1/tasks", {"handler": "mail", "due_at": "2030-01-01", "delay_ms": 5}, 422, "give one of them"),
            ("POST", "/v1/tasks", {"handler": "mail", "tags": ["t"] * 9}, 422, "at most 8"),
            ("POST", "/v1/tasks", {"handler": "mail", "args": ["x" * 1_100_000]}, 422, "at most 1048576"),
            ("POST", "/v1/tasks", {"tasks": []}, 422, "1 to 10,000"),
            ("POST", "/v1/tasks", {"tasks": [{"handler": "mail"}, {"handler": "mail", "key": 1}]}, 400, "$.tasks[1].key"),
            ("GET", "/v1/tasks?handlr=mail", None, 422, "did you mean handler?"),
            ("GET", "/v1/tasks?limit=0", None, 422, "1 to 1000"),
            ("GET", "/v1/tasks?after=x", None, 422, "next"),
            ("GET", "/v1/tasks?state=done", None, 422, "pending, running"),
            ("GET", "/v1/tasks/x", None, 404, "there is no task"),
            ("GET", "/v1/tasks/99999999999999999999", None, 404, "there is no task"),
            ("GET", "/v1/nothing", None, 404, "there is nothing at /v1/nothing"),
            ("DELETE", "/v1/tasks", None, 405, "POST, GET"),
            ("POST", "/v1/leases", {"handlers": []}, 422, "name those you serve"),
            ("POST", "/v1/leases", {"handlers": ["mail"], "max": 0}, 422, "1 to 1000"),
            ("POST", "/v1/leases/5/done", {"version": 1}, 409, "moved on"),
            ("POST", "/v1/leases/5/done", {}, 400, "version"),
            ("POST", "/v1/leases/5/fail", {"version": 1, "give_up": True, "retry_after_ms": 5}, 422, "contradict"),
            ("POST", "/v1/tasks/5/cancel", None, 404, "there is no task 5"),
            ("POST", "/v1/tasks", {"handler": "mail", "policy": {"backoff": "wild"}}, 422, "wild"),
            ("POST", "/v1/tasks", {"handler": "mail", "policy": {"max_attempts": -1}}, 422, "$.policy.max_attempts: is -1"),
            ("POST", "/v1/tasks", {"handler": "mail", "policy": {"attempts": 1}}, 422, "there is no such field"),
            ("POST", "/v1/tasks", {"handler": "mail", "attempts": 10**7}, 422, "$.attempts"),
            ("POST", "/v1/tasks", {"handler": "mail", "payload_version": 0}, 422, "$.payload_version"),
            ("POST", "/v1/tasks", {"handler": "mail", "lease_ms": 5}, 422, "owner and lease_ms go together"),
            ("POST", "/v1/tasks", {"handler": "mail", "owner": "me"}, 422, "owner and lease_ms go together"),
            ("POST", "/v1/tasks", {"handler": "mail", "owner": "m" * 201, "lease_ms": 5}, 422, "up to 200 bytes"),
            ("POST", "/v1/tasks", {"handler": "mail", "owner": "me", "lease_ms": 5, "delay_ms": 5}, 422, "is due now"),
            ("POST", "/v1/leases", {"handlers": ["mail"], "tells": ["mail"]}, 422, "add judges"),
            ("POST", "/v1/leases/settle", {"tasks": []}, 422, "1 to 10,000"),
            ("POST", "/v1/leases/settle", {"tasks": [{"id": "5", "kind": "finish"}]}, 400, "version"),
            ("POST", "/v1/leases/settle", {"tasks": [{"id": "5", "version": 1, "kind": "end"}]}, 422, 'no kind "end"'),
            ("POST", "/v1/leases/settle", {"tasks": [{"id": "5", "version": 1, "kind": "advance"}]}, 422, "goes to a stage"),
            ("POST", "/v1/leases/settle", {"tasks": [{"id": "5", "version": 1, "kind": "finish", "outcome": "lost"}]}, 422, 'no outcome "lost"'),
            ("POST", "/v1/leases/renew", {"tasks": [{"id": 5, "version": 1}]}, 400, "expected a string"),
        ]
        for method, path, body, status, said in cases:
            with self.subTest(path=path, said=said):
                got, answer = daemon.ask(method, path, body)
                self.assertEqual(got, status, answer)
                self.assertIn(said, answer["error"]["message"])
                self.assertTrue(answer["error"]["request_id"])
        self.assertEqual(daemon.ask("GET", "/v1/tasks")[1], {"tasks": []})
        self.assertEqual(daemon.ask("GET", "/healthz", headers={"Host": "evil.example"})[0], 421)
        self.assertEqual(daemon.ask("GET", "/readyz", headers={"Authorization": None})[0], 200)

    def test_a_handler_behind_a_url_is_called_signed_and_judged_by_its_answer(self):
        secret = base64.b64encode(os.urandom(32)).decode()
        with open(os.path.join(self.folder.name, "pay.secrets"), "w") as file:
            file.write(f"whsec_{secret}\n")
        answers = {"ann": [(503, b"later"), (200, b'{"code": 200}')], "bob": [(410, b"gone")]}
        calls = []

        class Shop(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                calls.append((dict(self.headers), body))
                status, text = answers[json.loads(body)].pop(0)
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        shop = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Shop)
        threading.Thread(target=shop.serve_forever, daemon=True).start()
        try:
            url = f"http://127.0.0.1:{shop.server_port}/pay"
            daemon = self.start(
                f"handlers:\n  pay: {{url: '{url}', secrets_file: pay.secrets, success_when: result.code == 200, "
                "backoff: 'fixed delay=10ms'}\n", server=", may_call: [127.0.0.1]")
            for name in ("ann", "bob"):
                daemon.ask("POST", "/v1/tasks", {"handler": "pay", "key": name, "args": [name]})
            ended = self.ended(daemon, 2)
        finally:
            shop.shutdown()
            shop.server_close()
        self.assertEqual({task["key"]: (task["outcome"], task["attempts"]) for task in ended},
                         {"ann": ("succeeded", 2), "bob": ("rejected", 1)})
        for headers, body in calls:
            text = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
            expected = base64.b64encode(hmac.digest(base64.b64decode(secret), text, "sha256")).decode()
            self.assertEqual(headers["webhook-signature"], f"v1,{expected}")

    def test_a_url_that_leads_into_our_own_network_is_not_called(self):
        with open(os.path.join(self.folder.name, "pay.secrets"), "w") as file:
            file.write(f"whsec_{base64.b64encode(os.urandom(32)).decode()}\n")
        daemon = self.start("handlers:\n  pay: {url: 'http://127.0.0.1:1/pay', secrets_file: pay.secrets, max_attempts: 1}\n")
        daemon.ask("POST", "/v1/tasks", {"handler": "pay"})
        [task] = self.ended(daemon, 1)
        self.assertEqual(task["outcome"], "exhausted")
        self.assertIn("127.0.0.1", task["last_error"])
        self.assertNotIn("refused connection", task["last_error"])

    def ended(self, daemon, number):
        end = time.monotonic() + 30
        while True:
            tasks = daemon.ask("GET", "/v1/history")[1]["tasks"]
            if len(tasks) == number:
                return tasks
            self.assertLess(time.monotonic(), end, "they did not end")
            time.sleep(0.05)

    def test_what_others_can_reach_is_not_served_in_the_open(self):
        refused = subprocess.run([PROGRAM, "serve", "--listen", "0.0.0.0:0"], cwd=self.folder.name, capture_output=True,
                                 text=True, timeout=30)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("server.certificate", refused.stderr)


if __name__ == "__main__":
    unittest.main()
