#!/usr/bin/env python3
"""Fails for a sleep that is not listed here with its reason. Time is a parameter: classes take a Clock or a PauseClock, and tests
use latches, events, manual clocks and `eventually`."""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("include", "src", "apps", "examples", "bench", "sdk", "tests")
SUFFIXES = (".h", ".cpp", ".py", ".java")
SLEEP = re.compile(r"\b(sleep_for|sleep_until|usleep|nanosleep|time\.sleep|asyncio\.sleep|Thread\.sleep)\b *\(")

# How many sleeps a file may have, and why.
ALLOWED = {
    "src/base/system_clock.cpp": (1, "the system's clock of pauses"),
    "tests/support/eventually.h": (1, "polls; what C++ tests use instead of sleeping"),
    "tests/e2e/waiting.py": (1, "polls; what Python tests use instead of sleeping"),

    # Commands that poll other processes
    "apps/easyretry/layout_commands.cpp": (1, "polls until other instances have taken the next step"),
    "apps/easyretry/tasks/change_tasks.cpp": (1, "polls a job of the daemon"),

    # Benchmarks measure by the wall clock
    "apps/easyretry/bench/latency.cpp": (3, "the rate of submissions, and an idle engine's use of the processor"),
    "apps/easyretry/bench/measured.cpp": (1, "polls a running engine, seldom enough not to be measured itself"),
    "bench/http_bench/bodies.cpp": (1, "the pace of requests"),
    "bench/http_bench/idle.cpp": (1, "an idle server's use of the processor"),
    "bench/http_bench/webhooks.cpp": (2, "the pace of calls; polls a running daemon"),
    "bench/capacity.py": (2, "an idle daemon's statements"),
    "bench/redis_idle.py": (2, "an idle server's use of the processor"),
    "bench/peers/celery/bench.py": (1, "the rate of submissions"),
    "bench/peers/java/Driver.java": (1, "the rate of submissions; polls a running peer"),
    "bench/peers/mx-rmq/bench.py": (2, "the rate of submissions, to a peer that has had time to start"),
    "bench/peers/python/driver.py": (2, "polls a running peer, which has had time to start"),

    # Examples wait for a background engine
    "examples/cluster.cpp": (1, "until all members know each other"),
    "examples/mxrmq.cpp": (5, "until a worker has run a message"),
    "examples/outbox.cpp": (1, "until the engine has run the task"),
    "examples/outbox_mysql.cpp": (1, "until the engine has run the task"),
    "examples/redis.cpp": (2, "until the engine has run the task"),
    "examples/tutorial.cpp": (1, "until no task is left"),
    "examples/payment/gateway.h": (1, "a gateway takes its time"),
    "examples/payment/main.cpp": (1, "the pace of orders and of progress"),

    # SDKs
    "sdk/java/client/src/main/java/easyretry/Client.java": (1, "the pause before a submission is repeated, in the thread of its caller"),
    "sdk/java/client/src/main/java/easyretry/DirectCall.java": (1, "the pause between two direct calls, in the thread of their caller"),
    "sdk/java/client/src/test/java/easyretry/DaemonTest.java": (2, "handlers that run until they are interrupted"),
    "sdk/java/client/src/test/java/easyretry/PartsTest.java": (1, "a handler that runs until it is interrupted"),
    "sdk/java/client/src/test/java/easyretry/RealDaemon.java": (1, "polls until something holds"),
    "sdk/java/client/src/test/java/easyretry/Subject.java": (2, "handlers that take as long as they are told"),
    "sdk/java/spring-boot-starter/src/test/java/easyretry/spring/Payments.java": (1, "a handler that runs until it is interrupted"),
    "sdk/python/src/easyretry/client.py": (1, "the pause before a submission is repeated, in the thread of its caller"),
    "sdk/python/src/easyretry/retryable.py": (2, "the pause between two direct calls, in the thread or coroutine of their caller"),
    "sdk/python/src/easyretry/loops.py": (1, "a step that fails each time does not fill the log"),
    "sdk/python/tests/worker_test.py": (2, "a coroutine that runs until it is cancelled, and a server that sends a byte at a time"),
    "sdk/python/tests/daemon_test.py": (3, "coroutines wait for each other, or until they are cancelled"),
    "sdk/python/tests/testing_test.py": (1, "a coroutine that lets others run"),

    # Servers for tests
    "tests/support/processes.py": (1, "polls until a server answers or has ended"),
    "tests/support/servers.py": (1, "looks for servers whose owner died"),
    "tests/support/redis_cluster_kind.py": (2, "polls until nodes are a cluster; looks for nodes that died"),
    "tests/nacos/Witness.java": (1, "runs until it is killed"),

    # Processes that are killed: work takes time, and faults happen at random moments
    "tests/fault/kill_worker.cpp": (3, "how long a task takes; pauses before a submission is repeated; polls its engine"),
    "tests/lab/lab_worker.cpp": (3, "how long a task takes; the pace of submissions; looks whether it is starved"),
    "tests/lab/run.py": (1, "polls the journals of running processes"),
    "tests/fault/hung_sync_preload.cpp": (1, "a sync that hangs while a file exists"),
    "tests/fault/default_fleet_test.cpp": (1, "the time between faults"),
    "tests/fault/recovery_test.cpp": (1, "the time between kills"),
    "tests/fault/limited_test.cpp": (1, "a process is stopped for longer than its seats are kept"),
    "tests/fault/several_processes_test.cpp": (1, "a process is stopped for longer than its lease"),
    "tests/e2e/remote_worker.cpp": (2, "how long a task takes; pauses before a call is repeated"),
    "tests/mxrmq/interop_test.py": (2, "polls the event loop of mx-rmq; the pace of messages"),

    # The test is about the clock of a process, an engine or a server
    "tests/unit/call/threads_test.cpp": (1, "a handler runs for longer than its lease, renewed by the thread that does so"),
    "tests/unit/remote/tasks_test.cpp": (1, "a handler runs for longer than its lease, renewed through a daemon"),
    "tests/unit/http/hostile_client_test.cpp": (1, "a body at a rate which the server measures"),
    "tests/unit/nacos/login_test.cpp": (2, "a login server that answers slowly"),
    "tests/unit/redis/store_test.cpp": (1, "a command on its way for longer than a second, by the server's clock"),
    "tests/unit/servers/idle_cost_test.cpp": (1, "a rate of statements over time"),
    "tests/e2e/doctor_test.py": (1, "a task is late by a second"),
    "tests/e2e/metrics_test.py": (1, "a run time that the daemon measures"),
    "tests/e2e/body_time_test.py": (1, "between measurements of the response time"),
    "tests/e2e/circuit_test.py": (1, "calls within a time, while nothing is waited for"),
    "tests/e2e/pause_test.py": (2, "a paused handler is not called: nothing happens for longer than a scan"),
    "tests/e2e/serve_test.py": (5, "until a worker waits in the daemon, which does not say so; a reload that changes nothing"),
}


def found():
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in SUFFIXES or path == pathlib.Path(__file__).resolve():
                continue
            if sleeps := len(SLEEP.findall(path.read_text())):
                yield str(path.relative_to(root)), sleeps


def main():
    sleeps = dict(found())
    problems = []
    for name in sorted(sleeps.keys() | ALLOWED.keys()):
        has, allowed = sleeps.get(name, 0), ALLOWED.get(name, (0, ""))[0]
        if has > allowed:
            problems.append(f"{name}: {has} sleeps, {allowed} allowed: wait for an event or take a clock, or give a reason in {__file__}")
        elif has < allowed:
            problems.append(f"{name}: {has} sleeps, {allowed} allowed: lower the number in {__file__}")
    print("\n".join(problems) or f"{sum(sleeps.values())} sleeps in {len(sleeps)} files, each with its reason")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
