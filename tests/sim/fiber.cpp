#include "sim/fiber.h"

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <ucontext.h>

// The sanitizers have to be told when the stack changes.
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace easyretry::sim {
namespace {

constexpr std::size_t kGuard = 4096;  // a page without access below each stack, so that an overflow is seen
constexpr std::size_t kStack = 256 * 1024;

class Stack {
 public:
  Stack() : memory_(mmap(nullptr, kGuard + kStack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (memory_ == MAP_FAILED || mprotect(bottom(), kStack, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc{};
  }
  ~Stack() {
    if (memory_ != nullptr) munmap(memory_, kGuard + kStack);
  }
  Stack(Stack&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
  Stack& operator=(Stack&& other) noexcept {
    std::swap(memory_, other.memory_);
    return *this;
  }
  void* bottom() const { return static_cast<std::byte*>(memory_) + kGuard; }

 private:
  void* memory_;
};

// Used again by the next fiber: a run needs a few dozen at a time and thousands in all.
thread_local std::vector<Stack> spare_stacks;

Stack take_stack() {
  if (spare_stacks.empty()) return Stack{};
  Stack stack = std::move(spare_stacks.back());
  spare_stacks.pop_back();
  return stack;
}

}  // namespace

struct Fiber::State {
  std::function<void()> body;
  Stack stack = take_stack();
  ucontext_t self{};
  ucontext_t caller{};
  bool begun = false;
  bool done = false;
  bool killed = false;
  State* outer = nullptr;  // the fiber that resumed this one, if any

  static thread_local State* current;
  static thread_local State* beginning;

  explicit State(std::function<void()> what) : body(std::move(what)) {
#if defined(__SANITIZE_THREAD__)
    tsan_self = __tsan_create_fiber(0);
#endif
    getcontext(&self);
    self.uc_stack.ss_sp = stack.bottom();
    self.uc_stack.ss_size = kStack;
    self.uc_link = nullptr;
    makecontext(&self, &State::enter, 0);
  }

  ~State() {
#if defined(__SANITIZE_THREAD__)
    __tsan_destroy_fiber(tsan_self);
#endif
    spare_stacks.push_back(std::move(stack));
  }

  static void enter() {
    State& me = *std::exchange(beginning, nullptr);
    me.arrived();
    try {
      me.body();
    } catch (const Killed&) {
    }
    me.body = nullptr;  // what it captured goes while everything else still lives
    me.done = true;
    me.leave();
  }

  void go() {
    outer = std::exchange(current, this);
    if (!std::exchange(begun, true)) beginning = this;
#if defined(__SANITIZE_ADDRESS__)
    void* fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, stack.bottom(), kStack);
#endif
#if defined(__SANITIZE_THREAD__)
    tsan_caller = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(tsan_self, 0);
#endif
    swapcontext(&caller, &self);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
    current = outer;
  }

  void leave() {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(done ? nullptr : &asan_fake, asan_caller, asan_caller_size);
#endif
#if defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(tsan_caller, 0);
#endif
    swapcontext(&self, &caller);
    arrived();
  }

  void arrived() {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(asan_fake, &asan_caller, &asan_caller_size);
#endif
  }

#if defined(__SANITIZE_ADDRESS__)
  void* asan_fake = nullptr;
  const void* asan_caller = nullptr;
  std::size_t asan_caller_size = 0;
#endif
#if defined(__SANITIZE_THREAD__)
  void* tsan_self = nullptr;
  void* tsan_caller = nullptr;
#endif
};

thread_local Fiber::State* Fiber::State::current = nullptr;
thread_local Fiber::State* Fiber::State::beginning = nullptr;

Fiber::Fiber(std::function<void()> body) : state_(std::make_unique<State>(std::move(body))) {}

Fiber::~Fiber() {
  if (!state_->begun || state_->done) return;
  state_->killed = true;
  state_->go();
}

void Fiber::resume() {
  state_->go();
}

bool Fiber::done() const {
  return state_->done;
}

void Fiber::suspend() {
  State& me = *State::current;
  if (!me.killed) me.leave();
  if (me.killed) throw Killed{};
}

bool Fiber::killed() {
  return State::current != nullptr && State::current->killed;
}

}  // namespace easyretry::sim
