"""Every endpoint with every kind of client: each role, a client of another namespace, and one without a valid token. The operations and
the roles that may use them come from the document that the daemon serves. Usage: matrix_test.py EASYRETRY_PROGRAM"""
import dataclasses
import http.client
import itertools
import json
import re
import subprocess
import unittest

import yaml

from daemon_case import PROGRAM, DaemonCase
from json_schema import Schemas
from minimal_request import Minimal

ROLES = ["viewer", "submitter", "worker", "application", "operator", "admin", "viewer+payloads", "worker+payloads"]
METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]
CANARY = "c4n4ry"  # in every name of the namespace `default`
NEVER_ALIKE = {"date", "easyretry-time", "x-request-id"}  # headers that differ in any two answers


@dataclasses.dataclass
class Known:
    """How to call an operation."""

    gets: int  # the status for a client that may call it
    of: str = ""  # the kind of thing that {id} or {name} in its path, or the id in its body, belongs to
    body: dict | None = None  # for operations that refuse a minimal body for another reason


KNOWN = {
    "submit": Known(201),
    "list": Known(200),
    "history": Known(200),
    "show": Known(200, "pending"),
    "edit": Known(200, "pending"),
    "retry": Known(200, "pending"),
    "cancel": Known(200, "pending"),
    "completeTask": Known(200, "pending"),
    "failTask": Known(200, "pending", {"why": "refunded by hand"}),
    "requeue": Known(201, "ended"),
    "lease": Known(200),
    "settle": Known(200, "leased"),
    "renewAll": Known(200, "leased"),
    "done": Known(200, "leased"),
    "fail": Known(200, "leased"),
    "renew": Known(200, "leased"),
    "handlers": Known(200),
    "circuits": Known(200),
    "limits": Known(200),
    "openCircuit": Known(200, "handler"),
    "ignoreCircuit": Known(200, "handler"),
    "resetCircuit": Known(200, "handler"),
    "setLimit": Known(200, "handler", {"running": 3, "why": "it is slow today"}),
    "resetLimit": Known(200, "handler"),
    "pauseHandler": Known(200, "handler"),
    "resumeHandler": Known(200, "handler"),
    "beginBulk": Known(200, body={"action": "cancel", "filter": {"key": "nobody's"}, "dry_run": True}),
    "listBulk": Known(200),
    "showBulk": Known(200, "job"),
    "stopBulk": Known(200, "job"),
    "events": Known(200),
    "cluster": Known(200),
    "tables": Known(422),  # SQLite has no layout of several tables
    "beginSplit": Known(422),
    "showSplit": Known(404),
    "logIn": Known(401),  # without a known token; sessions are in session_test.py
    "showSession": Known(401),  # a token is no cookie
    "logOut": Known(401),
    "whoami": Known(200),
    "namespaces": Known(200),
    "tokens": Known(200),
    "audit": Known(200),
    "alerts": Known(200),
    "testAlert": Known(404),  # no channel has the generated name: see alerts_test.py
    "errors": Known(200),
    "series": Known(200),
    "doctor": Known(200),
    "openapi": Known(200),
    "metrics": Known(200),
    "healthz": Known(200),
    "readyz": Known(200),
}
TASKS = {"pending", "leased", "ended"}
MORE_QUERIES = {"show": ["?args"], "cancel": ["?untold=true"], "completeTask": ["?untold=true"], "failTask": ["?untold=true"]}


@dataclasses.dataclass
class Thing:
    """A task, a bulk job or a handler."""

    id: str = ""
    version: int = 1

    def elsewhere(self):
        """A thing that does not exist, with a name of the same length."""
        return Thing(re.sub(r"\d", lambda digit: str((int(digit[0]) + 3) % 9 + 1), self.id[:-1]) + "9", self.version)


@dataclasses.dataclass
class Answer:
    status: int
    headers: dict
    body: str

    def but_for(self, thing):
        """The answer without this thing's name and without the parts that always differ."""
        body = re.sub(r'"(request_id|since|until)":"[^"]*"', "", self.body.replace(thing.id, "<id>") if thing.id else self.body)
        headers = {name: "" if name in NEVER_ALIKE else value for name, value in self.headers.items()}
        return self.status, headers, body


class Matrix(DaemonCase):
    def setUp(self):
        super().setUp()
        self.start(server=", namespaces: [shop]")
        self.document = yaml.safe_load(self.daemon.ask_for_text("GET", "/v1/openapi.yaml")[2])
        self.schemas = Schemas(self.document)
        self.addresses = itertools.count(2)
        self.numbers = itertools.count(1)

    def operations(self):
        for path, methods in self.document["paths"].items():
            for method, operation in methods.items():
                yield path, method, operation

    def revoke(self, name):
        subprocess.run([PROGRAM, "token", "revoke", name], cwd=self.folder.name, capture_output=True, check=True)

    # Things in the namespace `default`, to be asked for.

    def pending(self):
        task = {"handler": f"{CANARY}.later", "key": f"{CANARY} {next(self.numbers)}", "delay_ms": 3_600_000}
        return Thing(self.daemon.ask("POST", "/v1/tasks", task)[1]["id"])

    def leased(self):
        self.daemon.ask("POST", "/v1/tasks", {"handler": f"{CANARY}.now", "key": f"{CANARY} {next(self.numbers)}"})
        [task] = self.daemon.lease(f"{CANARY}.now")
        return Thing(task["id"], task["version"])

    def ended(self):
        task = self.leased()
        self.assertEqual(self.daemon.ask("POST", f"/v1/leases/{task.id}/done", {"version": task.version})[0], 200)
        return task

    def job(self):
        return Thing(self.daemon.ask("POST", "/v1/bulk", {"action": "cancel", "filter": {"key": "nobody's"}})[1]["id"])

    def handler(self):
        self.pending()
        return Thing(f"{CANARY}.later")

    def thing(self, of):
        return getattr(self, of)() if of else Thing()

    # How to ask for them.

    def ask(self, path, method, operation, thing, token, query="", space=None):
        known = KNOWN[operation["operationId"]]
        new = f"new.{next(self.numbers)}"  # else a live task has the same key
        body = known.body or Minimal(self.schemas, {"id": thing.id, "version": thing.version, "handler": new}).body(operation)
        path = re.sub(r"{(id|name)}", thing.id, path).replace("{kind}", "handler")
        self.assertNotIn("{", path, "a parameter that nobody here knows")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        headers |= {"easyretry-namespace": space} if space else {}
        return self.send(method.upper(), path + query, None if body is None else json.dumps(body), headers)

    def send(self, method, path, body, headers):
        """Sends each request from another address, because an address with many wrong tokens is rate limited."""
        number = next(self.addresses)
        connection = http.client.HTTPConnection("127.0.0.1", self.daemon.port, timeout=30,
                                                source_address=(f"127.0.{number // 250}.{number % 250 + 2}", 0))
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            endless = answer.getheader("Content-Type", "").startswith("text/event-stream")
            text = "" if endless else answer.read().decode()
            self.assertLess(answer.status, 500, f"{method} {path}: {text}")
            return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, text)
        finally:
            connection.close()

    def may(self, operation, role, space):
        return (role.removesuffix("+payloads") in operation["x-roles"]
                and (space == "*" or not operation.get("x-all-namespaces", False)))

    def test_every_operation_is_known_here(self):
        """A new operation needs an entry in KNOWN, and its roles in the document."""
        self.assertEqual({operation["operationId"] for _, _, operation in self.operations()}, set(KNOWN))
        for path, method, operation in self.operations():
            self.assertIn(method, METHODS, path)
            self.assertEqual("x-roles" in operation, operation.get("security") != [], f"{method} {path}: for whom is it?")
            of = KNOWN[operation["operationId"]].of
            self.assertEqual("{" in path or operation["operationId"] in ("settle", "renewAll"), bool(of), path)

    def test_a_role_has_the_documented_rights_and_no_others(self):
        tokens = {(role, space): self.token(f"{role}-{space}", role, space) for role in ROLES for space in ("default", "*")}
        for path, method, operation in self.operations():
            if operation.get("security") == []:
                continue
            known = KNOWN[operation["operationId"]]
            refused_for = self.thing(known.of)
            before = self.seen(known, refused_for)
            for (role, space), token in tokens.items():
                with self.subTest(operation=operation["operationId"], role=role, space=space):
                    may = self.may(operation, role, space)
                    answer = self.ask(path, method, operation, self.thing(known.of) if may else refused_for, token)
                    self.assertEqual(answer.status, known.gets if may else 403, answer.body)
                    self.assertIn(str(answer.status), operation["responses"], answer.body)
            self.assertEqual(self.seen(known, refused_for), before, f"{method} {path}: it was refused, and has changed something")

    def seen(self, known, thing):
        return self.daemon.ask("GET", f"/v1/tasks/{thing.id}?args")[1] if known.of in TASKS else None

    def test_without_a_valid_token_nothing_is_revealed(self):
        revoked = self.token("gone", "admin+payloads", "*")
        self.assertEqual(self.daemon.ask("GET", "/v1/tasks", token=revoked)[0], 200)
        self.revoke("gone")
        wrong = "er_" + "0" * 64
        for path, method, operation in self.operations():
            known = KNOWN[operation["operationId"]]
            thing = self.thing(known.of)
            with self.subTest(operation=operation["operationId"]):
                answers = {who: self.ask(path, method, operation, thing, token)
                           for who, token in {"nobody": None, "wrong": wrong, "revoked": revoked}.items()}
                if operation.get("security") == []:
                    self.assertEqual({answer.status for answer in answers.values()}, {known.gets})
                    continue
                self.assertEqual({answer.status for answer in answers.values()}, {401}, answers)
                self.assertEqual(answers["wrong"].but_for(Thing()), answers["revoked"].but_for(Thing()))
                absent = self.ask(path, method, operation, thing.elsewhere(), wrong) if known.of else answers["wrong"]
                self.assertEqual(answers["wrong"].but_for(Thing()), absent.but_for(Thing()))

    def test_tasks_of_another_namespace_look_like_missing_ones(self):
        stranger = self.token("stranger", "admin+payloads", "shop")
        for path, method, operation in self.operations():
            known = KNOWN[operation["operationId"]]
            for of in TASKS if known.of in TASKS else filter(None, [known.of]):
                for query in ["", *MORE_QUERIES.get(operation["operationId"], [])]:
                    with self.subTest(operation=operation["operationId"], of=of, query=query):
                        theirs = self.thing(of)
                        nowhere = theirs.elsewhere()
                        if of in TASKS:
                            self.assertEqual(self.daemon.ask("GET", f"/v1/tasks/{nowhere.id}")[0], 404)
                        before = self.seen(known, theirs)
                        answer = self.ask(path, method, operation, theirs, stranger, query)
                        absent = self.ask(path, method, operation, nowhere, stranger, query)
                        self.assertEqual(answer.but_for(theirs), absent.but_for(nowhere))
                        self.assertEqual(self.seen(known, theirs), before)

    def test_nothing_of_another_namespace_is_shown(self):
        stranger = self.token("stranger", "admin+payloads", "shop")
        for of in ("pending", "leased", "ended", "job", "handler"):
            self.thing(of)
        for path, method, operation in self.operations():
            if KNOWN[operation["operationId"]].of:
                continue  # needs the name of a thing: see the test above
            with self.subTest(operation=operation["operationId"]):
                answer = self.ask(path, method, operation, Thing(), stranger)
                self.assertNotIn(CANARY, answer.body)
        _, jobs = self.daemon.ask("GET", "/v1/bulk", token=stranger)
        self.assertEqual(jobs, {"jobs": []})
        for name in (f"{CANARY} 1", "nobody has this"):  # a live key of another namespace does not matter here
            self.assertEqual(self.daemon.ask("POST", "/v1/tasks", {"handler": "x", "key": name, "on_duplicate": "reject"}, token=stranger)[0], 201)
            found = {"action": "cancel", "filter": {"key": name}, "dry_run": True}
            self.assertEqual(self.daemon.ask("POST", "/v1/bulk", found, token=stranger)[1]["matched"], 1)

    def test_a_namespace_that_is_not_yours_is_as_one_that_is_not_there(self):
        stranger = self.token("stranger", "admin+payloads", "shop")
        for path, method, operation in self.operations():
            if operation.get("security") == []:
                continue
            with self.subTest(operation=operation["operationId"]):
                thing = Thing("1234567")
                theirs = self.ask(path, method, operation, thing, stranger, space="default")
                absent = self.ask(path, method, operation, thing, stranger, space="nothing")
                self.assertEqual(theirs.status, 403)
                self.assertEqual(theirs.but_for(Thing("default")), absent.but_for(Thing("nothing")))


if __name__ == "__main__":
    unittest.main()
