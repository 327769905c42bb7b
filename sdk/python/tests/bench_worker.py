#!/usr/bin/env python3
"""The worker of bench/sdk.py for Python: submits tasks in batches, then runs them with a handler that does nothing."""
import json
import os
import pathlib
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "src"))
from easyretry import App, NewTask  # noqa: E402

TASKS, BATCH = int(os.environ["BENCH_TASKS"]), int(os.environ["BENCH_BATCH"])
app = App(concurrency=4 * BATCH, batch=BATCH)
finished = threading.Event()
left = iter(range(TASKS - 1))


@app.handler("bench.nothing", batch=os.environ["BENCH_SETTLE"] == "batches")
def nothing(_):
    number = next(left, None)  # one step of the interpreter, so no two threads get the same number
    if number is None:
        finished.set()
    elif number == TASKS // 10:
        say(phase="tenth")


def say(**fields):
    print(json.dumps(fields), flush=True)


def main():
    begun = time.monotonic()
    for first in range(0, TASKS, BATCH):
        app.client.submit_many(NewTask("bench.nothing", [{"n": number}]) for number in range(first, min(first + BATCH, TASKS)))
    say(phase="submit", seconds=time.monotonic() - begun)
    begun = time.monotonic()
    app.start()
    finished.wait()
    app.stop()  # settles the last ones
    say(phase="drain", seconds=time.monotonic() - begun)


if __name__ == "__main__":
    main()
