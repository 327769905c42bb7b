package easyretry;

import java.util.concurrent.TimeUnit;

/** One leased task. Its fields change only under the lock of {@link Leases}. Times are those of {@link Leases#now}. */
final class Lease {
  static final long FOREVER = Long.MAX_VALUE;
  private static final long PROGRESS = TimeUnit.SECONDS.toNanos(1); // the shortest time between two notes of a task

  final Task task;
  final Handler.Named handler;
  long until; // by the clock of this machine
  long renewAt;
  long toldAt;
  long timeoutAt;
  long overdueAt = FOREVER; // when a handler whose timeout has passed is no longer waited for
  boolean lost; // the daemon said so
  boolean expired; // not renewed in time: another worker may have the task, but the daemon decides
  boolean running; // the handler has begun, and not yet returned
  boolean ended; // the handler has ended, or is no longer waited for; its outcome is on its way

  Lease(Task task, Handler.Named handler, long now, long length) {
    this.task = task;
    this.handler = handler;
    until = now + length;
    renewAt = now + length / 3;
    toldAt = now - PROGRESS;
    timeoutAt = handler.options().timeout() == null ? FOREVER : now + handler.options().timeout().toNanos();
  }

  /** An outcome that waits to be sent still needs its lease. */
  long renewalAt() {
    if (lost || (expired && !ended)) {
      return FOREVER;
    }
    return task.noted() == null ? renewAt : Math.min(renewAt, toldAt + PROGRESS);
  }

  long watchedAt() {
    return ended || lost || expired ? FOREVER : Math.min(until, Math.min(timeoutAt, overdueAt));
  }

  /** Calls a listener. No thread of the worker ends because of what a listener throws; its text may have arguments. */
  void tell(System.Logger log, Runnable listener) {
    try {
      listener.run();
    } catch (RuntimeException | Error error) {
      log.log(System.Logger.Level.ERROR, name() + ": a listener failed with " + error.getClass().getName());
    }
  }

  /** For the log: never with arguments. */
  String name() {
    return "task " + task.id() + " (" + handler.name() + ")";
  }
}
