package easyretry.spring;

import easyretry.Attempt;
import easyretry.Client;
import easyretry.DirectCall;
import easyretry.NewTask;
import easyretry.PersistStrategy;
import easyretry.Policy;
import easyretry.Rules;
import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/** A method with {@link Retryable}, read once: its name, its rules, its expressions and its callbacks. */
final class RetryableMethod {
  private static final SpelExpressionParser SPEL = new SpelExpressionParser();
  private static final DefaultParameterNameDiscoverer NAMES = new DefaultParameterNameDiscoverer();

  final String name;
  final Method method;
  final Rules rules;
  final boolean rethrow;
  final Callback onSuccess;
  final Callback onFinalFailure;
  private final String businessType;
  private final Expression deadline;
  private final Expression key;
  private final Expression businessId;

  /** The root of {@code successCondition}. */
  record Returned(Object result) {
    public Object getResult() {
      return result;
    }
  }

  /** Throws IllegalStateException for an annotation that cannot work, so that the application does not start with it. */
  RetryableMethod(Method method, Retryable is) {
    this.method = method;
    name = is.value().isEmpty() ? method.getDeclaringClass().getSimpleName() + "." + method.getName() : is.value();
    rethrow = is.rethrow();
    boolean primitive = method.getReturnType().isPrimitive() && method.getReturnType() != void.class;
    if (primitive && !rethrow && is.persistStrategy() != PersistStrategy.NEVER && is.persistStrategy() != PersistStrategy.MANUAL) {
      throw new IllegalStateException(method + " returns a " + method.getReturnType() + ", and a call that was stored has no value; "
          + "return an object, or set rethrow = true");
    }
    try {
      Expression success = expression(is.successCondition());
      rules = new Rules(is.persistStrategy(), List.of(is.retryFor()), List.of(is.noRetryFor()),
          success == null ? null : result -> accepts(success, result), policy(is), duration(is.lease()));
      deadline = expression(is.deadline());
      key = expression(is.key());
      businessId = expression(is.businessId());
    } catch (RuntimeException error) {
      throw new IllegalStateException("@Retryable of " + method + ": " + error.getMessage(), error);
    }
    businessType = is.businessType();
    onSuccess = Callback.of(method, is.onSuccess(), method.getReturnType());
    onFinalFailure = Callback.of(method, is.onFinalFailure(), String.class);
  }

  private static Policy policy(Retryable is) {
    Policy policy = is.maxAttempts() > 0 ? Policy.attempts(is.maxAttempts()) : Policy.CONFIGURED;
    policy = is.backoff().isEmpty() ? policy : policy.backoff(is.backoff());
    return is.maxRetryDuration().isEmpty() ? policy : policy.maxDuration(duration(is.maxRetryDuration()));
  }

  static Duration duration(String text) {
    return DurationStyle.detectAndParse(text);
  }

  /** {@code #{…}} around an expression may be left out. */
  private static Expression expression(String text) {
    if (text.isEmpty()) {
      return null;
    }
    return SPEL.parseExpression(text.startsWith("#{") && text.endsWith("}") ? text.substring(2, text.length() - 1) : text);
  }

  private static boolean accepts(Expression success, Object result) {
    return Boolean.TRUE.equals(success.getValue(new Returned(result), Boolean.class));
  }

  Attempt call(Client client, Object[] args, java.util.concurrent.Callable<?> function) throws Exception {
    return new DirectCall(client, rules, task(args)).run(function);
  }

  NewTask task(Object[] args) {
    NewTask task = new NewTask(name, args);
    if (deadline != null || key != null || businessId != null) {
      EvaluationContext context = new MethodBasedEvaluationContext(new Object(), method, args, NAMES);
      task.deadline(deadline == null ? null : deadline.getValue(context, Instant.class));
      task.key(key == null ? null : key.getValue(context, String.class));
      task.businessId(businessId == null ? null : businessId.getValue(context, String.class));
    }
    return task.businessType(businessType.isEmpty() ? null : businessType).policy(rules.policy());
  }
}
