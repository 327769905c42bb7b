#!/usr/bin/env python3
"""Real database servers, and Nacos, for tests and benchmarks: each in its own folder, on loopback, beside other servers on this machine.

    servers.py start postgres --folder /tmp/pg                prints its url
    servers.py start mariadb --folder /tmp/my --memory 1G     for a benchmark
    servers.py start redis --folder /tmp/redis --no-sync      with an append-only file, synced every second
    servers.py start redis-cluster --folder /tmp/cluster      three primaries with a replica each, on six ports in a row
    servers.py kill --folder /tmp/pg                          a crash: all its processes die at once
    servers.py start postgres --folder /tmp/pg                recovers, on the same port
    servers.py stop | restart | url | status | remove --folder /tmp/pg
    servers.py start nacos --folder /tmp/nacos                downloads it with Maven the first time
    servers.py clean                                          removes servers that killed test runs left in the temp folder

A server with owners, `start … --owner PID`, lives as long as one of them: a watcher removes it after the last one ends.
An owner that is done earlier calls `release --folder F --owner PID`. A server without owners stays until it is stopped.

All servers commit to disk before they answer, unless started with --no-sync. Then a crash of the server loses nothing (Redis: next
to nothing), but a crash of the machine may. The databases offer TLS but do not require it. Their certificate is for localhost and
127.0.0.1, signed by tls/ca.crt in the folder.
"""
import argparse
import contextlib
import fcntl
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from mariadb_kind import Mariadb
from mysql_kind import Mysql
from nacos_kind import Nacos, Nacos3
from postgres_kind import Postgres
from problem import Problem
from processes import alive, free_port, give_away, identify, kill_at_once, unprivileged, wait_until
from programs import find_programs
from redis_cluster_kind import RedisCluster
from redis_kind import Redis

LEFT_IN_TEMP = "easyretry-server-*"  # the names that tests/support/database_server.cpp gives its folders


KINDS = {"postgres": Postgres, "mariadb": Mariadb, "mysql": Mysql, "redis": Redis, "redis-cluster": RedisCluster, "nacos": Nacos,
         "nacos3": Nacos3}


# --- Servers ------------------------------------------------------------------------------------------------------------


class Server:
    """The server in a folder. The caller holds the folder's lock."""

    def __init__(self, folder):
        self.folder = folder
        self.file = folder / "server.json"
        self.state = json.loads(self.file.read_text()) if self.file.exists() else {}

    def save(self):
        draft = self.file.with_suffix(".draft")
        draft.write_text(json.dumps(self.state))
        draft.rename(self.file)

    def running(self):
        return alive(self.state.get("process"))

    def url(self):
        return KINDS[self.state["kind"]].url.format(port=self.state["port"])

    def start(self, kind, memory, sync, owner):
        if self.state.setdefault("kind", kind) != kind:
            raise Problem(f"{self.folder} holds a {self.state['kind']} server")
        self.add_owner(owner)
        if self.running():
            return
        server = KINDS[kind]()
        self.state |= {"memory": memory, "sync": sync}
        self.state.setdefault("port", free_port(server.ports))
        self.save()
        if not (self.folder / "data").exists():
            self.create(server)
        self.launch(server)

    def create(self, server):
        make_certificates(self.folder / "tls")
        data = self.folder / "data.unfinished"
        shutil.rmtree(data, ignore_errors=True)
        data.mkdir(mode=0o700)
        give_away(data)
        server.create(data, self.run)
        data.rename(self.folder / "data")

    def run(self, command, text=""):
        done = subprocess.run([*unprivileged(self.folder), *command], input=text, text=True, cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise Problem(f"{command[0]} failed:\n{done.stdout}")

    def launch(self, server):
        port, log = self.state["port"], self.folder / "log"
        command = server.command(self.folder, port, self.state["memory"], self.state["sync"])
        # It may be left from a crash, and PostgreSQL would mistake a zombie for a running server.
        (self.folder / "data" / server.pid_file).unlink(missing_ok=True)
        with log.open("a") as output:
            child = subprocess.Popen([*unprivileged(self.folder), *command], cwd=self.folder / "data",
                                     stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)
        self.state["process"] = identify(child.pid)
        self.save()
        wait_until(lambda: child.poll() is not None or server.answers(self.folder, port),
                   f"the server does not answer, see {log}")
        if child.returncode is not None:
            raise Problem("the server ended at once:\n" + "\n".join(log.read_text().splitlines()[-15:]))
        (self.folder / "url").write_text(self.url())

    def stop(self):
        if self.running():
            os.kill(self.state["process"][0], KINDS[self.state["kind"]].clean_stop)
            wait_until(lambda: not self.running(), f"the server does not stop, see {self.folder}/log")

    def kill(self):
        if self.running():
            kill_at_once(self.state["process"])

    def remove(self):
        self.kill()
        if "process" in self.state:
            remove_shared_memory_of(self.state["process"][0])
        # Rename it first, because another process may start a server in the folder.
        shutil.rmtree(self.folder.rename(f"{self.folder}.removed-{os.getpid()}"))

    def add_owner(self, pid):
        """A server that was created without owners never gets any: its creator wants to keep it."""
        if pid is None or (self.file.exists() and "owners" not in self.state):
            return
        owner = identify(pid)
        self.state.setdefault("owners", [])
        if owner not in self.state["owners"]:
            self.state["owners"].append(owner)
        self.save()
        if not alive(self.state.get("watcher")):
            watcher = subprocess.Popen([sys.executable, __file__, "watch", "--folder", self.folder], cwd="/",
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                       start_new_session=True)
            self.state["watcher"] = identify(watcher.pid)
            self.save()

    def release(self, pid):
        if "owners" in self.state:
            self.state["owners"] = [owner for owner in self.state["owners"] if owner[0] != pid]
            self.save()
            self.remove_if_orphaned()

    def orphaned(self):
        return "owners" in self.state and not any(map(alive, self.state["owners"]))

    def remove_if_orphaned(self):
        if self.orphaned():
            self.remove()


def make_certificates(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    [openssl] = find_programs("openssl", "openssl")
    new_key = [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
               "-days", "3650"]
    authority = ["-subj", "/CN=EasyRetry test authority", "-keyout", "ca.key", "-out", "ca.crt"]
    server = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
              "-addext", "basicConstraints=critical,CA:FALSE", "-CA", "ca.crt", "-CAkey", "ca.key",
              "-keyout", "server.key", "-out", "server.crt"]
    for options in (authority, server):
        subprocess.run(new_key + options, cwd=folder, check=True, capture_output=True)
    give_away(folder / "server.key")


def remove_shared_memory_of(pid):
    """A killed PostgreSQL that is never restarted leaves a segment behind, and a machine can have only 4096."""
    for line in pathlib.Path("/proc/sysvipc/shm").read_text().splitlines()[1:]:
        _, segment, _, _, creator, _, attached, *_ = line.split()
        if int(creator) == pid and int(attached) == 0:
            subprocess.run(["ipcrm", "-m", segment], check=False, stderr=subprocess.DEVNULL)


def try_lock(folder):
    """Returns a file that locks the folder while it is open, or None if the folder was removed while we waited for the lock."""
    with contextlib.suppress(FileNotFoundError):
        lock = (folder / "lock").open("w")
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.samestat(os.fstat(lock.fileno()), (folder / "lock").stat()):
            return lock
    return None


@contextlib.contextmanager
def existing(folder):
    lock = try_lock(folder) if (folder / "server.json").exists() else None
    if not lock:
        raise Problem(f"there is no server in {folder}")
    with lock:
        yield Server(folder)


# --- Commands -----------------------------------------------------------------------------------------------------------


def make_folder(folder):
    """Accepts only a folder that holds nothing else, because it will be removed as a whole."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "server.json").exists() and {path.name for path in folder.iterdir()} - {"lock"}:
        raise Problem(f"{folder} is not empty, and not a server's")
    folder.chmod(0o755)


def start(arguments):
    lock = None
    while not lock:
        make_folder(arguments.folder)
        lock = try_lock(arguments.folder)
    with lock:
        server = Server(arguments.folder)
        server.start(arguments.kind, arguments.memory, arguments.sync, arguments.owner)
        print(server.url())


def restart(arguments):
    with existing(arguments.folder) as server:
        server.stop()
        server.start(server.state["kind"], server.state["memory"], server.state["sync"], owner=None)
        print(server.url())


def stop(arguments):
    with existing(arguments.folder) as server:
        server.stop()


def kill(arguments):
    with existing(arguments.folder) as server:
        server.kill()


def remove(arguments):
    with existing(arguments.folder) as server:
        server.remove()


def release(arguments):
    with existing(arguments.folder) as server:
        server.release(arguments.owner)


def url(arguments):
    with existing(arguments.folder) as server:
        print(server.url())


def status(arguments):
    with existing(arguments.folder) as server:
        print("running" if server.running() else "stopped")
        return 0 if server.running() else 3


def watch(arguments):
    with contextlib.suppress(Problem):  # the folder is gone: nothing is left to watch
        while True:
            with existing(arguments.folder) as server:
                server.remove_if_orphaned()
            time.sleep(0.5)


def clean(_):
    for folder in pathlib.Path(tempfile.gettempdir()).glob(LEFT_IN_TEMP):
        with contextlib.suppress(Problem), existing(folder) as server:
            server.remove_if_orphaned()


def megabytes(text):
    match = re.fullmatch(r"(\d+)([MG])", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text} is no size like 128M or 1G")
    return int(match[1]) * (1024 if match[2] == "G" else 1)


def process_id(text):
    return os.getppid() if text == "parent" else int(text)


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(command, needs_folder=True):
        one = commands.add_parser(command.__name__)
        one.set_defaults(command=command)
        if needs_folder:
            one.add_argument("--folder", type=lambda text: pathlib.Path(text).resolve(), required=True)
        return one

    starting = add(start)
    starting.add_argument("kind", choices=KINDS)
    starting.add_argument("--owner", type=process_id, help="a process id, or 'parent'")
    starting.add_argument("--memory", type=megabytes, default=128, help="for its pages: 128M, 1G")
    starting.add_argument("--no-sync", dest="sync", action="store_false", help="quick; survives its own crash only")
    add(release).add_argument("--owner", type=process_id, required=True, help="a process id, or 'parent'")
    for command in (stop, kill, restart, url, status, remove, watch):
        add(command)
    add(clean, needs_folder=False)
    return parser.parse_args(words)


def main(words):
    os.umask(0o022)  # the server's user must be able to read files that root creates
    try:
        arguments = parse(words)
        return arguments.command(arguments) or 0
    except Problem as problem:
        print(f"servers.py: {problem}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
