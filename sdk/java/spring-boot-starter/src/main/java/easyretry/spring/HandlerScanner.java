package easyretry.spring;

import easyretry.App;
import easyretry.Handler;
import java.lang.reflect.Method;
import java.util.Map;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;

/** Registers the methods with {@link Retryable} and {@link RetryHandler} of all singletons, before the worker starts. */
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
    for (String name : beans.getBeanNamesForType(Object.class, false, false)) {
      Object bean = beans.containsSingleton(name) ? beans.getSingleton(name) : null;
      if (bean != null) {
        scan(bean);
      }
    }
  }

  private void scan(Object bean) {
    Class<?> type = AopUtils.getTargetClass(bean);
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
