"""Commands that look at a daemon as the dashboard does: errors, whoami, namespaces, series, and what a task waits for.
Usage: looking_test.py EASYRETRY_PROGRAM"""
import unittest

from cli_case import CliCase
from waiting import until


class Looking(CliCase):
    def start(self, config="", server="", **more):
        super().start(config, server, **more)
        self.environment["EASYRETRY_TOKEN"] = self.daemon.token
        self.where = ["--server", f"http://127.0.0.1:{self.daemon.port}"]

    def api(self, path):
        status, answer = self.daemon.ask("GET", path)
        self.assertEqual(status, 200, answer)
        return answer

    def fail(self, handler, error, give_up=True):
        _, made = self.daemon.ask("POST", "/v1/tasks", {"handler": handler, "args": [error]})
        [task] = self.daemon.lease(handler)
        body = {"version": task["version"], "error": error, **({"give_up": True} if give_up else {"retry_after_ms": 3_600_000})}
        self.assertEqual(self.daemon.ask("POST", f"/v1/leases/{task['id']}/fail", body)[0], 200)
        return made["id"]


class Errors(Looking):
    def groups(self, *arguments):
        return [(group["text"], group["count"], group["handlers"]) for group in self.answer("errors", *arguments)["groups"]]

    def test_failures_are_shown_by_kind_and_a_fingerprint_finds_their_tasks(self):
        self.start()
        ended = [self.fail("mail", f"no user {number}") for number in range(3)]
        self.fail("pay", "HTTP 503")
        live = self.fail("pay", "no user 4", give_up=False)
        self.assertEqual(self.groups(), [("no user <number>", 3, ["mail"]), ("HTTP 503", 1, ["pay"])])
        self.assertEqual(self.answer("errors"), self.api("/v1/errors"))
        self.assertEqual(self.groups("--of", "tasks"), [("no user <number>", 1, ["pay"])])
        self.assertEqual(self.groups("--handler", "pay"), [("HTTP 503", 1, ["pay"])])
        self.assertEqual(self.groups("--limit", "1"), [("no user <number>", 3, ["mail"])])
        self.assertEqual(len(self.groups("--from", "2h")), 2)
        self.assertEqual(self.good("errors", "--from", "2099-01-01"), "no failures\n")

        fingerprint = self.answer("errors")["groups"][0]["fingerprint"]
        age = r"(now|\d+ s ago)"
        self.assertRegex(self.good("errors"), rf"(?m)^fingerprint +count +first seen +last seen +handlers +error\n"
                                              rf"{fingerprint} +3 +{age} +{age} +mail +no user <number>$")
        found = [task["id"] for task in self.answer("history", "list", "--error", fingerprint)["tasks"]]
        self.assertEqual(found, ended[::-1])
        self.assertEqual([task["id"] for task in self.answer("tasks", "list", "--error", fingerprint)["tasks"]], [live])
        self.assertEqual(self.good("tasks", "requeue", "--error", fingerprint, "--yes"), "3 requeued, 0 skipped\n")

    def test_a_store_says_the_same_as_its_daemon(self):
        self.start()
        self.fail("mail", "no user 1")
        of_daemon = self.answer("errors")
        self.daemon.stop()
        self.where = ["--store", "sqlite:retry.db"]
        self.assertEqual(self.answer("errors"), of_daemon)
        self.assertIn("no user <number>", self.good("errors"))

    def test_no_error_drives_a_terminal(self):
        self.start()
        self.fail("mail", "\x1b[2Jbank closed\nfor today")
        shown = self.good("errors")
        self.assertNotIn("\x1b", shown)
        self.assertEqual(len(shown.splitlines()), 2)
        self.assertNotIn("\x1b", self.good("errors", "--json"))


class WaitsFor(Looking):
    def test_a_live_task_says_what_it_waits_for_and_an_ended_one_does_not(self):
        self.start()
        id = self.submit("mail", "--delay", "1h")
        said = self.api(f"/v1/tasks/{id}")["waits_for"]["text"]
        self.assertIn("due at", said)
        self.assertIn(f"\nwaits for     {said}\n", self.good("tasks", "show", id))
        self.good("handlers", "pause", "mail", "--why", "smtp is\x1b[2J down")
        shown = self.good("tasks", "show", id)
        self.assertRegex(shown, r"\nwaits for +its handler mail has been paused since \S+: smtp is.* down\n")
        self.assertNotIn("\x1b", shown, "a terminal would obey it")
        self.good("tasks", "cancel", id, "--untold")
        self.assertNotIn("waits for", self.good("tasks", "show", id))

    def test_a_store_knows_what_does_not_depend_on_who_runs(self):
        self.start()
        later, due = self.submit("mail", "--key", "1", "--delay", "1h"), self.submit("mail", "--key", "2")
        self.assertRegex(self.good("tasks", "show", due), r"\nwaits for +.*no instance")
        self.daemon.stop()
        self.where = ["--store", "sqlite:retry.db"]
        self.assertRegex(self.good("tasks", "show", later), r"\nwaits for +.*due at")
        self.assertNotIn("waits for", self.good("tasks", "show", due), "that no instance has the handler is not known here")


class WhoAndWhere(Looking):
    def test_a_token_is_described(self):
        self.start(server=", namespaces: [shop]")
        self.assertEqual(self.answer("whoami"), self.api("/v1/whoami"))
        self.assertRegex(self.good("whoami"), r"(?m)^role +admin\+payloads\nrights +view, .*administer\nnamespaces +all\nversion +\d+\.")
        viewer = {"EASYRETRY_TOKEN": self.token("ann", "viewer", "shop")}
        self.assertRegex(self.good("whoami", environment=viewer),
                         r"^token +ann\nrole +viewer\nrights +view\nnamespaces +shop\nversion .*\nstore +sqlite:.*retry.db\ndurability +a crash ")
        self.assertIn("the token is unknown", self.refused("whoami", *self.where, environment={"EASYRETRY_TOKEN": "er_wrong"}))

    def test_the_namespaces_of_a_token_are_listed(self):
        self.start(server=", namespaces: [shop]")
        self.assertEqual(self.answer("namespaces"), {"namespaces": ["default", "shop"]})
        self.assertEqual(self.good("namespaces"), "default\nshop\n")
        viewer = {"EASYRETRY_TOKEN": self.token("ann", "viewer", "shop")}
        self.assertEqual(self.good("namespaces", environment=viewer), "shop\n")

    def test_only_a_daemon_has_tokens_namespaces_and_series(self):
        for command in "whoami", "namespaces", "series":
            self.assertIn(f"`easyretry {command}` has no option --store", self.refused(command, "--store", "sqlite:retry.db", code=2))
            self.assertIn("no daemon answers", self.refused(command, "--server", "http://127.0.0.1:1"))


class Series(Looking):
    def test_counts_are_a_row_for_each_step_the_latest_last(self):
        self.start()
        self.assertEqual(self.good("series", "--handler", "nobody"), "nothing was measured yet\n")
        until(lambda: self.answer("series", "--step", "10s")["series"]["stored"], 30)  # the first step has ended
        self.submit("mail", "--delay", "1h")
        until(lambda: sum(value or 0 for value in self.answer("series", "--step", "10s", "--handler", "mail")["series"]["stored"]), 30)
        head, *rows = self.good("series", "--step", "10s").splitlines()
        self.assertRegex(head, r"^from +stored +succeeded +failed attempts +ended badly +backlog +late p50 +late p99$")
        self.assertRegex(rows[-1], r"^20\d\d-.*Z +\d+ +0 +0 +0 +1( |$)")
        [last] = self.good("series", "--step", "10s", "--last", "1").splitlines()[1:]
        self.assertGreaterEqual(last, rows[-1])

    def test_values_that_nothing_could_be_done_with_are_refused(self):
        for line, said in (("series --step 5m", 'unknown value "5m"; known: 10s, 1m'),
                           ("series --last 0", '"0" is not a whole number from 1 to 1440'),
                           ("series --last 3 --json", "excludes"),
                           ("errors --of all", 'unknown value "all"; known: history, tasks'),
                           ("errors --limit 0", '"0" is not a whole number from 1 to 1000'),
                           ("errors --from soon", '"soon" is no time'),
                           ("whoami ann", '`easyretry whoami` does not expect "ann"')):
            with self.subTest(line=line):
                self.assertIn(said, self.refused(*line.split(), code=2))


if __name__ == "__main__":
    unittest.main()
