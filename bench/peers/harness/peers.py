"""The peers: on which stores, how they are started, and their settings for each work, which bench/peers/README.md explains."""
import dataclasses

RATES = ("enqueue", "drain", "cycle")
DELAYS = ("latency-own", "latency-other", "lateness")
WORKS = (*RATES, *DELAYS)
STORES = ("postgres", "mariadb", "redis", "sqlite")


@dataclasses.dataclass(frozen=True, eq=False)  # by identity: its settings cannot be hashed
class Peer:
    name: str
    language: str  # node, old-node, go, java or python: how it is installed and started
    folder: str
    works: dict  # work: settings
    share: float = 1  # of the tasks; a slow peer gets fewer, so that a round ends

    def settings(self, work, tasks, rate, over):
        count = delay_tasks(work, tasks, rate, over) if work in DELAYS else max(1, round(tasks * self.share))
        return [f"tasks={count}", f"rate={rate}", *([f"over={over}"] if work == "lateness" else []),
                *(f"{key}={value}" for key, value in self.works[work].items())]


def delay_tasks(work, tasks, rate, over):
    """How many tasks a delay is measured with, unless the run is smaller: 1,000 for each second that they are due over, or ten seconds
    at the rate. More would measure the throughput."""
    return min(tasks, 1000 * over if work == "lateness" else 10 * rate)


def same(settings, works):
    return {work: dict(settings) for work in works}


GRAPHILE = Peer("graphile-worker", "node", "graphile-worker", {
    "enqueue": {"batch": 5000, "callers": 2},
    "drain": {"batch": 5000, "local": 5000, "processes": 2, "concurrency": 100},
    "cycle": {"batch": 5000, "local": 2000, "processes": 2, "poll": 100},
    "latency-own": {"local": -1}, "latency-other": {"local": -1},
    "lateness": {"batch": 5000, "local": -1, "poll": 20}})
PG_BOSS = Peer("pg-boss", "node", "pg-boss", {"enqueue": {"callers": 2}, **same({}, WORKS[1:])}, share=0.5)
RIVER_WORKS = {"enqueue": {"callers": 2}, "drain": {}, "cycle": {}, "latency-own": {"cooldown": 1}, "latency-other": {"cooldown": 1},
               "lateness": {"cooldown": 1, "poll": 2}}
DB_SCHEDULER_WORKS = {"enqueue": {"batch": 5000, "callers": 2},
                      "drain": {"batch": 5000, "threads": 50, "connections": 50},
                      "cycle": {"batch": 5000, "threads": 50, "connections": 50},
                      "latency-own": {"threads": 20}, "latency-other": {"threads": 20, "poll": 5},
                      "lateness": {"threads": 50, "connections": 50, "poll": 5}}
DB_SCHEDULER_MARIADB = {work: settings | ({"threads": 20, "connections": 20} if "threads" in settings else {})
                        for work, settings in DB_SCHEDULER_WORKS.items()}
# It stores what is due later one by one, so that takes its time.
JOBRUNR = Peer("JobRunr", "java", "jobrunr", {"enqueue": {"callers": 2}, **same({}, WORKS[1:]),
                                              "lateness": {"callers": 16, "batch": 100, "ahead": 3}}, share=0.2)
BEE_QUEUE = Peer("bee-queue", "node", "bee-queue", {
    "enqueue": {"callers": 2}, "drain": {"processes": 2}, "cycle": {"processes": 2}, **same({}, DELAYS)})
BULLMQ = Peer("BullMQ", "node", "bullmq", {
    "enqueue": {"callers": 4}, "drain": {"processes": 2}, "cycle": {"processes": 2}, **same({}, DELAYS)}, share=0.5)
# Asynq and mx-rmq keep whole seconds, so their lateness says nothing; Celery hands tasks of later to a worker, which keeps them.
ASYNQ = Peer("Asynq", "go", "asynq", {**same({}, RATES), **same({"servers": 2, "concurrency": 20}, ("latency-own", "latency-other"))})
MX_RMQ = Peer("mx-rmq", "python", "mx-rmq", same({}, (*RATES, "latency-own", "latency-other")), share=0.2)
CELERY = Peer("Celery", "python", "celery", same({}, (*RATES, "latency-other")), share=0.2)
PLAINJOB = Peer("plainjob", "old-node", "plainjob", same({}, ("enqueue", "drain", *DELAYS)))

ON = {
    "postgres": (GRAPHILE, PG_BOSS, Peer("River", "go", "river", RIVER_WORKS),
                 Peer("db-scheduler", "java", "db-scheduler", DB_SCHEDULER_WORKS, share=0.5), JOBRUNR),
    "mariadb": (Peer("db-scheduler", "java", "db-scheduler", DB_SCHEDULER_MARIADB, share=0.4),),
    "redis": (BEE_QUEUE, BULLMQ, ASYNQ, MX_RMQ, CELERY),
    "sqlite": (PLAINJOB, Peer("River", "go", "river", RIVER_WORKS | {"enqueue": {}}, share=0.2)),
}
