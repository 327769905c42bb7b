#!/usr/bin/env python3
"""capacity.py EASYRETRY_PROGRAM [--tasks N] [--idle SECONDS] [--only KIND]: what a task and an idle daemon cost each kind of store.

Starts its own servers. Prints the bytes of a waiting and of a finished task, the statements of a task from submission to end (one at a
time, and in batches of 1,000), and the statements per second and the connections of an idle daemon. docs/operations.md has a table of
the results. Statements are counted by the server: BEGIN, COMMIT and SET are statements, too; on Redis, a script is one."""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tests/e2e")]

from daemon import Daemon  # noqa: E402
from redis_kind import ask  # noqa: E402
from sql_client import run_sql  # noqa: E402

SMALL, LARGE = 100, 1000  # bytes of arguments
RECENT = 15  # seconds after which an instance takes itself for idle
HOUR = 3_600_000  # milliseconds
BATCH = 1000
SINGLE = 200  # tasks that are submitted, leased and ended one at a time


def servers(*args):
    tool = ROOT / "tests/support/servers.py"
    return subprocess.run([sys.executable, tool, *args], check=True, capture_output=True, text=True).stdout.strip()


class Sqlite:
    counts = False  # there is no server that could

    def __init__(self, folder):
        self.file = folder / "retry.db"
        self.url = f"sqlite:{self.file}"

    def size(self):
        """Without free pages, which are used again."""
        text = "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size"
        return int(subprocess.run(["sqlite3", "-readonly", self.file, text], check=True, capture_output=True).stdout)

    def settle(self):
        pass

    def remove(self):
        pass


class Server:
    counts = True

    def __init__(self, folder):
        self.folder = folder / "server"
        self.url = servers("start", self.kind, "--folder", self.folder, "--no-sync")
        self.port = int(re.search(r":(\d+)/", self.url).group(1))

    def settle(self):
        """Brings the statistics up to date."""

    def remove(self):
        servers("remove", "--folder", self.folder)


class Postgres(Server):
    kind = "postgres"

    def __init__(self, folder):
        super().__init__(folder)
        with open(self.folder / "data/postgresql.conf", "a") as settings:
            settings.write("log_statement = all\n")
        servers("restart", "--folder", self.folder)

    def size(self):
        return int(run_sql(self.url, "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND "
                                     r"relname LIKE 'retry\_task%'"))

    def settle(self):
        run_sql(self.url, "VACUUM")

    def statements(self):
        found = re.findall(r"LOG:  (?:statement|execute \w+): (.*)", (self.folder / "log").read_text(errors="replace"))
        return sum(1 + text[:-1].count(";") for text in found)

    def connections(self):
        return int(run_sql(self.url, "SELECT count(*) - 1 FROM pg_stat_activity WHERE backend_type = 'client backend'"))


class Mariadb(Server):
    kind = "mariadb"

    def size(self):
        return int(run_sql(self.url, "SELECT SUM(data_length + index_length) FROM information_schema.tables WHERE "
                                     r"table_schema = DATABASE() AND table_name LIKE 'retry\_task%'"))

    def settle(self):
        tables = [table for table in run_sql(self.url, "SHOW TABLES").split() if table.startswith("retry_task")]
        run_sql(self.url, "".join(f"ANALYZE TABLE {table};" for table in tables))

    def status(self, name):
        return int(run_sql(self.url, f"SHOW GLOBAL STATUS LIKE '{name}'").split()[1])

    def statements(self):
        return self.status("Questions")

    def connections(self):
        return self.status("Threads_connected") - 1


class Redis(Server):
    kind = "redis"

    def info(self, pattern):
        return [int(number) for number in re.findall(pattern, ask(self.port, "INFO everything"))]

    def size(self):
        return self.info(r"used_memory:(\d+)")[0]

    def statements(self):
        return sum(self.info(r"cmdstat_evalsha\w*:calls=(\d+)"))

    def connections(self):
        return self.info(r"connected_clients:(\d+)")[0] - 1


KINDS = {"sqlite": Sqlite, "postgres": Postgres, "mariadb": Mariadb, "redis": Redis}


def request(daemon, path, body):
    status, answer = daemon.ask("POST", path, body)
    if status >= 300:
        sys.exit(f"{path}: {answer}")
    return answer


def submit(daemon, count, size, **more):
    for begin in range(0, count, BATCH):
        tasks = [{"handler": "mail", "key": f"mail:{size}:{number:032}", "args": ["x" * size], **more}
                 for number in range(begin, min(begin + BATCH, count))]
        request(daemon, "/v1/tasks", {"tasks": tasks})


def end_all(daemon):
    while tasks := request(daemon, "/v1/leases", {"handlers": ["mail"], "max": BATCH, "wait_ms": 3000})["tasks"]:
        ends = [{"id": task["id"], "version": task["version"], "kind": "finish", "outcome": "succeeded"} for task in tasks]
        request(daemon, "/v1/leases/settle", {"tasks": ends})


def one_by_one(daemon, count):
    for number in range(count):
        request(daemon, "/v1/tasks", {"handler": "mail", "key": f"single{number}", "args": ["x" * SMALL]})
        for task in daemon.lease():
            request(daemon, f"/v1/leases/{task['id']}/done", {"version": task["version"]})


def size_of(store):
    store.settle()
    return store.size()


def bytes_of(store, daemon, tasks):
    def grown(change):
        begin = size_of(store)
        change()
        return (size_of(store) - begin) / tasks

    def run():
        submit(daemon, tasks, SMALL)
        end_all(daemon)

    return {f"bytes finished, {SMALL}": grown(run),
            f"bytes waiting, {SMALL}": grown(lambda: submit(daemon, tasks, SMALL, delay_ms=HOUR)),
            f"bytes waiting, {LARGE}": grown(lambda: submit(daemon, tasks, LARGE, delay_ms=HOUR))}


def statements_of(store, daemon, tasks, seconds):
    def counted(change, count):
        begin = store.statements()
        change()
        return (store.statements() - begin) / count

    def batches():
        submit(daemon, tasks, SMALL + 1)
        end_all(daemon)

    found = {"statements, batches": counted(batches, tasks),
             "statements, single": counted(lambda: one_by_one(daemon, SINGLE), SINGLE),
             "connections": store.connections()}
    time.sleep(RECENT)
    return found | {"statements, idle second": counted(lambda: time.sleep(seconds), seconds)}


def measure(program, store, folder, tasks, seconds):
    daemon = Daemon(program, folder, store=f"'{store.url}'", stderr=subprocess.DEVNULL)
    try:
        return bytes_of(store, daemon, tasks) | (statements_of(store, daemon, tasks, seconds) if store.counts else {})
    finally:
        daemon.kill()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--tasks", type=int, default=20_000)
    parser.add_argument("--idle", type=float, default=30, metavar="SECONDS")
    parser.add_argument("--only", choices=KINDS)
    options = parser.parse_args()
    for kind in [options.only] if options.only else KINDS:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            store = KINDS[kind](pathlib.Path(folder))
            try:
                found = measure(options.program, store, folder, options.tasks, options.idle)
            finally:
                store.remove()
        print(kind, *(f"{name} {value:.2f}" for name, value in found.items()), sep="; ", flush=True)


if __name__ == "__main__":
    main()
