"""The store that is measured: a server of its own, or a file. Each run begins with an empty one."""
import os
import pathlib
import re
import sys
import tempfile

from harness.options import ROOT

SUPPORT = ROOT / "tests/support"
sys.path[:0] = [str(SUPPORT), str(ROOT / "tests/e2e")]

from redis_kind import ask  # noqa: E402
from sql_client import run_sql  # noqa: E402

PATIENCE = 300  # seconds
MEMORY = "1G"  # of a server


class Store:
    """Use it in a `with`: the end removes the server and its files, whatever happened."""

    def __init__(self, options, children):
        self.kind, self.history, self.everysec, self.children = options.store, options.history, options.everysec, children
        self.temporary = tempfile.TemporaryDirectory(prefix="easyretry-peers-", dir=options.disk, ignore_cleanup_errors=True)
        self.folder = pathlib.Path(self.temporary.name)
        self.server = None
        self.number = 0

    def __enter__(self):
        self.folder.chmod(0o755)  # servers have a user of their own
        try:
            if self.kind != "sqlite":
                self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        more = ["--no-sync"] if self.everysec else []
        # If this process is killed, a watcher removes the server.
        self.server = self.tool("start", self.kind, "--memory", MEMORY, "--owner", os.getpid(), *more).strip()
        if self.kind == "redis":  # without its login, which not every peer knows
            self.server = re.sub(r"//[^@]*@", "//", self.server)
        self.port = int(re.search(r":(\d+)/", self.server).group(1))

    def __exit__(self, *_):
        try:
            if (self.folder / "server/server.json").exists():
                self.tool("remove")
        finally:
            self.temporary.cleanup()

    def tool(self, command, *words):
        return self.children.run([sys.executable, SUPPORT / "servers.py", command, "--folder", self.folder / "server", *words], PATIENCE)

    def fresh(self):
        """The URL of an empty store, as peers and limits take it."""
        self.number += 1
        if self.kind == "sqlite":
            for file in self.folder.glob("run*"):
                file.unlink()
            return f"sqlite:{self.folder}/run{self.number}.db"
        if self.kind == "redis":
            ask(self.port, "FLUSHALL")
            return self.server
        name = "easyretry_run"
        drop = f"DROP DATABASE IF EXISTS {name}" + (" WITH (FORCE)" if self.kind == "postgres" else "")
        run_sql(self.server, f"{drop};\nCREATE DATABASE {name};\n")
        url = self.server.rsplit("/", 1)[0] + "/" + name
        return url + ("?sslmode=disable" if self.kind == "postgres" else "")

    def ours(self, url):
        """The same for EasyRetry."""
        return f"{url}{'&' if '?' in url else '?'}history={self.history}"

    def version(self):
        if self.kind == "redis":
            return "Redis " + re.search(r"redis_version:(\S+)", ask(self.port, "INFO server")).group(1)
        if self.kind == "sqlite":
            return "SQLite, as linked to each program"
        text = run_sql(self.server, "SELECT version()").split("\n")[0]
        return re.match(r"PostgreSQL \S+", text).group() if self.kind == "postgres" else f"MariaDB {text.split('-')[0]}"

    def durability(self):
        if self.kind == "redis":
            return "appendonly yes, appendfsync " + ("everysec" if self.everysec else "always")
        return {"postgres": "fsync and synchronous_commit on", "mariadb": "innodb_flush_log_at_trx_commit 1",
                "sqlite": "write-ahead log, synchronous FULL"}[self.kind]
