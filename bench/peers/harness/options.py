"""The command line of bench/peers/run."""
import argparse
import os
import pathlib
import re

from harness.peers import ON, STORES, WORKS

ROOT = pathlib.Path(__file__).resolve().parents[3]
DESCRIPTION = """Measures EasyRetry, other queues and the bare limit of a server side by side: in turns on one machine, several rounds.
Writes medians and ranges as Markdown, and charts as SVG."""
EXIT = """exit codes: 0 all were measured; 1 nothing could be; 2 wrong options; 3 a peer was left out or failed; 130 interrupted"""


def number(least, most):
    def read(text):
        if not re.fullmatch(r"\d+", text) or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text} is no number from {least} to {most}")
        return int(text)
    return read


def program(text):
    path = pathlib.Path(text).resolve()
    if not path.is_file() or not os.access(path, os.X_OK):
        raise argparse.ArgumentTypeError(f"{text} is no program; build it with: cmake --preset release && tools/build release")
    return path


def words(text):
    return [word for word in text.split(",") if word]


def make_parser():
    parser = argparse.ArgumentParser(prog="bench/peers/run", description=DESCRIPTION, epilog=EXIT, allow_abbrev=False)
    parser.add_argument("--store", choices=STORES, required=True)
    parser.add_argument("--program", type=program, default=str(ROOT / "build/release/easyretry"), metavar="FILE",
                        help="an optimised easyretry (default: build/release/easyretry)")
    parser.add_argument("--rounds", type=number(1, 100), default=5, metavar="N", help="default: 5; medians of fewer say little")
    parser.add_argument("--tasks", type=number(1, 10_000_000), default=100_000, metavar="N",
                        help="per measurement (default: 100000); slow peers get a part of them")
    parser.add_argument("--only", type=words, metavar="NAME,…", help="only these peers; see --list")
    parser.add_argument("--works", type=words, metavar="WORK,…", help=f"only these of {', '.join(WORKS)}")
    parser.add_argument("--history", choices=("none", "all"), default="none", help="what EasyRetry keeps of finished tasks (default: none)")
    parser.add_argument("--everysec", action="store_true", help="Redis syncs every second, its default, and not before each answer")
    parser.add_argument("--rate", type=number(1, 10_000), default=200, metavar="N",
                        help="tasks a second from submit to start (default: 200)")
    parser.add_argument("--due-over", type=number(1, 3600), default=20, metavar="S",
                        help="seconds over which late tasks are due (default: 20)")
    parser.add_argument("--disk", type=pathlib.Path, metavar="FOLDER", help="where servers and files are (default: the temporary folder)")
    parser.add_argument("--report", type=pathlib.Path, default=ROOT / "build/peers/report", metavar="FOLDER",
                        help="where the report goes (default: build/peers/report)")
    parser.add_argument("--list", action=List, nargs=0, help="names the peers of each store")
    return parser


class List(argparse.Action):
    def __call__(self, *_):
        for store, peers in ON.items():
            print(f"{store}: {', '.join(peer.name for peer in peers)}")
        raise SystemExit(0)


def unknown(given, known, what, parser):
    wrong = [word for word in given if word.lower() not in map(str.lower, known)]
    if wrong or not given:
        parser.error(f"{what}: {', '.join(wrong) or 'nothing'} is not one of {', '.join(known)}")


def parse(arguments):
    """Ends the program with exit code 2 if an option is wrong."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    names = [peer.name for peer in ON[options.store]]
    if options.only is not None:
        unknown(options.only, names, f"--only with --store {options.store}", parser)
    if options.works is not None:
        unknown(options.works, WORKS, "--works", parser)
    if options.everysec and options.store != "redis":
        parser.error("--everysec is for --store redis")
    if options.disk and not options.disk.is_dir():
        parser.error(f"--disk: {options.disk} is no folder")
    if options.report.exists() and not options.report.is_dir():
        parser.error(f"--report: {options.report} is a file")
    chosen = [name.lower() for name in options.only or names]
    options.peers = [peer for peer in ON[options.store] if peer.name.lower() in chosen]
    options.works = [work for work in WORKS if work in (options.works or WORKS)]
    return options
