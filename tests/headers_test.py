#!/usr/bin/env python3
"""headers_test.py BUILD_DIR: the public headers, include/easyretry.

Outside detail/ there are at most 22, each of them for applications: easyretry.h includes it, or a page or an example
shows how to. Each header compiles alone, also in detail/, none has `using namespace`, and a shared library shows what
they declare. easyretry.h stays cheap: it includes none of the most expensive standard headers (bench/header_cost.py
measures the rest).
"""
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

from compile_errors_test import compiler

root = pathlib.Path(__file__).resolve().parent.parent
folder = root / "include/easyretry"
MOST = 22
NOT_IN_THE_UMBRELLA = ("algorithm", "filesystem", "fstream", "iomanip", "iostream", "mutex", "numeric", "random",
                       "ranges", "regex", "thread", "tl/expected.hpp")  # GCC's <chrono> brings <sstream>


def without_precompiled(command):
    """The command without the precompiled header, which would hide that a header forgot an include."""
    words = iter(command)
    return [word for word in words if not (word == "-include" and next(words))]


def strangers():
    """Public headers that neither easyretry.h nor the docs mention."""
    umbrella = (folder / "easyretry.h").read_text()
    told = umbrella + "".join(page.read_text() for page in [root / "README.md", *(root / "docs").glob("*.md"),
                                                            *(root / "examples").rglob("*.cpp")])
    for header in sorted(folder.glob("*.h")):
        if header.name != "easyretry.h" and f"#include <easyretry/{header.name}>" not in told:
            yield f"{header.name} is neither in easyretry.h nor in a page or an example; does it belong in detail/?"


def rules():
    public = list(folder.glob("*.h"))
    if len(public) > MOST:
        yield f"{len(public)} headers outside detail/, more than {MOST}"
    yield from strangers()
    for header in sorted(folder.rglob("*.h")):
        text = header.read_text()
        code = re.sub(r"//.*", "", text)
        if re.search(r"\busing\s+namespace\b", code):
            yield f"{header.relative_to(root)}: using namespace in a header"
        shown = re.search(r"visibility push\(default\)\nnamespace .*\n}  // namespace [\w:]+\n#pragma GCC visibility pop\n", text, re.S)
        if re.search(r"^namespace\b", code, re.M) and not shown:
            yield f"{header.relative_to(root)}: a shared library hides it; put #pragma GCC visibility push(default) and pop around namespaces"


def alone(header, command, scratch):
    file = pathlib.Path(scratch) / f"{header.relative_to(folder)}.cpp".replace("/", "_")
    file.write_text(f"#include <{header.relative_to(root / 'include')}>\n")
    run = subprocess.run([*command, str(file)], capture_output=True, text=True, timeout=120)
    return f"{header.relative_to(root)} does not compile alone:\n{run.stderr}" if run.returncode else None


def expensive(command, scratch):
    """The standard headers that easyretry.h includes, directly or not, as the compiler lists them."""
    file = pathlib.Path(scratch) / "umbrella.cpp"
    file.write_text("#include <easyretry/easyretry.h>\n")
    run = subprocess.run([*command, "-M", str(file)], capture_output=True, text=True, timeout=120, check=True)
    included = run.stdout.split()
    for name in NOT_IN_THE_UMBRELLA:
        if any(path.endswith(f"/{name}") and "/bits/" not in path and "/pstl/" not in path for path in included):
            yield f"easyretry.h includes <{name}>, which every application would pay for"


def main():
    command = without_precompiled(compiler(pathlib.Path(sys.argv[1])))
    headers = sorted(folder.rglob("*.h"))
    problems = list(rules())
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(2) as pool:
        problems += filter(None, pool.map(lambda header: alone(header, command, scratch), headers))
        problems += expensive(command, scratch)
    print("\n".join(problems) or f"{len(headers)} headers, each compiles alone")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
