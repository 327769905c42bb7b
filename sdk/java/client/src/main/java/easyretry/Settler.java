package easyretry;

import static java.lang.System.Logger.Level.ERROR;
import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import easyretry.EasyRetryException.Conflict;
import easyretry.EasyRetryException.Refused;
import easyretry.EasyRetryException.Unauthorized;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Tells the daemon how attempts ended. Keeps trying while the daemon is away.
 *
 * <p>Successes of handlers with {@code batch} and tasks that are handed back go many in a request. The others go one by one,
 * because the daemon judges them: by {@code success_when}, and by the policy.
 */
final class Settler {
  private static final int PARALLEL = 8; // requests for single tasks at a time; the daemon commits them together

  private record Settlement(Lease lease, Outcome outcome) { }

  private static final Settlement LAST = new Settlement(null, null);

  private final Daemon daemon;
  private final Settings settings;
  private final System.Logger log;
  private final Consumer<Collection<Lease>> settled;
  private final BlockingQueue<Settlement> many = new LinkedBlockingQueue<>();
  private final BlockingQueue<Settlement> single = new LinkedBlockingQueue<>();
  private final CountDownLatch givenUp = new CountDownLatch(1);

  /** {@code settled} is called with leases that need no more care. */
  Settler(Daemon daemon, Settings settings, Consumer<Collection<Lease>> settled) {
    this.daemon = daemon;
    this.settings = settings;
    this.settled = settled;
    log = settings.log();
  }

  void start() {
    Loops.thread("easyretry-settle", log, this::settleBatch).start();
    for (int i = 1; i <= PARALLEL; i++) {
      Loops.thread("easyretry-settle-" + i, log, this::settleNext).start();
    }
  }

  void put(Lease lease, Outcome outcome) {
    if (outcome.warning() != null) {
      log.log(WARNING, lease.name() + ": " + outcome.warning());
    }
    (outcome.inBatches() ? many : single).add(new Settlement(lease, outcome));
  }

  /** Ends all tries. Tasks that are not settled run again when their leases have expired. */
  void close() {
    givenUp.countDown();
    many.add(LAST);
    single.add(LAST);
  }

  private boolean settleNext() throws InterruptedException {
    Settlement one = single.take();
    if (one == LAST) {
      single.add(LAST); // for the other threads
      return false;
    }
    deliver(List.of(one.lease), () -> send(one));
    return true;
  }

  private boolean settleBatch() throws InterruptedException {
    Settlement first = many.take();
    if (first == LAST) {
      return false;
    }
    List<Settlement> waiting = new ArrayList<>(List.of(first));
    many.drainTo(waiting, settings.batch() - 1);
    if (waiting.remove(LAST)) {
      many.add(LAST);
    }
    deliver(waiting.stream().map(Settlement::lease).toList(), () -> sendAll(waiting));
    return true;
  }

  private void send(Settlement one) {
    Task task = one.lease.task;
    Outcome outcome = one.outcome;
    try {
      Object ended = daemon.post("/v1/leases/" + task.id() + "/" + outcome.verb(), outcome.body(task.version())).get("outcome");
      tell(one, ended instanceof String text ? text : null);
    } catch (Conflict error) { // lost; or settled by an earlier try whose answer was lost
      log.log(INFO, one.lease.name() + " was no longer leased when it was settled");
    } catch (Unauthorized error) {
      throw error;
    } catch (Refused error) {
      if (outcome.result() == null) {
        throw error;
      }
      log.log(WARNING, one.lease.name() + ": its result was refused, and is left out: " + error.getMessage());
      send(new Settlement(one.lease, outcome.withoutResult()));
    }
  }

  private void sendAll(List<Settlement> waiting) {
    List<Map<String, Object>> wanted = new ArrayList<>();
    for (Settlement one : waiting) {
      wanted.add(Map.of("id", one.lease.task.id(), "version", one.lease.task.version(), "kind", one.outcome.verb()));
    }
    Object applied = daemon.post("/v1/leases/settle", Json.write(Map.of("tasks", wanted))).get("applied");
    for (int i = 0; applied instanceof List<?> list && list.size() == waiting.size() && i < list.size(); i++) {
      if (Boolean.TRUE.equals(list.get(i)) && waiting.get(i).outcome.verb().equals("finish")) {
        tell(waiting.get(i), "succeeded");
      }
    }
  }

  private void tell(Settlement one, String outcome) {
    one.lease.tell(log, () -> settings.listener().settled(one.lease.task, one.outcome, outcome));
  }

  /** Until it has arrived. A refusal is final, apart from that of a token, which can be replaced. */
  private void deliver(List<Lease> leases, Runnable send) throws InterruptedException {
    Pauses pauses = settings.pauses();
    while (givenUp.getCount() > 0) {
      try {
        send.run();
        break;
      } catch (EasyRetryException error) {
        if (error instanceof Refused && !(error instanceof Unauthorized)) {
          log.log(ERROR, leases.size() + " outcomes were refused; the tasks run again when their leases have expired: "
              + error.getMessage());
          break;
        }
        long pause = pauses.next(error);
        log.log(WARNING, leases.size() + " outcomes could not be sent, trying again in " + pause + " ms: " + error.getMessage());
        givenUp.await(pause, TimeUnit.MILLISECONDS);
      } catch (RuntimeException | Error error) {
        log.log(ERROR, leases.size() + " outcomes cannot be sent (" + Loops.placeOf(error)
            + "); the tasks run again when their leases have expired");
        break;
      }
    }
    settled.accept(leases);
  }
}
