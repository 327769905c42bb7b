package easyretry;

import java.util.Map;

/**
 * A task as the daemon shows it.
 *
 * @param fields all of them, by the names of the HTTP API
 */
public record StoredTask(Map<String, Object> fields) {
  public String id() {
    return text("id");
  }

  /** {@code pending}, {@code running} or {@code finished}. */
  public String state() {
    return text("state");
  }

  /** {@code succeeded}, {@code exhausted}, {@code rejected}, {@code cancelled}, …; null while the task is live. */
  public String outcome() {
    return text("outcome");
  }

  public boolean finished() {
    return "finished".equals(state());
  }

  public long attempts() {
    return fields.get("attempts") instanceof Long attempts ? attempts : 0;
  }

  public String lastError() {
    return text("last_error");
  }

  private String text(String name) {
    return fields.get(name) instanceof String text ? text : null;
  }

  @Override
  public String toString() { // without arguments and result
    return "StoredTask(" + id() + ", " + text("handler") + ", " + state() + ")";
  }
}
