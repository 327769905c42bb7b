"""A real Redis Cluster for servers.py: three primaries with one replica each, all children of one process.

servers.py knows only that process, which runs this file. It starts the servers, and the first time it makes them a cluster. It restarts
a server that died once the other one of its pair is the primary, as an operator would. With the cluster on port P, node i listens on
port P + i and talks to the others on the sixth port after that. The first three begin as primaries.
"""
import contextlib
import pathlib
import signal
import subprocess
import sys
import time

from programs import PASSWORD, PATIENCE, USER, find_programs
from redis_kind import ask, common_options

PRIMARIES = 3
NODES = 2 * PRIMARIES
SLOTS = 16384


class RedisCluster:
    url = f"redis+cluster://{USER}:{PASSWORD}@127.0.0.1:{{port}}/0"
    ports = range(2 * NODES)
    package = "redis-server"
    pid_file = "cluster.pid"  # this process writes no such file
    clean_stop = signal.SIGTERM

    def __init__(self):
        [self.program] = find_programs(self.package, "redis-server")

    def create(self, data, run):
        pass

    def command(self, folder, port, memory, sync):
        return [sys.executable, __file__, self.program, folder / "data", str(port), "sync" if sync else "no-sync"]

    def answers(self, folder, port):
        with contextlib.suppress(OSError):
            return all(is_ready(port + i) for i in range(NODES))
        return False


def fact(port, command, name):
    lines = ask(port, command).splitlines()
    return next((line.partition(":")[2] for line in lines if line.startswith(name + ":")), "")


def is_ready(port):
    """Whether the node knows all nodes and slots. A replica must also be up to date."""
    return (fact(port, "CLUSTER INFO", "cluster_state") == "ok" and
            fact(port, "CLUSTER INFO", "cluster_slots_ok") == str(SLOTS) and
            fact(port, "CLUSTER INFO", "cluster_known_nodes") == str(NODES) and
            (fact(port, "INFO replication", "role") == "master" or
             fact(port, "INFO replication", "master_link_status") == "up"))


def wait_until(condition):
    for _ in range(int(PATIENCE / 0.02)):
        with contextlib.suppress(OSError):
            if condition():
                return
        time.sleep(0.02)
    sys.exit("the servers do not become a cluster")


def start_node(program, data, port, i, sync):
    folder = pathlib.Path(data) / str(i)
    folder.mkdir(exist_ok=True)
    return subprocess.Popen([program, *common_options(folder, port + i, sync), "--cluster-enabled", "yes",
                             "--cluster-port", str(port + NODES + i), "--cluster-require-full-coverage", "no",
                             "--cluster-allow-replica-migration", "no", "--repl-diskless-sync-delay", "0"])


def order(port, command):
    answer = ask(port, command)
    if answer != "OK":
        sys.exit(f"{command}: {answer}")


def make_cluster(port):
    for i in range(PRIMARIES):
        order(port + i, f"CLUSTER ADDSLOTSRANGE {i * SLOTS // PRIMARIES} {(i + 1) * SLOTS // PRIMARIES - 1}")
    for i in range(NODES):
        order(port + i, f"CLUSTER SET-CONFIG-EPOCH {i + 1}")
    for i in range(1, NODES):
        order(port, f"CLUSTER MEET 127.0.0.1 {port + i} {port + NODES + i}")
    everybody = range(port, port + NODES)
    wait_until(lambda: all(fact(node, "CLUSTER INFO", "cluster_known_nodes") == str(NODES) for node in everybody))
    for i in range(PRIMARIES):
        wait_until(lambda i=i: ask(port + PRIMARIES + i, f"CLUSTER REPLICATE {ask(port + i, 'CLUSTER MYID')}") == "OK")


def is_primary(port):
    with contextlib.suppress(OSError):
        return fact(port, "INFO replication", "role") == "master"
    return False


def main(program, data, port, sync):
    port = int(port)

    def start(i):
        return start_node(program, data, port, i, sync == "sync")

    nodes = [start(i) for i in range(NODES)]
    stopping = []
    signal.signal(signal.SIGTERM, lambda *_: stopping.append(True))
    wait_until(lambda: all(ask(port + i, "PING") == "PONG" for i in range(NODES)))
    if fact(port, "CLUSTER INFO", "cluster_slots_assigned") == "0":
        make_cluster(port)
    while not stopping:
        time.sleep(0.05)
        for i, node in enumerate(nodes):
            if node.poll() is not None and is_primary(port + (i + PRIMARIES) % NODES):
                nodes[i] = start(i)
    for node in nodes:
        node.terminate()
    for node in nodes:
        node.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
