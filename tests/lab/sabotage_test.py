"""A run with a broken engine (sabotage.py) fails, and names each invariant that is broken. The arguments are those of ./lab."""
import json
import sys

import main
from sabotage import SABOTAGE

words = ["--store", "postgres", *sys.argv[1:], "--sabotage"]
arguments = main.parse(words)
arguments.reports /= "sabotage"
code = main.run(arguments)
report = json.loads((arguments.reports / f"postgres-{arguments.seed}" / "report.json").read_text())
unseen = SABOTAGE.keys() - {one["invariant"] for one in report["violations"]}
print(f"not noticed: {', '.join(unseen)}" if unseen else "all of it was noticed")
sys.exit(0 if code == 1 and not unseen else 1)
