"""Real Redis servers for servers.py."""
import contextlib
import signal
import socket

from programs import MOST_CONNECTIONS, PASSWORD, PATIENCE, USER, find_programs


class Redis:
    url = f"redis://{USER}:{PASSWORD}@127.0.0.1:{{port}}/0"
    ports = (0,)
    package = "redis-server"
    pid_file = "redis.pid"
    clean_stop = signal.SIGTERM

    def __init__(self):
        [self.program] = find_programs(self.package, "redis-server")

    def create(self, data, run):
        pass

    def command(self, folder, port, memory, sync):
        data = folder / "data"
        return [self.program, *common_options(data, port, sync), "--pidfile", data / self.pid_file, "--databases", "10000"]

    def answers(self, _, port):
        with contextlib.suppress(OSError):
            return ask(port, "PING") == "PONG"  # else it says that it is still loading
        return False


def common_options(data, port, sync):
    return ["--bind", "127.0.0.1", "--port", str(port), "--dir", str(data), "--maxclients", str(MOST_CONNECTIONS),
            "--save", "", "--appendonly", "yes", "--appendfsync", "always" if sync else "everysec",
            "--user", USER, "on", ">" + PASSWORD, "~*", "&*", "+@all"]


def ask(port, command):
    """The answer of a server as text. Errors begin with a minus sign."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as client:
        client.sendall(f"AUTH {USER} {PASSWORD}\r\n{command}\r\n".encode())
        answers = client.makefile(newline="\r\n")
        if answers.readline() != "+OK\r\n":
            raise OSError("it does not know us")
        first = answers.readline().rstrip("\r\n")
        return answers.read(int(first[1:])) if first.startswith("$") else first.removeprefix("+")
