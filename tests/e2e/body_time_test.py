"""Long bodies made to be slow to read. Meanwhile other clients wait no longer than for ordinary bodies of that length.
Usage: body_time_test.py EASYRETRY_PROGRAM"""
import collections
import concurrent.futures
import http.client
import json
import os
import statistics
import time
import unittest

from daemon_case import DaemonCase

SIZE = 400_000
MOST_OF_ORDINARY = 10
ROUNDS = 10


def filled(begin, pieces, end, between=","):
    """A body with as many of the pieces as fit into SIZE characters."""
    taken, size = [], len(begin) + len(end)
    for piece in pieces:
        size += len(piece) + len(between)
        if size > SIZE:
            return begin + between.join(taken) + end
        taken.append(piece)


def forever(piece):
    while True:
        yield piece


def keys(key_of):
    number = 0
    while True:
        yield f'"{key_of(number)}":1'
        number += 1


def task(args):
    return '{"args":%s,"handler":"mail"}' % args


def array(item, between=","):
    return task(filled("[", forever(item), "]", between))


def scattered(number):
    return f"{number * 7_919_993 % 9_999_991:07}"


ORDER = {"id": 42, "customer": "alice@example.com", "amount": 99.5, "items": [{"name": "blue pencil", "count": 3}]}
ORDINARY = array(json.dumps(ORDER), ", ")

# By name: a body, and the status of the answer when it has been sent before.
UNKIND = {
    "integers of 20 digits": (array("18446744073709551615"), 200),
    "integers that do not fit": (array("99999999999999999999"), 200),
    "an integer out of range": (task("7" * SIZE), 400),
    "a fraction": (task("0." + "7" * SIZE), 200),
    "exponents": (array("1e308,1e-400,4.9e-324"), 200),
    "escapes": (task(filled('"', forever(r"\ud83d\ude00\u0001\n"), '"', "")), 200),
    "deep arrays": (array("[" * 60 + "]" * 60), 200),
    "too deep": (task("[" * SIZE), 400),
    "keys in no order": (task(filled("{", keys(scattered), "}")), 200),
    "long keys that begin alike": (task(filled("{", keys(lambda number: "p" * 500 + scattered(number)), "}")), 200),
    "one key many times": (task(filled("{", keys(lambda _: "a"), "}")), 400),
    "spaces": (task(" " * SIZE + "1"), 200),
    "digits and a space at the end": (array("1") + " ", 200),
    "arrays and objects of next to nothing": (array('[],[1],{},{"":1},""'), 200),
    "many tasks": (filled('{"tasks":[', ('{"handler":"mail","key":"%05d","tags":["a"]}' % i for i in range(10_000)), "]}"),
                   200),
    "a field that is none": ('{"handler":"mail","%s":1}' % ("k" * SIZE), 422),
}


def processor_time(daemon, name):
    """Processor time of the threads of this name, in seconds."""
    total = 0
    threads = f"/proc/{daemon.process.pid}/task"
    for thread in os.listdir(threads):
        with open(f"{threads}/{thread}/comm") as file:
            if file.read().strip() != name:
                continue
        with open(f"{threads}/{thread}/stat") as file:
            user, system = file.read().rpartition(")")[2].split()[11:13]
        total += (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
    return total


class BodyTime(DaemonCase):
    def setUp(self):
        super().setUp()
        self.start()
        self.pool = concurrent.futures.ThreadPoolExecutor(1)
        self.neighbour = http.client.HTTPConnection("127.0.0.1", self.daemon.port, timeout=60)

    def tearDown(self):
        self.neighbour.close()
        self.pool.shutdown()
        super().tearDown()

    def health(self):
        """The response time of /healthz, in seconds."""
        begin = time.monotonic()
        self.neighbour.request("GET", "/healthz")
        answer = self.neighbour.getresponse()
        answer.read()
        self.assertEqual(answer.status, 200)
        return time.monotonic() - begin

    def slowest_health_during(self, body, status):
        sent = self.pool.submit(self.daemon.ask, "POST", "/v1/tasks", body)
        slowest = self.health()
        while not sent.done():
            time.sleep(0.001)
            slowest = max(slowest, self.health())
        self.assertEqual(sent.result()[0], status, sent.result()[1])
        return slowest

    def test_others_are_answered_while_a_long_body_is_read(self):
        for name, (body, status) in {"ordinary": (ORDINARY, 200), **UNKIND}.items():
            first, _ = self.daemon.ask("POST", "/v1/tasks", body)
            self.assertEqual(first, 201 if status == 200 else status, name)
        ordinary = collections.deque(maxlen=ROUNDS)
        for name, (body, status) in UNKIND.items():
            unkind = float("inf")
            # Other processes on this machine sometimes make it slower, never faster.
            for _ in range(ROUNDS):
                ordinary.append(self.slowest_health_during(ORDINARY, 200))
                unkind = min(unkind, self.slowest_health_during(body, status))
                if unkind <= MOST_OF_ORDINARY * statistics.median(ordinary):
                    break
            with self.subTest(name):
                self.assertLessEqual(unkind, MOST_OF_ORDINARY * statistics.median(ordinary))

    def test_long_bodies_are_not_read_by_the_thread_that_serves_all_connections(self):
        for path, body in (("/v1/tasks", ORDINARY), ("/v1/leases", '{"handlers":["mail"]%s}' % (" " * SIZE * 2))):
            with self.subTest(path):
                before = {name: processor_time(self.daemon, name) for name in ("er-http", "er-api")}
                for _ in range(20):
                    status, answer = self.daemon.ask("POST", path, body)
                    self.assertLess(status, 300, answer)
                used = {name: processor_time(self.daemon, name) - before[name] for name in before}
                self.assertLess(used["er-http"], used["er-api"])


if __name__ == "__main__":
    unittest.main()
