#!/usr/bin/env python3
"""redis_idle.py EASYRETRY_PROGRAM: the cost of an idle engine for a Redis server, with different numbers of waiting tasks.

Starts its own server. Prints per second, measured over 30 s: the commands that the server received and the time of its main thread,
from INFO, and the processor time of the engine's process, from `easyretry bench --idle`."""
import json
import pathlib
import subprocess
import sys
import tempfile
import time

SUPPORT = pathlib.Path(__file__).resolve().parent.parent / "tests/support"
sys.path.insert(0, str(SUPPORT))

from redis_kind import ask  # noqa: E402

WAITING = (1_000, 100_000, 1_000_000)
SECONDS = 30


def servers(*args):
    return subprocess.run([sys.executable, SUPPORT / "servers.py", *args], check=True, capture_output=True, text=True).stdout.strip()


class Moment:
    def __init__(self, port):
        facts = dict(line.split(":", 1) for line in ask(port, "INFO everything").splitlines() if ":" in line)
        self.time = time.monotonic()
        self.commands = int(facts["total_commands_processed"])
        self.scripts = int(dict(f.split("=") for f in facts.get("cmdstat_evalsha", "calls=0").split(","))["calls"])
        self.thread = sum(float(facts[f"used_cpu_{kind}_main_thread"]) for kind in ("user", "sys"))
        self.memory = int(facts["used_memory"])


def measure(program, url, port, waiting):
    bench = subprocess.Popen([program, "bench", "--store", url, "--tasks", "1", "--waiting", str(waiting), "--idle", str(SECONDS), "--json"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    begin = end = None
    for line in bench.stderr:
        if line.strip() == "idle…":
            begin = Moment(port)
        if line.strip() == "idle: over…":
            end = Moment(port)
    report = json.loads(bench.communicate()[0])
    seconds = end.time - begin.time
    return [waiting, (end.commands - begin.commands) / seconds, (end.scripts - begin.scripts) / seconds,
            1000 * (end.thread - begin.thread) / seconds, report["idle_cpu_ms_per_s"], begin.memory >> 20]


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        url = servers("start", "redis", "--folder", folder, "--no-sync")
        try:
            port = int(url.rsplit(":", 1)[1].split("/")[0])
            time.sleep(1)
            idle = Moment(port)
            time.sleep(SECONDS)
            print("the server alone: %.2f ms a second" % (1000 * (Moment(port).thread - idle.thread) / SECONDS))
            print("%10s %12s %12s %14s %14s %12s" % ("waiting", "commands /s", "scripts /s", "server, ms /s", "engine, ms /s", "MiB"))
            for waiting in WAITING:
                print("%10d %12.1f %12.1f %14.2f %14.2f %12d" % tuple(measure(program, url, port, waiting)), flush=True)
        finally:
            servers("remove", "--folder", folder)


if __name__ == "__main__":
    main()
