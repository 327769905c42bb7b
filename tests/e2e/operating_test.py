"""Endpoints for operators of easyretry serve: many tasks at once, events, tables. Usage: operating_test.py EASYRETRY_PROGRAM"""
import http.client
import json
import os
import unittest

from daemon_case import DaemonCase
from waiting import until


class Operating(DaemonCase):
    def bulk(self, status=202, **body):
        answered, answer = self.daemon.ask("POST", "/v1/bulk", body)
        self.assertEqual(answered, status, answer)
        if status != 202:
            return answer

        def ended():
            job = self.daemon.ask("GET", f"/v1/bulk/{answer['id']}")[1]
            return job if "ended_at" in job else None
        return until(ended)

    def test_all_matches_of_a_filter_are_changed_at_once(self):
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
        self.assertIn("only for the action requeue",
                      self.bulk(422, action="cancel", filter={"handler": "mail"}, **{"class": "urgent"})["error"]["message"])
        self.bulk(400, action="cancel", filter=["mail"])

        job = self.bulk(action="cancel", filter={"handler": "mail"}, untold=True)
        self.assertEqual((job["state"], job["matched"], job["changed"], job["skipped"]), ("done", 1200, 1200, 0))
        self.assertEqual((job["filter"], job["by"]), ({"handler": "mail"}, daemon.ask("GET", "/v1/whoami")[1]["name"]))
        job = self.bulk(action="requeue", filter={"outcome": "cancelled", "handler": "mail"})
        self.assertEqual((job["state"], job["changed"]), ("done", 1200))
        self.assertEqual(len(daemon.ask("GET", "/v1/tasks?class=background&limit=1000")[1]["tasks"]), 1000)
        counts = {each["name"]: each["live"] for each in daemon.ask("GET", "/v1/handlers")[1]["handlers"]}
        self.assertEqual(counts, {"mail": 1200, "ship": 1200})
        self.assertEqual(len(daemon.ask("GET", "/v1/bulk")[1]["jobs"]), 2)
        self.assertEqual(daemon.ask("POST", "/v1/bulk/17/stop")[0], 404)
        with open(os.path.join(self.folder.name, "audit.jsonl")) as file:
            self.assertIn("cancelled", [json.loads(line)["said"] for line in file][-2])

    def test_a_job_says_which_tasks_it_changes_and_who_asked_for_it(self):
        daemon = self.start()
        ann = self.token("ann", "operator")
        for body in {"filter": {"handler": "mail", "tag": "vip"}}, {"everything": True}:
            self.assertEqual(daemon.ask("POST", "/v1/bulk", {"action": "retry", **body}, token=ann)[0], 202)
        jobs = daemon.ask("GET", "/v1/bulk")[1]["jobs"]
        self.assertEqual([(job["filter"], job["by"]) for job in jobs], [({"handler": "mail", "tag": "vip"}, "ann"), ({}, "ann")])
        self.assertEqual(daemon.ask("GET", f"/v1/bulk/{jobs[0]['id']}")[1]["filter"], jobs[0]["filter"])

    def test_an_operator_says_how_a_task_ends(self):
        daemon = self.start(server=", audit: audit.jsonl")
        done, failed, leased = (daemon.ask("POST", "/v1/tasks", {"handler": "mail", "key": key})[1]["id"] for key in "abc")
        task = next(each for each in daemon.lease("mail", max=3) if each["id"] == leased)
        ends = [daemon.ask("POST", f"/v1/tasks/{done}/complete", {"result": {"secret": "canary"}}),
                daemon.ask("POST", f"/v1/tasks/{failed}/fail", {"why": "refunded by hand"}),
                daemon.ask("POST", f"/v1/tasks/{leased}/complete", {})]
        self.assertEqual(ends, [(200, {"completed": True}), (200, {"failed": True}), (200, {"completed": True})])
        shown = [daemon.ask("GET", f"/v1/tasks/{id}")[1] for id in (done, failed, leased)]
        self.assertEqual([each["outcome"] for each in shown], ["succeeded", "rejected", "succeeded"])
        self.assertEqual([each["state"] for each in shown], ["finished"] * 3)
        self.assertEqual(shown[1]["last_error"], "refunded by hand")
        late = daemon.ask("POST", f"/v1/leases/{leased}/fail", {"version": task["version"], "error": "too late"})
        self.assertEqual((late[0], late[1]["error"]["code"]), (409, "lease_lost"))

        self.assertEqual(daemon.ask("POST", f"/v1/tasks/{done}/fail", {"why": "x"})[1]["error"]["code"], "ended")
        self.assertEqual(daemon.ask("POST", "/v1/tasks/17/complete", {})[0], 404)
        for wrong in ({}, {"why": ""}, {"why": 5}, {"reason": "x"}):
            self.assertIn(daemon.ask("POST", f"/v1/tasks/{done}/fail", wrong)[0], (400, 422), wrong)
        with open(os.path.join(self.folder.name, "audit.jsonl")) as file:
            audit = file.read()
        self.assertIn("refunded by hand", audit)
        self.assertNotIn("canary", audit, "results are not for the audit log")

    def test_all_matches_of_a_filter_are_completed_or_failed(self):
        daemon = self.start()
        for handler in ("mail", "ship"):
            daemon.ask("POST", "/v1/tasks", {"tasks": [{"handler": handler, "args": [i], "delay_ms": 60_000} for i in range(30)]})
        self.bulk(400, action="fail", filter={"handler": "mail"})
        self.assertEqual(self.bulk(action="fail", why="closed", filter={"handler": "mail"}, untold=True)["changed"], 30)
        self.assertEqual(self.bulk(action="complete", filter={"handler": "ship"}, untold=True)["changed"], 30)
        ended = {each["name"]: each["ended"] for each in daemon.ask("GET", "/v1/handlers")[1]["handlers"]}
        self.assertEqual(ended, {"mail": {"rejected": 30}, "ship": {"succeeded": 30}})
        self.assertEqual(daemon.ask("GET", "/v1/history?outcome=rejected&limit=1")[1]["tasks"][0]["last_error"], "closed")

    def watch(self, path="/v1/events", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.daemon.port, timeout=30)
        self.addCleanup(connection.close)
        connection.request("GET", path, headers={"Authorization": f"Bearer {self.daemon.token}", **headers})
        answer = connection.getresponse()
        self.assertEqual((answer.status, answer.getheader("Content-Type")), (200, "text/event-stream"))
        return connection, answer

    @staticmethod
    def events(answer, until):
        """(id, kind, data) of each event, up to and including the first one of this kind."""
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

    def test_events_arrive_as_they_happen_and_after_a_reconnect(self):
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

    def test_tables_are_those_of_a_database_server_and_of_all_namespaces(self):
        daemon = self.start()
        status, said = daemon.ask("GET", "/v1/tables")
        self.assertEqual(status, 422)
        self.assertIn("PostgreSQL", said["error"]["message"])
        self.assertEqual(daemon.ask("GET", "/v1/tables", token=self.token("v", "viewer"))[0], 403)


if __name__ == "__main__":
    unittest.main()
