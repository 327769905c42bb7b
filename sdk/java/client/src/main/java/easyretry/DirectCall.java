package easyretry;

import static java.lang.System.Logger.Level.WARNING;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.concurrent.Callable;

/**
 * Calls a function now, and stores the call if it fails. Workers that have the handler of the task retry it. Inside a task, inside
 * a call that is stored first (ALWAYS), and inside a retry of NEVER, it only calls the function: that task or retry is repeated as
 * a whole. Inside another first attempt, it is a call like any other.
 */
public final class DirectCall {
  private static final ThreadLocal<Boolean> ONLY_CALLS = new ThreadLocal<>();
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

  /** A call has failed, and could not be stored. The cause is its failure; why it was not stored is suppressed. */
  public static final class NotStored extends RuntimeException {
    NotStored(String message, Throwable failure, EasyRetryException trouble) {
      super(message, failure);
      addSuppressed(trouble);
    }
  }

  /** Whether a call in this thread is part of a task or of a retry. */
  public static boolean nested() {
    return Task.current() != null || ONLY_CALLS.get() != null;
  }

  /** Throws what the function throws, if that is not stored. An interrupt is no failure: it is thrown, and nothing is stored of it. */
  public Attempt run(Callable<?> function) throws Exception {
    if (nested()) {
      return judged(function.call());
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
    Attempt attempt;
    try {
      attempt = judged(leased == null ? function.call() : onlyCalling(function));
    } catch (InterruptedException stop) { // with ALWAYS, a worker takes over when the lease has expired
      throw interrupted(stop);
    } catch (Throwable error) {
      return failed(error, null);
    }
    if (attempt.state() == Attempt.State.FAILED) {
      return failed(new Rules.NotASuccess(), attempt.value());
    }
    if (leased != null) {
      report(leased, Outcome.of(attempt.value(), client.codec(), false));
    }
    return attempt;
  }

  /** Stores a call that has already failed once. */
  public Submitted store(String why) {
    return report(storeLeased(), Outcome.failed(why));
  }

  private Attempt judged(Object value) {
    try {
      return new Attempt(Attempt.State.SUCCEEDED, rules.accepted(value), null, null);
    } catch (Rules.NotASuccess error) {
      return new Attempt(Attempt.State.FAILED, value, null, null);
    }
  }

  private static Object onlyCalling(Callable<?> function) throws Exception {
    ONLY_CALLS.set(true);
    try {
      return function.call();
    } finally {
      ONLY_CALLS.remove();
    }
  }

  /** Not every caller passes the exception on; whoever wants this thread to end is heard all the same. */
  private static InterruptedException interrupted(InterruptedException stop) {
    Thread.currentThread().interrupt();
    return stop;
  }

  private Attempt failed(Throwable error, Object value) throws Exception {
    boolean onlyAttempt = rules.policy().maxAttempts() != null && rules.policy().maxAttempts() == 1;
    boolean noSuccess = error instanceof Rules.NotASuccess;
    if (onlyAttempt || !rules.worthRetrying(error)) {
      storeFinal(error);
    } else if (rules.persist() != PersistStrategy.MANUAL) {
      String stored = report(leased == null ? kept(error) : leased, Outcome.of(error)).id();
      return new Attempt(Attempt.State.STORED, null, stored, noSuccess ? null : error);
    }
    if (noSuccess) {
      return new Attempt(Attempt.State.FAILED, value, null, null);
    }
    throw DirectCall.<RuntimeException>unchecked(error);
  }

  /** A failure that is not retried goes to history, or nowhere. */
  private void storeFinal(Throwable error) {
    Submitted held = rules.persist() == PersistStrategy.ON_FAILURE ? kept(error) : leased;
    if (held != null) {
      report(held, Outcome.of(error).asFinal());
    }
  }

  /**
   * The daemon's policy decides when the next attempt is due, so a failure is reported as that of a leased task. The call is decided,
   * and its caller gets the value or the failure in any case. What cannot be reported, a worker finds out when the lease has expired:
   * it runs the task once more.
   */
  private Submitted report(Submitted held, Outcome outcome) {
    if (!held.created()) { // a task with this key is live, and has another owner
      return held;
    }
    if (outcome.warning() != null) {
      client.log().log(WARNING, "task " + held.id() + " (" + task.handler() + "): " + outcome.warning());
    }
    try {
      client.settle(held, outcome);
    } catch (EasyRetryException trouble) {
      client.log().log(WARNING, "the outcome of a call of " + task.handler() + " could not be reported, and its task " + held.id()
          + " may run again when its lease has expired: " + trouble.getMessage());
    }
    return held;
  }

  private Submitted storeLeased() {
    return client.submit(new NewTask(task).leased(ManagementFactory.getRuntimeMXBean().getName(), rules.lease()));
  }

  private Submitted kept(Throwable failure) {
    try {
      return storeLeased();
    } catch (EasyRetryException trouble) {
      throw new NotStored("a failed call of " + task.handler() + " could not be stored: " + trouble.getMessage(), failure, trouble);
    }
  }

  private Attempt runHere(Callable<?> function) throws Exception {
    int most = rules.policy().maxAttempts() == null ? ATTEMPTS_HERE : rules.policy().maxAttempts();
    Duration longest = rules.policy().maxDuration();
    long until = longest == null || longest.isZero() ? Long.MAX_VALUE : Leases.now() + longest.toNanos();
    Backoff backoff = Backoff.parsed(rules.policy().backoff());
    for (int attempt = 1; ; attempt++) {
      Throwable failure = new Rules.NotASuccess();
      Attempt result = null;
      try {
        result = judged(attempt == 1 ? function.call() : onlyCalling(function));
        if (result.state() == Attempt.State.SUCCEEDED) {
          return result;
        }
      } catch (InterruptedException stop) {
        throw interrupted(stop);
      } catch (Throwable error) {
        failure = error;
      }
      Duration delay = failure instanceof RetryAfter asked ? asked.delay() : backoff.delay(attempt);
      boolean last = (most > 0 && attempt >= most) || Leases.now() + delay.toNanos() > until;
      if (last || !rules.worthRetrying(failure) || !paused(delay)) {
        if (result != null) {
          return result;
        }
        throw DirectCall.<RuntimeException>unchecked(failure);
      }
    }
  }

  /** False: this thread was interrupted. */
  private static boolean paused(Duration delay) {
    try {
      Thread.sleep(delay.toMillis());
      return true;
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  @SuppressWarnings("unchecked") // throws an Error as itself, too
  private static <T extends Throwable> T unchecked(Throwable error) throws T {
    throw (T) error;
  }
}
