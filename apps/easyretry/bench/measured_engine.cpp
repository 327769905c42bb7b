#include "bench/measured_engine.h"

#include <chrono>
#include <thread>

namespace easyretry::app {

EngineOptions engine_options(const BenchOptions& options) {
  EngineOptions engine;
  engine.space = options.space;
  engine.workers = options.workers;
  engine.batch = options.batch;
  return engine;
}

void wait_for(const Engine& engine, std::size_t succeeded, std::string_view what, const Progress& progress) {
  for (auto done = engine.stats().succeeded; done < succeeded; done = engine.stats().succeeded) {
    progress(what, static_cast<double>(done) / static_cast<double>(succeeded));
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
}

}  // namespace easyretry::app
