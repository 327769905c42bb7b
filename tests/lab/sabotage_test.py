"""Runs with a broken engine (sabotage.py), one broken part in each, fail and name the invariant that is broken. The arguments are those of
./lab."""
import json
import sys

import main
from sabotage import SABOTAGE

unseen = []
for name in SABOTAGE:
    arguments = main.parse(["--store", "postgres", *sys.argv[1:], "--sabotage", name])
    arguments.reports /= f"sabotage-{name}"
    code = main.run(arguments)
    report = json.loads((arguments.reports / f"postgres-{arguments.seed}" / "report.json").read_text())
    found = {one["invariant"] for one in report["violations"]}
    print(f"{name}: found {', '.join(sorted(found))}", flush=True)
    if code != 1 or name not in found:
        unseen.append(name)
print(f"not noticed: {', '.join(unseen)}" if unseen else "all of it was noticed")
sys.exit(1 if unseen else 0)
