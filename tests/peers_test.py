#!/usr/bin/env python3
"""bench/peers/run without peers, servers and network: medians, table, charts, refusal of wrong options, and peers that are left out."""
import contextlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEERS = ROOT / "bench/peers"
sys.path[:0] = [str(PEERS), str(ROOT / "tests/e2e")]

from harness.chart import chart  # noqa: E402
from harness.install import Installer  # noqa: E402
from harness.numbers import Range, ratio, short, show, summary  # noqa: E402
from harness.options import parse  # noqa: E402
from harness.peers import ON, WORKS, delay_tasks  # noqa: E402
from harness.problem import LeftOut, Problem  # noqa: E402
from harness.processes import Children  # noqa: E402
from harness.report import write_report  # noqa: E402
from harness.results import ENGINE, LIMIT, STORE_ALONE, Results, read_line  # noqa: E402
from harness.rounds import Rounds  # noqa: E402
from waiting import until  # noqa: E402


class Numbers(unittest.TestCase):
    def test_a_summary_has_the_median_and_the_range(self):
        self.assertEqual(summary([3, 1, 2]), Range(2, 1, 3, 3))
        self.assertEqual(summary([4, None, 1]).median, 2.5)

    def test_nothing_measured_is_not_zero(self):
        self.assertIsNone(summary([None, None]))
        self.assertEqual(show(None), "–")

    def test_ratios_are_taken_within_a_round(self):
        found = ratio([100, 10, 30], [50, 5, 30])
        self.assertEqual((found.median, found.least, found.most), (2, 1, 2))

    def test_a_round_that_one_of_them_lacks_does_not_count(self):
        self.assertEqual(ratio([100, None, 30], [50, 5, None]).rounds, 1)
        self.assertIsNone(ratio([1], [0]))

    def test_figures_have_three_digits(self):
        self.assertEqual([short(v) for v in (81234, 1234567, 999.6, 45.678, 0.8712)], ["81,200", "1,230,000", "1000", "45.7", "0.871"])

    def test_a_range_of_one_round_is_not_shown(self):
        self.assertEqual(show(summary([5]), " /s"), "5 /s")
        self.assertEqual(show(summary([5, 7]), " ×"), "6 × (5–7)")


def some_results():
    results = Results(rounds=2)
    results.versions |= {ENGINE: "0.1.0", "Other & Co": "1.2"}
    for number, factor in enumerate((1, 2)):
        for name, rate in ((ENGINE, 3000), (STORE_ALONE, 2000), (LIMIT, 6000), ("Other & Co", 1000)):
            results.add(name, "drain", number, rate * factor)
        results.add_all(ENGINE, "latency-other", number, {"late_ms": {"p50": 1, "p99": 4}})
        results.add_all("Other & Co", "latency-other", number, {"late_ms": {"p50": 2, "p99": 8}})
    return results


def some_options(folder, **more):
    defaults = {"store": "redis", "tasks": 500, "rounds": 2, "history": "none", "works": ["drain", "latency-other"], "report": folder}
    return types.SimpleNamespace(**defaults | more)


class Report(unittest.TestCase):
    def write(self, results):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name) / "new"
            page = write_report(some_options(folder), results, "Redis 7", "synced")
            return page.read_text(), {file.name: file.read_text() for file in folder.iterdir()}

    def test_the_page_shows_engine_store_and_limit_and_the_ratio_to_each_peer(self):
        page, _ = self.write(some_results())
        self.assertIn("| drain | 4,500 /s (3,000–6,000) | 3,000 /s (2,000–4,000) | 1.5 (1.5–1.5) | "
                      "9,000 /s (6,000–12,000) | 0.5 (0.5–0.5) |", page)
        self.assertIn("| Other & Co | 1,500 /s (1,000–2,000) | 3 × (3–3) |", page)
        self.assertIn("| Other & Co | 2 ms (2–2) | 8 ms (8–8) | 0.5 (0.5–0.5) |", page)
        self.assertIn("EasyRetry 0.1.0; Other & Co 1.2", page)

    def test_charts_and_figures_are_written_beside_it(self):
        page, files = self.write(some_results())
        self.assertEqual(set(files), {"report-redis.md", "redis-drain.svg", "redis-latency-other.svg", "figures-redis.json"})
        self.assertIn("](redis-drain.svg)", page)
        self.assertEqual(files["redis-drain.svg"].count("EasyRetry"), 1)
        self.assertEqual(json.loads(files["figures-redis.json"])["versions"]["Other & Co"], "1.2")

    def test_a_peer_that_was_left_out_and_a_run_that_failed_are_said(self):
        results = some_results()
        results.left_out["Gone"] = "npm is not installed"
        results.failed.append("Other & Co, cycle, round 1: took longer than 5 s")
        page, _ = self.write(results)
        self.assertIn("- left out: Gone, npm is not installed", page)
        self.assertIn("- failed: Other & Co, cycle, round 1: took longer than 5 s", page)
        self.assertFalse(results.complete())


class Chart(unittest.TestCase):
    def test_is_svg_with_a_bar_for_each_and_escaped_names(self):
        text = chart("Rates < all", [(ENGINE, Range(10, 8, 12, 3)), ("Other & Co", Range(5, 5, 5, 1))], " /s")
        root = xml.etree.ElementTree.fromstring(text)
        tag = "{http://www.w3.org/2000/svg}"
        widths = [float(bar.get("width")) for bar in root.iter(f"{tag}rect")]
        self.assertAlmostEqual(widths[0], 2 * widths[1], delta=0.5)
        self.assertIn("Other & Co", [one.text for one in root.iter(f"{tag}text")])

    def test_has_colours_for_a_dark_page(self):
        self.assertIn("prefers-color-scheme: dark", chart("", [(ENGINE, Range(1, 1, 1, 1))], ""))

    def test_zeros_can_be_drawn(self):
        xml.etree.ElementTree.fromstring(chart("", [(ENGINE, Range(0, 0, 0, 1))], ""))


REFUSED = [
    ([], "--store"),
    (["--store", "oracle"], "invalid choice"),
    (["--store", "redis", "--rounds", "0"], "0 is no number from 1 to 100"),
    (["--store", "redis", "--tasks", "many"], "many is no number"),
    (["--store", "redis", "--only", "River"], "River is not one of bee-queue"),
    (["--store", "redis", "--only", ""], "nothing is not one of"),
    (["--store", "redis", "--works", "sleep"], "sleep is not one of enqueue"),
    (["--store", "sqlite", "--everysec"], "--everysec is for --store redis"),
    (["--store", "redis", "--disk", "/nowhere"], "no folder"),
    (["--store", "redis", "--report", __file__], "is a file"),
    (["--store", "redis", "--program", "/nowhere"], "no program"),
    (["--store", "redis", "--round", "3"], "unrecognized")]


class Options(unittest.TestCase):
    def refusal(self, *words):
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors), self.assertRaises(SystemExit) as end:
            parse(["--program", sys.executable, *words])
        self.assertEqual(end.exception.code, 2)
        return errors.getvalue()

    def test_wrong_options_are_refused_with_what_is_right(self):
        for words, said in REFUSED:
            with self.subTest(words=words):
                self.assertIn(said, self.refusal(*words))

    def test_peers_are_chosen_by_name_in_any_case(self):
        options = parse(["--program", sys.executable, "--store", "redis", "--only", "bullmq,Celery"])
        self.assertEqual([peer.name for peer in options.peers], ["BullMQ", "Celery"])
        self.assertEqual(options.works, list(WORKS))

    def test_the_program_refuses_them_too(self):
        run = subprocess.run([sys.executable, PEERS / "run", "--store", "oracle"], capture_output=True, text=True)
        self.assertEqual(run.returncode, 2)
        self.assertIn("oracle", run.stderr)


class Peers(unittest.TestCase):
    def test_each_peer_has_its_program_and_known_works(self):
        for store, peers in ON.items():
            for peer in peers:
                with self.subTest(store=store, peer=peer.name):
                    self.assertTrue((PEERS / peer.folder).is_dir())
                    self.assertLessEqual(set(peer.works), set(WORKS))

    def test_slow_peers_get_fewer_tasks_and_delays_ten_seconds_of_them(self):
        slow = next(peer for peer in ON["redis"] if peer.name == "Celery")
        self.assertIn("tasks=2000", slow.settings("drain", 10_000, 200, 20))
        self.assertIn("tasks=1", slow.settings("drain", 1, 200, 20))
        self.assertIn("tasks=2000", slow.settings("latency-other", 100_000, 200, 20))
        self.assertEqual(delay_tasks("lateness", 100_000, 200, 20), 20_000)
        self.assertEqual(delay_tasks("lateness", 500, 200, 20), 500)

    def test_no_lock_file_names_a_registry(self):
        for lock in PEERS.glob("*/package-lock.json"):
            self.assertNotIn('"resolved"', lock.read_text(), lock)


class LeavingOut(unittest.TestCase):
    def test_a_peer_whose_client_is_missing_is_left_out_and_the_rest_goes_on(self):
        class Broken(Installer):
            def command(self, peer, store):
                if peer.name == "BullMQ":
                    return ["true"]
                return super().command(peer, store)

            def run(self, command, **more):
                raise Problem("npm is not installed")

            def limit(self, store):
                return "true"

        results = Results(rounds=1)
        peers = [peer for peer in ON["redis"] if peer.name in ("bee-queue", "BullMQ")]
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()) as said:
            installer = Broken(Children(), pathlib.Path(folder))
            rounds = Rounds(types.SimpleNamespace(peers=peers, store="redis"), None, installer, None, results)
            rounds.prepare()
        self.assertIn("left out: bee-queue, npm is not installed", said.getvalue())
        self.assertEqual([peer.name for peer in rounds.commands], ["BullMQ"])
        self.assertFalse(results.complete())

    def test_a_program_that_is_not_there_is_a_reason(self):
        with self.assertRaisesRegex(Problem, "no-such-client is not installed"):
            Installer(Children(), pathlib.Path("/nowhere")).run(["no-such-client"])
        self.assertTrue(issubclass(LeftOut, Exception))


class Lines(unittest.TestCase):
    def test_the_last_line_counts(self):
        self.assertEqual(read_line('noise\n{"tasks": 5, "per_s": 7}\n', "drain")["per_s"], 7)

    def test_no_figures_are_a_problem(self):
        for output in ("", "noise", "{broken", '{"tasks": 5}'):
            with self.subTest(output=output), self.assertRaisesRegex(Problem, "no figures"):
                read_line(output, "drain")

    def test_a_cycle_in_which_nothing_failed_is_no_cycle(self):
        with self.assertRaisesRegex(Problem, "only 0 of 5 tasks failed once"):
            read_line('{"tasks": 5, "per_s": 7, "failures": 0}', "cycle")


def alive(pid):
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


class Processes(unittest.TestCase):
    def test_a_failure_says_what_the_program_said(self):
        with self.assertRaisesRegex(Problem, "no such table"):
            Children().run([sys.executable, "-c", "import sys; sys.exit('no such table')"], 60)

    def test_what_a_program_left_running_is_killed(self):
        program = "import subprocess; print(subprocess.Popen(['sleep', '600'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).pid)"
        children = Children()
        pid = int(children.run([sys.executable, "-c", program], 60))
        until(lambda: not alive(pid), what="it still runs")


if __name__ == "__main__":
    unittest.main()
