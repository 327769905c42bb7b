package easyretry;

import static java.lang.System.Logger.Level.ERROR;
import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Leases tasks, runs their handlers and settles them. Started once. A thread polls, one renews leases, one watches handlers, a few
 * settle; each handler that runs has one. All are daemon threads: a handler that never ends does not keep the process from ending.
 */
final class Worker {
  // A daemon does not answer earlier that there is nothing, unless it stops, and would then do so again and again.
  private static final long SOONEST = TimeUnit.MILLISECONDS.toNanos(100);
  // A poll that has waited for so long has no tasks on their way, as far as one can tell: a due task is given out at once.
  private static final long LAST_ANSWER_MS = 2000;
  private static final long AFTER_CANCEL_MS = 1000; // how long handlers have to end after they were told to, when the worker stops

  private final Daemon daemon;
  private final Map<String, Handler.Named> handlers;
  private final Settings settings;
  private final System.Logger log;
  private final Leases leases;
  private final Renewals renewals;
  private final Watch watch;
  private final Settler settler;
  private final ThreadPoolExecutor threads; // as many as handlers may run; no thread waits for the next one to take its task
  private final CountDownLatch stopping = new CountDownLatch(1);
  private final Thread poller;
  private final Pauses pollPauses;
  private volatile long polledAt;

  Worker(Daemon daemon, Map<String, Handler.Named> handlers, Settings settings) {
    if (handlers.isEmpty()) {
      throw new IllegalStateException("there is no handler; register one with app.handler(\"name\", …)");
    }
    this.daemon = daemon;
    this.handlers = handlers;
    this.settings = settings;
    log = settings.log();
    leases = new Leases(settings);
    renewals = new Renewals(daemon, leases, settings);
    watch = new Watch(leases, settings, this::end);
    poller = Loops.thread("easyretry-poll", log, this::step);
    pollPauses = settings.pauses();
    settler = new Settler(daemon, settings, leases::remove);
    threads = new ThreadPoolExecutor(settings.concurrency(), settings.concurrency(), 60, TimeUnit.SECONDS,
        new LinkedBlockingQueue<>(), job -> thread("easyretry-handler", job));
    threads.allowCoreThreadTimeOut(true);
  }

  private static Thread thread(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    return thread;
  }

  void start() {
    renewals.start();
    watch.start();
    settler.start();
    poller.start();
  }

  /** The number of tasks that are leased and not yet settled. */
  int held() {
    return leases.all().size();
  }

  /** Leases no more tasks, lets handlers finish for {@code drain}, and hands back the rest. */
  void stop() {
    stopping.countDown();
    try {
      endPoll();
      if (!leases.awaitEmpty(settings.drain().toMillis())) {
        cancelRest();
      }
    } catch (InterruptedException error) { // the caller does not want to wait
      Thread.currentThread().interrupt();
    }
    settler.close();
    leases.close();
    threads.shutdown();
  }

  /**
   * java.net.http cannot stop sending while it reads, so a poll can only be waited for or closed. Its answer comes at once if
   * tasks are due. One that falls due in the moment in which an idle poll is closed waits until its lease expires.
   */
  private void endPoll() throws InterruptedException {
    poller.join(Math.max(1, LAST_ANSWER_MS - TimeUnit.NANOSECONDS.toMillis(Leases.now() - polledAt)));
    poller.interrupt();
    poller.join(LAST_ANSWER_MS);
  }

  private void cancelRest() throws InterruptedException {
    leases.all().forEach(lease -> lease.task.cancel(Task.Cancellation.STOPPING));
    if (leases.awaitEmpty(AFTER_CANCEL_MS)) {
      return;
    }
    leases.all().forEach(this::handBack);
    if (!leases.awaitEmpty(Math.max(AFTER_CANCEL_MS, settings.timeout().toMillis() / 2))) {
      log.log(ERROR, leases.all().size() + " tasks could not be handed back; they run again when their leases have expired");
    }
  }

  private void handBack(Lease lease) {
    if (end(lease, Outcome.HANDED_BACK)) {
      log.log(WARNING, lease.name() + " does not end although it is cancelled; it is handed back, and may run twice at a time");
    }
  }

  /** Leases once, when there is room. False: the worker stops. */
  private boolean step() throws InterruptedException {
    if (stopping.getCount() == 0) {
      return false;
    }
    int room = room();
    if (room <= 0) {
      return true;
    }
    try {
      polledAt = Leases.now();
      List<?> tasks = poll(room);
      if (tasks.isEmpty() && Leases.now() - polledAt < Math.max(settings.waiting().toNanos() / 2, SOONEST)) {
        stopping.await(pollPauses.next(null), TimeUnit.MILLISECONDS);
        return true;
      }
      pollPauses.reset();
      tasks.forEach(this::begin);
    } catch (EasyRetryException error) {
      if (stopping.getCount() > 0) {
        long pause = pollPauses.next(error);
        log.log(WARNING, "no tasks could be leased, trying again in " + pause + " ms: " + error.getMessage());
        stopping.await(pause, TimeUnit.MILLISECONDS);
      }
    }
    return true;
  }

  /** Places for new tasks. If there are only a few, more may be free in a moment, and then one request fills them all. */
  private int room() throws InterruptedException {
    int room = leases.awaitRoom(Math.max(1, Math.min(settings.batch(), settings.concurrency()) / 2), 5);
    return room > 0 ? room : leases.awaitRoom(1, 1000);
  }

  private List<?> poll(int room) {
    Map<String, Object> wanted = new LinkedHashMap<>();
    wanted.put("handlers", handlers.keySet());
    wanted.put("max", Math.min(room, settings.batch()));
    wanted.put("wait_ms", settings.waiting().toMillis());
    wanted.put("lease_ms", settings.lease().toMillis());
    Object tasks = daemon.post("/v1/leases", Json.write(wanted), settings.waiting(), Map.of()).get("tasks");
    if (!(tasks instanceof List<?> list)) {
      throw new EasyRetryException.NotADaemon("the answer to a lease request has no list of tasks");
    }
    return list;
  }

  private void begin(Object fields) {
    Task task;
    Handler.Named handler;
    try {
      task = new Task((Map<?, ?>) fields, settings.codec());
      handler = handlers.get(task.handler());
    } catch (IllegalArgumentException | ClassCastException error) {
      log.log(ERROR, "a leased task cannot be run here: " + error.getMessage());
      return;
    }
    if (handler == null) {
      log.log(ERROR, "task " + task.id() + " was leased without being asked for: there is no handler " + task.handler() + " here");
      return;
    }
    Lease lease = leases.add(task, handler);
    if (stopping.getCount() == 0) {
      end(lease, Outcome.HANDED_BACK);
      return;
    }
    try {
      leases.begun(lease);
      threads.execute(() -> run(lease));
    } catch (RejectedExecutionException | OutOfMemoryError error) { // no more threads
      leases.returned(lease);
      log.log(ERROR, lease.name() + " cannot be started, and is handed back: " + error.getMessage());
      end(lease, Outcome.HANDED_BACK);
    }
  }

  private void run(Lease lease) {
    long begun = System.nanoTime();
    Outcome outcome = lease.task.run(lease.handler);
    Duration time = Duration.ofNanos(System.nanoTime() - begun);
    leases.returned(lease);
    lease.tell(log, () -> settings.listener().attempted(lease.task, outcome, time));
    end(lease, outcome);
  }

  /** The first call counts: that of the handler, or that of a watch or a stop that no longer waits for it. True: it was this one. */
  private boolean end(Lease lease, Outcome outcome) {
    if (!leases.end(lease)) {
      return false;
    }
    if (outcome.isFailure()) { // its text may have arguments, and is for the daemon only
      log.log(INFO, "attempt " + lease.task.attempt() + " of " + lease.name() + " failed");
    }
    // After an expiry, only a success is worth telling: an error is probably due to the cancellation.
    boolean untold = outcome.isFailure() || outcome == Outcome.HANDED_BACK;
    if (lease.lost || (lease.expired && untold)) {
      leases.remove(List.of(lease));
    } else {
      settler.put(lease, outcome);
    }
    return true;
  }
}
