package easyretry.spring;

import com.fasterxml.jackson.databind.ObjectMapper;
import easyretry.App;
import easyretry.Codec;
import easyretry.EasyRetryException;
import easyretry.Listener;
import easyretry.Outcome;
import easyretry.Task;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import java.util.Map;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** An {@link App} whose handlers are the annotated methods of beans, with health and metrics if the application has them. */
@AutoConfiguration(afterName = {
    "org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration",
    "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
    "org.springframework.boot.actuate.autoconfigure.metrics.export.simple.SimpleMetricsExportAutoConfiguration"})
@EnableConfigurationProperties(EasyRetryProperties.class)
public class EasyRetryAutoConfiguration {
  @Bean
  Retryables easyRetryRetryables() {
    return new Retryables();
  }

  /** Arguments and results are written by Jackson, unless the application has a {@link Codec} of its own. */
  @Bean
  App easyRetryApp(EasyRetryProperties properties, ObjectProvider<Codec> codec, ObjectProvider<ObjectMapper> mapper,
      Retryables retryables, ObjectProvider<Meters> meters) {
    return new App(properties.settings()
        .codec(codec.getIfAvailable(() -> new JacksonCodec(mapper.getIfAvailable(ObjectMapper::new))))
        .listener(new Told(meters.getIfAvailable(Meters::new), retryables)));
  }

  @Bean
  RetryableAspect easyRetryAspect(App app, Retryables retryables, ObjectProvider<Meters> meters) {
    return new RetryableAspect(app, retryables, meters.getIfAvailable(Meters::new));
  }

  @Bean
  HandlerScanner easyRetryHandlerScanner(App app, Retryables retryables, ConfigurableListableBeanFactory beans) {
    return new HandlerScanner(app, retryables, beans);
  }

  @Bean
  WorkerLifecycle easyRetryWorker(App app, EasyRetryProperties properties) {
    return new WorkerLifecycle(app, properties.works());
  }

  /** Counts first: a callback may throw. */
  private record Told(Meters meters, Retryables retryables) implements Listener {
    @Override
    public void attempted(Task task, Outcome attempt, Duration time) {
      meters.attempted(task, attempt, time);
    }

    @Override
    public void settled(Task task, Outcome attempt, String outcome) {
      meters.settled(task, attempt, outcome);
      retryables.settled(task, attempt, outcome);
    }

    @Override
    public void leaseLost(Task task) {
      meters.leaseLost(task);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(MeterRegistry.class)
  @ConditionalOnBean(MeterRegistry.class)
  static class Metrics {
    @Bean
    Meters easyRetryMeters(MeterRegistry registry) {
      return new MicrometerMeters(registry);
    }

    @Bean
    MeterBinder easyRetryHeldTasks(App app) {
      return registry -> Gauge.builder("easyretry.tasks.held", app, App::held)
          .description("tasks that are leased and not yet settled").register(registry);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(HealthIndicator.class)
  static class HealthOfTheDaemon {
    /** Up while the daemon answers and knows the token. */
    @Bean
    @ConditionalOnMissingBean(name = "easyretryHealthIndicator")
    HealthIndicator easyretryHealthIndicator(App app) {
      return () -> {
        Health.Builder health = Health.up();
        try {
          Map<String, Object> daemon = app.client().whoami();
          health.withDetail("version", String.valueOf(daemon.get("version")));
        } catch (EasyRetryException error) {
          health.down().withDetail("error", error.getMessage());
        }
        return health.withDetail("worker", app.running() ? "running" : "stopped").withDetail("held", app.held()).build();
      };
    }
  }
}
