"""Threads that go on, whatever happens in them."""
from __future__ import annotations

import logging
import os
import time
import traceback
from typing import Callable

AFTER_A_SURPRISE = 0.5  # seconds; so that a step that fails each time does not fill the log


def forever(step: Callable[[], bool], what: str, log: logging.Logger) -> None:
    """Until the step returns False. A thread of a worker that ended unnoticed would leave a worker that only looks alive."""
    while True:
        try:
            if not step():
                return
        except Exception as error:
            log.error("%s: unexpected %s; it goes on", what, place_of(error))
            time.sleep(AFTER_A_SURPRISE)


def place_of(error: BaseException) -> str:
    """The type of an error and where it was raised. Not its text, which may have arguments of a task."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"
