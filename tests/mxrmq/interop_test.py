#!/usr/bin/env python3
"""The original mx-rmq beside our queue and worker, on a real Redis: interop_test.py PEER SERVERS_PY VENV

Installs mx-rmq with pip into the folder VENV the first time, and fails if that is not possible."""
import asyncio
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PACKAGE = "mx-rmq==1.6.2"
PEER, SERVERS, VENV = sys.argv[1:4]


def go_on_in_venv():
    python = pathlib.Path(VENV, "bin/python")
    ready = pathlib.Path(VENV, PACKAGE)
    if not ready.exists():
        for command in ([sys.executable, "-m", "venv", VENV], [python, "-m", "pip", "install", "--quiet", PACKAGE]):
            if subprocess.run(command).returncode != 0:
                sys.exit(f"{PACKAGE} could not be got: it needs python3-venv and a way to PyPI")
        ready.touch()
    if pathlib.Path(sys.prefix) != pathlib.Path(VENV):
        os.execv(python, [str(python), *sys.argv])


go_on_in_venv()
del sys.argv[1:4]

import redis  # noqa: E402
from loguru import logger  # noqa: E402
from mx_rmq import Message, MessageMeta, MessagePriority, MessageStatus, MQConfig, RedisMessageQueue  # noqa: E402

logger.remove()
PATIENCE = 60  # seconds; a test normally needs only a few
PAYLOAD = {"text": "Grüße \"x\" \\ 你好", "list": [], "object": {}, "big": 9007199254740993, "bigger": 2**80, "half": 0.5,
           "nothing": None, "yes": True, "deep": {"a": [{"b": [[]]}]}}


def servers(*args):
    return subprocess.run([sys.executable, SERVERS, *args], check=True, capture_output=True, text=True).stdout.strip()


def peer(*args):
    run = subprocess.run([PEER, *args], check=True, capture_output=True, text=True, timeout=PATIENCE)
    return run.stdout.strip()


class OurWorker:
    """A process with our worker, which runs messages of a topic."""

    def __init__(self, url, topic, how="ok"):
        self.process = subprocess.Popen([PEER, url, "work", topic, how], stdout=subprocess.PIPE, text=True)

    async def next(self):
        line = await asyncio.wait_for(asyncio.to_thread(self.process.stdout.readline), PATIENCE)
        id, retries, payload = line.rstrip("\n").split(" ", 2)
        return id, int(retries), json.loads(payload)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Interop(unittest.IsolatedAsyncioTestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        cls.port = int(servers("start", "redis", "--folder", cls.folder.name, "--no-sync").rsplit(":", 1)[1].split("/")[0])
        cls.url = f"mxrmq://127.0.0.1:{cls.port}/0?prefix=shop"

    @classmethod
    def tearDownClass(cls):
        servers("remove", "--folder", cls.folder.name)
        cls.folder.cleanup()

    async def asyncSetUp(self):
        self.redis = redis.Redis(port=self.port, decode_responses=True)
        self.redis.flushdb()
        config = MQConfig(redis_port=self.port, queue_prefix="shop", retry_delays=[1], expired_check_interval=5)
        self.queue = RedisMessageQueue(config)
        self.ran = asyncio.Queue()
        self.fails = False
        self.workers = []

    async def asyncTearDown(self):
        for worker in self.workers:
            worker.kill()
        if self.queue.is_running():
            await self.queue.stop()
        else:
            await self.queue.cleanup()
        self.redis.close()

    async def handle(self, payload):
        await self.ran.put(payload)
        if self.fails:
            raise ValueError("no stock")

    async def start_python(self):
        self.queue.register_handler("orders", self.handle)
        await self.queue.start_background()

    async def python_ran(self):
        return await asyncio.wait_for(self.ran.get(), PATIENCE)

    def start_ours(self, how="ok"):
        self.workers.append(OurWorker(self.url, "orders", how))
        return self.workers[-1]

    async def until(self, condition):
        for _ in range(PATIENCE * 20):
            if condition():
                return
            await asyncio.sleep(0.05)
        self.fail("in vain")

    async def nothing_left(self):
        await self.until(lambda: not self.redis.keys("shop:*"))

    def message(self, key, id):
        return Message.model_validate_json(self.redis.hget(key, id))

    async def test_what_python_produces_we_run(self):
        id = await self.queue.produce("orders", PAYLOAD)
        self.assertEqual(await self.start_ours().next(), (id, 0, PAYLOAD))
        await self.nothing_left()

    async def test_what_python_delays_we_run(self):
        id = await self.queue.produce("orders", PAYLOAD, delay=1)
        self.assertEqual(await self.start_ours().next(), (id, 0, PAYLOAD))
        await self.nothing_left()

    async def test_what_we_produce_python_runs(self):
        peer(self.url, "produce", "orders", json.dumps(PAYLOAD))
        await self.start_python()
        self.assertEqual(await self.python_ran(), PAYLOAD)
        await self.nothing_left()

    async def test_what_we_delay_python_runs(self):
        await self.start_python()
        peer(self.url, "produce", "orders", json.dumps(PAYLOAD), "1")
        self.assertEqual(await self.python_ran(), PAYLOAD)
        await self.nothing_left()

    async def test_what_we_retry_python_takes(self):
        worker = self.start_ours("fail")
        id = peer(self.url, "produce", "orders", json.dumps(PAYLOAD))
        await worker.next()
        await self.until(lambda: self.redis.zcard("shop:delays") == 1)
        worker.kill()
        self.workers.clear()
        message = self.message("shop:payloads", id)
        self.assertEqual((message.meta.retry_count, message.meta.status), (1, MessageStatus.RETRYING))
        self.assertEqual(message.meta.last_error, "card refused: Gültigkeit")
        await self.start_python()
        self.assertEqual(await self.python_ran(), PAYLOAD)
        await self.nothing_left()

    async def test_python_keeps_a_delay_that_our_handler_chose(self):
        worker = self.start_ours("later")
        id = peer(self.url, "produce", "orders", json.dumps(PAYLOAD))  # without the handler's choice, the delay would be one second
        await worker.next()
        await self.until(lambda: self.redis.zcard("shop:delays") == 1)
        worker.kill()
        self.workers.clear()
        due = self.redis.zscore("shop:delays", id)
        message = self.message("shop:payloads", id)
        self.assertEqual((message.meta.retry_count, message.meta.last_error), (1, "closed"))
        self.assertAlmostEqual(due - message.meta.updated_at, 3000, delta=500)
        await self.start_python()
        self.assertEqual(await self.python_ran(), PAYLOAD)
        seconds, micros = self.redis.time()
        self.assertGreaterEqual(seconds * 1000 + micros / 1000, due)
        await self.nothing_left()

    async def test_what_python_retries_we_take(self):
        self.fails = True
        await self.start_python()
        id = await self.queue.produce("orders", PAYLOAD)
        await self.python_ran()
        await self.until(lambda: self.redis.zcard("shop:delays") == 1)
        await self.queue.stop()
        self.assertEqual(await self.start_ours().next(), (id, 1, PAYLOAD))
        await self.nothing_left()

    async def test_a_message_of_both_has_as_many_attempts_as_with_one(self):
        id = await self.queue.produce("orders", PAYLOAD)
        worker = self.start_ours("fail")
        self.assertEqual([(await worker.next())[1] for _ in range(3)], [0, 1, 2])
        await self.until(lambda: self.redis.llen("shop:dlq") == 1)
        letter = self.message("shop:dlq:data", id)
        self.assertEqual(letter.meta.last_error, "card refused: Gültigkeit")
        self.assertEqual((letter.meta.status, letter.meta.retry_count), (MessageStatus.DEAD_LETTER, 3))
        self.assertEqual(letter.payload, PAYLOAD)
        self.assertEqual(self.redis.hget("shop:dlq:data", id + ":queue"), "shop:orders")

    async def test_a_dead_letter_of_pythons_is_requeued_by_us_and_run_by_python(self):
        self.fails = True
        await self.start_python()
        id = await self.queue.produce("orders", PAYLOAD)
        for _ in range(3):
            await self.python_ran()
        await self.until(lambda: self.redis.llen("shop:dlq") == 1)
        self.fails = False
        self.assertEqual(peer(self.url, "requeue", id), "yes")
        self.assertEqual(await self.python_ran(), PAYLOAD)
        await self.nothing_left()

    async def test_all_fields_outlive_a_rewriting_of_ours(self):
        meta = MessageMeta(status=MessageStatus.STUCK_TIMEOUT, delay=5, retryCount=1, maxRetries=9, retryDelays=[7, 8],
                           lastError="before", expireAt=11, createdAt=12, updatedAt=13, lastRetryAt=14,
                           processingStartedAt=15, completedAt=16, deadLetterAt=17, stuckDetectedAt=18,
                           stuckReason="why", retriedFromDlqAt=19)
        whole = Message(id="all", topic="orders", priority=MessagePriority.HIGH, createdAt=10, meta=meta, payload=PAYLOAD)
        self.redis.hset("shop:payloads", mapping={
            "all": whole.model_dump_json(by_alias=True, exclude_none=True), "all:queue": "shop:orders"})
        self.redis.lpush("shop:orders:pending", "all")
        await self.start_ours("fail").next()
        await self.until(lambda: self.redis.zcard("shop:delays") == 1)
        after = self.message("shop:payloads", "all").model_dump()
        before = whole.model_dump()
        changed = {name for name in before["meta"] if before["meta"][name] != after["meta"][name]}
        self.assertEqual(changed, {"status", "retry_count", "last_error", "expire_at", "updated_at", "last_retry_at",
                                   "processing_started_at"})
        del before["meta"], after["meta"]
        self.assertEqual(before, after)

    async def test_what_a_killed_worker_of_ours_held_python_takes_up(self):
        worker = self.start_ours("hang")
        peer(self.url, "produce", "orders", json.dumps(PAYLOAD))
        await worker.next()
        worker.kill()
        self.workers.clear()
        await self.start_python()
        self.assertEqual(await self.python_ran(), PAYLOAD)
        await self.nothing_left_of_python()

    async def nothing_left_of_python(self):
        """Python does not remove our own list of held messages. fsck and the next claim ignore what is left in it."""
        await self.until(lambda: set(self.redis.keys("shop:*")) <= {"shop:cxx:own"})

    async def test_what_a_killed_worker_of_pythons_held_we_take_up(self):
        id = await self.queue.produce("orders", PAYLOAD)
        self.redis.lmove("shop:orders:pending", "shop:orders:processing", "RIGHT", "LEFT")  # like the dispatcher of mx-rmq
        self.redis.zadd("shop:expires", {id: 1})  # expired long ago
        self.assertEqual(await self.start_ours().next(), (id, 0, PAYLOAD))
        await self.nothing_left()

    async def test_both_share_a_topic(self):
        await self.start_python()
        ours = asyncio.create_task(self.start_ours().next())
        produced = 0
        while not ours.done() or self.ran.empty():  # until both have run something
            await self.queue.produce("orders", {"n": produced})
            produced += 1
            await asyncio.sleep(0.01)
        await self.nothing_left()
        self.assertLess(self.ran.qsize(), produced)


if __name__ == "__main__":
    unittest.main()
