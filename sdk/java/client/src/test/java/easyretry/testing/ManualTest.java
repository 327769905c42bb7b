package easyretry.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import easyretry.App;
import easyretry.Client;
import easyretry.EasyRetryException;
import easyretry.GiveUp;
import easyretry.NewTask;
import easyretry.Policy;
import easyretry.RetryAfter;
import easyretry.Submitted;
import easyretry.Task;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ManualTest {
  record Mail(String to) { }

  private final List<String> sent = new ArrayList<>();
  private final App app = new App("http://127.0.0.1:1").action("mail.send", Mail.class, mail -> sent.add(mail.to()));

  private void signUp(String name) {
    app.client().submit("mail.send", new Mail(name));
  }

  @Test
  void tasksRunByHandWithoutADaemon() {
    try (Manual manual = new Manual(app)) {
      signUp("ann");
      manual.runAll();
      assertEquals("succeeded", manual.ended().get(0).outcome());
    }
    assertEquals(List.of("ann"), sent);
  }

  @Test
  void theClientOfTheApplicationComesBack() {
    Client before = app.client();
    try (Manual manual = new Manual(app)) {
      assertSame(manual, app.client());
    }
    assertEquals(before, app.client());
  }

  @Test
  void failuresAreRetriedUntilTheAttemptsAreUsedUp() {
    app.handler("fails", task -> {
      throw new IllegalStateException("attempt " + task.attempt());
    });
    try (Manual manual = new Manual(app)) {
      app.client().submit(new NewTask("fails").policy(Policy.attempts(3)));
      assertEquals(3, manual.runAll());
      assertEquals("exhausted", manual.ended().get(0).outcome());
      assertTrue(manual.ended().get(0).lastError().endsWith("attempt 3"));
      assertEquals(Duration.ofSeconds(2), manual.now());
    }
  }

  @Test
  void aHandlerSaysWhenAndWhether() {
    app.handler("asks", task -> {
      if (task.attempt() == 1) {
        throw new RetryAfter(Duration.ofMinutes(5), "busy");
      }
      throw new GiveUp("enough");
    });
    try (Manual manual = new Manual(app)) {
      app.client().submit("asks");
      assertEquals(2, manual.runAll());
      assertEquals(Duration.ofMinutes(5), manual.now());
      assertEquals("rejected", manual.ended().get(0).outcome());
    }
  }

  @Test
  void oneLiveTaskPerKey() {
    try (Manual manual = new Manual(app)) {
      NewTask task = new NewTask("mail.send", new Mail("ann")).key("k");
      Submitted first = app.client().submit(task);
      assertFalse(app.client().submit(task).created());
      assertThrows(EasyRetryException.Conflict.class, () -> app.client().submit(task.onDuplicate("reject")));
      manual.cancel(first.id());
      assertEquals("cancelled", manual.find(first.id()).outcome());
      assertTrue(app.client().submit(task).created());
    }
  }

  @Test
  void progressAndResultsAreKept() {
    app.handler("returns", task -> {
      Task.current().progress("half");
      return Map.of("n", 7);
    });
    try (Manual manual = new Manual(app)) {
      app.client().submitMany(List.of(new NewTask("returns").key("a"), new NewTask("returns").key("b").delay(Duration.ofHours(1))));
      assertEquals(2, manual.runAll());
      assertEquals(Map.of("n", 7L), manual.ended().get(0).result());
      assertEquals("half", manual.ended().get(1).progress());
      assertEquals(Duration.ofHours(1), manual.now());
    }
  }
}
