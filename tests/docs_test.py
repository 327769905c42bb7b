#!/usr/bin/env python3
"""Code in the docs is equal to the example it is quoted from, links lead to files and headings that exist, every state,
outcome and reason to wait is explained, and samples of the log have their times.

    <!-- from: examples/outbox.cpp -->     before a block of code: that file contains its lines, one after the other, with
                                           any common indentation
"""
import pathlib
import re
import sys
import textwrap

root = pathlib.Path(__file__).resolve().parent.parent
PAGES = sorted(str(page.relative_to(root)) for page in [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("sdk/*/*.md")])
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
    if len(quotes) != len(re.findall(r"^<!-- from:", text, re.M)):
        yield f"{page}: a <!-- from: --> is not followed by a block of code"
    for file, quote in quotes:
        path = root / file
        if not path.is_file():
            yield f"{page}: {file} is not there"
        elif not occurs(quote, path.read_text()):
            yield f"{page}: not in {file}:\n{quote}"
    prose = re.sub(r"^```.*?^```$|`[^`\n]*`", "", text, flags=re.M | re.S)
    for link, heading in re.findall(r"(?<!\\)\]\(([^)#:]*)(?:#([^)]*))?\)", prose):
        target = (root / page).parent.joinpath(link) if link else root / page
        if not target.exists():
            yield f"{page}: links to {link}, which is not there"
        elif heading and heading not in anchors(target):
            yield f"{page}: links to {link}#{heading}, a heading that is not there"


def anchors(page):
    """The anchors that GitHub makes of the headings, and those that the page defines itself."""
    prose = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
    headings = re.findall(r"^#+ (.*)$", prose, re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings} | set(
        re.findall(r'<a id="([^"]+)">', prose))


def unexplained():
    """States, stages and outcomes without a row in the table."""
    header = (root / "include/easyretry/task.h").read_text()
    rows = set(re.findall(r"^\| `(\w+)` \|", (root / "docs/state-machine.md").read_text(), re.M))
    for enum in ("TaskState", "Stage", "Outcome"):
        body = re.search(rf"enum class {enum} \{{(.*?)\}};", header, re.S).group(1)
        for name in re.findall(r"\w+(?=\s*(?:,|$))", re.sub(r"//.*", "", body)):
            if name not in rows:
                yield f"docs/state-machine.md: does not explain {name} of {enum}"


def unnamed_ends():
    """Requests by which a user ends a task that the rows of live tasks do not name."""
    api = (root / "src/server/openapi/openapi.yaml").read_text()
    table = (root / "docs/state-machine.md").read_text()
    for verb in [verb for verb in ("cancel", "complete", "fail") if f"/v1/tasks/{{id}}/{verb}:" in api]:
        for state in ("pending", "running"):
            if f"`{verb}`" not in re.search(rf"^\| `{state}` \|.*$", table, re.M).group(0):
                yield f"docs/state-machine.md: {state} does not name {verb}"
    for outcome, verb in (("succeeded", "complete"), ("rejected", "fail")):
        if f"`{verb}`" not in re.search(rf"^\| `{outcome}` \|.*$", table, re.M).group(0):
            yield f"docs/state-machine.md: {outcome} does not name {verb}"


def unknown_waits():
    """Kinds of waits_for that the API's document or pages do not have."""
    kinds = set(re.findall(r'kind = (?:over \? )?"(\w+)"', (root / "src/server/waits_for.cpp").read_text()))
    assert {"circuit", "paused", "due"} <= kinds, kinds
    schema = re.search(r"    WaitsFor:.*?enum: \[(.*?)\]", (root / "src/server/openapi/openapi.yaml").read_text(), re.S).group(1)
    for kind in sorted(kinds):
        if kind not in schema.split(", "):
            yield f"openapi.yaml: WaitsFor does not have {kind}"
        for page in ("docs/api.md", "docs/zh/api.md"):
            if f"\n| `{kind}` |" not in (root / page).read_text():
                yield f"{page}: does not explain {kind} of waits_for"


def unstamped():
    """Samples of the log without a time."""
    for page in PAGES:
        for line in re.findall(r"^ *easyretry: (?:debug|info|warning|error): .*$", (root / page).read_text(), re.M):
            yield f"{page}: a line of the log begins with its time: {line.strip()[:60]}"


def main():
    found = [problem for page in PAGES for problem in problems(page)]
    found += [*unexplained(), *unnamed_ends(), *unknown_waits(), *unstamped()]
    print("\n".join(found) or f"{len(PAGES)} pages quote what is there")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
