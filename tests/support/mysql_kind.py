"""Real MySQL servers for servers.py. Debian 12 has none: TEST_PROGRAMS says where one is (tests/engines)."""
from mariadb_kind import Mariadb
from programs import DATABASE, MOST_CONNECTIONS, PASSWORD, USER, find_programs, without_syncs


class Mysql(Mariadb):
    package = "mysql-server-core"
    pid_file = "mysql.pid"

    def __init__(self):
        [self.program] = find_programs(self.package, "mysqld")

    def create(self, data, run):
        rights = data.with_name("rights.sql")
        rights.write_text(f"CREATE DATABASE {DATABASE};\n"
                          f"CREATE USER {USER}@'%' IDENTIFIED WITH mysql_native_password BY '{PASSWORD}';\n"
                          f"GRANT ALL ON {DATABASE}.* TO {USER}@'%';\n"
                          f"GRANT ALL ON `{DATABASE}\\_%`.* TO {USER}@'%';\n")
        rights.chmod(0o644)
        run(without_syncs([self.program, "--no-defaults", "--initialize-insecure", f"--datadir={data}", f"--init-file={rights}"]))

    def command(self, folder, port, memory, sync):
        command = [self.program, "--no-defaults", f"--datadir={folder}/data", *self.UTF8, "--bind-address=127.0.0.1", f"--port={port}",
                   "--mysqlx=OFF", "--skip-name-resolve", "--socket=mysql.sock", f"--pid-file={self.pid_file}",
                   f"--max-connections={MOST_CONNECTIONS}", f"--innodb-buffer-pool-size={memory}M"]
        lax = ["--innodb-flush-log-at-trx-commit=2", "--sync-binlog=0", "--innodb-flush-method=nosync", "--skip-log-bin"]
        return command if sync else without_syncs([*command, *lax])
