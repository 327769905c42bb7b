"""Tasks are leased, run, kept and settled."""
import time

from case import Case, quick, until
from proxy import LEASE, RENEW, SETTLE

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


class Leases(Case):
    @quick
    def test_a_task_runs_and_succeeds_with_its_result(self):
        subject = self.start()
        id = self.store("ok", "a", number=7)
        self.until_ended(id)
        begun = self.begun(subject, 1)
        self.assertEqual([(one["id"], one["key"], one["attempt"], one["handler"]) for one in begun], [(id, "a", 1, "conform.ok")])
        self.assertEqual(self.task(id, "?result")["result"]["given"]["number"], 7)

    @quick
    def test_a_failed_attempt_is_retried_by_the_policy_of_the_daemon(self):
        subject = self.start()
        id = self.store("fail_once", "a")
        self.until_ended(id)
        self.assertEqual([one["attempt"] for one in self.begun(subject, 2)], [1, 2])
        failed = self.task(id)["last_attempts"][-1]
        self.assertIn("told to fail", failed["error"])

    def test_a_task_that_fails_each_time_is_exhausted(self):
        subject = self.start()
        id = self.store("fail", "a", policy={"max_attempts": 2})
        self.assertIn("told to fail", self.until_ended(id, "exhausted")["last_error"])
        self.assertEqual(len(self.begun(subject, 2)), 2)

    @quick
    def test_a_handler_gives_up(self):
        self.start()
        id = self.store("give_up", "a")
        ended = self.until_ended(id, "rejected")
        self.assertIn("no mailbox", ended["last_error"])
        self.assertEqual(ended["attempts"], 1)

    @quick
    def test_a_handler_says_when_it_is_to_be_retried(self):
        self.start()
        id = self.store("retry_after", "a", ms=1500)
        # Not the policy's 200 ms. What the daemon was asked for is in the request.
        self.until_ended(id)
        asked = [one.json() for one in self.proxy.seen(SETTLE) if one.path.endswith("/fail")]
        self.assertEqual([one.get("retry_after_ms") for one in asked], [1500])
        self.assertIn("busy", asked[0]["error"])

    @quick
    def test_the_daemon_judges_the_result_by_success_when(self):
        self.start()
        good = self.store("judged", "good", result={"ok": True})
        bad = self.store("judged", "bad", result={"ok": False}, policy={"max_attempts": 2})
        self.until_ended(good)
        self.until_ended(bad, "exhausted")

    def test_leases_are_renewed_when_a_third_has_passed(self):
        subject = self.start(lease_ms=18_000)
        id = self.store("slow", "a", ms=16_000)
        self.until_begun(subject, "a")
        begun = time.monotonic()  # a little later than the lease
        self.until_ended(id)
        self.assertEqual(len(self.begun(subject, 1)), 1)
        times = [one.at - begun for one in self.proxy.seen(RENEW)]
        self.assertLess(times[0], 8, f"a third is 6 s, and half would be 9 s: {times}")
        self.assertGreaterEqual(len(times), 2, times)
        self.assertGreater(times[1] - times[0], 4, f"more renewals would only be load: {times}")
        self.assertEqual(self.proxy.seen(LEASE)[0].json()["lease_ms"], 18_000)

    @quick
    def test_a_handler_is_cancelled_when_its_lease_is_lost(self):
        subject = self.start(lease_ms=3000)
        id = self.store("slow", "a", ms=60_000)
        self.until_begun(subject, "a")
        self.assertEqual(self.daemon.ask("POST", f"/v1/tasks/{id}/cancel")[0], 200)
        until(lambda: subject.seen("cancelled", key="a"), what="the handler was not cancelled")
        self.assertEqual(self.task(id)["outcome"], "cancelled")
        self.until_ended(self.store("none", "after"))  # its place is free again

    def test_an_outcome_that_comes_too_late_changes_nothing_and_is_not_repeated(self):
        subject = self.start(lease_ms=60_000)
        id = self.store("slow", "a", ms=1500)
        self.until_begun(subject, "a")
        self.assertEqual(self.daemon.ask("POST", f"/v1/tasks/{id}/cancel")[0], 200)
        until(lambda: subject.seen("end", key="a"), what="the handler did not end")
        self.until_ended(self.store("none", "after"))
        settled = [one for one in self.proxy.seen(SETTLE) if id in one.path or id.encode() in one.body]
        self.assertLessEqual(len(settled), 1)
        self.assertEqual(self.task(id)["outcome"], "cancelled")

    def test_no_more_handlers_run_at_once_than_are_allowed(self):
        subject = self.start(concurrency=3)
        ids = [self.store("slow", f"k{number}", ms=300) for number in range(12)]
        for id in ids:
            self.until_ended(id)
        running = most = 0
        for event in subject.events:
            running += {"begin": 1, "end": -1}.get(event["event"], 0)
            most = max(most, running)
        self.assertEqual(most, 3)
        self.assertTrue(all(one.json()["max"] <= 3 for one in self.proxy.seen(LEASE)))

    def test_progress_is_shown_while_the_handler_runs(self):
        subject = self.start(lease_ms=6000)
        id = self.store("progress", "a", ms=60_000)
        until(lambda: self.task(id).get("progress") == "half", what="no progress was shown")
        self.assertEqual(subject.seen("end"), [])
        self.daemon.ask("POST", f"/v1/tasks/{id}/cancel")

    @quick
    def test_the_trace_goes_in_and_out(self):
        subject = self.start()
        subject.say(do="submit", tag="t", handler="conform.trace", key="parent", args=[{}], traceparent=TRACE)
        until(lambda: subject.seen("trace", key="parent"), what="no trace")
        self.assertEqual(subject.seen("trace")[0]["traceparent"], TRACE)
        until(lambda: subject.seen("end", key="child"), what="the child did not run")
        id = subject.seen("begin", key="child")[0]["id"]
        # The same trace; the span may be a new one.
        self.assertEqual(self.task(id)["traceparent"].split("-")[1], TRACE.split("-")[1])

    @quick
    def test_a_batch_is_submitted_and_settled_in_batches(self):
        subject = self.start(concurrency=100)
        subject.say(do="submit_many", tag="t", handler="conform.batched", prefix="p", count=500)
        until(lambda: subject.seen("submitted", tag="t"), what="not submitted")
        ids = subject.seen("submitted", tag="t")[0]["ids"]
        self.assertEqual(len(set(ids)), 500)
        until(lambda: len(subject.seen("end")) == 500, what="not all have ended")
        for id in ids:
            self.until_ended(id)
        self.assertEqual(len({one["key"] for one in self.begun(subject, 500)}), 500)
        self.assertLess(len(self.proxy.seen(SETTLE)), 250)
        self.assertLess(len(self.proxy.seen(LEASE)), 250)


class Stops(Case):
    @quick
    def test_a_stop_hands_back_what_does_not_finish_and_it_is_no_attempt(self):
        subject = self.start(drain_ms=300, lease_ms=60_000)
        id = self.store("slow", "a", ms=60_000)
        self.until_begun(subject, "a")
        self.stop(subject)
        self.assertEqual(self.task(id)["state"], "pending")
        self.assertEqual(self.task(id)["attempts"], 0)

    def test_a_stop_lets_handlers_finish(self):
        subject = self.start(drain_ms=30_000, lease_ms=60_000)
        id = self.store("slow", "a", ms=1500)
        self.until_begun(subject, "a")
        self.stop(subject)
        self.assertEqual(self.task(id)["outcome"], "succeeded")

    def test_a_stop_does_not_wait_for_a_handler_that_never_ends(self):
        subject = self.start(drain_ms=300, lease_ms=60_000)
        id = self.store("never", "a")
        self.until_begun(subject, "a")
        self.until_ended(self.store("none", "b"))  # others go on
        self.stop(subject)
        self.assertEqual((self.task(id)["state"], self.task(id)["attempts"]), ("pending", 0))

    def test_a_stop_ends_a_long_poll_and_leases_nothing_more(self):
        subject = self.start(wait_ms=60_000, lease_ms=60_000)
        self.until_ended(self.store("none", "a"))  # it has connected
        self.stop(subject, seconds=15)
        id = self.store("none", "b")
        self.assertEqual(self.task(id)["state"], "pending")

    def test_a_stop_during_work_loses_nothing(self):
        subject = self.start(concurrency=20, drain_ms=200, lease_ms=60_000)
        ids = [self.store("slow", f"k{number}", ms=number % 5 * 100) for number in range(100)]
        until(lambda: len(subject.seen("begin")) >= 30, what="work has not begun")
        self.stop(subject)
        states = [self.task(id)["state"] for id in ids]
        self.assertNotIn("running", states)
        second = self.start(concurrency=20)
        for id in ids:
            self.until_ended(id)
        self.assertTrue(self.begun(second, 1))

    def test_sigterm_and_the_end_of_input_stop_it(self):
        first, second = self.start(), self.start()
        first.process.terminate()
        self.assertEqual(first.ended(), 0)
        second.process.stdin.close()
        self.assertEqual(second.ended(), 0)
        self.assertEqual((len(first.seen("stopped")), len(second.seen("stopped"))), (1, 1))
