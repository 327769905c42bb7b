package easyretry.spring;

import easyretry.PersistStrategy;
import easyretry.Task;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Lazy;

/** The payment of the documents: five attempts within an hour and before the order expires, success by status code. */
class Payments {
  record Order(String id, Instant expires) { }

  record Receipt(int code, String text) { }

  static class CardRefused extends RuntimeException {
    CardRefused() {
      super("card refused");
    }
  }

  final AtomicInteger failuresLeft = new AtomicInteger();
  final AtomicInteger calls = new AtomicInteger();
  final List<String> told = new CopyOnWriteArrayList<>();
  final CountDownLatch stuck = new CountDownLatch(1);

  @Autowired
  @Lazy
  Payments self;

  @Retryable(value = "payment.pay", persistStrategy = PersistStrategy.ON_FAILURE, noRetryFor = CardRefused.class,
      successCondition = "#{result.code == 200}", maxAttempts = 5, maxRetryDuration = "1h", deadline = "#order.expires",
      backoff = "fixed delay=100ms", key = "#order.id", businessType = "order", businessId = "#order.id",
      onSuccess = "paid", onFinalFailure = "failed")
  public Receipt pay(Order order) throws IOException {
    calls.incrementAndGet();
    return switch (order.id()) {
      case "refused" -> throw new CardRefused();
      case "judged" -> new Receipt(failuresLeft.getAndDecrement() > 0 ? 500 : 200, "judged");
      default -> {
        if (failuresLeft.getAndDecrement() > 0) {
          throw new IOException("gateway down");
        }
        yield new Receipt(200, "paid " + order.id());
      }
    };
  }

  private void paid(Receipt receipt, Order order) {
    told.add(order.id() + ": " + receipt.text());
  }

  private void failed(String error, Order order) {
    told.add(order.id() + ": " + error);
  }

  @Retryable(value = "payment.outer", persistStrategy = PersistStrategy.ALWAYS)
  public String outer(Order order) throws IOException {
    return self.pay(order).text();
  }

  @Retryable(persistStrategy = PersistStrategy.NEVER, maxAttempts = 1)
  public String around(Order order) throws IOException {
    Receipt receipt = self.pay(order);
    return receipt == null ? "later" : receipt.text();
  }

  @Retryable(persistStrategy = PersistStrategy.NEVER, maxAttempts = 3, backoff = "fixed delay=1ms")
  public int lookUp() throws IOException {
    if (calls.incrementAndGet() < 3) {
      throw new IOException("cache down");
    }
    return 7;
  }

  @Retryable(value = "payment.rethrown", rethrow = true, maxAttempts = 2, backoff = "fixed delay=1h")
  public int rethrown() throws IOException {
    throw new IOException("gateway down");
  }

  @RetryHandler("mail.send")
  void send(String to, List<Integer> numbers) {
    told.add(to + numbers + Task.current().attempt());
  }

  @RetryHandler("stuck")
  void stick() throws InterruptedException {
    stuck.countDown();
    Thread.sleep(60_000);
  }
}
