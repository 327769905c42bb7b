#!/usr/bin/env python3
"""How fast one worker process of an SDK submits and runs tasks against a daemon on SQLite, and whether its memory stays flat.

    bench/sdk.py build/release/easyretry                                       Python
    bench/sdk.py build/release/easyretry --tasks 1000000 -- COMMAND…           the worker of another SDK

The worker gets EASYRETRY_URL, EASYRETRY_TOKEN, BENCH_TASKS, BENCH_BATCH and BENCH_SETTLE (`batches`, or `judged`: one by one, by the
daemon). It submits the tasks in batches, one after the other, then runs them with a handler that does nothing, and prints
{"phase": "submit", "seconds": …} and {"phase": "drain", "seconds": …}, each on a line. Goals: Python drains 2,500 tasks/s, other
languages 5,000/s; submissions 10,000/s.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/e2e"))
from daemon import Daemon  # noqa: E402

PYTHON = [sys.executable, str(ROOT / "sdk/python/tests/bench_worker.py")]


class Memory:
    """Looks at the resident memory of a process each half second, in MiB."""

    def __init__(self, pid):
        self.pid, self.values, self.over = pid, [], threading.Event()
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()

    def watch(self):
        while not self.over.wait(0.5):
            try:
                with open(f"/proc/{self.pid}/status") as file:
                    sizes = [int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS")]
            except OSError:
                return
            self.values += sizes

    def end(self):
        self.over.set()
        self.thread.join()
        return self.values


def arguments():
    words = sys.argv[1:]
    at = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--tasks", type=int, default=100_000)
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--settle", choices=("batches", "judged"), default="batches")
    return parser.parse_args(words[:at]), words[at + 1:] or PYTHON


def main():
    options, command = arguments()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        daemon = Daemon(os.path.abspath(options.program), folder, stderr=subprocess.DEVNULL)
        try:
            worker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={
                **os.environ, "EASYRETRY_URL": f"http://127.0.0.1:{daemon.port}", "EASYRETRY_TOKEN": daemon.token,
                "BENCH_TASKS": str(options.tasks), "BENCH_BATCH": str(options.batch), "BENCH_SETTLE": options.settle})
            memory = Memory(worker.pid)
            seconds = {line["phase"]: line["seconds"] for line in map(json.loads, worker.stdout)}
            used = memory.end()
            if worker.wait() != 0:
                sys.exit(f"the worker ended with {worker.returncode}")
            left = daemon.ask("GET", "/v1/tasks?limit=1")[1]["tasks"]
        finally:
            daemon.kill()
    if left:
        sys.exit("tasks are left that were not settled")
    for phase in ("submit", "drain"):
        print(f"{phase:8}{options.tasks / seconds[phase]:10,.0f} tasks/s")
    if len(used) >= 8:  # otherwise it was too short to say
        quarter = len(used) // 4
        print(f"memory  {max(used[:quarter]):10.1f} MiB in the first quarter, {max(used[-quarter:]):.1f} MiB in the last")


if __name__ == "__main__":
    main()
