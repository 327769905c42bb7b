#!/usr/bin/env python3
"""The Chinese pages have the same parts as the English ones: code blocks byte for byte, headings, tables, links, inline code.
Both pages of a pair link to each other on the line below the title.

    README.md        README.zh-CN.md
    docs/calls.md    docs/zh/calls.md
"""
import collections
import itertools
import os
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
TRANSLATED = ("tutorial", "calls", "configuration", "databases", "cluster", "nacos", "api", "migrating")
PAIRS = {"README.md": "README.zh-CN.md"} | {f"docs/{name}.md": f"docs/zh/{name}.md" for name in TRANSLATED}
ENGLISH_OF = {chinese: english for english, chinese in PAIRS.items()}

BLOCK = re.compile(
    r"^(?P<mark>(?:<!-- from: \S+ -->\n)?) *```(?P<tag>.*)\n(?P<code>(?:.*\n)*?) *```$"
    r"|(?<=\n\n)(?P<indented> {4,}\S.*\n(?:(?: {4,}\S.*)?\n)*)", re.M)
INLINE = re.compile(r"`([^`\n]+)`")


class Page:
    def __init__(self, name):
        self.name = name
        self.text = (root / name).read_text()
        self.blocks = [block.groups("") for block in BLOCK.finditer(self.text)]
        prose = BLOCK.sub("", self.text)
        self.headings = re.findall(r"^(#+) (.*)$", prose, re.M)
        self.tables = list(tables(prose))
        self.code = set(INLINE.findall(prose))
        self.links = [link.groups("") for link in re.finditer(r"(?<!\\)\]\(([^)#]*)(#[^)]*)?\)", INLINE.sub("", prose))]

    def targets(self):
        """The targets of the links of the page, apart from its counterpart; both languages have the same names."""
        found = collections.Counter()
        for file, heading in self.links:
            path = file if ":" in file else self.resolved(file)
            if path != counterpart(self.name):
                found[ENGLISH_OF.get(path, path) + heading] += 1
        return found

    def resolved(self, file):
        return os.path.normpath(os.path.join(os.path.dirname(self.name), file)) if file else self.name

    def leads_to(self, other):
        below_title = next(iter(self.text.split("\n", 1)[1].strip().splitlines()), "")
        return any(self.resolved(file) == other for file in re.findall(r"\]\(([^)#:]+)\)", below_title))


def counterpart(name):
    return PAIRS.get(name) or ENGLISH_OF.get(name)


def tables(prose):
    """Each table as the number of columns of each row."""
    for is_table, lines in itertools.groupby(prose.splitlines(), lambda line: line.startswith("|")):
        if is_table:
            yield [len(re.findall(r"(?<!\\)\|", line)) - 1 for line in lines]


def problems(english, chinese):
    name = chinese.name
    for page, other in ((english, chinese), (chinese, english)):
        if not page.leads_to(other.name):
            yield f"{page.name}: the line below the title does not link to {other.name}"

    for number, (wanted, found) in enumerate(itertools.zip_longest(english.blocks, chinese.blocks), 1):
        if wanted != found:
            yield f"{name}: code block {number} differs:\n{shown(wanted)}\n--- {name} has\n{shown(found)}"
            break
    for number, (wanted, found) in enumerate(itertools.zip_longest(english.headings, chinese.headings), 1):
        if not wanted or not found or wanted[0] != found[0]:
            yield f"{name}: heading {number} is {shown(found)}, in English {shown(wanted)}"
            break
    for number, (wanted, found) in enumerate(itertools.zip_longest(english.tables, chinese.tables), 1):
        if not wanted or not found or len(wanted) != len(found):
            yield f"{name}: table {number} has {len(found or ())} rows, in English {len(wanted or ())}"
            break
        for row, (wanted_columns, columns) in enumerate(zip(wanted, found), 1):
            if wanted_columns != columns:
                yield f"{name}: table {number}, row {row} has {columns} columns, in English {wanted_columns}"

    for word in sorted(english.code ^ chinese.code):
        yield f"{name}: {'lacks' if word in english.code else 'alone has'} the inline code `{word}`"
    for target, count in sorted((english.targets() - chinese.targets()).items()):
        yield f"{name}: lacks {count} of the links to {target}"
    for target, count in sorted((chinese.targets() - english.targets()).items()):
        yield f"{name}: has {count} more links to {target}"
    for file, _ in chinese.links:
        if chinese.resolved(file) in PAIRS and chinese.resolved(file) != english.name:
            yield f"{name}: links to {file}, which has a translation"


def shown(part):
    return " ".join(filter(None, part)) if part else "missing"


def strangers():
    """Pages in Chinese that are not in the list."""
    for page in sorted([*root.glob("*.zh-CN.md"), *root.glob("docs/zh/**/*")]):
        name = str(page.relative_to(root))
        if page.is_file() and name not in ENGLISH_OF:
            yield f"{name}: is not among the translated pages"


def main():
    missing = [name for pair in PAIRS.items() for name in pair if not (root / name).is_file()]
    found = [f"{name}: is not there" for name in missing] + list(strangers())
    for english, chinese in PAIRS.items():
        if english not in missing and chinese not in missing:
            found += problems(Page(english), Page(chinese))
    print("\n".join(found) or f"{len(PAIRS)} translated pages have the parts of the English ones")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
