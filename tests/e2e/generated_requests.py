"""Requests generated from an OpenAPI document: correct ones, and ones with one thing wrong."""
import copy
import dataclasses
import json
import random
import urllib.parse

TEXTS = ["mail", "", "ä", "漢字", "x" * 300, "a b", "\u0000", "'; DROP TABLE retry_task; --", "../../etc/passwd", "😀" * 70]
WRONG = [None, True, -1, 0.5, 2**63, -(2**63) - 1, 10**30, 1e308, "", "x", "\u0000", [], {}, [None], {"a": 1}, "9" * 400, [["x"]]]
NOT_JSON = [b"", b"{", b"nul", b'{"handler": "\xff"}', b"\xef\xbb\xbf{}", b"[" * 100_000, b'{"a":' * 5000, b'{"handler":"a","handler":"b"}',
            b'{"handler":"\\ud800"}', b'{"version":1e400}', b"NaN", b"{} {}", b"\x00", b"\xff\xfe{\x00}\x00", b"handler=mail"]
QUERY_VALUES = ["", "x", "-1", "0", "1001", "9" * 40, "1e3", "%ff", "%00", "%zz", "%F0%9F%98%80", "'", "2026-02-30", "2026-13-01T00:00:00Z",
                "910048318464253839", "99999-01-01", "a" * 3000, "[]", "null", "../.."]
IDS = ["0", "1", "910048318464253839", "9223372036854775807", "9" * 19, "9" * 20, "-1", "x", "%ff", "%2e%2e", "%00", "1.0", "%201", "a" * 500]


@dataclasses.dataclass
class Made:
    """One request. With `wrong`, the server must refuse it."""

    why: str
    method: str
    path: str
    body: bytes | None = None
    headers: dict = dataclasses.field(default_factory=dict)
    wrong: bool = False


class Generator:
    """Generates requests to one operation. `ids` are ids of tasks that exist; `seed` decides everything else."""

    def __init__(self, schemas, path, method, operation, ids, seed):
        self.schemas, self.template, self.method, self.operation = schemas, path, method.upper(), operation
        self.ids = ids
        self.random = random.Random(f"{seed} {method} {path}")
        self.parameters = operation.get("parameters", [])
        content = operation.get("requestBody", {}).get("content", {})
        self.body_schema = content.get("application/json", {}).get("schema")

    def requests(self, count):
        for _ in range(count):
            yield self.right("right")
        yield from self.wrong_paths()
        yield from self.wrong_queries()
        yield from self.wrong_bodies()
        yield from self.wrong_headers()

    def right(self, why, **instead):
        body = None if self.body_schema is None else json.dumps(self.value(self.body_schema)).encode()
        query = {p["name"]: self.query_value(p) for p in self.parameters if p["in"] == "query" and self.random.random() < 0.3}
        made = Made(why, self.method, self.path(self.random.choice(self.ids), query), body)
        return dataclasses.replace(made, **instead)

    def path(self, task, query=None):
        path = self.template.replace("{id}", task).replace("{kind}", "handler").replace("{name}", "mail")
        return path + (f"?{urllib.parse.urlencode(query)}" if query else "")

    def wrong_paths(self):
        if "{id}" in self.template:
            for task in IDS:
                yield self.right(f"id {task[:30]}", path=self.path(task))

    def wrong_queries(self):
        for name in [p["name"] for p in self.parameters if p["in"] == "query"]:
            for value in QUERY_VALUES:
                yield self.right(f"{name}={value[:30]}", path=f"{self.path(self.ids[0])}?{name}={value}")
        strict = not self.template.endswith("z")  # probes of load balancers add parameters to /healthz and /readyz
        yield self.right("unknown parameter", path=f"{self.path(self.ids[0])}?no_such_parameter=1", wrong=strict)
        for odd in ("%ff=1", "=", "&&&", "limit=1&limit=x", "%zz"):
            yield self.right(f"query {odd}", path=f"{self.path(self.ids[0])}?{odd}")

    def wrong_bodies(self):
        if self.body_schema is None:
            yield self.right("a body", body=b'{"no_such_field": 1}', wrong=self.method == "POST")
            return
        for text in NOT_JSON:
            yield self.right(f"body {text[:20]!r}", body=text, wrong=True)
        for value in WRONG:
            yield self.right(f"body {value!r:.20}", body=json.dumps(value).encode(), wrong=True)
        for alternative in self.alternatives():
            yield from self.wrong_fields(alternative)

    def alternatives(self):
        schema = self.schemas.resolved(self.body_schema)
        return [self.schemas.resolved(one) for one in schema.get("oneOf", [schema])]

    def wrong_fields(self, schema):
        for name, field in schema.get("properties", {}).items():
            for value in WRONG:
                body = {**self.value(schema), name: copy.deepcopy(value)}
                wrong = bool(self.schemas.problems(body, self.body_schema))
                yield self.right(f"{name}: {value!r:.20}", body=json.dumps(body).encode(), wrong=wrong)
        for name in schema.get("required", []):
            body = self.value(schema)
            del body[name]
            yield self.right(f"no {name}", body=json.dumps(body).encode(), wrong=True)
        yield self.right("unknown field", body=json.dumps({**self.value(schema), "no_such_field": 1}).encode(), wrong=True)

    def wrong_headers(self):
        protected = self.operation.get("security") != []
        yield self.right("no token", headers={"Authorization": None}, wrong=protected)
        for token in ("Bearer er_" + "0" * 64, "Bearer ", "Basic YTpi", "Bearer \xff", "bearer x" * 1000):
            yield self.right(f"token {token[:20]!r}", headers={"Authorization": token}, wrong=protected)
        for space in ("nobody's", "", "\xff", "default,default", "x" * 5000):
            yield self.right(f"namespace {space[:10]!r}", headers={"easyretry-namespace": space}, wrong=protected)
        yield self.right("host", headers={"Host": "evil.example"}, wrong=True)
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "\xff", ""):
            yield self.right(f"content type {kind[:10]!r}", headers={"Content-Type": kind})

    def query_value(self, parameter):
        if parameter["name"] == "after":
            return f"{self.random.choice(['older', 'newer'])}-{self.random.choice(self.ids)}"
        return self.value(parameter["schema"])

    def members(self, schema):
        """The required members and about two more. With many random members, one of them would soon be refused by the API."""
        fields, required = schema.get("properties", {}), schema.get("required", [])
        least = max(len(required), schema.get("minProperties", 0))
        while True:
            value = {name: self.value(field) for name, field in fields.items()
                     if name in required or self.random.random() < min(0.4, 2 / len(fields))}
            if len(value) >= least and not self.schemas.problems(value, {"allOf": schema.get("allOf", [])}):
                return value

    def value(self, schema):
        """A random value that the schema allows."""
        schema = self.schemas.resolved(schema)
        if schema == self.schemas.document["components"]["schemas"]["Id"]:
            return self.random.choice(self.ids)
        if "oneOf" in schema:
            return self.value(self.random.choice(schema["oneOf"]))
        if "anyOf" in schema and "type" not in schema:
            return self.value(self.random.choice(schema["anyOf"]))
        if "examples" in schema:
            return self.random.choice(schema["examples"])
        if "enum" in schema:
            return self.random.choice(schema["enum"])
        kind = schema.get("type")
        kind = self.random.choice(kind) if isinstance(kind, list) else kind
        if kind == "object":
            return self.members(schema)
        if kind == "array":
            most = min(3, schema.get("maxItems", 3))
            return [self.value(schema["items"]) for _ in range(self.random.randint(schema.get("minItems", 0), most))]
        if kind == "integer":
            low = schema.get("minimum", -(2**63))
            return self.random.choice([low, 1, min(low + 200, schema.get("maximum", 2**63 - 1))])
        if kind == "string":
            fitting = [t for t in TEXTS if schema.get("minLength", 0) <= len(t) <= schema.get("maxLength", 1000)]
            return self.random.choice(fitting)
        if kind == "boolean":
            return self.random.random() < 0.5
        return self.random.choice([None, 1, "x", [1, {"a": None}], {"b": [True]}])
