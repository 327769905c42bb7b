#!/usr/bin/env python3
"""The subject of the conformance suite for the Python SDK: sdk/conformance/README.md says what it does."""
import json
import logging
import os
import pathlib
import signal
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "src"))
from easyretry import App, EasyRetryError, GiveUp, NewTask, RetryAfter, current_task  # noqa: E402

printing = threading.Lock()


def say(event, **more):
    with printing:
        print(json.dumps({"event": event, **more}), flush=True)


class Spoken(logging.Handler):
    def emit(self, record):
        say("error", text=record.getMessage())


def seconds(name):
    return int(os.environ[name]) / 1000


log = logging.getLogger("easyretry")
log.addHandler(Spoken(logging.WARNING))
log.propagate = False
app = App(concurrency=int(os.environ["CONFORM_CONCURRENCY"]), lease=seconds("CONFORM_LEASE_MS"), wait=seconds("CONFORM_WAIT_MS"),
          drain=seconds("CONFORM_DRAIN_MS"), most_pause=seconds("CONFORM_PAUSE_MS"), timeout=seconds("CONFORM_TIMEOUT_MS"),
          patience=seconds("CONFORM_TIMEOUT_MS"), log=log)


def handler(name, **options):
    """A handler that prints its beginning and its end."""
    def register(function):
        def run(argument):
            task = current_task()
            say("begin", handler=name, id=task.id, key=task.key, attempt=task.attempt)
            try:
                return function(argument, task)
            finally:
                say("end", key=task.key, attempt=task.attempt)
        return app.handler(name, **options)(run)
    return register


@handler("conform.ok")
def ok(argument, _):
    return {"ok": True, "given": argument}


@handler("conform.none")
def none(_, __):
    pass


@handler("conform.batched", batch=True)
def batched(_, __):
    pass


@handler("conform.fail")
def fail(_, __):
    raise ValueError("told to fail")


@handler("conform.fail_once")
def fail_once(_, task):
    if task.attempt == 1:
        raise ValueError("told to fail")


@handler("conform.slow")
def slow(argument, task):
    if task.wait(argument["ms"] / 1000):
        say("cancelled", key=task.key, attempt=task.attempt)
        task.raise_if_cancelled()


@handler("conform.never")
def never(_, __):
    threading.Event().wait()


@handler("conform.give_up")
def give_up(_, __):
    raise GiveUp("no mailbox")


@handler("conform.retry_after")
def retry_after(argument, task):
    if task.attempt == 1:
        raise RetryAfter(argument["ms"] / 1000, "busy")


@handler("conform.progress")
def progress(argument, task):
    task.progress("half")
    slow_part(argument, task)


def slow_part(argument, task):
    if task.wait(argument["ms"] / 1000):
        say("cancelled", key=task.key, attempt=task.attempt)


@handler("conform.trace")
def trace(_, task):
    say("trace", key=task.key, traceparent=task.traceparent)
    app.client.submit("conform.none", {}, key="child")


@handler("conform.judged")
def judged(argument, _):
    return argument["result"]


class Untold(Exception):
    def __str__(self):
        raise RuntimeError("no text")


@handler("conform.throws")
def throws(argument, _):
    raise {"stranger": SystemExit(3), "empty": Exception(), "nul": Exception("a\0b"), "broken": Exception("a\ud800b"),
           "long": Exception("x" * (9 << 20)), "untold": Untold()}[argument["what"]]


@handler("conform.returns")
def returns(argument, _):
    cycle = []
    cycle.append(cycle)
    return {"nan": lambda: float("nan"), "cycle": lambda: cycle, "stranger": object, "broken": lambda: "a\ud800b",
            "huge": lambda: "x" * (9 << 20), "whole": lambda: {"n": 9007199254740993}}[argument["what"]]()


def submit(command):
    more = {"traceparent": command["traceparent"]} if "traceparent" in command else {}
    return [app.client.submit(command["handler"], *command["args"], key=command["key"], **more)]


def submit_many(command):
    tasks = [NewTask(command["handler"], [{}], key=f"{command['prefix']}{number}") for number in range(command["count"])]
    return app.client.submit_many(tasks)


def obey(command):
    try:
        done = {"submit": submit, "submit_many": submit_many}[command["do"]](command)
        say("submitted", tag=command["tag"], ids=[one.id for one in done])
    except EasyRetryError as error:
        say("refused", tag=command["tag"], text=str(error))


def main():
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())

    def read():
        for line in sys.stdin:
            command = json.loads(line)
            if command["do"] == "stop":
                break
            threading.Thread(target=obey, args=(command,), daemon=True).start()
        stop.set()

    app.start()
    say("ready")
    threading.Thread(target=read, daemon=True).start()
    stop.wait()
    app.stop()
    say("stopped")


if __name__ == "__main__":
    main()
