package easyretry;

import easyretry.EasyRetryException.Conflict;
import easyretry.EasyRetryException.InDoubt;
import easyretry.EasyRetryException.Refused;
import easyretry.EasyRetryException.Unauthorized;
import easyretry.EasyRetryException.Unavailable;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/** Stores tasks, asks about them and changes them. Thread-safe. A request whose answer is lost is repeated, and done once. */
public class Client {
  private static final int MOST_IN_A_REQUEST = 10_000;
  private static final int MOST_BYTES = 8_000_000; // the daemon takes 8 MiB
  private static final long ANSWERED_EARLY_MS = 100; // the pause after a wait that a daemon has cut short, as one does that stops
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(60);

  private final Daemon daemon;
  private final Settings settings;

  protected Client(Settings settings) {
    this.settings = settings;
    daemon = new Daemon(settings);
  }

  public final Submitted submit(String handler, Object... args) {
    return submit(new NewTask(handler, args));
  }

  public Submitted submit(NewTask task) {
    return Submitted.of(store(task.json(codec())));
  }

  /**
   * Stores many tasks: up to 10,000, and 8 MB, atomically. More are several requests; if a later one fails, the earlier ones
   * are stored, and the same keys can be submitted again.
   */
  public List<Submitted> submitMany(Iterable<NewTask> tasks) {
    List<Submitted> stored = new ArrayList<>();
    StringBuilder batch = new StringBuilder();
    int count = 0;
    int bytes = 0;
    for (NewTask task : tasks) {
      String text = task.json(codec());
      int length = text.getBytes(StandardCharsets.UTF_8).length + 1;
      if (count == MOST_IN_A_REQUEST || (count > 0 && bytes + length > MOST_BYTES)) {
        stored.addAll(storeBatch(batch));
        batch.setLength(0);
        count = bytes = 0;
      }
      batch.append(count++ == 0 ? "" : ",").append(text);
      bytes += length;
    }
    if (count > 0) {
      stored.addAll(storeBatch(batch));
    }
    return stored;
  }

  public StoredTask find(String id) {
    return new StoredTask(daemon.get(path(id), Duration.ZERO));
  }

  /** Answers when the task has ended, or with the task as it is after this time. */
  public StoredTask await(String id, Duration longest) {
    long until = System.nanoTime() + longest.toNanos();
    while (true) {
      Duration left = Duration.ofNanos(Math.max(0, until - System.nanoTime()));
      Duration wait = left.compareTo(LONGEST_WAIT) < 0 ? left : LONGEST_WAIT;
      StoredTask task = new StoredTask(daemon.get(path(id) + "?wait_ms=" + wait.toMillis(), wait));
      if (task.finished() || wait.equals(left)) {
        return task;
      }
      paused(ANSWERED_EARLY_MS);
    }
  }

  /** Needs a token of an operator, as does {@link #retry}. Throws Conflict if the task has ended. */
  public void cancel(String id) {
    repeat(path(id) + "/cancel", "{}", false);
  }

  /** Makes a pending task due now. */
  public void retry(String id) {
    repeat(path(id) + "/retry", "{}", false);
  }

  /** Who the daemon thinks we are, and which daemon it is: shows that it can be reached. */
  public Map<String, Object> whoami() {
    return daemon.get("/v1/whoami", Duration.ZERO);
  }

  /** For a task that was submitted with {@code leased}: its attempt has ended. */
  public void settle(Submitted leased, Outcome outcome) {
    try {
      repeat("/v1/leases/" + leased.id() + "/" + outcome.verb(), outcome.body(leased.version()), false);
    } catch (PerhapsOurs settled) {
      // An earlier try has arrived, or the lease was lost: in both cases there is nothing more to say.
    } catch (Conflict | Unauthorized error) {
      throw error;
    } catch (Refused error) {
      if (outcome.result() == null) {
        throw error;
      }
      settle(leased, outcome.withoutResult()); // it may be the result that the daemon does not take
    }
  }

  public final Codec codec() {
    return settings.codec();
  }

  final System.Logger log() {
    return settings.log();
  }

  final Daemon daemon() {
    return daemon;
  }

  private static String path(String id) {
    return "/v1/tasks/" + URLEncoder.encode(id, StandardCharsets.UTF_8);
  }

  private List<Submitted> storeBatch(StringBuilder tasks) {
    return Submitted.allOf(store("{\"tasks\":[" + tasks + "]}"));
  }

  private Map<String, Object> store(String text) {
    return repeat("/v1/tasks", text, true);
  }

  /** Repeats while the daemon cannot be reached. Once a try was in doubt, so is every failure except a refusal. */
  private Map<String, Object> repeat(String path, String text, boolean named) {
    long until = System.nanoTime() + settings.patience().toNanos();
    Pauses pauses = settings.pauses();
    String key = UUID.randomUUID().toString();
    InDoubt doubt = null;
    while (true) {
      EasyRetryException failure;
      try {
        return daemon.post(path, text, Duration.ZERO, named ? Map.of("Idempotency-Key", key) : Map.of());
      } catch (Conflict error) {
        if (doubt == null) {
          throw error;
        }
        throw new PerhapsOurs(error);
      } catch (InDoubt error) {
        failure = doubt = error;
        key = error.remembered ? UUID.randomUUID().toString() : key;
      } catch (Unavailable error) {
        failure = error;
      }
      long pause = pauses.next(failure);
      if (System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(pause) > until || !paused(pause)) {
        throw doubt == null || failure instanceof InDoubt ? failure : new InDoubt(failure.getMessage(), failure);
      }
    }
  }

  /** False: this thread was interrupted, as a handler is when its task is cancelled. */
  private static boolean paused(long ms) {
    try {
      Thread.sleep(ms);
      return true;
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** A conflict after a try in doubt: another request was first, and it may have been our own. */
  private static final class PerhapsOurs extends InDoubt {
    PerhapsOurs(Conflict error) {
      super(error.getMessage() + "; this may be due to an earlier try, whose answer was lost", error);
    }
  }
}
