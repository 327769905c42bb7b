#!/usr/bin/env python3
"""easyretry.testing, and calls that are stored if they fail, which it can show without a daemon."""
import asyncio
import unittest

import here  # noqa: F401
from easyretry import App, Conflict, GiveUp, InDoubt, NoValueYet, Policy, RetryAfter, StoreError, Unavailable, current_task
from easyretry.in_memory import Backoff
from easyretry.testing import Manual


class Tests(unittest.TestCase):
    def setUp(self):
        self.app = App(token="none")

    def test_submitted_tasks_run_by_hand(self):
        app, sent = self.app, []

        @app.handler("mail.send")
        def send(order):
            sent.append(order["to"])
            return len(sent)

        def sign_up(name):
            app.client.submit("mail.send", {"to": name})

        with Manual(app) as manual:
            sign_up("ann")
            manual.run_all()
        assert manual.ended[0].outcome == "succeeded"
        self.assertEqual((sent, manual.ended[0].result, manual.live), (["ann"], 1, []))
        self.assertIsNot(app.client, manual)

    def test_time_moves_to_the_next_attempt(self):
        @self.app.handler("h")
        def handle(_):
            current_task().progress(f"attempt {current_task().attempt}")
            if current_task().attempt == 1:
                raise RetryAfter(60)
            if current_task().attempt == 2:
                raise ValueError("again")

        with Manual(self.app, retry_delay=5) as manual:
            self.app.client.submit("h", {}, delay=10)
            self.assertEqual([manual.run_next() and manual.now for _ in range(4)], [10, 70, 75, None])
        self.assertEqual((manual.ended[0].attempts, manual.ended[0].progress), (3, "attempt 3"))

    def test_limits_and_giving_up_end_a_task(self):
        @self.app.handler("fails")
        def fails():
            raise ValueError("no")

        @self.app.handler("gives_up")
        async def gives_up():
            raise GiveUp("no mailbox")

        with Manual(self.app) as manual:
            self.app.client.submit("fails", policy=Policy(max_attempts=3))
            self.app.client.submit("gives_up")
            self.assertEqual(manual.run_all(), 4)
        self.assertEqual({task.handler: (task.outcome, task.last_error) for task in manual.ended},
                         {"fails": ("exhausted", "ValueError: no"), "gives_up": ("rejected", "no mailbox")})

    def test_what_a_policy_leaves_out_is_as_without_a_policy(self):
        @self.app.handler("fails")
        def fails():
            raise ValueError("no")

        with Manual(self.app) as manual:
            self.app.client.submit("fails", policy=Policy(backoff="fixed delay=1s"), key="other pauses")
            self.app.client.submit("fails", key="no policy")
            manual.run_all()
        self.assertEqual([task.attempts for task in manual.ended], [16, 16])

    def test_one_live_task_per_key(self):
        with Manual(self.app) as manual:
            first = self.app.client.submit("h", {"a": 1}, key="k")
            self.assertEqual(self.app.client.submit("h", {"a": 2}, key="k").id, first.id)
            with self.assertRaises(Conflict):
                self.app.client.submit("h", {"a": 2}, key="k", on_duplicate="reject")
        self.assertEqual(len(manual.live), 1)

    def test_a_task_that_never_ends_is_a_failure_of_the_test(self):
        @self.app.handler("h")
        def handle():
            raise ValueError("no")

        with Manual(self.app) as manual, self.assertRaisesRegex(AssertionError, "still live"):
            self.app.client.submit("h", policy=Policy(max_attempts=0))
            manual.run_all(most=50)


class CardRefused(Exception):
    pass


def refusing(trouble):
    def settle(*_):
        raise trouble
    return settle


class CallsCase(unittest.TestCase):
    def pay(self, **rules):
        app, self.calls, self.answers = App(token="none"), [], []

        @app.retryable("pay", never_retry=(CardRefused,), **rules)
        def pay(order):
            self.calls.append(order)
            answer = self.answers.pop(0) if self.answers else "paid"
            if isinstance(answer, BaseException):
                raise answer
            return answer

        self.manual = self.enterContext(Manual(app)) if hasattr(self, "enterContext") else Manual(app).__enter__()
        return pay

    def ended(self):
        return [(task.outcome, task.attempts, task.last_error) for task in self.manual.ended]


class Calls(CallsCase):
    def test_a_call_that_succeeds_stores_nothing(self):
        attempt = self.pay()({"id": 1})
        self.assertTrue(attempt)
        self.assertEqual((attempt.value, self.manual.stored), ("paid", 0))

    def test_a_call_that_fails_is_stored_and_retried(self):
        pay = self.pay()
        self.answers = [ConnectionError("busy")]
        attempt = pay({"id": 1})
        self.assertEqual(attempt.state, "stored")
        self.assertIsInstance(attempt.error, ConnectionError)
        with self.assertRaises(NoValueYet):
            attempt.value
        self.assertEqual(self.manual.live[0].last_error, "ConnectionError: busy")
        self.manual.run_all()
        self.assertEqual(self.ended(), [("succeeded", 2, "ConnectionError: busy")])
        self.assertEqual(self.calls, [{"id": 1}, {"id": 1}])

    def test_a_failure_that_is_not_worth_retrying_is_raised(self):
        for persist, history in (("retry_only", []), ("on_failure", ["rejected"]), ("always", ["rejected"]), ("manual", [])):
            with self.subTest(persist):
                pay = self.pay(persist=persist)
                self.answers = [CardRefused("no funds")]
                with self.assertRaises(CardRefused):
                    pay({"id": 1})
                self.assertEqual([task.outcome for task in self.manual.ended], history)
                self.assertEqual(self.manual.live, [])

    def test_a_retry_that_is_not_worth_retrying_is_the_last(self):
        pay = self.pay()
        self.answers = [ConnectionError("busy"), CardRefused("no funds")]
        pay({"id": 1})
        self.manual.run_all()
        self.assertEqual(self.ended(), [("rejected", 2, "CardRefused: no funds")])

    def test_always_stores_the_call_first(self):
        pay = self.pay(persist="always")
        self.answers = ["paid", ConnectionError("busy"), "paid"]
        self.assertTrue(pay({"id": 1}))
        self.assertEqual(pay({"id": 2}).state, "stored")
        self.manual.run_all()
        self.assertEqual([task.attempts for task in self.manual.ended], [1, 2])

    def test_an_interrupt_is_no_failure(self):
        for persist, live in (("retry_only", 0), ("on_failure", 0), ("always", 1)):
            pay = self.pay(persist=persist)
            self.answers = [KeyboardInterrupt()]
            with self.assertRaises(KeyboardInterrupt):
                pay({"id": 1})
            self.assertEqual((len(self.manual.live), self.manual.ended), (live, []))  # a live one runs when its lease has expired

    def test_always_does_not_call_beside_a_live_task(self):
        pay = self.pay(persist="always").options(key="k")
        pay.submit({"id": 1})
        self.assertEqual(pay({"id": 1}).state, "stored")
        self.assertEqual(self.calls, [])

    def test_manual_leaves_storing_to_the_caller(self):
        pay = self.pay(persist="manual")
        self.answers = [ConnectionError("busy")]
        with self.assertRaises(ConnectionError):
            pay({"id": 1})
        pay.options(key="order 1").store({"id": 1}, why="busy")
        self.assertEqual([(task.key, task.attempts, task.last_error) for task in self.manual.live], [("order 1", 1, "busy")])

    def test_a_result_that_is_no_success_is_stored_and_judged_again(self):
        pay = self.pay(success_when=lambda value: value == "paid")
        self.answers = ["pending", "pending", "paid"]
        self.assertEqual(pay({"id": 1}).state, "stored")
        self.manual.run_all()
        self.assertEqual(self.ended(), [("succeeded", 3, "NotASuccess: the result is not a success")])

    def test_the_last_attempt_that_is_allowed_is_not_stored(self):
        pay = self.pay(policy=Policy(max_attempts=1), success_when=lambda value: value == "paid")
        self.answers = [ConnectionError("busy"), "pending"]
        with self.assertRaises(ConnectionError):
            pay({"id": 1})
        self.assertEqual(pay({"id": 1}).state, "failed")
        self.assertEqual(self.manual.stored, 0)

    def test_a_wish_for_a_time_is_kept(self):
        pay = self.pay()
        self.answers = [RetryAfter(90, "busy")]
        pay({"id": 1})
        self.assertEqual(self.manual.live[0].due, 90)

    def test_inside_a_task_it_only_calls(self):
        pay = self.pay()

        @self.manual.app.handler("checkout")
        def checkout():
            pay({"id": 1})

        self.answers = [ConnectionError("busy")]
        self.manual.submit("checkout", policy=Policy(max_attempts=1))
        self.manual.run_all()
        self.assertEqual([(task.handler, task.outcome) for task in self.manual.ended], [("checkout", "exhausted")])

    def test_a_failure_that_cannot_be_stored_is_not_lost(self):
        pay = self.pay(rethrow=True)
        self.answers = [ConnectionError("busy")]
        self.manual.submit_task = lambda task: (_ for _ in ()).throw(Unavailable("no daemon"))
        with self.assertRaises(StoreError) as caught:
            pay({"id": 1})
        self.assertIsInstance(caught.exception.failure, ConnectionError)
        self.assertIsInstance(caught.exception.__cause__, Unavailable)

    def test_the_value_of_a_success_that_cannot_be_reported_reaches_the_caller(self):
        for trouble in (Conflict(409, "lease_lost", "the lease expired"), Unavailable("no daemon"), InDoubt("no answer")):
            with self.subTest(trouble):
                pay = self.pay(persist="always")
                self.manual.settle = refusing(trouble)
                with self.assertLogs("easyretry", "WARNING") as logged:
                    self.assertEqual(pay({"id": 1}).value, "paid")
                self.assertIn("may run again", logged.output[0])
                self.assertEqual(len(self.manual.live), 1, "a worker runs it when its lease has expired")

    def test_a_failure_whose_end_cannot_be_reported_reaches_the_caller_as_it_is(self):
        for persist in ("always", "on_failure"):
            with self.subTest(persist):
                pay = self.pay(persist=persist)
                self.manual.settle = refusing(Conflict(409, "lease_lost", "the lease expired"))
                self.answers = [CardRefused("no funds")]
                with self.assertLogs("easyretry", "WARNING"), self.assertRaises(CardRefused):
                    pay({"id": 1})

    def test_a_stored_failure_that_cannot_be_reported_is_stored_all_the_same(self):
        pay = self.pay()
        self.manual.settle = refusing(Unavailable("no daemon"))
        self.answers = [ConnectionError("busy")]
        with self.assertLogs("easyretry", "WARNING"):
            self.assertEqual(pay({"id": 1}).state, "stored")

    def test_a_call_in_a_first_attempt_that_is_not_stored_is_like_any_other(self):
        for persist in ("retry_only", "on_failure", "manual"):
            with self.subTest(persist):
                pay, checkout = self.pay(), self.around(persist)
                self.answers = [ConnectionError("busy")]
                self.assertTrue(checkout(pay))
                self.assertEqual([task.handler for task in self.manual.live], ["pay"])

    def test_a_call_in_a_first_attempt_that_is_stored_only_calls(self):
        pay, checkout = self.pay(), self.around("always")
        self.answers = [ConnectionError("busy")]
        self.assertEqual(checkout(pay).state, "stored")
        self.assertEqual([task.handler for task in self.manual.live], ["checkout"])
        self.assertEqual(pay({"id": 2}).state, "succeeded", "afterwards, a call is like any other")
        self.answers = [ConnectionError("busy")]
        self.assertEqual(pay({"id": 3}).state, "stored")

    def around(self, persist):
        """A function that calls `pay`, and is called with this strategy."""
        inner = []

        @self.manual.app.retryable("checkout", persist=persist)
        def checkout():
            inner[0]({"id": 1})

        def call(pay):
            inner.append(pay)
            return checkout()
        return call

    def test_coroutines_are_awaited(self):
        app = App(token="none")

        @app.retryable("pay")
        async def pay(order):
            await asyncio.sleep(0)
            if current_task() is None:
                raise ConnectionError("busy")
            return order

        with Manual(app) as manual:
            self.assertEqual(asyncio.run(pay({"id": 1})).state, "stored")
            manual.run_all()
        self.assertEqual(manual.ended[0].result, {"id": 1})

    def test_a_strategy_that_does_not_exist_is_refused(self):
        with self.assertRaisesRegex(ValueError, "retry_only, on_failure, always, manual, never"):
            self.pay(persist="sometimes")

    def test_arguments_with_names_get_their_places(self):
        app = App(token="none")

        @app.retryable("pay")
        def pay(order, cents=5, currency="EUR"):
            if current_task() is None:
                raise ConnectionError("busy")

        @app.retryable("named")
        def named(*, order):
            pass

        with Manual(app) as manual:
            pay(1, currency="CHF")
            pay.submit(order=2)
            with self.assertRaisesRegex(TypeError, "by name .order."):
                named.submit(order=1)
            self.assertEqual([task.args for task in manual.live], [[1, 5, "CHF"], [2, 5, "EUR"]])
            manual.run_all()


QUICK = Policy(max_attempts=4, backoff="fixed delay=1ms")


class InMemory(CallsCase):
    """The strategy `never`."""

    def test_a_call_is_retried_where_it_is_made(self):
        pay = self.pay(persist="never", policy=QUICK)
        self.answers = [ConnectionError("busy")] * 3
        self.assertEqual((pay({"id": 1}).value, len(self.calls)), ("paid", 4))
        self.answers = [ConnectionError("busy")] * 9
        with self.assertRaises(ConnectionError):
            pay({"id": 1})
        self.assertEqual((len(self.calls), self.manual.stored), (8, 0))

    def test_a_failure_that_is_not_worth_retrying_is_raised_at_once(self):
        pay = self.pay(persist="never", policy=QUICK)
        self.answers = [CardRefused("no funds")]
        with self.assertRaises(CardRefused):
            pay({"id": 1})
        self.assertEqual(len(self.calls), 1)

    def test_a_result_that_is_no_success_is_retried_and_the_last_one_returned(self):
        pay = self.pay(persist="never", policy=QUICK, success_when=lambda value: value == "paid")
        self.answers = ["pending", "paid"]
        self.assertEqual(pay({"id": 1}).value, "paid")
        self.answers = ["pending"] * 9
        last = pay({"id": 1})
        self.assertEqual((last.state, last.value, len(self.calls)), ("failed", "pending", 6))

    def test_a_coroutine_is_retried_where_it_is_awaited(self):
        app, calls = App(token="none"), []

        @app.retryable("pay", persist="never", policy=QUICK)
        async def pay(order):
            calls.append(order)
            if len(calls) < 3:
                raise ConnectionError("busy")
            return "paid"

        self.assertEqual((asyncio.run(pay(1)).value, len(calls)), ("paid", 3))

    def test_a_call_in_a_retry_only_calls(self):
        pay = self.pay()

        @self.manual.app.retryable("checkout", persist="never", policy=QUICK)
        def checkout():
            if pay({"id": 1}).state == "stored":
                raise ConnectionError("so that there is a retry")

        self.answers = [ConnectionError("busy")] * 2
        self.assertTrue(checkout())
        self.assertEqual([task.attempts for task in self.manual.live], [1])
        self.assertEqual(len(self.calls), 3)

    def test_no_attempt_begins_after_the_longest_time(self):
        pay = self.pay(persist="never", policy=Policy(max_attempts=0, max_duration=60, backoff="fixed delay=2m"))
        self.answers = [ConnectionError("busy")]
        with self.assertRaises(ConnectionError):
            pay({"id": 1})
        self.assertEqual(len(self.calls), 1)

    def test_pauses_are_those_of_the_configuration(self):
        for text, attempt, seconds in ((None, 5, 1.0), ("fixed delay=1.5s", 1, 1.5), ("linear first=1s step=2s", 3, 5.0),
                                       ("exponential first=1s", 3, 8.0), ("exponential first=1s", 5000, 900.0)):
            self.assertEqual(Backoff(text).pause(attempt), seconds)
        for wrong in ("often", "fixed delay=soon", "exponential factor=x"):
            with self.assertRaisesRegex(ValueError, "no backoff"):
                self.pay(persist="never", policy=Policy(backoff=wrong))


if __name__ == "__main__":
    unittest.main()
