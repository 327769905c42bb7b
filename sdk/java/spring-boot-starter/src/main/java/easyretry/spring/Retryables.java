package easyretry.spring;

import easyretry.App;
import easyretry.DirectCall;
import easyretry.Handler;
import easyretry.Json;
import easyretry.Outcome;
import easyretry.PersistStrategy;
import easyretry.Submitted;
import easyretry.Task;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.annotation.AnnotatedElementUtils;

/** The methods with {@link Retryable} of an application. Stores calls of them on request, as MANUAL needs it. Thread-safe. */
public final class Retryables {
  private final Map<Method, RetryableMethod> methods = new ConcurrentHashMap<>();
  private final Map<String, Registered> handlers = new ConcurrentHashMap<>();
  private volatile App app;

  private record Registered(RetryableMethod method, Supplier<Object> bean) { }

  Retryables() { }

  /** Stores a call first; a worker runs it. */
  public Submitted submit(String name, Object... args) {
    return app.client().submit(known(name).task(args));
  }

  /** Stores a call that has already failed once. */
  public Submitted store(String name, String why, Object... args) {
    RetryableMethod method = known(name);
    return new DirectCall(app.client(), method.rules, method.task(args)).store(why);
  }

  private RetryableMethod known(String name) {
    Registered found = handlers.get(name);
    if (found == null) {
      throw new IllegalArgumentException("there is no method with @Retryable(\"" + name + "\") that can be stored; there are "
          + handlers.keySet());
    }
    return found.method;
  }

  RetryableMethod of(Method method) {
    return methods.computeIfAbsent(method,
        one -> new RetryableMethod(one, AnnotatedElementUtils.findMergedAnnotation(one, Retryable.class)));
  }

  /** The method becomes a handler, unless nothing of it is ever stored. */
  void register(App registers, Supplier<Object> bean, Method method) {
    app = registers;
    RetryableMethod retryable = of(method);
    if (retryable.rules.persist() != PersistStrategy.NEVER) {
      registers.handler(retryable.name, retryable.rules.handler(handler(bean, method)));
      handlers.put(retryable.name, new Registered(retryable, bean));
    }
  }

  /** Calls the bean as the application does, through its proxy: transactions and the like apply to retries, too. */
  static Handler handler(Supplier<Object> beans, Method method) {
    Type[] types = method.getGenericParameterTypes();
    return task -> {
      Object bean = beans.get();
      Method called = AopUtils.selectInvocableMethod(method, bean.getClass());
      called.setAccessible(true);
      try {
        return called.invoke(bean, arguments(task, types));
      } catch (InvocationTargetException error) {
        throw Retryables.<RuntimeException>unchecked(error.getCause());
      }
    };
  }

  private static Object[] arguments(Task task, Type[] types) {
    Object[] args = new Object[types.length];
    for (int i = 0; i < types.length; i++) {
      args[i] = task.arg(i, types[i]);
    }
    return args;
  }

  /** Runs the callback of a task that has ended. */
  void settled(Task task, Outcome attempt, String outcome) {
    Registered registered = handlers.get(task.handler());
    if (registered == null || outcome == null) {
      return;
    }
    RetryableMethod method = registered.method;
    boolean succeeded = outcome.equals("succeeded");
    Callback callback = succeeded ? method.onSuccess : method.onFinalFailure;
    if (callback == null) {
      return;
    }
    Object first = attempt.error();
    if (succeeded) {
      Object json = attempt.result() == null ? null : Json.read(attempt.result());
      first = app.client().codec().fromJson(json, method.method.getGenericReturnType());
    }
    Object bean = registered.bean.get();
    Object target = AopProxyUtils.getSingletonTarget(bean);
    try {
      callback.call(target == null ? bean : target, first, arguments(task, method.method.getGenericParameterTypes()));
    } catch (Exception error) {
      throw Retryables.<RuntimeException>unchecked(error);
    }
  }

  @SuppressWarnings("unchecked") // throws anything as itself
  private static <T extends Throwable> T unchecked(Throwable error) throws T {
    throw (T) error;
  }
}
