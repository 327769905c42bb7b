package easyretry;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;

/**
 * The tasks that this worker has leased and not yet settled, and the places that they take.
 *
 * <p>Bounded: a task has its place until it is settled, so a worker whose daemon is away does not pile up outcomes; and until its
 * handler has returned, so handlers that never end do not pile up. Time is measured on this machine only, so its clock need not
 * agree with the daemon's. Thread-safe.
 */
final class Leases {
  private static final long START = System.nanoTime();

  private final long length; // of a lease, in ns
  private final int most;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition freed = lock.newCondition();
  final Alarm renewing = new Alarm(Lease::renewalAt);
  final Alarm watching = new Alarm(Lease::watchedAt);
  // Guarded by lock.
  private final Set<Lease> held = new LinkedHashSet<>();
  private final Set<Lease> stuck = new HashSet<>(); // settled, but the handler still runs
  private boolean closed;

  /** When a thread looks at the leases again. Guarded by the lock. */
  final class Alarm {
    private final Condition sooner = lock.newCondition();
    private final ToLongFunction<Lease> dueAt;
    private long looksAt;

    private Alarm(ToLongFunction<Lease> dueAt) {
      this.dueAt = dueAt;
    }

    /** Most leases are due later than those before them, and wake nothing. */
    private void ringFor(Lease lease) {
      if (dueAt.applyAsLong(lease) < looksAt) {
        sooner.signalAll();
      }
    }
  }

  Leases(Settings settings) {
    length = settings.lease().toNanos();
    most = settings.concurrency();
  }

  /** Nanoseconds since this class was loaded: unlike those of System.nanoTime, they can be compared. */
  static long now() {
    return System.nanoTime() - START;
  }

  /** Takes a place. */
  Lease add(Task task, Handler.Named handler) {
    Lease lease = new Lease(task, handler, now(), length);
    task.whenNoted(() -> locked(() -> renewing.ringFor(lease)));
    locked(() -> {
      held.add(lease);
      renewing.ringFor(lease);
      watching.ringFor(lease);
    });
    return lease;
  }

  void remove(Collection<Lease> leases) {
    locked(() -> {
      for (Lease lease : leases) {
        if (held.remove(lease) && lease.running) {
          stuck.add(lease);
        }
      }
      freed.signalAll();
    });
  }

  /** The handler begins. */
  void begun(Lease lease) {
    locked(() -> lease.running = true);
  }

  /** The handler has returned, if late; or it was not begun after all. */
  void returned(Lease lease) {
    locked(() -> {
      lease.running = false;
      if (stuck.remove(lease)) {
        freed.signalAll();
      }
    });
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
    List<Lease> all = new ArrayList<>();
    each(all::add);
    return all;
  }

  /** With the lock, so that a thread may change them. */
  void each(Consumer<Lease> act) {
    locked(() -> held.forEach(act));
  }

  void locked(Runnable act) {
    lock.lock();
    try {
      act.run();
    } finally {
      lock.unlock();
    }
  }

  private int room() {
    return most - held.size() - stuck.size();
  }

  /** The number of free places: at once if there are enough, otherwise those there are after this time. */
  int awaitRoom(int enough, long ms) throws InterruptedException {
    lock.lock();
    try {
      await(() -> room() >= enough, ms);
      return room();
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

  /** Until a lease is due, and not before this time. False: the worker stops. */
  boolean awaitDue(Alarm alarm, long notBefore) throws InterruptedException {
    lock.lock();
    try {
      while (!closed) {
        long now = now();
        alarm.looksAt = Math.max(notBefore, held.stream().mapToLong(alarm.dueAt).min().orElse(Lease.FOREVER));
        if (alarm.looksAt <= now) {
          return true;
        }
        alarm.sooner.awaitNanos(alarm.looksAt - now);
      }
      return false;
    } finally {
      lock.unlock();
    }
  }

  void close() {
    locked(() -> {
      closed = true;
      renewing.sooner.signalAll();
      watching.sooner.signalAll();
    });
  }
}
