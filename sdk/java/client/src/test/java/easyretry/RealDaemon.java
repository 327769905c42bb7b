package easyretry;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A running {@code easyretry serve} on SQLite in its own folder. EASYRETRY_PROGRAM says where the program is. */
public final class RealDaemon implements AutoCloseable {
  private static final Pattern SERVES = Pattern.compile("serves (http://127\\.0\\.0\\.1:\\d+)");

  private final Path folder;
  private final Process process;
  private final String url;

  public RealDaemon(Path folder, String config) throws IOException {
    this.folder = folder;
    Files.writeString(folder.resolve("easyretry.yaml"),
        "store: sqlite:retry.db\nserver: {listen: '127.0.0.1:0'}\nwindow: 1s\n" + config);
    process = started("serve");
    url = urlSaid();
  }

  private static String program() {
    String program = System.getenv("EASYRETRY_PROGRAM");
    if (program == null) {
      throw new IllegalStateException("set EASYRETRY_PROGRAM to the program easyretry; these tests need a real daemon");
    }
    return Path.of(program).toAbsolutePath().toString();
  }

  private Process started(String... arguments) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(program());
    builder.command().addAll(java.util.List.of(arguments));
    builder.environment().keySet().removeIf(name -> name.startsWith("EASYRETRY_")); // the daemon refuses those it does not know
    return builder.directory(folder.toFile()).redirectError(folder.resolve("daemon.log").toFile()).start();
  }

  private String urlSaid() throws IOException {
    BufferedReader lines = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    for (String line; (line = lines.readLine()) != null; ) {
      Matcher found = SERVES.matcher(line);
      if (found.find()) {
        return found.group(1);
      }
    }
    throw new IllegalStateException("it did not start: " + Files.readString(folder.resolve("daemon.log")));
  }

  public String url() {
    return url;
  }

  public String token(String role) {
    try {
      Process made = started("token", "create", role + System.nanoTime(), "--role", role, "--namespace", "default");
      return new String(made.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  public Settings settings() {
    return new Settings().url(url).token(token("application")).waiting(Duration.ofSeconds(2)).drain(Duration.ofSeconds(1));
  }

  /** Waits for a condition, with a limit that is generous on a busy machine. */
  public static void until(String what, BooleanSupplier holds) throws InterruptedException {
    for (long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60); !holds.getAsBoolean(); Thread.sleep(20)) {
      if (System.nanoTime() > end) {
        throw new AssertionError("not within 60 s: " + what);
      }
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
    process.onExit().join();
  }
}
