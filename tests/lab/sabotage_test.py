"""Runs with a broken engine (sabotage.py) fail and name each invariant that is broken. Each breaks three parts, none of which leads to
the findings of another. The arguments are those of ./lab."""
import json
import sys

import main
from sabotage import SABOTAGE

TOGETHER = (("overlap", "lost", "wrong_end"), ("attempts", "invented", "ended_without_running"), ("ended_twice", "early", "late_finisher"))
assert sorted(sum(TOGETHER, ())) == sorted(SABOTAGE)

unseen = []
for names in TOGETHER:
    arguments = main.parse(["--store", "postgres", *sys.argv[1:], "--sabotage", *names])
    arguments.reports /= f"sabotage-{names[0]}"
    code = main.run(arguments)
    report = json.loads((arguments.reports / f"postgres-{arguments.seed}" / "report.json").read_text())
    found = {one["invariant"] for one in report["violations"]}
    print(f"{', '.join(names)}: found {', '.join(sorted(found))}", flush=True)
    unseen += [name for name in names if code != 1 or name not in found]
print(f"not noticed: {', '.join(unseen)}" if unseen else "all of it was noticed")
sys.exit(1 if unseen else 0)
