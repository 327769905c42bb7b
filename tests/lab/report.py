"""The report of a run: numbers as JSON for the page, and as text for people."""
import collections
import dataclasses
import datetime
import itertools
import math
import pathlib
import subprocess

import checker
from story import SECOND

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENOUGH = 0.2  # of the submissions asked for: a run in which everything fails shows nothing


def part(values, share):
    """The smallest value that so many of the values do not exceed; None without values."""
    ordered = sorted(values)
    return round(ordered[max(0, math.ceil(share * len(ordered)) - 1)], 2) if ordered else None


def summary(values, promised):
    return {"promised": promised, "count": len(values), "p50": part(values, 0.5), "p99": part(values, 0.99), "max": part(values, 1)}


def report_of(story, started, arguments, unexpected):
    recoveries = list(checker.recoveries(story))
    runs = list(story.all_runs())
    violations = [dataclasses.asdict(one) for one in checker.check(story)]
    violations += [{"invariant": "unexpected_end", "what": what} for what in unexpected]
    if len(story.acked) < ENOUGH * arguments.rate * arguments.seconds:
        violations.append({"invariant": "too_little", "what": f"only {len(story.acked)} submissions were acknowledged, so this run shows nothing"})
    if sum(fault.what == "full disk" for fault in story.faults) >= 3 and not story.refused:
        violations.append({"invariant": "too_little", "what": "no submission was refused, so this run shows nothing about a full disk"})
    struck = [fault for fault in story.faults if fault.what != "starved"]
    return {
        "store": arguments.store, "disk": arguments.disk, "seed": arguments.seed, "seconds": arguments.seconds, "commit": commit(),
        "patience": story.promise.patience, "date": datetime.date.today().isoformat(), "lease": story.promise.lease, "window": story.promise.window,
        "faults": dict(sorted(collections.Counter(fault.what for fault in struck).items())),
        "deaths": len(story.deaths),
        "tasks": {"sent": len(story.sent), "acknowledged": len(story.acked), "in doubt": len(story.doubted), "refused": len(story.refused),
                  "ended": sum(row.state == "finished" for row in story.rows)},
        "executions": {"all": len(runs), "cut off": sum(not run.answer for run in runs), "overtaken": len(story.contested())},
        "recovery": summary([one.whole for one in recoveries if one.undisturbed], story.promise.recovery),
        "disturbed recovery": summary([one.after for one in recoveries if not one.undisturbed], story.promise.recovery),
        "return": summary([one.seconds for one in checker.returns(story) if one.came], story.promise.back),
        "violations": violations,
        "ends": per_second(story, started),
        "bands": [{"what": fault.what, "start": (fault.start - started) / SECOND, "end": (fault.end - started) / SECOND, "store": not fault.life}
                  for fault in sorted(struck, key=lambda fault: fault.start)],
    }


def per_second(story, started):
    """How many executions returned in each second."""
    counts = collections.Counter((end - started) // SECOND for end in story.ends)
    return [counts[second] for second in range(max(counts, default=-1) + 1)]


def commit():
    asked = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return asked.stdout.strip()


def text_of(report):
    def times(name):
        one = report[name]
        return f"{one['count']}: half within {one['p50']} s, 99 % within {one['p99']} s, the longest {one['max']} s; promised {one['promised']} s"

    lines = [
        f"{report['store']}, seed {report['seed']}, {report['seconds']:.0f} s of faults, a lease of {report['lease']:g} s",
        "faults       " + ", ".join(f"{count} × {what}" for what, count in report["faults"].items()) + f"; {report['deaths']} processes died",
        "tasks        " + ", ".join(f"{count} {what}" for what, count in report["tasks"].items()),
        "executions   " + ", ".join(f"{count} {what}" for what, count in report["executions"].items()),
        "recoveries   " + times("recovery"),
        "disturbed    " + times("disturbed recovery"),
        "store back   " + times("return"),
        f"violations   {len(report['violations'])}",
    ]
    return "\n".join(lines + list(some_of(report["violations"]))) + "\n"


def some_of(violations, most=10):
    for invariant, ones in itertools.groupby(violations, key=lambda one: one["invariant"]):
        ones = list(ones)
        yield from (f"  {invariant}: {one['what']}" for one in ones[:most])
        if len(ones) > most:
            yield f"  {invariant}: {len(ones) - most} more, see report.json"
