"""What those do who look after easyretry serve: many tasks at once, events, tables. Usage: operating_test.py EASYRETRY_PROGRAM"""
import http.client
import json
import os
import time
import unittest

from daemon_case import DaemonCase


class Operating(DaemonCase):
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

        job = self.bulk(action="cancel", filter={"handler": "mail"}, untold=True)
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

    def test_tables_are_those_of_a_database_server_and_of_all_namespaces(self):
        daemon = self.start()
        status, said = daemon.ask("GET", "/v1/tables")
        self.assertEqual(status, 422)
        self.assertIn("PostgreSQL", said["error"]["message"])
        self.assertEqual(daemon.ask("GET", "/v1/tables", token=self.token("v", "viewer"))[0], 403)


if __name__ == "__main__":
    unittest.main()
