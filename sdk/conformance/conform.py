#!/usr/bin/env python3
"""Plays faults to a worker of an SDK. README.md says what it needs.

    conform.py --program EASYRETRY_PROGRAM [--quick] [--only PATTERN] [--verbose] -- SUBJECT [ARGUMENT…]
    conform.py --list
"""
import argparse
import os
import pathlib
import re
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from case import Setup  # noqa: E402


def cases():
    """All tests, in the order of their files."""
    found = []

    def collect(suite):
        for one in suite:
            collect(one) if isinstance(one, unittest.TestSuite) else found.append(one)

    collect(unittest.TestLoader().discover(str(HERE), pattern="*_cases.py", top_level_dir=str(HERE)))
    return found


def method_of(case):
    return getattr(case, case._testMethodName)


def claim(case):
    return case._testMethodName.removeprefix("test_").replace("_", " ")


def arguments():
    words = sys.argv[1:]
    at = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(description="Plays faults to a worker of an SDK.")
    parser.add_argument("--program", default=os.environ.get("EASYRETRY_PROGRAM"))
    parser.add_argument("--quick", action="store_true", help="a few short cases")
    parser.add_argument("--only", default="", help="cases whose names match")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--list", action="store_true", help="print the cases")
    return parser, parser.parse_args(words[:at]), words[at + 1:]


def main():
    parser, options, subject = arguments()
    chosen = [case for case in cases() if re.search(options.only, case._testMethodName)]
    if options.quick:
        chosen = [case for case in chosen if getattr(method_of(case), "is_quick", False)]
    if options.list:
        print("\n".join(claim(case) for case in chosen))
        return 0
    if not subject or not options.program or not os.access(options.program, os.X_OK):
        parser.error("needs --program EASYRETRY_PROGRAM, an executable, and the command of a subject after --")
    if not chosen:
        parser.error(f"no case matches {options.only!r}; --list prints them")
    Setup.program, Setup.command = os.path.abspath(options.program), subject
    ran = unittest.TextTestRunner(verbosity=2 if options.verbose else 1).run(unittest.TestSuite(chosen))
    return 0 if ran.wasSuccessful() and not ran.skipped else 1


if __name__ == "__main__":
    sys.exit(main())
