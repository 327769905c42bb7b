package easyretry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What needs no daemon. */
class PartsTest {
  private static Task task(Object... args) {
    return new Task(Map.of("id", "1", "version", 1L, "handler", "h", "args", List.of(args)), new Records());
  }

  private static Handler.Named named(Handler handler) {
    return new Handler.Named("h", handler, Handler.Options.DEFAULT);
  }

  @Test
  void pausesDoubleUpToTheMostAndAreSpread() {
    Pauses pauses = new Pauses(Duration.ofSeconds(1));
    EasyRetryException error = new EasyRetryException.Unavailable("away", null);
    for (long usual : new long[] {100, 200, 400, 800, 1000, 1000}) {
      long pause = pauses.next(error);
      assertTrue(usual / 2 <= pause && pause <= usual, pause + " of " + usual);
    }
    pauses.reset();
    assertTrue(pauses.next(error) <= 100);
    error.after(Duration.ofSeconds(30));
    assertTrue(pauses.next(error) >= 30_000);
  }

  @Test
  void retryAfterIsSecondsOrADateAndBounded() {
    assertEquals(Duration.ofMillis(1500), Daemon.retryAfter("1.5"));
    assertEquals(Duration.ofSeconds(300), Daemon.retryAfter("99999999"));
    assertNull(Daemon.retryAfter(""));
    assertNull(Daemon.retryAfter("soon"));
    String date = DateTimeFormatter.RFC_1123_DATE_TIME.format(Instant.now().plusSeconds(100).atOffset(ZoneOffset.UTC));
    assertTrue(Daemon.retryAfter(date).toSeconds() > 60);
  }

  @Test
  void addressesThatWouldShowTheTokenAreRefused() {
    for (String url : List.of("http://retry.example:7077", "http://127.example", "ftp://127.0.0.1", "127.0.0.1:7077",
        "http://127.0.0.1:7077/v1", "http://u:p@127.0.0.1", "", "http://")) {
      assertThrows(IllegalArgumentException.class, () -> new Address(url, null), url);
    }
    for (String url : List.of("http://127.0.0.1:7077", "http://localhost", "http://[::1]:7077/", "https://retry.example")) {
      new Address(url, null);
    }
  }

  @Test
  void settingsOutOfRangeAreRefusedByName() {
    Settings settings = new Settings();
    for (Runnable wrong : List.<Runnable>of(() -> settings.concurrency(0), () -> settings.batch(1001),
        () -> settings.lease(Duration.ZERO), () -> settings.waiting(Duration.ofSeconds(61)))) {
      assertThrows(IllegalArgumentException.class, wrong::run);
    }
    assertThrows(IllegalArgumentException.class, () -> new Client(new Settings().token("a\nb")));
    String message = assertThrows(IllegalArgumentException.class,
        () -> new Client(new Settings().url("https://127.0.0.1").caFile("/nowhere"))).getMessage();
    assertTrue(message.contains("/nowhere"), message);
  }

  @Test
  void aTokenFileBeginsWithTheToken(@TempDir Path folder) throws Exception {
    Path file = Files.writeString(folder.resolve("token"), "");
    Settings settings = new Settings().tokenFile(file.toString());
    assertThrows(IllegalArgumentException.class, () -> new Client(settings));
    Files.writeString(file, "er_abc  # of the mailer\n");
    new Client(settings);
  }

  @Test
  void aSubmissionNamesItsHandlerButNotItsArguments() {
    NewTask task = new NewTask("mail.send", "hush", Double.NaN).key("k");
    assertFalse(task.toString().contains("hush"));
    String message = assertThrows(EasyRetryException.InvalidArguments.class, () -> task.json(new Records())).getMessage();
    assertTrue(message.contains("mail.send") && !message.contains("hush"), message);
    assertFalse(task("hush").toString().contains("hush"));
  }

  @Test
  void aSubmissionHasTheFieldsOfTheApi() {
    NewTask task = new NewTask("h", 1).key("k").delay(Duration.ofSeconds(2)).deadline(Instant.parse("2026-03-01T12:00:00Z"))
        .policy(Policy.attempts(3).backoff("fixed delay=1s")).businessType("order").businessId("42").tags("vip").attempted(1, "broke");
    assertEquals(Json.read("""
        {"handler": "h", "key": "k", "delay_ms": 2000, "deadline": "2026-03-01T12:00:00Z", "business_type": "order",
         "policy": {"max_attempts": 3, "backoff": "fixed delay=1s"}, "business_id": "42", "tags": ["vip"], "attempts": 1,
         "error": "broke", "args": [1]}"""), Json.read(task.json(new Records())));
  }

  @Test
  void aTaskInAHandlerCarriesTheTraceOn() {
    Task task = new Task(Map.of("id", "1", "version", 1L, "handler", "h", "traceparent", "00-a-b-01"), new Records());
    task.run(named(running -> {
      assertTrue(new NewTask("x").json(new Records()).contains("00-a-b-01"));
      assertTrue(new NewTask("x").traceparent("00-c-d-01").json(new Records()).contains("00-c-d-01"));
      return null;
    }));
    assertFalse(new NewTask("x").json(new Records()).contains("traceparent"));
    assertNull(Task.current());
  }

  @Test
  void errorsAreSentAsFarAsTheDaemonTakesThem() {
    assertEquals("a\ufffdb?", Outcome.sendable("a\0b\ud800"));
    String longest = Outcome.sendable("中".repeat(5000) + "end");
    assertTrue(longest.getBytes(StandardCharsets.UTF_8).length <= 4096 && longest.endsWith("end"), longest);
    assertEquals("java.lang.Error", Outcome.errorText(new Error()));
    assertEquals("no mailbox", Outcome.errorText(new GiveUp("no mailbox")));
  }

  @Test
  void aFailureAfterAStopIsHandedBackAndASuccessIsASuccess() {
    Task stopped = task();
    stopped.cancel(Task.Cancellation.STOPPING);
    assertEquals(Outcome.HANDED_BACK, stopped.run(named(task -> {
      throw new IllegalStateException();
    })));
    assertEquals("done", stopped.run(named(task -> 1)).verb());
    Task late = task();
    late.cancel(Task.Cancellation.TIMEOUT);
    assertTrue(late.run(named(task -> {
      throw new IllegalStateException("x");
    })).error().startsWith("timed out: "));
  }

  @Test
  void aCancelledHandlerIsInterruptedAndTheNextOneIsNot() throws Exception {
    Task task = task();
    CountDownLatch begun = new CountDownLatch(1);
    Thread cancels = new Thread(() -> {
      try {
        begun.await();
        task.cancel(Task.Cancellation.LEASE_LOST);
      } catch (InterruptedException error) {
        throw new IllegalStateException(error);
      }
    });
    cancels.start();
    Outcome outcome = task.run(named(running -> {
      begun.countDown();
      Thread.sleep(60_000);
      return null;
    }));
    cancels.join();
    assertTrue(outcome.error().contains("InterruptedException"), outcome.error());
    Task unaware = task();
    unaware.run(named(running -> {
      unaware.cancel(Task.Cancellation.LEASE_LOST);
      return null;
    }));
    assertFalse(Thread.interrupted(), "the interrupt was for the task that has ended");
    Task waiting = task();
    waiting.cancel(Task.Cancellation.STOPPING);
    assertEquals("done", waiting.run(named(running -> running.await(Duration.ofMinutes(1)))).verb());
  }

  @Test
  void handlersHaveNamesOnce() {
    App app = new App(new Settings().url("http://127.0.0.1:1"));
    assertThrows(IllegalStateException.class, app::start);
    app.handler("h", task -> null);
    assertThrows(IllegalArgumentException.class, () -> app.handler("h", task -> null));
    assertThrows(IllegalArgumentException.class, () -> app.handler("", task -> null));
    assertThrows(IllegalArgumentException.class, () -> app.handler("中".repeat(67), task -> null));
  }
}
