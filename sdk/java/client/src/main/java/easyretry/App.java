package easyretry;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/**
 * An application: its handlers, its client and its worker. Handlers are registered first; then {@link #run()}, or
 * {@link #start()} and {@link #stop()}, work on their tasks.
 */
public final class App implements AutoCloseable {
  private final Settings settings;
  private final Map<String, Handler.Named> handlers = new LinkedHashMap<>();
  private volatile Client client;
  private Worker worker; // guarded by this

  public App(Settings settings) {
    this.settings = settings;
    client = new Client(settings);
  }

  /** The token comes from EASYRETRY_TOKEN or EASYRETRY_TOKEN_FILE. */
  public App(String url) {
    this(new Settings().url(url));
  }

  public Client client() {
    return client;
  }

  /** For tests: another client in its place, until this one is set again. */
  public void client(Client other) {
    client = other;
  }

  public Settings settings() {
    return settings;
  }

  public App handler(String name, Handler handler) {
    return handler(name, Handler.Options.DEFAULT, handler);
  }

  public synchronized App handler(String name, Handler.Options options, Handler handler) {
    if (handlers.putIfAbsent(name, new Handler.Named(name, handler, options)) != null) {
      throw new IllegalArgumentException("the handler " + name + " is registered twice");
    }
    return this;
  }

  /** A handler of one argument that returns nothing. */
  public <T> App action(String name, Class<T> type, Handler.Action<T> action) {
    return handler(name, task -> {
      action.run(task.arg(0, type));
      return null;
    });
  }

  public synchronized Map<String, Handler.Named> handlers() {
    return Map.copyOf(handlers);
  }

  /** Works in the background. */
  public synchronized void start() {
    if (worker != null) {
      throw new IllegalStateException("the worker is already running");
    }
    worker = new Worker(client.daemon(), Map.copyOf(handlers), settings);
    worker.start();
  }

  /** Leases no more tasks, lets handlers finish for {@code drain}, and hands back the rest. */
  public void stop() {
    Worker stopped;
    synchronized (this) {
      stopped = worker;
      worker = null;
    }
    if (stopped != null) {
      stopped.stop();
    }
  }

  /** The number of tasks that are leased and not yet settled; 0 if the worker does not run. */
  public synchronized int held() {
    return worker == null ? 0 : worker.held();
  }

  public synchronized boolean running() {
    return worker != null;
  }

  /** As {@link #stop()}. */
  @Override
  public void close() {
    stop();
  }

  /** Works until SIGTERM or SIGINT, then stops; the exit code is that of Java, 143 or 130. */
  public void run() {
    CountDownLatch end = new CountDownLatch(1);
    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
      stop();
      end.countDown();
    }, "easyretry-stop"));
    start();
    try {
      end.await();
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
      stop();
    }
  }
}
