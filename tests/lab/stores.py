"""The stores of the lab, each with its own server or disk, which faults may kill, restart or fill."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path += [str(TESTS / "e2e"), str(TESTS / "support")]
from sql_client import run_sql  # noqa: E402


class Store:
    def __init__(self, folder, program):
        self.folder, self.program = folder, program
        self.rows_at = None  # another url of the same rows

    def environment(self):
        """Variables of the processes that work on it."""
        return {}

    def rows(self):
        """All tasks, ended and live, as the command line shows them."""
        return self._listed("history") + self._listed("tasks")

    def result(self, task):
        """The task with its result, or as it is if results are not kept."""
        return self._ask("tasks", "show", task, "--result")

    def _listed(self, where):
        return self._ask(where, "list", "--all", "--oldest-first")["tasks"]

    def _ask(self, *words):
        done = subprocess.run([self.program, *words, "--json", "--store", self.rows_at or self.url], cwd=self.folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"easyretry {' '.join(words)}: {done.stderr}")
        return json.loads(done.stdout)


class Sqlite(Store):
    """A file on a small disk of its own, for one process at a time."""
    members = 1
    port = None
    back = 2.0  # docs/databases.md: seconds after there is space on the disk again until work goes on
    DISK = 256  # MiB: several times the log of SQLite, which is copied back at 64 MiB; ./lab --disk makes another one

    def __enter__(self):
        self.lossy = self.folder / "disk"
        self.disk = self.lossy / "files"
        self.disk.mkdir(parents=True)
        (self.lossy / "image").mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={self.DISK}m", "tmpfs", self.disk], check=True)
        self.url = f"sqlite:{self.disk}/retry.db"
        return self

    def environment(self):
        """Syncs of processes with these variables can fail, and lose what was written (tests/fault/lossy_disk_preload.cpp)."""
        preload = self.program.parent / "tests/liblossy_disk_preload.so"
        return {"LD_PRELOAD": str(preload), "LOSSY_DISK": str(self.lossy), "ASAN_OPTIONS": "verify_asan_link_order=0"}

    def fail_syncs(self, words):
        """Moved into place: a process that looks meanwhile sees all words or none."""
        (self.lossy / "fail.new").write_text(words)
        (self.lossy / "fail.new").rename(self.lossy / "fail")

    def let_syncs_work(self):
        (self.lossy / "fail").unlink()

    def rows(self):
        """Of what is on the disk, as a mount after a crash would show it. No process has the file open."""
        mounted = self.folder / "mounted"
        shutil.rmtree(mounted, ignore_errors=True)
        mounted.mkdir()
        for name in (self.lossy / "image").glob("*.name"):
            bytes_of = self.lossy / "image" / name.read_text()
            if bytes_of.exists() and not name.stem.endswith("-shm"):
                shutil.copy(bytes_of, mounted / name.stem)
        self.rows_at = f"sqlite:{mounted}/retry.db"
        return super().rows()

    def __exit__(self, *_):
        subprocess.run(["umount", "--lazy", self.disk], check=True)

    def fill(self):
        """Takes what is free now. SQLite gives space back while it works: it shortens its log."""
        subprocess.run(["dd", "if=/dev/zero", f"of={self.disk}/ballast", "bs=4k", "oflag=append", "conv=notrunc"], check=False, capture_output=True)

    def free(self):
        (self.disk / "ballast").unlink(missing_ok=True)


class Server(Store):
    """A server of tests/support/servers.py, which commits to disk before it answers."""
    members = 4
    back = 5.0  # docs/engines.md: seconds after the server answers again until work goes on

    def __enter__(self):
        self.url = self._order("start", self.kind, "--owner", str(os.getpid()))
        self.port = int(re.search(r":(\d+)/", self.url).group(1))
        return self

    def __exit__(self, *_):
        self._order("remove")

    def through(self, port):
        """The same store by another port."""
        return self.url.replace(f":{self.port}/", f":{port}/")

    def kill(self):
        self._order("kill")

    def stop(self):
        self._order("stop")

    def start(self):
        self._order("start", self.kind)

    def _order(self, command, *more):
        return subprocess.run([sys.executable, TESTS / "support/servers.py", command, *more, "--folder", self.folder / "server"], check=True,
                              capture_output=True, text=True).stdout.strip()


class SqlServer(Server):
    def run(self, sql):
        return run_sql(self.url, sql)

    def lock_rows(self, seconds):
        """Holds the rows of a few live tasks for this long, in a transaction. Returns their ids."""
        rows = self.run(f"BEGIN; SELECT id FROM retry_task ORDER BY id DESC LIMIT 3 FOR UPDATE; {self.sleep.format(seconds)}; COMMIT;")
        return frozenset(row for row in rows.split() if len(row) > 10)  # the others are answers to the pause


class Postgres(SqlServer):
    kind = "postgres"
    sleep = "SELECT pg_sleep({})"


class Mariadb(SqlServer):
    kind = "mariadb"
    sleep = "SELECT SLEEP({})"


class Redis(Server):
    kind = "redis"


STORES = {"sqlite": Sqlite, "postgres": Postgres, "mariadb": Mariadb, "redis": Redis}
