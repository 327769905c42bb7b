#!/usr/bin/env python3
"""docs/reference.md is equal to the output of tools/reference, and names everything that a simple search of the headers finds."""
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
PAGE = root / "docs/reference.md"
NOT_LISTED = re.compile(r"friend|operator|~|= delete|= default;|static_assert|detail::|^  using |^  (return|if|for|throw)\b|^  }")


def public_text(header):
    """The text of the header without `namespace detail`."""
    text = re.sub(r"^namespace detail \{\n.*\n\}$", "", header.read_text(), flags=re.M)
    return re.sub(r"^namespace (?:\w+::)?detail \{$.*?^\}  // namespace (?:\w+::)?detail$", "", text, flags=re.M | re.S)


def public_lines(text):
    """The lines directly inside a class or struct, before `private:`."""
    within = False
    for line in text.splitlines():
        if re.match(r"(class|struct) .*{$", line):
            within = "<" not in line
        elif re.match(r" (private|protected):|};", line):
            within = False
        elif within and re.match(r"  [\w\[]", line) and not NOT_LISTED.search(line):
            yield line.split("//")[0].rstrip()


def names(header):
    text = public_text(header)
    for line in public_lines(text):
        found = re.search(r"(\w+)\(", line) or re.search(r"(\w+)(?: = [^;]*|\{[^;]*\})?;$", line)
        if found and found.group(1) not in ("requires", "function", "explicit"):
            yield found.group(1)
    yield from re.findall(r"^(?:class|struct|enum class) (\w+)(?: final)?(?: : [\w: ]+)? \{$", text, re.M)


def problems():
    check = subprocess.run([root / "tools/reference", "--check"], capture_output=True, text=True)
    if check.returncode != 0:
        yield check.stdout + check.stderr
    sections = {part.split("\n", 1)[0]: part for part in PAGE.read_text().split("\n## ")[1:]}
    for header in sorted((root / "include/easyretry").glob("*.h")):
        for name in names(header):
            if not re.search(rf"\b{name}\b", sections.get(header.name, "")):
                yield f"docs/reference.md: {header.name} has {name}, which its part of the page does not name"


def main():
    found = list(problems())
    print("\n".join(found) or "docs/reference.md is up to date")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
