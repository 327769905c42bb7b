"""The faults of the lab. Each is a function of (lab, dice) that strikes, lasts and ends before it returns, and notes when that was. All
end when the run is over."""
import contextlib
import signal
import time

from fleet import now
from stores import SqlServer, Sqlite


def some_member(lab, dice):
    with lab.fleet.lock:
        return dice.choice(list(lab.fleet.members.values()))


def beyond_the_lease(lab, dice):
    """Seconds after which a lease that was not renewed is over, or rarely not."""
    return lab.promise.lease * dice.uniform(0.8, 2.0)


@contextlib.contextmanager
def noted(lab, what, life="", **more):
    start = now()
    try:
        yield
    finally:
        lab.fleet.note(what, start, life, **more)


def kill(lab, dice):
    """SIGKILL; a new process takes its place."""
    member = some_member(lab, dice)
    with noted(lab, "kill", member.life):
        lab.fleet.kill(member)


def kill_alone(lab, dice):
    """The same, and nothing else happens until its tasks should run again: the recoveries that are published."""
    with lab.store_fault:
        kill(lab, dice)
        lab.over.wait(lab.promise.recovery + 1)


def pause(lab, dice):
    """SIGSTOP for longer than the lease: a garbage collection, a suspended machine."""
    member = some_member(lab, dice)
    with noted(lab, "pause", member.life, hinders=True):
        member.process.send_signal(signal.SIGSTOP)
        lab.over.wait(beyond_the_lease(lab, dice))
        member.process.send_signal(signal.SIGCONT)


def network(what, order):
    def strike(lab, dice):
        member = some_member(lab, dice)
        with noted(lab, what, member.life, hinders=True):
            lab.network.order(member.place, order)
            lab.over.wait(beyond_the_lease(lab, dice))
            lab.network.order(member.place, "heal")
    return strike


def cut(lab, dice):
    """All connections of a member are closed at once."""
    member = some_member(lab, dice)
    with noted(lab, "cut", member.life):
        lab.network.order(member.place, "cut")


def server_restart(lab, dice):
    with noted(lab, "server restart", hinders=True):
        lab.store.stop()
        lab.over.wait(dice.uniform(0, 2))
        lab.store.start()


def server_crash(lab, dice):
    """kill -9 of all its processes."""
    with noted(lab, "server crash", hinders=True):
        lab.store.kill()
        lab.over.wait(dice.uniform(0, 3))
        lab.store.start()


def full_disk(lab, dice):
    """A file that is not ours fills the disk, and takes what becomes free."""
    with noted(lab, "full disk", hinders=True):
        end = time.monotonic() + dice.uniform(2, 5)
        while time.monotonic() < end:
            lab.store.fill()
            if lab.over.wait(0.1):
                break
        lab.store.free()


def failing_syncs(lab, dice):
    """The disk does not take what is written, and loses it."""
    with noted(lab, "failing syncs", hinders=True):
        lab.store.fail_syncs(dice.choice(["wal", "wal evict", "wal db folder"]))
        lab.over.wait(dice.uniform(1, 4))
        lab.store.let_syncs_work()


def leave_and_join(lab, dice):
    """A member is asked to stop, and a new one joins later."""
    member = some_member(lab, dice)
    with noted(lab, "leave", member.life):
        lab.fleet.leave(member)
    lab.over.wait(dice.uniform(0, 2))


def clock_step(lab, dice):
    """The clock of a member jumps ten minutes, and back later."""
    member = some_member(lab, dice)
    there, back = dice.sample([signal.SIGUSR1, signal.SIGUSR2], 2)
    with noted(lab, "clock step", member.life):
        member.process.send_signal(there)
        lab.over.wait(dice.uniform(1, 4))
        member.process.send_signal(back)


def poison(lab, dice):
    """A task that kills every process that runs it."""
    member = some_member(lab, dice)
    with noted(lab, "poison", member.life):
        member.order("poison")


def locked_row(lab, dice):
    """Another client holds the rows of a few tasks in a transaction. All others go on."""
    start = now()
    tasks = lab.store.lock_rows(beyond_the_lease(lab, dice))
    lab.fleet.note("locked row", start, hinders=bool(tasks), tasks=tasks)


NETWORK = [cut, network("black hole", "freeze"), network("requests vanish", "freeze to_server"),
           network("replies vanish", "freeze to_client"), network("lost replies", "lose_replies 0.3")]


def faults_of_members(store):
    """The clock of SQLite is that of its process, so a step is one of the store: what was due or leased then is late by as much."""
    return [kill, kill_alone, kill_alone, pause, leave_and_join] + ([] if isinstance(store, Sqlite) else [clock_step, *NETWORK])


def faults_of_the_store(store):
    """A poison task kills several processes, so it is among them."""
    if isinstance(store, Sqlite):
        kinds = [full_disk, failing_syncs, full_disk, poison]
    else:
        kinds = [server_restart, server_crash, poison] + ([locked_row] if isinstance(store, SqlServer) else [])
    return [apart_from_others(kind) for kind in kinds]


def apart_from_others(kind):
    def strike(lab, dice):
        with lab.store_fault:
            kind(lab, dice)
    return strike
