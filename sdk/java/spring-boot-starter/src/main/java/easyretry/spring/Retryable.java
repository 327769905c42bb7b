package easyretry.spring;

import easyretry.PersistStrategy;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A method of a bean that is called now, and stored as {@link #persistStrategy} says if it fails. Workers, this application among
 * them, then retry it with the same arguments. A call inside a retry, or inside another such method, only calls the method. As with
 * all of Spring's proxies, a call from within the same object does not pass here.
 *
 * <p>A call that was stored returns null, or throws what the method threw, see {@link #rethrow}.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Retryable {
  /** The handler's name, which stays when the code moves. Empty: the class's simple name and the method's, {@code Payments.pay}. */
  String value() default "";

  PersistStrategy persistStrategy() default PersistStrategy.RETRY_ONLY;

  /** Only these are retried. Empty: all exceptions. */
  Class<? extends Throwable>[] retryFor() default {};

  /** Wins over {@link #retryFor}. */
  Class<? extends Throwable>[] noRetryFor() default {};

  /** SpEL, such as {@code #{result.code == 200}}. Empty: every return is a success. */
  String successCondition() default "";

  /** Executions, the first included. 0: as the daemon is configured. */
  int maxAttempts() default 0;

  /** Since the task was stored, such as {@code 1h} or {@code PT1H}. Empty: as the daemon is configured. */
  String maxRetryDuration() default "";

  /** SpEL over the arguments that yields an Instant, such as {@code #order.expires}: no attempt starts after it. */
  String deadline() default "";

  /** As in the daemon's configuration: {@code exponential first=1s cap=5m jitter=1s}. Empty: as the daemon is configured. */
  String backoff() default "";

  /**
   * A method of the same bean, called when the method has succeeded, here or in a retry. It has the same parameters, or the result
   * before them, or none.
   */
  String onSuccess() default "";

  /**
   * A method of the same bean, called when a retry has failed for the last time. It has the same parameters, or the error text
   * before them, or none.
   */
  String onFinalFailure() default "";

  /** SpEL over the arguments: one live task per key. Empty: made from the name and the arguments. */
  String key() default "";

  String businessType() default "";

  /** SpEL over the arguments. */
  String businessId() default "";

  /**
   * How long this application holds a task that it stores, until it has reported the outcome: {@code 30s}. With ALWAYS it is not
   * renewed, so it has to be longer than the longest call: when it is over, a worker makes the call, too.
   */
  String lease() default "30s";

  /** Throws what the method threw, although the call was stored. Needed if the method returns a primitive. */
  boolean rethrow() default false;
}
