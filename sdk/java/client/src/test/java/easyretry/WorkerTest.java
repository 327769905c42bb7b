package easyretry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a worker does when the daemon or a handler does not answer. The daemon is played by this test. */
class WorkerTest {
  private final Queue<String> tasks = new ConcurrentLinkedQueue<>();
  private final List<String> settled = new CopyOnWriteArrayList<>(); // paths and bodies
  private final List<Long> polls = new CopyOnWriteArrayList<>();
  private final AtomicInteger asked = new AtomicInteger(); // how often the state of a task
  private final CountDownLatch over = new CountDownLatch(1);
  private volatile boolean renewalsHang;
  private volatile CountDownLatch pollsAnswered = new CountDownLatch(0);
  private HttpServer server;
  private App app;

  @BeforeEach
  void start() throws Exception {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newCachedThreadPool(job -> {
      Thread thread = new Thread(job);
      thread.setDaemon(true);
      return thread;
    }));
    server.createContext("/", exchange -> {
      String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
      byte[] answer = answer(exchange.getRequestURI().getPath(), body).getBytes(StandardCharsets.UTF_8);
      exchange.getResponseHeaders().set("easyretry-time", "2026-03-01T12:00:00.000Z");
      exchange.sendResponseHeaders(200, answer.length);
      exchange.getResponseBody().write(answer);
      exchange.close();
    });
    server.start();
  }

  @AfterEach
  void stop() {
    over.countDown();
    app.stop();
    server.stop(0);
  }

  private String answer(String path, String body) throws IOException {
    try {
      switch (path) {
        case "/v1/leases" -> {
          polls.add(System.nanoTime());
          pollsAnswered.await(60, TimeUnit.SECONDS);
          String task = tasks.poll();
          over.await(task == null ? 20 : 0, TimeUnit.MILLISECONDS);
          return "{\"tasks\":[" + (task == null ? "" : task) + "]}";
        }
        case "/v1/leases/renew" -> {
          over.await(renewalsHang ? 60 : 0, TimeUnit.SECONDS);
          int count = ((List<?>) ((Map<?, ?>) Json.read(body)).get("tasks")).size();
          return "{\"applied\":[true" + ",true".repeat(count - 1) + "]}";
        }
        case "/v1/tasks/1" -> {
          asked.incrementAndGet();
          return "{\"id\":\"1\",\"state\":\"pending\"}";
        }
        default -> {
          settled.add(path + " " + body);
          return "{\"applied\":[true]}";
        }
      }
    } catch (InterruptedException error) {
      throw new IOException(error);
    }
  }

  private void give(String handler) {
    tasks.add("{\"id\":\"1\",\"version\":1,\"attempts\":1,\"args\":[],\"handler\":\"" + handler + "\"}");
  }

  private App app(Duration lease, Listener listener) {
    app = new App(new Settings().url("http://127.0.0.1:" + server.getAddress().getPort()).token("t").waiting(Duration.ZERO)
        .drain(Duration.ofMillis(100)).concurrency(1).lease(lease).listener(listener));
    return app;
  }

  private App app(Duration lease) {
    return app(lease, new Listener() { });
  }

  @Test
  void aHandlerIsCancelledWhenItsLeaseIsOverByOurOwnClock() throws Exception {
    renewalsHang = true;
    List<Task.Cancellation> why = new CopyOnWriteArrayList<>();
    app(Duration.ofSeconds(2)).handler("h", task -> {
      task.await(Duration.ofMinutes(1));
      why.add(task.whyCancelled());
      throw new IllegalStateException("because it was cancelled");
    });
    give("h");
    app.start();
    RealDaemon.until("it is cancelled", () -> !why.isEmpty());
    assertEquals(List.of(Task.Cancellation.LEASE_LOST), why);
    RealDaemon.until("its place is free", () -> app.held() == 0);
    assertEquals(List.of(), settled, "the failure is due to the cancellation, and no attempt");
  }

  @Test
  void aHandlerThatDoesNotEndAfterItsTimeoutHasFailedAndKeepsItsPlace() throws Exception {
    CountDownLatch gate = new CountDownLatch(1);
    CountDownLatch other = new CountDownLatch(1);
    app(Duration.ofMinutes(1)).handler("stuck", Handler.Options.DEFAULT.timeout(Duration.ofMillis(200)), task -> {
      while (gate.getCount() > 0) {
        try {
          gate.await();
        } catch (InterruptedException ignored) {
          // It pays no attention to being cancelled.
        }
      }
      return null;
    }).handler("other", task -> {
      other.countDown();
      return null;
    });
    give("stuck");
    give("other");
    app.start();
    RealDaemon.until("it has failed", () -> settled.size() == 1);
    assertTrue(settled.get(0).contains("/fail") && settled.get(0).contains("did not end within 200 ms"), settled.get(0));
    assertTrue(!other.await(300, TimeUnit.MILLISECONDS), "there is one place only");
    gate.countDown();
    assertTrue(other.await(60, TimeUnit.SECONDS));
  }

  @Test
  void anUnexpectedErrorEndsNoThreadOfTheWorker() throws Exception {
    app(Duration.ofMinutes(1)).handler("h", task -> null);
    tasks.add("{\"id\":\"1\",\"version\":1,\"handler\":\"h\",\"args\":[],\"attempts\":1},null"); // null: no task at all
    give("h");
    app.start();
    RealDaemon.until("both are settled", () -> settled.size() == 2);
  }

  @Test
  void aDaemonThatAnswersAPollAtOnceIsNotAskedWithoutPauses() throws Exception {
    app(Duration.ofMinutes(1));
    for (Duration waiting : List.of(Duration.ZERO, Duration.ofSeconds(20))) { // or the daemon closes its queue, because it stops
      polls.clear();
      App polling = new App(app.settings().waiting(waiting).mostPause(Duration.ofMillis(400)));
      CountDownLatch ran = new CountDownLatch(1);
      polling.action("h", Object.class, nothing -> ran.countDown());
      try (polling) {
        polling.start();
        RealDaemon.until("it polls", () -> polls.size() >= 6);
        long ms = TimeUnit.NANOSECONDS.toMillis(polls.get(5) - polls.get(0));
        assertTrue(ms > 500, ms + " ms; it pauses for 100, 200, 400, 400 and 400 ms, of which half may be missing");
        give("h");
        assertTrue(ran.await(60, TimeUnit.SECONDS));
      }
    }
  }

  @Test
  void aTaskThatFallsDueAsTheLastPollIsClosedIsLeftToItsLease() throws Exception {
    CountDownLatch due = new CountDownLatch(1);
    pollsAnswered = due;
    List<String> ran = new CopyOnWriteArrayList<>();
    app(Duration.ofMinutes(1)).handler("h", task -> ran.add(task.id()));
    app.start();
    RealDaemon.until("it polls", () -> polls.size() == 1);
    app.stop(); // closes the connection, because no answer comes
    give("h");
    due.countDown();
    RealDaemon.until("the daemon has given it out", tasks::isEmpty);
    assertEquals(List.of(), ran, "nobody is there to run it");
    assertEquals(List.of(), settled, "or to hand it back: it runs when its lease has expired");
    assertEquals(1, polls.size());
  }

  @Test
  void aDaemonThatAnswersAWaitAtOnceIsNotAskedWithoutPauses() {
    app(Duration.ofMinutes(1)).client().await("1", Duration.ofSeconds(1));
    assertTrue(asked.get() <= 12, asked + " requests in a second");
  }
}
