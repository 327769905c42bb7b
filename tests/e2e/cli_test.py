"""The command line, as people and scripts use it: with a real daemon, and directly on a store.
Usage: cli_test.py EASYRETRY_PROGRAM"""
import http.server
import json
import os
import subprocess
import threading
import unittest

from cli_case import CliCase

NOBODY = "http://127.0.0.1:1"


class OnBothWays:
    """Tests that are the same with a daemon and directly on a store."""

    def test_a_task_is_submitted_listed_shown_cancelled_and_requeued(self):
        made = self.answer("tasks", "submit", "mail", "--args", '[{"to": "ann"}]', "--business-id", "7", "--key", "k",
                           "--tag", "a", "--tag", "b", "--delay", "1h")
        self.assertEqual((made["created"], made["key"]), (True, "k"))
        again = self.answer("tasks", "submit", "mail", "--key", "k")
        self.assertEqual((again["created"], again["id"]), (False, made["id"]))

        listed = self.answer("tasks", "list", "--business-id", "7", "--state", "pending", "--created-from", "1h")
        self.assertEqual([task["id"] for task in listed["tasks"]], [made["id"]])
        self.assertEqual(self.answer("tasks", "list", "--created-until", "1h")["tasks"], [])
        self.assertRegex(self.good("tasks", "list"), rf"{made['id']} +mail +k +pending +0 +in 59 min")

        shown = self.answer("tasks", "show", made["id"], "--args")
        self.assertEqual((shown["args"], shown["tags"], shown["policy"]["max_attempts"]), ([{"to": "ann"}], ["a", "b"], 16))
        self.assertRegex(self.good("tasks", "show", made["id"]), r"attempts +0 of 16\ncreated +20.*Z \((now|\d+ s ago)\)\n")

        self.assertEqual(self.answer("tasks", "cancel", made["id"], "--untold"), {"tasks": [{"id": made["id"], "cancelled": True}]})
        ended = self.answer("history", "list", "--outcome", "cancelled", "--finished-from", "1h", "--key", "k")
        self.assertEqual([task["id"] for task in ended["tasks"]], [made["id"]])
        [requeued] = self.answer("tasks", "requeue", made["id"])["tasks"]
        self.assertEqual([task["id"] for task in self.answer("tasks", "list")["tasks"]], [requeued["requeued_as"]])

        [handler] = self.answer("handlers")["handlers"]
        self.assertEqual((handler["name"], handler["live"], handler["ended"]), ("mail", 1, {"cancelled": 1}))
        self.assertRegex(self.good("handlers"), r"mail +1 +2 .*1 cancelled")

    def test_a_task_has_a_class_and_many_that_are_requeued_are_of_the_background(self):
        urgent = self.submit("mail", "--key", "u", "--class", "urgent", "--delay", "1h")
        plain = self.submit("mail", "--key", "n", "--delay", "1h")
        self.assertEqual(self.answer("tasks", "show", urgent)["class"], "urgent")
        self.assertRegex(self.good("tasks", "show", urgent), r"\nclass +urgent\n")
        self.assertNotIn("class", self.answer("tasks", "show", plain))
        self.assertEqual([task["id"] for task in self.answer("tasks", "list", "--class", "urgent")["tasks"]], [urgent])
        self.assertEqual([task["id"] for task in self.answer("tasks", "list", "--class", "normal")["tasks"]], [plain])
        self.assertIn("urgent", self.refused("tasks", "submit", "mail", "--class", "high", *self.where, code=2))

        self.good("tasks", "cancel", urgent, "--untold")
        [again] = self.answer("tasks", "requeue", urgent)["tasks"]
        self.assertEqual(self.answer("tasks", "show", again["requeued_as"])["class"], "urgent", "one task keeps its class")
        self.good("tasks", "cancel", "--everything", "--yes", "--untold")
        self.assertEqual(self.good("tasks", "requeue", "--key", "u", "--yes"), "1 requeued, 0 skipped\n")
        [bulk] = self.answer("tasks", "list", "--key", "u")["tasks"]
        self.assertEqual(bulk["class"], "background")
        self.assertEqual(self.good("tasks", "requeue", "--key", "n", "--yes", "--as-class", "normal"), "1 requeued, 0 skipped\n")
        [said] = self.answer("tasks", "list", "--key", "n")["tasks"]
        self.assertNotIn("class", said)

    def test_a_task_is_completed_or_failed(self):
        done, failed = self.submit("mail", "--key", "1", "--delay", "1h"), self.submit("mail", "--key", "2", "--delay", "1h")
        self.assertIn("--why is required", self.run_program("tasks", "fail", failed, *self.where).stderr)
        self.assertIn("--result: this is not JSON", self.refused("tasks", "complete", done, "--result", "{", *self.where, code=2))
        self.assertEqual(self.answer("tasks", "complete", done, "--result", '{"receipt": 17}', "--untold"),
                         {"tasks": [{"id": done, "completed": True}]})
        self.assertEqual(self.good("tasks", "fail", failed, "--why", "refunded by hand", "--untold"), f"{failed} failed\n")
        self.assertEqual([self.answer("tasks", "show", id)["outcome"] for id in (done, failed)], ["succeeded", "rejected"])
        self.assertEqual(self.answer("tasks", "show", failed)["last_error"], "refunded by hand")
        self.submit("mail", "--key", "3", "--delay", "1h")
        self.assertEqual(self.good("tasks", "fail", "--handler", "mail", "--why", "closed", "--untold", "--yes"),
                         "1 failed, 0 skipped\n")

    def test_lists_come_in_pages_or_whole(self):
        ids = [self.submit("mail", "--key", str(number)) for number in range(5)]
        for order, ids, next in ([], ids[::-1], f"older-{ids[3]}"), (["--oldest-first"], ids, f"newer-{ids[1]}"):
            page = self.answer("tasks", "list", "--limit", "2", *order)
            self.assertEqual(([task["id"] for task in page["tasks"]], page["next"]), (ids[:2], next))
            rest = self.answer("tasks", "list", "--after", next, *order)
            self.assertEqual([task["id"] for task in rest["tasks"]], ids[2:])
            self.assertNotIn("next", rest)
            self.assertEqual([task["id"] for task in self.answer("tasks", "list", "--all", *order)["tasks"]], ids)
            self.assertIn(f"--after {next}, or --all", self.run_program("tasks", "list", "--limit", "2", *order, *self.where).stderr)
        self.assertIn("add or leave out --oldest-first", self.refused("tasks", "list", "--after", next, *self.where))

    def test_history_is_listed_newest_first_or_oldest_first(self):
        ids = [self.submit("mail", "--key", str(number)) for number in range(3)]
        self.good("tasks", "cancel", *ids, "--yes", "--untold")
        self.assertEqual([task["id"] for task in self.answer("history", "list")["tasks"]], ids[::-1])
        self.assertEqual([task["id"] for task in self.answer("history", "list", "--oldest-first")["tasks"]], ids)

    def test_several_tasks_are_changed_only_on_a_yes(self):
        ids = [self.submit("mail", "--key", str(number)) for number in range(2)]
        said = self.refused("tasks", "cancel", *ids, *self.where)
        self.assertIn("cancel 2 tasks? there is no terminal to ask; use --yes", said)
        self.assertEqual(self.good("tasks", "cancel", *ids, "--dry-run"),
                         "".join(f"{id} would be cancelled\n" for id in ids))
        self.assertEqual(len(self.answer("tasks", "list")["tasks"]), 2, "nothing has happened")
        self.good("tasks", "cancel", *ids, "--yes", "--untold")
        self.assertEqual(self.answer("tasks", "list")["tasks"], [])

    def test_all_that_a_filter_finds_are_changed_on_a_yes(self):
        mails = [self.submit("mail", "--key", f"m{number}", "--delay", "1h") for number in range(3)]
        self.submit("ship", "--key", "s", "--delay", "1h")
        self.assertIn("by id, by options such as --handler", self.refused("tasks", "cancel", *self.where))
        self.assertIn("cancel 3 tasks? there is no terminal to ask; use --yes",
                      self.refused("tasks", "cancel", "--handler", "mail", *self.where))
        self.assertEqual(self.good("tasks", "cancel", "--handler", "mail", "--dry-run"),
                         "3 tasks would be cancelled\n" + "".join(f"{id}\n" for id in mails))
        self.assertEqual(self.good("tasks", "retry", "--handler", "mail", "--yes"), "3 retried, 0 skipped\n")
        job = self.answer("tasks", "cancel", "--handler", "mail", "--yes", "--untold")
        self.assertEqual((job["state"], job["changed"]), ("done", 3))
        self.assertEqual(self.good("tasks", "requeue", "--outcome", "cancelled", "--finished-from", "1h", "--yes"),
                         "3 requeued, 0 skipped\n")
        self.assertEqual(self.good("tasks", "cancel", "--everything", "--yes", "--untold"), "4 cancelled, 0 skipped\n")
        self.assertIn("excludes", self.run_program("tasks", "cancel", "17", "--handler", "mail", *self.where).stderr)

    def test_a_task_that_cannot_be_changed_does_not_keep_the_others(self):
        ended, live = self.submit("mail", "--key", "1"), self.submit("mail", "--key", "2")
        self.good("tasks", "cancel", ended, "--untold")
        ran = self.run_program("tasks", "cancel", "17", ended, live, "--yes", *self.where)
        self.assertEqual((ran.returncode, ran.stdout), (1, f"{live} cancelled\n"))
        self.assertIn("17: not cancelled: there is no task 17", ran.stderr)
        self.assertIn(f"{ended}: not cancelled: task {ended} has already ended", ran.stderr)
        self.assertIn("2 of 3 could not be cancelled", ran.stderr)
        again = self.submit("mail", "--key", "2")
        self.assertIn("has not ended", self.refused("tasks", "requeue", again, *self.where))
        self.assertIn("it has not ended", self.refused("tasks", "requeue", again, "--dry-run", *self.where))

    def test_invalid_arguments_are_named(self):
        self.submit("mail", "--key", "k")
        self.assertIn('unknown value "asleep"; known: pending, running', self.refused("tasks", "list", "--state", "asleep", *self.where, code=2))
        for arguments, said in (
            (["tasks", "list", "--created-from", "tomorrow"], '"tomorrow" is no time'),
            (["tasks", "list", "--limit", "0"], "not a whole number from 1 to 1000"),
            (["tasks", "submit", "mail", "--delay", "soon"], 'duration "soon": not a number'),
        ):
            with self.subTest(arguments=arguments):
                self.assertIn(said, self.refused(*arguments, *self.where, code=2))
        for arguments, said in (
            (["tasks", "show", "x/../y"], 'there is no task "x/../y"'),
            (["tasks", "submit", "mail", "--args", "{to: ann}"], "the arguments are not JSON"),
            (["tasks", "submit", "mail", "--args-file", "nowhere.json"], "--args-file nowhere.json cannot be read"),
            (["tasks", "submit", "mail", "--delay", "1h", "--due-at", "2030-01-01"], "due_at and delay_ms both set the due time"),
            (["tasks", "submit", "mail", "--key", "k", "--on-duplicate", "reject"], "leave out --on-duplicate"),
        ):
            with self.subTest(arguments=arguments):
                self.assertIn(said, self.refused(*arguments, *self.where))

    def test_arguments_arrive_as_they_were_written(self):
        id = self.good("tasks", "submit", "mail", "--args-file", "-", stdin='[9007199254740993, "\u00e9"]').strip()
        self.assertIn('"args":[9007199254740993,"\u00e9"]', self.good("tasks", "show", id, "--args", "--json"))

    def test_a_dry_run_of_submit_stores_nothing(self):
        printed = self.good("tasks", "submit", "mail", "--args", "[1]", "--delay", "2m", "--dry-run")
        self.assertEqual(json.loads(printed), {"handler": "mail", "args": [1], "delay_ms": 120_000})
        self.assertEqual(self.answer("tasks", "list")["tasks"], [])


class OnADaemon(OnBothWays, CliCase):
    def setUp(self):
        super().setUp()
        self.start()
        self.environment["EASYRETRY_TOKEN"] = self.daemon.token
        self.where = ["--server", f"http://127.0.0.1:{self.daemon.port}"]

    def test_the_token_may_be_in_a_file(self):
        token = self.environment.pop("EASYRETRY_TOKEN")
        with open(self.path("token"), "w") as file:
            file.write(token + "\n")
        self.good("tasks", "list", "--token-file", "token")
        self.assertIn("there is no token in nowhere", self.refused("tasks", "list", "--token-file", "nowhere", *self.where))

    def test_missing_rights_are_reported_with_a_remedy(self):
        for token, said in (("", "the request has no token; put the token in EASYRETRY_TOKEN"),
                            ("er_wrong", "the token is unknown; put the token in EASYRETRY_TOKEN")):
            self.assertIn(said, self.refused("tasks", "list", *self.where, environment={"EASYRETRY_TOKEN": token}))
        viewer = {"EASYRETRY_TOKEN": self.token("viewer", "viewer")}
        id = self.submit("mail")
        self.assertIn("the role viewer of token viewer may not do this",
                      self.refused("tasks", "cancel", id, *self.where, environment=viewer))
        self.assertIn("may not see arguments; use a token with +payloads",
                      self.refused("tasks", "show", id, "--args", *self.where, environment=viewer))
        self.assertIn('token viewer is not for the namespace "shop"; leave out --namespace',
                      self.refused("tasks", "list", "--namespace", "shop", *self.where, environment=viewer))

    def test_all_pages_are_one_list(self):
        status, made = self.daemon.ask("POST", "/v1/tasks", {"tasks": [{"handler": "mail", "args": [n]} for n in range(2500)]})
        self.assertEqual(status, 201)
        ids = sorted((task["id"] for task in made["tasks"]), key=int, reverse=True)
        whole = self.answer("tasks", "list", "--all")
        self.assertEqual(([task["id"] for task in whole["tasks"]], "next" in whole), (ids, False))
        self.assertEqual([line.split()[0] for line in self.good("tasks", "list", "--all").splitlines()], ["id", *ids])

    def test_a_failure_is_shown_with_its_error(self):
        self.submit("mail", "--key", "k")
        [task] = self.daemon.lease()
        self.daemon.ask("POST", f"/v1/leases/{task['id']}/fail",
                        {"version": task["version"], "error": "\x1b[2Jbank closed", "give_up": True})
        listed = self.good("history", "list")
        self.assertRegex(listed, r"k +rejected +1 +(now|\d+ s ago) +.*bank closed")
        self.assertNotIn("\x1b", listed + self.good("tasks", "show", task["id"]), "a terminal would obey it")

    def test_the_attempts_of_a_task_are_shown_newest_first(self):
        id = self.submit("mail", "--key", "k")
        for error in "\x1b[2Jbank closed\nfor today", "bank busy":
            [task] = self.daemon.lease()
            self.daemon.ask("POST", f"/v1/leases/{id}/fail", {"version": task["version"], "error": error, "retry_after_ms": 0})
        [task] = self.daemon.lease()
        self.daemon.ask("POST", f"/v1/leases/{id}/done", {"version": task["version"]})
        attempts = self.answer("tasks", "show", id)["last_attempts"]
        self.assertEqual([(one["number"], one["end"], one.get("error")) for one in attempts],
                         [(3, "succeeded", None), (2, "failed", "bank busy"), (1, "failed", "\x1b[2Jbank closed\nfor today")])
        for one in attempts:
            self.assertEqual(one["by"], attempts[0]["by"])
            self.assertLessEqual(one["began_at"], one["ended_at"])
        shown = self.good("tasks", "show", id)
        self.assertRegex(shown, r"attempt +3 succeeded in \S+ by \S+, (now|\d+ s ago)\nattempt +2 failed in \S+ by \S+, .*: bank busy\n")
        self.assertNotIn("\x1b", shown, "a terminal would obey it")
        self.assertNotIn("last_attempts", self.answer("history", "list")["tasks"][0])

    def test_the_file_of_a_daemon_is_left_to_the_daemon(self):
        said = self.refused("tasks", "list", "--store", "sqlite:retry.db")
        self.assertIn(f"is in use by process {self.daemon.process.pid}", said)
        self.assertIn("ask it: --server", said)


class OnAStore(OnBothWays, CliCase):
    def setUp(self):
        super().setUp()
        self.start()
        self.daemon.stop()
        self.where = ["--store", "sqlite:retry.db"]

    def test_a_submitted_task_has_the_configured_policy_and_is_run_by_the_daemon(self):
        with open(self.path("other.yaml"), "w") as file:
            file.write("handlers:\n  mail: {max_attempts: 3}\n  hook: {url: 'https://shop.example/', secrets_file: none}\n")
        id = self.submit("mail", "--config", "other.yaml")
        self.assertEqual(self.answer("tasks", "show", id)["policy"]["max_attempts"], 3)
        self.start()
        self.assertEqual([task["id"] for task in self.daemon.lease()], [id])

    def test_the_answer_does_not_say_whether_a_task_is_served(self):
        id = self.submit("mail")
        self.assertNotIn("no_handler", self.answer("tasks", "show", id))
        self.assertNotIn("no_handler", self.answer("tasks", "list")["tasks"][0])
        self.assertNotIn("served", self.answer("handlers")["handlers"][0])

    def test_namespaces_are_apart(self):
        id = self.submit("mail", "--namespace", "shop")
        self.assertEqual(self.answer("tasks", "list")["tasks"], [])
        self.assertEqual([task["id"] for task in self.answer("tasks", "list", "--namespace", "shop")["tasks"]], [id])
        self.assertIn("there is no task", self.refused("tasks", "show", id, *self.where))

    def test_an_empty_database_stays_empty(self):
        said = self.refused("tasks", "list", "--store", "sqlite:new.db")
        self.assertIn("this database has no EasyRetry store yet; check the url", said)
        self.assertFalse(os.path.exists(self.path("new.db")))
        self.assertIn("ask its daemon with --server", self.refused("tasks", "list", "--store", "memory:"))
        self.assertIn('unknown scheme "oracle"', self.refused("tasks", "list", "--store", "oracle://x"))

    def test_changes_are_in_the_audit_log_of_the_configuration(self):
        with open(self.path("audited.yaml"), "w") as file:
            file.write("server: {audit: audit.jsonl}\n")
        id = self.submit("mail")
        self.good("tasks", "cancel", id, "--config", "audited.yaml")
        with open(self.path("audit.jsonl")) as file:
            [entry] = [json.loads(line) for line in file]
        self.assertEqual((entry["from"], entry["request"]), ("command line", f"POST /v1/tasks/{id}/cancel"))


class Answering(http.server.BaseHTTPRequestHandler):
    """Another server, which listens where a daemon was expected."""
    status, said, asked = 200, "<html>", []

    def do_GET(self):
        Answering.asked.append(self.headers.get("Authorization"))
        self.send_response(self.status)
        self.send_header("Location", f"http://127.0.0.1:{self.server.server_port}/elsewhere")
        self.end_headers()
        self.wfile.write(self.said.encode())

    def log_message(self, *_):
        pass


class WithoutADaemon(CliCase):
    def test_an_address_that_cannot_be_is_refused_before_a_token_is_sent(self):
        for server, said in (
            (NOBODY, f"no daemon answers at {NOBODY}"),
            ("127.0.0.1:7077", "is not the address of a daemon; write it as http://127.0.0.1:7077"),
            ("ftp://127.0.0.1", "is not the address of a daemon"),
            ("http://127.0.0.1:7077/v1", "is not the address of a daemon"),
            ("http://user@127.0.0.1:7077", "is not the address of a daemon"),
            ("http://retry.example:7077", "the token must not be sent unencrypted; use https://"),
            ("http://127.0.0.1.retry.example", "the token must not be sent unencrypted"),
        ):
            with self.subTest(server=server):
                self.assertIn(said, self.refused("tasks", "list", "--server", server))

    def test_another_server_is_not_taken_for_a_daemon_and_redirects_are_not_followed(self):
        server = http.server.HTTPServer(("127.0.0.1", 0), Answering)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            for Answering.status in (200, 302, 502):
                said = self.refused("tasks", "list", "--server", f"http://127.0.0.1:{server.server_port}",
                                    environment={"EASYRETRY_TOKEN": "er_secret"})
                self.assertIn(f"is not EasyRetry (HTTP {Answering.status}); check --server", said)
                self.assertNotIn("er_secret", said)
            self.assertEqual(Answering.asked, ["Bearer er_secret"] * 3, "asked once each")
        finally:
            server.shutdown()
            server.server_close()

    def test_a_certificate_has_to_be_vouched_for(self):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                        "-keyout", "key.pem", "-out", "certificate.pem", "-subj", "/CN=retry", "-addext",
                        "subjectAltName=IP:127.0.0.1"], cwd=self.folder.name, check=True, capture_output=True)
        self.start(server=", certificate: certificate.pem, private_key: key.pem")
        self.environment["EASYRETRY_TOKEN"] = self.daemon.token
        self.where = ["--server", f"https://127.0.0.1:{self.daemon.port}"]
        self.assertIn("is not trusted", self.refused("tasks", "list", *self.where))
        self.assertEqual(self.answer("tasks", "list", "--ca-file", "certificate.pem"), {"tasks": []})

    def test_a_daemon_and_a_store_at_once_are_one_too_many(self):
        ran = self.run_program("tasks", "list", "--server", NOBODY, "--store", "sqlite:retry.db")
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn("excludes", ran.stderr)

    def test_config_check_prints_what_a_file_means(self):
        with open(self.path("good.yaml"), "w") as file:
            file.write("workers: 3\nstore: postgres://app:secret@db/retry\n")
        ran = self.run_program("config", "check", "good.yaml",
                               environment={"EASYRETRY_LEASE": "45s", "EASYRETRY_TOKEN": "er_secret"})
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertRegex(ran.stderr, r"^not checked: whether the store can be opened .*\n$")
        self.assertIn("workers: 3\n", ran.stdout)
        self.assertIn("lease: 45s\n", ran.stdout)
        self.assertNotIn("secret", ran.stdout)

    def test_config_check_says_every_problem(self):
        with open(self.path("easyretry.yaml"), "w") as file:
            file.write("workerz: 3\nlease: soon\n")
        ran = self.run_program("config", "check")
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertIn("easyretry.yaml:1:1: workerz: unknown key, did you mean workers?", ran.stderr)
        self.assertIn("easyretry.yaml:2:", ran.stderr)
        said = self.run_program("config", "check", "--json")
        self.assertEqual((said.returncode, len(json.loads(said.stdout)["problems"])), (1, 2))
        self.assertIn("nowhere.yaml", self.refused("config", "check", "nowhere.yaml"))


if __name__ == "__main__":
    unittest.main()
