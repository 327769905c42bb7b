"""Counts over time. Usage: series_test.py EASYRETRY_PROGRAM"""
import unittest

from daemon_case import DaemonCase
from waiting import until


class Series(DaemonCase):
    def series(self, query=""):
        status, answer = self.daemon.ask("GET", f"/v1/series{query}")
        self.assertEqual(status, 200, answer)
        return answer

    def sums(self, query=""):
        return {name: sum(value or 0 for value in values) for name, values in self.series(query)["series"].items()}

    def test_events_are_visible_after_at_most_two_steps(self):
        self.start()
        until(lambda: self.series()["series"]["stored"], 30)  # the first step has ended
        for number in range(3):
            self.daemon.ask("POST", "/v1/tasks", {"handler": "mail", "key": str(number)})
        self.daemon.ask("POST", "/v1/tasks", {"handler": "pay", "delay_ms": 3_600_000})
        done, failed, ended = [self.daemon.lease("mail")[0] for _ in range(3)]
        self.daemon.ask("POST", f"/v1/leases/{done['id']}/done", {"version": done["version"]})
        self.daemon.ask("POST", f"/v1/leases/{failed['id']}/fail", {"version": failed["version"], "error": "x", "retry_after_ms": 3_600_000})
        self.daemon.ask("POST", f"/v1/leases/{ended['id']}/fail", {"version": ended["version"], "error": "x", "give_up": True})
        until(lambda: self.sums()["ended_badly"], 30)
        sums = self.sums("?handler=mail")
        self.assertEqual({name: sums[name] for name in ("stored", "succeeded", "failed_attempts", "ended_badly")},
                         {"stored": 3, "succeeded": 1, "failed_attempts": 2, "ended_badly": 1})
        mail = self.series("?handler=mail&step=10s")
        self.assertEqual((mail["step_ms"], mail["series"]["backlog"][-1]), (10_000, 1))
        self.assertTrue(any(mail["series"]["late_p99_ms"]))
        self.assertEqual(self.series()["series"]["backlog"][-1], 2)
        self.assertEqual(self.sums()["stored"], 4)
        self.assertEqual(len({len(values) for values in mail["series"].values()}), 1)
        self.assertEqual(self.series("?step=1m")["step_ms"], 60_000)
        self.assertEqual(self.series("?handler=nobody")["series"]["stored"], [])

    def test_the_series_survives_a_restart(self):
        self.start()
        until(lambda: self.series()["series"]["stored"], 30)  # the first step has ended
        begin = self.series()["from"]
        for number in range(3):
            self.daemon.ask("POST", "/v1/tasks", {"handler": "mail", "key": str(number), "delay_ms": 3_600_000})
        until(lambda: self.sums()["stored"], 30)
        self.daemon.stop()
        self.start()
        until(lambda: self.sums("?handler=mail")["stored"], 30)
        self.assertEqual(self.series()["from"], begin)
        self.assertEqual((self.sums()["stored"], self.sums("?handler=mail")["stored"]), (3, 3))
        until(lambda: self.series()["series"]["backlog"][-1] == 3, 30)
        self.assertEqual(self.sums()["stored"], 3, "nothing is counted twice")
        self.daemon.ask("POST", "/v1/tasks", {"handler": "mail", "key": "4", "delay_ms": 3_600_000})
        until(lambda: self.sums()["stored"] == 4, 30)
        self.daemon.stop()
        self.start()
        until(lambda: self.sums("?handler=mail")["stored"] == 4, 30)

    def test_a_wrong_parameter_is_refused(self):
        self.start()
        for query in ("step=5s", "from=2026-01-01"):
            self.assertEqual(self.daemon.ask("GET", f"/v1/series?{query}")[0], 422, query)


if __name__ == "__main__":
    unittest.main()
