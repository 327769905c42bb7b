package easyretry.testing;

import easyretry.App;
import easyretry.Client;
import easyretry.EasyRetryException.Conflict;
import easyretry.EasyRetryException.Refused;
import easyretry.Handler;
import easyretry.Json;
import easyretry.Listener;
import easyretry.NewTask;
import easyretry.Outcome;
import easyretry.StoredTask;
import easyretry.Submitted;
import easyretry.Task;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Tests of handlers without a daemon: tasks are kept in memory, and run by hand. Takes the place of an application's client until
 * it is closed. For one thread.
 *
 * <p>Time does not pass by itself: {@link #runNext} moves it to the due time of the next task. The daemon's configuration is not
 * known here: an attempt that failed is due a second later, and there are 16 attempts, unless the task or its handler says more.
 * The application's {@link Listener} is told in this thread, so a callback that throws fails the test.
 */
public final class Manual extends Client implements AutoCloseable {
  private static final Duration RETRY_DELAY = Duration.ofSeconds(1);
  private static final int MAX_ATTEMPTS = 16;

  private final App app;
  private final Client replaced;
  private final List<ManualTask> live = new ArrayList<>();
  private final List<ManualTask> ended = new ArrayList<>();
  private Duration now = Duration.ZERO;

  public Manual(App app) {
    super(app.settings());
    this.app = app;
    replaced = app.client();
    app.client(this);
  }

  @Override
  public void close() {
    app.client(replaced);
  }

  public List<ManualTask> live() {
    return List.copyOf(live);
  }

  /** In the order in which they ended. */
  public List<ManualTask> ended() {
    return List.copyOf(ended);
  }

  /** The time since the test began. */
  public Duration now() {
    return now;
  }

  @Override
  public Submitted submit(NewTask task) {
    Map<?, ?> fields = (Map<?, ?>) Json.read(task.json(codec()));
    String key = fields.get("key") instanceof String given ? given : task.handler() + ":" + Json.write(fields.get("args"));
    for (ManualTask other : live) {
      if (other.handler().equals(task.handler()) && other.key.equals(key)) {
        if ("reject".equals(fields.get("on_duplicate"))) {
          throw new Conflict(409, "duplicate_key", "a task of " + task.handler() + " with this key is live");
        }
        return new Submitted(other.id, key, false, 1);
      }
    }
    long most = fields.get("policy") instanceof Map<?, ?> policy ? number(policy, "max_attempts", MAX_ATTEMPTS) : MAX_ATTEMPTS;
    ManualTask stored = new ManualTask(String.valueOf(live.size() + ended.size() + 1), key, fields,
        now.plusMillis(number(fields, "delay_ms", 0)), (int) most);
    stored.attempts = (int) number(fields, "attempts", 0);
    stored.lastError = (String) fields.get("error");
    live.add(stored);
    return new Submitted(stored.id, key, true, 1);
  }

  @Override
  public List<Submitted> submitMany(Iterable<NewTask> tasks) {
    List<Submitted> all = new ArrayList<>();
    tasks.forEach(task -> all.add(submit(task)));
    return all;
  }

  @Override
  public void settle(Submitted leased, Outcome outcome) {
    ManualTask task = known(leased.id());
    task.attempts++;
    apply(task, outcome);
  }

  @Override
  public StoredTask find(String id) {
    ManualTask task = known(id);
    Map<String, Object> fields = new HashMap<>();
    fields.put("id", id);
    fields.put("handler", task.handler());
    fields.put("key", task.key);
    fields.put("attempts", (long) task.attempts);
    fields.put("state", task.outcome == null ? "pending" : "finished");
    fields.put("outcome", task.outcome);
    fields.put("last_error", task.lastError);
    return new StoredTask(fields);
  }

  /** Answers at once: nothing happens here by itself. */
  @Override
  public StoredTask await(String id, Duration longest) {
    return find(id);
  }

  @Override
  public void cancel(String id) {
    end(pending(id), "cancelled");
  }

  @Override
  public void retry(String id) {
    pending(id).due = now;
  }

  @Override
  public Map<String, Object> whoami() {
    return Map.of("name", "manual", "role", "application");
  }

  /** Runs one attempt of the task that is due first, in this thread. Empty: there is no task that has a handler here. */
  public Optional<ManualTask> runNext() {
    Map<String, Handler.Named> handlers = app.handlers();
    Optional<ManualTask> next = live.stream().filter(task -> handlers.containsKey(task.handler()))
        .min(Comparator.comparing(ManualTask::due));
    next.ifPresent(task -> {
      now = task.due.compareTo(now) > 0 ? task.due : now;
      task.attempts++;
      attempt(task, handlers.get(task.handler()));
    });
    return next;
  }

  /** Runs attempts until no task is left, and returns how many. Throws AssertionError after 10,000. */
  public int runAll() {
    for (int count = 0; count < 10_000; count++) {
      if (runNext().isEmpty()) {
        return count;
      }
    }
    throw new AssertionError("tasks are still live after 10,000 attempts: " + live);
  }

  private void attempt(ManualTask manual, Handler.Named handler) {
    Map<Object, Object> fields = new HashMap<>(manual.fields);
    fields.put("id", manual.id);
    fields.put("key", manual.key);
    fields.put("version", (long) manual.attempts);
    fields.put("attempts", (long) manual.attempts);
    fields.put("last_error", manual.lastError);
    Task task = new Task((Map<?, ?>) Json.read(Json.write(fields)), codec()); // a handler may change its arguments
    Outcome outcome = task.run(handler);
    manual.progress = task.noted() == null ? manual.progress : task.noted();
    apply(manual, outcome);
    Listener listener = app.settings().listener();
    listener.attempted(task, outcome, Duration.ZERO);
    listener.settled(task, outcome, manual.outcome);
  }

  private void apply(ManualTask task, Outcome outcome) {
    if (!outcome.isFailure()) {
      task.result = outcome.result() == null ? null : Json.read(outcome.result());
      end(task, "succeeded");
      return;
    }
    task.lastError = outcome.error();
    if (outcome.giveUp()) {
      end(task, "rejected");
    } else if (task.maxAttempts > 0 && task.attempts >= task.maxAttempts) {
      end(task, "exhausted");
    } else {
      task.due = now.plus(outcome.retryAfter() == null ? RETRY_DELAY : outcome.retryAfter());
    }
  }

  private void end(ManualTask task, String outcome) {
    task.outcome = outcome;
    live.remove(task);
    ended.add(task);
  }

  private ManualTask known(String id) {
    return Stream.concat(live.stream(), ended.stream()).filter(task -> task.id.equals(id)).findFirst()
        .orElseThrow(() -> new Refused(404, "not_found", "there is no task " + id));
  }

  private ManualTask pending(String id) {
    ManualTask task = known(id);
    if (task.outcome != null) {
      throw new Conflict(409, "ended", "task " + id + " has ended");
    }
    return task;
  }

  private static long number(Map<?, ?> fields, String name, long otherwise) {
    return fields.get(name) instanceof Long number ? number : otherwise;
  }
}
