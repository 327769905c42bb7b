"""Shared by all kinds of servers: the login, and where programs are."""
import os
import pathlib
import shutil

from problem import Problem

USER, PASSWORD, DATABASE = "easyretry", "secret", "easyretry"
MOST_CONNECTIONS = 300
PATIENCE = 120  # seconds; reached only by broken servers


def program_folders():
    """Where to look for servers. Debian keeps them out of the users' PATH, and each PostgreSQL version in its own folder: the
    newest comes first."""
    versions = map(str, pathlib.Path("/usr/lib/postgresql").glob("[1-9][0-9]/bin"))
    chosen = os.environ.get("TEST_PROGRAMS", "").split(os.pathsep)  # another version (tests/engines)
    return [*filter(None, chosen), *sorted(versions, reverse=True), "/usr/sbin", *os.environ.get("PATH", os.defpath).split(os.pathsep)]


def without_syncs(command):
    """The command with syncs that do nothing, for a server that has no option to leave all of them out."""
    libraries = sorted(pathlib.Path("/usr/lib").glob("*/libeatmydata.so"))
    if not libraries:
        raise Problem("libeatmydata is not installed: run tools/setup test, or apt-get install libeatmydata1")
    return ["/usr/bin/env", f"LD_PRELOAD={libraries[0]}", *command]


def find_programs(package, *names):
    found = [shutil.which(name, path=os.pathsep.join(program_folders())) for name in names]
    for name, path in zip(names, found):
        if not path:
            raise Problem(f"{name} is not installed: run tools/setup test, or apt-get install {package}")
    return found
