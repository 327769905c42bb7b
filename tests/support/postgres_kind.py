"""Real PostgreSQL servers for servers.py."""
import contextlib
import signal

from programs import DATABASE, MOST_CONNECTIONS, PASSWORD, USER, find_programs


class Postgres:
    url = f"postgres://{USER}:{PASSWORD}@127.0.0.1:{{port}}/{DATABASE}"
    ports = (0,)  # the ports it uses, as offsets from its main port
    package = "postgresql"
    pid_file = "postmaster.pid"
    clean_stop = signal.SIGINT  # SIGTERM would wait for the clients to leave

    def __init__(self):
        self.initdb, self.program = find_programs(self.package, "initdb", "postgres")

    def create(self, data, run):
        run([self.initdb, "--pgdata", data, "--username", "postgres", "--auth", "reject", "--encoding", "UTF8",
             "--locale", "C.UTF-8", "--no-sync"])
        (data / "pg_hba.conf").write_text(f"host all {USER} 127.0.0.1/32 scram-sha-256\n")
        scram = ["-c", "password_encryption=scram-sha-256"]  # the default since version 14
        run([self.program, "--single", "-F", *scram, "-D", data, "postgres"],
            f"CREATE ROLE {USER} LOGIN CREATEDB PASSWORD '{PASSWORD}'\nCREATE DATABASE {DATABASE} OWNER {USER}\n")

    def command(self, folder, port, memory, sync):
        settings = {
            "listen_addresses": "127.0.0.1", "port": port, "unix_socket_directories": "",
            "max_connections": MOST_CONNECTIONS, "shared_buffers": f"{memory}MB",
            "dynamic_shared_memory_type": "mmap",  # files in the folder, so that a crash leaks nothing
            "ssl": "on", "ssl_cert_file": folder / "tls/server.crt", "ssl_key_file": folder / "tls/server.key",
        }
        if not sync:
            settings |= {"fsync": "off", "full_page_writes": "off"}
        return [self.program, "-D", folder / "data", *(f"--{name}={value}" for name, value in settings.items())]

    def answers(self, folder, _):
        with contextlib.suppress(FileNotFoundError):
            return (folder / "data" / self.pid_file).read_text().split("\n")[7:8] == ["ready   "]
        return False
