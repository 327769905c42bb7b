"""Real MariaDB servers for servers.py."""
import contextlib
import pathlib
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
    # The remaining syncs, a dozen for each new table, cannot be switched off.
    NO_SYNC = ["--innodb-flush-method=nosync", "--innodb-flush-log-at-trx-commit=2", "--sync-frm=0"]

    def __init__(self):
        self.program, self.install, _ = find_programs(self.package, "mariadbd", "mariadb-install-db", "my_print_defaults")
        base = pathlib.Path(self.program).parents[1]
        self.base = [] if base == pathlib.Path("/usr") else [f"--basedir={base}"]  # where a version of its own has its messages

    def create(self, data, run):
        rights = data.with_name("rights.sql")
        rights.write_text("FLUSH PRIVILEGES;\n"  # before this, the bootstrap server has no privileges loaded
                          f"CREATE DATABASE {DATABASE};\n"
                          f"CREATE USER {USER}@'%' IDENTIFIED BY '{PASSWORD}';\n"
                          f"GRANT ALL ON {DATABASE}.* TO {USER}@'%';\n"
                          f"GRANT ALL ON `{DATABASE}\\_%`.* TO {USER}@'%';\n")
        run(without_syncs([self.install, "--no-defaults", *self.base, f"--datadir={data}", f"--tmpdir={data}", "--skip-test-db",
                           f"--extra-file={rights}", *self.UTF8, *self.NO_SYNC]))

    def command(self, folder, port, memory, sync):
        command = [self.program, "--no-defaults", *self.base, f"--datadir={folder}/data", *self.UTF8,
                   f"--tmpdir={folder}/data",  # in a shared tmpdir, a starting server would delete the temporary tables of others
                   "--bind-address=127.0.0.1", f"--port={port}", "--skip-name-resolve",
                   "--socket=mariadb.sock",  # relative to the data folder: an absolute path can be too long for a socket
                   f"--pid-file={self.pid_file}",
                   f"--max-connections={MOST_CONNECTIONS}", f"--innodb-buffer-pool-size={memory}M",
                   f"--ssl-ca={folder}/tls/ca.crt", f"--ssl-cert={folder}/tls/server.crt",
                   f"--ssl-key={folder}/tls/server.key"]
        return command if sync else without_syncs([*command, *self.NO_SYNC])

    def answers(self, _, port):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as client:
            return len(client.recv(1)) == 1  # the server speaks first
        return False
