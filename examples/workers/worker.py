#!/usr/bin/env python3
"""A worker in Python, with the standard library only: leases tasks of "mail.send" from `easyretry serve` and settles them.

    EASYRETRY_TOKEN=$(cat easyretry.tokens.first) python3 worker.py http://127.0.0.1:7077
"""
import json
import os
import signal
import sys
import threading
import urllib.error
import urllib.request

SERVER = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:7077"
TOKEN = os.environ["EASYRETRY_TOKEN"]
stopping = threading.Event()


def post(path, body, timeout=90):
    request = urllib.request.Request(SERVER + path, json.dumps(body).encode(), {"Authorization": f"Bearer {TOKEN}"})
    with urllib.request.urlopen(request, timeout=timeout) as answer:
        return json.load(answer)


def send_mail(order):
    """Your own code. Any exception is a failed attempt, and the handler's policy decides on the next one."""
    if order.get("to", "").startswith("nobody"):
        raise ValueError(f"{order['to']} has no mailbox")
    print(f"mail to {order['to']}", flush=True)
    return {"sent": True}


def renew(task, done):
    """While the work goes on, asks for a full lease again whenever a third of it has passed."""
    while not done.wait(10):
        post(f"/v1/leases/{task['id']}/renew", {"version": task["version"], "lease_ms": 30_000})


def work(task):
    done = threading.Event()
    threading.Thread(target=renew, args=(task, done), daemon=True).start()
    try:
        answer = ("done", {"result": send_mail(*task["args"])})
    except Exception as error:  # report every error to the server
        answer = ("fail", {"error": str(error), "give_up": isinstance(error, ValueError)})
    done.set()
    verb, body = answer
    try:
        post(f"/v1/leases/{task['id']}/{verb}", {"version": task["version"], **body})
    except urllib.error.HTTPError as error:
        if error.code != 409:  # 409: the lease was lost. Another worker has the task now, and nothing was changed
            raise


def main():
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    while not stopping.is_set():
        try:
            for task in post("/v1/leases", {"handlers": ["mail.send"], "max": 1, "wait_ms": 5_000})["tasks"]:
                work(task)
        except (urllib.error.URLError, ConnectionError) as error:
            print(f"the server does not answer, trying again: {error}", file=sys.stderr)
            stopping.wait(1)


if __name__ == "__main__":
    main()
