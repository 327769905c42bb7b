package easyretry;

import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;

/**
 * When a direct call is a success, when it is worth retrying, and when it is stored.
 *
 * @param retryOn only these are retried; empty: all exceptions. An Error, such as OutOfMemoryError, has to be named
 * @param neverRetry wins over {@code retryOn}
 * @param successWhen null: every return is a success
 * @param lease how long this process holds a task that it stores, until it has reported the outcome
 */
public record Rules(PersistStrategy persist, List<Class<? extends Throwable>> retryOn, List<Class<? extends Throwable>> neverRetry,
    Predicate<Object> successWhen, Policy policy, Duration lease) {
  public static final Rules DEFAULT =
      new Rules(PersistStrategy.RETRY_ONLY, List.of(), List.of(), null, Policy.CONFIGURED, Duration.ofSeconds(30));

  /** The result of a call is none that {@code successWhen} accepts. */
  public static final class NotASuccess extends Exception {
    public NotASuccess() {
      super("the result is not a success");
    }
  }

  public boolean worthRetrying(Throwable error) {
    if (error instanceof RetryAfter || error instanceof NotASuccess) {
      return true;
    }
    boolean named = retryOn.isEmpty() ? error instanceof Exception : retryOn.stream().anyMatch(type -> type.isInstance(error));
    return named && !(error instanceof GiveUp) && neverRetry.stream().noneMatch(type -> type.isInstance(error));
  }

  /** Throws NotASuccess. */
  public Object accepted(Object result) throws NotASuccess {
    if (successWhen != null && !successWhen.test(result)) {
      throw new NotASuccess();
    }
    return result;
  }

  /** The same for a handler: its result has to be a success, and a failure that is not worth retrying is final. */
  public Handler handler(Handler handler) {
    return task -> {
      try {
        return accepted(handler.run(task));
      } catch (Throwable error) {
        if (!worthRetrying(error) && !(error instanceof GiveUp) && !task.cancelled()) {
          throw new GiveUp(Outcome.errorText(error), error);
        }
        throw error;
      }
    };
  }
}
