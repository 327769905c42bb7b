package easyretry;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

/**
 * Calls a function now, and stores the call if it fails. Workers that have the handler of the task retry it. Inside a task, and
 * inside another direct call of this thread, it only calls the function, so a retry never stores a retry of itself.
 */
public final class DirectCall {
  private static final ThreadLocal<Boolean> CALLING = new ThreadLocal<>();
  private static final int ATTEMPTS_HERE = 3; // with NEVER, if the policy says nothing

  private final Client client;
  private final Rules rules;
  private final NewTask task;
  private Submitted leased; // with ALWAYS

  /** {@code task} is the call as it would be stored. */
  public DirectCall(Client client, Rules rules, NewTask task) {
    this.client = client;
    this.rules = rules;
    this.task = new NewTask(task).policy(rules.policy());
  }

  /** The call has failed, and the failure could not be stored. The cause is the failure; why it was not stored is suppressed. */
  public static final class NotStored extends RuntimeException {
    NotStored(String message, Throwable failure, EasyRetryException trouble) {
      super(message, failure);
      addSuppressed(trouble);
    }
  }

  /** Whether this thread is in a task or in a direct call. */
  public static boolean nested() {
    return Task.current() != null || CALLING.get() != null;
  }

  /** Throws what the function throws, if that is not stored. */
  public Attempt run(Callable<?> function) throws Exception {
    if (nested()) {
      return new Attempt(Attempt.State.SUCCEEDED, function.call(), null, null);
    }
    task.json(client.codec()); // arguments that cannot be stored are refused before the function runs
    if (rules.persist() == PersistStrategy.NEVER) {
      return runHere(function);
    }
    if (rules.persist() == PersistStrategy.ALWAYS) {
      leased = storeLeased();
      if (!leased.created()) { // another task with this key is live
        return new Attempt(Attempt.State.STORED, null, leased.id(), null);
      }
    }
    Object value;
    try {
      value = called(function);
    } catch (Throwable error) {
      return failed(error, null);
    }
    try {
      rules.accepted(value);
    } catch (Rules.NotASuccess error) {
      return failed(error, value);
    }
    if (leased != null) {
      kept(null, () -> {
        client.settle(leased, Outcome.of(value, client.codec(), false));
        return leased.id();
      });
    }
    return new Attempt(Attempt.State.SUCCEEDED, value, null, null);
  }

  /** Stores a call that has already failed once. */
  public Submitted store(String why) {
    return storeRetry(Outcome.failed(why));
  }

  private static Object called(Callable<?> function) throws Exception {
    CALLING.set(true);
    try {
      return function.call();
    } finally {
      CALLING.remove();
    }
  }

  private Attempt failed(Throwable error, Object value) throws Exception {
    boolean onlyAttempt = rules.policy().maxAttempts() != null && rules.policy().maxAttempts() == 1;
    boolean noSuccess = error instanceof Rules.NotASuccess;
    if (onlyAttempt || !rules.worthRetrying(error)) {
      storeFinal(error);
    } else if (rules.persist() != PersistStrategy.MANUAL) {
      String stored = kept(error, () -> storeRetry(Outcome.of(error)).id());
      return new Attempt(Attempt.State.STORED, null, stored, noSuccess ? null : error);
    }
    if (noSuccess) {
      return new Attempt(Attempt.State.FAILED, value, null, null);
    }
    throw DirectCall.<RuntimeException>unchecked(error);
  }

  /** A failure that is not retried goes to history, or nowhere. */
  private void storeFinal(Throwable error) {
    if (leased == null && rules.persist() != PersistStrategy.ON_FAILURE) {
      return;
    }
    kept(error, () -> {
      Submitted held = leased == null ? storeLeased() : leased;
      if (held.created()) {
        client.settle(held, Outcome.of(error).asFinal());
      }
      return held.id();
    });
  }

  /** The daemon's policy decides when the next attempt is due, so the failure is reported as that of a leased task. */
  private Submitted storeRetry(Outcome failure) {
    Submitted held = leased == null ? storeLeased() : leased;
    if (held.created()) {
      try {
        client.settle(held, failure);
      } catch (EasyRetryException unsettled) {
        // It is stored, and runs when its lease has expired.
      }
    }
    return held;
  }

  private Submitted storeLeased() {
    return client.submit(new NewTask(task).leased(ManagementFactory.getRuntimeMXBean().getName(), rules.lease()));
  }

  private String kept(Throwable failure, Supplier<String> store) {
    try {
      return store.get();
    } catch (EasyRetryException trouble) {
      throw new NotStored("the outcome of a call of " + task.handler() + " could not be stored: " + trouble.getMessage(), failure,
          trouble);
    }
  }

  private Attempt runHere(Callable<?> function) throws Exception {
    int most = rules.policy().maxAttempts() == null ? ATTEMPTS_HERE : rules.policy().maxAttempts();
    long until = rules.policy().maxDuration() == null ? Long.MAX_VALUE
        : Leases.now() + rules.policy().maxDuration().toNanos();
    Backoff backoff = Backoff.parsed(rules.policy().backoff());
    for (int attempt = 1; ; attempt++) {
      Throwable failure;
      Object value = null;
      try {
        value = called(function);
        return new Attempt(Attempt.State.SUCCEEDED, rules.accepted(value), null, null);
      } catch (Throwable error) {
        failure = error;
      }
      Duration delay = failure instanceof RetryAfter asked ? asked.delay() : backoff.delay(attempt);
      boolean last = (most > 0 && attempt >= most) || Leases.now() + delay.toNanos() > until;
      if (last || !rules.worthRetrying(failure)) {
        if (failure instanceof Rules.NotASuccess) {
          return new Attempt(Attempt.State.FAILED, value, null, null);
        }
        throw DirectCall.<RuntimeException>unchecked(failure);
      }
      Thread.sleep(delay.toMillis());
    }
  }

  @SuppressWarnings("unchecked") // throws an Error as itself, too
  private static <T extends Throwable> T unchecked(Throwable error) throws T {
    throw (T) error;
  }
}
