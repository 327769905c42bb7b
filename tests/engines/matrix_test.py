"""The conformance suite, the random comparison with memory and the kill test on another server.
Usage: matrix_test.py ENGINE CONFORMANCE FAULT_TEST FOLDER

ENGINE is a function of obtain.py and a version, such as postgres-17.11.0, or a release of Debian, such as redis-trixie; or pgbouncer:
Debian's PostgreSQL behind PgBouncer in transaction mode. Where it cannot be had, this exits with 77, which ctest shows as skipped, and
FOLDER/left-out says why."""
import collections
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import left_out
import obtain
from pooler import Pgbouncer

SERVERS = pathlib.Path(obtain.__file__).resolve().parents[1] / "support/servers.py"
# The server that servers.py starts, and the one that the tests think they use.
KINDS = {"postgres": ("postgres", "postgres"), "pgbouncer": ("postgres", "postgres"), "mariadb": ("mariadb", "mariadb"),
         "mysql": ("mysql", "mariadb"), "redis": ("redis", "redis"), "valkey": ("redis", "redis")}
CONFORMANCE = "StoreConformance", "DurableStore", "MeetingStore", "StoreModel"
FAULTS = "KilledForReal",


@contextlib.contextmanager
def started(kind, folder, programs):
    """The server's port."""
    environment = {**os.environ, **({"TEST_PROGRAMS": str(programs)} if programs else {})}
    done = subprocess.run([sys.executable, SERVERS, "start", kind, "--folder", folder, "--owner", str(os.getpid()), "--no-sync"],
                          env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    try:
        yield int(done.stdout.rstrip().rpartition(":")[2].partition("/")[0])
    finally:
        subprocess.run([sys.executable, SERVERS, "remove", "--folder", folder], check=True)


def passes(program, kind, suites, environment):
    """Without the layouts with several tables, whose statements are the same. A suite of which no test has run has not passed."""
    chosen = ":".join(f"{kind.capitalize()}/{suite}.*" for suite in suites) + "-*/*_hash:*/*_day"
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "report.json")
        done = subprocess.run([program, f"--gtest_filter={chosen}", "--gtest_brief=1", f"--gtest_output=json:{report}"], env=environment)
        ran = tests_run(report)
    missing = [suite for suite in suites if not ran[f"{kind.capitalize()}/{suite}"]]
    print(f"{program}: {sum(ran.values())} tests have run" + f", and none of {', '.join(missing)}" * bool(missing), flush=True)
    return done.returncode == 0 and not missing


def tests_run(report):
    """How many tests of each suite were run and not skipped."""
    suites = json.loads(report.read_text())["testsuites"] if report.exists() else []
    return collections.Counter(suite["name"] for suite in suites for test in suite["testsuite"] if test["result"] == "COMPLETED")


def main(engine, conformance, fault_test, folder):
    folder = pathlib.Path(folder).resolve()
    name, _, version = engine.partition("-")
    programs = left_out.exit_without(engine, folder, lambda: getattr(obtain, name)(version, folder))
    kind, seen_as = KINDS[name]
    servers = folder / f"servers-{engine}"
    with started(kind, servers / seen_as, programs) as port, contextlib.ExitStack() as stack:
        environment = {**os.environ, "TEST_SERVERS_STARTED": "1", "TEST_SERVERS_FOLDER": str(servers)}
        if name == "pgbouncer":
            environment["TEST_STORES_THROUGH"] = str(stack.enter_context(Pgbouncer(port, servers)).port)
        return 0 if all([passes(program, seen_as, suites, environment)
                         for program, suites in ((conformance, CONFORMANCE), (fault_test, FAULTS))]) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
