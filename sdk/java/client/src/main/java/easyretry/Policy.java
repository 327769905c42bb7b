package easyretry;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Replaces the daemon's configuration of the handler for one task. What is null stays as configured; 0 is no limit.
 *
 * @param maxAttempts counts executions, the first included
 * @param backoff as in the configuration: {@code "exponential first=1s cap=15m jitter=1s"}
 */
public record Policy(Integer maxAttempts, Duration maxDuration, String backoff) {
  public static final Policy CONFIGURED = new Policy(null, null, null);

  public static Policy attempts(int most) {
    return CONFIGURED.maxAttempts(most);
  }

  public Policy maxAttempts(int most) {
    return new Policy(most, maxDuration, backoff);
  }

  public Policy maxDuration(Duration longest) {
    return new Policy(maxAttempts, longest, backoff);
  }

  public Policy backoff(String spec) {
    return new Policy(maxAttempts, maxDuration, spec);
  }

  Map<String, Object> fields() {
    Map<String, Object> fields = new LinkedHashMap<>();
    if (maxAttempts != null) {
      fields.put("max_attempts", maxAttempts);
    }
    if (maxDuration != null) {
      fields.put("max_duration_ms", maxDuration.toMillis());
    }
    if (backoff != null) {
      fields.put("backoff", backoff);
    }
    return fields;
  }
}
