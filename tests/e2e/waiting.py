"""Waits for what others will make true."""
import time


def eventually(holds, seconds=20):
    """Whether it came true in time; the limit is for broken code only."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True
