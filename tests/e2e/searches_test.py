"""Lists and bulk jobs by conditions that no index serves. Usage: searches_test.py EASYRETRY_PROGRAM"""
import json
import os
import subprocess
import unittest

from daemon_case import PROGRAM, DaemonCase
from waiting import until


class Searches(DaemonCase):
    def ask(self, method, path, body=None):
        status, answer = self.daemon.ask(method, path, body)
        self.assertIn(status, (200, 201, 202), answer)
        return answer

    def ids(self, path):
        """Of all pages, and how many tasks were read."""
        ids, scanned, after = [], 0, ""
        while True:
            page = self.ask("GET", path + after)
            ids += [task["id"] for task in page["tasks"]]
            scanned += page["scanned"]
            if "next" not in page:
                return ids, scanned
            after = f"&after={page['next']}"

    def failed(self, handler, error, give_up=True):
        self.ask("POST", "/v1/tasks", {"handler": handler, "args": [error]})
        [task] = self.daemon.lease(handler)
        how = {"give_up": True} if give_up else {"retry_after_ms": 3_600_000}
        self.ask("POST", f"/v1/leases/{task['id']}/fail", {"version": task["version"], "error": error, **how})
        return task["id"]

    def program(self, *arguments):
        environment = {**os.environ, "EASYRETRY_TOKEN": self.daemon.token}
        ran = subprocess.run([PROGRAM, *arguments, "--server", f"http://127.0.0.1:{self.daemon.port}"], cwd=self.folder.name,
                             env=environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran.stdout

    def test_live_tasks_are_found_by_tag_attempts_due_time_owner_and_error(self):
        self.start()
        many = [{"handler": "mail", "key": str(number), "delay_ms": 7_200_000} for number in range(500)]
        self.ask("POST", "/v1/tasks", {"tasks": many})
        vip = self.ask("POST", "/v1/tasks", {"handler": "mail", "tags": ["vip"], "delay_ms": 600_000})["id"]
        tried = self.failed("pay", "no user 17", give_up=False)
        held = self.ask("POST", "/v1/tasks", {"handler": "ship", "owner": "truck-9", "lease_ms": 600_000})["id"]
        [group] = self.ask("GET", "/v1/errors?of=tasks")["groups"]
        for condition, expected in (("tag=vip", [vip]), ("attempts_from=1", [held, tried]), ("owner=truck-9", [held]),
                                    (f"error={group['fingerprint']}", [tried]), ("failed=true", [tried]),
                                    ("error=0123456789abcdef", []), ("tag=vip&handler=pay", [])):
            self.assertEqual(self.ids(f"/v1/tasks?{condition}"), (expected, 503), condition)
        soon, scanned = self.ids("/v1/tasks?due_until=2000-01-01&limit=1000")
        self.assertEqual((soon, scanned), ([], 503))
        for condition in ("error=no+user", "attempts_from=0", "due_from=soon", "failed=perhaps"):
            self.assertEqual(self.daemon.ask("GET", f"/v1/tasks?{condition}")[0], 422, condition)
        for condition in ("owner=x", "due_from=2026-01-01"):
            self.assertEqual(self.daemon.ask("GET", f"/v1/history?{condition}")[0], 422, condition)
        self.assertNotIn("scanned", self.ask("GET", "/v1/tasks?handler=pay"))
        listed = json.loads(self.program("tasks", "list", "--tag", "vip", "--all", "--json"))
        self.assertEqual([task["id"] for task in listed["tasks"]], [vip])

    def test_all_failures_of_one_kind_are_requeued_and_no_task_that_succeeded(self):
        self.start()
        wanted = [self.failed("mail", f"no user {number}") for number in range(3)]
        other = self.failed("mail", "HTTP 503")
        self.ask("POST", "/v1/tasks", {"handler": "mail", "key": "in the end"})
        for how in ("fail", "done"):
            [task] = self.daemon.lease()
            more = {"error": "no user 4", "retry_after_ms": 0} if how == "fail" else {}
            self.ask("POST", f"/v1/leases/{task['id']}/{how}", {"version": task["version"], **more})
        self.assertEqual(self.ask("GET", "/v1/history?outcome=succeeded")["tasks"][0]["last_error"], "no user 4")
        fingerprint = self.ask("GET", "/v1/errors")["groups"][0]["fingerprint"]
        self.assertEqual(self.ids(f"/v1/history?error={fingerprint}")[0], wanted[::-1])

        plan = self.ask("POST", "/v1/bulk", {"action": "requeue", "filter": {"error": fingerprint}, "dry_run": True})
        self.assertEqual((plan["matched"], plan["complete"], plan["sample"]), (3, True, wanted))
        job = json.loads(self.program("tasks", "requeue", "--error", fingerprint, "--yes", "--json"))
        self.assertEqual((job["state"], job["matched"], job["changed"], job["complete"]), ("done", 3, 3, True))
        self.assertEqual([task["id"] for task in self.ask("GET", "/v1/history?failed=true")["tasks"]], [other])

    def test_a_job_that_is_searched_changes_all_that_match_and_nothing_else(self):
        self.start()
        for begin in range(0, 5000, 1000):
            self.ask("POST", "/v1/tasks", {"tasks": [
                {"handler": "mail", "key": str(number), "delay_ms": 3_600_000, "tags": ["vip"] if number % 50 == 0 else []}
                for number in range(begin, begin + 1000)]})
        job = self.ask("POST", "/v1/bulk", {"action": "cancel", "untold": True, "filter": {"tag": "vip"}, "most": 100})
        until(lambda: "ended_at" in self.ask("GET", f"/v1/bulk/{job['id']}"))
        job = self.ask("GET", f"/v1/bulk/{job['id']}")
        self.assertEqual((job["state"], job["changed"], job["skipped"]), ("done", 100, 0))
        self.assertEqual(self.ids("/v1/tasks?tag=vip")[0], [])
        self.assertEqual(len(self.ids("/v1/tasks?due_from=2026-01-01&limit=1000")[0]), 4900)
        status, answer = self.daemon.ask("POST", "/v1/bulk", {"action": "cancel", "filter": {"failed": "false"}})
        self.assertEqual((status, answer["error"]["hint"]), (422, 'give a filter, or set "everything": true'))
        status, answer = self.daemon.ask("POST", "/v1/bulk", {"action": "cancel", "filter": {"due_from": "2026-01-01"}, "most": 10})
        self.assertEqual((status, answer["error"]["code"]), (422, "too_many"))


if __name__ == "__main__":
    unittest.main()
