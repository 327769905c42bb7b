"""The events of a run of the lab: the journals of the processes, the faults, and the rows at the end.

Knows the format of the journals (lab_worker.cpp) and of the API's tasks, and nothing else of EasyRetry. Times are
microseconds of the machine's steady clock, except where a name says wall.
"""
import dataclasses
import json
import math

SECOND = 1_000_000


@dataclasses.dataclass
class Promise:
    """The settings of the fleet, and the times that follow from them (docs/cluster.md)."""
    lease: float = 3.0  # seconds, like all of these
    window: float = 1.0
    max_attempts: int = 3
    max_crashes: int = 3
    back: float = 5.0  # after the store is back, tasks run within this time, which depends on the store (stores.py)
    patience: float = 2.0  # later than this after a promised time is a violation

    @property
    def recovery(self):
        """From the death of a process until its running tasks start again."""
        return self.lease + self.window / 2


@dataclasses.dataclass
class Execution:
    life: str
    key: str
    task: str
    fence: int
    start: int
    wall: int
    due: int  # by the wall clock
    crashes: int  # that the task was charged with before
    end: float = math.inf  # of it or, if it did not return, of its process
    answer: str = ""  # ok or failed; empty if it did not return


@dataclasses.dataclass
class Callback:
    key: str
    task: str
    fence: int
    what: str  # success or failure


@dataclasses.dataclass
class Fault:
    """`life` is empty for a fault of the store. `hinders`: while it lasted, leases could not be renewed; only those of `tasks`, if it
    names some."""
    what: str
    start: int
    end: int
    life: str = ""
    hinders: bool = False
    tasks: frozenset = frozenset()

    def keeps(self, life, task):
        """Whether it kept this process from renewing the lease of this task."""
        return self.hinders and self.life in ("", life) and (not self.tasks or task in self.tasks)


@dataclasses.dataclass
class Row:
    key: str
    task: str
    state: str
    outcome: str
    attempts: int
    crashes: int
    deliveries: int
    version: int
    fence_of_result: int | None = None  # known for tasks that several executions may have ended


class Story:
    def __init__(self, promise=None):
        self.promise = promise or Promise()
        self.sent, self.acked, self.doubted, self.refused = set(), set(), set(), set()
        self.executions = {}  # by task, in the order of their fences
        self.callbacks = {}  # by key
        self.ends = []  # when executions returned
        self.born, self.left = {}, {}  # by life: when
        self.faults = []
        self.deaths = {}  # of lives that were killed: when
        self.rows = []

    def read_journal(self, life, lines):
        """Reads what one process wrote. A line that a kill cut short is left out."""
        for line in lines:
            words = line.split()
            if line.endswith("\n") and len(words) > 1:
                getattr(self, "_" + words[0], self._ignored)(life, int(words[1]), *words[2:])

    def finish(self):
        """After all journals: what did not return ended with its process."""
        for runs in self.executions.values():
            runs.sort(key=lambda run: (run.fence, run.start))
            for run in runs:
                if not run.answer:
                    run.end = self.deaths.get(run.life, math.inf)
        return self

    def _ignored(self, *_):
        pass

    def _born(self, life, at, *_):
        self.born[life] = at

    def _left(self, life, at):
        self.left[life] = at

    def _sent(self, _, __, key):
        self.sent.add(key)

    def _ack(self, _, __, key, task):
        self.acked.add(key)

    def _doubt(self, _, __, key):
        self.doubted.add(key)

    def _refused(self, _, __, key):
        self.refused.add(key)

    def _start(self, life, at, key, task, fence, wall, due, _, crashes):
        self.executions.setdefault(task, []).append(Execution(life, key, task, int(fence), at, int(wall), int(due), int(crashes)))

    def _end(self, life, at, key, task, fence, answer):
        self.ends.append(at)
        for run in reversed(self.executions.get(task, [])):
            if run.life == life and run.fence == int(fence) and not run.answer:
                run.end, run.answer = at, answer
                return

    def _success(self, _, __, key, task, fence):
        self.callbacks.setdefault(key, []).append(Callback(key, task, int(fence), "success"))

    def _failure(self, _, __, key, task, fence, *___):
        self.callbacks.setdefault(key, []).append(Callback(key, task, int(fence), "failure"))

    def _starved(self, life, at, since):
        self.faults.append(Fault("starved", int(since), at, life, hinders=True))

    def hindrances(self, run):
        """Times in which the lease of this execution could not be renewed. Gaps of less than a third of a lease belong to them."""
        gap = self.promise.lease * SECOND / 3
        merged = []
        for fault in sorted((f for f in self.faults if f.keeps(run.life, run.task)), key=lambda f: f.start):
            if merged and fault.start - merged[-1][1] <= gap:
                merged[-1][1] = max(merged[-1][1], fault.end)
            else:
                merged.append([fault.start, fault.end])
        return merged

    def without_members(self):
        """Times in which no process was there to run tasks, after the first had begun."""
        absent, alive_until = [], None
        for life, born in sorted(self.born.items(), key=lambda one: one[1]):
            if alive_until is not None and born > alive_until:
                absent.append((alive_until, born))
            end = min(self.deaths.get(life, math.inf), self.left.get(life, math.inf))
            alive_until = end if alive_until is None else max(alive_until, end)
        return absent

    def without_work(self):
        """Times in which no process could work, after the first had begun: each was gone, or kept from it by a fault of its own."""
        free = []
        for life, born in self.born.items():
            at, end = born, min(self.deaths.get(life, math.inf), self.left.get(life, math.inf))
            for fault in sorted((f for f in self.faults if f.hinders and f.life == life), key=lambda f: f.start):
                free.append((at, fault.start))
                at = max(at, fault.end)
            free.append((at, end))
        kept, free_until = [], None
        for start, end in sorted(one for one in free if one[0] < one[1]):
            if free_until is not None and start > free_until:
                kept.append((free_until, start))
            free_until = max(free_until or 0, end)
        return kept

    def may_be_unsettled(self, run):
        """Whether the store may not know how this execution ended: its process died, or was kept from the store, in it or soon after."""
        soon = run.end + self.promise.lease * SECOND
        return (not run.answer or run.start < self.deaths.get(run.life, -1) < soon
                or any(start < soon and end > run.start for start, end in self.hindrances(run)))

    def all_runs(self):
        return (run for runs in self.executions.values() for run in runs)

    def contested(self):
        """Tasks for which an execution returned although a later claim of the task was there by then."""
        return {task for task, runs in self.executions.items()
                if any(run.answer and run.end > later.start for i, run in enumerate(runs) for later in runs[i + 1:])}


def row_of(task):
    """A row from a task as the API and the command line show it."""
    return Row(task["key"], task["id"], task["state"], task.get("outcome", ""), task["attempts"], task["crashes"], task["deliveries"],
               task["version"], json.loads(task["result"]) if isinstance(task.get("result"), str) else task.get("result"))
