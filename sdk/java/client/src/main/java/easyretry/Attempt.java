package easyretry;

/**
 * The end of a direct call.
 *
 * @param value of a success, or a result that is not one
 * @param task the id of the stored task; null: nothing is stored
 * @param failure null if the function returned a value
 */
public record Attempt(State state, Object value, String task, Throwable failure) {
  /** STORED: a worker will make the next attempt. FAILED: a result that is no success, and is not retried. */
  public enum State { SUCCEEDED, STORED, FAILED }

  @Override
  public String toString() { // without the value
    return "Attempt(" + state + (task == null ? "" : ", task " + task) + ")";
  }
}
