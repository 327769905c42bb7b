package easyretry;

import java.time.Duration;

/** Thrown by a handler: a failed attempt, and the next one follows after this time. */
public class RetryAfter extends RuntimeException {
  private static final Duration LONGEST = Duration.ofDays(3652); // the daemon accepts ten years

  private final Duration delay;

  public RetryAfter(Duration delay, String why) {
    super(why);
    if (delay.isNegative() || delay.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException("retry after " + delay + ": use 0 s to 10 years");
    }
    this.delay = delay;
  }

  public Duration delay() {
    return delay;
  }
}
