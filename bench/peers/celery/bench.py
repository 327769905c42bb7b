"""Celery on Redis: no results, events, gossip, mingle or heartbeat; one solo worker per process, with a large prefetch.

A message is acknowledged before it runs, which is Celery's default and its fast way: a worker that dies loses what it has taken,
unlike all others here. There is no call for many tasks. A retry is sent at once."""
import logging
import os
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[0] = str(HERE.parent / "python")  # instead of this folder, whose name is that of the package

import redis  # noqa: E402
from celery import Celery  # noqa: E402

from driver import STORE, main, wall  # noqa: E402

logging.disable(logging.CRITICAL)


class Peer:
    def __init__(self, settings):
        self.app = Celery("bench", broker=f"redis://{STORE.hostname}:{STORE.port}/0")
        self.app.conf.update(task_ignore_result=True, worker_prefetch_multiplier=settings["prefetch"], worker_send_task_events=False,
                             task_acks_late=False, worker_hijack_root_logger=False, worker_redirect_stdouts=False,
                             broker_connection_retry_on_startup=True)
        self.server = redis.Redis(host=STORE.hostname, port=STORE.port)
        self.tally = None
        self.task = self.app.task(self.run, name="noop", max_retries=3)

    def run(self, fails=False, sent=None):
        if fails and self.task.request.retries == 0:
            self.tally.failed()
            raise self.task.retry(countdown=0)
        self.tally.ran(sent)

    def produce(self, first, last, fails):
        with self.app.producer_pool.acquire(block=True) as producer:
            for _ in range(first, last):
                self.task.apply_async((fails,), producer=producer)

    def pace(self, count, rate):
        began = time.time()
        for number in range(count):
            time.sleep(max(0, began + number / rate - time.time()))
            self.task.apply_async((False, wall()))

    def work(self, tally):
        self.tally = tally
        self.app.Worker(pool="solo", concurrency=1, without_gossip=True, without_mingle=True, without_heartbeat=True,
                        hostname=f"worker{os.getpid()}@bench", loglevel="CRITICAL", quiet=True).start()

    def left(self):
        return self.server.llen("celery") or self.server.hlen("unacked")


main("Celery", "celery", Peer, {"prefetch": 1000})
