package easyretry.spring;

import easyretry.Settings;
import java.time.Duration;
import java.util.function.Function;
import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * {@code easyretry.*} of the application's configuration. What is not set has the default of {@link Settings}, which reads
 * EASYRETRY_URL, EASYRETRY_TOKEN, EASYRETRY_TOKEN_FILE and EASYRETRY_CA_FILE.
 *
 * @param worker false: the application stores tasks, and runs none
 */
@ConfigurationProperties("easyretry")
public record EasyRetryProperties(String url, String token, String tokenFile, String caFile, String namespace, Duration timeout,
    Duration patience, Integer concurrency, Duration lease, Duration waiting, Duration drain, Integer batch, Duration mostPause,
    Boolean worker) {
  boolean works() {
    return worker == null || worker;
  }

  Settings settings() {
    Settings settings = new Settings();
    set(url, settings::url);
    set(token, settings::token);
    set(tokenFile, settings::tokenFile);
    set(caFile, settings::caFile);
    set(namespace, settings::namespace);
    set(timeout, settings::timeout);
    set(patience, settings::patience);
    set(concurrency, settings::concurrency);
    set(lease, settings::lease);
    set(waiting, settings::waiting);
    set(drain, settings::drain);
    set(batch, settings::batch);
    set(mostPause, settings::mostPause);
    return settings;
  }

  private static <T> void set(T value, Function<T, Settings> setter) {
    if (value != null) {
      setter.apply(value);
    }
  }

  @Override
  public String toString() { // without the token
    return "easyretry at " + url;
  }
}
