"""Traces of easyretry serve, as a collector gets them. Usage: tracing_test.py EASYRETRY_PROGRAM"""
import http.server
import os
import subprocess
import threading
import unittest
from unittest import mock

import prometheus_text
from daemon_case import DaemonCase
from otlp import Collector
from program import PROGRAM
from receiver import ManyAtOnce, write_secrets
from waiting import until

GIVEN = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
NOT_RECORDED = GIVEN[:-2] + "00"


class Shop:
    """A receiver of webhooks that answers with these statuses, and keeps the traceparents that it gets."""

    def __init__(self, *statuses):
        self.traceparents = []
        statuses = list(statuses)

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(handler):  # noqa: N805
                handler.rfile.read(int(handler.headers["Content-Length"]))
                self.traceparents.append(handler.headers["traceparent"])
                handler.send_response(statuses.pop(0) if statuses else 200)
                handler.send_header("Content-Length", "0")
                handler.end_headers()

            def log_message(handler, *args):  # noqa: N805
                pass

        self.server = ManyAtOnce(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/pay"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Tracing(DaemonCase):
    def setUp(self):
        super().setUp()
        self.collector = Collector()
        self.addCleanup(self.collector.close)

    def traced(self, config="", server="", **variables):
        """A daemon that sends its spans to the collector, at once."""
        more = {"OTEL_EXPORTER_OTLP_ENDPOINT": self.collector.url, "OTEL_BSP_SCHEDULE_DELAY": "1", **variables}
        with mock.patch.dict(os.environ, more):
            return self.start(config, server)

    def with_shop(self, shop, **variables):
        self.addCleanup(shop.close)
        write_secrets(self.folder.name)
        return self.traced(f"handlers:\n  pay: {{url: '{shop.url}', secrets_file: hook.secrets, backoff: 'fixed delay=10ms', max_attempts: 5}}\n",
                           ", may_call: [127.0.0.1]", **variables)

    def spans(self, number):
        return until(lambda: (spans := self.collector.spans()) and len(spans) >= number and spans,
                     what=lambda: f"{[span['name'] for span in self.collector.spans()]} are not {number} spans")

    def counted(self, name, **labels):
        return prometheus_text.parse(self.daemon.ask_for_text("GET", "/metrics")[2])[name].value(**labels)

    def test_a_submit_its_attempts_and_their_webhooks_are_one_trace(self):
        shop = Shop(503, 200)
        daemon = self.with_shop(shop, OTEL_SERVICE_NAME="till", OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20x")
        id = daemon.ask("POST", "/v1/tasks", {"handler": "pay", "args": ["ann"], "traceparent": GIVEN})[1]["id"]
        spans = self.spans(5)
        [submit] = [span for span in spans if span["name"] == "submit pay"]
        first, second = [span for span in spans if span["name"] == "attempt pay"]
        failed, worked = [span for span in spans if span["name"] == "webhook pay"]
        self.assertEqual({span["trace"] for span in spans}, {GIVEN.split("-")[1]})
        self.assertEqual({span["attributes"]["easyretry.task.id"] for span in spans}, {id})
        self.assertEqual({span["resource"]["service.name"] for span in spans}, {"till"})
        self.assertEqual(submit["parent"], GIVEN.split("-")[2])
        self.assertEqual((first["parent"], second["parent"]), (submit["id"], submit["id"]))
        self.assertEqual((failed["parent"], worked["parent"]), (first["id"], second["id"]))
        self.assertEqual((first["links"], second["links"]), ([], [(first["trace"], first["id"])]))
        self.assertEqual([span["kind"] for span in (submit, first, failed)], ["producer", "consumer", "client"])
        self.assertEqual((first["attributes"]["easyretry.outcome"], second["attributes"]["easyretry.outcome"]), ("retry", "succeeded"))
        self.assertEqual((first["error"], failed["error"], second["error"], worked["error"]), ("HTTP 503", "HTTP 503", None, None))
        self.assertEqual(failed["attributes"]["http.response.status_code"], 503)
        self.assertEqual(shop.traceparents, [f"00-{one['trace']}-{one['id']}-01" for one in (failed, worked)])
        path, headers = self.collector.requests[0]
        self.assertEqual((path, headers["authorization"], headers["Content-Type"]), ("/v1/traces", "Bearer x", "application/x-protobuf"))
        # The stored task keeps what its submitter gave.
        self.assertEqual(daemon.ask("GET", f"/v1/tasks/{id}")[1]["traceparent"], GIVEN)

    def test_a_task_without_a_traceparent_is_a_trace_of_its_own(self):
        daemon = self.with_shop(Shop())
        for name in ("ann", "bob"):
            daemon.ask("POST", "/v1/tasks", {"handler": "pay", "args": [name]})
        spans = self.spans(6)
        self.assertEqual(len({span["trace"] for span in spans}), 2)
        self.assertEqual([span["name"] for span in spans if not span["parent"]], ["submit pay", "submit pay"])

    def test_a_worker_gets_the_traceparent_of_its_attempt(self):
        daemon = self.traced()
        daemon.ask("POST", "/v1/tasks", {"handler": "mail"})
        [task] = daemon.lease()
        daemon.ask("POST", f"/v1/leases/{task['id']}/fail", {"version": task["version"], "error": "no mail for \"ann\""})
        submit, attempt = self.spans(2)
        self.assertEqual(task["traceparent"], f"00-{attempt['trace']}-{attempt['id']}-01")
        self.assertEqual((attempt["name"], attempt["parent"], attempt["error"]), ("attempt mail", submit["id"], "no mail for <text>"))

    def test_a_trace_that_its_submitter_does_not_record_is_not_sent(self):
        daemon = self.with_shop(shop := Shop())
        daemon.ask("POST", "/v1/tasks", {"handler": "pay", "args": ["ann"], "traceparent": NOT_RECORDED})
        until(lambda: shop.traceparents)
        self.assertRegex(shop.traceparents[0], f"^00-{GIVEN.split('-')[1]}-[0-9a-f]{{16}}-00$")
        daemon.stop()
        self.assertEqual(self.collector.spans(), [])

    def test_a_stop_sends_the_rest(self):
        daemon = self.with_shop(Shop(), OTEL_BSP_SCHEDULE_DELAY="3600000")
        daemon.ask("POST", "/v1/tasks", {"handler": "pay", "args": ["ann"]})
        until(lambda: daemon.ask("GET", "/v1/history")[1]["tasks"])
        self.assertEqual(self.collector.spans(), [])
        self.assertEqual(daemon.stop(), 0)
        self.assertEqual(len(self.collector.spans()), 3)

    def test_without_a_collector_tasks_run_and_spans_are_dropped_and_counted(self):
        self.collector.close()
        daemon = self.with_shop(Shop(), OTEL_BSP_MAX_QUEUE_SIZE="10")
        tasks = [{"handler": "pay", "args": [number]} for number in range(200)]
        daemon.ask("POST", "/v1/tasks", {"tasks": tasks})
        until(lambda: self.counted("easyretry_ended_tasks_total", namespace="default", outcome="succeeded") == 200)
        self.assertGreaterEqual(self.counted("easyretry_spans_dropped_total"), 500)
        self.assertEqual(self.counted("easyretry_spans_sent_total"), 0)
        self.assertEqual(daemon.stop(), 0)

    def test_sent_spans_are_counted_for_whoever_may_see_all_namespaces(self):
        daemon = self.with_shop(Shop())
        daemon.ask("POST", "/v1/tasks", {"handler": "pay", "args": ["ann"]})
        until(lambda: self.counted("easyretry_spans_sent_total") == 3)
        self.assertEqual(self.counted("easyretry_spans_dropped_total"), 0)
        self.assertIn("tracing", daemon.ask("GET", "/v1/whoami")[1]["features"])
        one_namespace = daemon.ask_for_text("GET", "/metrics", token=self.token("viewer", "viewer"))[2]
        self.assertNotRegex(one_namespace, "(?m)^easyretry_spans_sent_total ")

    def test_a_variable_that_is_wrong_stops_the_start_by_name(self):
        self.start().stop()  # leaves its configuration
        wrong = {"OTEL_EXPORTER_OTLP_ENDPOINT": self.collector.url, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}
        ended = subprocess.run([PROGRAM, "serve"], cwd=self.folder.name, env={**os.environ, **wrong}, capture_output=True, text=True,
                               timeout=60)
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("OTEL_EXPORTER_OTLP_PROTOCOL: only http/protobuf is known", ended.stderr)

    def test_without_an_endpoint_there_is_no_thread_for_traces(self):
        def threads():
            names = set()
            for thread in os.listdir(f"/proc/{self.daemon.process.pid}/task"):
                with open(f"/proc/{self.daemon.process.pid}/task/{thread}/comm") as file:
                    names.add(file.read().strip())
            return names
        self.start()
        self.assertNotIn("er-trace", threads())
        self.daemon.stop()
        self.traced()
        until(lambda: "er-trace" in threads())


if __name__ == "__main__":
    unittest.main()
