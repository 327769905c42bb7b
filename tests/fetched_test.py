#!/usr/bin/env python3
"""fetched_test.py CMAKE COMPILER: a project that gets EasyRetry by FetchContent from a tag of a Git repository, and builds all of it.

The repository is made of the sources as they are here. consumer_test.py, which runs always, borrows the archives of another build."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CMAKE, COMPILER = sys.argv[1:]
SOURCES = ("CMakeLists.txt", "cmake", "include", "packaging", "src")
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(shop LANGUAGES CXX)
set(EASYRETRY_PARTS OFF)
include(FetchContent)
{declare}
FetchContent_MakeAvailable(easyretry)
add_executable(app main.cpp)
target_link_libraries(app PRIVATE easyretry::easyretry)
"""


def run(*command, cwd):
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\nfailed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def make_repository(folder):
    """With the tag v0.1.0."""
    for name in SOURCES:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    as_a_user = ("-c", "user.name=test", "-c", "user.email=test@example.org")
    for words in (("init", "--quiet"), ("add", "."), (*as_a_user, "commit", "--quiet", "--message", "All"), ("tag", "v0.1.0")):
        run("git", *words, cwd=folder)


def declaration(repository):
    """As docs/building.md has it."""
    [line] = re.findall(r"`(FetchContent_Declare\([^`]*\))`", (ROOT / "docs/building.md").read_text())
    assert line.count("…") == 2, line
    return line.replace("…", f"file://{repository}", 1).replace("…", "v0.1.0")


def main():
    with tempfile.TemporaryDirectory(prefix="easyretry-fetched-") as scratch:
        repository, project = pathlib.Path(scratch, "repository"), pathlib.Path(scratch, "shop")
        repository.mkdir()
        project.mkdir()
        make_repository(repository)
        (project / "CMakeLists.txt").write_text(PROJECT.format(declare=declaration(repository)))
        shutil.copy(ROOT / "tests/consumer/main.cpp", project)
        configured = run(CMAKE, "-G", "Ninja", "-B", "build", f"-DCMAKE_CXX_COMPILER={COMPILER}", cwd=project)
        assert "EasyRetry parts: ; left out: alerts" in configured, configured
        run(CMAKE, "--build", "build", "--target", "app", f"-j{os.cpu_count()}", cwd=project)
        said = run(project / "build/app", cwd=project)
    print(f"the project says: {said}")
    return 0 if said == "paid 9.5\n" else 1


if __name__ == "__main__":
    sys.exit(main())
