"""Whether a handler is served, as the API and `easyretry handlers` report it. Usage: served_test.py EASYRETRY_PROGRAM"""
import datetime
import os
import subprocess
import threading
import unittest

from daemon_case import PROGRAM, DaemonCase
from waiting import eventually

SECRET = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=\n"


def seconds_since(text):
    then = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return (datetime.datetime.now(datetime.timezone.utc) - then).total_seconds()


class Served(DaemonCase):
    def handler(self, name):
        [found] = [one for one in self.daemon.ask("GET", "/v1/handlers")[1]["handlers"] if one["name"] == name]
        return found

    def waiting_workers(self, name):
        """0 as long as the daemon has not heard of the handler."""
        return sum(one["waiting_workers"] for one in self.daemon.ask("GET", "/v1/handlers")[1]["handlers"] if one["name"] == name)

    def submit(self, handler):
        status, answer = self.daemon.ask("POST", "/v1/tasks", {"handler": handler})
        self.assertEqual(status, 201, answer)
        return answer["id"]

    def task(self, id):
        return self.daemon.ask("GET", f"/v1/tasks/{id}")[1]

    def worker(self, *handlers):
        """Starts a worker that waits for its first task. Joining it returns what it got."""
        got = []
        body = {"handlers": list(handlers), "wait_ms": 30_000}
        thread = threading.Thread(target=lambda: got.extend(self.daemon.ask("POST", "/v1/leases", body)[1]["tasks"]))
        thread.start()
        return thread, got

    def program(self, *arguments, code=0):
        ran = subprocess.run([PROGRAM, *arguments, "--server", f"http://127.0.0.1:{self.daemon.port}"], cwd=self.folder.name,
                             capture_output=True, text=True, timeout=60, env={**os.environ, "EASYRETRY_TOKEN": self.daemon.token})
        self.assertEqual(ran.returncode, code, ran.stderr)
        return ran

    def test_a_name_that_only_a_task_has_used_is_not_served(self):
        self.start()
        id = self.submit("mail")
        found = self.handler("mail")
        self.assertEqual((found["served"], found["instances"], found["waiting_workers"]), (False, [], 0))
        self.assertNotIn("last_asked_at", found)
        self.assertTrue(self.task(id)["no_handler"])
        self.assertTrue(self.daemon.ask("GET", "/v1/tasks")[1]["tasks"][0]["no_handler"])
        self.assertRegex(self.program("handlers").stdout, r"mail +1 +1 +no, never asked")
        later = self.daemon.ask("POST", "/v1/tasks", {"handler": "mail", "key": "later", "delay_ms": 60_000})[1]["id"]
        self.assertNotIn("no_handler", self.task(later), "it is not due")

    def test_it_is_served_when_a_worker_has_asked_for_it(self):
        self.start()
        id = self.submit("mail")
        self.daemon.lease()
        found = self.handler("mail")
        self.assertEqual((found["served"], found["waiting_workers"]), (True, 0))
        self.assertEqual(found["instances"], [self.daemon.ask("GET", "/v1/cluster")[1]["self"]])
        self.assertTrue(0 <= seconds_since(found["last_asked_at"]) < 10, found)
        self.assertNotIn("no_handler", self.task(id))
        self.assertRegex(self.program("handlers").stdout, r"mail +1 +1 +yes, asked \d s ago")

    def test_workers_that_wait_are_counted(self):
        self.start()
        first, _ = self.worker("mail", "pay")
        second, _ = self.worker("mail")
        self.assertTrue(eventually(lambda: self.waiting_workers("mail") == 2))
        self.assertEqual((self.handler("pay")["waiting_workers"], self.handler("pay")["served"]), (1, True))
        self.assertRegex(self.program("handlers").stdout, r"mail +0 +0 +yes, 2 waiting")
        for _ in range(2):
            self.daemon.ask("POST", "/v1/tasks", {"tasks": [{"handler": "mail", "key": str(n)} for n in range(2)]})
        first.join()
        second.join()
        self.assertEqual(self.handler("mail")["waiting_workers"], 0)

    def test_a_misspelt_name_is_not_served_and_the_right_one_is_suggested(self):
        self.start()
        worker, got = self.worker("mail.send")
        self.assertTrue(eventually(lambda: self.waiting_workers("mail.send") == 1))
        id = self.submit("mail.sned")
        found = self.handler("mail.sned")
        self.assertEqual((found["served"], found["did_you_mean"]), (False, "mail.send"))
        self.assertNotIn("did_you_mean", self.handler("mail.send"))
        self.assertTrue(self.task(id)["no_handler"])
        shown = self.program("handlers")
        self.assertRegex(shown.stdout, r"mail\.sned +1 +1 +no, never asked")
        self.assertEqual(shown.stderr, "note: no instance runs mail.sned; did you mean mail.send?\n")
        paused = self.daemon.ask("POST", "/v1/handlers/mail.sent/pause", {"why": ""})[1]
        self.assertEqual((paused["served"], paused["did_you_mean"]), (False, "mail.send"))
        self.assertIn("did you mean mail.send?", self.program("handlers", "pause", "mail.sent").stderr)
        self.submit("mail.send")
        worker.join()
        self.assertEqual([task["handler"] for task in got], ["mail.send"])

    def test_an_end_that_waits_for_a_handler_says_so_and_how_to_end_it_now(self):
        self.start()
        ends = {"cancel": ([], "cancelled", "cancelled"), "fail": (["--why", "paper jam"], "failed", "rejected"), "complete": ([], "completed", "succeeded")}
        for verb, (more, past, outcome) in ends.items():
            id = self.submit("mail.snd")
            ran = self.program("tasks", verb, id, *more)
            self.assertEqual(ran.stdout, f"{id} {past}\n")
            self.assertEqual(ran.stderr, f"{id}: its owner is told when an instance or a worker has its handler: --untold ends it now\n")
            again = self.program("tasks", verb, id, *more, code=1).stderr
            callback = "on_success" if verb == "complete" else "on_final_failure"
            self.assertIn(f"task {id} is decided: {outcome}, and {callback} is due; it waits for an instance or a worker that has its handler; "
                          f"{verb} with untold ends it now", again)
            self.assertEqual(self.program("tasks", verb, id, *more, "--untold").stdout, f"{id} {past}\n")
            self.assertEqual((self.task(id)["state"], self.task(id)["outcome"]), ("finished", outcome))
            self.assertIn("has already ended", self.program("tasks", verb, id, *more, "--untold", code=1).stderr)

    def test_an_end_is_not_another_one_because_the_owner_is_not_told(self):
        self.start()
        id = self.submit("mail.snd")
        self.assertIn("hint", self.daemon.ask("POST", f"/v1/tasks/{id}/complete", {"result": 17})[1])
        status, answer = self.daemon.ask("POST", f"/v1/tasks/{id}/fail?untold=true", {"why": "changed my mind"})
        self.assertEqual((status, answer["error"]["code"], "complete with untold" in answer["error"]["hint"]), (409, "ended", True), answer)

    def test_the_end_of_a_task_that_is_served_says_nothing_more(self):
        self.start()
        thread, got = self.worker("mail")
        self.assertTrue(eventually(lambda: self.waiting_workers("mail") == 1))
        id = self.daemon.ask("POST", "/v1/tasks", {"handler": "mail", "delay_ms": 3_600_000})[1]["id"]
        self.assertEqual(self.daemon.ask("POST", f"/v1/tasks/{id}/cancel"), (200, {"cancelled": True}))
        self.submit("mail")
        thread.join()

    def test_a_task_is_completed_without_a_body(self):
        self.start()
        for body in (None, "", {}):
            id = self.submit("mail")
            self.assertEqual(self.daemon.ask("POST", f"/v1/tasks/{id}/complete?untold=true", body), (200, {"completed": True}))

    def test_names_are_not_suggested_if_many_are_not_served(self):
        self.start()
        worker, _ = self.worker("mail0")
        self.assertTrue(eventually(lambda: self.waiting_workers("mail0") == 1))
        self.daemon.ask("POST", "/v1/tasks", {"tasks": [{"handler": f"mail{n}", "key": str(n)} for n in range(1, 22)]})
        self.assertNotIn("did_you_mean", self.handler("mail1"))
        self.submit("mail0")
        worker.join()

    def test_a_busy_worker_serves_until_its_lease_expires(self):
        self.start()
        self.submit("mail")
        self.daemon.lease(lease_ms=14_000)
        self.assertTrue(eventually(lambda: seconds_since(self.handler("mail")["last_asked_at"]) > 11, seconds=30))
        self.assertTrue(self.handler("mail")["served"])
        self.assertTrue(eventually(lambda: not self.handler("mail")["served"]))
        self.assertTrue(seconds_since(self.handler("mail")["last_asked_at"]) > 13)
        self.assertRegex(self.program("handlers").stdout, r"mail +1 +1 +no, asked 1\d s ago")

    def test_a_handler_behind_a_url_is_served_without_workers(self):
        with open(os.open(os.path.join(self.folder.name, "hook.secrets"), os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(SECRET)
        self.start("handlers:\n  hook: {url: 'https://shop.example/', secrets_file: hook.secrets}\n  pull: {timeout: 10s}\n")
        self.assertTrue(self.handler("hook")["served"])
        self.assertNotIn("last_asked_at", self.handler("hook"))
        self.assertFalse(self.handler("pull")["served"], "it is only configured")
        self.assertRegex(self.program("handlers").stdout, r"hook +0 +0 +yes *\n")


if __name__ == "__main__":
    unittest.main()
