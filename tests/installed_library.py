"""Installs the library of a build folder, and builds programs with it as other projects do."""
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(shop LANGUAGES CXX)
{find}
add_executable(app main.cpp)
target_link_libraries(app PRIVATE easyretry::easyretry)
"""


class Failed(Exception):
    """The output of a command that failed, in one line."""


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=240, **options)
    if done.returncode:
        raise Failed(" ".join((done.stdout + done.stderr).split()))
    return done.stdout


def said_by(program, **options):
    """Returns the output of the program. Its database is in the same folder."""
    return run(program, cwd=program.parent, **options)


class Installed:
    def __init__(self, build, cmake, compiler):
        self.cmake, self.compiler = cmake, compiler
        self.folder = tempfile.TemporaryDirectory()
        self.prefix = pathlib.Path(self.folder.name) / "prefix"
        for component in ("development", "library"):
            run(cmake, "--install", build, "--prefix", self.prefix, "--component", component)

    def remove(self):
        self.folder.cleanup()

    def configure(self, find, source="main.cpp", flags="", options=(), **environment):
        """Configures a project that has the line `find`. Raises Failed with what CMake says."""
        project = pathlib.Path(tempfile.mkdtemp(dir=self.folder.name))
        (project / "CMakeLists.txt").write_text(PROJECT.format(find=find))
        (project / "main.cpp").write_text((ROOT / "tests/consumer" / source).read_text())
        run(self.cmake, "-G", "Ninja", "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}",
            f"-DCMAKE_CXX_COMPILER={self.compiler}", f"-DCMAKE_CXX_FLAGS={flags}", *options, env={**os.environ, **environment})
        return project / "build"

    def program(self, find, **options):
        build = self.configure(find, **options)
        run("ninja", "-C", build)
        return build / "app"

    def program_by_pkg_config(self, modules, source="main.cpp", flags=""):
        folders = [str(found) for found in self.prefix.rglob("pkgconfig")]
        said = run("pkg-config", "--cflags", "--libs", *modules, env={**os.environ, "PKG_CONFIG_PATH": ":".join(folders)})
        app = pathlib.Path(tempfile.mkdtemp(dir=self.folder.name)) / "app"
        run(self.compiler, "-std=c++20", *flags.split(), ROOT / "tests/consumer" / source, "-o", app, *said.split())
        return app


def libraries_of(program):
    """The shared libraries that the program needs, directly or not."""
    return [line.split()[0] for line in run("ldd", program).splitlines()]
