const FIRST_MS = 100;
const LONGEST_AFTER_MS = 300_000; // a Retry-After beyond it is cut: a wrong one must not stop a worker for a day

const MOST_TIMER_MS = 24 * 86_400_000; // a timer of more than 2^31 - 1 ms fires at once

/** The time of a timer, or RangeError. */
export function checkedTimer(name, ms) {
  if (ms > 0 && ms <= MOST_TIMER_MS) return ms;
  throw new RangeError(`${name} is ${ms}; use more than 0, and at most ${MOST_TIMER_MS}, which is 24 days`);
}

/** The time until the next try: doubled each time, and half of it random, so that many workers do not return at once. */
export class Pauses {
  constructor(longestMs) {
    this.longestMs = longestMs;
    this.failures = 0;
  }

  next(error) {
    const usual = Math.min(this.longestMs, FIRST_MS * 2 ** Math.min(this.failures++, 20));
    const pause = usual * (0.5 + Math.random() / 2);
    const after = Math.min(error?.retryAfterMs ?? 0, LONGEST_AFTER_MS);
    return Math.max(pause, after * (1 + Math.random() / 10));
  }

  reset() {
    this.failures = 0;
  }
}

/** Resolves after this time, or earlier when the signal is aborted. */
export function sleep(ms, signal) {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, Math.min(ms, 2 ** 31 - 1));
    signal?.addEventListener("abort", end);
  });
}
