package easyretry.spring;

import easyretry.Outcome;
import easyretry.Task;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;

/** Handlers are few, so they may be a tag; ids and keys may not. */
final class MicrometerMeters extends Meters {
  private final MeterRegistry registry;

  MicrometerMeters(MeterRegistry registry) {
    this.registry = registry;
  }

  @Override
  void called(String handler, String how) {
    registry.counter("easyretry.calls", "handler", handler, "end", how).increment();
  }

  @Override
  public void attempted(Task task, Outcome attempt, Duration time) {
    String end = switch (attempt.verb()) {
      case "fail" -> "failed";
      case "hand_back" -> "handed_back";
      default -> "returned";
    };
    registry.timer("easyretry.attempts", "handler", task.handler(), "end", end).record(time);
  }

  @Override
  public void settled(Task task, Outcome attempt, String outcome) {
    registry.counter("easyretry.settled", "handler", task.handler(), "outcome", outcome == null ? "retried" : outcome).increment();
  }

  @Override
  public void leaseLost(Task task) {
    registry.counter("easyretry.leases.lost", "handler", task.handler()).increment();
  }
}
