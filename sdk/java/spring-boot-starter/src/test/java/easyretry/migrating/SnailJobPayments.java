package easyretry.migrating;

import com.aizuda.snailjob.client.core.annotation.Retryable;
import com.aizuda.snailjob.client.core.retryer.RetryType;
import easyretry.migrating.Gateway.CardRefused;
import easyretry.migrating.Gateway.Order;
import easyretry.migrating.Gateway.Receipt;

/** Before, with SnailJob. Three attempts and the backoff are settings of the scene, in its console. */
class SnailJobPayments {
  private final Gateway gateway;

  SnailJobPayments(Gateway gateway) {
    this.gateway = gateway;
  }

  @Retryable(scene = "payment.pay", exclude = CardRefused.class, retryStrategy = RetryType.ONLY_REMOTE,
      bizNo = "#order.id", isThrowException = false)
  public Receipt pay(Order order) {
    return gateway.pay(order);
  }
}
