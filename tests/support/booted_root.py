"""A Debian root whose systemd runs: process 1 of namespaces and of a control group of its own, with no network but its loopback. So it does
not matter what runs on this machine. Needs root, and a kernel that permits it."""
import contextlib
import os
import pathlib
import subprocess
import tempfile

from made_packages import run
from waiting import eventually

NAMESPACES = ("--mount", "--pid", "--net", "--uts", "--ipc", "--cgroup")
# $1: the root.
BOOT = """set -e
cd "$1"
mount --bind . .
cd "$1"
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=755 tmpfs dev
for device in null zero full random urandom tty; do touch dev/$device && mount --bind /dev/$device dev/$device; done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
ip link set lo up
# Not chroot: the kernel permits no user namespaces in it, which units ask for.
pivot_root . mnt
exec chroot . sh -c 'umount -l /mnt && exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --show-status=no'
"""


class BootedRoot:
    @staticmethod
    def why_not():
        """Why a root cannot be booted here; None if it can."""
        tried = subprocess.run(["unshare", *NAMESPACES, "--fork", "sh", "-c", "mount -t cgroup2 cgroup2 /mnt"], capture_output=True, text=True, check=False)
        return " ".join(tried.stderr.split()) if tried.returncode else None

    def __init__(self, root):
        self.groups = tempfile.mkdtemp(prefix="easyretry-cgroup-")
        run("mount", "-t", "cgroup2", "cgroup2", self.groups)
        self.group = pathlib.Path(self.groups, f"easyretry-test-{os.getpid()}")
        self.group.mkdir()
        self.log = tempfile.TemporaryFile("w+")
        self.unshare = subprocess.Popen(
            ["sh", "-c", 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"', "sh", self.group, "unshare", *NAMESPACES, "--fork", "--kill-child",
             "sh", "-c", BOOT, "sh", root], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)

    def inside(self, *words):
        """The output of a command that runs in the root."""
        [init] = pathlib.Path(f"/proc/{self.unshare.pid}/task/{self.unshare.pid}/children").read_text().split()
        return run("nsenter", f"--target={init}", *NAMESPACES, f"--root=/proc/{init}/root", f"--wd=/proc/{init}/root", *words)

    def state(self):
        """What systemd says of itself: running, or degraded if a unit has failed. None until it has started everything."""
        if self.unshare.poll() is not None:
            self.log.seek(0)
            raise AssertionError(f"systemd has ended: {self.log.read()}")
        try:
            said = self.inside("sh", "-c", "systemctl is-system-running || :").splitlines()[-1]
        except (AssertionError, IndexError, ValueError):
            return None
        return said if said in ("running", "degraded") else None

    def end(self):
        self.unshare.kill()  # and so everything in its namespaces
        self.unshare.wait()
        self.log.close()
        eventually(self.has_no_group)
        subprocess.run(["umount", self.groups], check=False)
        os.rmdir(self.groups)

    def has_no_group(self):
        """Removes the control groups whose processes have ended, innermost first; whether none is left."""
        for folder, _, _ in os.walk(self.group, topdown=False):
            with contextlib.suppress(OSError):
                os.rmdir(folder)
        return not self.group.exists()
