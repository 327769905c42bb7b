package easyretry.spring;

import easyretry.App;
import org.springframework.context.SmartLifecycle;

/** Starts the worker last and stops it first, while the beans that handlers use still work. */
final class WorkerLifecycle implements SmartLifecycle {
  private final App app;
  private final boolean works;

  WorkerLifecycle(App app, boolean works) {
    this.app = app;
    this.works = works;
  }

  @Override
  public void start() {
    if (works && !app.handlers().isEmpty()) {
      app.start();
    }
  }

  @Override
  public void stop() {
    app.stop();
  }

  @Override
  public boolean isRunning() {
    return app.running();
  }
}
