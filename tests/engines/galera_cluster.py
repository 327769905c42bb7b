"""A real Galera cluster on this machine: nodes of MariaDB that replicate to one another.

The provider (galera-4) is taken from the system, or from its Debian package, which is downloaded and not installed."""
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from mariadb_kind import Mariadb  # noqa: E402
from problem import Problem  # noqa: E402
from processes import free_port, wait_until  # noqa: E402
from programs import DATABASE, PASSWORD, PATIENCE, USER, without_syncs  # noqa: E402

PROVIDER = "usr/lib/galera/libgalera_smm.so"


def provider(folder):
    """The path of the library that replicates."""
    installed = pathlib.Path("/") / PROVIDER
    unpacked = folder / "galera-4" / PROVIDER
    if installed.exists():
        return installed
    if not unpacked.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(OSError):  # no apt
            subprocess.run(["apt-get", "download", "galera-4"], cwd=folder, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        packages = sorted(folder.glob("galera-4_*.deb"))
        if not packages:
            raise Problem("galera-4 is not installed and cannot be downloaded: apt-get install galera-4")
        subprocess.run(["dpkg", "-x", packages[-1], folder / "galera-4"], check=True)
    return unpacked


class Node:
    """One server. It keeps its data when it is killed, and can be started again."""

    def __init__(self, kind, folder, number, library):
        self.kind, self.folder, self.number, self.library = kind, folder, number, library
        self.port, self.group_port, self.transfer_port = free_port((0,)), free_port((0,)), free_port((0,))
        self.process = None

    @property
    def url(self):
        return f"mysql://{USER}:{PASSWORD}@127.0.0.1:{self.port}/{DATABASE}"

    def start(self, cluster, *options):
        path = f"{pathlib.Path(__file__).parent}{os.pathsep}{os.environ['PATH']}"
        self.process = subprocess.Popen(self.command(cluster, *options), env=os.environ | {"PATH": path}, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        wait_until(lambda: self.ask("SHOW STATUS LIKE 'wsrep_ready'") == "ON", f"node {self.number} does not start: {self.folder}/node.log")

    def rejoin(self, cluster):
        """After it was killed: the others send it what it has missed since the last transaction that it has."""
        log = self.folder / "recovery.log"
        subprocess.run(self.command("", "--wsrep-recover", f"--log-error={log}"), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        position = re.findall(r"Recovered position:? *(\S+)", log.read_text())[-1]
        self.start(cluster, f"--wsrep-start-position={position}")

    def command(self, cluster, *options):
        command = [self.kind.program, "--no-defaults", f"--datadir={self.folder}", f"--tmpdir={self.folder}", *self.kind.UTF8,
                   "--bind-address=127.0.0.1", f"--port={self.port}", "--skip-name-resolve", "--socket=node.sock", "--user=root",
                   "--pid-file=node.pid", f"--log-error={self.folder}/node.log", "--binlog-format=ROW",
                   "--innodb-autoinc-lock-mode=2", "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=64M",
                   "--wsrep-on=ON", f"--wsrep-provider={self.library}", "--wsrep-cluster-name=easyretry-test",
                   f"--wsrep-node-address=127.0.0.1:{self.group_port}", f"--wsrep-node-name=node{self.number}",
                   f"--wsrep-cluster-address=gcomm://{cluster}", "--wsrep-slave-threads=2",
                   "--wsrep-sst-method=place",  # wsrep_sst_place, in this folder
                   f"--wsrep-provider-options=gmcast.listen_addr=tcp://127.0.0.1:{self.group_port};"
                   f"ist.recv_addr=127.0.0.1:{self.transfer_port};gcache.size=32M", *options]
        return without_syncs(command)

    def ask(self, statement):
        """The last column of the answer; empty while the server does not answer."""
        client = subprocess.run(["mariadb", "--no-defaults", "-N", "-B", f"--port={self.port}", "--host=127.0.0.1", f"--user={USER}",
                                 f"--password={PASSWORD}", DATABASE, "-e", statement], capture_output=True, text=True, check=False)
        return client.stdout.strip().split("\t")[-1]

    def set(self, setting):
        self.administrator(f"SET GLOBAL {setting};").communicate(timeout=PATIENCE)

    def administrator(self, statements):
        """A client that runs these and waits for others."""
        client = subprocess.Popen(["mariadb", "--no-defaults", "--unbuffered", "-N", "-B", "--socket=node.sock", "--user=root"], text=True,
                                  cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        client.stdin.write(statements + "\n")
        client.stdin.flush()
        return client

    @contextlib.contextmanager
    def that_applies_nothing(self):
        """It stays in the cluster, and does not hold it up."""
        self.set("wsrep_desync = ON")
        client = self.administrator("FLUSH TABLES WITH READ LOCK; SELECT 'locked';")
        try:
            client.stdout.readline()
            yield
        finally:
            client.communicate(timeout=PATIENCE)  # the lock ends with its session
            self.set("wsrep_desync = OFF")

    def end(self, kill=False):
        if self.process is None:
            return
        self.process.kill() if kill else self.process.terminate()
        self.process.wait(timeout=PATIENCE)
        self.process = None


class Cluster:
    def __init__(self, folder, nodes=3):
        kind = Mariadb()
        library = provider(folder / "packages")
        self.folder = folder / "nodes"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.nodes = [Node(kind, self.folder / str(i), i, library) for i in range(nodes)]
        try:
            self.start(kind)
        except BaseException:
            self.end()
            raise

    def start(self, kind):
        first = self.nodes[0]
        kind.create(first.folder, lambda command: subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        first.start("", "--wsrep-new-cluster")
        first.end()
        for node in self.nodes[1:]:
            shutil.copytree(first.folder, node.folder)
            (node.folder / "auto.cnf").unlink(missing_ok=True)
            (node.folder / "gvwstate.dat").unlink(missing_ok=True)
        first.start("", "--wsrep-new-cluster")
        for node in self.nodes[1:]:
            node.start(self.address)

    @property
    def address(self):
        return ",".join(f"127.0.0.1:{node.group_port}" for node in self.nodes)

    def url(self, first=0):
        """That names all nodes, beginning with this one."""
        nodes = self.nodes[first:] + self.nodes[:first]
        return f"mysql://{USER}:{PASSWORD}@{','.join(f'127.0.0.1:{node.port}' for node in nodes)}/{DATABASE}"

    def size(self):
        return int(self.nodes[0].ask("SHOW STATUS LIKE 'wsrep_cluster_size'") or 0)

    def end(self):
        for node in reversed(self.nodes):
            node.end()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()
