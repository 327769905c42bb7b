package easyretry.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** A method of a bean that runs the tasks of one name: a worker's handler. Calling it is a plain call. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface RetryHandler {
  String value();

  /** Every return is a success; settled many at a time, and the daemon's success_when and keep_results do not apply. */
  boolean batch() default false;

  /** Such as {@code 30s}; the task is cancelled then. Empty: never. */
  String timeout() default "";
}
