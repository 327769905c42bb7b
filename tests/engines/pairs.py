"""A primary and a replica on this machine, for failovers: PostgreSQL, and MariaDB."""
import contextlib
import pathlib
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path += [str(TESTS / "support"), str(TESTS / "e2e")]
from mariadb_kind import Mariadb  # noqa: E402
from postgres_kind import Postgres  # noqa: E402
from processes import free_port, give_away, identify, kill_at_once, unprivileged, wait_until  # noqa: E402
from programs import DATABASE, PASSWORD, USER, find_programs, without_syncs  # noqa: E402
from sql_client import run_sql  # noqa: E402

ADMINISTRATOR = "admin"


class Server:
    """One of the two. It keeps its data when it is killed, and can be started again."""

    def __init__(self, folder):
        self.folder, self.port, self.process = folder, free_port((0,)), None

    def start(self):
        with self.folder.with_suffix(".log").open("a") as log:
            self.process = subprocess.Popen([*unprivileged(self.folder), *self.command()], cwd=self.folder, stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log, start_new_session=True)
        wait_until(self.answers, f"the server does not start, see {log.name}", nap=0.05)

    def answers(self):
        with contextlib.suppress(subprocess.CalledProcessError):
            return self.run("SELECT 1") == "1"
        return False

    def run(self, sql):
        return run_sql(f"{self.scheme}://{ADMINISTRATOR}:{PASSWORD}@127.0.0.1:{self.port}/{DATABASE}", sql)

    def kill(self):
        if self.process:
            kill_at_once(identify(self.process.pid))
            self.process.wait()
            self.process = None

    def keys(self):
        """Of all tasks that it knows, live and ended."""
        tables = self.run("SELECT table_name FROM information_schema.tables WHERE table_name = 'retry_task' "
                          "OR table_name LIKE 'retry_task_history%'").split()
        return set(self.run(" UNION ".join(f"SELECT task_key FROM {table}" for table in tables)).split())


class Pair:
    def __init__(self, folder):
        folder.chmod(0o755)
        self.primary, self.replica = (self.server(folder / name) for name in ("primary", "replica"))
        self.create()
        self.primary.start()
        self.follow()

    def url(self, options=""):
        return (f"{self.server.scheme}://{USER}:{PASSWORD}@127.0.0.1:{self.primary.port},127.0.0.1:{self.replica.port}/{DATABASE}"
                f"{options}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for server in (self.primary, self.replica):
            server.kill()


class PostgresServer(Server):
    scheme = "postgres"

    def command(self):
        settings = {"listen_addresses": "127.0.0.1", "port": self.port, "unix_socket_directories": "", "max_connections": 100,
                    "dynamic_shared_memory_type": "mmap", "wal_receiver_status_interval": 1, "wal_retrieve_retry_interval": "200ms"}
        return [Postgres().program, "-D", self.folder, *(f"--{name}={value}" for name, value in settings.items())]


class PostgresPair(Pair):
    server = PostgresServer

    def create(self):
        data = self.primary.folder
        data.mkdir(mode=0o700)
        give_away(data)
        Postgres().create(data, self.do)
        self.do([Postgres().program, "--single", "-F", "-D", data, "postgres"],
                f"CREATE ROLE {ADMINISTRATOR} LOGIN SUPERUSER PASSWORD '{PASSWORD}'\n")
        (data / "pg_hba.conf").write_text("host all,replication all 127.0.0.1/32 scram-sha-256\n")

    def do(self, command, text=""):
        subprocess.run([*unprivileged(self.primary.folder), *command], input=text, text=True, check=True, capture_output=True,
                       cwd=self.primary.folder)

    def follow(self):
        [copy] = find_programs("postgresql", "pg_basebackup")
        self.replica.folder.mkdir(mode=0o700)
        give_away(self.replica.folder)
        self.do([copy, "-D", self.replica.folder, "-R", "--checkpoint=fast", "--no-sync",
                 "-d", f"postgres://{ADMINISTRATOR}:{PASSWORD}@127.0.0.1:{self.primary.port}/?application_name=replica"])
        self.replica.start()
        wait_until(lambda: self.primary.run("SELECT state FROM pg_stat_replication") == "streaming", "the replica does not follow")

    def wait_for_replica(self):
        """From now on, a commit waits until the replica has it on disk."""
        self.primary.run("ALTER SYSTEM SET synchronous_standby_names = 'replica'")
        self.primary.run("SELECT pg_reload_conf()")
        wait_until(lambda: self.primary.run("SELECT sync_state FROM pg_stat_replication") == "sync", "replication is not synchronous")

    def demote(self):
        """The primary is alive, but read-only, and has sent everything."""
        self.make_read_only()
        there = self.primary.run("SELECT pg_current_wal_lsn()")
        wait_until(lambda: self.replica.run(f"SELECT pg_last_wal_replay_lsn() >= '{there}'") == "t", "the replica does not follow")

    def make_read_only(self):
        self.primary.run("ALTER SYSTEM SET default_transaction_read_only = on")
        self.primary.run("SELECT pg_reload_conf()")

    def make_writable(self):
        self.primary.run("ALTER SYSTEM RESET default_transaction_read_only")
        self.primary.run("SELECT pg_reload_conf()")

    def cut_off_replica(self):
        """Commits from now on are not replicated."""
        self.replica.run("ALTER SYSTEM SET primary_conninfo = 'host=127.0.0.1 port=1'")
        self.replica.run("SELECT pg_reload_conf()")
        wait_until(lambda: self.primary.run("SELECT count(*) FROM pg_stat_replication") == "0", "the replica is still connected")

    def replicated_keys(self):
        """When all is applied that the replica has received."""
        wait_until(lambda: self.replica.run("SELECT pg_last_wal_receive_lsn() IS NULL OR pg_last_wal_receive_lsn() = "
                                            "pg_last_wal_replay_lsn()") == "t", "the replica does not apply what it has")
        return self.replica.keys()

    def promote(self):
        self.replica.run("SELECT pg_promote(true, 30)")


class MariadbServer(Server):
    scheme = "mysql"

    def command(self):
        return without_syncs([Mariadb().program, "--no-defaults", f"--datadir={self.folder}", f"--tmpdir={self.folder}", *Mariadb.UTF8,
                              "--bind-address=127.0.0.1", f"--port={self.port}", "--skip-name-resolve", "--socket=pair.sock",
                              "--pid-file=pair.pid", "--innodb-buffer-pool-size=64M", "--innodb-flush-log-at-trx-commit=2",
                              "--log-bin=binlog", "--binlog-format=ROW", "--log-slave-updates", f"--server-id={self.port}",
                              f"--init-file={self.folder}.administrator.sql"])


class MariadbPair(Pair):
    server = MariadbServer

    def create(self):
        data = self.primary.folder
        data.mkdir(mode=0o700)
        give_away(data)
        Mariadb().create(data, lambda command: subprocess.run([*unprivileged(data), *command], check=True, capture_output=True, cwd=data))
        subprocess.run(["cp", "--archive", data, self.replica.folder], check=True)
        for server in (self.primary, self.replica):
            pathlib.Path(f"{server.folder}.administrator.sql").write_text(
                f"SET sql_log_bin = 0;\nCREATE USER IF NOT EXISTS {ADMINISTRATOR}@'%' IDENTIFIED BY '{PASSWORD}';\n"
                f"GRANT ALL ON *.* TO {ADMINISTRATOR}@'%';\n")

    def follow(self):
        self.replica.start()
        self.replica.run(f"SET GLOBAL read_only = 1; CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = {self.primary.port}, "
                         f"MASTER_USER = '{ADMINISTRATOR}', MASTER_PASSWORD = '{PASSWORD}', MASTER_USE_GTID = slave_pos; START SLAVE;")

    def demote(self):
        """The primary is alive, but read-only, and has sent everything."""
        self.primary.run("SET GLOBAL read_only = 1")
        there = self.primary.run("SELECT @@gtid_binlog_pos")
        self.replica.run(f"SELECT MASTER_GTID_WAIT('{there}', 60)")

    def replicated_keys(self):
        self.replica.run("STOP SLAVE IO_THREAD")
        wait_until(lambda: "Slave has read all relay log" in self.replica.run("SHOW PROCESSLIST"), "the replica does not apply what it has")
        return self.replica.keys()

    def promote(self):
        self.replica.run("STOP SLAVE; RESET SLAVE ALL; SET GLOBAL read_only = 0")
