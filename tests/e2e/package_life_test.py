"""The packages, checked by lintian, installed in a bare Debian, used, upgraded, removed and purged.
Usage: package_life_test.py BUILD_DIR SHARED_BUILD_DIR CPACK COMPILER

The program is that of BUILD_DIR; the library, with the core alone, that of SHARED_BUILD_DIR (core_build_test.py). Needs root, mmdebstrap,
lintian, rpm, systemd-analyze and Debian's packages. No systemd runs in the root, so the unit is not started: systemd-analyze reads it."""
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

from debian_root import make_root  # noqa: E402
from made_packages import files_of, make_packages, run  # noqa: E402

BUILD, SHARED, CPACK, COMPILER = (os.path.abspath(sys.argv.pop(1)) for _ in range(4))


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory(prefix="easyretry-package-", ignore_cleanup_errors=True)
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        cls.debs = {**make_packages(CPACK, BUILD, cls.folder / "program"), **make_packages(CPACK, SHARED, cls.folder / "library")}
        cls.clean = cls.folder / "clean"
        make_root(cls.clean)

    def setUp(self):
        """A root of its own, with the packages in /tmp."""
        self.root = self.folder / self.id()
        run("cp", "-a", self.clean, self.root)
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

    def submit(self, address):
        """The id of a new task."""
        token = (self.root / "var/lib/easyretry/easyretry.tokens.first").read_text().strip()
        return json.loads(run("curl", "--silent", "--header", f"Authorization: Bearer {token}", "--data", '{"handler": "mail.send"}',
                              f"{address}/v1/tasks"))["id"]

    def tasks(self):
        """The ids of the tasks that are stored."""
        listed = json.loads(self.inside("easyretry", "tasks", "list", "--store", "sqlite:/var/lib/easyretry/retry.db", "--json"))
        return [task["id"] for task in listed["tasks"]]

    def test_the_program_is_upgraded_removed_and_purged_and_no_task_is_deleted(self):
        newer = make_packages(CPACK, BUILD, self.folder / "newer", "DEB", "-R", "0.1.1")["easyretry"]
        self.install(self.debs["easyretry"])
        config = self.root / "etc/easyretry/easyretry.yaml"
        daemon, address = self.start()
        task = self.submit(address)
        self.stop(daemon)
        config.write_text(config.read_text() + "workers: 3\n")

        self.install(newer)
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

        newer = make_packages(CPACK, SHARED, self.folder / "newer", "DEB", "-R", "0.1.1")
        shutil.copy(newer["libeasyretry0"], self.root / "tmp")
        refused = subprocess.run(self.command("apt-get", "-y", "--no-remove", "install", f"/tmp/{newer['libeasyretry0'].name}"),
                                 capture_output=True, text=True, check=False)
        self.assertNotEqual(refused.returncode, 0, refused.stdout)
        self.assertEqual(self.version("libeasyretry0"), "0.1.0", "it was upgraded without the package that depends on 0.1.0")
        self.install(*newer.values())
        self.assertEqual(self.version("libeasyretry-dev"), "0.1.1")
        self.inside("dpkg", "--purge", "libeasyretry-dev", "libeasyretry0")
        self.assertEqual([*self.root.glob("usr/lib/**/libeasyretry*"), *self.root.glob("usr/include/easyretry")], [])


class Files(unittest.TestCase):
    """Nothing is installed."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="easyretry-package-", ignore_cleanup_errors=True)
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def both(self, kind):
        return {**make_packages(CPACK, BUILD, self.folder / "program", kind), **make_packages(CPACK, SHARED, self.folder / "library", kind)}

    def test_lintian_finds_no_error(self):
        debs = self.both("DEB")
        self.assertEqual(set(debs), {"easyretry", "libeasyretry0", "libeasyretry-dev"})
        said = subprocess.run(["lintian", "--allow-root", *debs.values()], capture_output=True, text=True, check=False).stdout
        self.assertEqual([line for line in said.splitlines() if line.startswith("E:")], [])

    def test_rpms_have_the_same_files_and_keep_the_configuration(self):
        debs, rpms = self.both("DEB"), self.both("RPM")
        self.assertEqual(set(debs), set(rpms))
        for name, package in debs.items():
            self.assertLessEqual(files_of(package), set(run("rpm", "-qpl", rpms[name]).splitlines()), name)
        self.assertEqual(run("rpm", "-qpc", rpms["easyretry"]), "/etc/easyretry/easyretry.yaml")


class Units(unittest.TestCase):
    def test_are_understood_by_systemd_and_the_daemon_is_well_confined(self):
        with tempfile.TemporaryDirectory() as folder:
            units = [pathlib.Path(folder, f"easyretry.{kind}") for kind in ("service", "socket")]
            for unit in units:
                text = (ROOT / "packaging" / unit.name).read_text()
                unit.write_text(text.replace("/usr/bin/easyretry", f"{BUILD}/easyretry").replace("Documentation=man:easyretry(1)\n", ""))
            self.assertEqual(run("systemd-analyze", "verify", *units), "")
            run("systemd-analyze", "security", "--offline=true", "--threshold=20", units[0])  # 2.0 of 10, where 10 is unconfined


if __name__ == "__main__":
    unittest.main()
