package easyretry;

import static java.lang.System.Logger.Level.WARNING;

import easyretry.EasyRetryException.Refused;
import easyretry.EasyRetryException.Unauthorized;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Renews leases, in a thread of its own, so that a request that hangs holds up nothing else. */
final class Renewals {
  private static final int MOST_IN_A_REQUEST = 1000;

  private final Daemon daemon;
  private final Leases leases;
  private final System.Logger log;
  private final Listener listener;
  private final long length; // of a lease, in ns
  private final Pauses pauses;
  private long notBefore; // after a failure

  Renewals(Daemon daemon, Leases leases, Settings settings) {
    this.daemon = daemon;
    this.leases = leases;
    log = settings.log();
    listener = settings.listener();
    length = settings.lease().toNanos();
    pauses = settings.pauses();
  }

  void start() {
    Loops.thread("easyretry-renew", log, this::step).start();
  }

  private boolean step() throws InterruptedException {
    if (!leases.awaitDue(leases.renewing, notBefore)) {
      return false;
    }
    notBefore = Leases.now() + length / 12; // if something unexpected happens
    notBefore = renew(takeDue());
    return true;
  }

  /** Those that are due, or will be soon: one request serves them all. */
  private List<Lease> takeDue() {
    long soon = Leases.now() + length / 12;
    List<Lease> due = new ArrayList<>();
    leases.each(lease -> {
      if (lease.renewalAt() <= soon && due.size() < MOST_IN_A_REQUEST) {
        due.add(lease);
      }
    });
    return due;
  }

  /** Returns the earliest time of the next request. */
  private long renew(List<Lease> due) {
    long sentAt = Leases.now();
    List<String> notes = new ArrayList<>();
    due.forEach(lease -> notes.add(lease.task.noted()));
    List<?> applied;
    try {
      applied = ask(due, notes);
    } catch (EasyRetryException error) {
      if (error instanceof Refused && !(error instanceof Unauthorized)) {
        forget(due, notes); // leases matter more than notes, which may be the reason
      }
      // Also if the daemon asks for more: the leases would be over by then.
      long pause = Math.min(pauses.next(error), TimeUnit.NANOSECONDS.toMillis(length / 6));
      log.log(WARNING, due.size() + " leases could not be renewed, trying again in " + pause + " ms: " + error.getMessage());
      return Leases.now() + TimeUnit.MILLISECONDS.toNanos(pause);
    }
    pauses.reset();
    forget(due, notes);
    renewed(due, applied, sentAt).forEach(this::tell);
    return 0;
  }

  /** Those that are lost. */
  private List<Lease> renewed(List<Lease> due, List<?> applied, long sentAt) {
    List<Lease> lost = new ArrayList<>();
    leases.locked(() -> {
      for (int i = 0; i < due.size(); i++) {
        Lease lease = due.get(i);
        lease.renewAt = sentAt + length / 3;
        lease.toldAt = sentAt;
        lease.lost = !Boolean.TRUE.equals(applied.get(i));
        if (!lease.lost) {
          lease.until = sentAt + length;
        } else if (!lease.ended) { // otherwise its own settlement came first
          lost.add(lease);
        }
      }
    });
    return lost;
  }

  private void tell(Lease lease) {
    log.log(WARNING, "the lease of " + lease.name() + " was lost; its handler is cancelled");
    lease.task.cancel(Task.Cancellation.LEASE_LOST);
    lease.tell(log, () -> listener.leaseLost(lease.task));
  }

  /** If no answer comes within a third of the lease, there is still time for another try. */
  private List<?> ask(List<Lease> due, List<String> notes) {
    List<Map<String, Object>> renewals = new ArrayList<>();
    for (int i = 0; i < due.size(); i++) {
      Map<String, Object> renewal = new LinkedHashMap<>();
      renewal.put("id", due.get(i).task.id());
      renewal.put("version", due.get(i).task.version());
      renewal.put("lease_ms", TimeUnit.NANOSECONDS.toMillis(length));
      if (notes.get(i) != null) {
        renewal.put("progress", Outcome.sendable(notes.get(i)));
      }
      renewals.add(renewal);
    }
    return daemon.applied("/v1/leases/renew", renewals, Duration.ofNanos(length / 3));
  }

  private static void forget(List<Lease> due, List<String> notes) {
    for (int i = 0; i < due.size(); i++) {
      due.get(i).task.sent(notes.get(i));
    }
  }
}
