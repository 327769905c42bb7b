package easyretry;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A task to be stored. Not thread-safe; {@code toString} leaves out the arguments. */
public final class NewTask {
  private final Map<String, Object> fields = new LinkedHashMap<>();
  private final Object[] args;

  /** {@code args} are the arguments of the handler, in order. */
  public NewTask(String handler, Object... args) {
    fields.put("handler", handler);
    this.args = args.clone();
  }

  /** A copy, which can be changed alone. */
  public NewTask(NewTask other) {
    fields.putAll(other.fields);
    args = other.args;
  }

  /** One live task per key. Without one it is made from the handler and the arguments. */
  public NewTask key(String key) {
    return with("key", key);
  }

  /** {@code keep} (default), {@code update_policy} or {@code reject}. */
  public NewTask onDuplicate(String what) {
    return with("on_duplicate", what);
  }

  public NewTask delay(Duration delay) {
    return with("delay_ms", delay == null ? null : delay.toMillis());
  }

  public NewTask dueAt(Instant time) {
    return with("due_at", moment(time));
  }

  /** No attempt starts after it. */
  public NewTask deadline(Instant time) {
    return with("deadline", moment(time));
  }

  public NewTask policy(Policy policy) {
    return with("policy", policy == null || policy.equals(Policy.CONFIGURED) ? null : policy.fields());
  }

  public NewTask businessType(String type) {
    return with("business_type", type);
  }

  public NewTask businessId(String id) {
    return with("business_id", id);
  }

  public NewTask tags(String... tags) {
    return with("tags", List.of(tags));
  }

  /** Without one, that of the task that is running in this thread. */
  public NewTask traceparent(String traceparent) {
    return with("traceparent", traceparent);
  }

  /** The caller has already made this many attempts, and the last one failed with this error. */
  public NewTask attempted(int times, String error) {
    return with("attempts", times).with("error", error);
  }

  /** The caller runs the next attempt itself, and holds the task for this time. */
  public NewTask leased(String owner, Duration lease) {
    return with("owner", owner).with("lease_ms", lease.toMillis());
  }

  public String handler() {
    return (String) fields.get("handler");
  }

  private NewTask with(String name, Object value) {
    if (value == null) {
      fields.remove(name);
    } else {
      fields.put(name, value);
    }
    return this;
  }

  private static String moment(Instant time) {
    return time == null ? null : time.truncatedTo(ChronoUnit.MILLIS).toString();
  }

  /** Throws InvalidArguments. Its message names the handler, never an argument. */
  public String json(Codec codec) {
    Map<String, Object> all = new LinkedHashMap<>(fields);
    Task running = Task.current();
    if (running != null && running.traceparent() != null) {
      all.putIfAbsent("traceparent", running.traceparent());
    }
    try {
      List<Object> values = new ArrayList<>(args.length);
      for (Object arg : args) {
        values.add(codec.toJson(arg));
      }
      all.put("args", values);
      return Json.write(all);
    } catch (RuntimeException | StackOverflowError error) {
      String why = error instanceof IllegalArgumentException ? error.getMessage() : error.getClass().getSimpleName();
      throw new EasyRetryException.InvalidArguments("the arguments for " + handler() + " cannot be written as JSON: " + why);
    }
  }

  @Override
  public String toString() {
    return "NewTask(" + handler() + ", key=" + fields.get("key") + ")";
  }
}
