"""The measurements: a value for each contestant, work and round."""
import collections
import json

from harness.numbers import ratio, summary
from harness.problem import Problem

ENGINE, STORE_ALONE, LIMIT, LEASED = "EasyRetry", "store alone", "limit", "limit, one claim per batch"
OURS = (ENGINE, STORE_ALONE, LIMIT, LEASED)
QUANTILES = ("p50", "p99")


class Results:
    def __init__(self, rounds):
        self.rounds = rounds
        self.values = collections.defaultdict(lambda: [None] * rounds)  # (name, work, quantile or None)
        self.versions = {}
        self.left_out = {}
        self.failed = []

    def add(self, name, work, number, value, quantile=None):
        self.values[name, work, quantile][number] = value

    def add_all(self, name, work, number, figures):
        """A rate, or the quantiles of a delay, from a peer's line."""
        if "late_ms" in figures:
            for quantile in QUANTILES:
                self.add(name, work, number, figures["late_ms"][quantile], quantile)
        else:
            self.add(name, work, number, figures["per_s"])

    def names(self, work):
        found = {name for name, of, _ in self.values if of == work}
        return [name for name in dict.fromkeys((*OURS, *self.versions)) if name in found]

    def of(self, name, work, quantile=None):
        return summary(self.values.get((name, work, quantile), []))

    def ratio(self, work, other, quantile=None):
        """EasyRetry's figure divided by the other's."""
        return ratio(self.values.get((ENGINE, work, quantile), []), self.values.get((other, work, quantile), []))

    def complete(self):
        return not self.left_out and not self.failed


def read_line(output, work):
    """The last line of a peer's program. A cycle in which not every task failed once is no cycle."""
    lines = [line for line in output.splitlines() if line.startswith("{")]
    try:
        figures = json.loads(lines[-1])
    except (IndexError, json.JSONDecodeError):
        raise Problem(f"printed no figures: {output[-200:]!r}") from None
    if work == "cycle" and figures.get("failures", 0) < figures["tasks"]:
        raise Problem(f"only {figures.get('failures', 0)} of {figures['tasks']} tasks failed once")
    if "per_s" not in figures and "late_ms" not in figures:
        raise Problem(f"printed no figures: {lines[-1][:200]}")
    return figures
