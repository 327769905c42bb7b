#!/usr/bin/env python3
"""Measures the cost of including a public header: user time of the compiler and preprocessed lines, beside <string>.

    bench/header_cost.py                             <string>, the umbrella header and every public header
    bench/header_cost.py '<functional>' '<memory>'   these headers, each alone
    bench/header_cost.py '<chrono> <memory>'         both in one file

Rounds are interleaved, so that a busy moment of the machine affects every header. The median counts. docs/benchmarks.md
has the figures.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile

root = pathlib.Path(__file__).resolve().parent.parent
YARDSTICK = "<string>"


def public_headers():
    names = sorted(path.name for path in (root / "include/easyretry").glob("*.h"))
    names.sort(key=lambda name: name != "easyretry.h")
    return [f"<easyretry/{name}>" for name in names]


def user_seconds(command):
    """The user time of one process. getrusage would include all children that ended before."""
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"failed: {' '.join(command)}")
    return usage.ru_utime


def lines(command):
    text = subprocess.run([*command, "-E", "-P"], check=True, capture_output=True, text=True).stdout
    return sum(1 for line in text.splitlines() if line.strip())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("headers", nargs="*", help="as in #include; several in one argument go into one file")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--include", default=str(root / "include"), help="folder of another checkout, to compare with")
    args = parser.parse_args()
    headers = [YARDSTICK, *(args.headers or public_headers())]
    with tempfile.TemporaryDirectory() as folder:
        commands = {}
        for number, header in enumerate(headers):
            file = pathlib.Path(folder) / f"{number}.cpp"
            file.write_text("".join(f"#include {name}\n" for name in header.split()))
            commands[header] = [args.compiler, "-std=c++20", "-I", args.include, str(file)]
        times = {header: [] for header in headers}
        for _ in range(args.rounds):
            for header, command in commands.items():
                times[header].append(user_seconds([*command, "-fsyntax-only"]))
        yardstick = statistics.median(times[YARDSTICK])
        print(f"{'':<44}{'user ms':>9}{'x <string>':>12}{'lines':>9}")
        for header, command in commands.items():
            seconds = statistics.median(times[header])
            print(f"{header:<44}{seconds * 1000:>9.0f}{seconds / yardstick:>12.2f}{lines(command):>9}")


if __name__ == "__main__":
    main()
