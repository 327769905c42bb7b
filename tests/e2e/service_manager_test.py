"""easyretry serve beneath a service manager: it says when it is ready, a watchdog notices that it hangs, and a passed socket outlives it.
Also easyretry health. Usage: service_manager_test.py EASYRETRY_PROGRAM SERVERS_PY

The test is the service manager: it speaks the protocols of systemd, sd_notify(3) and sd_listen_fds(3)."""
import ctypes
import http.client
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

from daemon_case import PROGRAM
from waiting import until

SERVERS = os.path.abspath(sys.argv.pop(1))
WATCHDOG = 2.0  # seconds
PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH = 0x4206, 0x4207, 17
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


class Managed(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.notified = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.notified.close)
        self.notified.bind(str(self.folder / "notify"))

    def start(self, *arguments, passed=(), store="sqlite:retry.db", to="$$", **environment):
        """A daemon. Sockets that are passed become descriptors 3, 4 and so on, for the process `to`: itself."""
        script = f"export LISTEN_PID={to}; "
        for number, one in enumerate(passed, start=3):
            os.set_inheritable(one.fileno(), True)
            script += f"exec {number}<&{one.fileno()}; "
        if passed:
            environment["LISTEN_FDS"] = str(len(passed))
        with open(self.folder / "log", "w") as log:
            daemon = subprocess.Popen(
                ["sh", "-c", script + 'exec "$@"', "sh", PROGRAM, "serve", "--store", store, *arguments], cwd=self.folder,
                stdout=subprocess.PIPE, stderr=log, text=True, pass_fds=[one.fileno() for one in passed],
                env={**os.environ, "NOTIFY_SOCKET": str(self.folder / "notify"), **environment})
        self.addCleanup(daemon.stdout.close)
        self.addCleanup(daemon.wait)
        self.addCleanup(lambda: daemon.poll() is None and daemon.kill())
        return daemon

    def address_of(self, daemon):
        line = next((line for line in daemon.stdout if " serves " in line), None)
        self.assertIsNotNone(line, (self.folder / "log").read_text())
        return line.split()[-1]

    def next_state(self, within=60):
        self.notified.settimeout(within)
        return self.notified.recv(1000).decode()

    def refusal(self, **more):
        daemon = self.start(**more)
        self.assertEqual(daemon.wait(timeout=60), 1)
        return (self.folder / "log").read_text()


class Notified(Managed):
    def test_of_its_start_a_reload_and_its_end(self):
        daemon = self.start("--listen", "127.0.0.1:0")
        self.assertEqual(self.next_state(), "READY=1")
        daemon.send_signal(signal.SIGHUP)
        self.assertEqual([self.next_state(), self.next_state()], ["RELOADING=1", "READY=1"])
        daemon.terminate()
        self.assertEqual(self.next_state(), "STOPPING=1")
        self.assertEqual(daemon.wait(timeout=60), 0)


class Watchdog(Managed):
    def watched(self, **more):
        daemon = self.start("--listen", "127.0.0.1:0", WATCHDOG_USEC=str(int(WATCHDOG * 1e6)), **more)
        self.assertEqual(self.next_state(), "READY=1")
        return daemon

    def stop_thread(self, daemon, name):
        """Stops one thread, as a deadlock would. Returns its number, for PTRACE_DETACH."""
        threads = pathlib.Path(f"/proc/{daemon.pid}/task")
        [thread] = [int(one.name) for one in threads.iterdir() if (one / "comm").read_text().strip() == name]
        self.trace(PTRACE_SEIZE, thread)
        self.addCleanup(LIBC.ptrace, PTRACE_DETACH, thread, None, None)  # a process with a traced thread does not end
        self.trace(PTRACE_INTERRUPT, thread)
        until(lambda: (threads / str(thread) / "stat").read_text().rpartition(")")[2].split()[0] == "t")
        return thread

    def trace(self, request, thread):
        self.assertEqual(LIBC.ptrace(request, thread, None, None), 0, os.strerror(ctypes.get_errno()))

    def test_hears_from_a_daemon_that_responds(self):
        daemon = self.watched()
        for _ in range(5):
            self.assertEqual(self.next_state(), "WATCHDOG=1")
        daemon.terminate()
        until(lambda: self.next_state() == "STOPPING=1")
        self.assertEqual(daemon.wait(timeout=60), 0)

    def test_hears_nothing_from_a_daemon_whose_thread_for_connections_hangs_until_it_goes_on(self):
        daemon = self.watched()
        self.assertEqual(self.next_state(), "WATCHDOG=1")
        thread = self.stop_thread(daemon, "er-http")
        with self.assertRaises(TimeoutError):
            for _ in range(20):  # some were sent before the thread was stopped
                self.next_state(within=2 * WATCHDOG)
        self.trace(PTRACE_DETACH, thread)
        self.assertEqual(self.next_state(), "WATCHDOG=1")

    def test_of_another_process_hears_nothing(self):
        daemon = self.watched(WATCHDOG_PID="1")
        daemon.send_signal(signal.SIGHUP)
        self.assertEqual([self.next_state(), self.next_state()], ["RELOADING=1", "READY=1"])
        with self.assertRaises(TimeoutError):
            self.next_state(within=WATCHDOG)


class PassedSocket(Managed):
    def setUp(self):
        super().setUp()
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(self.socket.close)
        self.address = "127.0.0.1:" + str(self.socket.getsockname()[1])

    def test_is_listened_on_instead_of_the_configured_address(self):
        daemon = self.start(passed=[self.socket], EASYRETRY_SERVER_LISTEN="127.0.0.1:1")
        self.assertEqual(self.address_of(daemon), f"http://{self.address}")
        daemon.send_signal(signal.SIGHUP)
        until(lambda: self.next_state() == "RELOADING=1")
        self.assertEqual(self.next_state(), "READY=1")
        self.assertNotIn("needs a restart", (self.folder / "log").read_text())

    def test_keeps_a_connection_that_comes_while_the_daemon_restarts(self):
        first = self.start(passed=[self.socket])
        self.address_of(first)
        first.terminate()
        self.assertEqual(first.wait(timeout=60), 0)
        client = http.client.HTTPConnection(self.address, timeout=60)
        self.addCleanup(client.close)
        client.request("GET", "/readyz")
        self.address_of(self.start(passed=[self.socket]))
        self.assertEqual(client.getresponse().status, 200)

    def test_that_others_can_reach_is_refused_without_tls_like_an_address_in_the_configuration(self):
        with socket.create_server(("0.0.0.0", 0)) as reachable:
            said = self.refusal(passed=[reachable])
        self.assertIn("ListenStream= of the .socket unit is 0.0.0.0:", said)
        self.assertIn("tokens must not be sent unencrypted", said)

    def test_is_refused_if_it_is_not_one_for_connections_or_not_the_only_one(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams, socket.socket(socket.AF_INET) as silent:
            for wrong in (datagrams, silent):
                self.assertIn("write ListenStream= with an address and a port", self.refusal(passed=[wrong]))
        self.assertIn("2 sockets were passed (LISTEN_FDS), and the daemon listens on one", self.refusal(passed=[self.socket, self.socket]))

    def test_and_another_address_on_the_command_line_are_refused(self):
        daemon = self.start("--listen", "127.0.0.1:0", passed=[self.socket])
        self.assertEqual(daemon.wait(timeout=60), 1)
        self.assertIn(f"listens on {self.address}; leave out --listen", (self.folder / "log").read_text())

    def test_of_another_process_is_ignored(self):
        address = self.address_of(self.start("--listen", "127.0.0.1:0", passed=[self.socket], to="1"))
        self.assertNotEqual(address, f"http://{self.address}")


class Health(Managed):
    def health(self, *arguments):
        environment = {name: value for name, value in os.environ.items() if name != "EASYRETRY_TOKEN"}
        return subprocess.run([PROGRAM, "health", *arguments], capture_output=True, text=True, timeout=60, check=False, env=environment)

    @staticmethod
    def servers(*words):
        return subprocess.run([sys.executable, SERVERS, *words], check=True, capture_output=True, text=True).stdout.strip()

    def test_of_a_daemon_is_known_without_a_token(self):
        address = self.address_of(self.start("--listen", "127.0.0.1:0"))
        asked = self.health("--server", address)
        self.assertEqual((asked.returncode, asked.stdout, asked.stderr), (0, f"{address} is ready\n", ""))

    def test_is_bad_where_no_daemon_answers(self):
        with socket.create_server(("127.0.0.1", 0)) as closed:
            port = closed.getsockname()[1]
        asked = self.health("--server", f"http://127.0.0.1:{port}")
        self.assertEqual(asked.returncode, 1)
        self.assertIn("no daemon answers", asked.stderr)

    def test_is_bad_while_the_store_does_not_answer(self):
        place = str(self.folder / "redis")
        store = self.servers("start", "redis", "--folder", place, "--no-sync")
        self.addCleanup(self.servers, "remove", "--folder", place)
        address = self.address_of(self.start("--listen", "127.0.0.1:0", store=store))
        self.assertEqual(self.health("--server", address).returncode, 0)
        self.servers("kill", "--folder", place)
        asked = until(lambda: (one := self.health("--server", address)).returncode == 1 and one)
        self.assertIn(f"the daemon at {address} is not ready: ", asked.stderr)

    def test_of_a_wrong_address_is_refused_with_the_option(self):
        self.assertIn("--server", self.health("--server", "nonsense").stderr)
        self.assertEqual(self.health("--server", "nonsense").returncode, 1)


if __name__ == "__main__":
    unittest.main()
