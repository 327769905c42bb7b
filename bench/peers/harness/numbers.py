"""Medians, ranges and ratios of the rounds."""
import dataclasses
import statistics


@dataclasses.dataclass(frozen=True)
class Range:
    median: float
    least: float
    most: float
    rounds: int


def summary(values):
    """None without values: a figure that is missing must not look like zero."""
    known = [value for value in values if value is not None]
    return Range(statistics.median(known), min(known), max(known), len(known)) if known else None


def ratio(ours, theirs):
    """Of each round by itself, because a machine's mood changes between rounds and ours and theirs share it within one."""
    pairs = [(a, b) for a, b in zip(ours, theirs) if a is not None and b]
    return summary([a / b for a, b in pairs])


def short(value):
    """Three digits, and commas: 81,200; 4.56; 0.871."""
    if value >= 1000:
        digits = max(0, len(str(int(value))) - 3)
        return f"{round(value / 10 ** digits) * 10 ** digits:,}"
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def show(found, unit=""):
    """median (least–most)"""
    if found is None:
        return "–"
    text = f"{short(found.median)}{unit}"
    return text if found.rounds == 1 else f"{text} ({short(found.least)}–{short(found.most)})"
