import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.SchedulerBuilder;
import com.github.kagkarlsson.scheduler.logging.LogLevel;
import com.github.kagkarlsson.scheduler.task.SchedulableInstance;
import com.github.kagkarlsson.scheduler.task.Task;
import com.github.kagkarlsson.scheduler.task.TaskDescriptor;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.Serializable;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * db-scheduler on PostgreSQL, by lock-and-fetch, its documentation's way to throughput, and on MariaDB, by fetch. A retry is
 * due at once.
 */
final class Bench implements Peer {
  record Data(int id, double from, boolean fails) implements Serializable {}

  private static final TaskDescriptor<Data> NOOP = TaskDescriptor.of("noop", Data.class);

  private final HikariDataSource source;
  private final Scheduler scheduler;

  Bench(Settings settings) throws Exception {
    HikariConfig pool = new HikariConfig();
    pool.setJdbcUrl(Settings.jdbcUrl());
    pool.setMaximumPoolSize(settings.number("connections"));
    source = new HikariDataSource(pool);
    if (!"worker".equals(System.getenv("PEER_ROLE"))) createTable();
    Task<Data> task = Tasks.oneTime(NOOP)
        .onFailure((complete, operations) -> operations.reschedule(complete, Instant.now()))
        .execute((instance, context) -> {
          Data data = instance.getData();
          Driver.run(new Work(data.id, data.from, 0, data.fails), context.getExecution().consecutiveFailures == 0);
        });
    SchedulerBuilder builder = Scheduler.create(source, task)
        .threads(settings.number("threads"))
        .pollingInterval(Duration.ofMillis(settings.number("poll")))
        .failureLogging(LogLevel.OFF, false);
    double lower = settings.real("lower");
    double upper = settings.real("upper");
    if (Settings.isPostgres()) builder.pollUsingLockAndFetch(lower, upper);
    else builder.pollUsingFetchAndLockOnExecute(lower, upper);
    if (settings.work.equals("latency-own")) builder.enableImmediateExecution();
    scheduler = builder.build();
  }

  /** Its own schema, without the index that only enablePriority() needs. */
  private void createTable() throws Exception {
    boolean postgres = Settings.isPostgres();
    String text = postgres ? "text" : "varchar(100)";
    String time = postgres ? "timestamptz" : "datetime(6)";
    Database.run(source,
        "create table scheduled_tasks (task_name " + text + " not null, task_instance " + text + " not null, task_data "
            + (postgres ? "bytea" : "blob") + ", execution_time " + time + " not null, picked boolean not null, picked_by " + text
            + ", last_success " + time + " null, last_failure " + time + " null, consecutive_failures int, last_heartbeat " + time
            + " null, version bigint not null, priority smallint, primary key (task_name, task_instance))",
        "create index execution_time_idx on scheduled_tasks (execution_time)",
        "create index last_heartbeat_idx on scheduled_tasks (last_heartbeat)");
  }

  private static SchedulableInstance<Data> instance(Work task) {
    Instant due = task.due() > 0 ? Instant.ofEpochSecond(0, (long) (task.due() * 1e6)) : Instant.now();
    return NOOP.instance("i" + task.id()).data(new Data(task.id(), task.from(), task.fails())).scheduledTo(due);
  }

  @Override public void addMany(List<Work> tasks) {
    List<SchedulableInstance<?>> all = new ArrayList<>();
    for (Work task : tasks) all.add(instance(task));
    scheduler.scheduleBatch(all);
  }

  @Override public void add(Work task) {
    scheduler.schedule(instance(task));
  }

  @Override public void prepare() throws Exception {
    Database.run(source, Settings.isPostgres() ? "analyze scheduled_tasks" : "analyze table scheduled_tasks");
  }

  @Override public void work() {
    scheduler.start();
  }

  @Override public boolean left() throws Exception {
    return Database.any(source, "select 1 from scheduled_tasks limit 1");
  }

  public static void main(String[] args) throws Exception {
    Settings settings = new Settings(args, "threads=50", "lower=1", "upper=4", "poll=20");
    Driver driver = new Driver(settings, 1500);
    driver.main("db-scheduler", Scheduler.class, new Bench(settings));
  }
}
