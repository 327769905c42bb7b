package easyretry;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/** The time until the next try: doubled each time, and half of it at random, so that many workers do not return at once. */
final class Pauses {
  private static final long FIRST_MS = 100;

  private final long mostMs;
  private int tries;

  Pauses(Duration most) {
    mostMs = most.toMillis();
  }

  /** In milliseconds. What the daemon asks for is the least. Null: it has said nothing. */
  long next(EasyRetryException error) {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    double usual = Math.min(mostMs, FIRST_MS * (double) (1L << Math.min(tries++, 30)));
    double pause = usual * random.nextDouble(0.5, 1.0);
    if (error != null && error.retryAfter() != null) {
      pause = Math.max(pause, error.retryAfter().toMillis() * random.nextDouble(1.0, 1.1));
    }
    return Math.max(1, Math.round(pause));
  }

  void reset() {
    tries = 0;
  }
}
