#include "engine/run_loop.h"

#include <exception>

#include <pthread.h>

namespace easyretry::engine {

RunLoop::RunLoop(std::string name, Context& context, Bell& bell, std::function<Step()> step)
    : name_(std::move(name)), context_(context), bell_(bell), step_(std::move(step)), thread_([this] { run(); }) {}

RunLoop::~RunLoop() {
  bell_.close();
  thread_.join();
}

void RunLoop::run() {
  pthread_setname_np(pthread_self(), name_.substr(0, 15).c_str());  // the kernel keeps 15 characters
  while (!bell_.closed()) {
    const Step step = guarded_step();
    if (step.wake != Instant::min()) bell_.wait_until(step.wake);
  }
}

// Nothing may end the loop but its owner: a lost loop is an engine that stands still without a word.
Step RunLoop::guarded_step() {
  std::string what;
  try {
    return step_();
  } catch (const std::exception& e) {
    what = e.what();
  } catch (...) {
    what = "unknown exception";
  }
  Counters::add(context_.counters.internal_errors);
  context_.log(LogLevel::error, name_ + " failed and continues: " + what);
  return {true, context_.clock.steady() + std::chrono::milliseconds{100}};
}

}  // namespace easyretry::engine
