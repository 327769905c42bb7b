#!/usr/bin/env python3
"""dashboard_at_size.py EASYRETRY_PROGRAM [--history N] [--live N] [--only KIND] [--requests N]: how long the dashboard waits for its data.

Stores N ended and N waiting tasks in SQLite and in PostgreSQL, and asks for the first data of each page as the page does, one request
after the other. Prints p50, p99 and the longest of each in milliseconds, and fails if the p99 of one is over 200 ms. Without options:
5,000,000 ended and 1,000,000 live tasks. One live task in a hundred is due; the others are due within a day.

Live tasks, and the first ended ones, are stored by the daemon. The other ended ones are copies of these, made by SQL while no daemon
runs: each copy ended a while earlier. The counts of the store are not changed."""
import argparse
import os
import pathlib
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tests/e2e")]

from daemon import Daemon  # noqa: E402
from sql_client import run_sql  # noqa: E402

BATCH = 1000
FIRST = 10_000  # ended tasks that are copied
HANDLERS = ["mail", "pay", "refund"]
STEP = 20_000  # milliseconds between two copies of a task
ID_STEP = STEP << 22  # an id begins with its time; task/task_id.h
HOUR = 3_600_000
MOST_P99 = 200  # milliseconds
TIMES = {"id": ID_STEP, **{name: STEP for name in ("created_at", "next_retry_time", "finished_at", "first_failed_at",
                                                   "last_error_time")}}

# A path is read with GET; a pair is a path and the body of a POST that changes nothing.
PAGES = {
    "overview: doctor": "/v1/doctor",
    "overview: series of an hour": "/v1/series?step=10s",
    "overview: series of a day": "/v1/series?step=1m",
    "series of a handler": "/v1/series?step=1m&handler=mail",
    "namespaces": "/v1/namespaces",
    "tasks": "/v1/tasks?limit=50",
    "tasks of a handler": "/v1/tasks?limit=50&handler=refund",
    "tasks, no match": "/v1/tasks?limit=50&handler=nothing",
    "tasks that run": "/v1/tasks?limit=50&state=running",
    "tasks by tag": "/v1/tasks?limit=50&tag=vip",
    "tasks by tag, no match": "/v1/tasks?limit=50&tag=nothing",
    "tasks by attempts, no match": "/v1/tasks?limit=50&attempts_from=9",
    "tasks by owner, no match": "/v1/tasks?limit=50&owner=nobody",
    "tasks that are due, no match": "/v1/tasks?limit=50&due_until=2026-01-01T00:00:00Z",
    "tasks by key": "/v1/tasks?limit=50&handler=mail&key=00000000000000000000000000000003",
    "history": "/v1/history?limit=50",
    "history, one outcome": "/v1/history?limit=50&outcome=exhausted",
    "history, a rare outcome": "/v1/history?limit=50&outcome=quarantined",
    "history, handler and outcome": "/v1/history?limit=50&handler=pay&outcome=exhausted",
    "history, no match": "/v1/history?limit=50&handler=nothing",
    "history, kind of error, no match": "/v1/history?limit=50&error=0123456789abcdef",
    "history, ended before any": "/v1/history?limit=50&finished_until=2001-01-01T00:00:00Z",
    "history, oldest first": "/v1/history?limit=50&order=oldest",
    "errors of history": "/v1/errors?of=history&limit=100&within_ms=150",
    "errors of live tasks": "/v1/errors?of=tasks&limit=100&within_ms=150",
    "handlers": "/v1/handlers",
    "circuits": "/v1/circuits",
    "limits": "/v1/limits",
    "instances": "/v1/cluster",
    "bulk jobs": "/v1/bulk",
    "alerts": "/v1/alerts",
    "audit": "/v1/audit",
    "tokens": "/v1/tokens",
    "metrics for Prometheus": "/metrics",
}
# These look for 2 s at most, and only after a click.
DRY_RUNS = {
    "dry run: cancel, all match": ("/v1/bulk", {"action": "cancel", "everything": True, "most": 10_000_000, "dry_run": True}),
    "dry run: requeue, one in ten": ("/v1/bulk", {"action": "requeue", "filter": {"outcome": "exhausted"}, "most": 10_000_000,
                                                  "dry_run": True}),
}


class Sqlite:
    def __init__(self, folder):
        self.file = folder / "retry.db"
        self.url = f"sqlite:{self.file}"

    def tables(self):
        """The tables of a finished task."""
        with sqlite3.connect(self.file) as db:
            months = db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'retry_state_2%'").fetchall()
        return [name for (name,) in months] + ["retry_call"]

    def copy(self, copies):
        db = sqlite3.connect(self.file)
        months = self.tables()[:-1]
        ended = " UNION ALL ".join(f"SELECT id FROM {month}" for month in months)
        db.execute(f"CREATE TEMP TABLE ended AS {ended}")
        db.execute(f"CREATE TEMP TABLE step AS WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < {copies}) "
                   "SELECT k FROM n")
        for table in self.tables():
            columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            values = ", ".join(f"{name} - k * {TIMES[name]}" if name in TIMES else name for name in columns)
            db.execute(f"INSERT INTO {table} ({', '.join(columns)}) SELECT {values} FROM step CROSS JOIN {table} "
                       f"WHERE id IN (SELECT id FROM ended) ORDER BY k DESC, id")
        db.commit()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.close()

    def remove(self):
        pass


class Postgres:
    def __init__(self, folder):
        self.folder = folder / "server"
        self.url = self.servers("start", "postgres", "--folder", self.folder, "--no-sync")

    @staticmethod
    def servers(*args):
        tool = ROOT / "tests/support/servers.py"
        return subprocess.run([sys.executable, tool, *args], check=True, capture_output=True, text=True).stdout.strip()

    def copy(self, copies):
        tables = run_sql(self.url, r"SELECT relname FROM pg_class WHERE relkind = 'r' AND relname ~ '^retry_task_history_\d+$'").split()
        for table in tables:
            columns = run_sql(self.url, "SELECT attname FROM pg_attribute WHERE attrelid = "
                                        f"'{table}'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum").split()
            values = ", ".join(f"{name} - k * {TIMES[name]}::bigint" if name in TIMES else name for name in columns)
            run_sql(self.url, f"INSERT INTO {table} ({', '.join(columns)}) SELECT {values} FROM generate_series(1, {copies}) AS k, "
                              f"{table}")
        run_sql(self.url, "VACUUM ANALYZE")

    def remove(self):
        self.servers("remove", "--folder", self.folder)


KINDS = {"sqlite": Sqlite, "postgres": Postgres}


def request(daemon, path, body):
    status, answer = daemon.ask("POST", path, body)
    if status >= 300:
        sys.exit(f"{path}: {answer}")
    return answer


def submit(daemon, count, delay_ms=lambda number: 0):
    """One in a hundred has a tag."""
    for begin in range(0, count, BATCH):
        tasks = [{"handler": HANDLERS[number % 3], "key": f"{number:032}", "args": ["x" * 100], "tags": ["vip"] * (number % 100 == 0),
                  "delay_ms": delay_ms(number)} for number in range(begin, min(begin + BATCH, count))]
        request(daemon, "/v1/tasks", {"tasks": tasks})


def end_all(daemon):
    """One in ten fails, with one of 40 kinds of error."""
    while tasks := request(daemon, "/v1/leases", {"handlers": HANDLERS, "max": BATCH, "wait_ms": 3000})["tasks"]:
        ends = []
        for number, task in enumerate(tasks):
            end = {"id": task["id"], "version": task["version"], "kind": "finish", "outcome": "succeeded"}
            if number % 10 == 0:
                end |= {"outcome": "exhausted", "error": f"error of kind {chr(65 + number // 10 % 40)}: order {task['id']} refused"}
            ends.append(end)
        request(daemon, "/v1/leases/settle", {"tasks": ends})


def fill(program, store, folder, history, live):
    daemon = Daemon(program, folder, store=f"'{store.url}'", stderr=subprocess.DEVNULL)
    submit(daemon, min(FIRST, history))
    end_all(daemon)
    submit(daemon, live, lambda number: HOUR + number * 23 * HOUR // live if number % 100 else 0)
    daemon.stop()
    if history > FIRST:
        store.copy(history // FIRST - 1)


def times_of(daemon, asked, requests):
    path, body = asked if isinstance(asked, tuple) else (asked, None)
    times = []
    for _ in range(requests):
        began = time.monotonic()
        status, _, answer = daemon.ask_for_text("POST" if body else "GET", path, body)
        times.append((time.monotonic() - began) * 1000)
        if status != 200:
            sys.exit(f"{path}: {status} {answer}")
    return sorted(times)


def measure(program, store, folder, requests):
    """Returns the pages that were too slow."""
    slow = []
    daemon = Daemon(program, folder, store=f"'{store.url}'", stderr=subprocess.DEVNULL)
    try:
        _, page = daemon.ask("GET", "/v1/history?limit=1")
        pages = PAGES | {"a task": f"/v1/tasks/{page['tasks'][0]['id']}"}
        if "postgres" in store.url:
            pages |= {"tables": "/v1/tables"}
        for name, asked in (pages | DRY_RUNS).items():
            times = times_of(daemon, asked, max(1, requests // 10) if name in DRY_RUNS else requests)
            p99 = times[min(len(times) - 1, int(len(times) * 0.99))]
            print(f"  {name:<34}{statistics.median(times):>9.1f}{p99:>9.1f}{times[-1]:>9.1f}", flush=True)
            if p99 > MOST_P99 and name not in DRY_RUNS:
                slow.append(name)
    finally:
        daemon.kill()
    return slow


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--history", type=int, default=5_000_000)
    parser.add_argument("--live", type=int, default=1_000_000)
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--only", choices=KINDS)
    options = parser.parse_args()
    slow = []
    for kind in [options.only] if options.only else KINDS:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            store = KINDS[kind](pathlib.Path(folder))
            try:
                fill(options.program, store, folder, options.history, options.live)
                print(f"{kind}, {options.history:,} ended and {options.live:,} live\n{'':36}{'p50 ms':>9}{'p99':>9}{'max':>9}",
                      flush=True)
                slow += [f"{kind}: {name}" for name in measure(options.program, store, folder, options.requests)]
            finally:
                store.remove()
    if slow:
        sys.exit(f"The p99 of these is over {MOST_P99} ms: {', '.join(slow)}")
    print(f"The p99 of each page is {MOST_P99} ms at most.")


if __name__ == "__main__":
    main()
