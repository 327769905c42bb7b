"""The journals in which processes of tests/fault/kill_worker.cpp record what they do."""
import collections
import pathlib


def number_of(key):
    return int(key.removeprefix("task-"))


def attempts_wanted(number):
    """As in tests/fault/work.h."""
    return {0: 3, 1: 2}.get(number % 10, 1)


class Journals:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def events(self, kind):
        for journal in self.folder.iterdir():
            for line in journal.read_text().splitlines():
                what, *rest = line.split()
                if what == kind:
                    yield rest

    def acknowledged(self):
        return {key for key, in self.events("ack")}

    def in_doubt(self):
        return {key for key, in self.events("doubt")}

    def told(self):
        return collections.Counter(key for kind in ("success", "failure") for key, in self.events(kind))

    def starts(self):
        return collections.Counter(task for task, *_ in self.events("start"))

    def start_times(self):
        """In seconds since 1970."""
        return sorted(int(micros) / 1e6 for _, _, micros, _ in self.events("start"))

    def last_start(self):
        return max(self.start_times(), default=0)
