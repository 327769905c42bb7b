"""Calls that are retried where they are made, and stored nowhere."""
from __future__ import annotations

import random
import re
import time
from typing import Any, ContextManager, Dict, Optional

from .calls import nothing_special, only_calling
from .errors import RetryAfter
from .rules import Rules
from .submission import seconds_of

ATTEMPTS = 3  # if the policy says nothing
TIME = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)")
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


class Backoff:
    """The pauses of a call that is retried where it is made, in the words of the daemon's configuration: `fixed delay=1s`,
    `linear first=1s step=1s cap=1m`, `exponential first=1s factor=2 cap=15m jitter=1s`. None: a second, fixed."""

    def __init__(self, text: Optional[str]) -> None:
        self.text = text or "fixed delay=1s"
        self.kind, *pairs = self.text.split()
        self.words: Dict[str, str] = {}
        for pair in pairs:
            name, _, value = pair.partition("=")
            self.words[name] = value
        self.pause(1)

    def pause(self, attempt: int) -> float:
        """Seconds after this attempt, counted from 1."""
        cap = self.seconds("cap", 900.0)
        if self.kind == "fixed":
            usual = self.seconds("delay", 1.0)
        elif self.kind == "linear":
            usual = min(cap, self.seconds("first", 1.0) + (attempt - 1) * self.seconds("step", 1.0))
        elif self.kind == "exponential":
            usual = min(cap, self.seconds("first", 1.0) * self.grown(attempt))
        else:
            raise self.wrong()
        return usual + random.uniform(0.0, self.seconds("jitter", 0.0))

    def grown(self, attempt: int) -> float:
        try:
            return float(self.words.get("factor", "2")) ** attempt
        except OverflowError:
            return float("inf")
        except ValueError:
            raise self.wrong() from None

    def seconds(self, name: str, otherwise: float) -> float:
        if name not in self.words:
            return otherwise
        found = TIME.fullmatch(self.words[name])
        if found is None:
            raise self.wrong()
        return float(found[1]) * UNITS[found[2]]

    def wrong(self) -> ValueError:
        return ValueError(f"{self.text!r} is no backoff of a call that is retried where it is made; use \"fixed delay=1s\", "
                          "\"linear first=1s step=1s cap=1m\" or \"exponential first=1s factor=2 cap=15m jitter=1s\"")


class Tries:
    """The attempts of one call with `never`."""

    def __init__(self, rules: Rules[Any]) -> None:
        policy = rules.policy
        self.rules = rules
        self.backoff = Backoff(policy.backoff if policy else None)
        most = policy.max_attempts if policy else None
        self.most = ATTEMPTS if most is None else most  # 0: no limit
        longest = seconds_of(policy.max_duration) if policy and policy.max_duration else 0.0
        self.until = time.monotonic() + longest if longest else float("inf")
        self.made = 0

    def calling(self) -> ContextManager[None]:
        """Around an attempt. In a retry, calls are part of it."""
        self.made += 1
        return only_calling() if self.made > 1 else nothing_special()

    def pause(self, error: Optional[BaseException]) -> Optional[float]:
        """Seconds until the next attempt after this failure; None: there is none."""
        pause = error.seconds if isinstance(error, RetryAfter) else self.backoff.pause(self.made)
        last = 0 < self.most <= self.made or time.monotonic() + pause > self.until
        return None if last or not self.rules.worth_retrying(error) else pause
