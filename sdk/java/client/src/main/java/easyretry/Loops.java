package easyretry;

import java.util.concurrent.TimeUnit;

/** Threads that go on, whatever happens in them. */
final class Loops {
  private static final long AFTER_A_SURPRISE_MS = 500; // so that a step that fails each time does not fill the log

  private Loops() { }

  /** False: the thread is to end. */
  @FunctionalInterface
  interface Step {
    boolean run() throws InterruptedException;
  }

  /**
   * A daemon thread that does this again and again. One that ended unnoticed would leave a worker that only looks alive. An
   * interrupt ends it: only a stop interrupts threads of ours.
   */
  static Thread thread(String name, System.Logger log, Step step) {
    Thread thread = new Thread(() -> {
      try {
        while (done(name, log, step)) {
          // Again.
        }
      } catch (InterruptedException stopped) {
        // As said above.
      }
    }, name);
    thread.setDaemon(true);
    return thread;
  }

  private static boolean done(String name, System.Logger log, Step step) throws InterruptedException {
    try {
      return step.run();
    } catch (RuntimeException | Error error) {
      log.log(System.Logger.Level.ERROR, "the thread " + name + ": unexpected " + placeOf(error) + "; it goes on");
      TimeUnit.MILLISECONDS.sleep(AFTER_A_SURPRISE_MS);
      return true;
    }
  }

  /** The class of an error and where it was thrown. Not its text, which may have arguments of a task. */
  static String placeOf(Throwable error) {
    StackTraceElement[] frames = error.getStackTrace();
    return error.getClass().getName() + (frames.length == 0 ? "" : " at " + frames[0].getFileName() + ":" + frames[0].getLineNumber());
  }
}
