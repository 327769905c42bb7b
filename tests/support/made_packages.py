"""Packages that CPack makes of a build folder."""
import pathlib
import re
import subprocess


def run(*command, **more):
    """The output of a command that succeeds."""
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **more)
    if ran.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}:\n{ran.stdout[-3000:]}")
    return ran.stdout.strip()


def make_packages(cpack, build, folder, kind="DEB", *options):
    """{name: file} of the packages."""
    said = run(cpack, "-G", kind, "--config", pathlib.Path(build, "CPackConfig.cmake"), "-B", folder, *options)
    files = [pathlib.Path(file) for file in re.findall(r"package: (\S+) generated", said)]
    return {re.match(r"(.+?)[_-]\d", file.name).group(1): file for file in files}


def files_of(package):
    """Of a Debian package: the files, and not the folders."""
    listed = [line.split(maxsplit=5)[5] for line in run("dpkg-deb", "-c", package).splitlines()]
    return {name.split(" -> ")[0].removeprefix(".") for name in listed if not name.endswith("/")}
