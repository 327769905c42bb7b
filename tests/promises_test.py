#!/usr/bin/env python3
"""docs/promises.md defines every invariant that the simulator checks, and names files and tests that exist."""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
INVARIANT = re.compile(r'"(I\d+)"')


def reported(path):
    return set(INVARIANT.findall(path.read_text()))


def problems_of_invariants(page):
    defined = set(re.findall(r"^\| (I\d+) \|", page, re.M))
    sources = [path for path in (root / "tests/sim").glob("*.cpp") if path.name != "checker_test.cpp"]
    checked = set().union(*map(reported, sources))
    tested = reported(root / "tests/sim/checker_test.cpp")
    cited = set(re.findall(r"\bI\d+\b", page))
    yield from (f"{one} is checked by the simulator, but not defined" for one in sorted(checked - defined))
    yield from (f"{one} is defined, but the simulator does not check it" for one in sorted(defined - checked))
    yield from (f"{one} is not broken in checker_test.cpp, so nobody knows whether that is noticed" for one in sorted(defined - tested))
    yield from (f"{one} is cited, but not defined" for one in sorted(cited - defined))
    if defined != {f"I{number}" for number in range(1, len(defined) + 1)}:
        yield "the numbers of the invariants have gaps"


def problems_of_names(page):
    tests = list((root / "tests").rglob("*_test.*"))
    paths = {str(path.relative_to(root)) for path in tests} | {path.name for path in tests}
    yield from (f"{name} does not exist" for name in re.findall(r"`([\w/]+_test\.\w+)`", page) if name not in paths)
    code = "\n".join(path.read_text() for path in tests if path.suffix == ".cpp")
    for suite, case in re.findall(r"`([A-Z]\w+)(?:\.(\w+)…?)?`", page):
        if not re.search(rf"^TEST(?:_F|_P)?\({suite}, {case}", code, re.M):
            yield f"there is no test {suite}.{case}"


def problems_of_the_lab(page):
    """The page names exactly the invariants that a fleet with broken statements is found to break."""
    broken = set(re.findall(r'^    "(\w+)": \(', (root / "tests/lab/sabotage.py").read_text(), re.M))
    said = set(re.findall(r"`(\w+)`", re.search(r"checker must report:\n(.*?)\.\s", page, re.S).group(1)))
    yield from (f"{one} is said to be broken in a fleet, or is and is not said" for one in sorted(broken ^ said))


def main():
    page = (root / "docs/promises.md").read_text()
    found = [*problems_of_invariants(page), *problems_of_names(page), *problems_of_the_lab(page)]
    print("\n".join(found) or "every promise names what shows it")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
