package easyretry;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The waits of a call that is retried in its own thread, in the words of the daemon's configuration: {@code fixed delay=1s},
 * {@code linear first=1s step=1s cap=1m}, {@code exponential first=1s factor=2 cap=15m jitter=1s}.
 */
final class Backoff {
  private static final Pattern TIME = Pattern.compile("(\\d+(?:\\.\\d+)?)(ms|s|m|h)");
  private static final Map<String, Long> UNITS = Map.of("ms", 1L, "s", 1000L, "m", 60_000L, "h", 3_600_000L);

  private final String kind;
  private final Map<String, String> words = new HashMap<>();

  private Backoff(String spec) {
    String[] parts = spec.strip().split("\\s+");
    kind = parts[0];
    for (int i = 1; i < parts.length; i++) {
      String[] pair = parts[i].split("=", 2);
      words.put(pair[0], pair.length == 2 ? pair[1] : "");
    }
    delay(1);
  }

  /** Null: a second, fixed. Throws IllegalArgumentException with the forms that there are. */
  static Backoff parsed(String spec) {
    try {
      return new Backoff(spec == null ? "fixed delay=1s" : spec);
    } catch (NumberFormatException error) {
      throw wrong(spec);
    }
  }

  /** After this attempt, counted from 1. */
  Duration delay(int attempt) {
    double cap = words.containsKey("cap") ? ms("cap", 0) : 900_000;
    double usual = switch (kind) {
      case "fixed" -> ms("delay", 1000);
      case "linear" -> Math.min(cap, ms("first", 1000) + (attempt - 1) * ms("step", 1000));
      case "exponential" -> Math.min(cap,
          ms("first", 1000) * Math.pow(Double.parseDouble(words.getOrDefault("factor", "2")), attempt));
      default -> throw wrong(kind);
    };
    double jitter = ms("jitter", 0);
    return Duration.ofMillis(Math.round(usual + (jitter > 0 ? ThreadLocalRandom.current().nextDouble(jitter) : 0)));
  }

  private double ms(String name, long otherwise) {
    String text = words.get(name);
    if (text == null) {
      return otherwise;
    }
    Matcher time = TIME.matcher(text);
    if (!time.matches()) {
      throw wrong(name + "=" + text);
    }
    return Double.parseDouble(time.group(1)) * UNITS.get(time.group(2));
  }

  private static IllegalArgumentException wrong(String what) {
    return new IllegalArgumentException(what + " is no backoff of a call that is retried in its own thread; use \"fixed delay=1s\", "
        + "\"linear first=1s step=1s cap=1m\" or \"exponential first=1s factor=2 cap=15m jitter=1s\"");
  }
}
