package easyretry;

import java.lang.reflect.Type;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** The task that a handler runs. Made by the worker; a handler may use it from any thread. {@code toString} has no arguments. */
public final class Task {
  /** Why a task was cancelled. */
  public enum Cancellation { LEASE_LOST, TIMEOUT, STOPPING }

  private static final ThreadLocal<Task> CURRENT = new ThreadLocal<>();

  private final Map<?, ?> fields;
  private final Codec codec;
  private final String id;
  private final String handler;
  private final long version;
  // Guarded by this.
  private Cancellation cancellation;
  private Thread runner; // the handler's, while it runs
  private String noted; // a progress that was not sent yet
  private Runnable whenNoted = () -> { };

  /** For the worker and for tests. Throws IllegalArgumentException if one of the fields that every task has is missing. */
  public Task(Map<?, ?> fields, Codec codec) {
    this.fields = fields;
    this.codec = codec;
    id = text("id");
    handler = text("handler");
    if (id == null || handler == null || !(fields.get("version") instanceof Long number)) {
      throw new IllegalArgumentException("it has no id, handler or version");
    }
    version = number;
  }

  /** The task that this thread runs; null outside of handlers. */
  public static Task current() {
    return CURRENT.get();
  }

  public String id() {
    return id;
  }

  public String handler() {
    return handler;
  }

  /** The fencing token: pass it to systems that can reject late writers. */
  public long version() {
    return version;
  }

  public String key() {
    return text("key");
  }

  /** The number of this attempt, beginning with 1. */
  public int attempt() {
    return fields.get("attempts") instanceof Long attempts ? attempts.intValue() : 1;
  }

  /** As {@link Json} reads them. */
  public List<?> args() {
    return fields.get("args") instanceof List<?> args ? args : List.of();
  }

  /** One argument, counted from 0. A missing one is null. */
  public <T> T arg(int number, Class<T> type) {
    @SuppressWarnings("unchecked") // a codec returns what it is asked for, also for int.class
    T value = (T) arg(number, (Type) type);
    return value;
  }

  public Object arg(int number, Type type) {
    Object given = number < args().size() ? args().get(number) : null;
    try {
      return codec.fromJson(given, type);
    } catch (IllegalArgumentException error) {
      throw new IllegalArgumentException("argument " + number + " of " + handler + ": " + error.getMessage(), error);
    }
  }

  public String traceparent() {
    return text("traceparent");
  }

  public String businessType() {
    return text("business_type");
  }

  public String businessId() {
    return text("business_id");
  }

  public String lastError() {
    return text("last_error");
  }

  private String text(String name) {
    return fields.get(name) instanceof String text ? text : null;
  }

  /** True: end soon. The handler's thread was interrupted, too. */
  public boolean cancelled() {
    return whyCancelled() != null;
  }

  /** Null: it is not cancelled. */
  public synchronized Cancellation whyCancelled() {
    return cancellation;
  }

  /** Waits, but not longer than until the task is cancelled. Returns {@link #cancelled()}. */
  public synchronized boolean await(Duration time) throws InterruptedException {
    long until = System.nanoTime() + time.toNanos();
    try {
      for (long left; cancellation == null && (left = until - System.nanoTime()) > 0; ) {
        wait(left / 1_000_000, (int) (left % 1_000_000));
      }
    } catch (InterruptedException error) {
      if (cancellation == null) {
        throw error;
      }
    }
    return cancellation != null;
  }

  /** A note for operators, sent with a renewal of the lease: at once, but not more often than once a second. */
  public void progress(String text) {
    Runnable report;
    synchronized (this) {
      noted = text;
      report = whenNoted;
    }
    report.run();
  }

  synchronized void whenNoted(Runnable report) {
    whenNoted = report;
  }

  /** The progress that is still to be sent; null: there is none. */
  public synchronized String noted() {
    return noted;
  }

  /** This note has been sent. The handler may have made a new one since. */
  synchronized void sent(String note) {
    if (note != null && note.equals(noted)) {
      noted = null;
    }
  }

  /** Tells the handler to end. The first reason stays. */
  synchronized void cancel(Cancellation why) {
    if (cancellation != null) {
      return;
    }
    cancellation = why;
    notifyAll();
    if (runner != null) {
      runner.interrupt();
    }
  }

  /** Runs the handler in this thread. Throws nothing: whatever the handler throws is a failed attempt. */
  public Outcome run(Handler.Named named) {
    enter();
    Outcome outcome;
    try {
      outcome = Outcome.of(named.handler().run(this), codec, named.options().batch());
    } catch (Throwable error) {
      outcome = Outcome.of(error);
    } finally {
      leave();
    }
    return outcome.after(whyCancelled());
  }

  private synchronized void enter() {
    CURRENT.set(this);
    runner = Thread.currentThread();
    if (cancellation != null) {
      runner.interrupt();
    }
  }

  private synchronized void leave() {
    CURRENT.remove();
    runner = null;
    Thread.interrupted(); // an interrupt was for this task, not for the next one of this thread
  }

  @Override
  public String toString() {
    return "Task(" + id + ", " + handler + ", key=" + key() + ", attempt " + attempt() + ")";
  }
}
