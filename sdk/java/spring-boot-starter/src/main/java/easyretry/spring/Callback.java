package easyretry.spring;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.stream.Stream;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/** A method that {@link Retryable} names: of the same class, with the same parameters, one more before them, or none. */
final class Callback {
  private final Method method;
  private final boolean takesFirst;

  private Callback(Method method, boolean takesFirst) {
    this.method = method;
    this.takesFirst = takesFirst;
  }

  /** Null: there is no name. {@code first} is the type of the value before the parameters. */
  static Callback of(Method retried, String name, Class<?> first) {
    if (name.isEmpty()) {
      return null;
    }
    Class<?>[] same = retried.getParameterTypes();
    for (Method candidate : ReflectionUtils.getAllDeclaredMethods(retried.getDeclaringClass())) {
      Class<?>[] types = candidate.getParameterTypes();
      if (!candidate.getName().equals(name)) {
        continue;
      }
      boolean more = types.length == same.length + 1 && ClassUtils.isAssignable(types[0], first)
          && Arrays.equals(Arrays.copyOfRange(types, 1, types.length), same);
      if (more || types.length == 0 || Arrays.equals(types, same)) {
        ReflectionUtils.makeAccessible(candidate);
        return new Callback(candidate, more);
      }
    }
    throw new IllegalStateException("@Retryable of " + retried + " names " + name + ", but there is no such method with the same "
        + "parameters, with a " + first.getSimpleName() + " before them, or with none");
  }

  void call(Object bean, Object first, Object[] args) throws Exception {
    Object[] values = method.getParameterCount() == 0 ? new Object[0]
        : takesFirst ? Stream.concat(Stream.of(new Object[] {first}), Arrays.stream(args)).toArray() : args;
    try {
      method.invoke(bean, values);
    } catch (InvocationTargetException error) {
      ReflectionUtils.rethrowException(error.getCause());
    }
  }
}
