package easyretry.testing;

import java.time.Duration;
import java.util.Map;

/** A task as a test sees it. Changed by {@link Manual} only. */
public final class ManualTask {
  final Map<?, ?> fields; // of the submission
  final String id;
  final String key;
  final int maxAttempts;
  Duration due;
  int attempts;
  String lastError;
  String outcome;
  Object result;
  String progress;

  ManualTask(String id, String key, Map<?, ?> fields, Duration due, int maxAttempts) {
    this.id = id;
    this.key = key;
    this.fields = fields;
    this.due = due;
    this.maxAttempts = maxAttempts;
  }

  public String id() {
    return id;
  }

  public String handler() {
    return (String) fields.get("handler");
  }

  public String key() {
    return key;
  }

  /** Since the test began. */
  public Duration due() {
    return due;
  }

  public int attempts() {
    return attempts;
  }

  public String lastError() {
    return lastError;
  }

  /** {@code succeeded}, {@code exhausted}, {@code rejected} or {@code cancelled}; null while it is live. */
  public String outcome() {
    return outcome;
  }

  /** As JSON: maps, lists, strings, numbers. */
  public Object result() {
    return result;
  }

  public String progress() {
    return progress;
  }

  @Override
  public String toString() { // without the arguments
    return "ManualTask(" + id + ", " + handler() + ", attempts " + attempts + ", " + (outcome == null ? "live" : outcome) + ")";
  }
}
