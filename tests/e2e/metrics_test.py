"""/metrics of easyretry serve, read as Prometheus reads it; and the metrics that docs and packaging name.
Usage: metrics_test.py EASYRETRY_PROGRAM"""
import json
import os
import pathlib
import re
import sqlite3
import time
import unittest

import prometheus_text
from daemon_case import DaemonCase
from waiting import until

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ROW = re.compile(r"^\| `(easyretry_\w+)` \| (\w+) \| (.*?) \| .+ \|$", re.M)
SECRET = "hunter2-canary"


class Metrics(DaemonCase):
    def page(self, **more):
        status, kind, text = self.daemon.ask_for_text("GET", "/metrics", **more)
        self.assertEqual((status, kind), (200, "text/plain; version=0.0.4; charset=utf-8"), text)
        return text

    def metrics(self, **more):
        return prometheus_text.parse(self.page(**more))

    def submit(self, handler="mail", **more):
        status, made = self.daemon.ask("POST", "/v1/tasks", {"handler": handler, **more})
        self.assertEqual(status, 201, made)
        return made["id"]

    def answer(self, verb, handler="mail", **more):
        [task] = self.daemon.lease(handler)
        status, said = self.daemon.ask("POST", f"/v1/leases/{task['id']}/{verb}", {"version": task["version"], **more})
        self.assertEqual(status, 200, said)

    def eventually(self, holds):
        def seen():
            metrics = self.metrics()
            return metrics if holds(metrics) else None
        return until(seen)

    def test_the_stages_of_tasks_are_counted_and_measured(self):
        self.start("handlers:\n  mail: {max_attempts: 2, backoff: 'fixed delay=10ms'}\n")
        self.submit(key="good")
        self.answer("done")
        self.submit(key="bad")
        self.answer("fail", error="503")
        self.answer("fail", error="503")
        self.daemon.ask("POST", f"/v1/tasks/{self.submit(key='unwanted', delay_ms=3_600_000)}/cancel?untold=true")

        metrics = self.metrics()
        here = {"namespace": "default"}
        counted = {name: metrics[f"easyretry_{name}_total"].value(**here)
                   for name in ("stored_tasks", "claimed_tasks", "retried_attempts", "stale_settles", "internal_errors")}
        self.assertEqual(counted, {"stored_tasks": 3, "claimed_tasks": 3, "retried_attempts": 1, "stale_settles": 0,
                                   "internal_errors": 0})
        ended = {dict(labels)["outcome"]: value
                 for (_, labels), value in metrics["easyretry_ended_tasks_total"].samples.items()}
        self.assertEqual(ended, {"succeeded": 1, "exhausted": 1, "cancelled": 1, "rejected": 0, "quarantined": 0, "parked": 0})
        self.assertEqual(metrics["easyretry_lateness_seconds"].value("_count", **here), 3)
        self.assertEqual(metrics["easyretry_run_seconds"].value("_count", handler="mail", **here), 3)
        self.assertEqual(metrics["easyretry_claim_batch_tasks"].value("_sum", **here), 3)
        self.assertEqual(metrics["easyretry_settle_batch_tasks"].value("_sum", **here), 3)
        self.assertEqual(metrics["easyretry_store_seconds"].value("_count", verb="insert", **here), 3)
        self.assertEqual(metrics["easyretry_store_seconds"].value("_count", verb="end", **here), 1)
        self.assertGreater(metrics["easyretry_store_seconds"].value("_sum", verb="settle", **here), 0)
        self.assertEqual(metrics["easyretry_backlog_tasks"].value(handler="mail", **here), 0)
        self.assertEqual(metrics["easyretry_store_up"].value(**here), 1)

    def test_run_time_is_how_long_a_worker_had_the_task(self):
        self.start()
        self.submit()
        [task] = self.daemon.lease()
        time.sleep(0.3)
        self.daemon.ask("POST", f"/v1/leases/{task['id']}/done", {"version": task["version"]})
        took = self.metrics()["easyretry_run_seconds"].value("_sum", namespace="default", handler="mail")
        self.assertGreaterEqual(took, 0.3)
        self.assertLess(took, 10)

    def test_waiting_tasks_have_a_count_and_an_age_by_handler_and_shard(self):
        self.start()
        for i in range(5):
            self.submit("mail", key=f"k{i}")
        self.submit("later", delay_ms=3_600_000)
        oldest = "easyretry_oldest_due_seconds"
        metrics = self.eventually(lambda seen: seen[oldest].value(namespace="default", handler="mail") >= 0.5)
        backlog = metrics["easyretry_backlog_tasks"]
        self.assertEqual(backlog.value(namespace="default", handler="mail"), 5)
        self.assertEqual(backlog.value(namespace="default", handler="later"), 1)
        self.assertEqual(metrics[oldest].value(namespace="default", handler="later"), 0)
        lags = metrics["easyretry_shard_lag_seconds"].samples.values()
        self.assertTrue(1 <= len(lags) <= 5, lags)
        self.assertEqual(max(lags), metrics[oldest].value(namespace="default", handler="mail"))

    def test_tasks_of_handlers_not_named_since_the_start_are_reported(self):
        self.start()
        self.submit("forgotten")
        self.daemon.stop()
        self.start()
        metrics = self.eventually(lambda seen: seen["easyretry_unserved_tasks"].value(namespace="default") == 1)
        self.assertEqual(metrics["easyretry_backlog_tasks"].value(namespace="default", handler="forgotten"), 1)

    def test_a_token_sees_its_own_namespaces(self):
        self.start(server=", namespaces: [shop]")
        self.submit("secret.project")
        spaces = lambda text: set(re.findall(r'namespace="(\w+)"', text))
        self.assertEqual(spaces(self.page()), {"default", "shop"})
        self.assertEqual(spaces(self.page(headers={"easyretry-namespace": "shop"})), {"shop"})
        of_shop = self.page(token=self.token("shop", "viewer", "shop"))
        self.assertEqual(spaces(of_shop), {"shop"})
        self.assertNotIn("secret.project", of_shop)

    def test_it_is_not_for_everybody(self):
        self.start()
        worker = self.token("worker", "worker", "default")
        self.assertEqual(self.daemon.ask("GET", "/metrics", headers={"Authorization": None})[0], 401)
        self.assertEqual(self.daemon.ask("GET", "/metrics", token=worker)[0], 403)
        self.assertEqual(self.daemon.ask("GET", "/metrics?x=1")[0], 422)

    def test_names_of_any_kind_are_quoted_and_no_secret_is_revealed(self):
        self.start("defaults: {backoff: 'fixed delay=1h'}\n")
        name = 'ma"il}\n\\ 日本'
        self.submit(name, args=[SECRET], key=SECRET, business_id=SECRET, tags=[SECRET])
        self.answer("fail", name, error=SECRET)
        self.assertEqual(self.metrics()["easyretry_backlog_tasks"].value(namespace="default", handler=name), 1)
        self.assertNotIn(SECRET, self.page())
        self.assertNotIn(self.daemon.token, self.page())

    def test_a_store_that_fails_costs_its_own_numbers_and_no_others(self):
        self.start()
        self.submit()
        with sqlite3.connect(os.path.join(self.folder.name, "retry.db"), timeout=30) as store:
            store.execute("ALTER TABLE retry_count RENAME TO gone")
        store.close()
        metrics = self.metrics()
        self.assertEqual(metrics["easyretry_store_up"].value(namespace="default"), 0)
        self.assertEqual(metrics["easyretry_backlog_tasks"].samples, {})
        self.assertEqual(metrics["easyretry_stored_tasks_total"].value(namespace="default"), 1)

    def test_the_docs_list_every_metric_with_its_kind_and_labels_and_no_other(self):
        self.start("defaults: {circuit: on, limit: {running: 100}}\nalerts: {channels: {ops: {type: slack, url: 'https://x.example/y'}}}\n")
        self.submit()
        rows = ROW.findall((ROOT / "docs/metrics.md").read_text())
        written = {name: (kind, {frozenset(re.findall(r"`(\w+)`", labels))}) for name, kind, labels in rows}
        served = self.eventually(lambda seen: seen["easyretry_shard_lag_seconds"].samples)
        self.assertEqual(written, {name: (family.kind, family.labels()) for name, family in served.items()})

    def test_alert_rules_and_dashboard_use_existing_metrics(self):
        self.start()
        served = set()
        for name, family in self.metrics().items():
            served |= {name + part for part in prometheus_text.PARTS} if family.kind == "histogram" else {name}
        dashboard = json.loads((ROOT / "packaging/grafana-dashboard.json").read_text())
        asked = " ".join(target["expr"] for panel in dashboard["panels"] for target in panel["targets"])
        asked += (ROOT / "packaging/alert-rules.yaml").read_text()
        names = set(re.findall(r"\beasyretry_\w+", asked))
        self.assertGreater(len(names), 15)
        self.assertLessEqual(names, served)


class Parser(unittest.TestCase):
    """A parser that accepts everything would make the tests above pass, so it has to refuse wrong texts."""

    HEAD = "# HELP a_total An a.\n# TYPE a_total counter\n"
    HISTOGRAM = "# HELP h An h.\n# TYPE h histogram\n"

    def test_malformed_metrics_are_errors(self):
        for text in (
            self.HEAD + "a_total 1",
            self.HEAD + "a_total one\n",
            self.HEAD + "a_total -1\n",
            self.HEAD + "b_total 1\n",
            self.HEAD + "a_total 1\na_total 2\n",
            self.HEAD + 'a_total{x="y"z} 1\n',
            self.HEAD + self.HEAD,
            "# HELP a An a.\n# TYPE a counter\na 1\n",
            "# HELP a_total An a.\n# TYPE a_total gauge\na_total 1\n",
            self.HISTOGRAM + 'h_count 2\nh_sum 1\nh_bucket{le="1"} 1\nh_bucket{le="+Inf"} 1\n',
            self.HISTOGRAM + 'h_count 1\nh_sum 1\nh_bucket{le="1"} 2\nh_bucket{le="+Inf"} 1\n',
            self.HISTOGRAM + "h_count 1\nh_sum 1\n",
        ):
            with self.subTest(text), self.assertRaises(ValueError):
                prometheus_text.parse(text)


if __name__ == "__main__":
    unittest.main()
