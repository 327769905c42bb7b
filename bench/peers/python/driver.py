"""Measures a Python peer: PROGRAM WORK key=value… prints one JSON object.

WORK is enqueue, drain, cycle, lateness, latency-own or latency-other. A peer is an object with

    produce(first, last, fails)     stores these tasks; runs in several processes at once
    pace(count, rate)               sends tasks one by one, each with the time at which it was sent
    work(tally)                     runs tasks until the process is killed
    left()                          whether tasks have not ended
    work_and_pace(tally, count, rate)   both in one process; for latency-own, which not every peer has
"""
import importlib.metadata
import json
import multiprocessing
import os
import sys
import time
import urllib.parse

WARM_UP = 3  # seconds until idle workers wait for news
PATIENCE = 600  # seconds
fork = multiprocessing.get_context("fork")
STORE = urllib.parse.urlparse(os.environ.get("STORE_URL", ""))


def wall():
    return time.time() * 1e3


class Tally:
    """Counts what has run, and how late it started; shared with forked processes."""

    def __init__(self, tasks):
        self.done = fork.Value("q", 0)
        self.failures = fork.Value("q", 0)
        self.late = fork.Array("d", tasks, lock=False)

    def ran(self, sent=None):
        late = 0 if sent is None else wall() - sent
        with self.done.get_lock():
            index = self.done.value
            self.done.value += 1
        if index < len(self.late):
            self.late[index] = late

    def failed(self):
        with self.failures.get_lock():
            self.failures.value += 1

    def spread(self):
        values = sorted(self.late)
        at = {"p50": int(len(values) * 0.5), "p99": int(len(values) * 0.99), "max": len(values) - 1}
        return {name: round(values[index], 3) for name, index in at.items()}


def until(what, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"too late: {what}")
        time.sleep(0.005)


def settings_of(words, defaults):
    settings = {"tasks": 1000, "rate": 200, "processes": 2, **defaults}
    for word in words:
        key, value = word.split("=", 1)
        settings[key] = float(value) if "." in value else int(value)
    return settings


class Driver:
    def __init__(self, peer, settings):
        self.peer = peer
        self.tasks, self.rate, self.processes = settings["tasks"], settings["rate"], settings["processes"]
        self.tally = Tally(self.tasks)

    def enqueue(self, fails=False):
        bounds = [self.tasks * k // self.processes for k in range(self.processes + 1)]
        producers = [fork.Process(target=self.peer.produce, args=(*share, fails)) for share in zip(bounds, bounds[1:])]
        for producer in producers:
            producer.start()
        for producer in producers:
            producer.join()
        if any(producer.exitcode for producer in producers):
            sys.exit("a producer failed")

    def start_workers(self):
        for _ in range(self.processes):
            fork.Process(target=self.peer.work, args=(self.tally,)).start()

    def all_run(self):
        until("all tasks have run", lambda: self.tally.done.value >= self.tasks)

    def drain(self, fails=False):
        self.enqueue(fails)

        def work():
            self.start_workers()
            self.all_run()
            until("the store is empty", lambda: not self.peer.left())
        return self.seconds(work) | {"failures": self.tally.failures.value}

    def seconds(self, work):
        began = time.monotonic()
        work()
        took = time.monotonic() - began
        return {"seconds": took, "per_s": self.tasks / took}

    def latency_other(self):
        self.start_workers()
        time.sleep(WARM_UP)
        fork.Process(target=self.peer.pace, args=(self.tasks, self.rate)).start()
        self.all_run()
        return {"late_ms": self.tally.spread()}

    def latency_own(self):
        fork.Process(target=self.peer.work_and_pace, args=(self.tally, self.tasks, self.rate)).start()
        self.all_run()
        return {"late_ms": self.tally.spread()}

    def measure(self, work):
        works = {"enqueue": lambda: self.seconds(self.enqueue), "drain": self.drain, "cycle": lambda: self.drain(fails=True),
                 "latency-own": self.latency_own, "latency-other": self.latency_other}
        if work not in works:
            sys.exit(f"{work} is not one of {', '.join(works)}")
        return works[work]()


def main(name, package, make_peer, defaults):
    work, *words = sys.argv[1:]
    settings = settings_of(words, defaults)
    driver = Driver(make_peer(settings), settings)
    figures = driver.measure(work)
    version = importlib.metadata.version(package)
    print(json.dumps({"peer": name, "version": version, "work": work, "tasks": driver.tasks, **figures}), flush=True)
    for child in multiprocessing.active_children():
        child.kill()
    os._exit(0)  # stopping is not measured
