package easyretry;

import java.time.Duration;

/** Runs the tasks of one name. May throw anything: that is a failed attempt. */
@FunctionalInterface
public interface Handler {
  /** The result is for the daemon's {@code success_when} and {@code keep_results}; null: there is none. */
  Object run(Task task) throws Exception;

  /** A handler of one argument that returns nothing. */
  @FunctionalInterface
  interface Action<T> {
    void run(T argument) throws Exception;
  }

  /**
   * @param batch every return is a success. It is settled together with others, about ten times as fast; the daemon's
   *     {@code success_when} and {@code keep_results} do not apply
   * @param timeout after this time the task is cancelled; null: never
   */
  record Options(boolean batch, Duration timeout) {
    public static final Options DEFAULT = new Options(false, null);

    public Options batched() {
      return new Options(true, timeout);
    }

    public Options timeout(Duration time) {
      return new Options(batch, time);
    }
  }

  /** A handler with its name. */
  record Named(String name, Handler handler, Options options) {
    private static final int LONGEST_NAME = 200;

    public Named {
      int length = name.getBytes(java.nio.charset.StandardCharsets.UTF_8).length;
      if (length == 0 || length > LONGEST_NAME) {
        throw new IllegalArgumentException("the name of a handler must have 1 to 200 bytes, this one has " + length);
      }
    }
  }
}
