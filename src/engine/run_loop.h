#pragma once
// A thread that steps one part until told to stop. Make it the last member of its owner: it joins when destroyed,
// while what it uses still lives.

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "engine/bell.h"
#include "engine/context.h"
#include "engine/step.h"

namespace easyretry::engine {

class RunLoop {
 public:
  RunLoop(std::string name, Context& context, Bell& bell, std::function<Step()> step);
  ~RunLoop();
  RunLoop(const RunLoop&) = delete;
  RunLoop& operator=(const RunLoop&) = delete;

 private:
  void run();
  Step guarded_step();

  const std::string name_;
  Context& context_;
  Bell& bell_;
  const std::function<Step()> step_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace easyretry::engine
