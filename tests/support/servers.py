#!/usr/bin/env python3
"""Real database servers, and Nacos, for tests and benchmarks: each in a folder of its own, on loopback, beside whatever runs here.

    servers.py start postgres --folder /tmp/pg                prints its url
    servers.py start mariadb --folder /tmp/my --memory 1G     for a benchmark
    servers.py start redis --folder /tmp/redis --no-sync      with an append-only file, synced every second
    servers.py start redis-cluster --folder /tmp/cluster      three primaries with a replica each, on six ports in a row
    servers.py kill --folder /tmp/pg                          a crash: none of its processes gets to say goodbye
    servers.py start postgres --folder /tmp/pg                recovers, on the same port
    servers.py stop | restart | url | status | remove --folder /tmp/pg
    servers.py start nacos --folder /tmp/nacos                gets it by Maven the first time
    servers.py clean                                          what runs of tests that died have left in the temp folder

A server with owners, `start … --owner PID`, is for as long as one of them lives: a watcher removes it after the last.
`release --folder F --owner PID` is for owners that are done earlier. A server without owners stays until it is stopped.

All commit to disk before they answer, unless started with --no-sync: then a crash of theirs loses nothing (of Redis, next to
nothing), but one of the machine may. The databases offer TLS, with a certificate for localhost and 127.0.0.1 that tls/ca.crt in
the folder vouches for, and do not insist on it.
"""
import argparse
import contextlib
import fcntl
import json
import os
import pathlib
import pwd
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from mariadb_kind import Mariadb
from nacos_kind import Nacos, Nacos3
from postgres_kind import Postgres
from problem import Problem
from programs import PATIENCE, find_programs
from redis_cluster_kind import RedisCluster
from redis_kind import Redis

# Below those that Linux gives to outgoing connections: none takes a killed server's port before it is back.
PORTS = range(10000, 32000)
LEFT_IN_TEMP = "easyretry-server-*"  # as tests/support/database_server.cpp names its folders


KINDS = {"postgres": Postgres, "mariadb": Mariadb, "redis": Redis, "redis-cluster": RedisCluster, "nacos": Nacos,
         "nacos3": Nacos3}


# --- Processes ----------------------------------------------------------------------------------------------------------


def stat_of(pid):
    """The fields of /proc/PID/stat from the state on."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


def identify(pid):
    """[pid, its start time], which no later process has."""
    stat = stat_of(pid)
    if not stat:
        raise Problem(f"there is no process {pid}")
    return [pid, stat[19]]


def alive(process):
    """Not so are also the dead that nobody has waited for yet."""
    stat = stat_of(process[0]) if process else None
    return bool(stat) and stat[0] not in "ZX" and stat[19] == process[1]


def children_of(pid):
    everybody = [int(path.name) for path in pathlib.Path("/proc").iterdir() if path.name.isdigit()]
    stats = {other: stat_of(other) for other in everybody}
    children = [[other, stat[19]] for other, stat in stats.items() if stat and stat[1] == str(pid)]
    return [child for child in children if alive(child)]


def wait_until(condition, failure, nap=0.005):
    """Counts naps, not time: a machine that was suspended has not waited."""
    for _ in range(int(PATIENCE / nap)):
        if condition():
            return
        time.sleep(nap)
    raise Problem(failure)


def kill_at_once(process):
    """The server stands still while its children die, so it can neither replace nor mourn them."""
    pid = process[0]
    os.kill(pid, signal.SIGSTOP)
    while children := children_of(pid):
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child[0], signal.SIGKILL)
        wait_until(lambda: not any(map(alive, children)), f"children of {pid} survive SIGKILL")
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not alive(process), f"{pid} survives SIGKILL")


def unprivileged(folder):
    """How to run a command for this folder: database servers refuse to be root."""
    if os.geteuid() != 0:
        return []
    nobody = pwd.getpwnam("nobody")
    command = ["setpriv", "--reuid", str(nobody.pw_uid), "--regid", str(nobody.pw_gid), "--clear-groups"]
    here = pathlib.Path(__file__).resolve()  # some kinds are run from here
    if any(not parent.stat().st_mode & 0o001 for parent in [*folder.parents, *here.parents]):  # such as below /root
        command += ["--inh-caps", "+dac_override", "--ambient-caps", "+dac_override",
                    "--securebits", "+no_setuid_fixup"]  # or access(2), by which MariaDB finds files, would not use it
    return command


def give_away(path):
    if os.geteuid() == 0:
        shutil.chown(path, "nobody")


def is_free(port):
    with socket.socket() as probe, contextlib.suppress(OSError):
        probe.bind(("127.0.0.1", port))
        return True
    return False


def free_port(offsets):
    for port in random.sample(PORTS, len(PORTS)):
        if all(is_free(port + offset) for offset in offsets):
            return port
    raise Problem("no port is free")


# --- Servers ------------------------------------------------------------------------------------------------------------


class Server:
    """What is in a folder; for whoever holds the folder's lock."""

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
        # After a crash. PostgreSQL would take a dead process that nobody has waited for yet for a running server.
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
        # First out of the way at once: somebody may start another server in the folder.
        shutil.rmtree(self.folder.rename(f"{self.folder}.removed-{os.getpid()}"))

    def add_owner(self, pid):
        """One that was made without owners never gets any: whoever did it wants to keep it."""
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
    """A killed PostgreSQL that never starts again leaves a segment, and a machine has room for 4096."""
    for line in pathlib.Path("/proc/sysvipc/shm").read_text().splitlines()[1:]:
        _, segment, _, _, creator, _, attached, *_ = line.split()
        if int(creator) == pid and int(attached) == 0:
            subprocess.run(["ipcrm", "-m", segment], check=False, stderr=subprocess.DEVNULL)


def try_lock(folder):
    """A file that locks the folder for as long as it is open; None if the folder went while we waited for it."""
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
    """Only a folder that is all ours: it will be removed as a whole."""
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
    with contextlib.suppress(Problem):  # the folder is gone, and with it our work
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
    os.umask(0o022)  # the server's user has to read what root makes for it
    try:
        arguments = parse(words)
        return arguments.command(arguments) or 0
    except Problem as problem:
        print(f"servers.py: {problem}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
