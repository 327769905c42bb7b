"""Wrong command lines are explained, completion offers values, and tables show the important columns in full.
Usage: command_line_test.py EASYRETRY_PROGRAM"""
import json
import os
import pathlib
import re
import tempfile
import unittest

from cli_case import CliCase
from daemon import Daemon
from program import PROGRAM, bash_completions, run_on_terminal, run_program

OUTCOMES = {"succeeded", "exhausted", "rejected", "quarantined", "parked", "cancelled"}


class WrongLines(unittest.TestCase):
    def refused(self, line, *said):
        ran = run_program(*line.split())
        self.assertEqual((ran.returncode, ran.stdout), (2, ""), ran.stderr)
        for words in said:
            self.assertIn(words, ran.stderr)
        self.assertTrue(ran.stderr.startswith("easyretry: "), ran.stderr)
        self.assertRegex(ran.stderr, r"\nsee `easyretry[a-z ]* --help`\n$")

    def test_commands_at_every_level(self):
        self.refused("taks", '`easyretry` has no command "taks"; did you mean tasks?')
        self.refused("dance", '`easyretry` has no command "dance"; its commands are alert, bench')
        self.refused("tasks lst", '`easyretry tasks` has no command "lst"; did you mean list?')
        self.refused("handlers resum mail", '`easyretry handlers` has no command "resum"; did you mean resume?')
        self.refused("tasks", "`easyretry tasks` needs a command: list, show")
        self.refused("token", "`easyretry token` needs a command: create, list, revoke")

    def test_options_at_every_level(self):
        self.refused("--versoin", "`easyretry` has no option --versoin; did you mean --version?")
        self.refused("tasks list --stat pending", "`easyretry tasks list` has no option --stat; did you mean --state?")
        self.refused("tasks list --handlr=mail", "has no option --handlr; did you mean --handler?")
        self.refused("serve --log-lvel info", "has no option --log-lvel; did you mean --log-level?")
        self.refused("doctor --frobnicate", "`easyretry doctor` has no option --frobnicate\n")
        self.refused("--store sqlite:retry.db tasks list", "--store is an option of `easyretry tasks list`: write it after the command")

    def test_values_and_words(self):
        self.refused("tasks list --state asleep", '--state: unknown value "asleep"; known: pending, running')
        self.refused("history list --outcome exhaused", '--outcome: unknown value "exhaused"; known: succeeded', "did you mean exhausted?")
        self.refused("history list --outcome EXHAUSTED", "did you mean exhausted?")
        self.refused("tasks list --columns id,eror", '--columns: unknown value "eror"', "did you mean error?")
        self.refused("tasks list --state", "--state needs a value")
        self.refused("tasks show 1 2", '`easyretry tasks show` does not expect "2"')
        self.refused("tasks show", "`easyretry tasks show`: id is required, or --handler and --key")
        self.refused("tasks list --json --wide", "excludes")
        self.refused("completion cmd", 'unknown value "cmd"; known: bash, zsh, fish')
        self.refused("completion tcsh", "known: bash, zsh, fish\n")

    def test_values_that_nothing_could_be_done_with_are_refused_before_anything_is_asked(self):
        self.refused("token create x --role adminn", '--role: unknown value "adminn"; known: viewer, submitter', "did you mean admin?")
        self.refused("token create x --role opertor+payloads", 'unknown value "opertor+payloads"', "did you mean operator?")
        self.refused("tasks list --state pending --state running", "--state was given more than once: give it once")
        for wrong in ("5000", "0", "abc", "-1", "1.5"):
            self.refused(f"tasks list --limit={wrong}", f'--limit: "{wrong}" is not a whole number from 1 to 1000')
        self.refused("tasks list --attempts-from few", '--attempts-from: "few" is not a whole number')
        self.refused("tasks list --created-from yesterday",
                     '--created-from: "yesterday" is no time; write 2026-03-01, 2026-03-01T12:00:00Z, or 2h for two hours ago')
        self.refused("history list --finished-until 17", '--finished-until: "17" is no time')
        self.refused("tasks list --after 17", '--after: "17" is not the end of a page')
        self.refused("tasks list --error 17", '--error: "17" is not a fingerprint')
        self.refused("tasks complete 1 --result notjson", "--result: this is not JSON; write it as '{\"receipt\"")
        self.refused("tasks requeue 1 --args notjson", "--args: this is not JSON; write it as '[{\"order\"")
        for line in ("tasks show 1 --wait", "tasks submit mail --delay", "tasks edit 1 --max-duration"):
            self.refused(f"{line} soon", f'{line.split()[-1]}: duration "soon"')
        for wrong in ("nonsense", "127.0.0.1:99999", "localhost:0"):
            self.refused(f"serve --listen {wrong}", "--listen: ", "write an address and a port")

    def test_the_beginning_of_a_word_is_near_it(self):
        self.refused("serve --log-level warn", '--log-level: unknown value "warn"', "did you mean warning?")
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "easyretry.yaml")
            pathlib.Path(file).write_text("log: {level: warn}\n")
            self.assertIn("did you mean warning?", run_program("config", "check", file).stderr)

    def test_help_about_nothing_is_an_error(self):
        self.refused("nonsense --help", '`easyretry` has no command "nonsense"')
        self.refused("tasks lst --help", "did you mean list?")

    def test_quoted_arguments_do_not_control_the_terminal(self):
        for line in (["tasks", "\x1b[2J\nforged"], ["tasks", "list", "--state", "\x1b[2J\nforged"], ["tasks", "list", "--\x1b[2J\nforged"]):
            ran = run_program(*line)
            self.assertEqual((ran.returncode, "\x1b" in ran.stderr, ran.stderr.count("\n")), (2, False, 2), ran.stderr)

    def test_help_and_version_are_no_errors(self):
        for line in (["--help"], ["tasks", "list", "--help"], ["--version"]):
            ran = run_program(*line)
            self.assertEqual((ran.returncode, ran.stderr), (0, ""))


class KnownValues(unittest.TestCase):
    def test_bash_offers_the_values_of_an_option(self):
        self.assertEqual(bash_completions("easyretry tasks list --state "), {"pending", "running"})
        self.assertEqual(bash_completions("easyretry tasks list --state r"), {"running"})
        for command in ("history list", "tasks requeue"):
            self.assertEqual(bash_completions(f"easyretry {command} --outcome "), OUTCOMES)
        self.assertLessEqual({"viewer", "operator", "admin"}, bash_completions("easyretry token create ann --role "))
        self.assertEqual(bash_completions("easyretry serve --log-level w"), {"warning"})
        self.assertEqual(bash_completions("easyretry tasks submit mail --on-duplicate "), {"keep", "update_policy", "reject"})
        self.assertIn("attempt_failed", bash_completions("easyretry events --kind "))
        self.assertLessEqual({"bash", "zsh", "fish"}, bash_completions("easyretry completion "))

    def test_outcomes_have_one_spelling_that_of_the_enumerators(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        [enum] = [found.group(1) for header in (root / "include").rglob("*.h")
                  if (found := re.search(r"enum class Outcome \{(.*?)\};", header.read_text(), re.S))]
        enumerators = set(re.findall(r"^ +(\w+),", enum, re.M))
        self.assertEqual(bash_completions("easyretry history list --outcome "), enumerators)
        api = (root / "src/server/openapi/openapi.yaml").read_text()
        lists = [set(re.split(", *", words)) for words in re.findall(r"\[(\w+(?:, \w+)*)\]", api)]
        self.assertIn(enumerators, lists)
        self.assertEqual([words for words in lists if "exhausted" in words and words - enumerators - {"null"}], [])
        for page in sorted((root / "docs").glob("*.md")):
            for name in enumerators:
                self.assertNotRegex(page.read_text(), rf"\b({name.upper()}|{name.capitalize()})\b`", page.name)

    def test_bash_goes_on_after_a_flag(self):
        self.assertEqual(bash_completions("easyretry tasks list --json --sta"), {"--state"})

    def test_other_shells_have_them_too(self):
        self.assertIn("'easyretry tasks list --state') choices=(pending running) ;;", run_program("completion", "zsh").stdout)
        fish = run_program("completion", "fish").stdout
        self.assertRegex(fish, r"__easyretry_at easyretry tasks list' -l state -x -a 'pending running' -d ")
        self.assertRegex(fish, r"__easyretry_at easyretry tasks list' -l json -d ")

    def test_the_manual_shows_values_but_not_for_flags(self):
        page = run_program("manual").stdout.replace("\\-", "-")
        self.assertIn("\\fB--state\\fR \\fIpending|running\\fR\n", page)
        self.assertIn("\\fB--handler\\fR \\fIVALUE\\fR\n", page)
        self.assertIn("\\fB--outcome\\fR \\fIVALUE\\fR\nHow it ended: succeeded, exhausted, ", page)
        for flag in ("--json", "--all", "--dry-run", "--yes", "--wide", "--first-steps", "--allow-plain-http", "--requeued", "--untold", "--oldest-first"):
            self.assertIn(f"\\fB{flag}\\fR\n", page)
            self.assertNotIn(f"\\fB{flag}\\fR \\fI", page)


class Tables(unittest.TestCase):
    ERROR = "503 Service Unavailable from smtp.example, request 8814, after 3 redirects and a timeout of 30 s"

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        cls.daemon = Daemon(PROGRAM, cls.folder.name)
        cls.daemon.ask("POST", "/v1/tasks", {"handler": "mail.send", "key": "mail.send:0123456789abcdef", "business_id": "order-7"})
        [task] = cls.daemon.lease("mail.send")
        cls.daemon.ask("POST", f"/v1/leases/{task['id']}/fail", {"version": task["version"], "error": cls.ERROR, "retry_after_ms": 3_600_000})
        cls.id = task["id"]

    @classmethod
    def tearDownClass(cls):
        cls.daemon.kill()
        cls.folder.cleanup()

    def shown(self, *arguments, columns=80):
        """(lines on a terminal with this many columns, stderr)"""
        with tempfile.TemporaryFile("w+") as errors:
            code, text = run_on_terminal("tasks", "list", *arguments, "--server", f"http://127.0.0.1:{self.daemon.port}", columns=columns,
                                         stderr=errors, env={**os.environ, "EASYRETRY_TOKEN": self.daemon.token, "NO_COLOR": "1"})
            errors.seek(0)
            said = errors.read()
        self.assertEqual(code, 0, said)
        return text.splitlines(), said

    def test_the_last_error_can_be_read_at_80_columns(self):
        [titles, row], said = self.shown()
        self.assertLessEqual(max(len(titles), len(row)), 80)
        self.assertIn("503 Service Unavailable", row)
        self.assertTrue(row.endswith("…"), row)
        self.assertIn(self.id, row)
        self.assertEqual(said, "no room for: key, attempts; see --wide and --columns\n")

    def test_the_last_error_can_be_read_beside_a_callback_that_is_due(self):
        id = self.daemon.ask("POST", "/v1/tasks", {"handler": "a.handler.with.a.long.name", "key": "to be told"})[1]["id"]
        self.daemon.ask("POST", f"/v1/tasks/{id}/fail", {"why": self.ERROR})
        self.addCleanup(self.daemon.ask, "POST", f"/v1/tasks/{id}/cancel?untold=true")
        for columns, readable in ((80, 24), (70, 24), (60, 18)):
            lines, _ = self.shown(columns=columns)
            self.assertEqual(len(lines), 3)
            self.assertLessEqual(max(len(line) for line in lines), columns)
            for line in lines[1:]:
                self.assertIn(self.ERROR[:readable - 1], line)
            self.assertIn("pending", lines[1])

    def test_wide_shows_everything(self):
        [titles, row], said = self.shown("--wide")
        self.assertTrue(row.endswith(self.ERROR), row)
        self.assertIn("mail.send:0123456789abcdef", row)
        self.assertEqual((re.split("  +", titles), said), (["id", "handler", "key", "state", "attempts", "next", "last error"], ""))

    def test_columns_are_chosen_and_come_in_that_order(self):
        [titles, row], said = self.shown("--columns", "error,id")
        self.assertEqual((re.split("  +", titles), said), (["last error", "id"], ""))
        self.assertTrue(row.startswith(self.ERROR[:50]) and "…" in row and row.endswith(self.id), row)
        [titles, row], _ = self.shown("--columns", "id", "--columns", "business-id,created")
        self.assertEqual(re.split("  +", titles), ["id", "business id", "created"])
        self.assertIn("order-7", row)

    def test_all_of_an_error_is_in_json_and_in_show(self):
        for words in (["tasks", "list", "--json"], ["tasks", "show", self.id]):
            ran = run_program(*words, "--server", f"http://127.0.0.1:{self.daemon.port}", env={**os.environ, "EASYRETRY_TOKEN": self.daemon.token})
            self.assertIn(self.ERROR, ran.stdout)
        self.assertEqual(json.loads(run_program("tasks", "list", "--json", "--server", f"http://127.0.0.1:{self.daemon.port}",
                                                env={**os.environ, "EASYRETRY_TOKEN": self.daemon.token}).stdout)["tasks"][0]["last_error"], self.ERROR)


class OnATerminal(CliCase):
    def setUp(self):
        super().setUp()
        self.start()
        self.daemon.stop()
        self.where = ["--store", "sqlite:retry.db"]
        self.environment["TERM"] = "xterm"

    def shown(self, *arguments, environment=None, **more):
        return run_on_terminal(*arguments, *self.where, cwd=self.folder.name, env={**self.environment, **(environment or {})}, **more)

    def test_tables_fit_the_terminal_and_are_120_wide_elsewhere(self):
        self.submit("mail", "--key", "支付" * 40)
        for columns, text in ((90, self.shown("tasks", "list", columns=90)[1]), (120, self.good("tasks", "list"))):
            titles, row = re.sub("\x1b\\[[0-9]*m", "", text).splitlines()
            self.assertEqual(len(titles), columns, "the last title ends at the edge")
            key = row.split()[2]
            self.assertTrue(key.startswith("支付") and key.endswith("…"), row)
            self.assertEqual(row.index("pending") + key.count("支") + key.count("付"), titles.index("state"),
                             "a Chinese character takes two columns")

    def test_colours_are_for_terminals_that_want_them(self):
        self.good("tasks", "cancel", self.submit("mail"), "--untold")
        self.assertIn("\x1b[33mcancelled\x1b[0m", self.shown("history", "list")[1])
        self.assertNotIn("\x1b", self.shown("history", "list", environment={"NO_COLOR": "1"})[1])
        self.assertNotIn("\x1b", self.good("history", "list"))

    def test_several_tasks_are_asked_about(self):
        ids = [self.submit("mail", "--key", str(number)) for number in range(2)]
        code, said = self.shown("tasks", "cancel", *ids, typed="n\n")
        self.assertEqual((code, "cancel 2 tasks? [y/N]" in said, "nothing was done" in said), (1, True, True), said)
        self.assertEqual(len(self.answer("tasks", "list")["tasks"]), 2)
        code, said = self.shown("tasks", "cancel", *ids, "--untold", typed="y\n")
        self.assertEqual((code, self.answer("tasks", "list")["tasks"]), (0, []), said)


if __name__ == "__main__":
    unittest.main()
