package easyretry.migrating;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** Fails as often as a test says. */
class Gateway {
  record Order(String id) { }

  record Receipt(String text) { }

  static class GatewayDown extends RuntimeException { }

  static class CardRefused extends RuntimeException { }

  final AtomicInteger failuresLeft = new AtomicInteger();
  final AtomicInteger calls = new AtomicInteger();
  final List<String> refunds = new CopyOnWriteArrayList<>();

  Receipt pay(Order order) {
    calls.incrementAndGet();
    if (order.id().equals("refused")) {
      throw new CardRefused();
    }
    if (failuresLeft.getAndDecrement() > 0) {
      throw new GatewayDown();
    }
    return new Receipt("paid " + order.id());
  }

  Receipt refund(Order order) {
    refunds.add(order.id());
    return new Receipt("refunded");
  }
}
