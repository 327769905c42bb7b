#!/usr/bin/env python3
"""consumer_test.py BUILD_DIR CMAKE COMPILER BUILD_TYPE FLAGS: the README's two CMake lines, in a separate project that
sets no C++ standard; and the same project with FetchContent.

Configures the project with the real add_subdirectory or FetchContent, compiles its file and links it with the commands that CMake
generates, and runs it. Not covered: the library is not built again as part of that project, which would take minutes;
its archives are those of BUILD_DIR.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parent.parent


def lines_of_the_readme():
    text = (root / "README.md").read_text()
    found = re.search(r"`(add_subdirectory\(easyretry\))` and\s+`(target_link_libraries\(app [^`]*\))`", text)
    return found.groups() if found else sys.exit("README.md no longer has the two lines")


FETCH = """include(FetchContent)
FetchContent_Declare(easyretry SOURCE_DIR ${CMAKE_CURRENT_SOURCE_DIR}/easyretry)
FetchContent_MakeAvailable(easyretry)"""


def write_project(folder, add, link):
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(shop LANGUAGES CXX)\n"
        f"{add}\nadd_executable(app main.cpp)\n{link}\n")
    (folder / "main.cpp").write_text((root / "tests/consumer/main.cpp").read_text())
    (folder / "easyretry").symlink_to(root)


def run(*command, cwd=None):
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=240)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\nfailed:\n{done.stdout}{done.stderr}")
    return done.stdout


def command_for(output, own):
    return run("ninja", "-C", own, "-t", "commands", "-s", output).strip().splitlines()[-1]


def borrow_archives(link, own, built):
    """Puts libeasyretry_call.a and the others where the link command looks for them."""
    for folder, archive in re.findall(r"(easyretry|_deps/easyretry-build)/(\S+\.a)\b", link):
        path = own / folder / archive
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.symlink_to(built / archive)


def said_by_a_project(add, link, built, cmake, compiler, build_type, *flags):
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        write_project(folder, add, link)
        own = folder / "build"
        run(cmake, "-G", "Ninja", "-S", folder, "-B", own, f"-DCMAKE_CXX_COMPILER={compiler}",
            f"-DCMAKE_BUILD_TYPE={build_type}", f"-DCMAKE_CXX_FLAGS={' '.join(flags)}")
        # Not with ninja, which would build the library first.
        run("sh", "-c", command_for("CMakeFiles/app.dir/main.cpp.o", own), cwd=own)
        linking = command_for("app", own)
        borrow_archives(linking, own, pathlib.Path(built).resolve())
        run("sh", "-c", linking, cwd=own)
        return run(own / "app", cwd=own)


def main():
    add, link = lines_of_the_readme()
    said = [said_by_a_project(how, link, *sys.argv[1:]) for how in (add, FETCH)]
    print(f"the projects compile, link and say: {said}")
    return 0 if said == ["paid 9.5\n"] * 2 else 1


if __name__ == "__main__":
    sys.exit(main())
