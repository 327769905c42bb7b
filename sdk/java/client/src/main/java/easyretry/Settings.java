package easyretry;

import java.time.Duration;

/**
 * How an application reaches its daemon and works. What is not set comes from EASYRETRY_URL, EASYRETRY_TOKEN,
 * EASYRETRY_TOKEN_FILE and EASYRETRY_CA_FILE.
 */
public final class Settings {
  private static final String DEFAULT_URL = "http://127.0.0.1:7077";

  private String url = variable("EASYRETRY_URL", DEFAULT_URL);
  private String token = variable("EASYRETRY_TOKEN", "");
  private String tokenFile = token.isEmpty() ? variable("EASYRETRY_TOKEN_FILE", "") : "";
  private String caFile = variable("EASYRETRY_CA_FILE", "");
  private String namespace = "";
  private Duration timeout = Duration.ofSeconds(30);
  private Duration patience = Duration.ofSeconds(30);
  private int concurrency = 10;
  private Duration lease = Duration.ofSeconds(30);
  private Duration wait = Duration.ofSeconds(20);
  private Duration drain = Duration.ofSeconds(20);
  private int batch = 100;
  private Duration mostPause = Duration.ofSeconds(15);
  private Codec codec = new Records();
  private System.Logger log = System.getLogger("easyretry");
  private Listener listener = new Listener() { };

  private static String variable(String name, String otherwise) {
    String value = System.getenv(name);
    return value == null || value.isEmpty() ? otherwise : value;
  }

  public Settings url(String address) {
    url = address;
    return this;
  }

  public Settings token(String secret) {
    token = secret;
    tokenFile = "";
    return this;
  }

  /** Read again when the daemon does not know the token any more. */
  public Settings tokenFile(String file) {
    tokenFile = file;
    return this;
  }

  /** In PEM, the authority that signed the daemon's certificate. */
  public Settings caFile(String file) {
    caFile = file;
    return this;
  }

  public Settings namespace(String name) {
    namespace = name;
    return this;
  }

  /** Of one request, beyond the time it is told to wait. */
  public Settings timeout(Duration time) {
    timeout = checked("timeout", time, Duration.ofMillis(1), Duration.ofHours(1));
    return this;
  }

  /** How long a submission is repeated before its error is thrown. */
  public Settings patience(Duration time) {
    patience = checked("patience", time, Duration.ZERO, Duration.ofDays(1));
    return this;
  }

  /** Handlers that run at once. Each needs a thread. */
  public Settings concurrency(int most) {
    concurrency = checked("concurrency", most, 100_000);
    return this;
  }

  /** Renewed when a third has passed. */
  public Settings lease(Duration time) {
    lease = checked("lease", time, Duration.ofMillis(100), Duration.ofDays(1));
    return this;
  }

  /** The longest poll. */
  public Settings waiting(Duration time) {
    wait = checked("waiting", time, Duration.ZERO, Duration.ofSeconds(60));
    return this;
  }

  /** How long a stop lets handlers finish. The rest is handed back, which is no attempt. */
  public Settings drain(Duration time) {
    drain = checked("drain", time, Duration.ZERO, Duration.ofDays(1));
    return this;
  }

  /** Tasks per request. */
  public Settings batch(int most) {
    batch = checked("batch", most, 1000);
    return this;
  }

  /** Between two tries to reach the daemon, unless it asks for more. */
  public Settings mostPause(Duration time) {
    mostPause = checked("mostPause", time, Duration.ofMillis(10), Duration.ofHours(1));
    return this;
  }

  public Settings codec(Codec how) {
    codec = how;
    return this;
  }

  public Settings log(System.Logger where) {
    log = where;
    return this;
  }

  public Settings listener(Listener told) {
    listener = told;
    return this;
  }

  private static Duration checked(String name, Duration time, Duration least, Duration most) {
    if (time.compareTo(least) < 0 || time.compareTo(most) > 0) {
      throw new IllegalArgumentException(name + " = " + time + ": use " + least + " to " + most);
    }
    return time;
  }

  private static int checked(String name, int number, int most) {
    if (number < 1 || number > most) {
      throw new IllegalArgumentException(name + " = " + number + ": use 1 to " + most);
    }
    return number;
  }

  String url() {
    return url;
  }

  String token() {
    return token;
  }

  String tokenFile() {
    return tokenFile;
  }

  String caFile() {
    return caFile;
  }

  String namespace() {
    return namespace;
  }

  Duration timeout() {
    return timeout;
  }

  Duration patience() {
    return patience;
  }

  int concurrency() {
    return concurrency;
  }

  Duration lease() {
    return lease;
  }

  Duration waiting() {
    return wait;
  }

  Duration drain() {
    return drain;
  }

  int batch() {
    return batch;
  }

  Codec codec() {
    return codec;
  }

  System.Logger log() {
    return log;
  }

  public Listener listener() {
    return listener;
  }

  Pauses pauses() {
    return new Pauses(mostPause);
  }
}
