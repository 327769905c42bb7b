#!/usr/bin/env python3
"""docs/how-it-works.md has ten stops, each with its file, and every file that it names exists."""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
PAGE = "docs/how-it-works.md"
FILE = re.compile(r"`((?:include|src|apps|tests|examples|tools)/[\w./-]+)`")
STOP = re.compile(r"^\*\*(\d+)\. [^`*]+: `[^`]+`\.\*\*", re.M)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
STOPS = 10


def problems(text):
    files = FILE.findall(text)
    if not files:
        yield f"{PAGE}: names no file"
    for file in sorted(set(files)):
        if not (root / file).is_file():
            yield f"{PAGE}: names {file}, which does not exist"
    for link in LINK.findall(text):
        if not (root / PAGE).parent.joinpath(link).exists():
            yield f"{PAGE}: links to {link}, which does not exist"
    stops = [int(number) for number in STOP.findall(text)]
    if stops != list(range(1, STOPS + 1)):
        yield f"{PAGE}: has the stops {stops}, not 1 to {STOPS}"


def main():
    text = (root / PAGE).read_text()
    found = list(problems(text))
    print("\n".join(found) or f"{STOPS} stops, {len(set(FILE.findall(text)))} files, all of them exist")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
