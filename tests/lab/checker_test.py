"""The checker notices a broken promise: each invariant is broken here, in a journal that an engine could have left."""
import unittest

import checker
from story import SECOND, Fault, Promise, Row, Story

WALL = 1_700_000_000 * SECOND


class HandMade:
    """Two processes, a and b, with journals written by hand. Times are in seconds."""

    def __init__(self):
        self.lines = {"a": [], "b": []}
        self.rows, self.faults, self.deaths = [], [], {}

    def born(self, life, at):
        self.say(life, "born", at, WALL, 1)
        return self

    def submit(self, key, answer="ack", at=0.0):
        self.say("a", "sent", at, key)
        if answer:
            self.say("a", answer, at + 0.001, key, *([f"id-{key}"] if answer == "ack" else []))
        return self

    def run(self, key, life="a", fence=2, at=1.0, lasts=0.01, answer="ok", due=0.0):
        self.say(life, "start", at, key, f"id-{key}", fence, WALL + int(at * SECOND), WALL + int(due * SECOND), 1, 0)
        if answer:
            self.say(life, "end", at + lasts, key, f"id-{key}", fence, answer)
        return self

    def told(self, key, what="success", fence=2, at=9.0):
        self.say("a", what, at, key, f"id-{key}", fence, *(["exhausted"] if what == "failure" else []))
        return self

    def row(self, key, outcome="succeeded", attempts=1, deliveries=1, version=3, state="finished", **more):
        self.rows.append(Row(key, f"id-{key}", state, outcome, attempts, more.pop("crashes", 0), deliveries, version, **more))
        return self

    def task(self, key, **run):
        """A whole life without faults."""
        return self.submit(key).run(key, **run).told(key).row(key)

    def dies(self, life, at):
        self.deaths[life] = int(at * SECOND)
        return self

    def fault(self, what, start, end, life="", tasks=()):
        self.faults.append(Fault(what, int(start * SECOND), int(end * SECOND), life, True, frozenset(f"id-{key}" for key in tasks)))
        return self

    def say(self, life, what, at, *words):
        self.lines[life].append(" ".join(map(str, [what, int(at * SECOND), *words])) + "\n")

    def broken(self):
        """The names of the invariants that the checker finds broken."""
        story = Story(Promise(lease=3.0, window=1.0, patience=1.0))
        story.faults, story.deaths, story.rows = self.faults, self.deaths, self.rows
        for life, lines in self.lines.items():
            story.read_journal(life, lines)
        return {violation.invariant for violation in checker.check(story.finish())}


class Broken(unittest.TestCase):
    """One case, or several, for each invariant, by its name."""

    def test_lost(self):
        self.assertEqual(HandMade().submit("plain-1").broken(), {"lost"})

    def test_lost_if_it_never_ends(self):
        self.assertEqual(HandMade().submit("plain-1").row("plain-1", "", state="pending", version=1).broken(), {"lost"})
        self.assertEqual(HandMade().submit("plain-1", "doubt").row("plain-1", "", state="pending", version=1).broken(), {"lost"})

    def test_invented(self):
        self.assertEqual(HandMade().run("plain-1").told("plain-1").row("plain-1").broken(), {"invented"})

    def test_invented_if_it_ran_and_has_no_row(self):
        self.assertEqual(HandMade().submit("plain-1", "doubt").run("plain-1").broken(), {"invented"})

    def test_refused_but_stored(self):
        self.assertEqual(HandMade().submit("plain-1", "refused").run("plain-1").told("plain-1").row("plain-1").broken(), {"refused_but_stored"})

    def test_ended_twice(self):
        self.assertEqual(HandMade().task("plain-1").row("plain-1").broken(), {"ended_twice"})

    def test_wrong_end(self):
        story = HandMade().submit("plain-1").run("plain-1").told("plain-1", "failure").row("plain-1", "rejected")
        self.assertEqual(story.broken(), {"wrong_end"})

    def test_wrong_end_if_quarantined_for_the_crashes_of_others(self):
        story = HandMade().submit("plain-1").run("plain-1", at=1, answer="").dies("a", 2)
        story.run("plain-1", life="b", fence=3, at=5).told("plain-1", "failure", 5).row("plain-1", "quarantined", deliveries=2, version=6)
        self.assertEqual(story.broken(), {"wrong_end"})

    def test_ended_without_running(self):
        self.assertEqual(HandMade().submit("plain-1").told("plain-1").row("plain-1").broken(), {"ended_without_running"})

    def test_overlap(self):
        story = HandMade().task("slow-1", lasts=5.0).run("slow-1", life="b", fence=3, at=3.0)
        story.rows[0].deliveries, story.rows[0].version = 2, 4
        self.assertEqual(story.broken(), {"overlap"})

    def test_overlap_if_the_pause_was_too_short_or_long_ago(self):
        for start, end in ((2.9, 3.2), (0.2, 0.9)):
            story = HandMade().task("slow-1", at=1.0, lasts=9.0).run("slow-1", life="b", fence=3, at=7.0).fault("pause", start, end, "a")
            story.rows[0].deliveries, story.rows[0].version = 2, 4
            self.assertEqual(story.broken(), {"overlap"}, (start, end))

    def test_overlap_if_the_row_of_another_task_was_locked(self):
        story = Broken().overtaken()
        story.faults = []
        self.assertEqual(story.fault("locked row", 1.5, 7.5, tasks=["plain-2"]).broken(), {"overlap"})

    def test_overlap_if_one_claim_is_run_twice(self):
        story = HandMade().task("plain-1").run("plain-1", life="b", at=2.0)
        story.rows[0].deliveries = 2
        self.assertEqual(story.broken(), {"overlap"})

    def test_late_finisher(self):
        story = self.overtaken()
        story.rows[0].fence_of_result = 2
        self.assertEqual(story.broken(), {"late_finisher"})

    def test_late_finisher_if_the_version_is_older_than_a_claim(self):
        story = self.overtaken()
        story.rows[0].version = 3
        self.assertEqual(story.broken(), {"late_finisher"})

    def test_untold(self):
        self.assertEqual(HandMade().submit("plain-1").run("plain-1").row("plain-1").broken(), {"untold"})

    def test_untold_if_the_last_callback_says_otherwise(self):
        self.assertEqual(HandMade().task("plain-1").told("plain-1", "failure", fence=4).broken(), {"untold"})

    def test_attempts(self):
        story = self.never_succeeds(fences=(2, 4, 6, 8)).row("never-1", "exhausted", 4, 4, version=11)
        self.assertEqual(story.broken(), {"attempts"})

    def test_attempts_of_which_none_can_have_been_forgotten(self):
        story = self.never_succeeds(fences=(2, 4, 6, 8)).row("never-1", "exhausted", 3, 4, version=11).dies("a", 30)
        self.assertEqual(story.broken(), {"attempts"})

    def test_attempts_if_they_are_not_counted(self):
        story = self.never_succeeds(fences=(2, 4, 6, 8)).row("never-1", "exhausted", 3, 4, version=11)
        self.assertEqual(story.broken(), {"attempts"})

    def test_attempts_if_deliveries_are_not_counted(self):
        story = self.never_succeeds(fences=(2, 4, 6)).row("never-1", "exhausted", 3, 2, version=9)
        self.assertEqual(story.broken(), {"attempts"})

    def test_attempts_if_it_is_given_up_too_early(self):
        story = self.never_succeeds(fences=(2, 4)).row("never-1", "exhausted", 2, 2, version=7)
        self.assertEqual(story.broken(), {"attempts"})

    def test_quarantine(self):
        story = HandMade().submit("poison-1").told("poison-1", "failure", 20, at=20.0).row("poison-1", "quarantined", 1, 5, 20)
        for i in range(5):
            story.lines[f"c{i}"] = []
            story.run("poison-1", life=f"c{i}", fence=2 + i, at=1.0 + 3 * i, answer="").dies(f"c{i}", 1.01 + 3 * i)
        self.assertEqual(story.broken(), {"quarantine"})

    def test_early(self):
        self.assertEqual(HandMade().task("plain-1", at=1.0, due=1.5).broken(), {"early"})

    def test_slow_recovery(self):
        self.assertEqual(self.recovered(at=6.6).broken(), {"slow_recovery"})

    def test_slow_recovery_after_the_last_fault_in_the_way(self):
        self.assertEqual(self.recovered(at=9.6).fault("freeze", 3.0, 5.0, "b").broken(), {"slow_recovery"})

    def test_slow_return(self):
        story = HandMade().task("plain-1", at=1.0).fault("server restart", 2.0, 4.0).task("plain-2", at=10.1)
        self.assertEqual(story.broken(), {"slow_return"})

    def test_slow_return_if_the_next_outage_comes_before_any_task(self):
        story = HandMade().task("plain-1", at=1.0).fault("server restart", 2.0, 4.0).fault("server crash", 10.1, 11.0).task("plain-2", at=11.1)
        self.assertEqual(story.broken(), {"slow_return"})

    def test_slow_return_although_one_of_two_processes_was_stopped(self):
        story = HandMade().born("a", 0.5).born("b", 0.5).fault("pause", 4.5, 8.0, "a")
        story.task("plain-1", at=1.0).fault("server restart", 2.0, 4.0).task("plain-2", at=10.1)
        self.assertEqual(story.broken(), {"slow_return"})

    def overtaken(self):
        """a is stopped for longer than its lease, and b takes over."""
        story = HandMade().task("plain-1", at=1.0, lasts=7.0).fault("pause", 1.5, 7.5, "a")
        story.run("plain-1", life="b", fence=3, at=5.0).told("plain-1", fence=3)
        story.rows[0].deliveries, story.rows[0].version, story.rows[0].fence_of_result = 2, 4, 3
        return story

    def recovered(self, at):
        """a dies at 2 s, and b starts its task."""
        story = HandMade().submit("plain-1").run("plain-1", at=1.9, answer="").dies("a", 2.0)
        return story.run("plain-1", life="b", fence=3, at=at).told("plain-1", fence=3).row("plain-1", deliveries=2, version=4)

    def never_succeeds(self, fences):
        story = HandMade().submit("never-1").told("never-1", "failure", max(fences) + 2)
        for fence in fences:
            story.run("never-1", fence=fence, at=float(fence), answer="failed")
        return story


class Kept(unittest.TestCase):
    """The checker finds nothing where promises are kept, also under faults."""

    def test_a_quiet_run(self):
        self.assertEqual(HandMade().task("plain-1").task("slow-2", lasts=4.5).broken(), set())

    def test_a_submission_in_doubt_that_was_not_stored(self):
        self.assertEqual(HandMade().submit("plain-1", "doubt").submit("plain-2", "refused").submit("plain-3", "").broken(), set())

    def test_a_task_that_is_taken_over_when_its_lease_is_over(self):
        self.assertEqual(Broken().overtaken().broken(), set())

    def test_a_task_that_is_taken_over_when_its_row_was_locked(self):
        story = Broken().overtaken()
        story.faults = []
        self.assertEqual(story.fault("locked row", 1.5, 7.5, tasks=["plain-1"]).broken(), set())

    def test_a_stale_callback_that_came_before_the_right_one(self):
        self.assertEqual(Broken().overtaken().told("plain-1", "failure", fence=2).broken(), set())

    def test_a_recovery_in_time(self):
        self.assertEqual(Broken().recovered(at=6.4).broken(), set())

    def test_a_recovery_that_another_fault_held_up(self):
        self.assertEqual(Broken().recovered(at=9.4).fault("freeze", 3.0, 5.0, "b").broken(), set())

    def test_a_failed_attempt_whose_process_died_before_it_was_settled(self):
        story = Broken().never_succeeds(fences=(2, 3, 5, 7)).row("never-1", "exhausted", 3, 4, version=10).fault("pause", 2.5, 2.9, "a")
        self.assertEqual(story.broken(), set())

    def test_a_task_that_lost_its_lease_too_often(self):
        story = HandMade().submit("slow-1").told("slow-1", "failure", 9).row("slow-1", "quarantined", 1, 3, version=10)
        for i in range(3):
            story.run("slow-1", life="a", fence=2 + i, at=1.0 + 10 * i, lasts=4.5).fault("black hole", 1.5 + 10 * i, 7.0 + 10 * i, "a")
        self.assertEqual(story.broken(), set())

    def test_a_quarantine_after_a_crash_that_left_no_line(self):
        story = HandMade().submit("plain-1").run("plain-1", fence=2, at=1.0, answer="").dies("a", 1.005)
        story.lines["c"] = []
        story.dies("c", 4.0).run("plain-1", life="b", fence=4, at=7.0, answer="").dies("b", 7.005)
        story.told("plain-1", "failure", 7, at=13.0).row("plain-1", "quarantined", 1, 4, version=8)
        self.assertEqual(story.broken(), set())

    def test_a_recovery_for_which_no_process_was_there(self):
        story = HandMade().born("a", 0.5).born("b", 20.0)
        story.submit("plain-1").run("plain-1", at=1.9, answer="").dies("a", 2.0)
        story.run("plain-1", life="b", fence=3, at=22.0).told("plain-1", fence=3).row("plain-1", deliveries=2, version=4)
        self.assertEqual(story.broken(), set())

    def test_outages_in_quick_succession(self):
        story = HandMade().task("plain-1", at=1.0).fault("server restart", 2.0, 4.0).fault("server crash", 9.0, 11.0).task("plain-2", at=15.0)
        self.assertEqual(story.broken(), set())

    def test_a_return_for_which_each_process_was_stopped(self):
        story = HandMade().born("a", 0.5).born("b", 0.5).fault("pause", 4.5, 8.0, "a").fault("pause", 3.0, 7.0, "b")
        story.task("plain-1", at=1.0).fault("server restart", 2.0, 4.0).task("plain-2", at=12.1)
        self.assertEqual(story.broken(), set())

    def test_a_recovery_on_the_last_chance_of_a_task(self):
        story = Broken().recovered(at=30)
        story.lines["b"] = [line.replace(" 1 0\n", " 1 2\n") for line in story.lines["b"]]
        self.assertEqual(story.broken(), set())

    def test_a_last_line_that_was_cut_short(self):
        story = HandMade().task("plain-1")
        story.lines["a"].append("start 70000")
        self.assertEqual(story.broken(), set())


class AllOfThem(unittest.TestCase):
    def test_each_invariant_has_a_broken_journal(self):
        broken = {name.removeprefix("test_") for name in dir(Broken) if name.startswith("test_")}
        self.assertEqual({invariant.__name__ for invariant in checker.INVARIANTS} - broken, set())


if __name__ == "__main__":
    unittest.main()
