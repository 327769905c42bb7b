package easyretry;

import static java.lang.System.Logger.Level.ERROR;
import static java.lang.System.Logger.Level.WARNING;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/** Cancels handlers whose timeout has passed, or whose lease is over, in a thread that waits for no answer. */
final class Watch {
  /** How long a handler has to end after its timeout, before its attempt counts as failed all the same. */
  private static final long AFTER_TIMEOUT = TimeUnit.SECONDS.toNanos(1);

  private final Leases leases;
  private final BiConsumer<Lease, Outcome> end;
  private final System.Logger log;
  private final Listener listener;

  Watch(Leases leases, Settings settings, BiConsumer<Lease, Outcome> end) {
    this.leases = leases;
    this.end = end;
    log = settings.log();
    listener = settings.listener();
  }

  void start() {
    Loops.thread("easyretry-watch", log, this::step).start();
  }

  private boolean step() throws InterruptedException {
    if (!leases.awaitDue(leases.watching, 0)) {
      return false;
    }
    takeDue(Leases.now()).forEach(Runnable::run);
    return true;
  }

  /** What is to be done, once for each. */
  private List<Runnable> takeDue(long now) {
    List<Runnable> due = new ArrayList<>();
    leases.each(lease -> {
      if (lease.watchedAt() > now) {
        return;
      }
      if (lease.until <= now) {
        lease.expired = true;
        due.add(() -> expire(lease));
      } else if (lease.overdueAt <= now) {
        lease.overdueAt = Lease.FOREVER;
        due.add(() -> giveUp(lease));
      } else {
        lease.timeoutAt = Lease.FOREVER;
        lease.overdueAt = now + AFTER_TIMEOUT;
        due.add(() -> timeOut(lease));
      }
    });
    return due;
  }

  /** Another worker may have the task now. */
  private void expire(Lease lease) {
    log.log(WARNING, "the lease of " + lease.name() + " could not be renewed in time; its handler is cancelled");
    lease.task.cancel(Task.Cancellation.LEASE_LOST);
    lease.tell(log, () -> listener.leaseLost(lease.task));
  }

  private void timeOut(Lease lease) {
    log.log(WARNING, lease.name() + " has not ended within its timeout of " + timeout(lease) + "; its handler is cancelled");
    lease.task.cancel(Task.Cancellation.TIMEOUT);
  }

  /** Otherwise it would keep its lease for ever, and nobody would learn of it. */
  private void giveUp(Lease lease) {
    log.log(ERROR, lease.name() + " does not end although its timeout has passed; its attempt has failed, and its place stays taken "
        + "until it ends");
    end.accept(lease, Outcome.failed("timed out: the handler did not end within " + timeout(lease)));
  }

  private static String timeout(Lease lease) {
    return lease.handler.options().timeout().toMillis() + " ms";
  }
}
