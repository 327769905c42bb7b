"""The rounds: everybody in turns, in each round in another order, each beginning with an empty store."""
import json
import os
import sys

from harness.peers import DELAYS, RATES, delay_tasks
from harness.problem import LeftOut, Problem
from harness.results import ENGINE, LEASED, LIMIT, STORE_ALONE, read_line

PATIENCE = 900  # seconds for one run
KEYS = {"enqueue": "enqueue_batch_per_s", "drain": "drain_per_s", "cycle": "cycle_per_s"}  # of easyretry bench
LIMIT_BATCH, LIMIT_THREADS = 2000, 2


def say(text):
    print(text, file=sys.stderr, flush=True)


class Rounds:
    def __init__(self, options, store, installer, children, results):
        self.options, self.store, self.installer, self.children, self.results = options, store, installer, children, results
        self.commands = {}

    def prepare(self):
        """Installs everything before the first measurement, and says at once who takes no part."""
        for peer in self.options.peers:
            say(f"installing {peer.name}…")
            try:
                self.commands[peer] = self.installer.command(peer, self.options.store)
            except LeftOut as why:
                self.results.left_out[peer.name] = str(why)
                say(f"left out: {peer.name}, {why}")
        self.limit_program = self.installer.limit(self.options.store)
        self.results.versions |= {peer.name: "?" for peer in self.commands}

    def run(self):
        for number in range(self.options.rounds):
            runs = [*self.rate_runs(), *self.delay_runs()]
            turn = number * len(runs) // self.options.rounds
            for name, work, action in runs[turn:] + runs[:turn]:
                say(f"round {number + 1} of {self.options.rounds}: {name}, {work}")
                try:
                    action(number)
                except Problem as problem:
                    self.results.failed.append(f"{name}, {work}, round {number + 1}: {problem}")
                    say(f"failed: {self.results.failed[-1]}")

    def rate_runs(self):
        """Ours once a round, because `easyretry bench` measures all rates in one run."""
        works = [work for work in RATES if work in self.options.works]
        if not works:
            return
        yield ENGINE, "rates", self.measure_ours
        yield LIMIT, "rates", self.measure_limit
        yield from self.peer_runs(works)

    def delay_runs(self):
        works = [work for work in DELAYS if work in self.options.works]
        if not works:
            return
        yield ENGINE, "delays", self.measure_our_delays
        yield from self.peer_runs(works)

    def peer_runs(self, works):
        for work in works:
            for peer in self.commands:
                if work in peer.works:
                    yield peer.name, work, lambda number, peer=peer, work=work: self.measure_peer(peer, work, number)

    # --- One run ------------------------------------------------------------------------------------------------------------------

    def bench(self, *words):
        url = self.store.ours(self.store.fresh())
        command = [self.options.program, "bench", "--store", url, "--workers", "4", "--json", *words]
        return json.loads(self.children.run(command, PATIENCE))

    def measure_ours(self, number):
        submitters = "1" if self.options.store == "sqlite" else "2"
        cycle = ["--fail-first"] if "cycle" in self.options.works else []
        figures = self.bench("--tasks", self.options.tasks, "--submitters", submitters, "--raw", *cycle)
        for work in RATES:
            if work in self.options.works:
                self.results.add(ENGINE, work, number, figures[KEYS[work]])
                self.results.add(STORE_ALONE, work, number, figures["raw"][KEYS[work]])

    def measure_our_delays(self, number):
        if "lateness" in self.options.works:
            figures = self.bench("--tasks", self.delay_tasks("lateness"), "--due-over", self.options.due_over)
            self.results.add_all(ENGINE, "lateness", number, {"late_ms": figures["lateness_ms"]})
        # On a server, bench submits by another engine than the one that runs the tasks.
        work = "latency-own" if self.options.store == "sqlite" else "latency-other"
        if work in self.options.works:
            figures = self.bench("--tasks", self.delay_tasks(work), "--submit-rate", self.options.rate)
            self.results.add_all(ENGINE, work, number, {"late_ms": figures["submit_to_start_ms"]})

    def delay_tasks(self, work):
        return delay_tasks(work, self.options.tasks, self.options.rate, self.options.due_over)

    def measure_limit(self, number):
        target = self.store.fresh().removeprefix("sqlite:")
        threads = 1 if self.options.store == "sqlite" else LIMIT_THREADS
        command = [self.limit_program, target, self.options.tasks, LIMIT_BATCH, threads]
        figures = json.loads(self.children.run(command, PATIENCE))
        for work in RATES:
            if work in self.options.works:
                self.results.add(LIMIT, work, number, figures[f"{work}_per_s"])
        if "drain" in self.options.works:
            self.results.add(LEASED, "drain", number, figures["drain_leased_per_s"])

    def measure_peer(self, peer, work, number):
        settings = peer.settings(work, self.options.tasks, self.options.rate, self.options.due_over)
        environment = os.environ | {"STORE_URL": self.store.fresh()}
        output = self.children.run([*self.commands[peer], work, *settings], PATIENCE, env=environment)
        figures = read_line(output, work)
        self.results.versions[peer.name] = figures["version"]
        self.results.add_all(peer.name, work, number, figures)
