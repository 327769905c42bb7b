package easyretry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** With a real daemon: the example of the README, and what the conformance suite does not ask of every language. */
class DaemonTest {
  private static final Duration LONG = Duration.ofMinutes(1);

  @TempDir
  Path folder;
  private RealDaemon daemon;
  private App app;

  @BeforeEach
  void start() throws Exception {
    daemon = new RealDaemon(folder, "defaults: {backoff: fixed delay=100ms, max_attempts: 3}\n");
    app = new App(daemon.settings());
  }

  @AfterEach
  void stop() {
    app.stop();
    daemon.close();
  }

  @Test
  void theQuickstartOfTheReadmeRunsAndIsShort() throws Exception {
    Path sdk = Path.of(System.getProperty("basedir", ".")).toAbsolutePath().getParent();
    Matcher code = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL).matcher(Files.readString(sdk.resolve("README.md")));
    assertTrue(code.find());
    assertTrue(code.group(1).lines().filter(line -> !line.isBlank()).count() <= 15);
    Path source = Files.writeString(folder.resolve("Quickstart.java"), code.group(1).replace("http://127.0.0.1:7077", daemon.url()));
    Path classes = Path.of(App.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    ProcessBuilder builder = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-cp", classes.toString(), source.toString()).redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().put("EASYRETRY_TOKEN", daemon.token("application"));
    Process process = builder.start();
    try (BufferedReader lines = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      assertEquals("mail to ann", lines.readLine());
      process.destroy();
      assertTrue(process.waitFor(60, TimeUnit.SECONDS), "it did not stop");
      assertEquals(143, process.exitValue());
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void aTaskIsWaitedForAndHasItsOutcome() {
    app.handler("double", task -> 2 * task.arg(0, int.class));
    app.start();
    Submitted stored = app.client().submit("double", 21);
    StoredTask ended = app.client().await(stored.id(), LONG);
    assertEquals("succeeded", ended.outcome());
    assertEquals(1, ended.attempts());
    assertEquals(stored.id(), app.client().find(stored.id()).id());
  }

  @Test
  void aCallThatFailedIsDueWhenThePolicySays() throws Exception {
    Rules rules = new Rules(PersistStrategy.RETRY_ONLY, List.of(), List.of(), null, Policy.CONFIGURED.backoff("fixed delay=1h"),
        Duration.ofSeconds(30));
    Attempt called = new DirectCall(app.client(), rules, new NewTask("pay", 1)).run(() -> {
      throw new IOException("busy");
    });
    String byHand = new DirectCall(app.client(), rules, new NewTask("pay", 2)).store("busy").id();
    for (String id : List.of(called.task(), byHand)) {
      Map<String, Object> task = app.client().daemon().get("/v1/tasks/" + id, Duration.ZERO);
      assertEquals("pending", task.get("state"));
      assertEquals(1L, task.get("attempts"));
      assertTrue(task.get("last_error").toString().endsWith("busy"));
      Duration later = Duration.between(Instant.parse((String) task.get("created_at")), Instant.parse((String) task.get("next_at")));
      assertTrue(later.toMinutes() > 50, later.toString());
    }
  }

  @Test
  void anOperatorCancelsAndRetriesTasks() {
    Client operator = new Client(daemon.settings().token(daemon.token("operator")));
    NewTask later = new NewTask("later").delay(Duration.ofHours(1));
    Submitted first = app.client().submit(new NewTask(later).key("a"));
    operator.cancel(first.id());
    assertEquals("cancelled", app.client().find(first.id()).outcome());
    assertEquals("ended", assertThrows(EasyRetryException.Conflict.class, () -> operator.cancel(first.id())).code());
    Submitted second = app.client().submit(new NewTask(later).key("b"));
    operator.retry(second.id());
    app.handler("later", task -> null).start();
    assertEquals("succeeded", app.client().await(second.id(), LONG).outcome());
    assertThrows(EasyRetryException.Unauthorized.class, () -> app.client().cancel(first.id()));
    assertEquals("not_found", assertThrows(EasyRetryException.Refused.class, () -> app.client().find("1")).code());
  }

  @Test
  void aHandlerWithATimeoutIsInterruptedAndFails() {
    app.handler("slow", Handler.Options.DEFAULT.timeout(Duration.ofMillis(200)), task -> {
      Thread.sleep(60_000);
      return null;
    });
    app.start();
    StoredTask ended = app.client().await(
        app.client().submit(new NewTask("slow").policy(Policy.attempts(1))).id(), LONG);
    assertEquals("exhausted", ended.outcome());
    assertTrue(ended.lastError().startsWith("timed out: "), ended.lastError());
  }

  @Test
  void aListenerIsToldAndMayFail() throws Exception {
    List<String> told = new CopyOnWriteArrayList<>();
    App listened = new App(daemon.settings().listener(new Listener() {
      @Override
      public void attempted(Task task, Outcome attempt, Duration time) {
        told.add("attempted " + attempt.verb());
        throw new IllegalStateException("hush");
      }

      @Override
      public void settled(Task task, Outcome attempt, String outcome) {
        told.add("settled " + outcome);
        throw new StackOverflowError();
      }
    }));
    listened.handler("fails", task -> {
      throw new IllegalStateException("x");
    });
    listened.handler("batched", Handler.Options.DEFAULT.batched(), task -> null);
    try (listened) {
      listened.start();
      listened.client().await(listened.client().submit(new NewTask("fails").policy(Policy.attempts(2))).id(), LONG);
      RealDaemon.until("told", () -> told.size() == 4);
      assertEquals(List.of("attempted fail", "settled null", "attempted fail", "settled exhausted"), told);
      listened.client().await(listened.client().submit("batched").id(), LONG);
      RealDaemon.until("told", () -> told.size() == 6);
      assertEquals(List.of("attempted finish", "settled succeeded"), told.subList(4, 6));
    }
  }

  @Test
  void aBatchIsStoredInOrderAndLargerOnesInSeveralRequests() {
    List<Submitted> stored = app.client().submitMany(
        IntStream.range(0, 10_001).mapToObj(i -> new NewTask("many", i).key("k" + i)).toList());
    assertEquals(10_001, stored.stream().map(Submitted::id).distinct().count());
    assertEquals("k10000", stored.get(10_000).key());
  }

  @Test
  void aWorkerStopsWithoutLosingTheTaskThatItHolds() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    app.handler("stuck", task -> {
      begun.countDown();
      Thread.sleep(60_000);
      return null;
    });
    app.start();
    String id = app.client().submit("stuck").id();
    assertTrue(begun.await(60, TimeUnit.SECONDS));
    assertEquals(1, app.held());
    app.stop();
    assertFalse(app.running());
    assertEquals("pending", app.client().find(id).state());
    assertEquals(0, app.client().find(id).attempts());
    app.start(); // an application may work again
    RealDaemon.until("it runs again", () -> app.held() == 1);
  }

  @Test
  void aTokenIsReadAgainWhenTheDaemonDoesNotKnowItAnyMore() throws Exception {
    Path file = Files.writeString(folder.resolve("token"), "er_old_and_forgotten");
    Client client = new Client(daemon.settings().tokenFile(file.toString()));
    assertThrows(EasyRetryException.Unauthorized.class, client::whoami);
    Files.writeString(file, daemon.token("application"));
    assertNotNull(client.whoami().get("version"));
  }
}
