package easyretry;

import java.time.Duration;

/** Told about tasks, for metrics and callbacks. Called from the worker's threads; an exception is logged and changes nothing. */
public interface Listener {
  /** An attempt has ended. */
  default void attempted(Task task, Outcome attempt, Duration time) { }

  /**
   * The daemon has confirmed it. {@code outcome} is {@code succeeded}, {@code exhausted}, {@code rejected}, …; null: there will be
   * another attempt. Not called if the confirmation was lost, or if the process dies before it: at most once.
   */
  default void settled(Task task, Outcome attempt, String outcome) { }

  default void leaseLost(Task task) { }
}
