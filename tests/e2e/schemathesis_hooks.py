"""Changes of the requests of schemathesis, in which a valid value is replaced by another one.

A request for a lease or for a task may ask to wait for a minute. An Idempotency-Key is for one request. And a schema cannot say that
one value fits another: that a cap is not below the first wait, and that a page is of a list in the same order."""
import re
import uuid

import schemathesis

CURSOR = re.compile(r"(older|newer)-[1-9][0-9]{0,17}")
ORDERS = {"older": "newest", "newer": "oldest"}
SHAPE = re.compile(r"(exponential|fixed|linear|ladder|classic)( (first|factor|cap|delay|step|steps|jitter)=[a-z0-9.,]+)*")
BACKOFF = "exponential first=1s factor=2 cap=15m jitter=1s"


@schemathesis.hook
def before_call(_, case, **__):
    query, body, headers = case.query, case.body, case.headers
    if re.fullmatch(r"[!-~]{1,255}", (headers or {}).get("Idempotency-Key", "")):
        headers["Idempotency-Key"] = uuid.uuid4().hex
    if isinstance(query, dict):
        fit_order(query)
        shorten_wait(query)
    if isinstance(body, dict):
        shorten_wait(body)
        for policy in policies_in(body):
            if isinstance(policy.get("backoff"), str) and SHAPE.fullmatch(policy["backoff"]):
                policy["backoff"] = BACKOFF


def fit_order(query):
    cursor = CURSOR.fullmatch(str(query.get("after", "")))
    if cursor and query.get("order", "newest") in ORDERS.values():
        query["order"] = ORDERS[cursor[1]]


def shorten_wait(fields):
    if re.fullmatch(r"[0-9]{1,5}(\.0)?", str(fields.get("wait_ms", ""))) and float(fields["wait_ms"]) <= 60_000:
        fields["wait_ms"] = min(20, int(float(fields["wait_ms"])))


def policies_in(body):
    """Of an edit, of a task and of tasks."""
    tasks = body["tasks"] if isinstance(body.get("tasks"), list) else []
    found = [one.get("policy") for one in [body, *tasks] if isinstance(one, dict)]
    return [policy for policy in found if isinstance(policy, dict)]
