"""The payment example as a person uses it: started, killed, started again. Usage: payment_test.py PAYMENT_PROGRAM"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

from waiting import until

PROGRAM = sys.argv.pop(1)


def start(folder, *args):
    return subprocess.Popen([PROGRAM, "--folder", folder, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ledger(folder):
    path = pathlib.Path(folder, "payment-ledger.txt")
    events = {"accepted": set(), "paid": set(), "failed": set()}
    for line in path.read_text().splitlines() if path.exists() else []:
        what, order = line.split()[:2]
        events[what].add(order)
    return events


class Payment(unittest.TestCase):
    def test_settles_every_order_it_accepts(self):
        with tempfile.TemporaryDirectory() as folder:
            process = start(folder, "--orders", "30", "--per-second", "200")
            out, err = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, err)
            events = ledger(folder)
            self.assertEqual(len(events["accepted"]), 30)
            self.assertEqual(events["accepted"], events["paid"] | events["failed"])
            self.assertFalse(events["paid"] & events["failed"])
            self.assertIn("accepted 30  open 0", out)

    def test_loses_nothing_when_killed_and_started_again(self):
        with tempfile.TemporaryDirectory() as folder:
            for life in range(3):
                process = start(folder, "--orders", "40", "--per-second", "200")
                until(lambda: len(ledger(folder)["accepted"]) >= 20 * (life + 1))
                process.kill()
                process.communicate()
            before = ledger(folder)
            process = start(folder, "--orders", "0")
            out, err = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, err)
            self.assertIn("orders were open when the program ended; they go on", out)
            after = ledger(folder)
            self.assertLessEqual(before["accepted"], after["paid"] | after["failed"])
            self.assertFalse(after["paid"] & after["failed"])

    def test_stops_in_good_order_and_goes_on_later(self):
        with tempfile.TemporaryDirectory() as folder:
            process = start(folder, "--orders", "100", "--per-second", "100")
            until(lambda: len(ledger(folder)["accepted"]) >= 20)
            process.terminate()
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, err)
            self.assertIn("start again to go on", out)

    def test_a_second_one_on_the_same_folder_is_refused_with_a_reason(self):
        with tempfile.TemporaryDirectory() as folder:
            first = start(folder, "--orders", "1000", "--per-second", "50")
            until(lambda: len(ledger(folder)["accepted"]) >= 1)
            second = start(folder)
            _, err = second.communicate(timeout=60)
            self.assertEqual(second.returncode, 1)
            self.assertIn(str(first.pid), err)
            first.kill()
            first.communicate()

    def test_invalid_arguments_are_explained(self):
        for args, words in [(["--orders", "many"], "--orders wants a number"), (["--order", "1"], "cannot understand")]:
            process = subprocess.run([PROGRAM, *args], capture_output=True, text=True, timeout=60)
            self.assertEqual(process.returncode, 1)
            self.assertIn(words, process.stderr)


if __name__ == "__main__":
    unittest.main()
