"""easyretry reshard on real stores, killed for real. Usage: reshard_test.py EASYRETRY_PROGRAM SERVERS_PY"""
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop(1)
SERVERS = sys.argv.pop(1)
WAITING = 20_000


def easyretry(*args):
    return subprocess.run([PROGRAM, *args], capture_output=True, text=True, timeout=120)


def reshard(url, shards, *args):
    return easyretry("reshard", "--store", url, "--shards", str(shards), *args)


def servers(*args):
    return subprocess.run([sys.executable, SERVERS, *args], check=True, capture_output=True, text=True).stdout.strip()


def leave_waiting_tasks(url):
    """Kills a benchmark once its waiting tasks are stored. They stay in the store."""
    bench = subprocess.Popen([PROGRAM, "bench", "--store", url, "--tasks", "1000000", "--waiting", str(WAITING)],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for line in bench.stderr:
        if not line.startswith(("store ", "waiting")):
            break
    bench.kill()
    bench.communicate()


class Reshard(unittest.TestCase):
    def on(self, kind, check):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            if kind == "sqlite":
                check(f"sqlite:{folder}/retry.db", "")
                return
            url = servers("start", kind, "--folder", folder)
            try:
                check(url, "?layout=hash(4)")
            finally:
                servers("remove", "--folder", folder)

    def tasks(self, url, shards):
        """The number of tasks, as a dry run counts them."""
        run = reshard(url, shards, "--dry-run")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("nothing was changed", run.stdout)
        return int(re.search(r"of (\d+) tasks", run.stdout).group(1))

    def killed_until_done(self, url, shards):
        """Returns whether a kill left it half done. Each try lives a little longer than the one before."""
        half_done = False
        for tries in range(200):
            process = subprocess.Popen([PROGRAM, "reshard", "--store", url, "--shards", str(shards)],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            try:
                out, err = process.communicate(timeout=0.02 + tries * 0.01)
                self.assertEqual(process.returncode, 0, err)
                self.assertRegex(out, f"done; set shards={shards}|there are already {shards} shards")
                return half_done
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
            half_done |= "already begun" in reshard(url, shards, "--dry-run").stdout
        self.fail("never done")

    def kill(self, url, layout):
        leave_waiting_tasks(url + layout)
        before = self.tasks(url, 32)
        self.assertGreaterEqual(before, WAITING)
        rounds = iter((16, 64, 24, 64, 8, 64, 12, 64))
        shards = next(rounds)
        while not self.killed_until_done(url, shards):
            shards = next(rounds)  # no kill hit it in the middle of its work
        self.assertIn(f"there are already {shards} shards", reshard(url, shards).stdout)
        self.assertEqual(self.tasks(url, 32), before)

    def say(self, url, layout):
        run = reshard(url, 32)
        self.assertEqual(run.returncode, 1)
        self.assertIn("there is no EasyRetry store", run.stderr)
        self.assertNotIn("secret", run.stderr)

        self.assertEqual(easyretry("bench", "--store", url + layout, "--tasks", "10").returncode, 0)
        for wrong in (0, -1, 4097):
            run = reshard(url, wrong)
            self.assertEqual(run.returncode, 1)
            self.assertIn("1 to 4096", run.stderr)
        run = reshard(url, 64)
        self.assertEqual((run.returncode, run.stdout), (0, "there are already 64 shards; nothing was changed\n"))
        run = reshard(url, 128, "--dry-run")
        self.assertIn("64 -> 128 shards; 0 of 0 tasks", run.stdout)
        self.assertIn("nothing was changed", run.stdout)
        self.assertIn("done; set shards=128", reshard(url, 128).stdout)

        run = easyretry("bench", "--store", url + layout, "--tasks", "10")
        self.assertEqual(run.returncode, 1)
        self.assertIn("`easyretry reshard --store … --shards 64`", run.stderr)
        more = "&" if layout else "?"
        self.assertEqual(easyretry("bench", "--store", url + layout + more + "shards=128", "--tasks", "10").returncode, 0)

    def test_killed_anywhere_goes_on_in_sqlite(self):
        self.on("sqlite", self.kill)

    def test_killed_anywhere_goes_on_on_postgresql(self):
        self.on("postgres", self.kill)

    def test_killed_anywhere_goes_on_on_mariadb(self):
        self.on("mariadb", self.kill)

    def test_says_what_it_does_in_sqlite(self):
        self.on("sqlite", self.say)

    def test_says_what_it_does_on_postgresql(self):
        self.on("postgres", self.say)

    def test_says_what_it_does_on_mariadb(self):
        self.on("mariadb", self.say)

    def test_a_memory_store_has_no_number_to_change(self):
        run = reshard("memory:", 32)
        self.assertEqual(run.returncode, 1)
        self.assertIn("memory:?shards=32", run.stderr)


if __name__ == "__main__":
    unittest.main()
