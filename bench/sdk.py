#!/usr/bin/env python3
"""How fast one worker process of an SDK submits and runs tasks against a daemon on SQLite, and whether its memory stays flat.

    bench/sdk.py build/release/easyretry --language python          also go, node, java, all
    bench/sdk.py build/release/easyretry --language all --tasks 1000000 --beside
    bench/sdk.py build/release/easyretry -- COMMAND…                the worker of another SDK

The worker gets EASYRETRY_URL, EASYRETRY_TOKEN, BENCH_TASKS, BENCH_BATCH and BENCH_SETTLE (`batches`, or `judged`: one by one, by the
daemon). It submits the tasks in batches, one after the other, then runs them with a handler that does nothing, and prints
{"phase": "submit", "seconds": …}, {"phase": "tenth"} when a tenth of them has run, and {"phase": "drain", "seconds": …}, each on a line.

Goals of `batches`: 10,000 tasks/s are submitted; 5,000/s are run, 2,500/s by Python; the memory at the end is at most 1.2 times that
after a tenth of the tasks. Exit codes: 0 all goals are met; 1 one is missed, or a worker cannot be measured; 2 wrong options.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(ROOT / "tests/e2e"), str(HERE / "peers")]
from daemon import Daemon  # noqa: E402
from harness.numbers import short  # noqa: E402
from harness.table import markdown_table  # noqa: E402
from sdk_peers import beside  # noqa: E402

BUILD = ROOT / "build/sdk-bench"
SUBMIT_GOAL, DRAIN_GOAL, PYTHON_DRAIN_GOAL, GROWTH_GOAL = 10_000, 5_000, 2_500, 1.2
FEWEST_LOOKS = 8  # at the memory; a shorter run says nothing about it


class NotMeasured(Exception):
    """Why a worker has no figures."""


def made(command, **more):
    try:
        ran = subprocess.run(command, capture_output=True, text=True, check=False, **more)
    except FileNotFoundError:
        raise NotMeasured(f"{command[0]} is not installed; tools/languages says how to get it") from None
    if ran.returncode:
        raise NotMeasured(f"{' '.join(map(str, command[:3]))} failed: {(ran.stderr or ran.stdout)[-400:]}")


def python_worker():
    return [sys.executable, ROOT / "sdk/python/tests/bench_worker.py"]


def node_worker():
    return ["node", ROOT / "sdk/node/test/bench_worker.mjs"]


def go_worker():
    made(["go", "build", "-o", BUILD / "go", "./bench"], cwd=ROOT / "sdk/go", env={**os.environ, "GOTOOLCHAIN": "local", "GOPROXY": "off"})
    return [BUILD / "go"]


def java_worker():
    made(["mvn", "-q", "-B", "-f", ROOT / "sdk/java/pom.xml", f"-Dbuild.root={BUILD / 'java'}", "-pl", "client", "test-compile"])
    classes = BUILD / "java/easyretry-client"
    return ["java", "-cp", f"{classes / 'classes'}:{classes / 'test-classes'}", "easyretry.BenchWorker"]


WORKERS = {"python": python_worker, "go": go_worker, "node": node_worker, "java": java_worker}


class Memory:
    """Looks at the resident memory of a process each half second, in MiB."""

    def __init__(self, pid):
        self.pid, self.values, self.over = pid, [], threading.Event()
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()

    def watch(self):
        while self.look() and not self.over.wait(0.5):
            pass

    def look(self):
        """False: the process has ended."""
        try:
            with open(f"/proc/{self.pid}/status") as file:
                sizes = [int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS")]
        except OSError:
            return False
        self.values += sizes
        return bool(sizes)

    def end(self):
        self.over.set()
        self.thread.join()


def read(lines, memory):
    """The seconds of each phase, and how often the memory had been looked at after a tenth of the tasks."""
    seconds, tenth = {}, None
    for line in map(json.loads, lines):
        if line["phase"] == "tenth":
            memory.look()
            tenth = len(memory.values)
        else:
            seconds[line["phase"]] = line["seconds"]
    return seconds, tenth


def run(command, daemon, options):
    worker = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True, env={
        **os.environ, "EASYRETRY_URL": f"http://127.0.0.1:{daemon.port}", "EASYRETRY_TOKEN": daemon.token,
        "BENCH_TASKS": str(options.tasks), "BENCH_BATCH": str(options.batch), "BENCH_SETTLE": options.settle})
    memory = Memory(worker.pid)
    try:
        seconds, tenth = read(worker.stdout, memory)
    finally:
        memory.end()
    if worker.wait() != 0 or not {"submit", "drain"} <= seconds.keys():
        raise NotMeasured(f"the worker ended with code {worker.returncode}")
    if daemon.ask("GET", "/v1/tasks?limit=1")[1]["tasks"]:
        raise NotMeasured("tasks are left that were not settled")
    figures = {f"{phase}_per_s": options.tasks / seconds[phase] for phase in ("submit", "drain")}
    if tenth and len(memory.values) - tenth >= FEWEST_LOOKS:
        figures |= {"mib_after_a_tenth": memory.values[tenth - 1], "mib_at_the_end": memory.values[-1]}
    return figures


def measured(command, options):
    """The figures of one worker, with a daemon of its own."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        daemon = Daemon(os.path.abspath(options.program), folder, stderr=subprocess.DEVNULL)
        try:
            return run(command, daemon, options)
        finally:
            daemon.kill()


def missed(name, figures):
    """The goals that were missed, in words."""
    drain = PYTHON_DRAIN_GOAL if name == "python" else DRAIN_GOAL
    words = [f"{phase} below {goal:,} /s" for phase, goal in (("submit", SUBMIT_GOAL), ("drain", drain))
             if figures[f"{phase}_per_s"] < goal]
    if figures.get("mib_at_the_end", 0) > GROWTH_GOAL * figures.get("mib_after_a_tenth", float("inf")):
        words.append(f"memory has grown by more than {GROWTH_GOAL - 1:.0%}")
    return words


def table(results, has_goals):
    def mib(figures, name):
        return f"{figures[name]:.0f} MiB" if name in figures else "too short to say"

    rows = []
    for name, figures in results.items():
        if "why" in figures:
            rows.append([name, "–", "–", "–", "–", f"not measured: {figures['why']}"])
        else:
            goals = ("missed: " + ", ".join(figures["missed"]) if figures["missed"] else "met") if has_goals else ""
            rows.append([name, f"{short(figures['submit_per_s'])} tasks/s", f"{short(figures['drain_per_s'])} tasks/s",
                         mib(figures, "mib_after_a_tenth"), mib(figures, "mib_at_the_end"), goals])
    return markdown_table(["worker", "submit", "drain", "memory after a tenth", "at the end", "goals"], rows)


def arguments():
    words = sys.argv[1:]
    at = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.add_argument("program")
    parser.add_argument("--language", choices=(*WORKERS, "all"), default=None, help="default: python")
    parser.add_argument("--tasks", type=int, default=100_000)
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--settle", choices=("batches", "judged"), default="batches")
    parser.add_argument("--beside", action="store_true", help="also Celery (Python) and Asynq (Go) on a Redis of their own, as bench/peers "
                        "sets them up")
    parser.add_argument("--no-goals", action="store_true", help="only shows the figures")
    parser.add_argument("--json", action="store_true", help="one object instead of tables")
    options, command = parser.parse_args(words[:at]), words[at + 1:]
    if command and options.language:
        parser.error("--language and a command exclude each other")
    return options, command


def all_measured(options, command):
    chosen = {"command": lambda: command} if command else WORKERS if options.language == "all" else {
        options.language or "python": WORKERS[options.language or "python"]}
    results = {}
    for name, worker in chosen.items():
        print(f"measuring {name}…", file=sys.stderr, flush=True)
        try:
            results[name] = measured(worker(), options)
            results[name]["missed"] = missed(name, results[name])
        except NotMeasured as why:
            results[name] = {"why": str(why)}
    return results


def main():
    options, command = arguments()
    results = all_measured(options, command)
    has_goals = options.settle == "batches" and not options.no_goals
    peers = beside(options.tasks) if options.beside else {}
    if options.json:
        print(json.dumps({"tasks": options.tasks, "batch": options.batch, "settle": options.settle, "workers": results, "beside": peers}))
    else:
        print(table(results, has_goals))
        if peers:
            print("\n" + markdown_table(["beside, on Redis", "enqueue", "drain"], [
                [name, *(f"{short(figures[work])} tasks/s" if work in figures else figures["why"] for work in ("enqueue_per_s", "drain_per_s"))]
                for name, figures in peers.items()]))
    failed = any("why" in figures for figures in [*results.values(), *peers.values()])
    return 1 if failed or (has_goals and any(figures["missed"] for figures in results.values())) else 0


if __name__ == "__main__":
    sys.exit(main())
