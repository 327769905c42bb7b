#!/usr/bin/env python3
"""circuit_cost.py EASYRETRY_PROGRAM [--turns N] [--tasks N] [KIND …]: the cost of a circuit that is closed.

Drains the same number of tasks without and with a circuit, in turns, so that a machine that gets slower slows down both. Prints the
ratio of the medians, and of each pair. The goal is 0.99. KIND is memory, sqlite, postgres, mariadb or redis; servers are its own.

For redis it also counts the commands that the server receives per second, while tasks are drained one batch after the other and
while nothing is due: a circuit adds one a second for a busy instance, and none for an idle one."""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

SUPPORT = pathlib.Path(__file__).resolve().parent.parent / "tests/support"
sys.path.insert(0, str(SUPPORT))

from redis_kind import ask  # noqa: E402

IDLE_SECONDS = 20


def servers(*args):
    return subprocess.run([sys.executable, SUPPORT / "servers.py", *args], check=True, capture_output=True, text=True).stdout.strip()


def bench(program, url, *more):
    run = subprocess.run([program, "bench", "--store", url, "--json", *more], check=True, capture_output=True, text=True)
    return json.loads(run.stdout)


def drains(program, url, tasks, turns):
    without, guarded = [], []
    for turn in range(turns):
        order = [(without, []), (guarded, ["--circuit"])]
        for rates, flags in order if turn % 2 == 0 else reversed(order):
            rates.append(bench(program, url(), "--tasks", str(tasks), *flags)["drain_per_s"])
    return without, guarded


def commands(port):
    facts = dict(line.split(":", 1) for line in ask(port, "INFO everything").splitlines() if ":" in line)
    return int(facts["total_commands_processed"])


def idle_commands(program, url, port, flags):
    run = subprocess.Popen([program, "bench", "--store", url, "--tasks", "1", "--idle", str(IDLE_SECONDS), "--json", *flags],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    begin = end = 0
    for line in run.stderr:
        if line.strip() == "idle…":
            begin = commands(port)
        if line.strip() == "idle: over…":
            end = commands(port)
    run.communicate()
    return (end - begin) / IDLE_SECONDS


def measure(program, kind, tasks, turns, folder):
    if kind in ("memory", "sqlite"):
        number = iter(range(1_000_000))
        def url():
            return "memory:" if kind == "memory" else f"sqlite:{folder}/{next(number)}.db"
    else:
        place = pathlib.Path(folder) / kind
        address = servers("start", kind, "--folder", str(place), "--no-sync")
        def url():
            return address
    try:
        without, guarded = drains(program, url, tasks, turns)
        pairs = sorted(b / a for a, b in zip(without, guarded))
        print(f"{kind:10} {statistics.median(without):12,.0f} {statistics.median(guarded):12,.0f} "
              f"{statistics.median(guarded) / statistics.median(without):8.3f}   {pairs[0]:.3f} to {pairs[-1]:.3f}", flush=True)
        if kind == "redis":
            port = int(address.rsplit(":", 1)[1].split("/")[0])
            for flags in ([], ["--circuit"]):
                print(f"  idle, {'with' if flags else 'without'} a circuit: {idle_commands(program, address, port, flags):.2f} commands a second")
    finally:
        if kind not in ("memory", "sqlite"):
            servers("remove", "--folder", str(place))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("kinds", nargs="*", default=["sqlite", "postgres", "redis"])
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--tasks", type=int, default=100_000)
    options = parser.parse_args()
    print(f"{'store':10} {'without /s':>12} {'with /s':>12} {'ratio':>8}   of each pair")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for kind in options.kinds:
            measure(options.program, kind, options.tasks, options.turns, folder)


if __name__ == "__main__":
    main()
