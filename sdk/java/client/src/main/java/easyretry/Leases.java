package easyretry;

import static java.lang.System.Logger.Level.WARNING;

import easyretry.EasyRetryException.NotADaemon;
import easyretry.EasyRetryException.Refused;
import easyretry.EasyRetryException.Unauthorized;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * The tasks that this worker has leased and not yet settled. Renews their leases, in a thread of its own.
 *
 * <p>Bounded: a task has its place until it is settled, so a worker whose daemon is away does not pile up outcomes. Time is
 * measured on this machine only, so its clock need not agree with the daemon's. Thread-safe.
 */
final class Leases {
  private static final int MOST_IN_A_REQUEST = 1000;
  private static final long START = System.nanoTime();

  private final Daemon daemon;
  private final System.Logger log;
  private final Listener listener;
  private final long length; // of a lease, in ns
  private final int most;
  private final Pauses pauses;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition freed = lock.newCondition();
  private final Condition sooner = lock.newCondition(); // a lease is due before looksAt, or the worker stops
  // Guarded by lock.
  private final Set<Lease> held = new LinkedHashSet<>();
  private long looksAt; // when the thread that renews looks again
  private boolean closed;

  Leases(Daemon daemon, Settings settings) {
    this.daemon = daemon;
    log = settings.log();
    listener = settings.listener();
    length = settings.lease().toNanos();
    most = settings.concurrency();
    pauses = settings.pauses();
  }

  void start() {
    Worker.thread("easyretry-renew", this::renewForever).start();
  }

  /** Nanoseconds since this class was loaded: unlike those of System.nanoTime, they can be compared. */
  static long now() {
    return System.nanoTime() - START;
  }

  /** Takes a place. */
  Lease add(Task task, Handler.Named handler) {
    Lease lease = new Lease(task, handler, now(), length);
    task.whenNoted(() -> wakeFor(lease));
    lock.lock();
    try {
      held.add(lease);
    } finally {
      lock.unlock();
    }
    wakeFor(lease);
    return lease;
  }

  void remove(Collection<Lease> leases) {
    lock.lock();
    try {
      leases.forEach(held::remove);
      freed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** The handler has ended, or is no longer waited for. False: that was known already. */
  boolean end(Lease lease) {
    lock.lock();
    try {
      boolean first = !lease.ended;
      lease.ended = true;
      return first;
    } finally {
      lock.unlock();
    }
  }

  List<Lease> all() {
    lock.lock();
    try {
      return new ArrayList<>(held);
    } finally {
      lock.unlock();
    }
  }

  /** The number of free places: at once if there are enough, otherwise those there are after this time. */
  int awaitRoom(int enough, long ms) throws InterruptedException {
    lock.lock();
    try {
      await(() -> most - held.size() >= enough, ms);
      return most - held.size();
    } finally {
      lock.unlock();
    }
  }

  boolean awaitEmpty(long ms) throws InterruptedException {
    lock.lock();
    try {
      return await(held::isEmpty, ms);
    } finally {
      lock.unlock();
    }
  }

  private boolean await(BooleanSupplier wanted, long ms) throws InterruptedException {
    long left = TimeUnit.MILLISECONDS.toNanos(ms);
    while (!wanted.getAsBoolean()) {
      if (left <= 0) {
        return false;
      }
      left = freed.awaitNanos(left);
    }
    return true;
  }

  /** Most leases are due later than those before them, and wake nothing. */
  private void wakeFor(Lease lease) {
    lock.lock();
    try {
      if (lease.dueAt() < looksAt) {
        sooner.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  void close() {
    lock.lock();
    try {
      closed = true;
      sooner.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void renewForever() {
    long notBefore = 0; // after a failure
    for (List<Lease> due; (due = awaitDue(notBefore)) != null; ) {
      notBefore = due.isEmpty() ? 0 : renew(due);
    }
  }

  /** Null: the worker stops. */
  private List<Lease> awaitDue(long notBefore) {
    lock.lock();
    try {
      while (!closed) {
        long now = now();
        looksAt = Math.max(notBefore, held.stream().filter(lease -> !lease.lost).mapToLong(Lease::dueAt).min()
            .orElse(Lease.FOREVER));
        if (looksAt <= now) {
          return takeDue(now);
        }
        sooner.awaitNanos(looksAt - now);
      }
    } catch (InterruptedException error) {
      // Nothing of ours interrupts this thread; treated as a stop.
    } finally {
      lock.unlock();
    }
    return null;
  }

  /** Those that are due, or will be soon: one request serves them all. Called with the lock. */
  private List<Lease> takeDue(long now) {
    List<Lease> due = new ArrayList<>();
    for (Lease lease : held) {
      if (lease.timeoutAt <= now) {
        lease.timeoutAt = Lease.FOREVER;
        lease.task.cancel(Task.Cancellation.TIMEOUT);
      }
      if (!lease.lost && lease.dueAt() <= now + length / 12 && due.size() < MOST_IN_A_REQUEST) {
        due.add(lease);
      }
    }
    return due;
  }

  /** Returns the earliest time of the next request. */
  private long renew(List<Lease> leases) {
    long sentAt = now();
    List<String> notes = new ArrayList<>();
    leases.forEach(lease -> notes.add(lease.task.noted()));
    List<?> applied;
    try {
      applied = ask(leases, notes);
    } catch (EasyRetryException error) {
      if (error instanceof Refused && !(error instanceof Unauthorized)) {
        forget(leases, notes); // leases matter more than notes, which may be the reason
      }
      long asked = error.retryAfter() == null ? 0 : error.retryAfter().toMillis();
      long pause = Math.min(pauses.next(error), Math.max(TimeUnit.NANOSECONDS.toMillis(length / 6), asked));
      log.log(WARNING, leases.size() + " leases could not be renewed, trying again in " + pause + " ms: " + error.getMessage());
      return now() + TimeUnit.MILLISECONDS.toNanos(pause);
    }
    pauses.reset();
    forget(leases, notes);
    List<Lease> lost = new ArrayList<>();
    lock.lock();
    try {
      for (int i = 0; i < leases.size(); i++) {
        Lease lease = leases.get(i);
        lease.renewAt = sentAt + length / 3;
        lease.toldAt = sentAt;
        lease.lost = !Boolean.TRUE.equals(applied.get(i));
        if (lease.lost && !lease.ended) { // otherwise its own settlement came first
          lost.add(lease);
        }
      }
    } finally {
      lock.unlock();
    }
    for (Lease lease : lost) {
      log.log(WARNING, "the lease of " + lease.name() + " was lost; its handler is cancelled");
      lease.task.cancel(Task.Cancellation.LEASE_LOST);
      lease.tell(log, () -> listener.leaseLost(lease.task));
    }
    return 0;
  }

  private List<?> ask(List<Lease> leases, List<String> notes) {
    List<Map<String, Object>> renewals = new ArrayList<>();
    for (int i = 0; i < leases.size(); i++) {
      Map<String, Object> renewal = new LinkedHashMap<>();
      renewal.put("id", leases.get(i).task.id());
      renewal.put("version", leases.get(i).task.version());
      renewal.put("lease_ms", TimeUnit.NANOSECONDS.toMillis(length));
      if (notes.get(i) != null) {
        renewal.put("progress", Outcome.sendable(notes.get(i)));
      }
      renewals.add(renewal);
    }
    Object applied = daemon.post("/v1/leases/renew", Json.write(Map.of("tasks", renewals))).get("applied");
    if (!(applied instanceof List<?> list) || list.size() != leases.size()) {
      throw new NotADaemon("the answer to a renewal does not say which leases hold");
    }
    return list;
  }

  private static void forget(List<Lease> leases, List<String> notes) {
    for (int i = 0; i < leases.size(); i++) {
      leases.get(i).task.sent(notes.get(i));
    }
  }
}
