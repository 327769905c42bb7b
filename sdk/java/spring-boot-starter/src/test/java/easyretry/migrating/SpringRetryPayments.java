package easyretry.migrating;

import easyretry.migrating.Gateway.CardRefused;
import easyretry.migrating.Gateway.GatewayDown;
import easyretry.migrating.Gateway.Order;
import easyretry.migrating.Gateway.Receipt;
import org.springframework.retry.annotation.Backoff;
import org.springframework.retry.annotation.Recover;
import org.springframework.retry.annotation.Retryable;

/** Before, with Spring Retry: the caller waits for all attempts, and a restart forgets them. */
class SpringRetryPayments {
  private final Gateway gateway;

  SpringRetryPayments(Gateway gateway) {
    this.gateway = gateway;
  }

  @Retryable(noRetryFor = CardRefused.class, maxAttempts = 3,
      backoff = @Backoff(delay = 100, multiplier = 2, maxDelay = 1000))
  public Receipt pay(Order order) {
    return gateway.pay(order);
  }

  @Recover
  public Receipt refund(GatewayDown error, Order order) {
    return gateway.refund(order);
  }
}
