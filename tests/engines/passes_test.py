"""A server has passed only if the tests of each suite have run on it: passes_test.py. The program of tests is a script."""
import json
import pathlib
import sys
import tempfile
import unittest

import matrix_test


class Passes(unittest.TestCase):
    def passes(self, results, code=0):
        """With a program that reports these results, by suite."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        report = {"testsuites": [{"name": f"Redis/{suite}", "testsuite": [{"result": result} for result in some]}
                                 for suite, some in results.items()]}
        program = folder / "program"
        program.write_text(f"#!{sys.executable}\nimport sys\n"
                           "[report] = [word.partition('json:')[2] for word in sys.argv if word.startswith('--gtest_output=')]\n"
                           f"open(report, 'w').write({json.dumps(report)!r})\nsys.exit({code})\n")
        program.chmod(0o755)
        return matrix_test.passes(program, "redis", ("StoreModel", "DurableStore"), {})

    def test_if_a_test_of_each_suite_has_run(self):
        self.assertTrue(self.passes({"StoreModel": ["COMPLETED"], "DurableStore": ["SKIPPED", "COMPLETED"]}))

    def test_not_if_one_has_failed(self):
        self.assertFalse(self.passes({"StoreModel": ["COMPLETED"], "DurableStore": ["COMPLETED"]}, code=1))

    def test_not_if_none_of_a_suite_has_run(self):
        self.assertFalse(self.passes({"StoreModel": ["COMPLETED"]}))
        self.assertFalse(self.passes({"StoreModel": ["COMPLETED"], "DurableStore": ["SKIPPED"]}))
        self.assertFalse(self.passes({}))

    def test_not_if_there_is_no_report(self):
        self.assertFalse(matrix_test.passes("true", "redis", ("StoreModel",), {}))


if __name__ == "__main__":
    unittest.main()
