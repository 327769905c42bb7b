package easyretry.migrating;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.aizuda.snailjob.client.core.annotation.Retryable;
import easyretry.App;
import easyretry.migrating.Gateway.CardRefused;
import easyretry.migrating.Gateway.Order;
import easyretry.testing.Manual;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.retry.annotation.EnableRetry;

/** The code of docs/migrating.md, before and after: the same failures, the same number of calls, the same refund. */
class MigratingTest {
  private static final Order ORDER = new Order("42");

  @Configuration(proxyBeanMethods = false)
  @EnableRetry
  @Import({Gateway.class, SpringRetryPayments.class})
  static class Before { }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @Import({Gateway.class, EasyRetryPayments.class})
  static class After { }

  private static void with(Class<?> application, Consumer<ConfigurableApplicationContext> check) {
    try (ConfigurableApplicationContext context = new SpringApplicationBuilder(application)
        .properties("spring.main.banner-mode=off", "logging.level.root=warn", "easyretry.worker=false").run()) {
      check.accept(context);
    }
  }

  @Test
  void beforeTheCallerWaitsForTheReceiptOrTheRefund() {
    with(Before.class, context -> {
      Gateway gateway = context.getBean(Gateway.class);
      SpringRetryPayments payments = context.getBean(SpringRetryPayments.class);
      gateway.failuresLeft.set(2);
      assertEquals("paid 42", payments.pay(ORDER).text());
      assertEquals(3, gateway.calls.getAndSet(0));
      gateway.failuresLeft.set(100);
      assertEquals("refunded", payments.pay(ORDER).text());
      assertEquals(3, gateway.calls.get());
      assertThrows(RuntimeException.class, () -> payments.pay(new Order("refused")));
    });
  }

  @Test
  void afterAWorkerMakesTheOtherAttempts() {
    with(After.class, context -> {
      Gateway gateway = context.getBean(Gateway.class);
      EasyRetryPayments payments = context.getBean(EasyRetryPayments.class);
      try (Manual manual = new Manual(context.getBean(App.class))) {
        gateway.failuresLeft.set(2);
        assertNull(payments.pay(ORDER));
        assertEquals(2, manual.runAll());
        assertEquals("succeeded", manual.ended().get(0).outcome());
        assertEquals(3, gateway.calls.getAndSet(0));
        gateway.failuresLeft.set(100);
        assertNull(payments.pay(ORDER));
        manual.runAll();
        assertEquals(3, gateway.calls.get());
        assertEquals(List.of("42"), gateway.refunds);
        assertThrows(CardRefused.class, () -> payments.pay(new Order("refused")));
        assertTrue(manual.live().isEmpty());
      }
    });
  }

  @Test
  void theAnnotationOfSnailJobIsTheOneThatIsShown() throws Exception {
    Retryable before = SnailJobPayments.class.getMethod("pay", Order.class).getAnnotation(Retryable.class);
    assertNotNull(before);
    assertEquals("payment.pay", before.scene());
  }
}
