"""Waits until a condition holds. Only broken code reaches the time limits."""
import time


def eventually(holds, seconds=20):
    """Returns the first true result of holds(), or its last result when the time is up."""
    end = time.monotonic() + seconds
    while not (answer := holds()) and time.monotonic() < end:
        time.sleep(0.02)
    return answer


def until(holds, seconds=60, what="it did not come true"):
    """Returns the first true result of holds(). Fails the test when the time is up. `what` is a text, or a function that returns one."""
    if not (answer := eventually(holds, seconds)):
        raise AssertionError(what() if callable(what) else what)
    return answer
