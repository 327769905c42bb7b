#pragma once
// A thread that steps one part until its bell is closed, which its end does: loops with one bell end together. Make it
// the last member of its owner: it joins when destroyed, while what it uses still lives.

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
  std::thread thread_;
};

}  // namespace easyretry::engine
