import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Measures a Java peer and prints one JSON object. The work is enqueue, drain, cycle, lateness, latency-own or latency-other; with
 * PEER_ROLE=worker the program is the other process of latency-other.
 */
final class Driver {
  private static final double AHEAD = 5_000; // ms to store tasks before the first is due, and the setting ahead more for each
  private static final double PATIENCE = 600_000; // ms

  /** A peer's tasks are run by threads that it starts, so that this is one per process. */
  private static Driver current;

  private final Settings settings;
  private final int tasks;
  private final double warmUp; // ms until idle workers wait for news
  private final AtomicInteger executed = new AtomicInteger();
  private final AtomicInteger failures = new AtomicInteger();
  private final double[] late;
  private Peer peer;

  Driver(Settings settings, double warmUp) {
    this.settings = settings;
    this.warmUp = warmUp;
    tasks = settings.number("tasks");
    late = new double[tasks];
    current = this;
  }

  /** Called by a peer's handler. */
  static void run(Peer.Work task, boolean firstAttempt) {
    if (task.fails() && firstAttempt) {
      current.failures.incrementAndGet();
      throw new FirstAttemptFails();
    }
    double now = wall();
    int i = current.executed.getAndIncrement();
    if (task.from() > 0 && i < current.late.length) current.late[i] = now - task.from();
  }

  static final class FirstAttemptFails extends RuntimeException {
    private static final long serialVersionUID = 1;

    FirstAttemptFails() {
      super("first attempt fails", null, false, false); // stack traces would be measured, too
    }
  }

  void main(String name, Class<?> of, Peer peer) throws Exception {
    this.peer = peer;
    if ("worker".equals(System.getenv("PEER_ROLE"))) beOtherProcess();
    String figures = switch (settings.work) {
      case "enqueue" -> rate(() -> enqueue(settings.number("callers"), false, 0));
      case "drain" -> drain(false);
      case "cycle" -> drain(true);
      case "lateness" -> lateness();
      case "latency-own" -> latencyOwn();
      case "latency-other" -> latencyOther();
      default -> throw new IllegalArgumentException("unknown work: " + settings.work);
    };
    System.out.printf("{\"peer\":\"%s\",\"version\":\"%s\",\"work\":\"%s\",\"tasks\":%d,\"failures\":%d,%s}%n",
        name, version(of), settings.work, tasks, failures.get(), figures);
    System.exit(0); // stopping is not measured
  }

  interface Action {
    void run() throws Exception;
  }

  private String rate(Action action) throws Exception {
    double began = wall();
    action.run();
    double seconds = (wall() - began) / 1000;
    return String.format(Locale.ROOT, "\"seconds\":%.4f,\"per_s\":%.1f", seconds, tasks / seconds);
  }

  /** Stores all tasks in batches, several batches at once. firstDue is 0 for tasks that are due at once. */
  private void enqueue(int callers, boolean fails, double firstDue) throws Exception {
    int batch = settings.number("batch");
    double step = settings.real("over") * 1000 / tasks;
    ExecutorService pool = Executors.newFixedThreadPool(callers);
    List<Future<?>> parts = new ArrayList<>();
    for (int begin = 0; begin < tasks; begin += batch) {
      int first = begin;
      parts.add(pool.submit((Callable<Void>) () -> {
        List<Peer.Work> some = new ArrayList<>();
        for (int id = first; id < Math.min(tasks, first + batch); id++) {
          double due = firstDue == 0 ? 0 : firstDue + id * step;
          some.add(new Peer.Work(id, due, due, fails));
        }
        peer.addMany(some);
        return null;
      }));
    }
    for (Future<?> part : parts) part.get();
    pool.shutdown();
  }

  private String drain(boolean fails) throws Exception {
    enqueue(1, fails, 0);
    peer.prepare();
    return rate(() -> {
      peer.work();
      finished();
    });
  }

  private void allRun() throws Exception {
    until("all tasks have run", () -> executed.get() >= tasks);
  }

  private void finished() throws Exception {
    allRun();
    until("the store is empty", () -> !peer.left());
  }

  private String lateness() throws Exception {
    double first = wall() + AHEAD + tasks * settings.real("ahead");
    enqueue(settings.number("callers"), false, first);
    if (wall() > first) throw new IllegalStateException("the first task was due before all were stored; raise ahead=");
    peer.work();
    finished();
    return "\"late_ms\":" + spread();
  }

  /** Sends one task after the other at the rate, without waiting for one before the next. */
  private void send() throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(8);
    List<Future<?>> sent = new ArrayList<>();
    double began = wall();
    for (int i = 0; i < tasks; i++) {
      pause(began + i * 1000 / settings.real("rate") - wall());
      Peer.Work task = new Peer.Work(i, wall(), 0, false);
      sent.add(pool.submit((Callable<Void>) () -> {
        peer.add(task);
        return null;
      }));
    }
    for (Future<?> one : sent) one.get();
    pool.shutdown();
  }

  private String latencyOwn() throws Exception {
    peer.work();
    pause(warmUp);
    send();
    allRun();
    return "\"late_ms\":" + spread();
  }

  private String latencyOther() throws Exception {
    try (OtherProcess other = new OtherProcess()) {
      other.line(); // it is ready
      pause(warmUp);
      send();
      return "\"late_ms\":" + other.line();
    }
  }

  private void beOtherProcess() throws Exception {
    peer.work();
    System.out.println("ready");
    allRun();
    System.out.println(spread());
    System.exit(0);
  }

  private String spread() {
    Arrays.sort(late);
    return String.format(Locale.ROOT,
        "{\"p50\":%.3f,\"p99\":%.3f,\"max\":%.3f}", late[tasks / 2], late[(int) (tasks * 0.99)], late[tasks - 1]);
  }

  private static void until(String what, Callable<Boolean> condition) throws Exception {
    for (double end = wall() + PATIENCE; !condition.call(); pause(5)) {
      if (wall() > end) throw new IllegalStateException("too late: " + what);
    }
  }

  private static void pause(double ms) throws InterruptedException {
    if (ms > 0) Thread.sleep((long) ms, (int) ((ms - (long) ms) * 1e6));
  }

  /** ms with digits after the point. */
  private static double wall() {
    Instant now = Instant.now();
    return now.getEpochSecond() * 1e3 + now.getNano() / 1e6;
  }

  private static String version(Class<?> of) {
    return of.getProtectionDomain().getCodeSource().getLocation().getPath().replaceAll(".*-(\\d[^/]*)\\.jar", "$1");
  }
}
