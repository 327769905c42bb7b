"""A task that has ended is requeued once, however many requests ask for it. Usage: requeue_test.py EASYRETRY_PROGRAM"""
import contextlib
import json
import os
import sqlite3
import subprocess
import time
import unittest

from daemon import Daemon
from daemon_case import PROGRAM, DaemonCase
from waiting import until

CONFIG = "defaults: {max_attempts: 1}\n"


class Requeue(DaemonCase):
    def run_program(self, *arguments):
        environment = {**os.environ, "EASYRETRY_TOKEN": self.daemon.token}
        return subprocess.run([PROGRAM, *arguments, "--server", f"http://127.0.0.1:{self.daemon.port}"], cwd=self.folder.name,
                              env=environment, capture_output=True, text=True, timeout=60)

    def good(self, *arguments):
        ran = self.run_program(*arguments)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran.stdout

    def shown(self, id):
        return self.daemon.ask("GET", f"/v1/tasks/{id}")[1]

    def history(self, conditions=""):
        return [task["id"] for task in self.daemon.ask("GET", f"/v1/history?{conditions}")[1]["tasks"]]

    def submit(self, **more):
        status, made = self.daemon.ask("POST", "/v1/tasks", {"handler": "mail", **more})
        self.assertEqual(status, 201, made)
        return made["id"]

    def answer_for(self, how, **said):
        """Leases the one task that is due, and settles it."""
        [task] = self.daemon.lease()
        status, answer = self.daemon.ask("POST", f"/v1/leases/{task['id']}/{how}", {"version": task["version"], **said})
        self.assertEqual(status, 200, answer)
        return task["id"]

    def test_a_repeated_bulk_requeue_does_not_run_tasks_that_have_succeeded_meanwhile(self):
        self.start(CONFIG)
        first = self.submit(key="pay:42")
        self.answer_for("fail", error="the gateway is down")
        command = ["tasks", "requeue", "--outcome", "exhausted", "--finished-from", "1d", "--yes"]
        self.assertEqual(self.good(*command), "1 requeued, 0 skipped\n")
        second = self.answer_for("done")
        self.assertEqual(self.good(*command), "0 requeued, 0 skipped\n")
        self.assertEqual(self.daemon.ask("GET", "/v1/tasks")[1]["tasks"], [], "nothing is paid a second time")

        self.assertEqual(self.history(), [second])
        self.assertEqual(self.history("requeued=true"), [second, first])
        self.assertEqual(self.history("requeued=false"), [second])
        self.assertEqual(self.history("outcome=exhausted"), [])
        self.assertEqual(self.daemon.ask("GET", "/v1/history?requeued=perhaps")[0], 422)
        self.assertEqual(self.daemon.ask("GET", "/v1/tasks?requeued=true")[0], 422)

    def test_the_recipe_of_the_manual_can_be_run_twice(self):
        self.start(CONFIG)
        for number in range(3):
            self.submit(key=str(number))
            self.answer_for("fail", error="down")
        for requeued in (3, 0):
            listed = json.loads(self.good("history", "list", "--outcome", "exhausted", "--finished-from", "1d", "--all", "--json"))
            self.assertEqual(len(listed["tasks"]), requeued)
            if listed["tasks"]:
                self.good("tasks", "requeue", "--yes", *(task["id"] for task in listed["tasks"]))
            for _ in listed["tasks"]:
                self.answer_for("done")
        self.assertEqual(len(self.history("outcome=succeeded")), 3)

    def test_both_tasks_tell_of_each_other(self):
        self.start(CONFIG)
        first = self.submit(key="pay:42")
        self.answer_for("fail", error="down")
        second = json.loads(self.good("tasks", "requeue", first, "--json"))["tasks"][0]["requeued_as"]
        third = self.submit(key="other")
        self.assertEqual((self.shown(first)["requeued_as"], self.shown(first).get("requeue_of")), (second, None))
        self.assertEqual((self.shown(second)["requeue_of"], self.shown(second).get("requeued_as")), (first, None))
        self.assertNotIn("requeue_of", self.shown(third))
        self.assertRegex(self.good("tasks", "show", first), rf"requeued as +{second}\n")
        self.assertRegex(self.good("tasks", "show", second), rf"requeue of +{first}\n")
        self.assertEqual(json.loads(self.good("tasks", "show", second, "--json"))["requeue_of"], first)
        self.assertEqual(self.good("history", "list"), "no tasks\n")
        self.assertRegex(self.good("history", "list", "--requeued"), rf"{first} +mail +pay:42 +exhausted, requeued ")

    def test_a_second_requeue_of_a_task_is_refused_with_its_successor(self):
        self.start(CONFIG)
        first = self.submit()
        self.answer_for("fail", error="down")
        second = self.daemon.ask("POST", f"/v1/tasks/{first}/requeue")[1]["id"]
        self.answer_for("fail", error="still down")
        status, answer = self.daemon.ask("POST", f"/v1/tasks/{first}/requeue")
        self.assertEqual((status, answer["error"]["code"]), (409, "requeued"))
        self.assertEqual(answer["error"]["message"], f"task {first} was already requeued as {second}")
        for more in ([], ["--dry-run"]):
            ran = self.run_program("tasks", "requeue", first, *more)
            self.assertEqual(ran.returncode, 1)
            self.assertIn(f"{first}: not requeued: task {first} was already requeued as {second}", ran.stderr)
        self.assertEqual(self.daemon.ask("POST", f"/v1/tasks/{second}/requeue")[0], 201, "the newest can be")

    def test_a_task_whose_arguments_were_removed_says_so_and_is_not_requeued(self):
        self.start(CONFIG)
        id = self.submit(args=["card 4111"])
        self.answer_for("fail", error="down")
        self.daemon.stop()
        with contextlib.closing(sqlite3.connect(os.path.join(self.folder.name, "retry.db"))) as file, file:
            file.execute("UPDATE retry_call SET params_json = NULL")  # as a sweep does: keep_args
        self.start(CONFIG)
        status, shown = self.daemon.ask("GET", f"/v1/tasks/{id}?args")
        self.assertEqual((status, shown.get("args_removed"), shown.get("args")), (200, True, None))
        self.assertRegex(self.good("tasks", "show", id), r"args +removed\n")
        status, answer = self.daemon.ask("POST", f"/v1/tasks/{id}/requeue")
        self.assertEqual((status, answer["error"]["code"]), (409, "no_arguments"))
        ran = self.run_program("tasks", "requeue", id)
        self.assertEqual(ran.returncode, 1)
        self.assertIn(f"the arguments of task {id} were removed", ran.stderr)
        self.assertEqual(self.good("tasks", "requeue", "--outcome", "exhausted", "--yes"), "0 requeued, 1 skipped\n")
        self.assertEqual(self.daemon.ask("POST", f"/v1/tasks/{id}/requeue", {"args": ["card 4222"]})[0], 201)
        self.assertEqual(self.daemon.lease()[0]["args"], ["card 4222"])

    def test_other_arguments_need_the_right_to_see_arguments_and_are_not_in_the_audit_log(self):
        self.start(CONFIG, server=", audit: audit.jsonl")
        first = self.submit(args=["card 4111"], key="pay:42")
        self.answer_for("fail", error="no such card")
        path, wish = f"/v1/tasks/{first}/requeue", {"args": ["card 4222"]}
        status, answer = self.daemon.ask("POST", path, wish, token=self.token("bob", "operator"))
        self.assertEqual((status, answer["error"]["code"]), (403, "forbidden"))
        self.assertIn("+payloads", answer["error"]["hint"])
        for body, expected in ((b"[4", 400), (b'{"arg": []}', 422), (b"[]", 400)):
            self.assertEqual(self.daemon.ask("POST", path, body)[0], expected, body)
        self.assertEqual(self.daemon.ask("GET", "/v1/tasks")[1]["tasks"], [], "nothing was started")

        status, made = self.daemon.ask("POST", path, wish, token=self.token("ann", "operator+payloads"))
        self.assertEqual(status, 201, made)
        [task] = self.daemon.lease()
        self.assertEqual((task["id"], task["key"], task["args"]), (made["id"], "pay:42", ["card 4222"]))
        self.assertEqual(self.daemon.ask("GET", f"/v1/tasks/{first}?args")[1]["args"], ["card 4111"])
        with open(os.path.join(self.folder.name, "audit.jsonl")) as file:
            audit = file.read()
        self.assertNotIn("card 4", audit)
        [last] = [entry for entry in map(json.loads, audit.splitlines()) if entry["status"] == "201"]
        self.assertEqual((last["by"], last["request"]), ("ann", f"POST {path}"))

    def test_a_task_is_requeued_with_other_arguments_from_a_terminal(self):
        self.start(CONFIG)
        first = self.submit(args=["ann@exmaple.com"])
        self.answer_for("fail", error="no such host")
        self.assertRegex(self.good("tasks", "requeue", first, "--args", '["ann@example.com"]'), rf"{first} requeued as ")
        [task] = self.daemon.lease()
        self.assertEqual(task["args"], ["ann@example.com"])
        for wrong, message in ((["--args", "ann"], "--args: this is not JSON"), (["other", "--args", "[]"], "one task")):
            ran = self.run_program("tasks", "requeue", task["id"], *wrong)
            self.assertNotEqual(ran.returncode, 0)
            self.assertIn(message, ran.stderr)

    def test_a_job_with_a_pace_shows_it_and_takes_its_time(self):
        self.start(CONFIG)
        self.many(30)
        started = time.monotonic()
        said = self.good("tasks", "requeue", "--outcome", "cancelled", "--per-second", "20", "--yes", "--json")
        job = json.loads(said)
        self.assertEqual((job["state"], job["changed"], job["per_second"]), ("done", 30, 20))
        self.assertGreaterEqual(time.monotonic() - started, 1.3, "30 tasks, two at a time, 14 pauses of a tenth")
        status, answer = self.daemon.ask("POST", "/v1/bulk", {"action": "retry", "everything": True, "per_second": 0})
        self.assertEqual(status, 422, answer)
        self.assertIn("use 1 to 10000", answer["error"]["message"])

    def test_requeued_is_not_a_filter_by_itself(self):
        self.start(CONFIG)
        first = self.submit()
        self.answer_for("fail", error="down")
        self.daemon.ask("POST", f"/v1/tasks/{first}/requeue")
        wish = {"action": "requeue", "dry_run": True}
        self.assertEqual(self.daemon.ask("POST", "/v1/bulk", {**wish, "filter": {"requeued": "true"}})[0], 422)
        for requeued, matched in (("true", 1), ("false", 0)):
            answer = self.daemon.ask("POST", "/v1/bulk", {**wish, "filter": {"outcome": "exhausted", "requeued": requeued}})[1]
            self.assertEqual(answer["matched"], matched)
        self.assertIn("select tasks by id", self.run_program("tasks", "requeue", "--requeued", "--yes").stderr)
        self.assertEqual(self.good("tasks", "requeue", "--outcome", "exhausted", "--requeued", "--yes"), "0 requeued, 1 skipped\n")

    def many(self, count):
        made = [{"handler": "mail", "key": str(number), "delay_ms": 3_600_000} for number in range(count)]
        for begin in range(0, count, 1000):
            self.assertEqual(self.daemon.ask("POST", "/v1/tasks", {"tasks": made[begin:begin + 1000]})[0], 201)
        self.ended(self.begin("cancel", handler="mail"))

    def begin(self, action, **conditions):
        wish = {"action": action, "filter": conditions, "untold": action == "cancel"}
        status, job = self.daemon.ask("POST", "/v1/bulk", wish)
        self.assertEqual(status, 202, job)
        return job

    def look_at(self, job):
        return self.daemon.ask("GET", f"/v1/bulk/{job['id']}")[1]

    def ended(self, job):
        until(lambda: "ended_at" in self.look_at(job))
        job = self.look_at(job)
        self.assertEqual(job["state"], "done", job)
        return job

    def keys(self, path):
        keys, after = [], ""
        while True:
            page = self.daemon.ask("GET", f"{path}limit=1000{after}")[1]
            keys += [task["key"] for task in page["tasks"]]
            if "next" not in page:
                return keys
            after = f"&after={page['next']}"

    def test_a_job_that_died_with_its_daemon_goes_on_with_the_rest(self):
        self.start(CONFIG)
        self.many(8000)
        job = self.begin("requeue", outcome="cancelled")
        while self.look_at(job)["changed"] == 0:
            pass
        self.daemon.kill()
        self.daemon = Daemon(PROGRAM, self.folder.name, CONFIG)
        before = self.keys("/v1/tasks?")
        self.assertTrue(0 < len(before) < 8000, f"{len(before)} were done; a kill between would tell more")
        # The rest of the job must not requeue tasks that run and end meanwhile.
        leased = self.daemon.lease(max=100)
        for task in leased:
            self.daemon.ask("POST", f"/v1/leases/{task['id']}/done", {"version": task["version"]})
        job = self.ended(self.begin("requeue", outcome="cancelled"))
        self.assertEqual((job["matched"], job["changed"], job["skipped"]), (8000 - len(before),) * 2 + (0,))
        self.assertEqual(len(leased) + len(self.keys("/v1/tasks?")), 8000)
        started = self.keys("/v1/tasks?") + [task["key"] for task in leased]
        self.assertEqual(sorted(started), sorted(str(number) for number in range(8000)), "each once")
        self.assertEqual(self.keys("/v1/history?outcome=cancelled&"), [])


if __name__ == "__main__":
    unittest.main()
