"""What schemathesis sends, without the waiting: a lease may be asked to wait for a minute."""
import schemathesis


@schemathesis.hook
def map_body(_, body):
    if isinstance(body, dict) and isinstance(body.get("wait_ms"), int) and 20 < body["wait_ms"] <= 60_000:
        body["wait_ms"] = 20
    return body
