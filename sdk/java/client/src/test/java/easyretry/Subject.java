package easyretry;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ResourceBundle;

/** The subject of the conformance suite: sdk/conformance/README.md says what it does. */
public final class Subject {
  private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  private final App app = new App(new Settings().concurrency((int) number("CONCURRENCY")).lease(millis("LEASE_MS"))
      .waiting(millis("WAIT_MS")).drain(millis("DRAIN_MS")).mostPause(millis("PAUSE_MS")).timeout(millis("TIMEOUT_MS"))
      .patience(millis("TIMEOUT_MS")).log(new Spoken()));

  private static long number(String name) {
    return Long.parseLong(System.getenv("CONFORM_" + name));
  }

  private static Duration millis(String name) {
    return Duration.ofMillis(number(name));
  }

  private static void say(String event, Object... more) {
    Map<String, Object> line = new LinkedHashMap<>(Map.of("event", event));
    for (int i = 0; i < more.length; i += 2) {
      line.put((String) more[i], more[i + 1]);
    }
    synchronized (OUT) {
      OUT.println(Json.write(line));
    }
  }

  /** Prints warnings and errors. */
  private record Spoken() implements System.Logger {
    @Override
    public String getName() {
      return "easyretry";
    }

    @Override
    public boolean isLoggable(Level level) {
      return level.compareTo(Level.WARNING) >= 0;
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String text, Throwable error) {
      log(level, bundle, text);
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String text, Object... params) {
      if (isLoggable(level)) {
        say("error", "text", text);
      }
    }
  }

  private interface Body {
    Object run(Map<?, ?> argument, Task task) throws Exception;
  }

  /** A handler that prints its beginning and its end. */
  private void handler(String name, Handler.Options options, Body body) {
    app.handler("conform." + name, options, task -> {
      say("begin", "handler", "conform." + name, "id", task.id(), "key", task.key(), "attempt", task.attempt());
      try {
        return body.run((Map<?, ?>) task.args().get(0), task);
      } finally {
        say("end", "key", task.key(), "attempt", task.attempt());
      }
    });
  }

  private void handler(String name, Body body) {
    handler(name, Handler.Options.DEFAULT, body);
  }

  private void register() {
    handler("ok", (argument, task) -> Map.of("ok", true, "given", argument));
    handler("none", (argument, task) -> null);
    handler("batched", Handler.Options.DEFAULT.batched(), (argument, task) -> null);
    handler("fail", (argument, task) -> {
      throw new IllegalStateException("told to fail");
    });
    handler("fail_once", (argument, task) -> {
      if (task.attempt() == 1) {
        throw new IllegalStateException("told to fail");
      }
      return null;
    });
    handler("slow", Subject::slow);
    handler("never", (argument, task) -> {
      while (true) {
        try {
          Thread.sleep(Long.MAX_VALUE);
        } catch (InterruptedException ignored) {
          // It pays no attention to being cancelled.
        }
      }
    });
    handler("give_up", (argument, task) -> {
      throw new GiveUp("no mailbox");
    });
    handler("retry_after", (argument, task) -> {
      if (task.attempt() == 1) {
        throw new RetryAfter(Duration.ofMillis((Long) argument.get("ms")), "busy");
      }
      return null;
    });
    handler("progress", (argument, task) -> {
      task.progress("half");
      return slow(argument, task);
    });
    handler("trace", (argument, task) -> {
      say("trace", "key", task.key(), "traceparent", task.traceparent());
      app.client().submit(new NewTask("conform.none", Map.of()).key("child"));
      return null;
    });
    handler("judged", (argument, task) -> argument.get("result"));
    handler("throws", (argument, task) -> {
      throw Subject.<RuntimeException>thrown((String) argument.get("what"));
    });
    handler("returns", (argument, task) -> returned((String) argument.get("what")));
  }

  /** Interrupted when it is cancelled, as any handler that blocks. */
  private static Object slow(Map<?, ?> argument, Task task) throws InterruptedException {
    try {
      Thread.sleep((Long) argument.get("ms"));
      return null;
    } catch (InterruptedException error) {
      say("cancelled", "key", task.key(), "attempt", task.attempt());
      throw error;
    }
  }

  private static final class Untold extends RuntimeException {
    @Override
    public String getMessage() {
      throw new IllegalStateException("no text");
    }
  }

  @SuppressWarnings("unchecked") // so that a lambda may throw any Throwable
  private static <T extends Throwable> T thrown(String what) throws T {
    throw (T) switch (what) {
      case "stranger" -> new StackOverflowError();
      case "empty" -> new Exception();
      case "nul" -> new Exception("a\0b");
      case "broken" -> new Exception("a\ud800b");
      case "long" -> new Exception("x".repeat(9 << 20));
      default -> new Untold();
    };
  }

  private static Object returned(String what) {
    List<Object> cycle = new ArrayList<>();
    cycle.add(cycle);
    return switch (what) {
      case "nan" -> Double.NaN;
      case "cycle" -> cycle;
      case "stranger" -> Thread.currentThread();
      case "broken" -> "a\ud800b";
      case "huge" -> "x".repeat(9 << 20);
      default -> Map.of("n", 9007199254740993L);
    };
  }

  private void obey(Map<?, ?> command) {
    List<NewTask> tasks = new ArrayList<>();
    if (command.get("do").equals("submit")) {
      Object[] args = ((List<?>) command.get("args")).toArray();
      tasks.add(new NewTask((String) command.get("handler"), args).key((String) command.get("key"))
          .traceparent((String) command.get("traceparent")));
    }
    for (long i = 0; command.get("count") instanceof Long count && i < count; i++) {
      tasks.add(new NewTask((String) command.get("handler"), Map.of()).key("" + command.get("prefix") + i));
    }
    try {
      List<Submitted> stored = tasks.size() == 1 ? List.of(app.client().submit(tasks.get(0))) : app.client().submitMany(tasks);
      say("submitted", "tag", command.get("tag"), "ids", stored.stream().map(Submitted::id).toList());
    } catch (EasyRetryException error) {
      say("refused", "tag", command.get("tag"), "text", error.getMessage());
    }
  }

  private void stop() {
    app.stop();
    say("stopped");
    Runtime.getRuntime().halt(0); // after SIGTERM, Java would end with 143
  }

  private void run() throws Exception {
    register();
    Runtime.getRuntime().addShutdownHook(new Thread(this::stop));
    app.start();
    say("ready");
    BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = commands.readLine()) != null; ) {
      Map<?, ?> command = (Map<?, ?>) Json.read(line);
      if (command.get("do").equals("stop")) {
        break;
      }
      Thread obeys = new Thread(() -> obey(command), "obey");
      obeys.setDaemon(true);
      obeys.start();
    }
    System.exit(0);
  }

  public static void main(String[] arguments) throws Exception {
    new Subject().run();
  }
}
