"""easyretry bench from the outside: its JSON contract and its errors. Usage: bench_test.py EASYRETRY_PROGRAM"""
import json
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop(1)


def easyretry(*args):
    return subprocess.run([PROGRAM, *args], capture_output=True, text=True, timeout=240)


class Bench(unittest.TestCase):
    def assert_positive(self, number):
        self.assertGreater(number, 0)

    def test_prints_one_json_object_with_everything_asked_for(self):
        run = easyretry("bench", "--tasks", "2000", "--workers", "2", "--fail-first", "--due-over", "0.5", "--callers", "16",
                        "--submit-rate", "1000", "--raw", "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        report = json.loads(run.stdout)
        for field in ("enqueue_single_per_s", "enqueue_batch_per_s", "drain_per_s", "cycle_per_s", "failing_calls_per_s",
                      "rss_mib"):
            self.assert_positive(report[field])
        self.assertEqual(set(report["lateness_ms"]), {"p50", "p99", "max"})
        self.assertGreaterEqual(report["lateness_ms"]["p50"], 0, "nothing runs before it is due")
        self.assertEqual(set(report["submit_to_start_ms"]), {"p50", "p99", "max"})
        self.assert_positive(report["submit_to_start_ms"]["p50"])
        self.assertEqual(set(report["raw"]), {"enqueue_batch_per_s", "drain_per_s", "cycle_per_s"})
        for what in ("enqueue_batch", "drain", "cycle"):
            expected = report[what + "_per_s"] / report["raw"][what + "_per_s"]
            self.assertAlmostEqual(report["ratio"][what], expected, places=6)

    def test_runs_only_the_requested_benchmarks(self):
        run = easyretry("bench", "--store", "memory:", "--tasks", "500", "--json")
        report = json.loads(run.stdout)
        for field in ("cycle_per_s", "failing_calls_per_s", "lateness_ms", "submit_to_start_ms", "idle_cpu_ms_per_s", "raw",
                      "ratio"):
            self.assertIsNone(report[field])

    def test_prints_a_table_for_people_and_progress_beside_it(self):
        run = easyretry("bench", "--store", "memory:", "--tasks", "500", "--raw")
        self.assertRegex(run.stdout, r"drain +\d+ /s +\d+ /s +\d+\.\d\d")
        self.assertIn("drain", run.stderr)

    def test_an_idle_engine_costs_next_to_nothing(self):
        run = easyretry("bench", "--store", "memory:", "--tasks", "1", "--idle", "2", "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("idle", run.stderr)
        self.assertLess(json.loads(run.stdout)["idle_cpu_ms_per_s"], 100)

    def test_says_what_the_store_survives(self):
        run = easyretry("bench", "--store", "memory:", "--tasks", "1")
        self.assertIn("store memory://: an acknowledged task survives nothing", run.stderr)

    def test_measures_a_store_by_its_url_and_leaves_no_task_in_it(self):
        with tempfile.TemporaryDirectory() as folder:
            url = f"sqlite:{folder}/b.db"
            self.assertEqual(easyretry("bench", "--store", url, "--tasks", "300", "--waiting", "500", "--fail-first", "--raw").returncode, 0)
            count = subprocess.run(["sqlite3", f"{folder}/b.db", "SELECT count(*) FROM retry_task"], capture_output=True, text=True)
            self.assertEqual(count.stdout.strip(), "0")

    def test_names_errors_and_valid_values(self):
        cases = [
            (["bench", "--store", "sqlit:x.db"], "sqlite"),
            (["bench", "--store", "sqlite:/no/such/folder/x.db", "--tasks", "1"], "/no/such/folder"),
            (["bench", "--tasks", "0"], "--tasks"),
            (["bench", "--workers", "x"], "--workers"),
            (["frobnicate"], "frobnicate"),
        ]
        for args, words in cases:
            run = easyretry(*args)
            self.assertNotEqual(run.returncode, 0, args)
            self.assertIn(words, run.stderr + run.stdout, args)


if __name__ == "__main__":
    unittest.main()
