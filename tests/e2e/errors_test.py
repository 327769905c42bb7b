"""Failures by kind. Usage: errors_test.py EASYRETRY_PROGRAM"""
import unittest

from daemon_case import DaemonCase


class Errors(DaemonCase):
    def fail(self, handler, error, give_up):
        _, made = self.daemon.ask("POST", "/v1/tasks", {"handler": handler, "args": [error]})
        [task] = self.daemon.lease(handler)
        body = {"version": task["version"], "error": error, **({"give_up": True} if give_up else {"retry_after_ms": 3_600_000})}
        status, answer = self.daemon.ask("POST", f"/v1/leases/{task['id']}/fail", body)
        self.assertEqual(status, 200, answer)
        return made["id"]

    def errors(self, query=""):
        status, answer = self.daemon.ask("GET", f"/v1/errors{query}")
        self.assertEqual(status, 200, answer)
        self.assertTrue(answer["complete"])
        return answer

    def test_failures_that_differ_in_their_details_are_one_group(self):
        self.start()
        ended = [self.fail("mail", f"no user {number} in \"db-{number}\"", True) for number in range(7)]
        self.fail("pay", "no user 99 in \"db\"", True)
        self.fail("pay", "HTTP 503", True)
        waiting = self.fail("mail", "timeout after 30 s", False)
        seen = self.errors()
        self.assertEqual(seen["scanned"], 9)
        first, second = seen["groups"]
        self.assertEqual((first["text"].endswith("no user <number> in <text>"), first["count"], first["handlers"]), (True, 8, ["mail", "pay"]))
        self.assertEqual(len(first["ids"]), 5)
        self.assertEqual((len(first["by_hour"]), first["by_hour"][-1], sum(first["by_hour"])), (24, 8, 8))
        self.assertLessEqual(set(first["ids"][1:]), set(ended))
        self.assertLess(first["first_seen"], first["last_seen"])
        self.assertTrue(second["text"].endswith("HTTP 503"))

        [live] = self.errors("?of=tasks")["groups"]
        self.assertEqual((live["ids"], live["count"]), ([waiting], 1))
        self.assertEqual([group["count"] for group in self.errors("?handler=pay")["groups"]], [1, 1])
        self.assertEqual([group["count"] for group in self.errors("?limit=1")["groups"]], [8])
        self.assertEqual(self.errors("?from=2099-01-01")["groups"], [])
        self.assertEqual(self.errors("?of=tasks&from=2099-01-01")["groups"], [])
        self.assertEqual(self.errors("?from=2026-01-01")["scanned"], 9)
        self.assertEqual(self.errors("?within_ms=2000")["scanned"], 9)

    def test_success_and_cancellation_are_no_failures(self):
        self.start()
        self.daemon.ask("POST", "/v1/tasks", {"handler": "mail"})
        [task] = self.daemon.lease("mail")
        self.daemon.ask("POST", f"/v1/leases/{task['id']}/done", {"version": task["version"]})
        _, made = self.daemon.ask("POST", "/v1/tasks", {"handler": "mail", "delay_ms": 60_000})
        self.assertEqual(self.errors("?of=tasks")["groups"], [])
        self.daemon.ask("POST", f"/v1/tasks/{made['id']}/cancel?untold=true")
        self.assertEqual(self.errors()["groups"], [])

    def test_a_wrong_parameter_is_refused(self):
        self.start()
        for query in ("of=x", "from=soon", "limit=0", "limit=1001", "state=pending", "within_ms=2001", "within_ms=x"):
            self.assertEqual(self.daemon.ask("GET", f"/v1/errors?{query}")[0], 422, query)


if __name__ == "__main__":
    unittest.main()
