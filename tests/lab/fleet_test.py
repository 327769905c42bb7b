"""The fleet notices processes that end by themselves. The processes are shell scripts."""
import pathlib
import tempfile
import types
import unittest

from fleet import NOT_REACHED, Fleet, now
from story import Fault


class Ends(unittest.TestCase):
    def surprises(self, script, strike=lambda fleet, member: None):
        """Of a process that runs this script, with the journal as $2; `strike` is what the lab does to it."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        worker = folder / "worker"
        worker.write_text(f"#!/bin/sh\n{script}\n")
        worker.chmod(0o755)
        fleet = Fleet(types.SimpleNamespace(members=1, url="memory:", environment=dict), worker, None, {}, 0, folder)
        member = fleet.start(0)
        strike(fleet, member)
        member.process.wait()
        fleet.bury(member)
        return fleet.surprises()

    def an_outage(self, fleet, _):
        fleet.faults.append(Fault("server crash", now(), now() + 60_000_000, hinders=True))

    def test_a_crash_while_the_store_is_opened_is_one(self):
        for script, how in (("kill -SEGV $$", "-11"), ("kill -KILL $$", "-9"), ("exit 1", "1")):
            self.assertRegex(" ".join(self.surprises(script)), f"ended with {how},", script)
            self.assertTrue(self.surprises(script, self.an_outage), script)

    def test_a_crash_later_is_one(self):
        self.assertTrue(self.surprises('echo born > "$2"; kill -SEGV $$'))
        self.assertTrue(self.surprises(f'echo born > "$2"; exit {NOT_REACHED}', self.an_outage))

    def test_a_store_that_is_not_reached_is_one_unless_there_is_a_fault(self):
        self.assertTrue(self.surprises(f"exit {NOT_REACHED}"))
        self.assertEqual(self.surprises(f"exit {NOT_REACHED}", self.an_outage), [])

    def test_an_end_that_was_not_asked_for_is_one(self):
        self.assertTrue(self.surprises('echo born > "$2"; exit 0'))
        self.assertTrue(self.surprises("exit 0"))

    def test_what_the_lab_or_a_task_did_is_none(self):
        self.assertEqual(self.surprises("exec sleep 60", lambda fleet, member: fleet.kill(member)), [])
        self.assertEqual(self.surprises('echo born > "$2"; kill -KILL $$'), [])
        self.assertEqual(self.surprises('trap "exit 0" TERM; echo born > "$2"; while :; do sleep 0.01; done', self.ask_to_leave), [])

    def ask_to_leave(self, fleet, member):
        while not fleet.journal(member.life).exists():  # it would end with the signal
            pass
        fleet.leave(member)


if __name__ == "__main__":
    unittest.main()
