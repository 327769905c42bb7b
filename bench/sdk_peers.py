"""Queues that people know, measured in the same run as the SDKs: by the drivers, settings and versions of bench/peers."""
import contextlib
import os
import sys
import types

from harness.install import Installer
from harness.peers import ASYNQ, CELERY
from harness.problem import LeftOut, Problem
from harness.processes import Children
from harness.results import read_line
from harness.rounds import PATIENCE
from harness.store import Store

WORKS = ("enqueue", "drain")
REDIS = types.SimpleNamespace(store="redis", history="none", everysec=False, disk=None)


def beside(tasks):
    """Rates per second by name, or `why` there are none."""
    children = Children()
    with contextlib.ExitStack() as stack:
        stack.callback(children.end_all)
        installer = Installer(children)
        try:
            store = stack.enter_context(Store(REDIS, children))
        except Problem as why:
            return {peer.name: {"why": f"no Redis: {why}"} for peer in (CELERY, ASYNQ)}
        return {peer.name: rates(peer, installer, store, children, tasks) for peer in (CELERY, ASYNQ)}


def rates(peer, installer, store, children, tasks):
    print(f"measuring {peer.name}…", file=sys.stderr, flush=True)
    found = {}
    try:
        command = installer.command(peer, REDIS.store)
        for work in WORKS:
            settings = peer.settings(work, tasks, 1, 1)
            output = children.run([*command, work, *settings], PATIENCE, env=os.environ | {"STORE_URL": store.fresh()})
            figures = read_line(output, work)
            found |= {f"{work}_per_s": figures["per_s"], "version": figures["version"]}
    except (LeftOut, Problem) as why:
        found["why"] = str(why)
    return found
