"""An outage of what a fleet calls: three daemons share a circuit, and the server that they call counts.
Usage: circuit_test.py EASYRETRY_PROGRAM SERVERS_PY KIND, with KIND postgres, mariadb, redis or sqlite"""
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

import yaml

from daemon import Daemon
from json_schema import Schemas
from receiver import Receiver, write_secrets
from waiting import eventually, until

PROGRAM = os.path.abspath(sys.argv.pop(1))
SERVERS = os.path.abspath(sys.argv.pop(1))
KIND = sys.argv.pop(1)

CIRCUIT = "{name: gateway, window: 5s, least: 10, probes: 1/s}"


def servers(*args):
    return subprocess.run([sys.executable, SERVERS, *args], check=True, capture_output=True, text=True).stdout.strip()


class Case(unittest.TestCase):
    circuit = CIRCUIT

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(self.folder.cleanup)
        self.receiver = Receiver()
        self.addCleanup(self.receiver.close)
        self.url = "sqlite:retry.db"
        if KIND != "sqlite":
            place = os.path.join(self.folder.name, "server")
            self.url = servers("start", KIND, "--folder", place, "--no-sync")
            self.addCleanup(servers, "remove", "--folder", place)
        self.daemons = []
        self.addCleanup(self.kill_all)

    def kill_all(self):
        for daemon in self.daemons:
            if daemon.process.poll() is None:
                daemon.kill()

    def start(self):
        folder = os.path.join(self.folder.name, str(len(self.daemons)))
        os.makedirs(folder)
        self.daemons.append(self.start_in(folder))
        return self.daemons[-1]

    def start_in(self, folder):
        write_secrets(folder)
        config = (f"grace: 3s\nhandlers:\n  hook: {{url: '{self.receiver.url}', secrets_file: hook.secrets, backoff: fixed delay=1s, "
                  f"max_attempts: 1000, circuit: {self.circuit}}}\n")
        return Daemon(PROGRAM, folder, config, ", may_call: [127.0.0.1]", store=f"'{self.url}'")

    def restart_all(self):
        self.kill_all()
        self.daemons = [self.start_in(os.path.join(self.folder.name, str(i))) for i in range(len(self.daemons))]

    def submit(self, daemon, count):
        tasks = [{"handler": "hook", "key": str(uuid.uuid4())} for _ in range(count)]
        status, answer = daemon.ask("POST", "/v1/tasks", {"tasks": tasks})
        self.assertEqual(status, 201, answer)
        return [task["id"] for task in answer["tasks"]]

    def state(self, daemon):
        status, answer = daemon.ask("GET", "/v1/circuits")
        self.assertEqual(status, 200, answer)
        [circuit] = answer["circuits"]
        self.assertEqual((circuit["name"], circuit["handlers"]), ("gateway", ["hook"]))
        return circuit["state"]

    def live(self, daemon):
        return daemon.ask("GET", "/v1/tasks?limit=1")[1]["tasks"]

    def calls_in(self, seconds):
        """How often the receiver is called in this time. Meanwhile nothing is waited for: it is the time that counts."""
        before = self.receiver.calls
        time.sleep(seconds)
        return self.receiver.calls - before

    def open_all(self, tasks):
        self.receiver.status = 500
        ids = [task for daemon in self.daemons for task in self.submit(daemon, tasks)]
        for daemon in self.daemons:
            until(lambda daemon=daemon: self.state(daemon) == "open", what="a circuit did not open")
        return ids


class Outage(Case):
    def test_an_outage_is_probed_and_every_task_succeeds_after_it(self):
        fleet = [self.start() for _ in range(1 if KIND == "sqlite" else 3)]
        ids = self.open_all(100)
        self.calls_in(3)  # attempts that were claimed before
        self.assertLessEqual(self.calls_in(10), 30, "about one probe a second for all of them")
        kinds = {fleet[0].ask("GET", f"/v1/tasks/{task}")[1]["waits_for"]["kind"] for task in ids[:20]}
        self.assertIn("circuit", kinds)
        document = Schemas(yaml.safe_load(fleet[0].ask_for_text("GET", "/v1/openapi.yaml")[2]))
        held = until(lambda: [task for task in (fleet[0].ask("GET", f"/v1/tasks/{id}")[1] for id in ids) if task["waits_for"]["kind"] == "circuit"])
        self.assertEqual(document.problems(held[0]["waits_for"], {"$ref": "#/components/schemas/WaitsFor"}), [])
        checks = {check["check"]: check for check in fleet[0].ask("GET", "/v1/doctor")[1]["checks"]}
        self.assertEqual(checks["circuits"]["result"], "warn")
        shown = subprocess.run([PROGRAM, "circuits", "--json", "--server", f"http://127.0.0.1:{fleet[0].port}", "--token-file",
                                os.path.join(self.folder.name, "0", "easyretry.tokens.first")],
                               capture_output=True, text=True, timeout=60, check=True).stdout
        self.assertEqual(json.loads(shown)["circuits"][0]["state"], "open")

        if len(fleet) > 1:
            fleet.pop().kill()
        before = self.receiver.calls
        until(lambda: self.receiver.calls > before, what="no instance probes any more")
        self.receiver.status = 200
        until(lambda: not self.live(fleet[0]), seconds=120, what="not all tasks ended")
        ended = fleet[0].ask("GET", "/v1/history?limit=1000&outcome=succeeded")[1]["tasks"]
        self.assertEqual(len(ended), len(ids))


class Orders(Case):
    def order(self, *words):
        folder = os.path.join(self.folder.name, "0")
        run = subprocess.run([PROGRAM, "circuits", *words, "--server", f"http://127.0.0.1:{self.daemons[0].port}", "--token-file",
                              os.path.join(folder, "easyretry.tokens.first")], capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def test_held_open_no_instance_calls_also_after_a_restart_until_it_is_reset(self):
        for _ in range(1 if KIND == "sqlite" else 2):
            self.start()
        self.assertIn("is held open", self.order("open", "gateway", "--why", "the gateway moves"))
        self.assertIn("held open: the gateway moves", self.order())
        self.calls_in(2)  # as long as the others may take to hear of it
        ids = [task for daemon in self.daemons for task in self.submit(daemon, 20)]
        self.assertEqual(self.calls_in(3), 0)
        waits = self.daemons[0].ask("GET", f"/v1/tasks/{ids[0]}")[1]["waits_for"]
        self.assertEqual((waits["kind"], waits["why"]), ("circuit", "the gateway moves"))
        self.restart_all()
        self.assertEqual(self.calls_in(3), 0)
        self.assertIn("judges by itself again", self.order("reset", "gateway"))
        until(lambda: not self.live(self.daemons[0]), seconds=120, what="not all tasks ended")
        self.assertEqual(self.receiver.calls, len(ids))

    def test_ignored_it_holds_nothing_back(self):
        daemon = self.start()
        self.open_all(50)
        self.assertIn("is ignored until", self.order("ignore", "gateway", "--for", "1h"))
        before = self.receiver.calls
        until(lambda: self.receiver.calls > before + 200, what="tasks are still held back")
        self.assertEqual(self.state(daemon), "closed")


@unittest.skipIf(KIND != "sqlite", "what one daemon does alone does not depend on the store")
class OfOneDaemon(Case):
    def test_it_closes_after_the_outage(self):
        daemon = self.start()
        self.open_all(50)
        self.receiver.status = 200
        until(lambda: not self.live(daemon), seconds=120, what="not all tasks ended")
        until(lambda: self.state(daemon) == "closed", seconds=60, what="the circuit did not close")

    def test_a_server_that_asks_for_a_rest_gets_one(self):
        daemon = self.start()
        self.receiver.status, self.receiver.headers = 503, {"Retry-After": "6"}
        self.submit(daemon, 1)
        until(lambda: self.state(daemon) == "open", what="one 503 with Retry-After did not open the circuit")
        self.receiver.status, self.receiver.headers = 200, {}
        self.submit(daemon, 200)
        self.assertLessEqual(self.calls_in(3), 10, "only probes")
        until(lambda: not self.live(daemon), seconds=120, what="not all tasks ended")


@unittest.skipIf(KIND != "sqlite", "the conformance tests show that every store tells retries from others")
class Budget(Case):
    circuit = "{name: gateway, least: 1000000, probes: 1/s, retries_at_most: 10 %}"

    def waits_for(self, daemon, task):
        return daemon.ask("GET", f"/v1/tasks/{task}")[1]["waits_for"]

    def test_retries_that_it_holds_back_say_so_and_new_tasks_pass_them(self):
        daemon = self.start()
        self.receiver.status = 500
        ids = self.submit(daemon, 50)
        held = until(lambda: [task for task in ids if self.waits_for(daemon, task)["kind"] == "retry_budget"], what="no retry is held back")
        document = Schemas(yaml.safe_load(daemon.ask_for_text("GET", "/v1/openapi.yaml")[2]))
        self.assertEqual(document.problems(self.waits_for(daemon, held[-1]), {"$ref": "#/components/schemas/WaitsFor"}), [])
        status, circuits = daemon.ask("GET", "/v1/circuits")
        self.assertEqual(document.problems(circuits["circuits"][0], {"$ref": "#/components/schemas/Circuit"}), [])
        self.assertGreater(circuits["circuits"][0]["held_retries"], 10)
        self.assertRegex(daemon.ask_for_text("GET", "/metrics")[2], r'easyretry_held_tasks{.*"retry budget of circuit gateway"} [1-9]')
        shown = subprocess.run([PROGRAM, "circuits", "--server", f"http://127.0.0.1:{daemon.port}", "--token-file",
                                os.path.join(self.folder.name, "0", "easyretry.tokens.first")],
                               capture_output=True, text=True, timeout=60, check=True).stdout
        self.assertIn("at most 10 %, ", shown)

        self.receiver.status = 200
        fresh = self.submit(daemon, 20)
        until(lambda: all(self.waits_for(daemon, task)["kind"] == "finished" for task in fresh), what="new tasks wait behind retries")
        self.assertTrue(self.live(daemon), "retries still wait")
        daemon.ask("POST", "/v1/circuits/gateway/ignore", {"why": "drain it", "for_ms": 600000})
        until(lambda: not self.live(daemon), what="not all tasks ended")


if __name__ == "__main__":
    unittest.main()
