#!/usr/bin/env python3
"""Code that the docs quote is in the example it is quoted from, and files that they link to are there.

    <!-- from: examples/outbox.cpp -->     before a block of code: its lines stand in that file, in a row, whatever their
                                           common indentation
"""
import pathlib
import re
import sys
import textwrap

root = pathlib.Path(__file__).resolve().parent.parent
PAGES = ["README.md", "docs/alerts.md", "docs/api.md", "docs/calls.md", "docs/cli.md", "docs/cluster.md", "docs/databases.md",
         "docs/metrics.md", "docs/migrating.md", "docs/mxrmq.md", "docs/nacos.md", "docs/redis.md", "docs/remote.md",
         "docs/security.md", "docs/testing.md", "docs/webhooks.md"]
QUOTE = re.compile(r"^<!-- from: (\S+) -->\n```\w+\n(.*?)^```$", re.M | re.S)


def plain(lines):
    return textwrap.dedent("\n".join(line.rstrip() for line in lines)).strip("\n")


def occurs(quote, source):
    wanted = plain(quote.splitlines())
    height = wanted.count("\n") + 1
    lines = source.splitlines()
    return any(plain(lines[i : i + height]) == wanted for i in range(len(lines) - height + 1))


def problems(page):
    text = (root / page).read_text()
    quotes = QUOTE.findall(text)
    if len(quotes) != text.count("<!-- from:"):
        yield f"{page}: a <!-- from: --> is not followed by a block of code"
    for file, quote in quotes:
        path = root / file
        if not path.is_file():
            yield f"{page}: {file} is not there"
        elif not occurs(quote, path.read_text()):
            yield f"{page}: not in {file}:\n{quote}"
    prose = re.sub(r"^```.*?^```$|`[^`\n]*`", "", text, flags=re.M | re.S)
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", prose):
        if not (root / page).parent.joinpath(link).exists():
            yield f"{page}: links to {link}, which is not there"


def main():
    found = [problem for page in PAGES for problem in problems(page)]
    print("\n".join(found) or f"{len(PAGES)} pages quote what is there")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
