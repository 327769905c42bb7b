#!/usr/bin/env python3
"""Registers the tests of a gtest program with ctest. See discover_claims in tests/CMakeLists.txt.

A process costs 40 ms, most of it for loading libraries: more than most tests take. So one ctest test is one process for
a suite, or for the tests of a suite with one parameter, unless its cases are long or must not share a process.
"""
import argparse
import fnmatch
import pathlib
import subprocess
import sys


def cases_of(program):
    """("Postgres/StoreConformance", "AClaimIsFenced/v15"), …"""
    listed = subprocess.run([program, "--gtest_list_tests"], check=True, stdout=subprocess.PIPE, text=True, timeout=60).stdout
    suite = None
    for line in listed.splitlines():
        name = line.split("#")[0].rstrip()
        if name.startswith("  "):
            yield suite, name.strip()
        elif name.endswith("."):
            suite = name[:-1]


def selects(pattern, case):
    """Matches a case like gtest does: "these:and*-but:not?these"."""
    wanted, _, unwanted = pattern.partition("-")
    matches = lambda names: any(fnmatch.fnmatchcase(".".join(case), name) for name in names.split(":"))
    return matches(wanted or "*") and not (unwanted and matches(unwanted))


def group_of(by, suite, case):
    """The name of its ctest test, and the gtest filter of that test."""
    if by == "case":
        return f"{suite}.{case}", f"{suite}.{case}"
    if by == "parameter" and "/" in case:
        parameter = case.rpartition("/")[2]
        return f"{suite}/{parameter}", f"{suite}.*/{parameter}"
    return suite, f"{suite}.*"


def groups(cases, by, pattern):
    """{name: filter}"""
    selected = [case for case in cases if selects(pattern, case)]
    if not selected:
        sys.exit(f"no test matches {pattern}")
    unwanted = pattern.partition("-")[2]
    found, members = {}, {}
    for case in selected:
        name, positive = group_of(by, *case)
        found[name] = f"{positive}-{unwanted}" if unwanted else positive
        members.setdefault(name, []).append(case)
    for name, narrow in found.items():
        if [case for case in cases if selects(narrow, case)] != members[name]:
            sys.exit(f"{pattern} splits {name}: discover it BY case")
    return found


def quoted(text):
    return f"[==[{text}]==]"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--by", choices=["case", "suite", "parameter"], required=True)
    parser.add_argument("--filter", default="*")
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--property", nargs=2, action="append", default=[])
    arguments = parser.parse_args()
    program = pathlib.Path(arguments.program)
    # A skipped test counts as failed.
    properties = [("WORKING_DIRECTORY", str(program.parent)), ("FAIL_REGULAR_EXPRESSION", r"\[  SKIPPED \]"), *arguments.property]
    lines = []
    for name, narrow in groups(list(cases_of(program)), arguments.by, arguments.filter).items():
        name = quoted(f"{program.name}.{name}")
        lines.append(f"add_test({name} {quoted(program)} {quoted('--gtest_filter=' + narrow)})")
        lines.append(f"set_tests_properties({name} PROPERTIES {' '.join(f'{key} {quoted(value)}' for key, value in properties)})")
    arguments.output.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
