package easyretry.spring;

import easyretry.App;
import easyretry.Handler;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.function.Supplier;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;

/**
 * Registers the methods with {@link Retryable} and {@link RetryHandler} of all beans, before the worker starts. A lazy bean is made
 * by its first task, and a prototype by each.
 */
final class HandlerScanner implements SmartInitializingSingleton {
  private final App app;
  private final Retryables retryables;
  private final ConfigurableListableBeanFactory beans;

  HandlerScanner(App app, Retryables retryables, ConfigurableListableBeanFactory beans) {
    this.app = app;
    this.retryables = retryables;
    this.beans = beans;
  }

  @Override
  public void afterSingletonsInstantiated() {
    for (String name : beans.getBeanNamesForType(Object.class, true, false)) {
      Object made = beans.containsSingleton(name) ? beans.getSingleton(name) : null;
      if (made != null) {
        scan(AopUtils.getTargetClass(made), () -> made);
      } else if (!ScopedProxyUtils.isScopedTarget(name)) { // its proxy is a bean, too
        Class<?> type = beans.getType(name, false);
        if (type != null) {
          scan(ClassUtils.getUserClass(type), () -> beans.getBean(name));
        }
      }
    }
  }

  private void scan(Class<?> type, Supplier<Object> bean) {
    if (type.getName().startsWith("org.springframework.")) {
      return; // many, and none of them has ours
    }
    MethodIntrospector.selectMethods(type, (Method method) -> AnnotatedElementUtils.hasAnnotation(method, Retryable.class))
        .forEach(method -> retryables.register(app, bean, method));
    Map<Method, RetryHandler> handlers = MethodIntrospector.selectMethods(type,
        (MethodIntrospector.MetadataLookup<RetryHandler>) method ->
            AnnotatedElementUtils.findMergedAnnotation(method, RetryHandler.class));
    handlers.forEach((method, is) -> app.handler(is.value(), options(is), Retryables.handler(bean, method)));
  }

  private static Handler.Options options(RetryHandler is) {
    return new Handler.Options(is.batch(), is.timeout().isEmpty() ? null : RetryableMethod.duration(is.timeout()));
  }
}
