"""The image of packaging/Containerfile, built and started on a Debian root that is made here. Usage: image_test.py EASYRETRY_PROGRAM

Needs root, buildah, mmdebstrap, docker-compose and Debian's packages. The second stage is built as it stands, with the program of this
build instead of the one that the first stage would compile. The container is made of namespaces, with the image's files, user, command
and health check: read-only but for its volume, as `--read-only` makes it."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import yaml

from waiting import until

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))

from debian_root import make_root  # noqa: E402
from made_packages import run  # noqa: E402

PROGRAM = os.path.abspath(sys.argv.pop(1))
CONTAINERFILE = (ROOT / "packaging/Containerfile").read_text()
COMPOSE = ROOT / "packaging/compose/compose.yaml"
BASE, IMAGE = "easyretry-test-base", "easyretry-test"


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="easyretry-image-", ignore_cleanup_errors=True)
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.make_base()
        cls.build()
        cls.config = json.loads(cls.buildah("inspect", "--type", "image", IMAGE))["Docker"]["config"]
        container = cls.buildah("from", IMAGE)
        cls.root = cls.buildah("mount", container)
        cls.addClassCleanup(cls.buildah, "umount", container)
        cls.network = f"easyretry-image-{os.getpid()}"  # of its own, because another daemon may have the port on this machine
        run("ip", "netns", "add", cls.network)
        cls.addClassCleanup(run, "ip", "netns", "delete", cls.network)
        run("ip", "-n", cls.network, "link", "set", "lo", "up")

    @classmethod
    def buildah(cls, *arguments):
        """With a store of its own, which goes with the folder."""
        place = ["--root", cls.folder / "storage", "--runroot", cls.folder / "run", "--storage-driver", "vfs"]
        return run("buildah", *place, *arguments, cwd=cls.folder)

    @classmethod
    def make_base(cls):
        make_root(cls.folder / "base.tar")
        container = cls.buildah("from", "scratch")
        cls.buildah("add", container, cls.folder / "base.tar", "/")
        cls.buildah("commit", container, BASE)

    @classmethod
    def build(cls):
        context = cls.folder / "context"
        (context / "tools").mkdir(parents=True)
        shutil.copy(ROOT / "tools/packages.txt", context / "tools")
        (context / "install/usr/bin").mkdir(parents=True)
        run("strip", "-o", context / "install/usr/bin/easyretry", PROGRAM)
        _, _, second = CONTAINERFILE.partition("\nFROM ${BASE}\n")
        text = "ARG BASE\nFROM ${BASE}\n" + second.replace("COPY --from=build /install/usr /usr", "COPY install/usr /usr")
        if "--from" in text:
            raise AssertionError("the second stage takes more from the first one than this test knows")
        (context / "Containerfile").write_text(text)
        cls.buildah("build", "--format", "docker", "--isolation", "chroot", "--build-arg", f"BASE={BASE}", "--tag", IMAGE, context)

    def setUp(self):
        self.volume = self.folder / self.id()
        self.volume.mkdir()
        shutil.chown(self.volume, 10001, 10001)

    def inside(self, *command, user=None):
        """The command that runs another one in the container."""
        script = ('mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && mount --bind "$2" "$1/var/lib/easyretry" && '
                  'mount -t proc proc "$1/proc" && exec chroot --userspec="$3" "$1" env --chdir=/var/lib/easyretry "${@:4}"')
        return ["ip", "netns", "exec", self.network, "unshare", "--mount", "--pid", "--fork", "bash", "-c", script, "inside",
                self.root, str(self.volume), user or self.config["User"], *command]

    def health(self):
        kind, *command = self.config["Healthcheck"]["Test"]
        self.assertEqual(kind, "CMD")
        return subprocess.run(self.inside(*command), capture_output=True, text=True, check=False)

    def start(self):
        daemon = subprocess.Popen(self.inside(*self.config["Entrypoint"], *self.config["Cmd"]), stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
        self.addCleanup(self.stop, daemon)
        until(lambda: (line := daemon.stdout.readline()) and "serves http://127.0.0.1:7077" in line, what="it does not start")

    def stop(self, daemon):
        """As a container is stopped: its first process gets the signal."""
        [first] = pathlib.Path(f"/proc/{daemon.pid}/task/{daemon.pid}/children").read_text().split()
        os.kill(int(first), signal.SIGTERM)
        self.assertEqual(daemon.wait(timeout=60), 0)
        daemon.stdout.close()

    def status(self, path, token):
        """Of an answer to a request in the container's network."""
        return run("ip", "netns", "exec", self.network, "curl", "--silent", "--output", "/dev/null", "--write-out", "%{http_code}",
                   "--header", f"Authorization: Bearer {token}", f"http://127.0.0.1:7077{path}")

    def test_says_how_it_is_to_be_run(self):
        self.assertEqual(self.config["User"], "10001:10001")
        self.assertEqual(list(self.config["Volumes"]), ["/var/lib/easyretry"])
        self.assertEqual(self.config["WorkingDir"], "/var/lib/easyretry")
        self.assertEqual(list(self.config["ExposedPorts"]), ["7077/tcp"])

    def test_has_no_compiler_and_no_lists_of_packages(self):
        for file in ("usr/bin/g++", "usr/bin/cmake", "var/lib/apt/lists/lock"):
            self.assertFalse(os.path.exists(os.path.join(self.root, file)), file)

    def test_runs_without_root_on_a_read_only_file_system_and_says_whether_it_is_healthy(self):
        self.assertNotEqual(self.health().returncode, 0, "no daemon runs")
        self.start()
        self.assertEqual((self.volume / "retry.db").stat().st_uid, 10001)
        healthy = self.health()
        self.assertEqual(healthy.returncode, 0, healthy.stdout + healthy.stderr)
        refused = subprocess.run(self.inside("touch", "/usr/bin/other"), capture_output=True, text=True, check=False)
        self.assertIn("Read-only file system", refused.stderr)

    def test_the_service_token_of_compose_makes_a_token_for_metrics_and_leaves_the_others_in_force(self):
        self.start()
        *shell, script = yaml.safe_load(COMPOSE.read_text())["services"]["token"]["entrypoint"]
        (self.volume / "shared").mkdir()
        script = script.replace("$$", "$").replace("/shared", "/var/lib/easyretry/shared")
        for _ in ("the first time", "again"):
            run(*self.inside(*shell, script, user="0:0"))
            token = (self.volume / "shared/easyretry.token").read_text().strip()
            self.assertEqual(self.status("/metrics", token), "200")
        self.assertEqual(self.status("/v1/tasks", (self.volume / "easyretry.tokens.first").read_text().strip()), "200")
        self.assertEqual((self.volume / "shared/easyretry.token").stat().st_mode & 0o777, 0o444)


class Compose(unittest.TestCase):
    def test_takes_the_file(self):
        services = run("docker-compose", "--file", COMPOSE, "config", "--services").split()
        self.assertEqual(sorted(services), ["easyretry", "grafana", "postgres", "prometheus", "token"])


if __name__ == "__main__":
    unittest.main()
