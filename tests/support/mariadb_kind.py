"""Real MariaDB servers for servers.py."""
import contextlib
import signal
import socket

from programs import DATABASE, MOST_CONNECTIONS, PASSWORD, PATIENCE, USER, find_programs, without_syncs


class Mariadb:
    url = f"mysql://{USER}:{PASSWORD}@127.0.0.1:{{port}}/{DATABASE}"
    ports = (0,)
    package = "mariadb-server-core mariadb-client-core"
    pid_file = "mariadb.pid"
    clean_stop = signal.SIGTERM
    UTF8 = ["--character-set-server=utf8mb4", "--collation-server=utf8mb4_general_ci"]
    # What is left, a dozen syncs for each table that is made, cannot be switched off.
    NO_SYNC = ["--innodb-flush-method=nosync", "--innodb-flush-log-at-trx-commit=2", "--sync-frm=0"]

    def __init__(self):
        self.program, self.install, _ = find_programs(self.package, "mariadbd", "mariadb-install-db", "my_print_defaults")

    def create(self, data, run):
        rights = data.with_name("rights.sql")
        rights.write_text("FLUSH PRIVILEGES;\n"  # the bootstrap has none before
                          f"CREATE DATABASE {DATABASE};\n"
                          f"CREATE USER {USER}@'%' IDENTIFIED BY '{PASSWORD}';\n"
                          f"GRANT ALL ON {DATABASE}.* TO {USER}@'%';\n"
                          f"GRANT ALL ON `{DATABASE}\\_%`.* TO {USER}@'%';\n")
        run(without_syncs([self.install, "--no-defaults", f"--datadir={data}", f"--tmpdir={data}", "--skip-test-db",
                           f"--extra-file={rights}", *self.UTF8, *self.NO_SYNC]))

    def command(self, folder, port, memory, sync):
        command = [self.program, "--no-defaults", f"--datadir={folder}/data", *self.UTF8,
                   f"--tmpdir={folder}/data",  # a server that starts removes the temporary tables of others from a shared one
                   "--bind-address=127.0.0.1", f"--port={port}", "--skip-name-resolve",
                   "--socket=mariadb.sock",  # relative to the data folder: a whole path can be longer than sockets allow
                   f"--pid-file={self.pid_file}",
                   f"--max-connections={MOST_CONNECTIONS}", f"--innodb-buffer-pool-size={memory}M",
                   f"--ssl-ca={folder}/tls/ca.crt", f"--ssl-cert={folder}/tls/server.crt",
                   f"--ssl-key={folder}/tls/server.key"]
        return command if sync else without_syncs([*command, *self.NO_SYNC])

    def answers(self, _, port):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as client:
            return len(client.recv(1)) == 1  # it speaks first
        return False
