#pragma once
// Instances that share a store and keep limits together, on virtual time.

#include <functional>
#include <initializer_list>
#include <list>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/engine/forwarding_store.h"
#include "unit/engine/virtual_instance.h"

namespace easyretry::engine {

using namespace std::chrono_literals;

// Counts the exchanges, loses them while it is told so, and keeps the last lost beat to store it later.
class SeatStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  bool answers = true;
  bool applies = false;  // what it does not answer
  int exchanges = 0;
  std::function<void()> late{};

  storage::StoreInfo info() const override {
    storage::StoreInfo info = ForwardingStore::info();
    info.shared = true;
    return info;
  }
  Result<storage::BeatReply> beat(const storage::Beat& beat) override {
    ++exchanges;
    if (answers) return whole_.beat(beat);
    late = [this, space = std::string{beat.name_space}, node = std::string{beat.node}, ttl = beat.ttl,
            says = std::string{beat.says}] {
      (void)whole_.beat({.name_space = space, .node = node, .ttl = ttl, .says = says});
    };
    if (applies) late();
    return fail(Errc::in_doubt, "beat", "no answer");
  }
  Result<storage::BeatReply> members(std::string_view name_space) override {
    ++exchanges;
    if (!answers) return fail(Errc::unavailable, "members", "no answer");
    return whole_.members(name_space);
  }
  Result<bool> leave(std::string_view name_space, std::string_view node) override {
    ++exchanges;
    if (!answers) return fail(Errc::unavailable, "leave", "no answer");
    return whole_.leave(name_space, node);
  }
};

class BrakeFleet : public ::testing::Test {
 protected:
  VirtualInstance& join(LimitOptions limit) {
    VirtualInstance& one = instances.emplace_back(store, clock);
    HandlerOptions options;
    options.limit = limit;
    one.handle(
        "pay", [this] { ++calls; }, Policy{}, options);
    return one;
  }
  void submit(VirtualInstance& one, int count) {
    for (int i = 0; i < count; ++i) one.submit("pay", std::to_string(keys++));
  }
  // Everything but the handlers.
  void claim(VirtualInstance& one) {
    one.core.loader().hurry();
    one.core.loader().step();
    bool worked = true;
    for (int i = 0; worked && i < 20; ++i) {
      worked = one.core.pause_watch().step().worked;
      worked |= one.core.brake_watch().step().worked;
      worked |= one.core.claimers()[0].step().worked;
      one.core.renewer().step();
    }
  }
  static void finish(VirtualInstance& one) {
    one.run_handlers();
    one.settle();
  }
  void claim_for(Millis time, std::initializer_list<VirtualInstance*> all) {
    for (Millis passed{0}; passed < time; passed += 100ms) {
      clock.advance(100ms);
      for (VirtualInstance* one : all) claim(*one);
    }
  }
  void work_for(Millis time, std::initializer_list<VirtualInstance*> all) {
    for (Millis passed{0}; passed < time; passed += 100ms) {
      claim_for(100ms, all);
      for (VirtualInstance* one : all) finish(*one);
    }
  }
  static std::size_t running(VirtualInstance& one) { return one.core.in_flight().size(); }

  testing::ManualClock clock;
  std::shared_ptr<SeatStore> store = std::make_shared<SeatStore>(clock);
  std::list<VirtualInstance> instances;
  int calls = 0;
  int keys = 0;
};

}  // namespace easyretry::engine
