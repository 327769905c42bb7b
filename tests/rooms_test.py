#!/usr/bin/env python3
"""Fails when a room includes one that src/CMakeLists.txt does not let it use, or a public header includes a private one."""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
# Folders whose own headers may include what is heavy, because nobody outside may include them.
SHUT_IN = ("http/beast/",)
HEAVY = ("nlohmann/", "boost/", "grpc", "google/", "spdlog/", "CLI/", "fmt/", "yaml-cpp/", "prometheus/")


def rooms():
    text = (root / "src/CMakeLists.txt").read_text()
    found = re.findall(r"^add_room\((\w+)(?: USES ([\w ]+))?\)", text, re.M)
    return {name: set(uses.split()) for name, uses in found}


def inner_rooms():
    """{"storage": {"sql": {"server"}, …}}"""
    text = (root / "src/CMakeLists.txt").read_text()
    found = {}
    for room, folder, uses in re.findall(r"^inner_room\((\w+)/(\w+)(?: USES ([\w ]+))?\)", text, re.M):
        found.setdefault(room, {})[folder] = set(uses.split())
    return found


# The files that may include every folder of their room.
OPENERS = {"storage/open.cpp"}


def inner_strays(rooms):
    for room, folders in rooms.items():
        for path in sorted((root / "src" / room).rglob("*")):
            if path.suffix not in (".h", ".cpp") or str(path.relative_to(root / "src")) in OPENERS:
                continue
            parts = path.relative_to(root / "src" / room).parts
            own = parts[0] if len(parts) > 1 else None
            if own is not None and own not in folders:
                yield f"src/{room}/{own} is no inner_room in src/CMakeLists.txt"
                continue
            allowed = folders[own] | {own} if own else set()
            for number, kind, name in includes(path):
                into = name.split("/")
                if kind == '"' and into[0] == room and len(into) > 2 and into[1] not in allowed:
                    yield f"{path.relative_to(root)}:{number}: {own or room} may not use {into[1]} (src/CMakeLists.txt)"


def includes(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if match:
            yield number, match.group(1), match.group(2)


def strays(allowed):
    for path in sorted((root / "src").rglob("*.[ch]*")):
        if path.suffix not in (".h", ".cpp"):
            continue
        room = path.relative_to(root / "src").parts[0]
        for number, kind, name in includes(path):
            where = f"{path.relative_to(root)}:{number}"
            target = name.split("/")[0]
            shut_in = any(f"src/{folder}" in str(path.relative_to(root)) for folder in SHUT_IN)
            if kind == '"' and name.startswith(SHUT_IN) and not shut_in:
                yield f"{where}: {name} is for the files beside it alone"
            if kind == '"' and target != room and target not in allowed[room]:
                yield f"{where}: room {room} may not use {target} (src/CMakeLists.txt)"
            if path.suffix == ".h" and name.startswith(HEAVY) and not shut_in:
                yield f"{where}: {name} is heavy; include it in a .cpp only"
    for path in sorted((root / "include").rglob("*.h")):
        for number, kind, name in includes(path):
            if kind == '"' or name.startswith(HEAVY):
                yield f"{path.relative_to(root)}:{number}: a public header may not include {name}"


def main():
    allowed = rooms()
    folders = {p.name for p in (root / "src").iterdir() if p.is_dir()}
    problems = [f"src/{name} is no room in src/CMakeLists.txt" for name in sorted(folders - set(allowed))]
    problems += strays(allowed)
    problems += inner_strays(inner_rooms())
    print("\n".join(problems) or f"{len(allowed)} rooms, no stray include")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
