"""The audit log of easyretry serve when it cannot grow. Usage: audit_test.py EASYRETRY_PROGRAM"""
import errno
import json
import os
import resource
import subprocess
import unittest

from daemon_case import DaemonCase

FAR = 1 << 30  # larger than any file of the store
ROOM = 1 << 20


class AuditWithoutRoom(DaemonCase):
    def setUp(self):
        super().setUp()
        self.operator = None

    def serve(self, audit):
        self.start(server=f", audit: {audit}")
        self.operator = self.token("ann", "operator")

    def pending(self):
        status, made = self.daemon.ask("POST", "/v1/tasks", {"handler": "mail", "key": os.urandom(8).hex(), "delay_ms": 3_600_000})
        self.assertEqual(status, 201, made)
        return made["id"]

    def cancel(self, task):
        return self.daemon.ask("POST", f"/v1/tasks/{task}/cancel?untold=true", token=self.operator)

    def assert_changes_are_refused_and_all_else_goes_on(self):
        task = self.pending()
        status, answer = self.cancel(task)
        self.assertEqual((status, answer["error"]["code"]), (503, "audit_unavailable"), answer)
        self.assertIn("nothing was changed", answer["error"]["hint"])
        self.assertEqual(self.daemon.ask("POST", "/v1/handlers/mail/pause", {"why": ""}, token=self.operator)[0], 503)
        self.assertEqual(self.daemon.ask("GET", f"/v1/tasks/{task}", token=self.operator)[1]["state"], "pending")
        [paused] = [one for one in self.daemon.ask("GET", "/v1/handlers")[1]["handlers"] if one["name"] == "mail"]
        self.assertNotIn("paused", paused)
        self.daemon.ask("POST", "/v1/tasks", {"handler": "now"})
        [leased] = self.daemon.lease("now")
        self.assertEqual(self.daemon.ask("POST", f"/v1/leases/{leased['id']}/done", {"version": leased["version"]})[0], 200)
        return task

    def entries(self, audit, start=0):
        with open(os.path.join(self.folder.name, audit)) as file:
            file.seek(start)
            return [json.loads(line)["status"] for line in file]

    def test_a_file_that_may_not_grow(self):
        path = os.path.join(self.folder.name, "audit.jsonl")
        with open(path, "w") as file:
            file.truncate(FAR)  # a sparse file: takes no disk space
        self.serve("audit.jsonl")
        self.assertEqual(self.cancel(self.pending())[0], 200)
        before = resource.prlimit(self.daemon.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(self.daemon.process.pid, resource.RLIMIT_FSIZE, (FAR + 1000, before[1]))
        task = self.assert_changes_are_refused_and_all_else_goes_on()
        resource.prlimit(self.daemon.process.pid, resource.RLIMIT_FSIZE, before)
        self.assertEqual(self.cancel(task)[0], 200)
        self.assertEqual(self.entries("audit.jsonl", FAR), ["200", "200"])

    def test_a_full_disk(self):
        disk = os.path.join(self.folder.name, "disk")
        os.mkdir(disk)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={4 * ROOM}", "none", disk], capture_output=True, check=False)
        if mounted.returncode != 0:
            self.skipTest("needs leave to mount a disk")
        self.addCleanup(subprocess.run, ["umount", "--lazy", disk], check=True)
        self.serve("disk/audit.jsonl")
        self.assertEqual(self.cancel(self.pending())[0], 200)
        filler = os.path.join(disk, "filler")
        with self.assertRaises(OSError) as full, open(filler, "wb", buffering=0) as file:
            while True:
                if file.write(bytes(4096)) < 4096:
                    raise OSError(errno.ENOSPC, "full")
        self.assertEqual(full.exception.errno, errno.ENOSPC)
        for _ in range(100):  # the file has space reserved for some entries
            if self.cancel(self.pending())[0] != 200:
                break
        kept = len(self.entries("disk/audit.jsonl"))
        task = self.assert_changes_are_refused_and_all_else_goes_on()
        os.remove(filler)
        self.assertEqual(self.cancel(task)[0], 200)
        self.assertEqual(self.entries("disk/audit.jsonl"), ["200"] * (kept + 1))


if __name__ == "__main__":
    unittest.main()
