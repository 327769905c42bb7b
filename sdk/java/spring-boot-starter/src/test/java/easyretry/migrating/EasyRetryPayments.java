package easyretry.migrating;

import easyretry.migrating.Gateway.CardRefused;
import easyretry.migrating.Gateway.Order;
import easyretry.migrating.Gateway.Receipt;
import easyretry.spring.Retryable;

/** After: the first attempt is made here and now, the others by a worker. The task survives the process. */
class EasyRetryPayments {
  private final Gateway gateway;

  EasyRetryPayments(Gateway gateway) {
    this.gateway = gateway;
  }

  @Retryable(value = "payment.pay", noRetryFor = CardRefused.class, maxAttempts = 3,
      backoff = "exponential first=50ms cap=1s", businessId = "#order.id", onFinalFailure = "refund")
  public Receipt pay(Order order) {
    return gateway.pay(order);
  }

  void refund(Order order) {
    gateway.refund(order);
  }
}
