"""The daemon restarts, is slow, or asks for patience; answers do not arrive."""
import re

from case import Case, quick, until
from proxy import ANY, LEASE, RENEW, SETTLE, SUBMIT, changed, cut_middle, cut_reply, done_but, html, hung, problem, slow

SERVER_ERRORS = (problem(500, "internal", "internal error"), html(502), problem(503, "unavailable", "no store"),
                 problem(503, "in_doubt", "not confirmed"))


class Faults(Case):
    def begun_once(self, subject, keys):
        self.assertEqual(sorted(one["key"] for one in self.begun(subject, len(keys))), sorted(keys))

    def test_tasks_survive_a_restart_of_the_daemon(self):
        subject = self.start(lease_ms=20_000, concurrency=10)
        ids = [self.store("slow", f"k{number}", ms=1000) for number in range(30)]
        until(lambda: len(subject.seen("begin")) >= 10, what="work has not begun")
        self.daemon.kill()
        until(lambda: subject.seen("error"), what="the subject did not notice it")
        until(lambda: len(subject.seen("end")) >= 10, what="handlers did not go on while the daemon was away")
        self.restart_daemon()
        for id in ids:
            self.until_ended(id)
        self.begun_once(subject, [f"k{number}" for number in range(30)])

    def test_a_worker_starts_before_its_daemon(self):
        self.daemon.kill()
        subject = self.start()
        self.until_error(subject, "127.0.0.1")
        self.restart_daemon()
        self.until_ended(self.store("none", "a"))

    def test_reconnects_are_spread_and_seldom(self):
        self.daemon.kill()
        subject = self.start(pause_ms=1000)
        until(lambda: len(self.proxy.seen()) >= 14, what="it gave up")
        times = [one.at for one in self.proxy.seen()]
        pauses = [b - a for a, b in zip(times, times[1:])]
        last = pauses[-8:]
        self.assertGreater(sum(last) / len(last), 0.3, pauses)
        self.assertLess(max(pauses), 5, pauses)
        self.assertGreater(max(last) - min(last), 0.05, f"the pauses are equal, so a fleet would return at once: {pauses}")
        self.stop(subject, seconds=15)

    def test_slow_answers_cost_time_only(self):
        subject = self.start(lease_ms=10_000)
        self.proxy.play(ANY, slow(1, self.proxy.closing), times=1000)
        keys = [f"k{number}" for number in range(8)]
        for id in [self.store("slow", key, ms=500) for key in keys]:
            self.until_ended(id)
        self.begun_once(subject, keys)

    def test_an_answer_that_takes_too_long_is_asked_for_again(self):
        subject = self.start(timeout_ms=1000, lease_ms=20_000)
        self.proxy.play(SETTLE, slow(10, self.proxy.closing))
        self.until_ended(self.store("none", "a"))
        until(lambda: len(self.proxy.seen(SETTLE)) == 2, what="it was not sent again")
        self.until_ended(self.store("none", "b"))
        self.begun_once(subject, ["a", "b"])

    def pauses_after(self, path, status):
        """The times between an answer with this status and the next request."""
        times = [(one.at, one.status) for one in self.proxy.seen(path)]
        return [after - at for (at, was), (after, _) in zip(times, times[1:]) if was == status]

    @quick
    def test_a_worker_waits_as_long_as_retry_after_says(self):
        too_many = problem(429, "too_many_requests", "too many requests", Retry_After=2)
        self.proxy.play(LEASE, too_many)
        self.proxy.play(SETTLE, too_many)
        subject = self.start(lease_ms=20_000)
        self.until_ended(self.store("none", "a"))
        self.begun_once(subject, ["a"])
        for path in (LEASE, SETTLE):
            self.assertGreaterEqual(min(self.pauses_after(path, 429)), 1.95, path)

    def test_a_submission_waits_as_long_as_retry_after_says(self):
        self.proxy.play(SUBMIT, problem(429, "too_many_requests", "too many requests", Retry_After=1))
        subject = self.start()
        subject.say(do="submit", tag="t", handler="conform.none", key="a", args=[{}])
        until(lambda: subject.seen("submitted", tag="t"), what="not submitted")
        self.assertGreaterEqual(self.pauses_after(SUBMIT, 429)[0], 0.95)

    def test_server_errors_are_survived(self):
        for path in (LEASE, SETTLE, RENEW):
            for fault in SERVER_ERRORS:
                self.proxy.play(path, fault)
        subject = self.start(lease_ms=9000)
        keys = [f"k{number}" for number in range(6)]
        for id in [self.store("slow", key, ms=4000) for key in keys]:
            self.until_ended(id)
        self.begun_once(subject, keys)
        self.assertGreaterEqual(len(self.proxy.seen(RENEW)), 5)

    @quick
    def test_a_submission_survives_server_errors_and_is_stored_once(self):
        for fault in (done_but(SERVER_ERRORS[0]), *SERVER_ERRORS):
            self.proxy.play(SUBMIT, fault)
        subject = self.start(timeout_ms=20_000)
        subject.say(do="submit", tag="t", handler="conform.none", key="a", args=[{}])
        until(lambda: subject.seen("submitted", tag="t") or subject.seen("refused"), what="not submitted")
        self.assertEqual(subject.seen("refused"), [])
        self.until_ended(subject.seen("submitted")[0]["ids"][0])
        keys = [{name.lower(): value for name, value in one.headers.items()}.get("idempotency-key") for one in self.proxy.seen(SUBMIT)]
        self.assertEqual((len(keys), len(set(keys[:5]))), (6, 1), "the same key for each try")
        self.assertNotEqual(keys[5], keys[4], "503 in_doubt is the answer to its key for good")
        until(lambda: subject.seen("end", key="a"), what="it did not run")

    @quick
    def test_a_settlement_whose_answer_is_lost_is_not_a_second_run(self):
        self.proxy.play(SETTLE, done_but(SERVER_ERRORS[0]))
        self.proxy.play(SETTLE, cut_reply)
        self.proxy.play(SETTLE, cut_middle)
        subject = self.start(lease_ms=60_000)
        ids = [self.store(handler, f"{handler}{number}") for handler in ("none", "give_up", "batched") for number in range(2)]
        for id in ids:
            until(lambda: self.task(id)["state"] == "finished", what="not ended")
        self.until_ended(self.store("none", "after"))
        self.assertEqual(len(self.begun(subject, 7)), 7)

    @quick
    def test_a_submission_whose_answer_is_lost_is_stored_once(self):
        self.proxy.play(SUBMIT, cut_reply)
        subject = self.start()
        subject.say(do="submit", tag="t", handler="conform.none", key="a", args=[{}])
        until(lambda: subject.seen("submitted", tag="t"), what="not submitted")
        first, second = self.proxy.seen(SUBMIT)
        key = {name.lower(): value for name, value in first.headers.items()}.get("idempotency-key")
        self.assertTrue(key)
        self.assertIn(key, second.headers.values())
        self.until_ended(subject.seen("submitted", tag="t")[0]["ids"][0])
        until(lambda: subject.seen("end", key="a"), what="it did not run")
        self.assertEqual(len(self.begun(subject, 1)), 1)

    def test_leased_tasks_that_do_not_arrive_run_when_their_lease_has_expired(self):
        id = self.store("none", "a")
        self.proxy.play(LEASE, cut_middle)
        subject = self.start(lease_ms=4000)
        self.until_ended(id)
        self.begun_once(subject, ["a"])

    def test_renewals_that_fail_do_not_end_a_handler(self):
        self.proxy.play(RENEW, cut_reply, times=2)
        subject = self.start(lease_ms=6000)
        self.until_ended(self.store("slow", "a", ms=7000))
        self.begun_once(subject, ["a"])
        self.assertEqual(subject.seen("cancelled"), [])

    @quick
    def test_a_renewal_that_hangs_costs_no_lease(self):
        self.proxy.play(RENEW, hung(60, self.proxy.closing))
        subject = self.start(lease_ms=9000, timeout_ms=30_000)
        self.until_ended(self.store("slow", "a", ms=12_000))
        self.begun_once(subject, ["a"])
        self.assertEqual(subject.seen("cancelled"), [])
        first, second = [one.at for one in self.proxy.seen(RENEW)][:2]
        self.assertLess(second - first, 6, "the first try took more than what was left of the lease")

    def test_a_daemon_that_asks_for_patience_costs_no_lease(self):
        self.proxy.play(RENEW, problem(429, "too_many_requests", "too many requests", Retry_After=60))
        subject = self.start(lease_ms=9000)
        self.until_ended(self.store("slow", "a", ms=12_000))
        self.begun_once(subject, ["a"])
        self.assertEqual(subject.seen("cancelled"), [])

    def test_a_handler_is_cancelled_when_its_lease_is_over_while_the_daemon_is_away(self):
        subject = self.start(lease_ms=3000, timeout_ms=30_000)
        id = self.store("slow", "a", ms=8000)
        self.until_begun(subject, "a")
        self.daemon.kill()
        until(lambda: subject.seen("cancelled", key="a"), 6, "the handler goes on, although another worker may have the task")
        self.restart_daemon()
        self.until_ended(id, seconds=120)
        self.assertEqual([one["key"] for one in self.begun(subject, 2)], ["a", "a"])

    def test_clocks_that_differ_by_a_day_do_not_matter(self):
        for day, key in (("2001-01-01", "early"), ("2099-12-31", "late")):
            def shift(headers, content, day=day):
                for name in headers:
                    if name.lower() == "easyretry-time":
                        headers[name] = f"{day}T00:00:00.000Z"
                    elif name.lower() == "date":
                        headers[name] = "Mon, 01 Jan 2001 00:00:00 GMT"
                for holder in [content, *content.get("tasks", [])]:
                    for name in holder.keys() & {"lease_until", "created_at", "next_at"}:
                        holder[name] = f"{day}T00:00:30.000Z"

            self.proxy.calm()
            self.proxy.play(ANY, changed(shift), times=1000)
            subject = self.start(lease_ms=6000)
            self.until_ended(self.store("slow", key, ms=8000))
            self.begun_once(subject, [key])
            renewals = len(self.proxy.seen(RENEW))
            self.assertGreaterEqual(renewals, 2)
            self.assertLess(renewals, 40)
            self.stop(subject)


class Refusals(Case):
    def test_a_refused_submission_says_why(self):
        subject = self.start()
        subject.say(do="submit", tag="t", handler="x" * 300, key="a", args=[{}])
        until(lambda: subject.seen("refused", tag="t"), what="not refused")
        self.assertRegex(subject.seen("refused")[0]["text"], re.compile("handler|name|200", re.I))

    def test_a_submission_to_a_daemon_that_is_away_says_so(self):
        self.daemon.kill()
        subject = self.start(timeout_ms=1000)
        subject.say(do="submit", tag="t", handler="conform.none", key="a", args=[{}])
        until(lambda: subject.seen("refused", tag="t"), what="not refused")
        self.assertIn("127.0.0.1", subject.seen("refused")[0]["text"])
        self.restart_daemon()
