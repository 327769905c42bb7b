package easyretry.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import easyretry.App;
import easyretry.PersistStrategy;
import easyretry.RealDaemon;
import easyretry.StoredTask;
import easyretry.spring.Payments.Order;
import easyretry.testing.Manual;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.actuate.health.Status;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;

/** A Spring Boot application with a real daemon; what needs none runs tasks by hand. */
class StarterTest {
  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @Import(Payments.class)
  static class Application { }

  @TempDir
  Path folder;
  private RealDaemon daemon;
  private ConfigurableApplicationContext context;
  private Payments payments;
  private App app;

  @BeforeEach
  void start() throws Exception {
    daemon = new RealDaemon(folder, "defaults: {backoff: fixed delay=100ms, max_attempts: 3}\n");
  }

  @AfterEach
  void stop() {
    if (context != null) {
      context.close();
    }
    daemon.close();
  }

  private void run(String... more) {
    context = started(Application.class, more);
    payments = context.getBean(Payments.class);
    app = context.getBean(App.class);
  }

  private ConfigurableApplicationContext started(Class<?> application, String... more) {
    return new SpringApplicationBuilder(application).properties("spring.main.banner-mode=off", "logging.level.root=warn",
        "easyretry.url=" + daemon.url(), "easyretry.token=" + daemon.token("application"), "easyretry.waiting=2s",
        "easyretry.drain=1s", "easyretry.patience=2s").properties(more).run();
  }

  private static Order order(String id) {
    return new Order(id, Instant.now().plus(Duration.ofHours(1)));
  }

  private Payments target() {
    return (Payments) org.springframework.aop.framework.AopProxyUtils.getSingletonTarget(payments);
  }

  @Test
  void aCallThatFailsIsRetriedByTheApplicationAndItsCallbackIsTold() throws Exception {
    run();
    target().failuresLeft.set(2);
    assertNull(payments.pay(order("42")), "it was stored, so there is no receipt yet");
    RealDaemon.until("it is paid", () -> target().told.contains("42: paid 42"));
    assertEquals(3, target().calls.get());
    MeterRegistry meters = context.getBean(MeterRegistry.class);
    assertEquals(1, meters.get("easyretry.calls").tags("handler", "payment.pay", "end", "stored").counter().count());
    assertEquals(1, meters.get("easyretry.attempts").tags("handler", "payment.pay", "end", "failed").timer().count());
    assertEquals(1, meters.get("easyretry.settled").tags("handler", "payment.pay", "outcome", "succeeded").counter().count());
    RealDaemon.until("no task is held", () -> meters.get("easyretry.tasks.held").gauge().value() == 0);
    assertEquals("paid 43", payments.pay(order("43")).text());
    assertTrue(target().told.contains("43: paid 43"), "a direct success calls it, too");
  }

  @Test
  void aResultIsJudgedAndTheLastFailureIsTold() throws Exception {
    run();
    target().failuresLeft.set(1);
    assertNull(payments.pay(order("judged")));
    RealDaemon.until("it is accepted", () -> target().told.contains("judged: judged"));
    target().failuresLeft.set(100);
    assertNull(payments.pay(order("44")));
    RealDaemon.until("its owner is told", () -> target().told.contains("44: java.io.IOException: gateway down"));
    assertEquals(95, target().failuresLeft.get(), "five attempts, the first included");
  }

  @Test
  void tasksOfOthersRunInAnnotatedHandlers() throws Exception {
    run();
    String id = app.client().submit("mail.send", "ann", List.of(1, 2)).id();
    assertEquals("succeeded", app.client().await(id, Duration.ofMinutes(1)).outcome());
    assertTrue(target().told.contains("ann[1, 2]1"));
  }

  @Test
  void theWorkerStopsWithTheLifecycleAndHandsBackWhatRuns() throws Exception {
    run();
    String id = app.client().submit("stuck").id();
    assertTrue(target().stuck.await(60, TimeUnit.SECONDS));
    context.stop(); // beans are destroyed later, by close
    assertFalse(app.running());
    StoredTask task = app.client().find(id);
    assertEquals("pending", task.state());
    assertEquals(0, task.attempts());
  }

  @Test
  void healthFollowsTheDaemon() {
    run();
    HealthIndicator health = context.getBean("easyretryHealthIndicator", HealthIndicator.class);
    assertEquals(Status.UP, health.health().getStatus());
    assertEquals("running", health.health().getDetails().get("worker"));
    daemon.close();
    assertEquals(Status.DOWN, health.health().getStatus());
    assertTrue(health.health().getDetails().get("error").toString().contains("127.0.0.1"));
  }

  @Test
  void strategiesAndNestingFollowTheAnnotation() throws Exception {
    run("easyretry.worker=false");
    assertFalse(app.running());
    try (Manual manual = new Manual(app)) {
      assertThrows(Payments.CardRefused.class, () -> payments.pay(order("refused")));
      assertEquals("rejected", manual.ended().get(0).outcome(), "ON_FAILURE keeps it in history");
      target().failuresLeft.set(1);
      assertNull(payments.outer(order("45")));
      assertEquals(List.of("payment.outer"), manual.live().stream().map(task -> task.handler()).toList());
      assertEquals(1, manual.runAll());
      assertEquals("paid 45", manual.ended().get(1).result());
      target().failuresLeft.set(1);
      assertEquals("later", payments.around(order("47")));
      assertEquals(List.of("payment.pay"), manual.live().stream().map(task -> task.handler()).toList());
      assertEquals(1, manual.runAll());
      target().calls.set(0);
      assertEquals(7, payments.lookUp());
      assertEquals(3, target().calls.get());
      assertThrows(IOException.class, payments::rethrown);
      assertEquals("payment.rethrown", manual.live().get(0).handler());
      Retryables retryables = context.getBean(Retryables.class);
      retryables.store("payment.pay", "by hand", order("46"));
      assertEquals("46", manual.live().get(1).key());
      assertThrows(IllegalArgumentException.class, () -> retryables.submit("payment.unknown"));
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class LateApplication {
    @Bean
    @Lazy
    LateBean lateBean() {
      return new LateBean("lazy");
    }

    @Bean
    @Scope("prototype")
    EachTimeBean eachTimeBean() {
      return new EachTimeBean();
    }
  }

  static class LateBean {
    static final AtomicInteger MADE = new AtomicInteger();
    final String name;

    LateBean(String name) {
      this.name = name;
      MADE.incrementAndGet();
    }

    @Retryable(value = "late", lease = "5m")
    public String say() {
      return name;
    }
  }

  static class EachTimeBean {
    final AtomicInteger calls = new AtomicInteger();

    @RetryHandler("each_time")
    int call() {
      return calls.incrementAndGet();
    }
  }

  @Test
  void lazyBeansAndPrototypesAreHandlersToo() throws Exception {
    context = started(LateApplication.class, "easyretry.worker=false");
    LateBean.MADE.set(0);
    app = context.getBean(App.class);
    try (Manual manual = new Manual(app)) {
      app.client().submit("late");
      app.client().submit("each_time", 1);
      app.client().submit("each_time", 2);
      assertEquals(0, LateBean.MADE.get(), "it is made when it is needed");
      assertEquals(3, manual.runAll());
      assertEquals(List.of("lazy", 1L, 1L), manual.ended().stream().map(task -> task.result()).toList());
    }
  }

  static class Primitive {
    @Retryable
    public int wrong() {
      return 0;
    }
  }

  static class Unnamed {
    @Retryable(onSuccess = "nowhere")
    public void wrong() { }
  }

  static class Unspoken {
    @Retryable(persistStrategy = PersistStrategy.ALWAYS, successCondition = "#{result.}")
    public void wrong() { }
  }

  static class Endless {
    @Retryable(maxRetryDuration = "for ever")
    public void wrong() { }
  }

  @Test
  void anAnnotationThatCannotWorkKeepsTheApplicationFromStarting() {
    for (Class<?> wrong : List.of(Primitive.class, Unnamed.class, Unspoken.class, Endless.class)) {
      Throwable error = assertThrows(RuntimeException.class, () -> new SpringApplicationBuilder(Application.class, wrong)
          .properties("spring.main.banner-mode=off", "logging.level.root=off", "easyretry.worker=false").run().close());
      assertTrue(error.getMessage().contains("wrong()"), error.getMessage());
    }
  }
}
