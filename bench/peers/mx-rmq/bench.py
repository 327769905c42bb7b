"""mx-rmq on Redis, with the most workers (50), local tasks (300) and connections (100) that it accepts, and no handler timeout.

Several topics a process, because a topic is fetched by one coroutine. There is no call for many messages: `callers` messages are sent
at once in each process. A retry waits for a second, the least it accepts."""
import asyncio
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))

import redis  # noqa: E402
from loguru import logger  # noqa: E402
from mx_rmq import MQConfig, RedisMessageQueue  # noqa: E402

from driver import STORE, WARM_UP, fork, main, wall  # noqa: E402

logger.remove()


class Peer:
    def __init__(self, settings):
        self.topics, self.callers = settings["topics"], settings["callers"]
        self.config = MQConfig(redis_host=STORE.hostname, redis_port=STORE.port, redis_max_connections=100,
                               max_workers=settings["workers"], task_queue_size=300, retry_delays=[1], max_retries=3,
                               enable_handler_timeout=False, log_level="ERROR", batch_size=1000)
        self.server = redis.Redis(host=STORE.hostname, port=STORE.port)
        self.failed = fork.Array("b", settings["tasks"], lock=False)  # shared, because a retry may run in another process

    def topic(self, number):
        return f"topic{number % self.topics}"

    def produce(self, first, last, fails):
        async def run():
            queue = RedisMessageQueue(self.config)
            await queue.initialize()
            numbers = iter(range(first, last))

            async def caller():
                for number in numbers:
                    await queue.produce(self.topic(number), {"id": number, "fails": fails})
            await asyncio.gather(*(caller() for _ in range(self.callers)))
        asyncio.run(run())

    async def start(self, tally):
        async def handle(payload):
            if payload.get("fails") and not self.failed[payload["id"]]:
                self.failed[payload["id"]] = 1
                tally.failed()
                raise RuntimeError("first attempt fails")
            tally.ran(payload.get("sent"))
        queue = RedisMessageQueue(self.config)
        for number in range(self.topics):
            queue.register_handler(self.topic(number), handle)
        await queue.start_background()

    async def send(self, count, rate):
        queue = RedisMessageQueue(self.config)
        await queue.initialize()
        pending, began = [], time.time()
        for number in range(count):
            await asyncio.sleep(max(0, began + number / rate - time.time()))
            pending.append(asyncio.create_task(queue.produce(self.topic(number), {"id": number, "sent": wall()})))
        await asyncio.gather(*pending)

    def pace(self, count, rate):
        asyncio.run(self.send(count, rate))

    def work(self, tally):
        async def run():
            await self.start(tally)
            await asyncio.Event().wait()
        asyncio.run(run())

    def work_and_pace(self, tally, count, rate):
        async def run():
            await self.start(tally)
            await asyncio.sleep(WARM_UP)
            await self.send(count, rate)
            await asyncio.Event().wait()
        asyncio.run(run())

    def left(self):
        return self.server.hlen("payloads")


main("mx-rmq", "mx-rmq", Peer, {"topics": 16, "workers": 50, "callers": 64, "processes": 3})
