"""What the kinds of servers have in common: who may log in, and where programs are."""
import os
import pathlib
import shutil

from problem import Problem

USER, PASSWORD, DATABASE = "easyretry", "secret", "easyretry"
MOST_CONNECTIONS = 300
PATIENCE = 120  # seconds, for what should take few; for broken servers only


def program_folders():
    """Debian keeps servers out of the users' PATH, and each PostgreSQL in a folder of its own: the newest first."""
    versions = map(str, pathlib.Path("/usr/lib/postgresql").glob("[1-9][0-9]/bin"))
    return [*sorted(versions, reverse=True), "/usr/sbin", *os.environ.get("PATH", os.defpath).split(os.pathsep)]


def without_syncs(command):
    """The command with syncs that do nothing: for a server that cannot be told to leave all of them out."""
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
