import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jobrunr.configuration.JobRunr;
import org.jobrunr.jobs.filters.RetryFilter;
import org.jobrunr.jobs.lambdas.JobRequest;
import org.jobrunr.jobs.lambdas.JobRequestHandler;
import org.jobrunr.scheduling.BackgroundJobRequest;
import org.jobrunr.server.BackgroundJobServerConfiguration;
import org.jobrunr.storage.StorageProviderUtils.DatabaseOptions;
import org.jobrunr.storage.sql.postgres.PostgresStorageProvider;

/**
 * JobRunr (its free edition) on PostgreSQL. Jobs are requests with a handler, so that no lambda is analysed. It polls every 5 s, the
 * least it accepts, but takes new work when workers become free; so the interval matters to scheduled jobs and retries. A retry is due
 * after a second, the least that its filter accepts. Succeeded jobs stay in the table: it has no setting that removes them at once.
 */
public final class Bench implements Peer {
  private static final Set<Integer> FAILED = ConcurrentHashMap.newKeySet();

  public static final class Request implements JobRequest {
    public int id;
    public double from;
    public boolean fails;

    public Request() {}

    Request(Work task) {
      id = task.id();
      from = task.from();
      fails = task.fails();
    }

    @Override public Class<Handler> getJobRequestHandler() {
      return Handler.class;
    }
  }

  public static final class Handler implements JobRequestHandler<Request> {
    @Override public void run(Request request) {
      boolean first = request.fails && FAILED.add(request.id);
      Driver.run(new Work(request.id, request.from, 0, request.fails), first);
    }
  }

  private final HikariDataSource source;

  Bench(Settings settings) {
    HikariConfig pool = new HikariConfig();
    pool.setJdbcUrl(Settings.jdbcUrl());
    pool.setMaximumPoolSize(settings.number("connections"));
    source = new HikariDataSource(pool);
    var server = BackgroundJobServerConfiguration.usingStandardBackgroundJobServerConfiguration()
        .andWorkerCount(settings.number("workers"))
        .andPollInterval(Duration.ofMillis(settings.number("poll")))
        .andScheduledJobsRequestSize(5000);
    JobRunr.configure()
        .useStorageProvider(new PostgresStorageProvider(source, DatabaseOptions.CREATE))
        .withJobFilter(new RetryFilter(3, 1))
        .useBackgroundJobServer(server, false)
        .initialize();
  }

  @Override public void addMany(List<Work> tasks) {
    if (tasks.get(0).due() == 0) BackgroundJobRequest.enqueue(tasks.stream().map(Request::new));
    else tasks.forEach(Bench::schedule); // there is no call for many that are due later
  }

  private static void schedule(Work task) {
    BackgroundJobRequest.schedule(Instant.ofEpochSecond(0, (long) (task.due() * 1e6)), new Request(task));
  }

  @Override public void add(Work task) {
    BackgroundJobRequest.enqueue(new Request(task));
  }

  @Override public void prepare() throws Exception {
    Database.run(source, "analyze jobrunr_jobs");
  }

  @Override public void work() {
    JobRunr.getBackgroundJobServer().start();
  }

  @Override public boolean left() throws Exception {
    return Database.any(source,
        "select 1 from jobrunr_jobs where state in ('ENQUEUED', 'PROCESSING', 'SCHEDULED', 'FAILED', 'AWAITING') limit 1");
  }

  public static void main(String[] args) throws Exception {
    Settings settings = new Settings(args, "workers=64", "poll=5000", "batch=5000");
    Driver driver = new Driver(settings, 3000);
    driver.main("JobRunr", JobRunr.class, new Bench(settings));
  }
}
