"""The fault lab: a fleet of real processes under faults, and a checker of what they wrote down.

    ./lab --store postgres --minutes 10 --seed 7     one run; the report is in build/lab/postgres-7
    ./lab --publish                                  writes docs/survived.md from the last report of each store

The seed decides which faults strike in which order, whom, and for how long. The machine decides the rest, so a run with the same seed is
similar, not equal. A run needs root for SQLite, which gets a small disk of its own.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import sys

import page
import report
from run import Lab
from sabotage import SABOTAGE, sabotage
from stores import STORES, Sqlite
from story import Promise

USUAL_DISK = Sqlite.DISK


def parse(words):
    parser = argparse.ArgumentParser(prog="./lab", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", choices=STORES, help="where the tasks are stored")
    parser.add_argument("--minutes", type=float, default=2, help="how long faults strike; then all tasks are brought to an end")
    parser.add_argument("--seed", type=int, default=None, help="by default a new one, which is printed")
    parser.add_argument("--rate", type=int, default=40, help="submissions a second, of the whole fleet")
    parser.add_argument("--lease", type=float, default=3.0, help="seconds")
    parser.add_argument("--disk", type=int, default=Sqlite.DISK, help="MiB, of SQLite's disk")
    parser.add_argument("--patience", type=float, default=2.0, help="how many seconds later than promised is a violation")
    parser.add_argument("--sabotage", choices=SABOTAGE, nargs="+",
                        help="breaks these parts of the engine, to see whether the checker notices; only on postgres")
    parser.add_argument("--publish", action="store_true", help="writes docs/survived.md")
    parser.add_argument("--build", type=pathlib.Path, default=report.ROOT / "build/dev", help="where the programs are")
    parser.add_argument("--reports", type=pathlib.Path, default=report.ROOT / "build/lab", help="where reports and journals go")
    arguments = parser.parse_args(words)
    if not arguments.publish and not arguments.store:
        parser.error("which store? --store " + ", ".join(STORES))
    if arguments.sabotage and arguments.store != "postgres":
        parser.error("--sabotage needs --store postgres")
    if arguments.store == "sqlite" and os.geteuid() != 0:
        parser.error("--store sqlite needs root, for a small disk of its own")
    if arguments.seed is None:
        arguments.seed = random.randrange(1_000_000)
    arguments.seconds = arguments.minutes * 60
    return arguments


def run(arguments):
    Sqlite.DISK = arguments.disk
    disk = f"{arguments.disk}m" if arguments.store == "sqlite" and arguments.disk != USUAL_DISK else ""
    folder = (arguments.reports / f"{arguments.store}{disk}-{arguments.seed}").resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    print(f"{arguments.store}, seed {arguments.seed}, {arguments.seconds:.0f} s; journals in {folder}", flush=True)
    promise = Promise(lease=arguments.lease, patience=arguments.patience, back=STORES[arguments.store].back)
    build = arguments.build.resolve()
    with STORES[arguments.store](folder, build / "easyretry") as store:
        lab = Lab(store, build / "tests/lab/lab_worker", build / "tests/lab/lab_network", promise, arguments.seed, arguments.rate, folder)
        if arguments.sabotage:  # what a broken engine has lost never ends
            story, started = lab.run(arguments.seconds, before_the_faults=lambda broken: sabotage(broken, *arguments.sabotage), patience=10)
        else:
            story, started = lab.run(arguments.seconds)
    result = report.report_of(story, started, arguments, lab.fleet.surprises())
    (folder / "report.json").write_text(json.dumps(result, indent=1))
    (folder / "report.txt").write_text(report.text_of(result))
    print(report.text_of(result), end="")
    return 1 if result["violations"] else 0


def main(words):
    arguments = parse(words)
    if arguments.store and (code := run(arguments)):
        return code
    if arguments.publish:
        page.publish(arguments.reports)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
