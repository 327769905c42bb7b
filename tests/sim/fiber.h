#pragma once
// A function with a stack of its own, which may stop in the middle and go on later: the simulator's threads.
//
// All fibers of a world take turns on one thread, so the order of everything is the order in which they are resumed,
// and a handler, a store call or a part of the engine can last for virtual time while others go on. Engine code runs on
// them unchanged, as long as it does not call the store, or wait, inside a catch block or with a mutex held.

#include <functional>
#include <memory>

namespace easyretry::sim {

// Thrown out of suspend() in a fiber that is destroyed before its end, to unwind its stack.
struct Killed {};

class Fiber {
 public:
  explicit Fiber(std::function<void()> body);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs it until it suspends or ends. Not from within itself.
  void resume();
  bool done() const;

  // The two for code that runs on a fiber. Killed is thrown once more wherever a `catch (...)` of the engine has
  // taken it for a handler's failure, so the engine's caller checks killed() before it believes the answer.
  static void suspend();
  static bool killed();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace easyretry::sim
