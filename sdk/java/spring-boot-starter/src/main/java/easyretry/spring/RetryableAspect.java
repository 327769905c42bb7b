package easyretry.spring;

import easyretry.App;
import easyretry.Attempt;
import easyretry.DirectCall;
import java.lang.reflect.Method;
import java.util.Locale;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.reflect.MethodSignature;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Calls methods with {@link Retryable}. Outside of other aspects, so that a transaction of the call has ended when the call is
 * stored.
 */
@Aspect
@Order(Ordered.HIGHEST_PRECEDENCE + 100)
class RetryableAspect {
  private final App app;
  private final Retryables methods;
  private final Meters meters;

  RetryableAspect(App app, Retryables methods, Meters meters) {
    this.app = app;
    this.methods = methods;
    this.meters = meters;
  }

  @Around("@annotation(easyretry.spring.Retryable)")
  Object call(ProceedingJoinPoint point) throws Throwable {
    if (DirectCall.nested()) {
      return point.proceed();
    }
    Method called = ((MethodSignature) point.getSignature()).getMethod();
    RetryableMethod method = methods.of(AopUtils.getMostSpecificMethod(called, point.getTarget().getClass()));
    Object[] args = point.getArgs();
    Attempt attempt;
    try {
      attempt = method.call(app.client(), args, () -> proceed(point));
    } catch (Throwable error) {
      meters.called(method.name, "failed");
      throw error;
    }
    meters.called(method.name, attempt.state().name().toLowerCase(Locale.ROOT));
    return switch (attempt.state()) {
      case SUCCEEDED -> {
        if (method.onSuccess != null) {
          method.onSuccess.call(point.getTarget(), attempt.value(), args);
        }
        yield attempt.value();
      }
      case FAILED -> attempt.value();
      case STORED -> {
        if (method.rethrow && attempt.failure() != null) {
          throw attempt.failure();
        }
        yield null;
      }
    };
  }

  @SuppressWarnings("unchecked") // an Error is thrown as itself
  private static <T extends Throwable> Object proceed(ProceedingJoinPoint point) throws T {
    try {
      return point.proceed();
    } catch (Throwable error) {
      throw (T) error;
    }
  }
}
