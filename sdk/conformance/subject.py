"""A running subject: the program of an SDK that the suite talks to."""
import json
import os
import signal
import subprocess
import threading

SETTINGS = {"CONCURRENCY": 4, "LEASE_MS": 6000, "WAIT_MS": 2000, "DRAIN_MS": 1000, "PAUSE_MS": 500, "TIMEOUT_MS": 5000}


class Subject:
    def __init__(self, command, url, token, folder, ca_file=None, **settings):
        """`settings` are those of the contract, in lower case: lease_ms=3000."""
        values = {**SETTINGS, **{name.upper(): value for name, value in settings.items()}}
        environment = {**os.environ, "EASYRETRY_URL": url, "EASYRETRY_TOKEN": token,
                       **{f"CONFORM_{name}": str(value) for name, value in values.items()}}
        environment.pop("EASYRETRY_CA_FILE", None)
        if ca_file:
            environment["EASYRETRY_CA_FILE"] = ca_file
        self.errors = os.path.join(folder, f"subject-{len(os.listdir(folder))}.stderr")
        with open(self.errors, "w") as errors:
            self.process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                                            text=True, start_new_session=True)
        self.lines, self.events, self.strays = [], [], []
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append(line)
            try:
                event = json.loads(line)
                event["event"]
            except (ValueError, KeyError, TypeError):
                self.strays.append(line)
            else:
                self.events.append(event)

    def seen(self, name, **fields):
        """The events of this name so far that have these fields."""
        return [event for event in list(self.events)
                if event["event"] == name and all(event.get(field) == value for field, value in fields.items())]

    def say(self, **command):
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()

    def ended(self, seconds=30):
        """The exit code; None if it is still running after this time."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        self.reader.join(seconds)
        return code

    def kill(self):
        """It and whatever it has started."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.reader.join(10)
        self.process.stdin.close()
        self.process.stdout.close()

    def said(self):
        """All that it has printed."""
        with open(self.errors, errors="replace") as errors:
            return "".join(self.lines) + errors.read()
