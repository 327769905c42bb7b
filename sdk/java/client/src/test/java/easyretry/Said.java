package easyretry;

import java.util.List;
import java.util.ResourceBundle;
import java.util.concurrent.CopyOnWriteArrayList;

/** A log that keeps its warnings. */
final class Said implements System.Logger {
  final List<String> lines = new CopyOnWriteArrayList<>();

  @Override
  public String getName() {
    return "said";
  }

  @Override
  public boolean isLoggable(Level level) {
    return level.getSeverity() >= Level.WARNING.getSeverity();
  }

  @Override
  public void log(Level level, ResourceBundle bundle, String message, Throwable thrown) {
    log(level, bundle, message);
  }

  @Override
  public void log(Level level, ResourceBundle bundle, String format, Object... parameters) {
    if (isLoggable(level)) {
      lines.add(format);
    }
  }
}
