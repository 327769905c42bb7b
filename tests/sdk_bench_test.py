#!/usr/bin/env python3
"""bench/sdk.py without daemons and workers: goals, table, exit codes, and workers that cannot be measured."""
import contextlib
import importlib.util
import io
import json
import pathlib
import sys
import types
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
spec = importlib.util.spec_from_file_location("sdk_bench", ROOT / "bench/sdk.py")
bench = importlib.util.module_from_spec(spec)
spec.loader.exec_module(bench)

GOOD = {"submit_per_s": 12_000, "drain_per_s": 5_100, "mib_after_a_tenth": 100.0, "mib_at_the_end": 119.0}


class Goals(unittest.TestCase):
    def test_what_meets_them_misses_nothing(self):
        self.assertEqual(bench.missed("go", GOOD), [])
        self.assertEqual(bench.missed("python", GOOD | {"drain_per_s": 2_600}), [])

    def test_each_is_checked(self):
        self.assertEqual(bench.missed("java", GOOD | {"submit_per_s": 9_999}), ["submit below 10,000 /s"])
        self.assertEqual(bench.missed("node", GOOD | {"drain_per_s": 4_999}), ["drain below 5,000 /s"])
        self.assertEqual(bench.missed("python", GOOD | {"drain_per_s": 2_499}), ["drain below 2,500 /s"])
        self.assertEqual(bench.missed("go", GOOD | {"mib_at_the_end": 121.0}), ["memory has grown by more than 20%"])

    def test_a_run_that_is_too_short_says_nothing_about_memory(self):
        self.assertEqual(bench.missed("go", {"submit_per_s": 12_000, "drain_per_s": 5_100}), [])

    def test_the_memory_after_a_tenth_is_looked_at_when_the_worker_says_so(self):
        memory = types.SimpleNamespace(values=[1.0, 2.0], look=lambda: memory.values.append(3.0))
        lines = [json.dumps(line) for line in ({"phase": "submit", "seconds": 2}, {"phase": "tenth"}, {"phase": "drain", "seconds": 4})]
        self.assertEqual(bench.read(lines, memory), ({"submit": 2, "drain": 4}, 3))


class Runs(unittest.TestCase):
    def run_with(self, figures, *words, peers=None):
        """The exit code and what was printed, if each worker has these figures."""
        def measured(*_):
            if isinstance(figures, Exception):
                raise figures
            return dict(figures)

        said = io.StringIO()
        with mock.patch.object(bench, "measured", measured), mock.patch.object(sys, "argv", ["sdk.py", "program", *words]), \
                mock.patch.object(bench, "beside", lambda tasks: peers), contextlib.redirect_stdout(said), \
                contextlib.redirect_stderr(io.StringIO()), mock.patch.object(bench, "made", lambda *_, **more: None):
            return bench.main(), said.getvalue()

    def test_all_languages_are_in_the_table(self):
        code, said = self.run_with(GOOD, "--language", "all")
        self.assertEqual(code, 0, said)
        self.assertEqual([line.split(" | ")[0] for line in said.splitlines()[2:]], ["| python", "| go", "| node", "| java"])
        self.assertIn("5,100 tasks/s", said)

    def test_a_missed_goal_is_named_and_is_exit_code_1(self):
        code, said = self.run_with(GOOD | {"drain_per_s": 100}, "--language", "go")
        self.assertEqual(code, 1)
        self.assertIn("missed: drain below 5,000 /s", said)

    def test_goals_are_those_of_batches_and_may_be_left_out(self):
        for words in (["--settle", "judged"], ["--no-goals"]):
            self.assertEqual(self.run_with(GOOD | {"drain_per_s": 100}, *words)[0], 0)

    def test_a_worker_that_cannot_be_measured_is_exit_code_1_and_says_why(self):
        code, said = self.run_with(bench.NotMeasured("mvn is not installed"), "--language", "java", "--no-goals")
        self.assertEqual(code, 1)
        self.assertIn("mvn is not installed", said)

    def test_peers_are_beside_it_and_one_that_is_missing_is_exit_code_1(self):
        peers = {"Celery": {"enqueue_per_s": 900.0, "drain_per_s": 1_500.0}, "Asynq": {"why": "go is not installed"}}
        code, said = self.run_with(GOOD, "--beside", peers=peers)
        self.assertEqual(code, 1)
        self.assertRegex(said, r"Celery \| 900 tasks/s \| 1,500 tasks/s")
        self.assertIn("go is not installed", said)

    def test_json_has_the_same_figures(self):
        _, said = self.run_with(GOOD, "--json", "--language", "node")
        self.assertEqual(json.loads(said)["workers"]["node"]["drain_per_s"], 5_100)

    def test_a_command_is_another_language(self):
        code, said = self.run_with(GOOD, "--", "worker")
        self.assertEqual((code, "| command" in said), (0, True))
        with self.assertRaises(SystemExit):
            self.run_with(GOOD, "--language", "go", "--", "worker")


if __name__ == "__main__":
    unittest.main()
