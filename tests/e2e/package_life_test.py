"""The packages, checked by lintian, installed in a bare Debian, used, upgraded, removed and purged.
Usage: package_life_test.py BUILDS CPACK COMPILER

BUILDS has the folders of the presets package and package-rpm: the packages are those of ./run --deb and ./run --rpm. Needs root, mmdebstrap,
lintian, rpm, systemd-analyze and Debian's packages. One root is booted with systemd, which starts the unit; where that is not permitted, the
test says so and is skipped."""
import functools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from waiting import until

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))

from booted_root import BootedRoot  # noqa: E402
from debian_root import make_root  # noqa: E402
from made_packages import files_of, make_packages, run  # noqa: E402

BUILDS, CPACK, COMPILER = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))
PACKAGES = ["easyretry", "libeasyretry-dev", "libeasyretry0"]


def packages(folder, *options, kind="DEB"):
    """{name: file} of the packages that people get."""
    made = make_packages(CPACK, pathlib.Path(BUILDS, "package" if kind == "DEB" else "package-rpm"), folder, kind, *options)
    if sorted(made) != PACKAGES:
        raise AssertionError(f"the packages are {sorted(made)}")
    return made


@functools.cache
def shared():
    """For all tests: a folder, the Debian packages, the same as a newer version, and a bare Debian."""
    temporary = tempfile.TemporaryDirectory(prefix="easyretry-package-", ignore_cleanup_errors=True)
    unittest.addModuleCleanup(temporary.cleanup)
    folder = pathlib.Path(temporary.name)
    make_root(folder / "clean")
    return folder, packages(folder / "made"), packages(folder / "newer", "-R", "0.1.1")


class InRoot(unittest.TestCase):
    def setUp(self):
        """A root of its own, with the packages in /tmp."""
        folder, self.debs, self.newer = shared()
        self.root = folder / self.id()
        run("cp", "-a", folder / "clean", self.root)
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.apt("update")

    def command(self, *words):
        return ["chroot", str(self.root), "env", "DEBIAN_FRONTEND=noninteractive", *words]

    def inside(self, *words):
        return run(*self.command(*words))

    def apt(self, *words):
        return self.inside("apt-get", "-y", "-qq", "--no-install-recommends", *words)

    def install(self, *packages):
        for package in packages:
            shutil.copy(package, self.root / "tmp")
        return self.apt("-o", "Dpkg::Options::=--force-confold", "install", *(f"/tmp/{package.name}" for package in packages))

    def version(self, package):
        return self.inside("dpkg-query", "-W", "-f=${Version}", package)

    def ask(self, url, *options):
        """What the daemon answers."""
        token = (self.root / "var/lib/easyretry/easyretry.tokens.first").read_text().strip()
        return json.loads(self.curl("--header", f"Authorization: Bearer {token}", *options, url))

    @staticmethod
    def curl(*words):
        return run("curl", "--silent", "--show-error", *words)

    def submit(self, address):
        """The id of a new task."""
        return self.ask(f"{address}/v1/tasks", "--data", '{"handler": "mail.send"}')["id"]


class Installed(InRoot):
    def start(self):
        """The daemon of the package, with its address."""
        (self.root / "var/lib/easyretry").mkdir(exist_ok=True)
        daemon = subprocess.Popen(self.command("easyretry", "serve", "--config", "/etc/easyretry/easyretry.yaml", "--listen", "127.0.0.1:0"),
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: daemon.poll() is None and daemon.kill())
        self.addCleanup(daemon.stdout.close)
        self.addCleanup(daemon.stderr.close)
        return daemon, next(line for line in daemon.stdout if " serves " in line).split()[-1]

    def stop(self, daemon):
        daemon.terminate()
        self.assertEqual(daemon.wait(timeout=60), 0)

    def tasks(self):
        """The ids of the tasks that are stored."""
        listed = json.loads(self.inside("easyretry", "tasks", "list", "--store", "sqlite:/var/lib/easyretry/retry.db", "--json"))
        return [task["id"] for task in listed["tasks"]]

    def test_the_program_is_upgraded_removed_and_purged_and_no_task_is_deleted(self):
        self.install(self.debs["easyretry"])
        config = self.root / "etc/easyretry/easyretry.yaml"
        daemon, address = self.start()
        task = self.submit(address)
        self.stop(daemon)
        config.write_text(config.read_text() + "workers: 3\n")

        self.install(self.newer["easyretry"])
        self.assertEqual(self.version("easyretry"), "0.1.1")
        self.assertIn("workers: 3", config.read_text(), "an upgrade keeps what the administrator has written")
        self.inside("dpkg", "--remove", "easyretry")
        self.assertFalse((self.root / "usr/bin/easyretry").exists())
        self.assertTrue(config.exists())
        said = self.inside("dpkg", "--purge", "easyretry")
        self.assertFalse(config.parent.exists())
        self.assertIn("/var/lib/easyretry is kept: it has the tasks and tokens. To delete them: rm -r /var/lib/easyretry", said)
        self.install(self.debs["easyretry"])
        self.assertEqual(self.tasks(), [task])

    def test_a_daemon_whose_package_is_purged_loses_nothing(self):
        self.install(self.debs["easyretry"])
        daemon, address = self.start()
        self.assertIn("/var/lib/easyretry is kept", self.inside("dpkg", "--purge", "easyretry"))

        task = self.submit(address)
        daemon.send_signal(signal.SIGHUP)
        self.assertIn("the configuration was not changed: /etc/easyretry/easyretry.yaml", until(lambda: self.line_of(daemon.stderr, "configuration")))
        self.stop(daemon)
        self.install(self.debs["easyretry"])
        self.assertEqual(self.tasks(), [task])

    @staticmethod
    def line_of(stream, word):
        line = stream.readline()
        return line if word in line else None

    def test_the_library_is_used_by_a_program_and_cannot_be_upgraded_beneath_it(self):
        runtime, development = self.debs["libeasyretry0"], self.debs["libeasyretry-dev"]
        self.install(runtime, development)
        self.assertIn("libeasyretry.so.0.1", self.inside("ldconfig", "-p"))
        # Alone: the modules of other libraries are not installed.
        folder = next(self.root.glob("usr/lib/**/pkgconfig"))
        flags = run("pkg-config", "--cflags", "--libs", "easyretry", env={**os.environ, "PKG_CONFIG_LIBDIR": str(folder)}).split()
        run(COMPILER, "-std=c++20", ROOT / "tests/consumer/main.cpp", "-o", self.root / "tmp/app", *flags, "-Wl,--allow-shlib-undefined")
        self.assertEqual(self.inside("/tmp/app"), "paid 9.5")
        self.assertEqual(run("dpkg-deb", "-I", runtime, "shlibs"), "libeasyretry 0.1 libeasyretry0 (= 0.1.0)")

        newer = self.newer["libeasyretry0"]
        shutil.copy(newer, self.root / "tmp")
        refused = subprocess.run(self.command("apt-get", "-y", "--no-remove", "install", f"/tmp/{newer.name}"), capture_output=True, text=True, check=False)
        self.assertNotEqual(refused.returncode, 0, refused.stdout)
        self.assertEqual(self.version("libeasyretry0"), "0.1.0", "it was upgraded without the package that depends on 0.1.0")
        self.install(newer, self.newer["libeasyretry-dev"])
        self.assertEqual(self.version("libeasyretry-dev"), "0.1.1")
        self.inside("dpkg", "--purge", "libeasyretry-dev", "libeasyretry0")
        self.assertEqual([*self.root.glob("usr/lib/**/libeasyretry*"), *self.root.glob("usr/include/easyretry")], [])


class Started(InRoot):
    """In a root whose systemd runs."""

    def setUp(self):
        if why := BootedRoot.why_not():
            print(f"The unit was not started by systemd: {why}", flush=True)
            self.skipTest(why)
        super().setUp()
        self.apt("install", "systemd", "curl")
        for package in (self.debs["easyretry"], self.newer["easyretry"]):
            shutil.copy(package, self.root / "opt")  # systemd empties /tmp
            self.apt("install", "--download-only", f"/opt/{package.name}")  # it has no network when it runs
        self.booted = BootedRoot(self.root)
        self.addCleanup(self.booted.end)
        until(self.booted.state, seconds=180, what="systemd has not started everything")

    def there(self, *words):
        return self.booted.inside("env", "DEBIAN_FRONTEND=noninteractive", *words)

    def install_there(self, package):
        self.there("apt-get", "-y", "-qq", "--no-install-recommends", "install", f"/opt/{package.name}")

    def curl(self, *words):
        return self.there("curl", "--silent", "--show-error", *words)

    def shown(self, name):
        return self.there("systemctl", "show", f"--property={name}", "--value", "easyretry")

    def test_systemd_starts_restarts_and_stops_the_daemon_by_its_unit(self):
        self.install_there(self.debs["easyretry"])
        self.assertEqual(self.shown("ActiveState"), "active")
        self.there("easyretry", "health")
        first = self.shown("MainPID")
        self.assertNotIn("Uid:\t0\t", self.there("cat", f"/proc/{first}/status"), "it has a user of its own")
        address = "http://127.0.0.1:7077"
        task = self.submit(address)

        self.there("systemctl", "kill", "--kill-whom=main", "--signal=KILL", "easyretry")
        until(lambda: self.shown("MainPID") not in ("0", first) and self.shown("ActiveState") == "active", what="it was not started again")
        second = self.shown("MainPID")
        self.install_there(self.newer["easyretry"])
        self.assertEqual(self.there("dpkg-query", "-W", "-f=${Version}", "easyretry"), "0.1.1")
        self.assertEqual(self.shown("ActiveState"), "active")
        self.assertNotIn(self.shown("MainPID"), ("0", second), "an upgrade restarts it")
        self.assertEqual(self.ask(f"{address}/v1/tasks/{task}")["id"], task)

        self.there("dpkg", "--remove", "easyretry")
        self.assertEqual((self.shown("MainPID"), self.shown("ActiveState")), ("0", "inactive"))


class Files(unittest.TestCase):
    """Nothing is installed."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="easyretry-package-", ignore_cleanup_errors=True)
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def test_lintian_finds_no_error(self):
        said = subprocess.run(["lintian", "--allow-root", *packages(self.folder).values()], capture_output=True, text=True, check=False).stdout
        self.assertEqual([line for line in said.splitlines() if line.startswith("E:")], [])

    def test_rpms_have_the_same_files_with_the_library_in_lib64_and_keep_the_configuration(self):
        debs, rpms = packages(self.folder / "debs"), packages(self.folder / "rpms", kind="RPM")
        folder = os.path.dirname(next(file for file in files_of(debs["libeasyretry0"]) if ".so." in file))
        self.assertEqual(folder, "/usr/lib/x86_64-linux-gnu")
        for name, package in debs.items():
            listed = run("rpm", "-qp", "--qf", "[%{FILEMODES:perms} %{FILENAMES}\\n]", rpms[name]).splitlines()
            entries = dict(reversed(line.split(maxsplit=1)) for line in listed)
            files = {file for file, rights in entries.items() if not rights.startswith("d")}
            self.assertEqual(files, {file.replace(folder + "/", "/usr/lib64/") for file in files_of(package)}, name)
            strange = [file for file in set(entries) - files if "easyretry" not in file]
            self.assertEqual(strange, [], f"folders of the distribution in {name}")
        self.assertEqual(run("rpm", "-qpc", rpms["easyretry"]), "/etc/easyretry/easyretry.yaml")

    def test_rpms_have_their_scripts(self):
        said = run("rpm", "-qp", "--scripts", packages(self.folder, kind="RPM")["easyretry"])
        for when, name in (("postinstall", "post"), ("preuninstall", "preun"), ("postuninstall", "postun")):
            self.assertIn(f"{when} scriptlet (using /bin/sh):\n{(ROOT / 'packaging/rpm' / name).read_text()}", said + "\n")


class Units(unittest.TestCase):
    def test_are_understood_by_systemd_and_the_daemon_is_well_confined(self):
        with tempfile.TemporaryDirectory() as folder:
            units = [pathlib.Path(folder, f"easyretry.{kind}") for kind in ("service", "socket")]
            for unit in units:
                text = (ROOT / "packaging" / unit.name).read_text()
                unit.write_text(text.replace("/usr/bin/easyretry", f"{BUILDS}/package/easyretry").replace("Documentation=man:easyretry(1)\n", ""))
            self.assertEqual(run("systemd-analyze", "verify", *units), "")
            run("systemd-analyze", "security", "--offline=true", "--threshold=20", units[0])  # 2.0 of 10, where 10 is unconfined


if __name__ == "__main__":
    unittest.main()
