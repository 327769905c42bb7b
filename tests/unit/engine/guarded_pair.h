#pragma once
// Two instances whose handler has a circuit, on virtual time and on one store.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/engine/forwarding_store.h"
#include "unit/engine/virtual_instance.h"

namespace easyretry::engine {

// Counts the exchanges and the questions for pauses, and does not answer them while it is told not to.
class ExchangeStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  bool answers = true;
  int exchanges = 0;
  int looks_for_pauses = 0;

  storage::StoreInfo info() const override {
    storage::StoreInfo info = ForwardingStore::info();
    info.shared = true;
    return info;
  }
  Result<storage::BeatReply> beat(const storage::Beat& beat) override {
    ++exchanges;
    if (!answers) return fail(Errc::unavailable, "beat", "no answer");
    return whole_.beat(beat);
  }
  Result<storage::BeatReply> members(std::string_view name_space) override {
    ++exchanges;
    if (!answers) return fail(Errc::unavailable, "members", "no answer");
    return whole_.members(name_space);
  }
  Result<storage::PausedReply> paused(std::string_view name_space) override {
    ++looks_for_pauses;
    return whole_.paused(name_space);
  }
};

class GuardedPairTest : public ::testing::Test {
 protected:
  GuardedPairTest() {
    for (VirtualInstance* one : {&instance, &other}) {
      HandlerOptions guarded;
      guarded.circuit = CircuitOptions{.name = "gateway"};
      one->handle(
          "pay", [this] { call_gateway(); },
          Policy{.backoff = Fixed{std::chrono::seconds{1}}, .stop = {.max_attempts = 0}}, guarded);
    }
  }

  void call_gateway() {
    ++calls;
    if (down) throw std::runtime_error("gateway is down");
  }

  static bool work_a_little(VirtualInstance& one) {
    bool worked = one.core.loader().step().worked;
    worked |= one.core.pause_watch().step().worked;
    worked |= one.core.circuit_watch().step().worked;
    worked |= one.core.claimers()[0].step().worked;
    worked |= static_cast<InlineWorkers&>(one.core.workers()).step();
    worked |= one.core.settler().step().worked;
    return worked;
  }
  static void work(VirtualInstance& one) {
    while (work_a_little(one)) {
    }
  }
  void work_for(Millis time, std::initializer_list<VirtualInstance*> instances) {
    for (Millis passed{0}; passed < time; passed += Millis{100}) {
      shared.clock.advance(Millis{100});
      for (VirtualInstance* one : instances) work(*one);
    }
  }
  void submit(VirtualInstance& one, int count) {
    for (int i = 0; i < count; ++i) one.submit("pay", std::to_string(keys++));
  }
  static CircuitState state(VirtualInstance& one) { return one.core.circuits().at(0).state; }

  SharedStore shared;
  std::shared_ptr<ExchangeStore> store = std::make_shared<ExchangeStore>(shared.clock);
  VirtualInstance instance{store, shared.clock};
  VirtualInstance other{store, shared.clock};
  bool down = true;
  int calls = 0;
  int keys = 0;
};

}  // namespace easyretry::engine
