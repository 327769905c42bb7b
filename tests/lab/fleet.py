"""The processes of the lab: members of a fleet that work on one store, each behind its own network, and the faults they suffer."""
import contextlib
import dataclasses
import os
import signal
import subprocess
import threading
import time

from story import Fault

NOT_REACHED = 75  # lab_worker.cpp: the store could not be reached or written to


def now():
    return time.monotonic_ns() // 1000


class Network:
    """A proxy for each member (lab_network.cpp)."""

    def __init__(self, program, port, members):
        self.process = subprocess.Popen([program, str(port), str(members)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ports = self.process.stdout.readline().split()
        self.lock = threading.Lock()

    def order(self, member, order):
        with self.lock:
            self.process.stdin.write(f"{member} {order}\n")
            self.process.stdin.flush()
            self.process.stdout.readline()

    def close(self):
        self.process.kill()
        self.process.wait()


@dataclasses.dataclass
class Member:
    place: int
    life: str
    process: subprocess.Popen
    started: int
    leaving: bool = False

    def order(self, text):
        with contextlib.suppress(BrokenPipeError):  # it has died, which the fleet notices
            self.process.stdin.write(text + "\n")
            self.process.stdin.flush()

    def close(self):
        with contextlib.suppress(BrokenPipeError):  # an order that it did not read
            self.process.stdin.close()


class Fleet:
    """Places for members. One that dies is replaced by a new life. For several threads; `lock` guards the lists."""

    def __init__(self, store, worker, network, settings, rate, folder):
        self.store, self.worker, self.network, self.settings, self.folder = store, worker, network, settings, folder
        self.rate = rate / store.members
        self.members, self.faults, self.deaths, self.unexpected = {}, [], {}, []
        self.turned_away = []  # life, start and end of processes that could not open the store
        self.lives = 0
        self.lock = threading.RLock()

    def journal(self, life):
        return self.folder / f"journal-{life}"

    def start(self, place):
        """A new life in this place. Each life is another machine to the others, or they would see at once that it is gone."""
        with self.lock:
            self.lives += 1
            life = f"{self.lives:03}"
            url = self.store.through(self.network.ports[place]) if self.network else self.store.url
            environment = {**os.environ, **self.store.environment(), **self.settings, "MACHINE_NAME": f"machine-{life}", "MACHINE_STEP": "600"}
            with open(self.folder / f"log-{life}", "w") as log:
                process = subprocess.Popen([self.worker, url, self.journal(life), life], env=environment,
                                           stdin=subprocess.PIPE, stderr=log, text=True, cwd=self.folder)
            member = self.members[place] = Member(place, life, process, now())
        member.order(f"rate {self.rate:.0f}")
        return member

    def revive(self):
        """Starts a new life in each place whose member has ended."""
        with self.lock:
            ended = [member for member in self.members.values() if member.process.poll() is not None]
            for member in ended:
                self.bury(member)
                del self.members[member.place]
                self.start(member.place)

    def bury(self, member):
        """Notes how it ended, if nothing that the lab did to it explains that."""
        code = member.process.returncode
        member.close()
        began = self.journal(member.life).exists() and self.journal(member.life).stat().st_size > 0
        killed = code == -signal.SIGKILL and (began or member.life in self.deaths)  # by the lab, or by a task
        if code != 0 and began:
            self.deaths.setdefault(member.life, now())
        if code == NOT_REACHED and not began:
            self.turned_away.append((member.life, member.started, now()))
        elif not killed and not (code == 0 and member.leaving):
            self.unexpected.append(f"the process of life {member.life} ended with {code}, see log-{member.life}")

    def surprises(self):
        """After the run: ends that nothing explains. That a store cannot be opened is explained by a fault in between."""
        explained = [fault for fault in self.faults if fault.hinders or fault.what == "cut"]
        return self.unexpected + [
            f"the process of life {life} could not open the store, and nothing was in its way, see log-{life}"
            for life, start, end in self.turned_away if not any(fault.start < end and fault.end > start for fault in explained)]

    def kill(self, member):
        with self.lock:
            self.deaths[member.life] = now()
        member.process.kill()
        member.process.wait()

    def leave(self, member):
        """It is asked to stop, and has stopped when this returns."""
        member.leaving = True
        member.process.send_signal(signal.SIGTERM)
        member.process.wait()

    def note(self, what, start, life="", **more):
        with self.lock:
            self.faults.append(Fault(what, start, now(), life, **more))

    def quiet(self):
        """Ends the submissions."""
        with self.lock:
            self.rate = 0
            for member in self.members.values():
                member.order("rate 0")

    def stop(self):
        """All members leave."""
        with self.lock:
            for member in self.members.values():
                member.leaving = True
                member.process.send_signal(signal.SIGTERM)
            for member in self.members.values():
                member.process.wait()
                self.bury(member)
            self.members.clear()

    def end_at_once(self):
        for member in self.members.values():
            member.process.kill()
            member.process.wait()
