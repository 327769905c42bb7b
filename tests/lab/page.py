"""docs/survived.md and its charts, from the last report of each store."""
import json
import subprocess
import textwrap

from checker import INVARIANTS
from report import ROOT
from sabotage import SABOTAGE
from stores import STORES

PAGE = ROOT / "docs/survived.md"
NAMES = {"sqlite": "SQLite", "postgres": "PostgreSQL", "mariadb": "MariaDB", "redis": "Redis"}
CHARTED = 180  # seconds

HEAD = """# What was survived

The fault lab (`tests/lab`) runs a fleet of real processes on a real store, injects faults, and checks the journals that the
processes write and the rows that are left. The checker has none of the engine's code, and reads the rows as the command line
shows them (`easyretry history list` and `easyretry tasks list`), so it relies on those two commands. This page was written by
`./lab --publish`.

    ./lab --store postgres --minutes 10 --seed 7

"""

METHOD = """
## How it is done

Four processes (SQLite: one) submit tasks and run them, each behind its own network. The lease is {lease:g} s and the `window`
{window:g} s, so that a run of minutes has many recoveries. Some tasks fail once, some always, some take longer than
their lease, and some kill their process. At any time one fault strikes a member and one the store, in an order that the seed
decides:

| fault | what happens |
|---|---|
| kill, poison | SIGKILL, from outside or by a task |
| pause | SIGSTOP, for 0.8 to 2 leases |
| black hole, requests vanish, replies vanish | the network is silent both ways or one way, for 0.8 to 2 leases |
| lost replies | connections are cut when the server has done its work and before it answers |
| cut | all connections of a member are closed |
| server restart, server crash | the server is stopped, or all its processes are killed, and started after up to 3 s |
| locked row | another client holds rows in a transaction, for 0.8 to 2 leases |
| full disk | another file fills the disk of 256 MiB, and takes what becomes free, for 2 to 5 s |
| failing syncs | syncs of the log, or of all files, fail and lose what was written, for 1 to 4 s. The rows are read from what is on the disk |
| leave | a member stops as asked, and another one joins |
| clock step | the clock of a member jumps ten minutes, and back; not on SQLite, whose clock is that of its process |

{small_disk}Redis Cluster and Sentinel, and packets that are dropped below TCP have tests of their own
([promises](promises.md)).

## What is checked

| invariant | |
|---|---|
{invariants}

Each invariant is broken in a journal that a test writes (`tests/lab/checker_test.py`). In real runs of a fleet, each
with statements broken by triggers (`tests/lab/sabotage.py`), these are found broken: {sabotaged}.

"In doubt" are submissions whose reply was lost; they may be stored, and end like the others if they are. "Refused" are
submissions that the store did not take, because it was down or not reachable: the caller knows. "Cut off" are executions
whose process died, "overtaken" tasks that another process took over from one that was stopped or silent, and went on later.

A recovery is the time from the death of a process until a task that it was running starts again. The table has those during
which no other fault happened. The promise is the lease plus half a `window`. A violation is a recovery that takes {patience:g} s longer,
counted from the last fault in its way. "Back" is the time from the end of a server's outage until the next task starts.
"""


def seconds(one):
    return "–" if one["count"] == 0 else f"{one['p50']:g} / {one['p99']:g} / {one['max']:g} s of {one['promised']:g} s"


def row(report):
    tasks, runs = report["tasks"], report["executions"]
    return (f"| {NAMES[report['store']]} | {report['seconds'] / 60:g} min, seed {report['seed']}, {report['date']}{commit_of(report)} | "
            f"{sum(report['faults'].values())} faults, {report['deaths']} deaths | "
            f"{tasks['acknowledged']:,} acknowledged, {tasks['in doubt']:,} in doubt, {tasks['refused']:,} refused | "
            f"{runs['all']:,}, {runs['cut off']:,} cut off, {runs['overtaken']:,} overtaken | **{len(report['violations'])}** | "
            f"{seconds(report['recovery'])} ({report['recovery']['count']}) | {seconds(report['return'])} ({report['return']['count']}) |\n")


def faults(report):
    return f"| {NAMES[report['store']]} | " + ", ".join(f"{count} × {what}" for what, count in report["faults"].items()) + " |\n"


def publish(folder):
    reports = [report for report in map(lambda store: last_report(folder, store), STORES) if report]
    if not reports:
        raise SystemExit(f"./lab: there is no report in {folder}; run ./lab --store postgres first")
    text = HEAD + "| store | run | faults | tasks | executions | violations | recovery p50 / p99 / max | back p50 / p99 / max |\n|---|---|---|---|---|---|---|---|\n"
    text += "".join(map(row, reports)) + "\n| store | faults |\n|---|---|\n" + "".join(map(faults, reports))
    text += "\n## Throughput\n\nExecutions that return in each second. Red: the store is down or its disk is full; submissions are\nrefused then, so there is less work. Blue ticks: faults of members.\n"
    for report in reports:
        chart = PAGE.with_name(f"survived-{report['store']}.svg")
        chart.write_text(svg(report))
        text += f"\n![{NAMES[report['store']]}]({chart.name})\n"
    text += METHOD.format(lease=reports[0]["lease"], window=reports[0]["window"], patience=reports[0]["patience"],
                          small_disk=small_disk(last_report(folder, "sqlite[0-9]*m")),
                          sabotaged=", ".join(f"`{name}`" for name in SABOTAGE), invariants="\n".join(f"| `{one.__name__}` | {' '.join(one.__doc__.split())} |" for one in INVARIANTS))
    PAGE.write_text(text)
    print(f"{PAGE.relative_to(ROOT)}: {', '.join(report['store'] for report in reports)}")


def small_disk(report):
    """A paragraph on the last run on another disk than the usual one."""
    if not report:
        return ""
    tasks = report["tasks"]
    return wrapped(f"On a disk of {report['disk']} MiB, which SQLite's own log could fill, a run of {report['seconds'] / 60:g} min (seed {report['seed']}, "
            f"{report['date']}{commit_of(report)}) had {len(report['violations'])} violations: {report['faults'].get('full disk', 0)} times another file "
            f"filled the disk, and all of {tasks['acknowledged']:,} acknowledged tasks ended. {tasks['refused']:,} submissions were refused."
            if not report["violations"] else
            f"A run on a disk of {report['disk']} MiB for SQLite (seed {report['seed']}, {report['seconds'] / 60:g} min, {report['date']}{commit_of(report)}) "
            f"failed, with {len(report['violations'])} violations.") + "\n\n"


def wrapped(text):
    return "\n".join(textwrap.wrap(text, 118, break_on_hyphens=False))


def commit_of(report):
    """Only one that a reader can find in this repository."""
    found = subprocess.run(["git", "cat-file", "-e", f"{report['commit']}^{{commit}}"], cwd=ROOT, capture_output=True, check=False)
    return f", `{report['commit']}`" if found.returncode == 0 else ""


def last_report(folder, store):
    found = sorted(folder.glob(f"{store}-*/report.json"), key=lambda path: path.stat().st_mtime)
    return json.loads(found[-1].read_text()) if found else None


def shown_time(report, shown):
    """Faults end after `seconds`; then the tasks that are left are run."""
    if shown < report["seconds"]:
        return f"first {shown} s of {report['seconds'] / 60:g} min"
    return f"{report['seconds'] / 60:g} min of faults" + f", and {shown - report['seconds']:.0f} s without" * (shown > report["seconds"])


def svg(report):
    """A line of executions per second, with bands for faults of the store and ticks for those of members."""
    width, height, left, right, bottom = 900, 180, 40, 20, 30
    ends = report["ends"][:CHARTED]
    top = max(ends, default=1)
    per_second, per_end = (width - left - right) / max(len(ends), 1), (height - bottom - 20) / max(top, 1)

    def x(second):
        return round(left + second * per_second, 1)

    def y(count):
        return round(height - bottom - count * per_end, 1)

    shown = [band for band in report["bands"] if band["start"] < len(ends)]
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">',
             f'<rect width="{width}" height="{height}" fill="#fff"/>',
             f'<text x="{left}" y="12" fill="#333">{NAMES[report["store"]]}: executions a second, {shown_time(report, len(ends))}</text>']
    for band in shown:
        if band["store"] and band["what"] != "locked row":
            parts.append(f'<rect x="{x(band["start"])}" y="20" width="{max(1.0, round((band["end"] - band["start"]) * per_second, 1))}" '
                         f'height="{height - bottom - 20}" fill="#e4572e" opacity="0.25"><title>{band["what"]}</title></rect>')
        elif not band["store"]:
            parts.append(f'<line x1="{x(band["start"])}" x2="{x(band["start"])}" y1="{height - bottom}" y2="{height - bottom + 6}" '
                         f'stroke="#1f6feb"><title>{band["what"]}</title></line>')
    points = " ".join(f"{x(second + 0.5)},{y(count)}" for second, count in enumerate(ends))
    parts.append(f'<polyline fill="none" stroke="#222" stroke-width="1.2" points="{points}"/>')
    parts += [f'<text x="{left - 6}" y="{y(count) + 4}" text-anchor="end" fill="#333">{count}</text>' for count in (0, top)]
    parts += [f'<text x="{x(second)}" y="{height - 8}" text-anchor="middle" fill="#333">{second} s</text>' for second in range(0, len(ends) + 1, 30)]
    return "\n".join([*parts, "</svg>"]) + "\n"
