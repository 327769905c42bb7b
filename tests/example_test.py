#!/usr/bin/env python3
"""example_test.py PROGRAM SOURCE: what an example prints is what the comment at its end says it prints."""
import difflib
import pathlib
import subprocess
import sys


def promised(source):
    text = source.read_text()
    _, found, comment = text.rpartition("\n// Prints:\n")
    if not found:
        sys.exit(f"{source} does not end with a comment // Prints:")
    return [line.removeprefix("//").removeprefix(" ").rstrip() for line in comment.splitlines()]


def main():
    program, source = sys.argv[1], pathlib.Path(sys.argv[2])
    run = subprocess.run([program], stdout=subprocess.PIPE, text=True, timeout=50, check=True)
    printed = [line.rstrip() for line in run.stdout.splitlines()]
    difference = list(difflib.unified_diff(promised(source), printed, "promised", "printed", lineterm=""))
    print("\n".join(difference))
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main())
