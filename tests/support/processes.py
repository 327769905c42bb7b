"""Processes of servers, and what they need: another user than root, and free ports."""
import contextlib
import os
import pathlib
import pwd
import random
import shutil
import signal
import socket
import time

from problem import Problem
from programs import PATIENCE

# Below the range that Linux uses for outgoing connections, so that none takes a killed server's port before the restart.
PORTS = range(10000, 32000)


def stat_of(pid):
    """The fields of /proc/PID/stat, beginning with the state."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


def identify(pid):
    """[pid, its start time]. No later process has the same pair."""
    stat = stat_of(pid)
    if not stat:
        raise Problem(f"there is no process {pid}")
    return [pid, stat[19]]


def alive(process):
    """Whether the process is running. A zombie is not."""
    stat = stat_of(process[0]) if process else None
    return bool(stat) and stat[0] not in "ZX" and stat[19] == process[1]


def children_of(pid):
    everybody = [int(path.name) for path in pathlib.Path("/proc").iterdir() if path.name.isdigit()]
    stats = {other: stat_of(other) for other in everybody}
    children = [[other, stat[19]] for other, stat in stats.items() if stat and stat[1] == str(pid)]
    return [child for child in children if alive(child)]


def wait_until(condition, failure, nap=0.005):
    """Counts naps, not time: the time in which the machine was suspended does not count."""
    for _ in range(int(PATIENCE / nap)):
        if condition():
            return
        time.sleep(nap)
    raise Problem(failure)


def kill_at_once(process):
    """Kills a server and its children. The server is stopped (SIGSTOP) while its children die, so it cannot notice or replace them."""
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
    """The prefix that runs a command for this folder without root, because database servers refuse to run as root."""
    if os.geteuid() != 0:
        return []
    nobody = pwd.getpwnam("nobody")
    command = ["setpriv", "--reuid", str(nobody.pw_uid), "--regid", str(nobody.pw_gid), "--clear-groups"]
    here = pathlib.Path(__file__).resolve()  # some kinds run programs of this folder
    if any(not parent.stat().st_mode & 0o001 for parent in [*folder.parents, *here.parents]):  # such as below /root
        command += ["--inh-caps", "+dac_override", "--ambient-caps", "+dac_override",
                    "--securebits", "+no_setuid_fixup"]  # else access(2), which MariaDB uses to find files, would ignore the capability
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
