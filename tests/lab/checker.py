"""Checks a story (story.py) against the promises of docs/promises.md. Each invariant is a function that yields what broke it;
checker_test.py breaks each of them."""
import bisect
import dataclasses
import itertools
import math

from story import SECOND

EXPECTED = {"plain": "succeeded", "once": "succeeded", "slow": "succeeded", "never": "exhausted", "poison": "quarantined"}


@dataclasses.dataclass
class Violation:
    invariant: str
    what: str


def kind_of(key):
    return key.partition("-")[0]


def lost(story):
    """Nothing acknowledged is lost: it is in history once the faults are over."""
    ended = {row.key for row in story.rows if row.state == "finished"}
    live = {row.key for row in story.rows} - ended
    for key in sorted(story.acked - ended):
        yield f"{key} was acknowledged and " + ("has not ended" if key in live else "is gone")
    yield from (f"{key} was never acknowledged, and has not ended" for key in sorted(live - story.acked))


def invented(story):
    """Every task was submitted, and each task that ran is in the store."""
    rows = {row.task for row in story.rows}
    yield from (f"{row.key} was never submitted" for row in story.rows if row.key not in story.sent)
    yield from (f"{runs[0].key} ran as {task}, which the store does not have" for task, runs in story.executions.items() if task not in rows)


def refused_but_stored(story):
    """A submission that was refused has stored nothing."""
    yield from (f"{row.key} was refused, and is stored" for row in story.rows if row.key in story.refused)


def ended_twice(story):
    """A task ends once."""
    seen = set()
    for row in story.rows:
        if row.key in seen:
            yield f"{row.key} has several rows"
        seen.add(row.key)


def wrong_end(story):
    """A task ends as its handler says. Only one that lost its process or its lease in `max_crashes` executions is quarantined."""
    for row in story.rows:
        if row.state != "finished" or row.outcome == EXPECTED[kind_of(row.key)]:
            continue
        runs = story.executions.get(row.task, [])
        crashes = sum(map(story.may_be_unsettled, runs)) + died_at_the_start(story, runs)
        if row.outcome == "quarantined" and crashes >= story.promise.max_crashes:
            continue
        yield f"{row.key} ended as {row.outcome} after {crashes} crashes"


def died_at_the_start(story, runs):
    """1 if a process may have begun the task and died before it wrote that down: one died before an execution and after the previous one,
    and a fencing number is missing between them. The first claim has number 2."""
    before = [(1, 0)] + [(run.fence, run.start) for run in runs]
    return int(any(run.fence > fence + 1 and start < death < run.start
                   for (fence, start), run in zip(before, runs) for death in story.deaths.values()))


def ended_without_running(story):
    """A success has an execution that returned one."""
    for row in story.rows:
        if row.outcome == "succeeded" and not any(run.answer == "ok" for run in story.executions.get(row.task, [])):
            yield f"{row.key} succeeded, and no execution of it did"


def overlap(story):
    """Two executions of a task do not overlap while the lease of the first holds, and one claim is run once."""
    for runs in story.executions.values():
        for first, second in itertools.combinations(runs, 2):
            if first.fence == second.fence:
                yield f"{first.key} was run twice with the fencing number {first.fence}"
            elif first.start < second.end and second.start < first.end and not lease_was_over(story, first, second):
                yield (f"{first.key} overlapped itself: {first.life} with {first.fence} and {second.life} with {second.fence}, "
                       f"{(second.start - first.start) / SECOND:.3f} s later")


def lease_was_over(story, first, second):
    """Whether the process of the first execution was kept from renewing its lease, for long enough and not long before. A healthy
    process always has a third of its leases before it."""
    lease = story.promise.lease * SECOND
    at = max(first.start, second.start)
    return any(min(end, at) - start >= lease / 4 and at <= end + lease for start, end in story.hindrances(first))


def late_finisher(story):
    """An execution that was overtaken changes nothing: the end is that of the last claim."""
    for row in story.rows:
        runs = story.executions.get(row.task, [])
        last = max((run.fence for run in runs), default=0)
        if row.version <= last and row.state == "finished":
            yield f"{row.key} has version {row.version}, but was run with {last}"
        if row.outcome == "succeeded" and row.fence_of_result is not None and row.fence_of_result < last:
            yield f"{row.key} has the result of {row.fence_of_result}, but was run with {last}"


def untold(story):
    """The callback of a task's end has run, and none that contradicts it came later."""
    for row in story.rows:
        if row.state != "finished":
            continue
        right = "success" if row.outcome == "succeeded" else "failure"
        told = story.callbacks.get(row.key, [])
        fences = [one.fence for one in told if one.what == right]
        if not fences:
            yield f"{row.key} ended as {row.outcome}, and its owner was not told"
        yield from (f"{row.key} ended as {row.outcome}, and the last callback was {one.what}" for one in told
                    if one.what != right and fences and one.fence > max(fences))


def attempts(story):
    """No task is attempted more often than its policy allows, and none is given up earlier."""
    most = story.promise.max_attempts
    for row in story.rows:
        runs = story.executions.get(row.task, [])
        if row.attempts > most:
            yield f"{row.key} has {row.attempts} attempts of {most}"
        if len(runs) > row.deliveries:
            yield f"{row.key} was run {len(runs)} times in {row.deliveries} deliveries"
        failed = [run for run in runs if run.answer == "failed"]
        if len(failed) < most and row.outcome == "exhausted":
            yield f"{row.key} was given up after {len(failed)} attempts of {most}"
        if sum(not story.may_be_unsettled(run) for run in failed) > most:
            yield f"{row.key} failed {len(failed)} times, and may be attempted {most} times"


def quarantine(story):
    """A task that kills its process does so max_crashes times, and once before it is known which of the claimed tasks it was."""
    most = story.promise.max_crashes + 1
    for runs in story.executions.values():
        if kind_of(runs[0].key) == "poison" and len(runs) > most:
            yield f"{runs[0].key} killed {len(runs)} processes, and {most} are allowed"


def early(story):
    """No task runs before it is due, by the store's clock, which is this machine's."""
    yield from (f"{run.key} ran {(run.due - run.wall) / SECOND:.3f} s before it was due" for run in story.all_runs() if run.wall < run.due)


def slow_recovery(story):
    """The tasks of a dead process start again in the promised time, counted from the last fault that was in the way."""
    limit = story.promise.recovery + story.promise.patience
    yield from (f"{one.key} started {one.after:.1f} s after its process died, or after the next fault" for one in recoveries(story) if one.after > limit)


def slow_return(story):
    """Tasks run again in the promised time after the store is back."""
    limit = story.promise.back + story.promise.patience
    yield from (f"after {one.what}, no task started for {one.seconds:.1f} s" for one in returns(story) if one.seconds > limit)


INVARIANTS = (lost, invented, refused_but_stored, ended_twice, wrong_end, ended_without_running, overlap, late_finisher, untold, attempts,
              quarantine, early, slow_recovery, slow_return)


@dataclasses.dataclass
class Recovery:
    key: str
    whole: float  # seconds since the death
    after: float  # seconds since the last fault that was in the way, or since a process was there
    undisturbed: bool  # no other fault happened meanwhile


def recoveries(story):
    """How long after the death of their process tasks started again. A task with one crash left runs alone, after others like it, so no
    time is promised for it."""
    faults = [(f.start, f.end) for f in story.faults if f.hinders] + [(death, death) for death in story.deaths.values()]
    in_the_way = sorted(faults + story.without_members())
    promised = story.promise.recovery * SECOND
    for runs in story.executions.values():
        for run, again in zip(runs, runs[1:]):
            if run.answer or run.life not in story.deaths or again.start < run.end or again.crashes >= story.promise.max_crashes - 1:
                continue
            begin = hindered_until(run.end, again.start, in_the_way, promised)
            undisturbed = not any(end > run.end and start < again.start for start, end in faults)
            yield Recovery(run.key, (again.start - run.end) / SECOND, (again.start - begin) / SECOND, undisturbed)


def hindered_until(begin, end, in_the_way, promised):
    """When the promised time began, of something that should have happened after `begin` and happened at `end`."""
    for start, over in in_the_way:
        if over > begin and start <= min(begin + promised, end):
            begin = min(over, end)
    return begin


@dataclasses.dataclass
class Return:
    what: str
    seconds: float
    came: bool  # otherwise another fault of the store came first


def returns(story):
    """How long after the end of a fault of the store a task started, or until the next such fault came, counted from when a process could
    work."""
    starts = sorted(run.start for run in story.all_runs())
    outages = sorted((f for f in story.faults if f.hinders and not f.life and not f.tasks), key=lambda f: f.start)
    in_the_way = story.without_work()
    for fault, following in itertools.zip_longest(outages, outages[1:]):
        next_start = next(iter(starts[bisect.bisect_right(starts, fault.end):]), math.inf)
        end = min(next_start, following.start if following else math.inf)
        if fault.end <= end < math.inf:
            begin = hindered_until(fault.end, end, in_the_way, story.promise.back * SECOND)
            yield Return(fault.what, (end - begin) / SECOND, end == next_start)


def check(story):
    return [Violation(invariant.__name__, what) for invariant in INVARIANTS for what in invariant(story)]
