package easyretry;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** The worker of bench/sdk.py: submits tasks in batches, then runs them with a handler that does nothing. */
public final class BenchWorker {
  private static int number(String name) {
    return Integer.parseInt(System.getenv(name));
  }

  private static long said(String phase, long begun) {
    System.out.println(Json.write(Map.of("phase", phase, "seconds", (System.nanoTime() - begun) / 1e9)));
    return System.nanoTime();
  }

  public static void main(String[] arguments) throws Exception {
    int tasks = number("BENCH_TASKS");
    int batch = number("BENCH_BATCH");
    AtomicInteger ran = new AtomicInteger();
    CountDownLatch left = new CountDownLatch(tasks);
    App app = new App(new Settings().concurrency(4 * batch).batch(batch));
    app.handler("bench.nothing", new Handler.Options("batches".equals(System.getenv("BENCH_SETTLE")), null), task -> {
      if (ran.incrementAndGet() == tasks / 10) {
        System.out.println(Json.write(Map.of("phase", "tenth")));
      }
      left.countDown();
      return null;
    });
    long begun = System.nanoTime();
    for (int first = 0; first < tasks; first += batch) {
      List<NewTask> some = new ArrayList<>();
      for (int i = first; i < Math.min(first + batch, tasks); i++) {
        some.add(new NewTask("bench.nothing", Map.of("n", i)));
      }
      app.client().submitMany(some);
    }
    begun = said("submit", begun);
    app.start();
    left.await();
    app.stop(); // settles the last ones
    said("drain", begun);
  }
}
