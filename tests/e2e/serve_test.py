"""easyretry serve over HTTP, as curl would use it, on SQLite; killed for real. Usage: serve_test.py EASYRETRY_PROGRAM"""
import concurrent.futures
import http.client
import json
import os
import signal
import socket
import time
import unittest

from daemon_case import DaemonCase
from waiting import until


class Serve(DaemonCase):
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

    def test_what_the_policy_of_a_submission_leaves_out_is_as_configured(self):
        daemon = self.start("defaults: {max_attempts: 7}\n"
                            "handlers: {mail: {max_duration: 1h, backoff: 'fixed delay=5s jitter=none'}}\n")

        def stored(policy):
            _, made = daemon.ask("POST", "/v1/tasks", {"tasks": [{"handler": "mail", "key": json.dumps(policy), "policy": policy}]})
            return daemon.ask("GET", f"/v1/tasks/{made['tasks'][0]['id']}")[1]["policy"]
        configured = {"max_attempts": 7, "max_duration_ms": 3_600_000, "backoff": "fixed delay=5s jitter=none"}
        self.assertEqual(stored({}), configured)
        for name, value in (("max_attempts", 3), ("max_duration_ms", 60_000), ("backoff", "fixed delay=1s jitter=none")):
            self.assertEqual(stored({name: value}), {**configured, name: value})
            self.assertEqual(stored({name: value, "max_attempts": None})["max_duration_ms"],
                             value if name == "max_duration_ms" else 3_600_000)
        for limit in ("max_attempts", "max_duration_ms"):
            self.assertEqual(stored({limit: 0}), {**configured, limit: 0}, "no limit has to be said")

    def test_a_submission_with_a_name_is_done_once(self):
        daemon = self.start()
        task = {"handler": "mail", "key": "k", "on_duplicate": "reject"}
        first = daemon.ask_for_text("POST", "/v1/tasks", task, headers={"Idempotency-Key": "a"})
        self.assertEqual(first[0], 201)
        self.assertEqual(daemon.ask_for_text("POST", "/v1/tasks", task, headers={"Idempotency-Key": "a"}), first)
        for name in ("b", None):
            status, answer = daemon.ask("POST", "/v1/tasks", task, headers={"Idempotency-Key": name})
            self.assertEqual((status, answer["error"]["code"]), (409, "duplicate_key"))
        daemon.ask("POST", f"/v1/tasks/{json.loads(first[2])['id']}/cancel?untold=true")
        self.assertEqual(daemon.ask("POST", "/v1/tasks", task, headers={"Idempotency-Key": "b"})[0], 409, "as it was")
        for wrong, code in (({"handler": "sms"}, "idempotency_key_reused"), (task, "invalid")):
            name = "a" if wrong != task else "x" * 256
            status, answer = daemon.ask("POST", "/v1/tasks", wrong, headers={"Idempotency-Key": name})
            self.assertEqual((status, answer["error"]["code"]), (422, code))

    def test_submissions_with_a_name_that_come_at_once_store_one_task(self):
        daemon = self.start()
        def submit(_):
            return daemon.ask("POST", "/v1/tasks", {"handler": "mail", "key": "k", "on_duplicate": "reject"}, headers={"Idempotency-Key": "a"})
        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            answers = list(threads.map(submit, range(40)))
        self.assertEqual([status for status, _ in answers], [201] * 40)
        self.assertEqual(len({answer["id"] for _, answer in answers}), 1)

    def test_a_failing_task_is_retried_and_ended_by_its_policy(self):
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

    def test_success_when_judges_the_answer_of_a_worker(self):
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
        self.assertEqual(daemon.ask("POST", f"/v1/tasks/{task['id']}/cancel?untold=true")[0], 200)
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

    def test_acknowledged_tasks_survive_a_kill(self):
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
            until(lambda: len(keys) >= 200)
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

    def test_sigterm_lets_waiting_workers_go_and_ends_well(self):
        daemon = self.start()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(daemon.lease, wait_ms=60_000)
            time.sleep(0.3)
            self.assertEqual(daemon.stop(), 0)
            self.assertEqual(waiting.result(timeout=10), [])

    def test_sighup_reloads_changeable_settings_and_names_those_that_need_a_restart(self):
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
        while not said or "was reloaded" not in said[-1]:
            said.append(daemon.process.stdout.readline())
        self.assertEqual(attempts("3"), 9)
        self.assertIn("configuration, defaults.max_attempts: 7 -> 9\n", said)
        self.assertIn("configuration, workers: 3 -> 5 (needs a restart)\n", said)

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
            ("POST", "/v1/tasks", {"handler": "mail", "class": "high"}, 422, "use urgent, normal or background"),
            ("GET", "/v1/tasks?class=high", None, 422, "known: urgent, normal, background"),
            ("POST", "/v1/tasks", {"handler": "mail", "args": ["x" * 1_100_000]}, 422, "at most 1048576"),
            ("POST", "/v1/tasks", {"tasks": []}, 422, "1 to 10,000"),
            ("POST", "/v1/tasks", {"tasks": [{"handler": "mail"}, {"handler": "mail", "key": 1}]}, 400, "$.tasks[1].key"),
            ("GET", "/v1/tasks?handlr=mail", None, 422, "did you mean handler?"),
            ("GET", "/v1/tasks?limit=0", None, 422, "1 to 1000"),
            ("GET", "/v1/tasks?after=x", None, 422, "next"),
            ("GET", "/v1/tasks?after=17", None, 422, 'not the "next" of a previous page'),
            ("GET", "/v1/tasks?order=desc", None, 422, "known: newest, oldest"),
            ("GET", "/v1/tasks?order=oldest&after=older-17", None, 400, "from a list with the newest tasks first"),
            ("GET", "/v1/history?after=newer-17", None, 400, "from a list with the oldest tasks first"),
            ("POST", "/v1/bulk", {"action": "cancel", "filter": {"handler": "mail", "order": "oldest"}}, 422, "is for paging"),
            ("GET", "/v1/tasks?state=done", None, 422, "pending, running"),
            ("GET", "/v1/tasks/x", None, 404, "there is no task"),
            ("GET", "/v1/tasks/99999999999999999999", None, 404, "there is no task"),
            ("GET", "/v1/nothing", None, 404, "there is nothing at /v1/nothing"),
            ("DELETE", "/v1/tasks", None, 405, "POST, GET"),
            ("POST", "/v1/leases", {"handlers": []}, 422, "list the handlers that you serve"),
            ("POST", "/v1/leases", {"handlers": ["mail"], "max": 0}, 422, "1 to 1000"),
            ("POST", "/v1/leases/5/done", {"version": 1}, 409, "is no longer leased to you"),
            ("POST", "/v1/leases/5/done", {}, 400, "version"),
            ("POST", "/v1/leases/5/fail", {"version": 1, "give_up": True, "retry_after_ms": 5}, 422, "exclude each other"),
            ("POST", "/v1/tasks/5/cancel", None, 404, "there is no task 5"),
            ("POST", "/v1/tasks", {"handler": "mail", "policy": {"backoff": "wild"}}, 422, "wild"),
            ("POST", "/v1/tasks", {"handler": "mail", "policy": {"max_attempts": -1}}, 422, "$.policy.max_attempts: is -1"),
            ("POST", "/v1/tasks", {"handler": "mail", "policy": {"attempts": 1}}, 422, "unknown field"),
            ("POST", "/v1/tasks", {"handler": "mail", "attempts": 10**7}, 422, "$.attempts"),
            ("POST", "/v1/tasks", {"handler": "mail", "payload_version": 0}, 422, "$.payload_version"),
            ("POST", "/v1/tasks", {"handler": "mail", "lease_ms": 5}, 422, "owner and lease_ms must be given together"),
            ("POST", "/v1/tasks", {"handler": "mail", "owner": "me"}, 422, "owner and lease_ms must be given together"),
            ("POST", "/v1/tasks", {"handler": "mail", "owner": "m" * 201, "lease_ms": 5}, 422, "at most 200 bytes"),
            ("POST", "/v1/tasks", {"handler": "mail", "owner": "me", "lease_ms": 5, "delay_ms": 5}, 422, "is due now"),
            ("POST", "/v1/leases", {"handlers": ["mail"], "tells": ["mail"]}, 422, "needs judges"),
            ("POST", "/v1/leases/settle", {"tasks": []}, 422, "1 to 10,000"),
            ("POST", "/v1/leases/settle", {"tasks": [{"id": "5", "kind": "finish"}]}, 400, "version"),
            ("POST", "/v1/leases/settle", {"tasks": [{"id": "5", "version": 1, "kind": "end"}]}, 422, 'unknown kind "end"'),
            ("POST", "/v1/leases/settle", {"tasks": [{"id": "5", "version": 1, "kind": "advance"}]}, 422, "needs the stage"),
            ("POST", "/v1/leases/settle", {"tasks": [{"id": "5", "version": 1, "kind": "finish", "outcome": "lost"}]}, 422, 'unknown outcome "lost"'),
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


if __name__ == "__main__":
    unittest.main()
