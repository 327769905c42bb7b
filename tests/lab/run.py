"""One run of the lab: a fleet, faults drawn from a seed, and the story of what happened."""
import random
import threading
import time

from faults import faults_of_members, faults_of_the_store
from fleet import Fleet, Network, now
from story import Story, row_of


class Lab:
    def __init__(self, store, worker, network, promise, seed, rate, folder):
        self.store, self.promise, self.seed, self.folder = store, promise, seed, folder
        self.network = Network(network, store.port, store.members) if store.port else None
        settings = {"EASYRETRY_LEASE": f"{promise.lease:g}s", "EASYRETRY_WINDOW": f"{promise.window:g}s", "EASYRETRY_WORKERS": str(24 // store.members),
                    "EASYRETRY_MAX_CRASHES": str(promise.max_crashes), "EASYRETRY_DRAIN": "10s"}
        self.fleet = Fleet(store, worker, self.network, settings, rate, folder)
        self.over = threading.Event()
        self.store_fault = threading.Lock()  # held while a fault of the store lasts, and while there must be none

    def run(self, seconds, quiet_seconds=3, before_the_faults=None, patience=240):
        """Returns the story, and when it began. Faults strike after a few quiet seconds, one at a member and one at the store at a time."""
        started = now()
        try:
            for place in range(self.store.members):
                self.fleet.start(place)
            threads = [threading.Thread(target=target, args=args) for target, args in (
                (self.keep_alive, ()), (self.strike, (faults_of_members, 6.0 / self.store.members)), (self.strike, (faults_of_the_store, 8.0)))]
            if before_the_faults:
                before_the_faults(self.store)
            self.over.wait(quiet_seconds)
            for thread in threads:
                thread.start()
            self.over.wait(seconds - quiet_seconds)
            self.over.set()
            for thread in threads:
                thread.join()
            rows = self.settle(patience)
        finally:
            self.over.set()
            self.fleet.end_at_once()
            if self.network:
                self.network.close()
        return self.story(rows), started

    def keep_alive(self):
        while not self.over.wait(0.1):
            self.fleet.revive()

    def strike(self, faults_of, between):
        """All kinds in turn, in an order of the seed, and then again in another."""
        dice = random.Random(f"{self.seed} {faults_of.__name__}")
        while not self.over.is_set():
            kinds = faults_of(self.store)
            dice.shuffle(kinds)
            for kind in kinds:
                if not self.over.wait(dice.uniform(0.2, between)):
                    kind(self, dice)

    def settle(self, limit):
        """After the last fault: until no task is live, or the limit. Returns the rows of the store at rest."""
        self.fleet.quiet()
        end = time.monotonic() + limit
        while True:
            self.revive_until_told(end)
            self.fleet.stop()
            rows = self.store.rows()
            if all(row["state"] == "finished" for row in rows) or time.monotonic() > end:
                return rows
            for place in range(self.store.members):
                self.fleet.start(place)

    def revive_until_told(self, end):
        """Until the owner of each acknowledged task was told, and a lease longer: tasks whose submission is in doubt run, too."""
        calm_since = None
        while time.monotonic() < end and not (calm_since and time.monotonic() - calm_since > self.promise.lease + self.promise.window):
            self.fleet.revive()
            story = self.story([])
            told = story.acked <= story.callbacks.keys()
            calm_since = (calm_since or time.monotonic()) if told else None
            time.sleep(0.5)

    def story(self, rows):
        story = Story(self.promise)
        story.faults, story.deaths = list(self.fleet.faults), dict(self.fleet.deaths)
        for path in sorted(self.folder.glob("journal-*")):
            with open(path) as lines:
                story.read_journal(path.name.removeprefix("journal-"), lines)
        story.finish()
        story.rows = [row_of(row) for row in rows]
        contested = story.contested()
        for row in story.rows:
            if row.task in contested and row.outcome == "succeeded":
                row.fence_of_result = self.store.result(row.task).get("result")
        return story
