#!/usr/bin/env python3
"""Fails when a room includes another one that src/CMakeLists.txt does not let it use, when the core includes or uses anything of a part
that a build may leave out, or when a public header includes a private one."""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
# Folders whose headers may include heavy ones, because no file outside may include them.
SHUT_IN = ("http/beast/",)
HEAVY = ("nlohmann/", "boost/", "grpc", "google/", "spdlog/", "CLI/", "fmt/", "yaml-cpp/", "prometheus/")
# The libraries that the core is built without.
OF_PARTS = ("boost/asio", "boost/beast", "curl/", "google/", "grpc", "hiredis/", "libpq", "mysql", "mariadb", "prometheus/", "yaml-cpp/")


class Rooms:
    """The lines add_room and inner_room of src/CMakeLists.txt. Inner rooms are named storage/sql."""

    def __init__(self, text):
        self.uses, self.part, self.inner = {}, {}, {}
        line = r"^{}\(([\w/]+)(?: PART (\w+))?(?: ENTRY \w+)?(?: USES ([\w ]+?))?(?: ROOMS ([\w ]+))?\)"
        for name, part, uses, _ in re.findall(line.format("add_room"), text, re.M):
            self.uses[name], self.part[name] = set(uses.split()), part
        for name, part, uses, more in re.findall(line.format("inner_room"), text, re.M):
            room, folder = name.split("/")
            self.inner.setdefault(room, {})[folder] = set(uses.split())
            self.uses[name], self.part[name] = self.uses[room] | set(more.split()), part or self.part[room]

    def of(self, name):
        """The room of a file or an include, below src: storage/sql/tables.h is in storage/sql."""
        inner = "/".join(name.split("/")[:2])
        return inner if inner in self.uses else name.split("/")[0]


def leaning_on_parts(rooms):
    """Rooms of the core that use a room of a part, and their files that include something of a part."""
    for name, uses in rooms.uses.items():
        for used in sorted(uses):
            if not rooms.part[name] and rooms.part[used]:
                yield f"src/CMakeLists.txt: {name} is in the core and may not use {used}, a room of the part {rooms.part[used]}"
    for path in sorted((root / "src").rglob("*.[ch]*")):
        where = str(path.relative_to(root / "src"))
        if path.suffix not in (".h", ".cpp") or rooms.part[rooms.of(where)]:
            continue
        for number, kind, name in includes(path):
            if kind == '"' and rooms.part.get(rooms.of(name)):
                yield f"src/{where}:{number}: the core may not include {name}, of the part {rooms.part[rooms.of(name)]}"
            if kind == "<" and name.startswith(OF_PARTS):
                yield f"src/{where}:{number}: the core is built without the library of <{name}>"


# Files that may include every folder of their room.
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


def strays(rooms):
    for path in sorted((root / "src").rglob("*.[ch]*")):
        if path.suffix not in (".h", ".cpp"):
            continue
        own = rooms.of(str(path.relative_to(root / "src")))
        room = own.split("/")[0]
        for number, kind, name in includes(path):
            where = f"{path.relative_to(root)}:{number}"
            target = name.split("/")[0]
            shut_in = any(f"src/{folder}" in str(path.relative_to(root)) for folder in SHUT_IN)
            if kind == '"' and name.startswith(SHUT_IN) and not shut_in:
                yield f"{where}: {name} is for the files beside it alone"
            if kind == '"' and target != room and target not in rooms.uses[own]:
                yield f"{where}: room {room} may not use {target} (src/CMakeLists.txt)"
            if path.suffix == ".h" and name.startswith(HEAVY) and not shut_in:
                yield f"{where}: {name} is heavy; include it in a .cpp only"
    for path in sorted((root / "include").rglob("*.h")):
        for number, kind, name in includes(path):
            if kind == '"' or name.startswith(HEAVY) or name.startswith("tl/"):
                yield f"{path.relative_to(root)}:{number}: a public header may not include {name}"


def main():
    rooms = Rooms((root / "src/CMakeLists.txt").read_text())
    names = {name for name in rooms.uses if "/" not in name}
    folders = {p.name for p in (root / "src").iterdir() if p.is_dir()}
    problems = [f"src/{name} is no room in src/CMakeLists.txt" for name in sorted(folders - names)]
    problems += strays(rooms)
    problems += inner_strays(rooms.inner)
    problems += leaning_on_parts(rooms)
    print("\n".join(problems) or f"{len(names)} rooms, no stray include")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
