"""PgBouncer in transaction mode: transactions of a client run in whatever session of the server is free."""
import subprocess

from processes import free_port, is_free, unprivileged, wait_until
from programs import PASSWORD, USER, find_programs

SESSIONS = 5  # fewer than an engine has connections, so that they take turns


class Pgbouncer:
    def __init__(self, server_port, folder):
        [program] = find_programs("pgbouncer", "pgbouncer")
        self.port = free_port((0,))
        place = folder / "pgbouncer"
        place.mkdir(exist_ok=True)
        place.chmod(0o777)
        (place / "users.txt").write_text(f'"{USER}" "{PASSWORD}"\n')
        (place / "pgbouncer.ini").write_text(
            f"[databases]\n* = host=127.0.0.1 port={server_port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {self.port}\n"
            f"auth_type = scram-sha-256\nauth_file = {place}/users.txt\npool_mode = transaction\ndefault_pool_size = {SESSIONS}\n"
            f"max_client_conn = 400\nunix_socket_dir =\nlogfile = {place}/log\n")
        self.process = subprocess.Popen([*unprivileged(place), program, "--quiet", place / "pgbouncer.ini"])
        wait_until(lambda: self.process.poll() is not None or not is_free(self.port), f"PgBouncer does not listen, see {place}/log")
        if self.process.poll() is not None:
            raise RuntimeError(f"PgBouncer ended, see {place}/log")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
