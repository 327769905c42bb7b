#!/usr/bin/env python3
"""compile_errors_test.py BUILD_DIR: the compiler's messages for code that cannot work.

Each program in compile_errors/ says in its first lines what the compiler must say:
  // expect: TEXT              in the first error, with at most 40 lines before it; or "no error"
  // after: 1 other error      a message that could be better: it comes after this many others
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
NOISE = 40  # lines before the message


def compiler(build):
    """The command with which the build compiles an example, up to the file name."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if entry["file"].endswith("examples/quickstart.cpp"):
            words = shlex.split(entry["command"])
            words = words[1:] if words[0].endswith("ccache") else words
            end = words.index("-o")
            return [*words[:end], "-fsyntax-only", "-fdiagnostics-color=never"]
    sys.exit(f"{build} does not compile examples/quickstart.cpp")


def said(file, key, default):
    found = re.search(rf"^// {key}: (.+)$", file.read_text(), re.M)
    return found.group(1) if found else default


def problem(file, command):
    english = {**os.environ, "LC_ALL": "C.UTF-8"}
    run = subprocess.run([*command, str(file)], capture_output=True, text=True, encoding="utf-8", env=english, timeout=120)
    expected = said(file, "expect", None)
    if expected == "no error":
        return run.stderr if run.returncode else None
    if run.returncode == 0:
        return "it compiles"
    lines = run.stderr.splitlines()
    errors = [(n, line) for n, line in enumerate(lines) if " error: " in line]
    before = int(said(file, "after", "0 ").split()[0])
    found = [(i, n) for i, (n, line) in enumerate(errors) if expected in line]
    if not found:
        return f"no error says {expected!r}:\n{run.stderr}"
    index, line = found[0]
    if index != before:
        return f"{index} errors come before {expected!r}, not {before}:\n{run.stderr}"
    if line > NOISE:
        return f"{line} lines come before {expected!r}:\n{run.stderr}"
    return None


def main():
    command = compiler(pathlib.Path(sys.argv[1]))
    files = sorted((here / "compile_errors").glob("*.cpp"))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        problems = list(pool.map(lambda file: problem(file, command), files))
    for file, text in zip(files, problems):
        print(f"{file.name}: {text or 'as expected'}")
    return 1 if any(problems) else 0


if __name__ == "__main__":
    sys.exit(main())
