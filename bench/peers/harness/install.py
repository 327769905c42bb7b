"""Installs peers into build/peers by the ordinary clients of their languages, with the versions of their lock files.

A peer whose files have not changed since it was installed is not installed again."""
import hashlib
import platform
import re
import shutil
import sys

from harness.options import ROOT
from harness.problem import LeftOut, Problem

SOURCES = ROOT / "bench/peers"
FOLDER = ROOT / "build/peers"
PATIENCE = 1800  # seconds; better-sqlite3 is compiled
NODE_NEEDED = (22, 18)  # by graphile-worker


class Installer:
    def __init__(self, children, folder=FOLDER):
        self.children, self.folder = children, folder

    def command(self, peer, store):
        """The words that start the peer's program, before the name of a work. Raises LeftOut."""
        try:
            return getattr(self, peer.language.replace("-", "_"))(peer, store)
        except Problem as problem:
            raise LeftOut(str(problem)) from None

    def limit(self, store):
        """The program that measures the bare limit."""
        self.run([ROOT / "bench/limits/build", self.folder / "bin", store])
        return self.folder / "bin" / f"limit_{store}"

    def run(self, command, **more):
        if not shutil.which(str(command[0])):
            raise Problem(f"{command[0]} is not installed")
        return self.children.run(command, PATIENCE, **more)

    def once(self, name, sources, install):
        """Calls install() unless it succeeded before with the same files."""
        stamp = self.folder / f"{name}.stamp"
        digest = hashlib.sha256(b"".join(file.read_bytes() for file in files_of(sources))).hexdigest()
        if stamp.exists() and stamp.read_text() == digest:
            return
        stamp.unlink(missing_ok=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        install()
        stamp.write_text(digest)

    # --- Node ---------------------------------------------------------------------------------------------------------------------

    def node(self, peer, _):
        return self.node_command(self.node_program(), peer)

    def old_node(self, peer, _):
        """Runs with the node that npm itself uses, because its parts in C++ are compiled for that one."""
        return self.node_command("node", peer)

    def node_command(self, program, peer):
        self.install_node_package(peer.folder)
        copy_folder(SOURCES / "node", self.folder / "node")
        return [program, self.folder / "node/driver.mjs", self.folder / peer.folder / "peer.mjs"]

    def install_node_package(self, name):
        """Copies the sources, too: modules are looked for beside the file that imports them."""
        target = self.folder / name
        manifests = [SOURCES / name / "package.json", SOURCES / name / "package-lock.json"]
        copy_folder(SOURCES / name, target)
        self.once(name, manifests, lambda: self.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=target))

    def node_program(self):
        """The machine's node, or one from npm if that is too old."""
        found = re.match(r"v(\d+)\.(\d+)", self.run(["node", "--version"]))
        if tuple(map(int, found.groups())) >= NODE_NEEDED:
            return "node"
        self.install_node_package("node-runtime")
        machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
        program = self.folder / f"node-runtime/node_modules/node-linux-{machine}/bin/node"
        if not program.exists():
            raise Problem(f"needs Node {'.'.join(map(str, NODE_NEEDED))}, and npm has none for {machine}")
        return program

    # --- Go, Java and Python ------------------------------------------------------------------------------------------------------

    def go(self, peer, store):
        program = self.folder / "bin" / f"{peer.folder}-{store}"
        sqlite = ["-modfile=sqlite.mod", "-tags=sqlite"] if store == "sqlite" else []
        self.once(program.name, [SOURCES / peer.folder, SOURCES / "go"],
                  lambda: self.run(["go", "build", *sqlite, "-o", program, "."], cwd=SOURCES / peer.folder))
        return [program]

    def java(self, peer, _):
        target = self.folder / peer.folder
        self.once(peer.folder, [SOURCES / peer.folder, SOURCES / "java"], lambda: self.build_java(peer.folder, target))
        return ["java", "-cp", f"{target}/*:{target}", "Bench"]

    def build_java(self, name, target):
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        shutil.copy(SOURCES / name / "pom.xml", target)  # Maven would write beside it
        self.run(["mvn", "--quiet", "--batch-mode", "--file", target / "pom.xml", "dependency:copy-dependencies",
                  f"-DoutputDirectory={target}", "-DincludeScope=runtime"])
        sources = sorted([*(SOURCES / "java").glob("*.java"), *(SOURCES / name).glob("*.java")])
        self.run(["javac", "-nowarn", "-d", target, "-cp", f"{target}/*", *sources])

    def python(self, peer, _):
        home = self.folder / "python"
        lock = SOURCES / "python/requirements.txt"
        self.once("python", [lock], lambda: self.install_python(home, lock))
        return [home / "bin/python", SOURCES / peer.folder / "bench.py"]

    def install_python(self, home, lock):
        self.run([sys.executable, "-m", "venv", "--clear", home])
        self.run([home / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", lock])


def files_of(paths):
    for path in paths:
        yield from sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]


def copy_folder(source, target):
    """Adds the files to the target, and leaves what was installed there."""
    shutil.copytree(source, target, dirs_exist_ok=True)

