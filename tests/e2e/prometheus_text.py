"""Reads the Prometheus text format 0.0.4, more strictly than Prometheus does: everything that `promtool check metrics`
complains about is an error here, too."""
import math
import re

SAMPLE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(?:,|$)')
PARTS = ("_bucket", "_sum", "_count")


class Family:
    def __init__(self, name, help_text):
        self.name = name
        self.help = help_text
        self.kind = None
        self.samples = {}  # {(name, ((label, value), …)): number}

    def labels(self):
        """The different sets of label names of its samples."""
        return {frozenset(label for label, _ in labels if label != "le") for _, labels in self.samples}

    def value(self, suffix="", **labels):
        return self.samples[(self.name + suffix, tuple(sorted(labels.items())))]


def parse(text):
    """{name: Family}. Raises ValueError for anything that is wrong."""
    if not text.endswith("\n"):
        raise ValueError("the last line has no end")
    families = {}
    family = None
    for line in text.splitlines():
        if line.startswith("# HELP "):
            _, _, name, help_text = line.split(" ", 3)
            if name in families:
                raise ValueError(f"{name} comes twice")
            family = families[name] = Family(name, help_text)
        elif line.startswith("# TYPE "):
            _, _, name, family.kind = line.split(" ")
            if name != family.name or family.samples:
                raise ValueError(f"out of order: {line}")
        else:
            add_sample(family, line)
    for family in families.values():
        check(family)
    return families


def add_sample(family, line):
    found = SAMPLE.fullmatch(line)
    if not found:
        raise ValueError(f"no sample: {line}")
    name, labels, value = found.groups()
    wanted = [family.name + part for part in PARTS] if family.kind == "histogram" else [family.name]
    if name not in wanted:
        raise ValueError(f"{line} is under {family.name}")
    series = (name, tuple(sorted(labels_of(labels or ""))))
    if series in family.samples:
        raise ValueError(f"twice: {line}")
    family.samples[series] = float(value)


def labels_of(text):
    at = 0
    while at < len(text):
        found = LABEL.match(text, at)
        if not found:
            raise ValueError(f"no labels: {text}")
        yield found.group(1), re.sub(r"\\(.)", lambda escape: {"n": "\n"}.get(escape[1], escape[1]), found.group(2))
        at = found.end()


def check(family):
    if not family.help or family.kind not in ("counter", "gauge", "histogram"):
        raise ValueError(f"{family.name} has no meaning, or no kind")
    if (family.kind == "counter") != family.name.endswith("_total") or family.name.endswith(PARTS):
        raise ValueError(f"{family.name} is no name for a {family.kind}")
    if family.kind != "gauge" and min(family.samples.values(), default=0) < 0:
        raise ValueError(f"{family.name} is negative")
    if family.kind == "histogram":
        check_histogram(family)


def check_histogram(family):
    buckets = {}
    for (name, labels), value in family.samples.items():
        if name.endswith("_bucket"):
            bound = float(dict(labels)["le"])
            buckets.setdefault(tuple(pair for pair in labels if pair[0] != "le"), []).append((bound, value))
    counts = {labels: value for (name, labels), value in family.samples.items() if name.endswith("_count")}
    sums = {labels for name, labels in family.samples if name.endswith("_sum")}
    if not buckets.keys() == counts.keys() == sums:
        raise ValueError(f"{family.name} lacks buckets, counts or sums")
    for labels, pairs in buckets.items():
        if pairs != sorted(pairs) or [value for _, value in pairs] != sorted(value for _, value in pairs):
            raise ValueError(f"{family.name}: buckets do not ascend: {pairs}")
        if pairs[-1] != (math.inf, counts[labels]):
            raise ValueError(f"{family.name}: the last bucket is not all: {pairs[-1]}")
