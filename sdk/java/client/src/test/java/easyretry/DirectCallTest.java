package easyretry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import easyretry.testing.Manual;
import easyretry.testing.ManualTask;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The five strategies, without a daemon. */
class DirectCallTest {
  private static final Callable<Object> FAILS = () -> {
    throw new IOException("gateway down");
  };
  private static final Callable<Object> REFUSES = () -> {
    throw new IllegalStateException("card refused");
  };

  private final App app = new App(new Settings().url("http://127.0.0.1:1").patience(Duration.ZERO));
  private final Manual manual = new Manual(app);

  @AfterEach
  void close() {
    manual.close();
  }

  private static Rules rules(PersistStrategy persist) {
    return rules(persist, Policy.CONFIGURED);
  }

  private static Rules rules(PersistStrategy persist, Policy policy) {
    return new Rules(persist, List.of(), List.of(IllegalStateException.class), value -> !"no".equals(value), policy,
        Duration.ofSeconds(30));
  }

  private Attempt call(Rules rules, Callable<?> function) throws Exception {
    return new DirectCall(app.client(), rules, new NewTask("pay", "order 42").key("42")).run(function);
  }

  private ManualTask onlyLive() {
    assertEquals(1, manual.live().size());
    return manual.live().get(0);
  }

  @Test
  void aSuccessIsReturnedAndNothingIsStored() throws Exception {
    for (PersistStrategy persist : List.of(PersistStrategy.RETRY_ONLY, PersistStrategy.ON_FAILURE, PersistStrategy.MANUAL,
        PersistStrategy.NEVER)) {
      assertEquals(new Attempt(Attempt.State.SUCCEEDED, "paid", null, null), call(rules(persist), () -> "paid"));
    }
    assertTrue(manual.live().isEmpty() && manual.ended().isEmpty());
  }

  @Test
  void aFailureWorthRetryingIsStoredWithOneAttemptMade() throws Exception {
    for (PersistStrategy persist : List.of(PersistStrategy.RETRY_ONLY, PersistStrategy.ON_FAILURE, PersistStrategy.ALWAYS)) {
      Attempt attempt = call(rules(persist), FAILS);
      assertEquals(Attempt.State.STORED, attempt.state());
      assertEquals(1, onlyLive().attempts());
      assertTrue(onlyLive().lastError().endsWith("gateway down"), onlyLive().lastError());
      manual.cancel(attempt.task());
    }
  }

  @Test
  void theRetryOfAFailedCallIsDueWhenThePolicySays() throws Exception {
    call(rules(PersistStrategy.RETRY_ONLY), FAILS);
    assertEquals(Duration.ofSeconds(1), onlyLive().due(), "the pause after a first attempt, not at once");
    manual.cancel(onlyLive().id());
    new DirectCall(app.client(), rules(PersistStrategy.MANUAL), new NewTask("pay")).store("by hand");
    assertEquals(Duration.ofSeconds(1), onlyLive().due());
    manual.cancel(onlyLive().id());
    call(rules(PersistStrategy.ON_FAILURE), () -> {
      throw new RetryAfter(Duration.ofSeconds(90), "busy");
    });
    assertEquals(Duration.ofSeconds(90), onlyLive().due(), "what the call has asked for");
  }

  @Test
  void aResultThatIsNoSuccessIsStored() throws Exception {
    assertEquals(Attempt.State.STORED, call(rules(PersistStrategy.RETRY_ONLY), () -> "no").state());
    assertEquals("no", call(rules(PersistStrategy.MANUAL), () -> "no").value());
  }

  @Test
  void aFailureThatIsNotRetriedIsThrownAndSomeStrategiesKeepIt() {
    assertThrows(IllegalStateException.class, () -> call(rules(PersistStrategy.RETRY_ONLY), REFUSES));
    assertTrue(manual.ended().isEmpty());
    for (PersistStrategy persist : List.of(PersistStrategy.ON_FAILURE, PersistStrategy.ALWAYS)) {
      assertThrows(IllegalStateException.class, () -> call(rules(persist), REFUSES));
    }
    assertEquals(List.of("rejected", "rejected"), manual.ended().stream().map(ManualTask::outcome).toList());
    assertThrows(IOException.class, () -> call(rules(PersistStrategy.RETRY_ONLY, Policy.attempts(1)), FAILS));
    assertTrue(manual.live().isEmpty());
  }

  @Test
  void alwaysStoresFirstAndCallsOncePerKey() throws Exception {
    assertEquals("paid", call(rules(PersistStrategy.ALWAYS), () -> {
      assertEquals("pay", onlyLive().handler());
      return "paid";
    }).value());
    assertEquals("paid", manual.ended().get(0).result());
    manual.submit(new NewTask("pay", "order 42").key("42"));
    assertEquals(Attempt.State.STORED, call(rules(PersistStrategy.ALWAYS), () -> {
      throw new AssertionError("called although a task with this key is live");
    }).state());
  }

  @Test
  void manualThrowsAndStoresOnRequest() {
    assertThrows(IOException.class, () -> call(rules(PersistStrategy.MANUAL), FAILS));
    assertTrue(manual.live().isEmpty());
    new DirectCall(app.client(), rules(PersistStrategy.MANUAL), new NewTask("pay")).store("by hand");
    assertEquals("by hand", onlyLive().lastError());
  }

  @Test
  void neverRetriesInTheCallersThread() throws Exception {
    AtomicInteger calls = new AtomicInteger();
    Policy quick = Policy.attempts(4).backoff("exponential first=1ms cap=2ms");
    assertEquals("paid", call(rules(PersistStrategy.NEVER, quick), () -> {
      if (calls.incrementAndGet() < 4) {
        throw new IOException("gateway down");
      }
      return "paid";
    }).value());
    calls.set(0);
    assertThrows(IOException.class, () -> call(rules(PersistStrategy.NEVER, quick), () -> {
      calls.incrementAndGet();
      throw new IOException("gateway down");
    }));
    assertEquals(4, calls.get());
    assertTrue(manual.live().isEmpty());
  }

  private Attempt outer(PersistStrategy persist, Callable<?> function) throws Exception {
    return new DirectCall(app.client(), rules(persist), new NewTask("checkout")).run(function);
  }

  @Test
  void aCallInAFirstAttemptThatIsNotStoredIsLikeAnyOther() throws Exception {
    for (PersistStrategy persist : List.of(PersistStrategy.RETRY_ONLY, PersistStrategy.ON_FAILURE, PersistStrategy.MANUAL,
        PersistStrategy.NEVER)) {
      for (PersistStrategy inner : List.of(PersistStrategy.RETRY_ONLY, PersistStrategy.ON_FAILURE, PersistStrategy.ALWAYS)) {
        Attempt outer = outer(persist, () -> call(rules(inner), FAILS).state());
        assertEquals(Attempt.State.STORED, outer.value(), persist + " around " + inner);
        assertEquals("pay", onlyLive().handler());
        manual.cancel(onlyLive().id());
      }
    }
  }

  @Test
  void aCallInATaskOrInAnAttemptThatIsStoredOnlyCalls() throws Exception {
    assertEquals(Attempt.State.STORED, outer(PersistStrategy.ALWAYS, () -> call(rules(PersistStrategy.ALWAYS), FAILS)).state());
    assertEquals("checkout", onlyLive().handler());
    app.handler("checkout", task -> call(rules(PersistStrategy.RETRY_ONLY), FAILS));
    manual.runNext();
    assertEquals(2, onlyLive().attempts());
    manual.cancel(onlyLive().id());
    assertEquals(Attempt.State.FAILED, outer(PersistStrategy.ALWAYS, () -> call(rules(PersistStrategy.ALWAYS), () -> "no").state())
        .value());
  }

  @Test
  void aCallInARetryOfNeverOnlyCalls() throws Exception {
    List<Object> inner = new ArrayList<>();
    Rules quick = rules(PersistStrategy.NEVER, Policy.attempts(2).backoff("fixed delay=1ms"));
    assertThrows(IOException.class, () -> new DirectCall(app.client(), quick, new NewTask("checkout")).run(() -> {
      inner.add(call(rules(PersistStrategy.RETRY_ONLY), FAILS).state());
      throw new IOException("so that there is a retry");
    }));
    assertEquals(List.of(Attempt.State.STORED), inner);
    onlyLive();
  }

  /** Stores, and cannot be told how a call has ended. */
  private static final class Refusing extends Client {
    private final EasyRetryException trouble;

    Refusing(EasyRetryException trouble, Said said) {
      super(new Settings().url("http://127.0.0.1:1").log(said));
      this.trouble = trouble;
    }

    @Override
    public Submitted submit(NewTask task) {
      return new Submitted("1", "k", true, 1);
    }

    @Override
    public void settle(Submitted leased, Outcome outcome) {
      throw trouble;
    }
  }

  private static Attempt refused(EasyRetryException trouble, PersistStrategy persist, Callable<?> function) throws Exception {
    Said said = new Said();
    try {
      return new DirectCall(new Refusing(trouble, said), rules(persist), new NewTask("pay")).run(function);
    } finally {
      assertTrue(said.lines.size() == 1 && said.lines.get(0).contains("may run again"), said.lines.toString());
    }
  }

  @Test
  void theValueOfASuccessThatCannotBeReportedReachesTheCaller() throws Exception {
    for (EasyRetryException trouble : List.of(new EasyRetryException.Conflict(409, "lease_lost", "the lease expired"),
        new EasyRetryException.Unavailable("no daemon", null), new EasyRetryException.InDoubt("no answer", null))) {
      assertEquals("paid", refused(trouble, PersistStrategy.ALWAYS, () -> "paid").value());
    }
  }

  @Test
  void aFailureWhoseEndCannotBeReportedReachesTheCallerAsItIs() throws Exception {
    EasyRetryException lost = new EasyRetryException.Conflict(409, "lease_lost", "the lease expired");
    for (PersistStrategy persist : List.of(PersistStrategy.ALWAYS, PersistStrategy.ON_FAILURE)) {
      assertThrows(IllegalStateException.class, () -> refused(lost, persist, REFUSES));
      assertEquals(Attempt.State.STORED, refused(lost, persist, FAILS).state());
    }
  }

  @Test
  void anInterruptIsNoFailure() throws Exception {
    for (PersistStrategy persist : PersistStrategy.values()) {
      AtomicInteger calls = new AtomicInteger();
      assertThrows(InterruptedException.class, () -> call(rules(persist), () -> {
        calls.incrementAndGet();
        throw new InterruptedException();
      }));
      assertTrue(Thread.interrupted(), "whoever interrupted this thread wants it to end");
      assertEquals(1, calls.get());
      if (persist == PersistStrategy.ALWAYS) { // a worker takes over when its lease has expired
        assertEquals(0, onlyLive().attempts());
        manual.cancel(onlyLive().id());
      }
      assertTrue(manual.live().isEmpty(), persist.toString());
    }
  }

  @Test
  void anInterruptEndsThePauseBetweenAttemptsWithTheirFailure() {
    Rules slow = rules(PersistStrategy.NEVER, Policy.attempts(2).backoff("fixed delay=60s"));
    assertThrows(IOException.class, () -> call(slow, () -> {
      Thread.currentThread().interrupt();
      throw new IOException("gateway down");
    }));
    assertTrue(Thread.interrupted());
  }

  @Test
  void aFailureThatCannotBeStoredHasBothReasons() {
    manual.close();
    DirectCall.NotStored error =
        assertThrows(DirectCall.NotStored.class, () -> call(rules(PersistStrategy.RETRY_ONLY), FAILS));
    assertEquals("gateway down", error.getCause().getMessage());
    assertSame(EasyRetryException.Unavailable.class, error.getSuppressed()[0].getClass());
  }

  @Test
  void backoffsOfAThreadAreThoseOfTheConfiguration() {
    assertEquals(Duration.ofSeconds(1), Backoff.parsed(null).delay(5));
    assertEquals(Duration.ofMillis(1500), Backoff.parsed("fixed delay=1.5s").delay(1));
    assertEquals(Duration.ofSeconds(5), Backoff.parsed("linear first=1s step=2s").delay(3));
    assertEquals(Duration.ofSeconds(8), Backoff.parsed("exponential first=1s").delay(3));
    assertEquals(Duration.ofMinutes(15), Backoff.parsed("exponential first=1s").delay(100));
    for (String wrong : List.of("", "often", "fixed delay=soon", "exponential factor=x")) {
      assertThrows(IllegalArgumentException.class, () -> Backoff.parsed(wrong), wrong);
    }
  }
}
